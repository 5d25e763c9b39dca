"""Which tokens a model learns, tested without one: only the assistant's words and the mark that ends them."""

import pytest

from peercorpus.benchmark.cases import CaseMessage
from peercorpus.finetune.examples import NOT_LEARNT
from peercorpus.models.chat_messages import Speaker
from word_encoder import MARK, word_encoder

TOLD = (
    CaseMessage(Speaker.SYSTEM, "You review papers."),
    CaseMessage(Speaker.USER, "On Kites. We fly them."),
    CaseMessage(Speaker.ASSISTANT, "The proof is missing."),
    CaseMessage(Speaker.USER, "It stands in the appendix."),
    CaseMessage(Speaker.ASSISTANT, "Then all is well."),
)


@pytest.mark.parametrize(
    ("said", "answers"),
    [
        (TOLD[:3], ["The proof is missing."]),
        (TOLD, ["The proof is missing.", "Then all is well."]),
        (TOLD[1:], ["The proof is missing.", "Then all is well."]),
    ],
    ids=["one answer", "two answers", "no system"],
)
def test_only_answers_are_trained_on(said: tuple[CaseMessage, ...], answers: list[str]) -> None:
    encoder = word_encoder()
    encoded = encoder.encode(said)
    whole = encoder.render([{"role": one.speaker.value, "content": one.text} for one in said], False)
    assert encoded.ids == encoder.tokens(whole)
    learnt = [label for label in encoded.labels if label != NOT_LEARNT]
    assert learnt == [token for answer in answers for token in encoder.tokens(f"{answer}\n{MARK}\n")]
    assert len(encoded.labels) == len(encoded.ids)
    assert encoded.learnt == len(learnt) < len(encoded.ids)


def test_a_trained_token_is_its_own_label() -> None:
    encoded = word_encoder().encode(TOLD)
    assert all(label in {-100, token} for token, label in zip(encoded.ids, encoded.labels, strict=True))
    assert encoded.labels[0] == -100

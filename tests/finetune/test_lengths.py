"""Papers are truncated to fit, answers never; what does not fit is reported before training."""

import random
from dataclasses import replace

import pytest

from asked_cases import PAPER
from peercorpus.benchmark.cases import BenchTask, Case, CaseMessage
from peercorpus.benchmark.messages import TokenBudget, shown_paper
from peercorpus.errors import PeercorpusError
from peercorpus.finetune.examples import Encoder, TrainingExample
from peercorpus.finetune.lengths import Fitted, Fitter, Lengths, check_lengths, length_table
from peercorpus.finetune.recipe import Recipe
from peercorpus.models.chat_messages import Speaker
from word_encoder import MARK, word_encoder

BODY = "\n\n".join("word " * 30 for _ in range(10))
LONG = f"{BODY}\n\n## References\n\n{'ref ' * 100}"


@pytest.fixture
def encoder() -> Encoder:
    return word_encoder()


def example(*said: str, markdown: str = LONG, name: str = "p") -> TrainingExample:
    """A conversation in which the reviewer speaks first."""
    paper = replace(PAPER, forum_id=name, markdown=markdown)
    speakers = (Speaker.ASSISTANT, Speaker.USER)
    history = tuple(CaseMessage(speakers[place % 2], text) for place, text in enumerate(said))
    return TrainingExample(name, Case(name, BenchTask.REBUTTAL, paper, history=history), "R1", ())


def fitted(encoder: Encoder, one: TrainingExample, paper_tokens: int, context: int) -> Fitted:
    found = Fitter(encoder, Recipe(paper_tokens=paper_tokens, context=context)).fit(one)
    assert isinstance(found, Fitted)
    return found


def test_references_are_dropped_first(encoder: Encoder) -> None:
    found = fitted(encoder, example("I doubt it."), 360, 10_000)
    assert found.shown.left_out
    assert not found.shown.is_body_cut
    assert found.shown == shown_paper(found.example.case.paper, TokenBudget(360), encoder.count)


def test_a_long_answer_stays_whole_and_shortens_the_paper(encoder: Encoder) -> None:
    answer = "Long answer. " * 100
    found = fitted(encoder, example(answer), 10_000, 600)
    assert len(found.encoded.ids) <= 600
    assert found.shown.is_body_cut
    # The mark that ends the turn is learnt too.
    assert found.encoded.learnt == encoder.count(answer + MARK)


@pytest.mark.parametrize("context", [250, 400, 600, 900])
def test_a_fitting_example_keeps_every_word(encoder: Encoder, context: int) -> None:
    drawn = random.Random(context)
    for _ in range(50):
        said = ["word. " * drawn.randrange(1, 150) for _ in range(drawn.choice((1, 3, 5)))]
        one = example(*said, markdown="\n\n".join("w " * drawn.randrange(1, 60) for _ in range(drawn.randrange(20))))
        found = Fitter(encoder, Recipe(paper_tokens=drawn.choice((64, 300, 5_000)), context=context)).fit(one)
        told = sum(encoder.count(text + MARK) for text in said[::2])
        if isinstance(found, Fitted):
            assert len(found.encoded.ids) <= context
            assert found.encoded.learnt == told
        else:
            # Even without the paper there is not enough room.
            bare = len(encoder.encode(one.messages("")).ids)
            assert bare + 64 > context - 16
            assert found.tokens > context - 16


def test_a_too_long_answer_is_refused(encoder: Encoder) -> None:
    lengths = Lengths()
    fitter = Fitter(encoder, Recipe(paper_tokens=1_000, context=300))
    for name, words in (("short", 5), ("long", 400), ("longest", 500)):
        lengths.see(fitter.fit(example("word " * words, name=name)))
    assert [name for _, name in lengths.too_long] == ["long", "longest"]
    with pytest.raises(PeercorpusError, match=r"^2 .* 'longest', needs 6.* --leave-out-long"):
        check_lengths({BenchTask.REBUTTAL: lengths}, 300)
    check_lengths({BenchTask.REBUTTAL: Lengths()}, 300)


def test_the_table_shows_what_is_truncated_and_where(encoder: Encoder) -> None:
    lengths, fitter = Lengths(), Fitter(encoder, Recipe(paper_tokens=360, context=600))
    for said in ("Yes.", "word " * 300, f"It ends with {MARK}.", "word " * 900):
        lengths.see(fitter.fit(example(said)))
    table = length_table({BenchTask.REBUTTAL: lengths}, 600, 360)
    row = next(line for line in table.splitlines() if line.startswith("| rebuttal"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    tokens, learnt = sorted(lengths.tokens), sorted(lengths.learnt)
    assert cells[:2] == ["rebuttal", "4"]
    assert cells[2:8] == [str(one[place]) for one in (tokens, learnt) for place in (1, 2, 2)]
    # All three papers lose their references; one loses more.
    assert cells[8:10] == ["3", "1"]
    assert cells[11] == "1"
    assert "examples with one: 1." in table
    assert "references" in table

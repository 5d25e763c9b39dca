"""Examples as tokens: only the assistant's words are learnt, and no quoted text becomes a special token."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from invented_bench import meta_release
from peercorpus.benchmark.cases import BenchTask, CaseCounts, CaseMessage
from peercorpus.errors import ModelError
from peercorpus.finetune.examples import NOT_LEARNT, Encoded, Encoder, load_encoder
from peercorpus.finetune.selection import SelectionRule, prepare_selection
from peercorpus.models.chat_messages import Speaker
from peercorpus.release.folder import open_release
from peercorpus.release.splits import Split

pytestmark = pytest.mark.neural
ENDS = {"llama": "<|eot_id|>", "qwen": "<|im_end|>\n"}
"""The token that ends a turn."""
FAMILIES = sorted(ENDS)
TALK = [
    CaseMessage(Speaker.SYSTEM, "You review."),
    CaseMessage(Speaker.USER, "The paper."),
    CaseMessage(Speaker.ASSISTANT, "I doubt it."),
    CaseMessage(Speaker.USER, "It holds."),
    CaseMessage(Speaker.ASSISTANT, "I see."),
]


def tokenizer(models: Path, family: str) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(str(models / family))


def runs(encoded: Encoded) -> list[list[int]]:
    """Return the contiguous runs of learnt tokens."""
    found: list[list[int]] = []
    for place, label in enumerate(encoded.labels):
        if label == NOT_LEARNT:
            continue
        if place and encoded.labels[place - 1] != NOT_LEARNT:
            found[-1].append(label)
        else:
            found.append([label])
    return found


def words_of(models: Path, family: str, ids: Sequence[int]) -> str:
    return str(tokenizer(models, family).decode(ids))


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def encoder(models: Path, family: str) -> Encoder:
    return load_encoder(str(models / family))


def test_exactly_the_assistants_words_and_their_end_token_are_trained_on(
    models: Path, family: str, encoder: Encoder
) -> None:
    encoded = encoder.encode(TALK)
    said = [words_of(models, family, ids) for ids in runs(encoded)]
    assert said == [f"I doubt it.{ENDS[family]}", f"I see.{ENDS[family]}"]
    assert [label for label in encoded.labels if label != -100] == [
        token for token, label in zip(encoded.ids, encoded.labels, strict=True) if label != -100
    ]


def test_the_encoded_dialogue_equals_the_models_own_template(models: Path, family: str, encoder: Encoder) -> None:
    told = [{"role": one.speaker.value, "content": one.text} for one in TALK]
    whole = tokenizer(models, family).apply_chat_template(told, tokenize=False)
    assert words_of(models, family, encoder.encode(TALK).ids) == whole


def test_an_answer_follows_the_models_generation_prompt(models: Path, family: str, encoder: Encoder) -> None:
    encoded = encoder.encode(TALK)
    first = encoded.labels.index(next(label for label in encoded.labels if label != NOT_LEARNT))
    told = [{"role": one.speaker.value, "content": one.text} for one in TALK[:2]]
    asked = tokenizer(models, family).apply_chat_template(told, add_generation_prompt=True, return_dict=True)
    assert encoded.ids[:first] == list(asked["input_ids"])


@pytest.mark.parametrize("task", BenchTask)
def test_only_the_assistants_words_of_every_example_are_trained_on(
    models: Path, family: str, encoder: Encoder, tmp_path: Path, task: BenchTask
) -> None:
    release = open_release(meta_release(tmp_path))
    examples = list(prepare_selection(release, SelectionRule()).examples(task, Split.TRAIN, CaseCounts()))
    assert examples
    for example in examples:
        told = example.messages("The paper as shown.")
        said = [one.text + ENDS[family] for one in told if one.speaker is Speaker.ASSISTANT]
        assert [words_of(models, family, ids) for ids in runs(encoder.encode(told))] == said


def test_no_words_in_a_message_can_end_a_turn(models: Path, family: str, encoder: Encoder) -> None:
    end = ENDS[family].strip()
    hostile = [
        TALK[0],
        CaseMessage(Speaker.USER, f"We use {end} as the last token.{end}"),
        CaseMessage(Speaker.ASSISTANT, end),
    ]
    ids = encoder.encode(hostile).ids
    mark = tokenizer(models, family).convert_tokens_to_ids(end)
    assert ids.count(mark) == len(hostile)
    assert encoder.apart(hostile[1]).text == hostile[1].text.replace("<|", "< |")
    assert encoder.apart(TALK[1]) == TALK[1]


def test_words_that_a_template_treats_as_reasoning_are_kept(models: Path, tmp_path: Path) -> None:
    """As in Qwen3: `</think>` is not a special token, but the template cuts the assistant's text there."""
    qwen = tokenizer(models, "qwen")
    qwen.add_tokens(["</think>", "unlike"])
    qwen.chat_template = qwen.chat_template.replace("one['content']", "one['content'].split('</think>')[-1]")
    qwen.save_pretrained(tmp_path)
    said = [*TALK[:2], CaseMessage(Speaker.ASSISTANT, "What stands behind </think> is unlike it.")]
    turns = load_encoder(str(tmp_path)).turns(said)
    assert turns[-1][1] == "What stands behind < /think> is unlike it.<|im_end|>\n"


def test_if_a_template_refuses_system_messages_the_error_says_what_to_do(models: Path, tmp_path: Path) -> None:
    llama = tokenizer(models, "llama")
    llama.chat_template = "{{ raise_exception('System role not supported') }}"
    llama.save_pretrained(tmp_path)
    with pytest.raises(ModelError, match=r"System role not supported.*another model"):
        load_encoder(str(tmp_path)).encode(TALK)


def test_a_template_that_rewrites_earlier_turns_is_refused(encoder: Encoder) -> None:
    def render(told: list[dict[str, str]], asks: bool) -> str:
        return f"{len(told)} messages" + "?" * asks

    with pytest.raises(ModelError, match=r"'forgetful'.*another model"):
        Encoder("forgetful", render, encoder.tokens, None).encode(TALK)


def test_a_missing_model_or_one_without_a_template_is_refused(models: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="nothing'"):
        load_encoder(str(tmp_path / "nothing"))
    bare = tokenizer(models, "llama")
    bare.chat_template = None
    bare.save_pretrained(tmp_path / "bare")
    with pytest.raises(ModelError, match=r"bare'.*chat template"):
        load_encoder(str(tmp_path / "bare"))

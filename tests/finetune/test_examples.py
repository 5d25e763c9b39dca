"""What is learnt: the benchmark's own prompts, then people's answers; only the assistant's words are trained on."""

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from in_this_process import InThisProcess
from invented_bench import meta_release
from invented_releases import a_release, review, score, talk, task_paper
from naming import by_name
from peercorpus.benchmark.cases import BenchTask, CaseCounts, CaseMessage, CaseSelection, read_cases
from peercorpus.benchmark.messages import messages
from peercorpus.errors import ModelError, PeercorpusError
from peercorpus.execution.executor import Executor, Failure, FailureKind
from peercorpus.execution.local_processes import LocalExecutor
from peercorpus.finetune import lengths
from peercorpus.finetune.examples import NOT_LEARNT, Encoded, Encoder, TrainingExample, load_encoder
from peercorpus.finetune.request import TuneRequest
from peercorpus.finetune.run import prepare_run
from peercorpus.finetune.selection import prepare_selection
from peercorpus.models.chat_messages import Speaker
from peercorpus.release.exports.request import ExampleRequest, TaskName
from peercorpus.release.folder import Release, open_release
from peercorpus.release.record_rows import Row
from peercorpus.release.splits import Split
from recipe_files import write_recipe
from word_encoder import MARK, word_encoder

PAPER = "The paper as shown."
SCALE = {"low": 1.0, "high": 10.0}


def examples(release: Release, task: BenchTask, taken: CaseCounts | None = None) -> list[TrainingExample]:
    return list(prepare_selection(release, ExampleRequest()).examples(task, Split.TRAIN, taken or CaseCounts()))


def of_papers(tmp_path: Path, task: BenchTask, *papers: Row) -> tuple[list[TrainingExample], CaseCounts]:
    taken = CaseCounts()
    return examples(open_release(a_release(tmp_path / "release", {"train": papers})), task, taken), taken


@pytest.mark.parametrize("task", BenchTask)
def test_training_prompts_are_those_of_the_benchmark(tmp_path: Path, task: BenchTask) -> None:
    release = open_release(meta_release(tmp_path))
    asked = {
        case.case_id: messages(case, PAPER)
        for case in read_cases(release, task, CaseSelection(Split.TRAIN), CaseCounts())
    }
    learnt = examples(release, task)
    assert len(asked) >= 12
    answered = set()
    for example in learnt:
        told = example.messages(PAPER)
        assert told[-1].speaker is Speaker.ASSISTANT
        for place, said in enumerate(told):
            if said.speaker is Speaker.ASSISTANT:
                answered |= {name for name, question in asked.items() if question == told[:place]}
    assert answered == set(asked)


def test_each_review_has_its_initial_scores(tmp_path: Path) -> None:
    raised = [
        score("rating", "8", aspect="recommendation", value=8.0, **SCALE),
        score("rating", "3", aspect="recommendation", value=3.0, phase="initial", **SCALE),
        score("soundness", "good", value=3.0, low=1.0, high=4.0),
    ]
    other = [
        score("rating", "5", aspect="recommendation", value=5.0, low=1.0, high=6.0),
        score("soundness", "?", value=None, low=1.0, high=4.0),
    ]
    reviews = [review("a", scores=raised), review("b", scores=other, text="Words of b.")]
    learnt, _ = of_papers(tmp_path, BenchTask.REVIEW, task_paper("p", reviews=reviews))
    assert [example.example_id for example in learnt] == ["a", "b"]
    # For b nothing is known on the requested scale.
    assert [example.messages(PAPER)[-1].text for example in learnt] == [
        "## Summary\n\nWords of a.\n\nrating: 3\nsoundness: 3",
        "Words of b.",
    ]
    assert [(example.reviewer, example.record_ids) for example in learnt] == [
        ("Reviewer_a", ("a",)),
        ("Reviewer_b", ("b",)),
    ]


def test_later_additions_are_not_trained_on(tmp_path: Path) -> None:
    reviews = [review("a"), review("b", text=" "), review("c", holds_update=True)]
    learnt, taken = of_papers(tmp_path, BenchTask.REVIEW, task_paper("p", reviews=reviews))
    assert [example.example_id for example in learnt] == ["a"]
    assert by_name(taken.left_out, "without text", "later additions") == {"without text": 1, "later additions": 1}


def test_late_reviews_are_not_trained_on(tmp_path: Path) -> None:
    late = review("b", posted_after_decision=True, at_decision="posted_after")
    touched = review("c", at_decision="changed_unseen", may_be_later=True)
    learnt, taken = of_papers(tmp_path, BenchTask.REVIEW, task_paper("p", reviews=[review("a"), late, touched]))
    assert [example.example_id for example in learnt] == ["a"]
    assert by_name(taken.left_out, "posted after", "changed after") == {"posted after": 1, "changed after": 1}


def test_a_conversation_ends_before_additions(tmp_path: Path) -> None:
    said = "Review.", "Answer.", "Doubt.", "More.", "UPDATE: fine.", "Thanks."
    later = talk("p", *said, holds_update=[False] * 4 + [True, False])
    learnt, _ = of_papers(tmp_path, BenchTask.REBUTTAL, task_paper("p", conversations=[later]))
    (example,) = learnt
    assert [one.text for one in example.case.history] == ["Review.", "Answer.", "Doubt."]
    assert example.record_ids == ("p-0", "p-1", "p-2")
    assert example.words == 1


def test_an_unanswered_conversation_is_counted(tmp_path: Path) -> None:
    talks = [
        talk("p", "Review.", "Answer."),
        talk("p", "Review.", "Answer.", "Late.", holds_update=[True, False, False]),
    ]
    learnt, taken = of_papers(tmp_path, BenchTask.REBUTTAL, task_paper("p", conversations=talks))
    assert learnt == []
    assert by_name(taken.left_out, "conversations: ") == {"conversations: ": 2}


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


@pytest.mark.neural
def test_the_encoded_dialogue_equals_the_models_own_template(models: Path, family: str, encoder: Encoder) -> None:
    told = [{"role": one.speaker.value, "content": one.text} for one in TALK]
    whole = tokenizer(models, family).apply_chat_template(told, tokenize=False)
    assert words_of(models, family, encoder.encode(TALK).ids) == whole


@pytest.mark.neural
@pytest.mark.parametrize("task", BenchTask)
def test_nothing_else_is_learnt(models: Path, family: str, encoder: Encoder, tmp_path: Path, task: BenchTask) -> None:
    release = open_release(meta_release(tmp_path))
    examples = list(prepare_selection(release, ExampleRequest()).examples(task, Split.TRAIN, CaseCounts()))
    assert examples
    for example in examples:
        told = example.messages("The paper as shown.")
        said = [one.text + ENDS[family] for one in told if one.speaker is Speaker.ASSISTANT]
        assert [words_of(models, family, ids) for ids in runs(encoder.encode(told))] == said


@pytest.mark.neural
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


@pytest.mark.neural
def test_words_that_a_template_treats_as_reasoning_are_kept(models: Path, tmp_path: Path) -> None:
    """As in Qwen3: `</think>` is not a special token, but the template cuts the assistant's text there."""
    qwen = tokenizer(models, "qwen")
    qwen.add_tokens(["</think>", "unlike"])
    qwen.chat_template = qwen.chat_template.replace("one['content']", "one['content'].split('</think>')[-1]")
    qwen.save_pretrained(tmp_path)
    said = [*TALK[:2], CaseMessage(Speaker.ASSISTANT, "What stands behind </think> is unlike it.")]
    turns = load_encoder(str(tmp_path)).turns(said)
    assert turns[-1][1] == "What stands behind < /think> is unlike it.<|im_end|>\n"


@pytest.mark.neural
def test_refused_system_messages_have_advice(models: Path, tmp_path: Path) -> None:
    llama = tokenizer(models, "llama")
    llama.chat_template = "{{ raise_exception('System role not supported') }}"
    llama.save_pretrained(tmp_path)
    with pytest.raises(ModelError, match=r"System role not supported.*another model"):
        load_encoder(str(tmp_path)).encode(TALK)


@pytest.mark.neural
def test_a_template_that_rewrites_earlier_turns_is_refused(encoder: Encoder) -> None:
    def render(told: list[dict[str, str]], asks: bool) -> str:
        return f"{len(told)} messages" + "?" * asks

    with pytest.raises(ModelError, match=r"'forgetful'.*another model"):
        Encoder("forgetful", render, encoder.tokens, None).encode(TALK)


@pytest.mark.neural
def test_a_model_needs_a_template(models: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="nothing'"):
        load_encoder(str(tmp_path / "nothing"))
    bare = tokenizer(models, "llama")
    bare.chat_template = None
    bare.save_pretrained(tmp_path / "bare")
    with pytest.raises(ModelError, match=r"bare'.*chat template"):
        load_encoder(str(tmp_path / "bare"))


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


@pytest.fixture(autouse=True)
def _many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spread even a few papers over processes."""
    monkeypatch.setattr(lengths, "MIN_PAPERS_TO_SPREAD", 1)


def prepared(
    release: Path, model: Path, out: Path, spread: Executor | None, task: TaskName = "mixed"
) -> dict[str, bytes]:
    """Return every file of a run whose examples have been made."""
    recipe = write_recipe(out.with_name("recipe"), paper_tokens=128, context=900, validation=2)
    request = TuneRequest(task=task, model=str(model), recipe=recipe, leave_out_long=True)
    prepare_run(release, out, request, lambda _: None, spread=spread)
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


def through_bytes(function: Callable[[Any], Any], items: Iterable[Any], **more: Any) -> Iterator[tuple[Any, Any]]:
    """Spread work as processes receive and return it, but in this one."""

    def copied(value: object) -> Any:
        return pickle.loads(pickle.dumps(value))

    return InThisProcess()(lambda item: copied(function(copied(item))), items, **more)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "spread"),
    [("review", LocalExecutor(None)), ("mixed", through_bytes)],
    ids=["one task in processes", "all tasks"],
)
def test_training_examples_are_identical_wherever_they_are_made(
    papers: Path, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: TaskName, spread: Executor
) -> None:
    if isinstance(spread, LocalExecutor):  # Only for the papers to train on.
        monkeypatch.setattr(lengths, "MIN_PAPERS_TO_SPREAD", 10)
    here = prepared(papers, models / "llama", tmp_path / "here", None, task)
    assert {"data/train.arrow", "data/validation.arrow", "data/examples.jsonl"} < here.keys()
    assert here["data/examples.jsonl"].count(b"\n") > 8
    assert prepared(papers, models / "llama", tmp_path / "spread", spread, task) == here


@pytest.mark.slow
def test_a_failing_paper_is_named(papers: Path, models: Path, tmp_path: Path) -> None:
    stopped = InThisProcess(failures=(Failure(FailureKind.TIMEOUT, "It was stopped."),))
    with pytest.raises(PeercorpusError, match=r"paper '\w+' .*It was stopped\.$"):
        prepared(papers, models / "llama", tmp_path / "run", stopped)
    assert not (tmp_path / "run").exists()

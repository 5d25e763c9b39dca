"""Examples are the same, byte for byte, wherever they are truncated; one that cannot be made is reported."""

import pickle
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from in_this_process import InThisProcess
from peercorpus.errors import ModelError, PeercorpusError
from peercorpus.execution.executor import Executor, Failure, FailureKind
from peercorpus.execution.local_processes import LocalExecutor
from peercorpus.finetune import lengths
from peercorpus.finetune.examples import TrainingTask
from peercorpus.finetune.lengths import PaperExamples, fit_examples
from peercorpus.finetune.recipe import Recipe
from peercorpus.finetune.run import RunOptions, prepare_run

CUTTING = Recipe(paper_tokens=128, context=900, validation=2)


@pytest.fixture(autouse=True)
def _many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spread even a few papers over processes."""
    monkeypatch.setattr(lengths, "MIN_PAPERS_TO_SPREAD", 1)


def prepared(
    release: Path, model: Path, out: Path, spread: Executor | None, subject: TrainingTask = TrainingTask.MIXED
) -> dict[str, bytes]:
    """Return every file of a run whose examples have been made."""
    wanted = RunOptions(release, subject, str(model), out, CUTTING, leaves_out_long=True)
    prepare_run(wanted, lambda _: None, spread=spread)
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


def through_bytes(function: Callable[[Any], Any], items: Iterable[Any], **more: Any) -> Iterator[tuple[Any, Any]]:
    """Spread work as processes receive and return it, but in this one."""

    def copied(value: object) -> Any:
        return pickle.loads(pickle.dumps(value))

    return InThisProcess()(lambda item: copied(function(copied(item))), items, **more)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("subject", "spread"),
    [(TrainingTask.REVIEW, LocalExecutor(None)), (TrainingTask.MIXED, through_bytes)],
    ids=["one task in processes", "all tasks"],
)
def test_training_examples_are_identical_wherever_they_are_made(
    papers: Path, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, subject: TrainingTask, spread: Executor
) -> None:
    if isinstance(spread, LocalExecutor):  # Only for the papers to train on.
        monkeypatch.setattr(lengths, "MIN_PAPERS_TO_SPREAD", 10)
    here = prepared(papers, models / "llama", tmp_path / "here", None, subject)
    assert {"data/train.arrow", "data/validation.arrow", "data/examples.jsonl"} < here.keys()
    assert here["data/examples.jsonl"].count(b"\n") > 8
    assert prepared(papers, models / "llama", tmp_path / "spread", spread, subject) == here


@pytest.mark.slow
def test_a_paper_whose_examples_fail_is_named_and_nothing_is_left(papers: Path, models: Path, tmp_path: Path) -> None:
    stopped = InThisProcess(failures=(Failure(FailureKind.TIMEOUT, "It was stopped."),))
    with pytest.raises(PeercorpusError, match=r"paper '\w+' .*It was stopped\.$"):
        prepared(papers, models / "llama", tmp_path / "run", stopped)
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_another_tokenizer_of_the_same_name_is_refused(models: Path) -> None:
    with pytest.raises(ModelError, match=r"llama'.*every machine"):
        fit_examples(PaperExamples((), str(models / "llama"), "0" * 64, 128, 900))

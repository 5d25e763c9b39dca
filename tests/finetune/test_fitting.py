"""Lessons are the same, byte for byte, wherever they are made to fit; one that cannot be made is told."""

from pathlib import Path

import pytest

from in_this_process import InThisProcess
from peercorpus.errors import ModelError, PeercorpusError
from peercorpus.executors.local import LocalExecutor
from peercorpus.finetune import fitting
from peercorpus.finetune.fitting import OfPaper, fit_lessons
from peercorpus.finetune.lessons import Subject
from peercorpus.finetune.recipe import Recipe
from peercorpus.finetune.run import Wanted, prepare_run
from peercorpus.spread import Failure, FailureKind, Spread

CUTTING = Recipe(paper_tokens=128, context=900, validation=2)


@pytest.fixture(autouse=True)
def _many(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few papers there are, they are spread."""
    monkeypatch.setattr(fitting, "FEW_PAPERS", 1)


def prepared(release: Path, model: Path, out: Path, spread: Spread | None) -> dict[str, bytes]:
    """Every file of a run whose lessons are made."""
    wanted = Wanted(release, Subject.MIXED, str(model), out, CUTTING, leaves_out_long=True)
    prepare_run(wanted, lambda _: None, spread=spread)
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


def test_lessons_are_the_same_byte_for_byte_wherever_they_are_made(papers: Path, models: Path, tmp_path: Path) -> None:
    here = prepared(papers, models / "llama", tmp_path / "here", None)
    assert {"data/train.arrow", "data/validation.arrow", "data/lessons.jsonl"} < here.keys()
    assert here["data/lessons.jsonl"].count(b"\n") > 8
    assert prepared(papers, models / "llama", tmp_path / "spread", LocalExecutor(None)) == here


def test_a_paper_whose_lessons_cannot_be_made_is_told_and_nothing_is_left(
    papers: Path, models: Path, tmp_path: Path
) -> None:
    stopped = InThisProcess(failures=(Failure(FailureKind.TIMEOUT, "It was stopped."),))
    with pytest.raises(PeercorpusError, match=r"^The lessons of the paper '\w+' cannot be made: It was stopped\.$"):
        prepared(papers, models / "llama", tmp_path / "run", stopped)
    assert not (tmp_path / "run").exists()


def test_another_tokenizer_of_the_same_name_is_refused(models: Path) -> None:
    with pytest.raises(ModelError, match="is another one on some machine"):
        fit_lessons(OfPaper((), str(models / "llama"), "0" * 64, 128, 900))

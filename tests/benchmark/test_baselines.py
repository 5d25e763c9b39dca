"""What all baselines have in common: the registry, the form of answers, and that they never see the gold answers."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, cast

import pytest

from baseline_cases import cases_of
from peercorpus.benchmark.answers import (
    read_decision,
    read_meta_review,
    read_review_answer,
    read_score_answer,
    read_turn,
)
from peercorpus.benchmark.baselines import baseline, leak, linear, meta_reviews, nearest, people, simple
from peercorpus.benchmark.baselines.baseline import BASELINES, Baseline, list_baselines, load_baseline
from peercorpus.benchmark.cases import BenchTask, Case
from peercorpus.errors import BaselineError, MissingExtraError, PeercorpusError

FIXED = {
    (BenchTask.ACCEPTANCE, "accept-all"),
    (BenchTask.REVIEW, "generic"),
    (BenchTask.REBUTTAL, "template"),
}
"""Return those that need no training."""
EVERY = [(task, name) for task in BenchTask for name in list_baselines(task)]
KINDS: list[Callable[[], Baseline]] = [
    *(simple.Majority, simple.AcceptAll, leak.Leak, simple.MeanScores),
    *(linear.PaperWords, linear.ScorePaperWords),
    *(people.OtherPaper, people.GenericReview),
    *(nearest.NearestReview, nearest.RetrievedTurn, simple.TemplateReview, simple.TemplateTurn),
    *(meta_reviews.TemplateMetaReview, meta_reviews.MeanDecides),
]
"""Lets the type checker verify that each kind is a `Baseline`."""
HIDDEN = {"accepted", "references", "following", "values", "unified", "mean"}


class Poisoned:
    """A case, or a part of one, that raises an error if its gold answer is read."""

    def __init__(self, of: object) -> None:
        self._of = of

    def __getattr__(self, name: str) -> Any:
        if name in HIDDEN:
            raise AssertionError(f"A baseline looked at '{name}'.")
        value = getattr(self._of, name)
        is_shown = name == "scores" and self._of.task is BenchTask.META_REVIEW  # type: ignore[attr-defined]
        return tuple(map(Poisoned, value)) if name == "scores" and not is_shown else value


def read(case: Case, said: str) -> object:
    """Return an answer, parsed like a model's."""
    match case.task:
        case BenchTask.ACCEPTANCE:
            return read_decision(said)
        case BenchTask.SCORES:
            return read_score_answer(said, case.scores)
        case BenchTask.REVIEW:
            return read_review_answer(said, case.scores)
        case BenchTask.REBUTTAL:
            return read_turn(said)
        case BenchTask.META_REVIEW:
            return read_meta_review(said)


def fitted(task: BenchTask, name: str) -> Baseline:
    made = load_baseline(name, task)
    made.fit(iter(cases_of(task)))
    return made


def test_every_baseline_is_registered_under_its_kind() -> None:
    assert all(made().says for made in KINDS)
    for task, name in EVERY:
        made = load_baseline(name, task)
        assert made.name == name
        assert task in made.tasks
        assert made.says
        assert "\n" not in made.says


@pytest.mark.slow
@pytest.mark.parametrize(("task", "name"), EVERY)
def test_baselines_answer_in_the_models_format(task: BenchTask, name: str) -> None:
    made = fitted(task, name)
    for case in cases_of(task, 5, first=100):
        said = made.answer(cast(Case, Poisoned(case)))
        assert read(case, said)
        assert made.answer(case) == said


@pytest.mark.slow
@pytest.mark.parametrize(("task", "name"), EVERY)
def test_the_same_training_split_gives_the_same_answers(task: BenchTask, name: str) -> None:
    asked = cases_of(task, 5, first=100)
    first, second = fitted(task, name), fitted(task, name)
    assert [first.answer(case) for case in asked] == [second.answer(case) for case in asked]
    assert first.says == second.says


@pytest.mark.slow
@pytest.mark.parametrize(("task", "name"), EVERY)
def test_cases_are_read_once_and_not_kept(task: BenchTask, name: str) -> None:
    made, asked, read_last = load_baseline(name, task), cases_of(task), list[str]()

    def told() -> Iterator[Case]:
        for case in asked:
            read_last.append(case.case_id)
            yield case

    made.fit(told())
    assert read_last == ([] if (task, name) in FIXED else [case.case_id for case in asked])


@pytest.mark.parametrize(("task", "name"), [one for one in EVERY if one not in FIXED])
def test_an_empty_training_split_is_refused(task: BenchTask, name: str) -> None:
    made = load_baseline(name, task)
    with pytest.raises(PeercorpusError, match=f"'{name}'.*train split first"):
        made.answer(cases_of(task, 1)[0])
    with pytest.raises(BaselineError, match=f"'{name}'.*choose a release"):
        made.fit(iter(()))


def test_an_unknown_baseline_is_named_with_the_known_ones() -> None:
    with pytest.raises(PeercorpusError, match=r"'review'.*'mean'.*: template, nearest, other-paper, generic, human\.$"):
        load_baseline("mean", BenchTask.REVIEW)


def test_a_package_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(module: str) -> object:
        raise ModuleNotFoundError(module, name="sklearn.linear_model")

    monkeypatch.setattr(baseline, "import_module", missing)
    with pytest.raises(MissingExtraError, match=r"'(peercorpus|\.)\[bench\]'"):
        load_baseline("length", BenchTask.SCORES)


@pytest.mark.slow
def test_heavy_packages_are_imported_only_where_needed() -> None:
    light = [where for of_task in BASELINES.values() for where in of_task.values() if "linear" not in where]
    modules = {where.partition(":")[0] for where in light if "nearest" not in where}
    told = f"import sys, {', '.join(sorted(modules))}; print({{'sklearn', 'scipy'}} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"


def test_a_case_of_another_task_is_reported() -> None:
    (case,) = cases_of(BenchTask.SCORES, 1)
    with pytest.raises(PeercorpusError, match=f"'{case.case_id}'"):
        load_baseline("majority", BenchTask.ACCEPTANCE).fit([case])
    unanswered = replace(cases_of(BenchTask.REBUTTAL, 1)[0], references=())
    with pytest.raises(PeercorpusError, match=f"'{unanswered.case_id}'"):
        load_baseline("retrieved", BenchTask.REBUTTAL).fit([unanswered])

"""Define the interface of a baseline and the registry of all baselines."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TypeVar, cast

from peercorpus.benchmark.cases import BenchTask, Case
from peercorpus.errors import BaselineError, MissingExtraError, PeercorpusError

LearntT = TypeVar("LearntT")
HUMAN = "human"
"""Name of the ceiling: each reviewer left out and measured against the others."""
ACCEPT_THRESHOLD = 0.5
"""Smallest probability of acceptance at which a baseline answers "accept"."""


class Baseline(ABC):
    """A predictor that appears beside models in every table.

    Its answers go through the same parsers and scorers as those of models.

    Attributes:
        name: Name in options and tables, such as `tfidf-paper`.
        says: Description in one line for tables.
        tasks: Tasks that it answers.
    """

    name: str
    says: str
    tasks: frozenset[BenchTask]

    def fit(self, cases: Iterable[Case]) -> None:
        """Learn from the train split, if there is anything to learn.

        Args:
            cases: Cases of one of its tasks; each is read once and not stored.

        Raises:
            BaselineError: It cannot learn from these cases, although another baseline may.
            PeercorpusError: The cases belong to another task.
        """
        del cases

    @abstractmethod
    def answer(self, case: Case) -> str:
        """Answer a case from its paper, scales and history, without looking at the correct answer.

        Raises:
            PeercorpusError: The baseline has not been fitted yet.
        """


def learnt(what: LearntT | None, name: str) -> LearntT:
    """Return what a baseline has learnt.

    Raises:
        PeercorpusError: The baseline has not been fitted yet.
    """
    if what is None:
        raise PeercorpusError(f"The baseline '{name}' has not been fitted yet; fit it on the train split first.")
    return what


def no_training_data(name: str, what: str = "case") -> BaselineError:
    """Return the error for a train split that is empty or lacks what a baseline needs."""
    return BaselineError(
        f"The baseline '{name}' cannot learn, as no {what} is in the train split; choose a release with more papers."
    )


def drawn(case: Case) -> str:
    """Return a random reference of a case, which depends only on its id.

    Raises:
        PeercorpusError: The case has none, because it belongs to another task.
    """
    if not case.references:
        raise PeercorpusError(f"The case '{case.case_id}' has no text by a reviewer; use cases of another task.")
    digest = hashlib.sha256(f"0:{case.case_id}".encode()).digest()
    return case.references[int.from_bytes(digest[:8], "big") % len(case.references)]


def decided(cases: Iterable[Case]) -> Iterator[tuple[Case, bool]]:
    """Yield cases with their decisions.

    Raises:
        PeercorpusError: A case belongs to another task.
    """
    for case in cases:
        if case.accepted is None:
            raise PeercorpusError(f"The case '{case.case_id}' has no decision; use cases of the task 'acceptance'.")
        yield case, case.accepted


_HERE = "peercorpus.benchmark.baselines"
BASELINES: Mapping[BenchTask, Mapping[str, str]] = MappingProxyType(
    {
        BenchTask.ACCEPTANCE: {
            "majority": f"{_HERE}.simple:Majority",
            "accept-all": f"{_HERE}.simple:AcceptAll",
            "length": f"{_HERE}.linear:Length",
            "tfidf-title": f"{_HERE}.linear:TitleWords",
            "tfidf-abstract": f"{_HERE}.linear:AbstractWords",
            "tfidf-paper": f"{_HERE}.linear:PaperWords",
            "leak": f"{_HERE}.leak:Leak",
            "other-paper": f"{_HERE}.people:OtherPaper",
        },
        BenchTask.SCORES: {
            "mean": f"{_HERE}.simple:MeanScores",
            "length": f"{_HERE}.linear:ScoreLength",
            "tfidf-abstract": f"{_HERE}.linear:ScoreAbstractWords",
            "tfidf-paper": f"{_HERE}.linear:ScorePaperWords",
            "other-paper": f"{_HERE}.people:OtherPaper",
        },
        BenchTask.REVIEW: {
            "template": f"{_HERE}.simple:TemplateReview",
            "nearest": f"{_HERE}.nearest:NearestReview",
            "other-paper": f"{_HERE}.people:OtherPaper",
            "generic": f"{_HERE}.people:GenericReview",
        },
        BenchTask.REBUTTAL: {
            "template": f"{_HERE}.simple:TemplateTurn",
            "retrieved": f"{_HERE}.nearest:RetrievedTurn",
            "other-paper": f"{_HERE}.people:OtherPaper",
        },
        BenchTask.META_REVIEW: {
            "template": f"{_HERE}.meta_reviews:TemplateMetaReview",
            "mean-decides": f"{_HERE}.meta_reviews:MeanDecides",
            "other-paper": f"{_HERE}.people:OtherPaper",
        },
    }
)
"""Task → name → module and class of the baseline, in the order of tables."""
CEILINGS: Mapping[BenchTask, str] = MappingProxyType(
    {
        BenchTask.ACCEPTANCE: f"{_HERE}.people:HumanDecision",
        BenchTask.SCORES: f"{_HERE}.people:HumanScores",
        BenchTask.REVIEW: f"{_HERE}.people:HumanReview",
    }
)
"""Task → module and factory of the ceiling, the only one that may use what reviewers wrote about the paper.

A turn of a discussion is by one reviewer, so there is no other reviewer to measure it against.
"""
REFERENCES: Mapping[BenchTask, str] = MappingProxyType(
    {
        BenchTask.ACCEPTANCE: "tfidf-paper",
        BenchTask.SCORES: "tfidf-paper",
        BenchTask.REVIEW: "nearest",
        BenchTask.REBUTTAL: "retrieved",
        BenchTask.META_REVIEW: "mean-decides",
    }
)
"""Task → the baseline that uses most of a question, and knows only the train split."""
NEEDED = frozenset({"sklearn", "scipy", "numpy"})
"""Packages of the extra `bench` that some baselines import."""


def list_baselines(task: BenchTask) -> list[str]:
    """Return the names of a task's baselines, in the order of tables."""
    return list(BASELINES[task])


def load_baseline(name: str, task: BenchTask) -> Baseline:
    """Return a new, unfitted baseline.

    Args:
        name: One of `list_baselines(task)`, or `human` for the ceiling of a task with one.
        task: The task to answer.

    Raises:
        PeercorpusError: The task has no baseline of this name.
        MissingExtraError: A package that it needs is not installed.
    """
    known = dict(BASELINES[task]) | ({HUMAN: CEILINGS[task]} if task in CEILINGS else {})
    if name not in known:
        names = ", ".join(known)
        raise PeercorpusError(f"The task '{task.value}' has no baseline '{name}'; choose one of: {names}.")
    module, _, attribute = known[name].partition(":")
    try:
        create = getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in NEEDED:
            raise
        raise MissingExtraError("scikit-learn", "bench") from None
    return cast(Baseline, create())

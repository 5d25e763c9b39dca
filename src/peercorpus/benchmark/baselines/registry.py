"""Which baselines there are, by task; each is imported only when it is chosen."""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import cast

from peercorpus.benchmark.baselines.baseline import Baseline
from peercorpus.benchmark.cases import BenchTask
from peercorpus.errors import MissingExtraError, PeercorpusError

_HERE = "peercorpus.benchmark.baselines"
BASELINES: Mapping[BenchTask, Mapping[str, str]] = MappingProxyType(
    {
        BenchTask.ACCEPTANCE: {
            "majority": f"{_HERE}.acceptance:Majority",
            "accept-all": f"{_HERE}.acceptance:AcceptAll",
            "length": f"{_HERE}.linear_acceptance:Length",
            "tfidf-title": f"{_HERE}.linear_acceptance:TitleWords",
            "tfidf-abstract": f"{_HERE}.linear_acceptance:AbstractWords",
            "tfidf-paper": f"{_HERE}.linear_acceptance:PaperWords",
            "leak": f"{_HERE}.leak:Leak",
        },
        BenchTask.SCORES: {
            "mean": f"{_HERE}.means:MeanScores",
            "length": f"{_HERE}.linear_scores:Length",
            "tfidf-abstract": f"{_HERE}.linear_scores:AbstractWords",
            "tfidf-paper": f"{_HERE}.linear_scores:PaperWords",
        },
        BenchTask.REVIEW: {
            "template": f"{_HERE}.template:TemplateReview",
            "nearest": f"{_HERE}.nearest:NearestReview",
        },
        BenchTask.REBUTTAL: {
            "template": f"{_HERE}.template:TemplateTurn",
            "retrieved": f"{_HERE}.nearest:RetrievedTurn",
        },
    }
)
"""Task → name → where the class is, in the order of tables."""
NEEDED = frozenset({"sklearn", "scipy", "numpy"})
"""What some of them import."""


def baselines_of(task: BenchTask) -> list[str]:
    """The names of a task's baselines, in the order of tables."""
    return list(BASELINES[task])


def load_baseline(name: str, task: BenchTask, seed: int = 0) -> Baseline:
    """Make the baseline of this name.

    Args:
        name: One of `baselines_of(task)`.
        task: What it is to answer.
        seed: Decides what is drawn by chance, in those that draw.

    Raises:
        PeercorpusError: The task has none of this name.
        MissingExtraError: What it needs is not installed.
    """
    if name not in BASELINES[task]:
        known = ", ".join(baselines_of(task))
        raise PeercorpusError(f"The task '{task.value}' has no baseline '{name}'; choose one of: {known}.")
    module, _, attribute = BASELINES[task][name].partition(":")
    try:
        made = getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in NEEDED:
            raise
        raise MissingExtraError("scikit-learn", "bench") from None
    return cast(Baseline, made(seed))

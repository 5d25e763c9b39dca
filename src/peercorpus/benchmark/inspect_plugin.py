"""Entry point through which inspect_ai finds the tasks, solvers and scorers of this package."""

from peercorpus.benchmark import scorers, solvers
from peercorpus.benchmark.judge import calibration, scorer
from peercorpus.benchmark.judge.calibration import judge_calibration, judge_pairs
from peercorpus.benchmark.tasks import acceptance, meta_review, rebuttal, review, scores

__all__ = [
    "acceptance",
    "calibration",
    "judge_calibration",
    "judge_pairs",
    "meta_review",
    "rebuttal",
    "review",
    "scorer",
    "scorers",
    "scores",
    "solvers",
]

"""What `inspect_ai` finds through its entry point: importing this module registers every task, solver and scorer."""

from peercorpus.benchmark import scorers, solving
from peercorpus.benchmark.judging import calibrated, scoring
from peercorpus.benchmark.judging.calibration import judge_calibration, judge_pairs
from peercorpus.benchmark.tasks import acceptance, rebuttal, review, scores

__all__ = [
    "acceptance",
    "calibrated",
    "judge_calibration",
    "judge_pairs",
    "rebuttal",
    "review",
    "scorers",
    "scores",
    "scoring",
    "solving",
]

"""What `inspect_ai` finds through its entry point: importing this module registers every task, solver and scorer."""

from peercorpus.benchmark import scorers, solving
from peercorpus.benchmark.tasks import acceptance, rebuttal, review, scores

__all__ = ["acceptance", "rebuttal", "review", "scorers", "scores", "solving"]

"""Invented cases of the benchmark with the questions of ICLR's form."""

from peercorpus.benchmark.cases import AskedScore, BenchTask, Case, CasePaper
from peercorpus.records.enums import Aspect, Grade

PAPER = CasePaper("pebbles", "P/2024", "PEBBLE", 2024, "Pebbles", "On pebbles.", Grade.EXACT, "We sort pebbles.")
RATING = AskedScore(Aspect.RECOMMENDATION, "rating", 1, 10, (5.0,))
SOUNDNESS = AskedScore(Aspect.SOUNDNESS, "soundness", 1, 4, (3.0,))
CONFIDENCE = AskedScore(Aspect.CONFIDENCE, "confidence", 1, 5, (3.0,))
OVERALL = AskedScore(Aspect.RECOMMENDATION, "Overall", 1, 6, (4.0,))
NOVELTY = AskedScore(Aspect.NOVELTY, "novelty", 1, 4, (2.0,))


def acceptance() -> Case:
    """Whether the paper is accepted."""
    return Case("pebbles", BenchTask.ACCEPTANCE, PAPER, accepted=True)


def scoring(*asked: AskedScore) -> Case:
    """The paper's scores."""
    return Case("pebbles", BenchTask.SCORES, PAPER, scores=asked)


def reviewing(*asked: AskedScore) -> Case:
    """A review of the paper."""
    return Case("pebbles", BenchTask.REVIEW, PAPER, scores=asked, references=("A review.",))


def rebutting() -> Case:
    """A case on the reviewer's next reply."""
    return Case("pebbles", BenchTask.REBUTTAL, PAPER, references=("Thanks.",))

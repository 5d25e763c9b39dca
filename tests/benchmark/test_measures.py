"""Every share of decisions and its interval count the same papers."""

from random import Random

import pytest

from peercorpus.benchmark.measures import DECISIONS, Measure
from peercorpus.benchmark.outcomes import CaseOutcome, DecisionRecord
from peercorpus.metrics.intervals.papers import bound_balanced, bound_f1, bound_share

NAMES = ("accuracy", "precision", "recall", "F1", "balanced accuracy", "MCC")
SHARES = {measure.name: measure for measure in DECISIONS if measure.name in NAMES}


def decided(accepts: str, said: str) -> list[CaseOutcome]:
    """Papers by a letter each: `a` accepted, `r` rejected."""
    return [
        CaseOutcome(f"p{place}", f"p{place}", DecisionRecord(gold == "a", answer == "a", None))
        for place, (gold, answer) in enumerate(zip(accepts, said, strict=True))
    ]


def bound(measure: Measure, outcomes: list[CaseOutcome]) -> tuple[float, float]:
    assert measure.bounds is not None
    bounds = measure.bounds([[outcome] for outcome in outcomes], measure.of(outcomes))
    assert bounds is not None
    return bounds


def test_intervals_count_the_papers_of_their_share() -> None:
    outcomes = decided("aaaaarrr", "aaaraarr")
    accepts, rejects = [(1, 1)] * 4 + [(0, 1)], [(1, 1)] * 2 + [(0, 1)]
    assert bound(SHARES["accuracy"], outcomes) == pytest.approx(bound_share([(1, 1)] * 6 + [(0, 1)] * 2))
    assert bound(SHARES["precision"], outcomes) == pytest.approx(bound_share([(1, 1)] * 4 + [(0, 1)]))
    assert bound(SHARES["recall"], outcomes) == pytest.approx(bound_share(accepts))
    assert bound(SHARES["F1"], outcomes) == pytest.approx(bound_f1([(1, 1)] * 4 + [(0, 1)] * 2))
    assert bound(SHARES["balanced accuracy"], outcomes) == pytest.approx(bound_balanced(accepts, rejects))


@pytest.mark.parametrize("seed", range(20))
def test_intervals_contain_their_number(seed: int) -> None:
    chance = Random(seed)
    accepts = "ar" + "".join(chance.choices("ar", weights=(1, 3), k=40))
    outcomes = decided(accepts, "ar" + "".join(chance.choices("ar", k=40)))
    for name, measure in SHARES.items():
        low, high = bound(measure, outcomes)
        assert low <= measure.of(outcomes) <= high, name

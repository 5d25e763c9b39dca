"""Which of a review's scores is reported as the first and which as the last."""

from dataclasses import replace
from itertools import permutations

import pytest

from invented_tables import score
from peercorpus.records.enums import Aspect, Phase, ScoreSource
from peercorpus.records.scores import (
    Score,
    choose_first_and_last,
    choose_own_first_and_last,
    choose_score,
    unified_rating,
)


def rating(field: str, value: float, phase: Phase) -> Score:
    return score(field, value, f"{value:g}", Aspect.RECOMMENDATION, phase)


FIRST, LAST = rating("rating", 3, Phase.INITIAL), rating("rating", 6, Phase.FINAL)
OTHER = rating("overall_score", 9, Phase.FINAL)
UNRELATED = score("confidence", 4, "4", Aspect.CONFIDENCE)
EARLY = rating("preliminary_rating", 2, Phase.INITIAL)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([FIRST, OTHER, LAST], (FIRST, LAST)),
        ([LAST], (None, LAST)),
        ([EARLY, OTHER], (EARLY, OTHER)),
        ([EARLY], (EARLY, None)),
        ([UNRELATED], (None, None)),
    ],
)
def test_first_and_last_scores_are_chosen(scores: list[Score], expected: tuple[Score | None, Score | None]) -> None:
    assert choose_first_and_last(scores, Aspect.RECOMMENDATION, "rating") == expected


@pytest.mark.parametrize("source", [ScoreSource.EDIT_BY_CHAIRS, ScoreSource.EDIT_BY_VENUE])
def test_a_last_score_by_others_is_not_compared(source: ScoreSource) -> None:
    assert choose_own_first_and_last([FIRST, LAST], Aspect.RECOMMENDATION, "rating") == (FIRST, LAST)
    set_by_others = replace(LAST, source=source)
    assert choose_own_first_and_last([FIRST, set_by_others], Aspect.RECOMMENDATION, "rating") is None


def test_the_latest_score_stands_in_any_order() -> None:
    phases = {Phase.INITIAL: 3.0, Phase.AT_DECISION: 5.0, Phase.FINAL: 8.0}
    scores = [replace(rating("rating", value, phase), unified=value + 1) for phase, value in phases.items()]
    for order in permutations(scores):
        chosen = choose_score(order, Aspect.RECOMMENDATION, "rating")
        assert (chosen and chosen.value, unified_rating(order)) == (8.0, 9.0)
    for order in permutations(scores[:2]):
        assert unified_rating(order) == 6.0

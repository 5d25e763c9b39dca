"""Which of a review's scores is reported as the first and which as the last."""

import pytest

from invented_tables import score
from peercorpus.records.enums import Aspect, Phase
from peercorpus.records.scores import Score, choose_first_and_last


def rating(field: str, value: float, phase: Phase) -> Score:
    return score(field, value, f"{value:g}", Aspect.RECOMMENDATION, phase)


FIRST, LAST = rating("rating", 3, Phase.INITIAL), rating("rating", 6, Phase.FINAL)
OTHER = rating("overall_score", 9, Phase.FINAL)
UNRELATED = score("confidence", 4, "4", Aspect.CONFIDENCE)
EARLY = rating("preliminary_rating", 2, Phase.INITIAL)


@pytest.mark.parametrize(
    ("scores", "revised", "expected"),
    [
        ([FIRST, OTHER, LAST], True, (FIRST, LAST)),
        ([LAST], False, (LAST, LAST)),
        ([LAST], True, (None, LAST)),
        ([LAST], None, (None, LAST)),
        ([EARLY, OTHER], None, (EARLY, OTHER)),
        ([EARLY], None, (EARLY, None)),
        ([UNRELATED], False, (None, None)),
    ],
)
def test_first_and_last_scores_are_chosen(
    scores: list[Score], revised: bool | None, expected: tuple[Score | None, Score | None]
) -> None:
    assert choose_first_and_last(scores, Aspect.RECOMMENDATION, "rating", revised=revised) == expected

"""How far a judge agrees with itself and with others: every number worked out by hand."""

import pytest

from peercorpus.benchmark.judge.agreement import grader_agreement, places, rank_correlation, repeat_agreement
from peercorpus.benchmark.judge.judge import ASPECTS
from peercorpus.benchmark.outcomes import Verdict
from peercorpus.errors import UndefinedMetricError


def flat(number: int, **other: int) -> Verdict:
    """Return a verdict that gives all aspects the same number unless another is given."""
    return Verdict(**dict.fromkeys(ASPECTS, number) | other)


class TestRepeats:
    def test_results_equal_values_computed_by_hand(self) -> None:
        found = repeat_agreement([[flat(4), flat(4), flat(6)], [flat(8), flat(8)], [flat(1)]])
        # Pairs of quality: 4-4, 4-6, 4-6, 8-8: half are equal, and 4 points are apart in 4 pairs.
        assert (found["quality"].equal, found["quality"].difference) == (0.5, 1.0)
        # Squares within the first unit: 8/3, so D_o = (2 * 3 * (8/3) / 2) / 5 = 8/5. All five have mean 6 and squares
        # 4 + 4 + 0 + 4 + 4 = 16, so D_e = 2 * 5 * 16 / (5 * 4) = 8. Alpha is 1 - 0.2.
        assert found["quality"].alpha == pytest.approx(0.8)
        assert found["overall"].equal == 0.5

    def test_a_single_aspect_may_vary(self) -> None:
        found = repeat_agreement([[flat(4), flat(4, clarity=9)], [flat(6), flat(6)]])
        assert (found["accuracy"].equal, found["clarity"].equal) == (1.0, 0.5)
        assert (found["clarity"].difference, found["overall"].difference) == (2.5, 0.5)
        assert found["accuracy"].alpha == 1

    def test_constant_marks_have_no_alpha(self) -> None:
        found = repeat_agreement([[flat(5), flat(5)], [flat(5), flat(5)]])
        assert (found["quality"].equal, found["quality"].alpha) == (1.0, None)

    @pytest.mark.parametrize("answers", [[], [[flat(4)], []]])
    def test_no_data_is_an_error(self, answers: list[list[Verdict]]) -> None:
        with pytest.raises(UndefinedMetricError, match="repeats=2"):
            repeat_agreement(answers)


class TestGraders:
    def test_a_stricter_grader_with_the_same_order_correlates_fully(self) -> None:
        found = grader_agreement([(flat(4), flat(3)), (flat(6), flat(5)), (flat(8), flat(7))])
        assert (found["quality"].spearman, found["quality"].difference) == (1.0, -1.0)
        # Squares within each unit: 1/2, so D_o = 3 * (2 * 2 * 0.5) / 6 = 1. All six have mean 5.5 and squares 17.5, so
        # D_e = 2 * 6 * 17.5 / 30 = 7. Alpha is 1 - 1/7.
        assert found["quality"].alpha == pytest.approx(6 / 7)

    def test_an_opposite_grader_correlates_negatively(self) -> None:
        found = grader_agreement([(flat(2), flat(8)), (flat(8), flat(2))])
        assert (found["overall"].spearman, found["overall"].difference) == (-1.0, 0.0)
        assert found["overall"].alpha is not None
        assert found["overall"].alpha < 0

    def test_a_constant_grader_has_no_correlation(self) -> None:
        found = grader_agreement([(flat(2), flat(5)), (flat(8), flat(5))])
        assert (found["overall"].spearman, found["overall"].difference) == (None, 0.0)

    def test_no_data_is_an_error(self) -> None:
        with pytest.raises(UndefinedMetricError):
            grader_agreement([])


class TestLength:
    def test_marks_that_grow_with_length_correlate_with_length(self) -> None:
        assert rank_correlation([3.0, 4.2, 9.0], [10, 200, 201]) == 1.0
        assert rank_correlation([5.0, 5.0], [10, 200]) is None


class TestPlaces:
    def test_a_grader_that_prefers_a_text_names_two_positions(self) -> None:
        found = places([("A", "B"), ("B", "A")])
        assert (found.flips, found.first) == (0.0, 0.5)

    def test_a_grader_that_prefers_a_position_names_one(self) -> None:
        found = places([("A", "A"), ("A", "A"), ("A", "B"), ("B", "B")])
        assert (found.pairs, found.flips, found.first) == (4, 0.75, 5 / 8)

    def test_no_data_is_an_error(self) -> None:
        with pytest.raises(UndefinedMetricError):
            places([])

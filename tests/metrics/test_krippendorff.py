"""Krippendorff's alpha against published examples and numbers worked out by hand."""

from typing import Any

import polars as pl
import pytest

from peercorpus.metrics.prediction import alpha

# Krippendorff (2011), section D: four observers, twelve units, values missing.
PUBLISHED = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3),
    (None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None),
)

# The computational example of Wikipedia's article (read 2026-11), after Krippendorff: three observers, fifteen units.
WIDELY_USED = (
    (None, None, None, None, None, 3, 4, 1, 2, 1, 1, 3, 3, None, 3),
    (1, None, 2, 1, 3, 3, 4, 3, None, None, None, None, None, None, None),
    (None, None, 2, 1, 3, 4, 4, None, 2, 1, 1, 3, 3, None, 4),
)


def units(*observers: tuple[float | None, ...]) -> pl.DataFrame:
    rows = [(unit, value) for observer in observers for unit, value in enumerate(observer)]
    return pl.DataFrame(rows, schema={"unit": pl.Int64, "value": pl.Float64}, orient="row")


class TestKrippendorff:
    @pytest.mark.parametrize(("observers", "expected"), [(PUBLISHED, 0.849), (WIDELY_USED, 0.811)])
    def test_published_examples_give_the_published_value(self, observers: Any, expected: float) -> None:
        found = alpha(units(*observers))
        assert found is not None
        assert round(found, 3) == expected

    def test_a_unit_with_one_value_does_not_count(self) -> None:
        assert alpha(units((1, 2, 9), (1, 3, None))) == alpha(units((1, 2), (1, 3)))

    def test_results_equal_values_computed_by_hand(self) -> None:
        # D_o = (0 + 2) / 4 = 1/2; all pairs of 1, 1, 2, 3: Σ over i ≠ j = 2 (0 + 1 + 4 + 1 + 4 + 1) = 22, D_e = 22/12.
        assert alpha(units((1, 2), (1, 3))) == pytest.approx(1 - 0.5 / (22 / 12))

    def test_the_scale_does_not_matter(self) -> None:
        one, other = alpha(units(*PUBLISHED)), alpha(units(*PUBLISHED).with_columns(pl.col("value") * 10 - 7))
        assert one == pytest.approx(other)

    @pytest.mark.parametrize("observers", [(), ((1, 2),), ((4, 4), (4, 4)), ((None, 1), (2, None))])
    def test_alpha_is_none_if_expected_disagreement_is_undefined(self, observers: Any) -> None:
        assert alpha(units(*observers)) is None

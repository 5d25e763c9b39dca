"""Decisions, scores and Krippendorff's alpha: values worked out by hand, and equality with scikit-learn."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import polars as pl
import pytest
from scipy import stats
from sklearn import metrics as sklearn

from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics.prediction import (
    accuracy,
    alpha,
    auroc,
    balanced_accuracy,
    confusion,
    f1,
    mae,
    mae_unit,
    mcc,
    mse,
    mse_unit,
    normalise,
    precision,
    recall,
    spearman,
)

GOLD = [True, True, True, False, False]
PREDICTED = [True, True, False, True, False]
Decisions = Callable[[Sequence[bool], Sequence[bool]], float]


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (accuracy, 3 / 5),
        (precision, 2 / 3),
        (recall, 2 / 3),
        (f1, 2 / 3),
        (balanced_accuracy, (2 / 3 + 1 / 2) / 2),
        (mcc, (2 * 1 - 1 * 1) / (3 * 3 * 2 * 2) ** 0.5),
    ],
)
def test_known_values(metric: Decisions, expected: float) -> None:
    assert metric(PREDICTED, GOLD) == pytest.approx(expected)


def test_predictions_are_counted_by_decision() -> None:
    counts = confusion([True, True, True, False, False, False], [True, True, False, True, False, False])
    assert (counts.accepted_rightly, counts.accepted_wrongly) == (2, 1)
    assert (counts.rejected_wrongly, counts.rejected_rightly) == (1, 2)


@pytest.mark.parametrize(
    ("metric", "predicted", "gold"),
    [
        (precision, [False, False], [True, False]),
        (recall, [True, False], [False, False]),
        (f1, [False, False], [False, False]),
        (balanced_accuracy, [True, False], [True, True]),
        (balanced_accuracy, [True, False], [False, False]),
        (mcc, [True, True], [True, False]),
        (mcc, [True, False], [True, True]),
        (auroc, [0.2, 0.3], [True, True]),
        (auroc, [0.2, 0.3], [False, False]),
    ],
)
def test_an_undefined_value_is_an_error_and_never_0(metric: Decisions, predicted: list[bool], gold: list[bool]) -> None:
    with pytest.raises(UndefinedMetricError):
        metric(predicted, gold)


def test_columns_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="columns"):
        accuracy([True], [True, False])


@pytest.mark.parametrize("seed", range(50))
def test_random_samples_are_equal_to_scikit_learn(seed: int) -> None:
    chance = Random(seed)
    gold = [True, False, *(chance.random() < 0.4 for _ in range(98))]
    predicted = [True, False, *(chance.random() < 0.6 for _ in range(98))]
    chance.shuffle(predicted)
    for own, theirs in (
        (accuracy, sklearn.accuracy_score),
        (precision, sklearn.precision_score),
        (recall, sklearn.recall_score),
        (f1, sklearn.f1_score),
        (balanced_accuracy, sklearn.balanced_accuracy_score),
        (mcc, sklearn.matthews_corrcoef),
    ):
        assert own(predicted, gold) == pytest.approx(theirs(gold, predicted), abs=1e-12)
    probabilities = [chance.randrange(10) / 10 for _ in gold]
    assert auroc(probabilities, gold) == pytest.approx(sklearn.roc_auc_score(gold, probabilities), abs=1e-12)


def test_known_errors_and_correlations() -> None:
    predicted, gold = [3.0, 5.0, 6.0], [4.0, 5.0, 8.0]
    assert mae(predicted, gold) == 1.0
    assert mse(predicted, gold) == pytest.approx(5 / 3)
    assert spearman(predicted, gold) == 1.0
    assert spearman(predicted, gold[::-1]) == -1.0


def test_errors_on_unlike_scales_are_in_widths_of_each() -> None:
    scales = [(1.0, 10.0), (1.0, 5.0), (-2.0, 2.0)]
    predicted, gold = [1.0, 3.0, -2.0], [10.0, 5.0, -1.0]
    assert mae_unit(predicted, gold, scales) == pytest.approx((1 + 0.5 + 0.25) / 3)
    assert mse_unit(predicted, gold, scales) == pytest.approx((1 + 0.25 + 0.0625) / 3)


@pytest.mark.parametrize("scale", [(5.0, 5.0), (10.0, 1.0)])
def test_a_scale_without_width_is_refused(scale: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match=f"{scale[0]}.*{scale[1]}"):
        normalise([5.0], [scale])


@pytest.mark.parametrize(
    ("predicted", "gold"), [([5.0, 5.0, 5.0], [1.0, 2.0, 3.0]), ([1.0, 2.0], [6.0, 6.0]), ([1.0], [2.0])]
)
def test_a_constant_has_no_rank_correlation(predicted: list[float], gold: list[float]) -> None:
    with pytest.raises(UndefinedMetricError, match="equal"):
        spearman(predicted, gold)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_a_value_that_is_not_a_number_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match=str(wrong)):
        mae([1.0, wrong], [1.0, 2.0])


@pytest.mark.parametrize("seed", range(50))
def test_random_samples_are_equal_to_scikit_learn_and_scipy(seed: int) -> None:
    chance = Random(seed)
    gold = [float(chance.randint(1, 10)) for _ in range(100)]
    predicted = [round(score + chance.gauss(0, 3), seed % 3) for score in gold]
    assert mae(predicted, gold) == pytest.approx(sklearn.mean_absolute_error(gold, predicted), abs=1e-12)
    assert mse(predicted, gold) == pytest.approx(sklearn.mean_squared_error(gold, predicted), abs=1e-12)
    assert spearman(predicted, gold) == pytest.approx(stats.spearmanr(predicted, gold).statistic, abs=1e-12)


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

    @pytest.mark.parametrize("observers", [(), ((1, 2),), ((4, 4), (4, 4)), ((None, 1), (2, None))])
    def test_alpha_is_none_if_expected_disagreement_is_undefined(self, observers: Any) -> None:
        assert alpha(units(*observers)) is None

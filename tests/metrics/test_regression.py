"""Scores: values worked out by hand, equality with scikit-learn and SciPy, and undefined values."""

from random import Random

import pytest
from scipy import stats
from sklearn import metrics as sklearn

from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics.prediction import mae, mae_unit, mse, mse_unit, normalise, spearman


def test_known_values() -> None:
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


def test_a_prediction_beyond_its_scale_is_not_clipped() -> None:
    assert normalise([12], [(2, 10)]) == [1.25]


@pytest.mark.parametrize("scale", [(5.0, 5.0), (10.0, 1.0)])
def test_a_scale_without_width_is_refused(scale: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match=f"{scale[0]}.*{scale[1]}"):
        normalise([5.0], [scale])


def test_scores_and_scales_of_unequal_number_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        mae_unit([1.0, 2.0], [1.0, 2.0], [(1.0, 5.0)])


def test_equal_scores_share_a_rank() -> None:
    assert spearman([1, 2, 2, 3], [1, 2, 3, 4]) == pytest.approx(9 / 90**0.5)


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

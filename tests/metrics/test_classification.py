"""Decisions: values worked out by hand, equality with scikit-learn, and undefined values."""

from collections.abc import Callable, Sequence
from random import Random

import pytest
from sklearn import metrics as sklearn

from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics.prediction import accuracy, auroc, balanced_accuracy, confusion, f1, mcc, precision, recall

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
    ("probabilities", "gold", "expected"),
    [
        ([0.9, 0.8, 0.1], [True, False, False], 1.0),
        ([0.1, 0.8, 0.9], [True, False, False], 0.0),
        ([0.5, 0.5, 0.5], [True, False, True], 0.5),
        ([0.7, 0.7, 0.2, 0.9], [True, False, False, True], (0.5 + 1 + 1 + 1) / 4),
    ],
)
def test_auroc_counts_ties_half(probabilities: list[float], gold: list[bool], expected: float) -> None:
    assert auroc(probabilities, gold) == expected


@pytest.mark.parametrize("accepts", [1, 37, 60, 99])
def test_accepting_all_gives_exactly_the_share_of_accepts(accepts: int) -> None:
    gold = [place < accepts for place in range(100)]
    everything = [True] * 100
    assert accuracy(everything, gold) == precision(everything, gold) == accepts / 100
    assert (recall(everything, gold), balanced_accuracy(everything, gold)) == (1.0, 0.5)
    assert auroc([1.0] * 100, gold) == 0.5


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


def test_f1_is_0_where_accepts_are_missed_and_none_is_predicted() -> None:
    assert f1([False, False], [True, False]) == 0.0


def test_a_probability_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="nan"):
        auroc([0.1, float("nan")], [True, False])


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

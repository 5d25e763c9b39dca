"""One-feature predictors: their accuracy on unseen rows, and that of chance."""

import random
from collections.abc import Sequence

import pytest

from peercorpus.audit.predictors import (
    Cell,
    Feature,
    FeatureKind,
    Labels,
    Predictor,
    PredictorScore,
    deal_to_folds,
    measure_chance,
    number_ways,
    pack_bits,
)

HALF = [number % 2 == 0 for number in range(100)]


def sign(marks: Sequence[bool], name: str = "sign") -> Feature:
    return Feature(name, FeatureKind.SIGN, ((("present", pack_bits(marks)),),))


def outcome(feature: Feature, accepted: Sequence[bool]) -> PredictorScore:
    labels = deal_to_folds(accepted)
    return Predictor(feature, labels).outcome(labels)


def test_every_row_is_in_one_fold() -> None:
    labels = deal_to_folds([number % 3 == 0 for number in range(101)])
    assert sum(labels.folds) == (1 << 101) - 1
    assert len(labels.folds) == 5
    assert {fold.bit_count() for fold in labels.folds} == {20, 21}
    assert {fold.bit_count() for fold in labels.accepted} == {6, 7}
    assert labels.positives == 34


def test_a_rare_feature_gains_that_much() -> None:
    # 60 of 100 are accepted; half of those have the feature, and no others: 30 right with it, 40 of the 70 without.
    accepted = [number < 60 for number in range(100)]
    found = outcome(sign([number < 30 for number in range(100)]), accepted)
    assert found.accuracy == 0.7
    assert found.balanced == pytest.approx((0.5 + 1.0) / 2)


def test_an_unbalanced_sign_shows_balanced() -> None:
    accepted = [number < 180 for number in range(200)]
    accuracy, balanced = outcome(sign([number < 90 for number in range(200)]), accepted)
    assert accuracy == 0.9
    assert balanced == pytest.approx(0.75)


def test_the_best_threshold_is_found_between_the_values() -> None:
    values = [10 + number if is_accepted else number % 9 for number, is_accepted in enumerate(HALF)]
    feature = Feature("pages", FeatureKind.NUMBER, number_ways(values))
    labels = deal_to_folds(HALF)
    predictor = Predictor(feature, labels)
    assert predictor.outcome(labels) == (1.0, 1.0)
    assert feature.ways[predictor.best_way(labels)][0][0] == "at most 8"


def test_noise_gains_nothing() -> None:
    chance = random.Random(3)
    accepted = [chance.random() < 0.5 for _ in range(2000)]
    feature = Feature("length", FeatureKind.NUMBER, number_ways([chance.randrange(10**6) for _ in accepted]))
    assert outcome(feature, accepted)[0] < deal_to_folds(accepted).majority + 0.03


def test_values_are_split_at_quantiles() -> None:
    assert len(number_ways(range(10_000))) == 64
    assert len(number_ways([1, 2, 3])) == 2
    assert number_ways([5, 5, 5]) == ()


def test_each_value_of_a_category_predicts_its_own_majority() -> None:
    routes = ["a" if number < 20 else "b" if number < 60 else "c" for number in range(100)]
    accepted = [route != "b" for route in routes]
    cells: tuple[Cell, ...] = tuple((name, pack_bits([route == name for route in routes])) for name in ("a", "b"))
    assert outcome(Feature("route", FeatureKind.CATEGORY, (cells,)), accepted) == (1.0, 1.0)


def test_many_features_have_more_chance() -> None:
    chance = random.Random(1)
    labels: Labels = deal_to_folds(HALF)
    many = [Predictor(sign([chance.random() < 0.5 for _ in HALF], str(n)), labels) for n in range(300)]
    few, all_ = measure_chance(many[:3], labels), measure_chance(many, labels)
    assert labels.majority <= few.accuracy < all_.accuracy < 0.75
    assert 0.5 <= few.balanced < all_.balanced


@pytest.mark.parametrize("seed", range(5))
def test_categories_learn_nothing_from_test_rows(seed: int) -> None:
    chance = random.Random(seed)
    values = [chance.randrange(50) for _ in HALF]
    cells: tuple[Cell, ...] = tuple((f"{one}", pack_bits([value == one for value in values])) for one in range(49))
    found = outcome(Feature("group", FeatureKind.CATEGORY, (cells,)), HALF)
    assert max(found) < 0.6, "a feature that means nothing seems to tell the decision"

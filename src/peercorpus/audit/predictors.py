"""Predict decisions from one feature at a time, cross-validated, and compare with chance.

Sets of rows are integers with one bit per row, so that counting is one `bit_count`.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import compress
from typing import NamedTuple

FOLDS = 5
SHUFFLES = 20
"""Number of shuffles of the decisions; the highest result of any feature in any of them is taken as chance."""
SEED = 5
"""Seed of the first shuffle; the others follow it."""
MOST_THRESHOLDS = 64
"""Largest number of thresholds tried for one numeric feature."""
FEWEST_ROWS = 50
"""Fewest rows with a decision that an audit needs."""
FEWEST_OF_ONE = 10
"""Fewest rows with each decision that an audit needs."""
AT_MOST = "at most "
"""Prefix of the name of the cell below a threshold."""

Cell = tuple[str, int]


class FeatureKind(StrEnum):
    """Type of the values of a feature."""

    PHRASE = "phrase"
    """Present or absent: words found in the texts themselves."""
    SIGN = "sign"
    """Present or absent: one of a fixed list that is always tried."""
    CATEGORY = "category"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Feature:
    """One property of a paper that may reveal the decision.

    Attributes:
        ways: Ways to split the rows into cells; each lists all cells, as bits, except the last, which has all other
            rows.
    """

    name: str
    kind: FeatureKind
    ways: tuple[tuple[Cell, ...], ...]

    @property
    def title(self) -> str:
        """The name, in quotation marks if it is a phrase."""
        return f"\u201c{self.name}\u201d" if self.kind is FeatureKind.PHRASE else self.name


@dataclass(frozen=True, slots=True)
class Labels:
    """The decisions, assigned to folds.

    Attributes:
        folds: The rows of each fold, as bits.
        accepted: The accepted ones of each fold, as bits.
    """

    folds: tuple[int, ...]
    accepted: tuple[int, ...]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(fold.bit_count() for fold in self.folds)

    @property
    def positives(self) -> int:
        """Number of accepted rows."""
        return sum(fold.bit_count() for fold in self.accepted)

    @property
    def majority(self) -> float:
        """Share of the more frequent decision: the accuracy of always predicting it."""
        return max(self.positives, self.rows - self.positives) / self.rows


class PredictorScore(NamedTuple):
    """Accuracy of a predictor on held-out rows.

    Attributes:
        accuracy: Share of all rows that are predicted correctly.
        balanced: Mean of the shares of accepted and of rejected rows that are predicted correctly, by a predictor that
            gives both decisions the same weight; 0.5 is chance.
    """

    accuracy: float
    balanced: float


def pack_rows(rows: Iterable[int], count: int) -> int:
    """Return row numbers, each below `count`, as one integer in which row 0 is the lowest bit.

    >>> pack_rows([0, 3], 4)
    9
    """
    packed = bytearray((count + 7) // 8)
    for row in rows:
        packed[row >> 3] |= 1 << (row & 7)
    return int.from_bytes(packed, "little")


def pack_bits(marks: Sequence[bool]) -> int:
    """Return truth values, one per row, as one integer in which row 0 is the lowest bit.

    >>> pack_bits([True, False, False, True])
    9
    """
    return pack_rows(compress(range(len(marks)), marks), len(marks))


def number_ways(values: Sequence[int]) -> tuple[tuple[Cell, ...], ...]:
    """Return ways to split rows by a threshold: between all values, or at `MOST_THRESHOLDS` quantiles."""
    ordered = sorted(values)
    distinct = sorted(set(ordered))[:-1]
    if len(distinct) > MOST_THRESHOLDS:
        step = len(ordered) / (MOST_THRESHOLDS + 1)
        distinct = sorted({ordered[int(index * step)] for index in range(1, MOST_THRESHOLDS + 1)} - {ordered[-1]})
    ways: list[tuple[Cell, ...]] = []
    for threshold in distinct:
        rows = pack_bits([value <= threshold for value in values])
        ways.append(((f"{AT_MOST}{threshold:,}", rows),))
    return tuple(ways)


def threshold_of(cell: str) -> int:
    """Return the threshold in the name of a numeric feature's cell.

    >>> threshold_of("at most 12,345")
    12345
    """
    return int(cell.removeprefix(AT_MOST).replace(",", ""))


def deal_to_folds(accepted: Sequence[bool]) -> Labels:
    """Assign decisions, given in the order of the rows' keys, to folds so that each gets its share of both."""
    dealt = {True: 0, False: sum(accepted)}
    fold_by_row: list[int] = []
    for is_accepted in accepted:
        fold_by_row.append(dealt[is_accepted] % FOLDS)
        dealt[is_accepted] += 1
    folds = tuple(pack_bits([own == fold for own in fold_by_row]) for fold in range(FOLDS))
    accepted_rows = pack_bits(accepted)
    return Labels(folds, tuple(rows & accepted_rows for rows in folds))


def shuffle(labels: Labels, seed: int) -> Labels:
    """Return the same decisions shuffled among the rows of each fold."""
    chance = random.Random(seed)
    shuffled = []
    for fold, accepted in zip(labels.folds, labels.accepted, strict=True):
        places = [index for index, bit in enumerate(reversed(f"{fold:b}")) if bit == "1"]
        shuffled.append(pack_rows(chance.sample(places, accepted.bit_count()), fold.bit_length()))
    return Labels(labels.folds, tuple(shuffled))


class _Part(NamedTuple):
    """Accepted and rejected rows of one cell, in each fold and in total."""

    accepted: list[int]
    rejected: list[int]
    all_accepted: int
    all_rejected: int


class Predictor:
    """The predictor of one feature, for any decisions with the same folds."""

    def __init__(self, feature: Feature, labels: Labels) -> None:
        self.feature = feature
        self._ways = [
            [(rows, [(rows & fold).bit_count() for fold in labels.folds]) for _, rows in way] for way in feature.ways
        ]

    def _make_parts(self, way: int, labels: Labels) -> list[_Part]:
        left_accepted = [fold.bit_count() for fold in labels.accepted]
        left = [fold.bit_count() for fold in labels.folds]
        parts = []
        for rows, sizes in self._ways[way]:
            accepted = [(rows & fold).bit_count() for fold in labels.accepted]
            parts.append(_make_part(accepted, sizes))
            left_accepted = [all_ - own for all_, own in zip(left_accepted, accepted, strict=True)]
            left = [all_ - own for all_, own in zip(left, sizes, strict=True)]
        return [*parts, _make_part(left_accepted, left)]

    def outcome(self, labels: Labels) -> PredictorScore:
        """Return how often it is right on each fold after learning from the others."""
        ways = [self._make_parts(way, labels) for way in range(len(self._ways))]
        positives = labels.positives
        rows = labels.rows
        right, right_accepted, right_rejected = 0, 0, 0
        for fold in range(FOLDS):
            accepted = positives - labels.accepted[fold].bit_count()
            rejected = rows - labels.folds[fold].bit_count() - accepted
            right += sum(_count_right(ways, fold, 1, 1, accepted > rejected))
            own_accepted, own_rejected = _count_right(ways, fold, rejected, accepted, False)
            right_accepted += own_accepted
            right_rejected += own_rejected
        return PredictorScore(right / rows, (right_accepted / positives + right_rejected / (rows - positives)) / 2)

    def best_way(self, labels: Labels) -> int:
        """Return the index of the split that separates the decisions best, learnt from all rows."""
        positives = labels.positives
        rows = labels.rows

        def separation(way: int) -> int:
            parts = self._make_parts(way, labels)
            return sum(max(p.all_accepted * (rows - positives), p.all_rejected * positives) for p in parts)

        return max(range(len(self._ways)), key=lambda way: (separation(way), -way))


def _make_part(accepted: list[int], sizes: list[int]) -> _Part:
    positives = sum(accepted)
    rows = sum(sizes)
    return _Part(
        accepted=accepted,
        rejected=[n - own for n, own in zip(sizes, accepted, strict=True)],
        all_accepted=positives,
        all_rejected=rows - positives,
    )


def _count_right(ways: list[list[_Part]], fold: int, weight: int, other: int, if_equal: bool) -> tuple[int, int]:
    """Return the accepted and rejected rows of a fold predicted correctly after learning from the others.

    Args:
        ways: Each way to split the rows.
        fold: The fold that is held out.
        weight: Weight of an accepted row.
        other: Weight of a rejected row.
        if_equal: Prediction for a cell in which both decisions weigh the same.
    """
    best: tuple[int, int, int] | None = None
    for parts in ways:
        learnt = right_accepted = right_rejected = 0
        for part in parts:
            accepted = (part.all_accepted - part.accepted[fold]) * weight
            rejected = (part.all_rejected - part.rejected[fold]) * other
            learnt += max(accepted, rejected)
            if accepted > rejected or (accepted == rejected and if_equal):
                right_accepted += part.accepted[fold]
            else:
                right_rejected += part.rejected[fold]
        if best is None or learnt > best[0]:
            best = (learnt, right_accepted, right_rejected)
    assert best is not None, "A feature has at least one way to split the rows."
    return best[1], best[2]


def measure_chance(predictors: Sequence[Predictor], labels: Labels) -> PredictorScore:
    """Return the best result of any of these features on shuffled decisions: the highest of `SHUFFLES` tries."""
    accuracy = labels.majority
    balanced = 0.5
    for number in range(SHUFFLES):
        shuffled = shuffle(labels, SEED + number)
        for predictor in predictors:
            score = predictor.outcome(shuffled)
            accuracy, balanced = max(accuracy, score.accuracy), max(balanced, score.balanced)
    return PredictorScore(accuracy, balanced)

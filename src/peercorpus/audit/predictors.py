"""The dumbest predictors of a decision: one feature, the majority of each of its values, cross-validated.

Rows are bits of one long number, so that counting is one instruction a machine word. A feature is one way or several
ways to part the rows in cells; in each fold the way that is right most often on the other folds is taken, and a cell is
given the decision that most of its rows have on the other folds. Nothing here depends on the order of the rows but
through the places they are given.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

FOLDS = 5
SHUFFLES = 20
"""Of the decisions, to say what the best of so many features reaches by chance: the highest of so many tries."""
SEED = 5
MOST_THRESHOLDS = 64
FEWEST_ROWS = 50
FEWEST_OF_ONE = 10
AT_MOST = "at most "

Cell = tuple[str, int]


class Kind(StrEnum):
    """What values a feature has."""

    PHRASE = "phrase"
    """There or not: words found in the texts themselves."""
    SIGN = "sign"
    """There or not: one that is always looked for."""
    CATEGORY = "category"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Feature:
    """One thing that may tell the decision.

    Attributes:
        ways: Ways to part the rows: each names its cells, as bits, but the last one, which holds all other rows.
    """

    name: str
    kind: Kind
    ways: tuple[tuple[Cell, ...], ...]

    @property
    def title(self) -> str:
        """Its name; a phrase in quotation marks."""
        return f"\u201c{self.name}\u201d" if self.kind is Kind.PHRASE else self.name


@dataclass(frozen=True, slots=True)
class Labels:
    """The decisions.

    Attributes:
        folds: The rows of each fold, as bits.
        accepted: The accepted ones of each fold, as bits.
    """

    folds: tuple[int, ...]
    accepted: tuple[int, ...]

    @property
    def rows(self) -> int:
        """How many there are."""
        return sum(fold.bit_count() for fold in self.folds)

    @property
    def positives(self) -> int:
        """How many are accepted."""
        return sum(fold.bit_count() for fold in self.accepted)

    @property
    def majority(self) -> float:
        """The share of the decision that most have: what a predictor reaches that sees nothing."""
        return max(self.positives, self.rows - self.positives) / self.rows


class Outcome(NamedTuple):
    """How often a predictor is right on rows that it has not seen.

    Attributes:
        accuracy: Share of all rows that are predicted rightly.
        balanced: The mean of the shares of accepted and of rejected rows that are predicted rightly, by a predictor for
            which both decisions weigh the same; 0.5 is chance.
    """

    accuracy: float
    balanced: float


def number_ways(values: Sequence[int]) -> tuple[tuple[Cell, ...], ...]:
    """Ways to part rows by a threshold: between all values, or at `MOST_THRESHOLDS` quantiles where there are more."""
    ordered = sorted(values)
    distinct = sorted(set(ordered))[:-1]
    if len(distinct) > MOST_THRESHOLDS:
        step = len(ordered) / (MOST_THRESHOLDS + 1)
        distinct = sorted({ordered[int(place * step)] for place in range(1, MOST_THRESHOLDS + 1)} - {ordered[-1]})
    places: dict[int, int] = {}
    for threshold in distinct:
        packed = bytearray((len(values) + 7) // 8)
        for place, value in enumerate(values):
            if value <= threshold:
                packed[place >> 3] |= 1 << (place & 7)
        places[threshold] = int.from_bytes(packed, "little")
    return tuple(((f"{AT_MOST}{threshold:,}", rows),) for threshold, rows in places.items())


def threshold_of(cell: str) -> int:
    """The threshold that the name of a number's cell says.

    >>> threshold_of("at most 12,345")
    12345
    """
    return int(cell.removeprefix(AT_MOST).replace(",", ""))


def label(accepted: Sequence[bool]) -> Labels:
    """Decisions in the order of the rows' keys, dealt out to folds so that each has its share of both."""
    folds, positives = [0] * FOLDS, [0] * FOLDS
    dealt = {True: 0, False: sum(accepted)}
    packed = [bytearray((len(accepted) + 7) // 8) for _ in range(2 * FOLDS)]
    for place, is_accepted in enumerate(accepted):
        fold = dealt[is_accepted] % FOLDS
        dealt[is_accepted] += 1
        packed[fold][place >> 3] |= 1 << (place & 7)
        if is_accepted:
            packed[FOLDS + fold][place >> 3] |= 1 << (place & 7)
    folds, positives = ([int.from_bytes(one, "little") for one in part] for part in (packed[:FOLDS], packed[FOLDS:]))
    return Labels(tuple(folds), tuple(positives))


def shuffle(labels: Labels, seed: int) -> Labels:
    """The same decisions dealt out anew by chance among the rows of each fold."""
    chance = random.Random(seed)
    shuffled = []
    for fold, accepted in zip(labels.folds, labels.accepted, strict=True):
        places = [place for place, bit in enumerate(reversed(f"{fold:b}")) if bit == "1"]
        packed = bytearray((fold.bit_length() + 7) // 8)
        for place in chance.sample(places, accepted.bit_count()):
            packed[place >> 3] |= 1 << (place & 7)
        shuffled.append(int.from_bytes(packed, "little"))
    return Labels(labels.folds, tuple(shuffled))


class _Part(NamedTuple):
    """Accepted and rejected rows of one cell: in each fold, and in all."""

    accepted: list[int]
    rejected: list[int]
    all_accepted: int
    all_rejected: int


class Predictor:
    """The one-feature predictor of one feature, for any decisions of the same folds."""

    def __init__(self, feature: Feature, labels: Labels) -> None:
        self.feature = feature
        self._ways = [
            [(rows, [(rows & fold).bit_count() for fold in labels.folds]) for _, rows in way] for way in feature.ways
        ]

    def _parts(self, way: int, labels: Labels) -> list[_Part]:
        left_accepted = [fold.bit_count() for fold in labels.accepted]
        left = [fold.bit_count() for fold in labels.folds]
        parts = []
        for rows, sizes in self._ways[way]:
            accepted = [(rows & fold).bit_count() for fold in labels.accepted]
            parts.append(_part(accepted, sizes))
            left_accepted = [all_ - own for all_, own in zip(left_accepted, accepted, strict=True)]
            left = [all_ - own for all_, own in zip(left, sizes, strict=True)]
        return [*parts, _part(left_accepted, left)]

    def outcome(self, labels: Labels) -> Outcome:
        """How often it is right on each fold when it has learnt from the others."""
        ways = [self._parts(way, labels) for way in range(len(self._ways))]
        positives, rows = labels.positives, labels.rows
        right, right_accepted, right_rejected = 0, 0, 0
        for fold in range(FOLDS):
            accepted = positives - labels.accepted[fold].bit_count()
            rejected = rows - labels.folds[fold].bit_count() - accepted
            right += sum(_right(ways, fold, 1, 1, accepted > rejected))
            own_accepted, own_rejected = _right(ways, fold, rejected, accepted, False)
            right_accepted += own_accepted
            right_rejected += own_rejected
        return Outcome(right / rows, (right_accepted / positives + right_rejected / (rows - positives)) / 2)

    def best_way(self, labels: Labels) -> int:
        """The way to part the rows that tells most, learnt from all rows."""
        positives, rows = labels.positives, labels.rows

        def told(way: int) -> int:
            parts = self._parts(way, labels)
            return sum(max(p.all_accepted * (rows - positives), p.all_rejected * positives) for p in parts)

        return max(range(len(self._ways)), key=lambda way: (told(way), -way))


def _part(accepted: list[int], sizes: list[int]) -> _Part:
    positives, rows = sum(accepted), sum(sizes)
    return _Part(accepted, [n - own for n, own in zip(sizes, accepted, strict=True)], positives, rows - positives)


def _right(ways: list[list[_Part]], fold: int, weight: int, other: int, if_equal: bool) -> tuple[int, int]:
    """Accepted and rejected rows of a fold that are predicted rightly by what was learnt from the others.

    Args:
        ways: Each way to part the rows.
        fold: The one held out.
        weight: Of an accepted row.
        other: Of a rejected row.
        if_equal: What a cell is given that tells nothing.
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
    assert best is not None, "A feature has at least one way to part the rows."
    return best[1], best[2]


def by_chance(predictors: Sequence[Predictor], labels: Labels) -> Outcome:
    """What the best of these features reaches where the decisions mean nothing: the highest of `SHUFFLES` tries."""
    accuracy, balanced = labels.majority, 0.5
    for number in range(SHUFFLES):
        shuffled = shuffle(labels, SEED + number)
        for predictor in predictors:
            found = predictor.outcome(shuffled)
            accuracy, balanced = max(accuracy, found.accuracy), max(balanced, found.balanced)
    return Outcome(accuracy, balanced)

"""The audit itself: the accuracy of every single feature of a corpus, and which of them are leaks.

What is found depends on the rows, not on their order.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import NamedTuple

from peercorpus.audit.examples import Example, example
from peercorpus.audit.passes import First, fixed_features, phrase_features, placed, read_first
from peercorpus.audit.phrases import FEWEST_ROWS as FEWEST_WITH_PHRASE
from peercorpus.audit.predictors import FEWEST_OF_ONE, Feature, Kind, Labels, Outcome, Predictor, by_chance, label
from peercorpus.audit.predictors import FEWEST_ROWS as FEWEST_AUDITED
from peercorpus.audit.source import Source
from peercorpus.errors import TableError
from peercorpus.progress import Show, show_nothing

REPORTED = 25
"""Features reported, the best first."""
EXAMPLES = 3
BALANCED_FACTOR = 2
"""How much more a balanced gain must be than the threshold of the plain one to be a leak of its own."""


class Value(NamedTuple):
    """How many papers of each decision have one value of a feature."""

    name: str
    accepted: int
    rejected: int


@dataclass(frozen=True, slots=True)
class Finding:
    """What one feature tells of the decision.

    Attributes:
        gain: Accuracy above that of the majority.
        values: Of the way to part the rows that tells most; one for a feature that is there or not.
        alike: Other features that hold of the same rows.
    """

    feature: Feature
    outcome: Outcome
    gain: float
    is_leak: bool
    values: tuple[Value, ...]
    alike: tuple[str, ...]
    examples: tuple[Example, ...] = ()


@dataclass(frozen=True, slots=True)
class Audit:
    """What the features of a corpus tell of its decisions.

    Attributes:
        accepted: Rows audited that were accepted.
        majority: The accuracy of a predictor that sees nothing.
        chance: What the best of so many features reaches where decisions mean nothing.
        tried: How many different features were tried; of those that hold of the same rows, one.
        untried: How many phrases were not tried, as there are too many of them, and traits with too many values.
        findings: The best features, best first.
        leaks: How many features are leaks.
    """

    source: Source
    read: int
    set_aside: Mapping[str, int]
    accepted: int
    rejected: int
    majority: float
    threshold: float
    chance: Outcome
    tried: int
    untried: Mapping[str, int]
    findings: tuple[Finding, ...]
    leaks: int


def _check(first: First, source: Source) -> None:
    rows, accepted = len(first.keys), sum(first.accepted)
    aside = ", ".join(f"{number:,} with {reason}" for reason, number in sorted(first.taken.aside.items()))
    left = f" ({aside} set aside)" if aside else ""
    if rows < FEWEST_AUDITED:
        raise TableError(
            f"'{source.name}' has {rows:,} papers with a decision that can be read from '{source.decision}'{left};"
            f" an audit needs at least {FEWEST_AUDITED}."
        )
    if min(accepted, rows - accepted) < FEWEST_OF_ONE:
        raise TableError(
            f"'{source.name}' has {accepted:,} accepted and {rows - accepted:,} rejected papers{left};"
            f" an audit needs at least {FEWEST_OF_ONE} of each."
        )


def _grouped(features: Iterable[Feature], rows: int) -> dict[Feature, list[str]]:
    """Features that part the rows differently, each with the names of others that part them so."""
    everything = (1 << rows) - 1
    known: dict[object, Feature] = {}
    grouped: dict[Feature, list[str]] = {}
    for feature in features:
        marks = feature.ways[0][0][1]
        is_split = len(feature.ways) == 1 and len(feature.ways[0]) == 1
        parting = min(marks, everything ^ marks) if is_split else feature.name
        same = known.setdefault(parting, feature)
        if same is feature:
            grouped[feature] = []
        else:
            lacks = marks != same.ways[0][0][1]
            grouped[same].append(f"not: {feature.name}" if lacks else feature.name)
    return grouped


def _values(feature: Feature, way: int, labels: Labels, names: Sequence[str]) -> tuple[Value, ...]:
    accepted_rows, left = sum(labels.accepted), sum(labels.folds)
    values = []
    for name, rows in feature.ways[way]:
        accepted = (rows & accepted_rows).bit_count()
        values.append(Value(name, accepted, rows.bit_count() - accepted))
        left &= ~rows
    if feature.kind is Kind.CATEGORY:
        accepted = (left & accepted_rows).bit_count()
        last = next(name for name in names if name not in {value.name for value in values})
        values.append(Value(last, accepted, left.bit_count() - accepted))
    return tuple(values)


def _shown(feature: Feature, way: int, labels: Labels) -> list[int]:
    """Places of the cell that tells most: first those of the decision it speaks for, in the order of the keys."""
    accepted = sum(labels.accepted)

    def told(rows: int) -> float:
        share = (rows & accepted).bit_count() / labels.positives
        return share - (rows & ~accepted).bit_count() / (labels.rows - labels.positives)

    cells = [rows for _, rows in feature.ways[way]]
    if feature.kind is Kind.CATEGORY:
        cells.append(sum(labels.folds) & ~reduce(or_, cells))
    rows = max(cells, key=lambda one: abs(told(one)))
    spoken_for = rows & accepted if told(rows) > 0 else rows & ~accepted
    return [place for part in (spoken_for, rows & ~spoken_for) for place in _places(part, EXAMPLES)][:EXAMPLES]


def _places(rows: int, most: int) -> list[int]:
    found: list[int] = []
    while rows and len(found) < most:
        found.append((rows & -rows).bit_length() - 1)
        rows &= rows - 1
    return found


def _fewest(threshold: float, labels: Labels) -> int:
    """How many rows must have a phrase, and lack it: with fewer it cannot gain what would make it a leak.

    A phrase that few rows have can change the prediction of no others, so that its gain is at most their share; its
    balanced gain is at most half their number by that of the rarer decision.
    """
    rarer = min(labels.positives, labels.rows - labels.positives)
    enough = min(threshold * labels.rows, 2 * BALANCED_FACTOR * threshold * rarer)
    return max(FEWEST_WITH_PHRASE, math.floor(enough))


def _rank(finding: Finding) -> tuple[bool, float, float, str]:
    return (not finding.is_leak, -finding.gain, -finding.outcome.balanced, finding.feature.name)


def audit(source: Source, threshold: float = 0.05, show: Show = show_nothing) -> Audit:
    """Find out which single feature of the papers tells the decision, and how much better than the majority.

    A feature is a leak where its gain in accuracy is above the threshold, or its balanced gain above twice the
    threshold (which tells in a corpus where nearly all papers have one decision), and above what the best of all
    features reaches by chance.

    Args:
        source: Read three times.
        threshold: Of the gain; from 0 to 0.5.
        show: Told how far each pass is.

    Raises:
        TableError: There are too few papers of either decision, or they change while they are read.
    """
    first = read_first(source, show)
    _check(first, source)
    labels = label(first.accepted)
    fewest = _fewest(threshold, labels)
    chosen = first.counter.choose(labels.rows, fewest)
    untried = Counter({"phrases": chosen.left_out} if chosen.left_out else {})
    every = [
        *fixed_features(first.facts, untried),
        *phrase_features(source, first, chosen, fewest, show),
    ]
    grouped = _grouped(every, labels.rows)
    predictors = [Predictor(feature, labels) for feature in grouped]
    chance = by_chance(predictors, labels)
    ranked = sorted(
        (_finding(one, labels, first, threshold, chance, grouped[one.feature]) for one in predictors), key=_rank
    )
    best = _with_examples(source, first, ranked[:REPORTED], predictors, labels, show)
    return Audit(
        source=source,
        read=first.taken.read,
        set_aside=dict(sorted(first.taken.aside.items())),
        accepted=labels.positives,
        rejected=labels.rows - labels.positives,
        majority=labels.majority,
        threshold=threshold,
        chance=chance,
        tried=len(grouped),
        untried=dict(untried),
        findings=best,
        leaks=sum(one.is_leak for one in ranked),
    )


def _finding(
    predictor: Predictor, labels: Labels, first: First, threshold: float, chance: Outcome, alike: Sequence[str]
) -> Finding:
    feature, outcome = predictor.feature, predictor.outcome(labels)
    gain, balanced = outcome.accuracy - labels.majority, outcome.balanced - 0.5
    is_leak = (gain > threshold and outcome.accuracy > chance.accuracy) or (
        balanced > BALANCED_FACTOR * threshold and outcome.balanced > chance.balanced
    )
    way = predictor.best_way(labels)
    names = (
        sorted({one.categories.get(feature.name, "") for one in first.facts}) if feature.kind is Kind.CATEGORY else ()
    )
    return Finding(feature, outcome, gain, is_leak, _values(feature, way, labels, names), tuple(alike))


def _with_examples(
    source: Source,
    first: First,
    findings: Sequence[Finding],
    predictors: Sequence[Predictor],
    labels: Labels,
    show: Show,
) -> tuple[Finding, ...]:
    by_feature = {id(one.feature): one for one in predictors}
    wanted: dict[int, list[int]] = defaultdict(list)
    for number, finding in enumerate(findings):
        way = by_feature[id(finding.feature)].best_way(labels)
        for place in _shown(finding.feature, way, labels):
            wanted[place].append(number)
    found: dict[int, list[tuple[int, Example]]] = defaultdict(list)
    for place, row in placed(source, first.keys, "examples sought in rows", show):
        named = row._replace(record_id=first.taken.names.get(row.key, row.record_id))
        for number in wanted.get(place, ()):
            found[number].append((place, example(findings[number].feature, named)))
    return tuple(
        replace(one, examples=tuple(shown for _, shown in sorted(found[number]))) for number, one in enumerate(findings)
    )

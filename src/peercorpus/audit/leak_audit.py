"""Measure the accuracy of every feature and find out which are leaks."""

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import NamedTuple

from peercorpus.audit.features import FEWEST_ROWS as FEWEST_WITH_PHRASE
from peercorpus.audit.features import (
    NUMBERS,
    PRESENCES,
    Example,
    Facts,
    PhraseCounter,
    TriedPhrases,
    make_example,
    read_facts,
)
from peercorpus.audit.papers import AuditedPaper, AuditSource, RowCounts, read_papers
from peercorpus.audit.predictors import (
    FEWEST_OF_ONE,
    Feature,
    FeatureKind,
    Labels,
    Predictor,
    PredictorScore,
    deal_to_folds,
    measure_chance,
    number_ways,
    pack_bits,
    pack_rows,
)
from peercorpus.audit.predictors import FEWEST_ROWS as FEWEST_AUDITED
from peercorpus.errors import TableError
from peercorpus.execution.progress import Meter, Show, show_nothing
from peercorpus.wording.counted_nouns import plural

_MAX_CATEGORY_VALUES = 50
"""Categories with more values are not tried: they identify rows rather than describe them."""


@dataclass(frozen=True, slots=True)
class FirstPass:
    """Result of the first pass, with rows in the order of their keys."""

    taken: RowCounts
    keys: list[bytes]
    accepted: list[bool]
    facts: list[Facts]
    counter: PhraseCounter


def _show_progress(
    source: AuditSource, rows: Iterable[AuditedPaper], what: str, total: int | None, show: Show
) -> Iterator[AuditedPaper]:
    meter = Meter(source.name, what, show, total=total)
    for row in rows:
        yield row
        meter.advance()


def read_first(source: AuditSource, show: Show) -> FirstPass:
    """Read every row once and return its fixed features and the counts of phrases."""
    counts = RowCounts()
    counter = PhraseCounter()
    rows: list[tuple[bytes, bool, Facts]] = []
    for row in _show_progress(source, read_papers(source, counts), "rows read", None, show):
        counter.add(row.text)
        rows.append((row.key, row.accepted, read_facts(row)))
    rows.sort(key=lambda audited: audited[0])
    keys = [key for key, _, _ in rows]
    return FirstPass(
        taken=counts,
        keys=keys,
        accepted=[accepted for _, accepted, _ in rows],
        facts=[facts for _, _, facts in rows],
        counter=counter,
    )


def numbered_rows(
    source: AuditSource, keys: Sequence[bytes], what: str, show: Show
) -> Iterator[tuple[int, AuditedPaper]]:
    """Yield every row again, with its index in the order of keys.

    Raises:
        TableError: The rows differ from those of the first pass.
    """
    places = {key: index for index, key in enumerate(keys)}
    for row in _show_progress(source, read_papers(source, RowCounts()), what, len(keys), show):
        index = places.pop(row.key, None)
        if index is None:
            raise TableError(f"'{source.name}' changed while it was read; run the audit again.")
        yield index, row
    if places:
        raise TableError(f"'{source.name}' changed while it was read; run the audit again.")


def phrase_features(
    source: AuditSource, first: FirstPass, chosen: TriedPhrases, fewest: int, show: Show
) -> Iterator[Feature]:
    """Read every row again and yield a feature for each frequent phrase, short phrases first.

    Args:
        source: The corpus.
        first: Result of the first pass.
        chosen: The phrases to try.
        fewest: Fewest rows that must have a phrase, and that must lack it.
        show: Receives the number of rows read.
    """
    rows = len(first.keys)
    rows_by_phrase: defaultdict[str, _RowSet] = defaultdict(lambda: _RowSet(rows))
    for index, row in numbered_rows(source, first.keys, "phrases found in rows", show):
        for phrase in chosen.of(row.text):
            rows_by_phrase[phrase].add(index)
    for phrase in sorted(rows_by_phrase, key=lambda words: (words.count(" "), words)):
        places = rows_by_phrase.pop(phrase)
        if fewest <= places.count <= rows - fewest:
            yield Feature(phrase, FeatureKind.PHRASE, ((("present", places.as_bits()),),))


class _RowSet:
    """The rows that have a phrase: a list while there are few, bits once there are many.

    Most phrases occur in few rows, and are only here because they share a checksum with a frequent one.
    """

    __slots__ = ("_bits", "_few", "_rows", "count")

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._few = array("I")
        self._bits = bytearray()
        self.count = 0

    def add(self, row: int) -> None:
        """Add a row that was not added before."""
        self.count += 1
        if not self._bits:
            self._few.append(row)
            if 32 * self.count > self._rows:
                self._bits = bytearray(self.as_bits().to_bytes((self._rows + 7) // 8, "little"))
                self._few = array("I")
        else:
            self._bits[row >> 3] |= 1 << (row & 7)

    def as_bits(self) -> int:
        """Return the rows as one integer in which row 0 is the lowest bit."""
        return int.from_bytes(self._bits, "little") if self._bits else pack_rows(self._few, self._rows)


def fixed_features(facts: Sequence[Facts], untried: Counter[str]) -> Iterator[Feature]:
    """Yield the fixed features that have more than one value; those with too many are counted in `untried`."""
    for index, name in enumerate(PRESENCES):
        rows = pack_bits([bool(row_facts.presences >> index & 1) for row_facts in facts])
        if 0 < rows.bit_count() < len(facts):
            yield Feature(name, FeatureKind.SIGN, ((("present", rows),),))
    for index, name in enumerate(NUMBERS):
        if ways := number_ways([row_facts.numbers[index] for row_facts in facts]):
            yield Feature(name, FeatureKind.NUMBER, ways)
    for name in sorted({name for row_facts in facts for name in row_facts.categories}):
        values = [row_facts.categories.get(name, "") for row_facts in facts]
        distinct = sorted(set(values))
        if len(distinct) > _MAX_CATEGORY_VALUES:
            untried[f"traits with more than {_MAX_CATEGORY_VALUES} values"] += 1
        elif len(distinct) > 1:
            cells = [(value, pack_bits([own == value for own in values])) for value in distinct]
            yield Feature(name, FeatureKind.CATEGORY, (tuple(cells[:-1]),))


_MAX_REPORTED = 25
"""Largest number of features reported, the best first."""
_MAX_EXAMPLES = 3
THRESHOLD = 0.05
"""Gain in accuracy above which a feature is a leak."""
BALANCED_FACTOR = 2
"""Factor of the threshold above which a balanced gain alone counts as a leak."""


class Value(NamedTuple):
    """Number of papers with each decision that have one value of a feature."""

    name: str
    accepted: int
    rejected: int


@dataclass(frozen=True, slots=True)
class Finding:
    """What one feature reveals about the decision.

    Attributes:
        gain: Accuracy above that of always predicting the majority.
        values: Values of the split that separates best; a single value for a feature that is present or absent.
        alike: Names of other features that the same rows have.
    """

    feature: Feature
    outcome: PredictorScore
    gain: float
    is_leak: bool
    values: tuple[Value, ...]
    alike: tuple[str, ...]
    examples: tuple[Example, ...] = ()


@dataclass(frozen=True, slots=True)
class Audit:
    """What the features of a corpus reveal about its decisions.

    Attributes:
        accepted: Rows audited that were accepted.
        majority: Accuracy of always predicting the majority.
        chance: Result of the best of all features on shuffled decisions.
        tried: Number of different features tried; features that the same rows have count once.
        untried: Phrases not tried because there are too many, and traits with too many values.
        findings: The best features, best first.
        leaks: Number of features that are leaks.
    """

    source: AuditSource
    read: int
    set_aside: Mapping[str, int]
    accepted: int
    rejected: int
    majority: float
    chance: PredictorScore
    tried: int
    untried: Mapping[str, int]
    findings: tuple[Finding, ...]
    leaks: int


def _check(first: FirstPass, source: AuditSource) -> None:
    rows = len(first.keys)
    accepted = sum(first.accepted)
    aside = ", ".join(f"{number:,} with {reason}" for reason, number in sorted(first.taken.aside.items()))
    left = f" ({aside} set aside)" if aside else ""
    if rows < FEWEST_AUDITED:
        raise TableError(
            f"'{source.name}' has {plural(rows, 'paper')} with a decision that can be read from"
            f" '{source.decision}'{left}; an audit needs at least {FEWEST_AUDITED}."
        )
    if min(accepted, rows - accepted) < FEWEST_OF_ONE:
        raise TableError(
            f"'{source.name}' has {accepted:,} accepted and {rows - accepted:,} rejected papers{left};"
            f" an audit needs at least {FEWEST_OF_ONE} of each."
        )


def _group_alike(features: Iterable[Feature], rows: int) -> dict[Feature, list[str]]:
    """Return features that split the rows differently, each with the names of others that split them the same way."""
    everything = (1 << rows) - 1
    first_by_split: dict[object, Feature] = {}
    grouped: dict[Feature, list[str]] = {}
    for feature in features:
        marks = feature.ways[0][0][1]
        is_split = len(feature.ways) == 1 and len(feature.ways[0]) == 1
        parting = min(marks, everything ^ marks) if is_split else feature.name
        same = first_by_split.setdefault(parting, feature)
        if same is feature:
            grouped[feature] = []
        else:
            lacks = marks != same.ways[0][0][1]
            grouped[same].append(f"not: {feature.name}" if lacks else feature.name)
    return grouped


def _count_values(feature: Feature, way: int, labels: Labels, names: Sequence[str]) -> tuple[Value, ...]:
    accepted_rows = sum(labels.accepted)
    left = sum(labels.folds)
    values = []
    for name, rows in feature.ways[way]:
        accepted = (rows & accepted_rows).bit_count()
        values.append(Value(name, accepted, rows.bit_count() - accepted))
        left &= ~rows
    if feature.kind is FeatureKind.CATEGORY:
        accepted = (left & accepted_rows).bit_count()
        last = next(name for name in names if name not in {value.name for value in values})
        values.append(Value(last, accepted, left.bit_count() - accepted))
    return tuple(values)


def _choose_telling_rows(feature: Feature, way: int, labels: Labels) -> list[int]:
    """Return rows of the most informative cell, first those with the decision that it indicates, in key order."""
    accepted = sum(labels.accepted)

    def difference(rows: int) -> float:
        share = (rows & accepted).bit_count() / labels.positives
        return share - (rows & ~accepted).bit_count() / (labels.rows - labels.positives)

    cells = [rows for _, rows in feature.ways[way]]
    if feature.kind is FeatureKind.CATEGORY:
        cells.append(sum(labels.folds) & ~reduce(or_, cells))
    rows = max(cells, key=lambda cell: abs(difference(cell)))
    spoken_for = rows & accepted if difference(rows) > 0 else rows & ~accepted
    return [row for part in (spoken_for, rows & ~spoken_for) for row in _list_bits(part, _MAX_EXAMPLES)][:_MAX_EXAMPLES]


def _list_bits(rows: int, most: int) -> list[int]:
    indexes: list[int] = []
    while rows and len(indexes) < most:
        indexes.append((rows & -rows).bit_length() - 1)
        rows &= rows - 1
    return indexes


def _compute_min_rows_with_phrase(labels: Labels) -> int:
    """Return the smallest number of rows that must have a phrase, and that must lack it, for it to be a leak at all.

    A phrase changes the prediction only for the rows that have it, so its gain is at most their share; its balanced
    gain is at most half their number divided by that of the rarer decision.
    """
    rarer = min(labels.positives, labels.rows - labels.positives)
    enough = min(THRESHOLD * labels.rows, 2 * BALANCED_FACTOR * THRESHOLD * rarer)
    return max(FEWEST_WITH_PHRASE, math.floor(enough))


def _rank(finding: Finding) -> tuple[bool, float, float, str]:
    return (not finding.is_leak, -finding.gain, -finding.outcome.balanced, finding.feature.name)


def audit(source: AuditSource, show: Show = show_nothing) -> Audit:
    """Find the single features that reveal the decision, and how much better than the majority they predict it.

    A feature is a leak if its gain in accuracy is above `THRESHOLD`, or its balanced gain above twice that
    (which matters if nearly all papers have the same decision), and above the result of the best of all features by
    chance.

    Args:
        source: The corpus, which is read three times.
        show: Receives the progress of each pass.

    Raises:
        TableError: There are too few papers with either decision, the papers change while they are read, or none of
            them has a text.
    """
    first = read_first(source, show)
    _check(first, source)
    labels = deal_to_folds(first.accepted)
    fewest = _compute_min_rows_with_phrase(labels)
    chosen = first.counter.choose(labels.rows, fewest)
    untried = Counter({"phrases": chosen.left_out} if chosen.left_out else {})
    every = [
        *fixed_features(first.facts, untried),
        *phrase_features(source, first, chosen, fewest, show),
    ]
    grouped = _group_alike(every, labels.rows)
    if not grouped and not any(characters for (characters, *_) in (facts.numbers for facts in first.facts)):
        raise TableError(
            f"No paper of '{source.name}' has a text, so nothing can be tested; audit a release or table with texts."
        )
    predictors = [Predictor(feature, labels) for feature in grouped]
    chance = measure_chance(predictors, labels)
    ranked = sorted(
        (_make_finding(predictor, labels, first, chance, grouped[predictor.feature]) for predictor in predictors),
        key=_rank,
    )
    best = _add_examples(source, first, ranked[:_MAX_REPORTED], predictors, labels, show)
    return Audit(
        source=source,
        read=first.taken.read,
        set_aside=dict(sorted(first.taken.aside.items())),
        accepted=labels.positives,
        rejected=labels.rows - labels.positives,
        majority=labels.majority,
        chance=chance,
        tried=len(grouped),
        untried=dict(untried),
        findings=best,
        leaks=sum(finding.is_leak for finding in ranked),
    )


def _make_finding(
    predictor: Predictor,
    labels: Labels,
    first: FirstPass,
    chance: PredictorScore,
    alike: Sequence[str],
) -> Finding:
    feature = predictor.feature
    outcome = predictor.outcome(labels)
    gain, balanced = outcome.accuracy - labels.majority, outcome.balanced - 0.5
    is_leak = (gain > THRESHOLD and outcome.accuracy > chance.accuracy) or (
        balanced > BALANCED_FACTOR * THRESHOLD and outcome.balanced > chance.balanced
    )
    way = predictor.best_way(labels)
    names = (
        sorted({row_facts.categories.get(feature.name, "") for row_facts in first.facts})
        if feature.kind is FeatureKind.CATEGORY
        else ()
    )
    return Finding(
        feature=feature,
        outcome=outcome,
        gain=gain,
        is_leak=is_leak,
        values=_count_values(feature, way, labels, names),
        alike=tuple(alike),
    )


def _add_examples(
    source: AuditSource,
    first: FirstPass,
    findings: Sequence[Finding],
    predictors: Sequence[Predictor],
    labels: Labels,
    show: Show,
) -> tuple[Finding, ...]:
    by_feature = {id(predictor.feature): predictor for predictor in predictors}
    findings_of_row: dict[int, list[int]] = defaultdict(list)
    for number, finding in enumerate(findings):
        way = by_feature[id(finding.feature)].best_way(labels)
        for row_index in _choose_telling_rows(finding.feature, way, labels):
            findings_of_row[row_index].append(number)
    examples: dict[int, list[tuple[int, Example]]] = defaultdict(list)
    for row_index, row in numbered_rows(source, first.keys, "examples sought in rows", show):
        named = row._replace(record_id=first.taken.names.get(row.key, row.record_id))
        for number in findings_of_row.get(row_index, ()):
            examples[number].append((row_index, make_example(findings[number].feature, named)))
    return tuple(
        replace(finding, examples=tuple(shown for _, shown in sorted(examples[number])))
        for number, finding in enumerate(findings)
    )

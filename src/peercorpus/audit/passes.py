"""The passes over a corpus, and the features that they give; the rows are put in the order of their keys.

The first pass reads the decisions and the fixed features and counts phrases by checksum; the second notes which rows
have the phrases worth trying. A third may fetch rows again. None holds more than a batch of texts.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from peercorpus.audit.features import NUMBERS, PRESENCES, Facts, bits, read_facts
from peercorpus.audit.phrases import Chosen, PhraseCounter
from peercorpus.audit.predictors import Feature, Kind, number_ways
from peercorpus.audit.source import Row, Source, Taken, read_rows
from peercorpus.errors import TableError
from peercorpus.progress import Meter, Show

MOST_VALUES = 50
"""Of a category; one with more says who a row is, not where it comes from, and is not tried."""


@dataclass(frozen=True, slots=True)
class First:
    """What the first pass read: rows in the order of their keys."""

    taken: Taken
    keys: list[bytes]
    accepted: list[bool]
    facts: list[Facts]
    counter: PhraseCounter


def _told(source: Source, rows: Iterable[Row], what: str, total: int | None, show: Show) -> Iterator[Row]:
    meter = Meter(source.name, what, show, total=total)
    for row in rows:
        yield row
        meter.advance()


def read_first(source: Source, show: Show) -> First:
    """Read every row once."""
    taken, counter = Taken(), PhraseCounter()
    found: list[tuple[bytes, bool, Facts]] = []
    for row in _told(source, read_rows(source, taken), "rows read", None, show):
        counter.add(row.text)
        found.append((row.key, row.accepted, read_facts(row)))
    found.sort(key=lambda one: one[0])
    keys = [key for key, _, _ in found]
    return First(taken, keys, [accepted for _, accepted, _ in found], [facts for _, _, facts in found], counter)


def placed(source: Source, keys: Sequence[bytes], what: str, show: Show) -> Iterator[tuple[int, Row]]:
    """Every row again, with its place.

    Raises:
        TableError: The rows are not those of the first pass.
    """
    places = {key: place for place, key in enumerate(keys)}
    for row in _told(source, read_rows(source, Taken()), what, len(keys), show):
        place = places.pop(row.key, None)
        if place is None:
            raise TableError(f"'{source.name}' changed while it was read; run the audit again.")
        yield place, row
    if places:
        raise TableError(f"'{source.name}' changed while it was read; run the audit again.")


def phrase_features(source: Source, first: First, chosen: Chosen, fewest: int, show: Show) -> Iterator[Feature]:
    """Read every row again: a feature for each phrase that so many rows have, and so many lack; short ones first."""
    rows = len(first.keys)
    found: defaultdict[str, _Places] = defaultdict(lambda: _Places(rows))
    for place, row in placed(source, first.keys, "phrases found in rows", show):
        for phrase in chosen.of(row.text):
            found[phrase].add(place)
    for phrase in sorted(found, key=lambda one: (one.count(" "), one)):
        places = found.pop(phrase)
        if fewest <= places.count <= rows - fewest:
            yield Feature(phrase, Kind.PHRASE, ((("present", places.as_bits()),),))


class _Places:
    """Rows that have a phrase: a list of few, the bits of many.

    Most phrases are of few rows, and here only because they share a checksum with one of many.
    """

    __slots__ = ("_bits", "_few", "_rows", "count")

    def __init__(self, rows: int) -> None:
        self._rows, self._few, self._bits, self.count = rows, array("I"), bytearray(), 0

    def add(self, place: int) -> None:
        """Add a row that is not yet there."""
        self.count += 1
        if not self._bits:
            self._few.append(place)
            if 32 * self.count > self._rows:
                self._bits, self._few = self._packed(), array("I")
        else:
            self._bits[place >> 3] |= 1 << (place & 7)

    def _packed(self) -> bytearray:
        packed = bytearray((self._rows + 7) // 8)
        for place in self._few:
            packed[place >> 3] |= 1 << (place & 7)
        return packed

    def as_bits(self) -> int:
        """The rows as one number, the first one its lowest bit."""
        return int.from_bytes(self._bits or self._packed(), "little")


def fixed_features(facts: Sequence[Facts], untried: Counter[str]) -> Iterator[Feature]:
    """The features that are always looked for, of which the rows have more than one value."""
    for place, name in enumerate(PRESENCES):
        rows = bits([bool(one.presences >> place & 1) for one in facts])
        if 0 < rows.bit_count() < len(facts):
            yield Feature(name, Kind.SIGN, ((("present", rows),),))
    for place, name in enumerate(NUMBERS):
        if ways := number_ways([one.numbers[place] for one in facts]):
            yield Feature(name, Kind.NUMBER, ways)
    for name in sorted({name for one in facts for name in one.categories}):
        values = [one.categories.get(name, "") for one in facts]
        distinct = sorted(set(values))
        if len(distinct) > MOST_VALUES:
            untried[f"traits with more than {MOST_VALUES} values"] += 1
        elif len(distinct) > 1:
            cells = [(value, bits([own == value for own in values])) for value in distinct]
            yield Feature(name, Kind.CATEGORY, (tuple(cells[:-1]),))

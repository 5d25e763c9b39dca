"""Find the changes of a paper that concern a point of a review."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from peercorpus.criticism.kinds import content_words, split_words
from peercorpus.criticism.places import Place, find_places
from peercorpus.records.documents import Change
from peercorpus.records.points import ChangeSign, PointChange

PROMISE = re.compile(
    r"\b(?:we|have|has|was|were|been|is|are|now)\b[^.!?]{0,60}?\b(?:add(?:ed)?|adding|include[sd]?|including|revised?"
    r"|updated?|rewrote|rewritten|rephrased?|clarif(?:y|ied)|corrected?|fix(?:ed)?|moved?|extend(?:ed)?|expand(?:ed)?"
    r"|discuss(?:ed)?|report(?:ed)?|provided?|changed?|modif(?:y|ied)|cited?|appears?)\b",
    re.IGNORECASE,
)
"""Matches a sentence in which the authors say that they changed the paper."""

HEADING_NUMBER = re.compile(r"\W*(?P<number>\d{1,2}(?:\.\d{1,2}){0,2}|[A-H](?:\.\d{1,2}){0,2})[.\s]")

MIN_SHARED = 3
"""Minimum number of rare words that a point and a change must share; our choice."""
MIN_WEIGHT = 9.0
"""Minimum sum of their rarities, the natural logarithm of (changes + 1) / (changes with the word + 1); our choice."""
MAX_CHANGES = 5
"""Maximum number of changes named for a point; our choice."""
RANKS = {ChangeSign.PROMISE: 0, ChangeSign.PLACE: 1, ChangeSign.TERMS: 2}
"""Order of the signs; among changes with the same sign, those with the largest weight come first."""


@dataclass(frozen=True, slots=True)
class _Terms:
    """The parts of a change that the search needs: its words, and the places that it names or is in."""

    number: int
    words: set[str]
    places: set[Place]


class PaperChanges:
    """The changes of one paper, ready for the search.

    Args:
        changes: In the order of their numbers.
    """

    def __init__(self, changes: Sequence[Change]) -> None:
        self._changes = [_read_terms(change) for change in changes]
        seen = Counter(word for change in self._changes for word in change.words)
        self._rarity = {word: 1.0 + math.log(len(changes) / count) for word, count in seen.items()}

    def concerning(self, point: str, answers: Sequence[str]) -> tuple[PointChange, ...]:
        """Return the changes that concern a point, in order of their numbers.

        Args:
            point: Its text.
            answers: The passages that answer it.
        """
        if not self._changes:
            return ()
        promised = {place for answer in answers for place in _find_promises(answer)}
        named = {*find_places(point)}
        words = {*content_words(split_words(point))}
        found = [self._compare(change, words, named, promised) for change in self._changes]
        best = sorted(filter(None, found), key=lambda one: (one[0], -one[1], one[2].number))[:MAX_CHANGES]
        return tuple(sorted((change for *_, change in best), key=lambda change: change.number))

    def _compare(
        self, change: _Terms, words: set[str], named: set[Place], promised: set[Place]
    ) -> tuple[int, float, PointChange] | None:
        """Return the evidence that a change concerns a point, with its rank and weight; None if there is none."""
        common = words & change.words
        weight = self._weigh(common)
        for sign, places in ((ChangeSign.PROMISE, promised), (ChangeSign.PLACE, named)):
            at = places & change.places
            if at:
                shared = ", ".join(f"{kind} {number}" for kind, number in sorted(at))
                return RANKS[sign], weight, PointChange(change.number, sign, shared)
        if len(common) < MIN_SHARED or weight < MIN_WEIGHT:
            return None
        return RANKS[ChangeSign.TERMS], weight, PointChange(change.number, ChangeSign.TERMS, " ".join(sorted(common)))

    def _weigh(self, common: Iterable[str]) -> float:
        return math.fsum(self._rarity[word] for word in common)


def _read_terms(change: Change) -> _Terms:
    text = f"{change.before} {change.after}"
    headings = [heading for heading in (change.section, change.later_section) if heading]
    numbers = (HEADING_NUMBER.match(heading) for heading in headings)
    sections = {("section", number["number"]) for number in numbers if number}
    return _Terms(change.number, {*content_words(split_words(text))}, sections.union(find_places(text)))


def _find_promises(answer: str) -> Iterator[Place]:
    """Yield the places where, according to an answer, the paper was changed."""
    for sentence in re.split(r"(?<=[.!?])\s+", answer):
        if PROMISE.search(sentence):
            yield from find_places(sentence)

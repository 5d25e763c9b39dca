"""Recognise the outcome that plain words name, as in "rejected papers 2025", whose papers the page then offers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from peercorpus.corpus.filters import Condition, Operator
from peercorpus.explorer.querying.typed_conditions import STATUS_WORDS
from peercorpus.explorer.querying.venue_names import NamedVenue
from peercorpus.explorer.rendering import STATUSES
from peercorpus.explorer.selection import Selection
from peercorpus.records.enums import Status

_PAPERS = frozenset(("paper", "papers", "submission", "submissions", "article", "articles"))
"""Words beside which any form of a word names an outcome: "rejection" alone may be that of samples."""
_BETWEEN = frozenset(
    (
        *("a", "about", "all", "and", "as", "at", "be", "by", "every", "for", "from", "in", "is", "list", "of", "on"),
        *("only", "show", "that", "the", "to", "was", "were", "where", "which", "who", "with"),
    )
)
"""Words of no subject, which are left out beside an outcome."""
_NAMES = {
    tuple(form.split()): (status, number == 0)
    for status, forms in STATUS_WORDS.items()
    if status is not Status.UNKNOWN
    for number, form in enumerate(forms)
}
"""Forms of the words for an outcome, and whether they name it without "papers" beside them."""
Word = tuple[str, Sequence[str]]
"""A word as it was typed, and its parts in lower case."""


@dataclass(frozen=True, slots=True)
class NamedOutcome:
    """An outcome that the words of a search name.

    Attributes:
        asked: The search for the papers with this outcome, without the words that named it.
        papers: Number of papers that it finds.
    """

    asked: Selection
    papers: int

    @property
    def title(self) -> str:
        """The names of the facets by which the papers are selected."""
        return "Decision and year" if "year" in self._values else "Decision"

    @property
    def _values(self) -> Mapping[str, str | float | bool]:
        """The values that papers must have, by field."""
        conditions = self.asked.conditions
        return {each.name: each.value for each in conditions if each.comparison is Operator.IS}

    @property
    def label(self) -> str:
        """The conditions and the words that are left of the search, as a text."""
        values = self._values
        shown = [STATUSES[Status(str(values["status"]))]]
        if "conference" in values:
            shown.append(str(values["conference"]))
        if "year" in values:
            shown.append(f"{values['year']:.0f}")
        return ", ".join([*shown, *([f"with “{self.asked.words}”"] if self.asked.words else [])])


def read_outcome(words: Sequence[Word], asked: Selection, venues: Iterable[NamedVenue]) -> Selection | None:
    """Return the search for papers with the outcome that words name; None if they name none, or more than one.

    A year and a conference that the corpus has become conditions as well; other words stay.

    Args:
        words: The words.
        asked: The search; if it selects papers by outcome, nothing more is offered.
        venues: The venues of the corpus.
    """
    if any(condition.name == "status" for condition in asked.conditions):
        return None
    flat = [(part, place) for place, (_, parts) in enumerate(words) for part in parts]
    is_of_papers = any(part in _PAPERS for part, _ in flat)
    found = dict(_find_outcomes(flat, is_sure=is_of_papers or len(words) == 1))
    if len(set(found.values())) != 1:
        return None
    conditions = [Condition("status", Operator.IS, next(iter(found.values())).value)]
    known = list(venues)
    years, conferences = {venue.year for venue in known}, {venue.conference.lower() for venue in known}
    rest = []
    for place, (written, parts) in enumerate(words):
        named = None if place in found else _read_facet(parts, years, conferences)
        if named is not None and not any(each.name == named.name for each in (*conditions, *asked.conditions)):
            conditions.append(named)
        elif place not in found and not _PAPERS.union(_BETWEEN).issuperset(parts):
            rest.append(written)
    return replace(asked, words=" ".join(rest), conditions=(*asked.conditions, *conditions), page=1)


def _find_outcomes(flat: Sequence[tuple[str, int]], *, is_sure: bool) -> Iterator[tuple[int, Status]]:
    """Yield the places of words that name an outcome; two words before one, as "desk rejected" is not "rejected"."""
    index = 0
    while index < len(flat):
        for length in (2, 1):
            taken = flat[index : index + length]
            status, is_plain = _NAMES.get(tuple(part for part, _ in taken), (None, False))
            if status is not None and len(taken) == length and (is_plain or is_sure):
                yield from ((place, status) for _, place in taken)
                index += length - 1
                break
        index += 1


def _read_facet(parts: Sequence[str], years: set[int | None], conferences: set[str]) -> Condition | None:
    word = "".join(parts)
    if len(word) == 4 and word.isdecimal() and int(word) in years:
        return Condition("year", Operator.IS, float(word))
    return Condition("conference", Operator.IS, word) if word in conferences else None

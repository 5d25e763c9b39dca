"""Names by which people call a venue: its conference, its year, and both."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from peercorpus.explorer.querying.searched_fields import split_words

VENUE = "venue"
"""The field with the names of a paper's venue."""
MAX_VENUES = 4
"""Venues that a search names at most."""
_GENERAL = frozenset(
    (
        *("cc", "org", "com", "net", "edu", "io", "ai", "de", "uk", "www", "main", "submission"),
        *("conference", "conferences", "workshop", "workshops", "track", "tracks"),
    )
)
"""Parts of ids of venues that are not names."""


class NamedVenue(Protocol):
    """Known facts by which a venue is named."""

    @property
    def conference(self) -> str:
        """The conference family."""

    @property
    def year(self) -> int | None:
        """The calendar year that its id names; None if it names none."""


@lru_cache(maxsize=10_000)
def list_names(venue_id: str, conference: str) -> tuple[str, ...]:
    """Return the names of a venue without its year, in lower case, the conference first.

    A name of several words is one word, so that "robot" is not a name of robot-learning.org.

    >>> list_names("robot-learning.org/CoRL/2024/Conference", "robot-learning")
    ('robotlearning', 'corl')
    """
    parts = [conference, *venue_id.partition("/")[0].split("."), *venue_id.split("/")[1:]]
    names = ("".join(split_words(part)) for part in parts)
    return tuple(dict.fromkeys(name for name in names if name not in _GENERAL and not name.isdecimal() and name))


def write_names(venue_id: str, conference: str, year: int | None) -> str:
    """Return the names of a venue as a text to be searched, its id as one word among them.

    >>> write_names("ICLR.cc/2024/Conference", "iclr", 2024), write_names("TMLR", "tmlr", None)
    ('iclr 2024 iclr2024 iclrcc2024conference', 'tmlr')
    """
    names = list_names(venue_id, conference)
    written = [f"{name} {year} {name}{year}" if year else name for name in names]
    return " ".join(dict.fromkeys([*written, "".join(split_words(venue_id))]))


@dataclass(frozen=True, slots=True)
class NamedVenues:
    """The venues that the words of a search name.

    Attributes:
        venue_ids: At most `MAX_VENUES`, the newest first.
    """

    venue_ids: Sequence[str] = ()
    more: int = 0


NO_VENUES = NamedVenues()


def find_named(venues: Mapping[str, NamedVenue], words: Iterable[Sequence[str]]) -> NamedVenues:
    """Return the venues that words, each in its parts, name: by a name, and by a year too if one is among them."""
    asked = {"".join(parts) for parts in words} | {part for parts in words for part in parts}
    years = {int(word) for word in asked if len(word) == 4 and word.isdecimal()}
    found = []
    for venue_id, venue in venues.items():
        names = list_names(venue_id, venue.conference)
        with_year = {"".join(split_words(venue_id)), *(f"{name}{venue.year}" for name in names)}
        if asked & with_year or (asked.intersection(names) and (not years or venue.year in years)):
            found.append((-(venue.year or 9999), venue_id))
    ids = [venue_id for _, venue_id in sorted(found)]
    return NamedVenues(ids[:MAX_VENUES], max(0, len(ids) - MAX_VENUES))

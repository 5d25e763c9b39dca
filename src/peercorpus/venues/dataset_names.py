"""Find the catalogue's venue for its name in a published dataset, such as "NeurIPS 2022 Conference".

A name that fits no venue, or several, becomes a stand-in id, `published/…`. `name_of_stand_in` reads the name back, so
that a later catalogue can still identify the venue.
"""

import re
from functools import cache

from peercorpus.venues import catalogue
from peercorpus.venues.venue_id import MAIN, conference_of, track_of, year_of
from peercorpus.workspace.raw_store import UNPLACED

STAND_IN = "published/"
"""Prefix of the stand-in ids of venues that the catalogue does not name."""
_NAME = re.compile(r"(?P<conference>\S++(?:\s++\S++)*?)\s++(?P<year>(?:19|20)\d\d)(?:\s++(?P<track>.+))?")
_NOT_IN_AN_ID = re.compile(r"[^\w.-]+")
_WORD = re.compile(r"[a-z]+|\d+")
_CAPITAL_INSIDE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_KINDS_OF_TRACK = frozenset({"track", "workshop"})
"""Words for a kind of track, in which a dataset's name and a venue's id may differ."""


def venue_named(text: str) -> str:
    """Return the catalogue's venue with this name if exactly one fits, otherwise a stand-in for its id.

    Conference, year and the words of the track must be the same; a journal, whose id has no year, fits every year. Rows
    of the catalogue with the lowest confidence do not count.

    >>> venue_named("NeurIPS 2022 Conference"), venue_named("ICLR 2023 Workshop Tiny Papers")
    ('NeurIPS.cc/2022/Conference', 'ICLR.cc/2023/TinyPapers')
    >>> venue_named("NeurIPS 2023 Track Datasets and Benchmarks"), venue_named("ICLR 2023 Workshop Kites")
    ('NeurIPS.cc/2023/Track/Datasets_and_Benchmarks', 'published/ICLR/2023/Workshop_Kites')
    >>> venue_named("")
    'unplaced'
    """
    match = _NAME.fullmatch(text.strip())
    parts = [match["conference"], match["year"], match["track"] or ""] if match else [text.strip()]
    names = [_NOT_IN_AN_ID.sub("_", part) for part in parts if part]
    if not names:
        return UNPLACED
    name = "/".join(names)
    fitting = _find_fitting(name)
    return fitting[0] if len(fitting) == 1 else f"{STAND_IN}{name}"


def is_stand_in(venue_id: str) -> bool:
    """Return whether an id is a stand-in for a venue that the catalogue does not name."""
    return venue_id.startswith(STAND_IN)


def name_of_stand_in(venue_id: str) -> str:
    """Return the name from which a stand-in was made, as far as an id can represent it.

    >>> name_of_stand_in("published/ICLR/2023/Workshop_Kites")
    'ICLR 2023 Workshop Kites'
    """
    return venue_id.removeprefix(STAND_IN).replace("/", " ").replace("_", " ")


@cache
def _find_fitting(name: str) -> list[str]:
    """Return the venues whose track has the words of a name, if need be ignoring those for the kind of track.

    Args:
        name: Conference, year and track, joined by slashes.
    """
    year = year_of(name)
    rows = [
        row
        for row in catalogue.rows(conference_of(name))
        if row.year in {year, None} and row.confidence is not catalogue.Confidence.D
    ]
    words = _read_words(name)
    same = [row.id for row in rows if _read_words(row.id) == words]
    return same or [row.id for row in rows if _drop_kind(_read_words(row.id)) == _drop_kind(words)]


def _read_words(venue_id: str) -> str:
    """Return the words of a track: "Tiny Papers" has the same words as "TinyPapers"; the main track has none."""
    track = track_of(venue_id)
    spaced = _CAPITAL_INSIDE.sub(" ", track)
    return "" if track == MAIN else " ".join(_WORD.findall(spaced.lower()))


def _drop_kind(words: str) -> str:
    """Return the words without those for the kind of track, unless there are no others."""
    return " ".join(word for word in words.split() if word not in _KINDS_OF_TRACK) or words

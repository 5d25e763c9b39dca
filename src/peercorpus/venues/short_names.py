"""Find a venue by any name that a user gives: its id, the URL of its page, or a short name such as `ICLR2024`."""

import re
from collections.abc import Collection, Iterator

from peercorpus.errors import VenueNotFoundError
from peercorpus.openreview.page_urls import read_group_id
from peercorpus.venues import catalogue
from peercorpus.venues.venue_id import ALIASES, MAIN, conference_of, track_of, year_of
from peercorpus.wording.suggestions import suggest_name

MOST_CANDIDATES = 15
"""Largest number of venues that a message lists."""
_NAME = re.compile(r"(?P<conference>.*?)[\W_]*(?:(?<!\d)(?P<year>(?:19|20)\d\d)(?!\d)[\W_]*(?P<track>.*))?", re.DOTALL)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_ONE_WORD = re.compile(r"\.?[^\W\d]+(?:[.-][^\W\d]+)*")
_WORD = re.compile(r"[a-z]+|\d+")
_CAPITAL_INSIDE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_MAIN_NAMES = frozenset({"main", "conference"})


def read_venue_id(text: str, held: Collection[str] = ()) -> str:
    """Return the id of a venue's group, without a request to OpenReview.

    A text with a slash is an id and is returned unchanged; so is a single word that is not a known conference, as
    journals have such ids. A short name has the conference and the year, and, except for the main track, words of the
    track: `ICLR2024`, `iclr 2024`, `NeurIPS-2023 datasets and benchmarks`.

    >>> read_venue_id("iclr 2024"), read_venue_id("NIPS-2023"), read_venue_id("tmlr")
    ('ICLR.cc/2024/Conference', 'NeurIPS.cc/2023/Conference', 'TMLR')
    >>> read_venue_id("ICLR2024 blog posts"), read_venue_id("Own.org/2031/Workshop"), read_venue_id("JLE")
    ('ICLR.cc/2024/BlogPosts', 'Own.org/2031/Workshop', 'JLE')

    Args:
        text: The id, the URL of its page, or a short name.
        held: Ids of further venues that may be meant, such as those of a workspace; preferred if several fit.

    Raises:
        VenueNotFoundError: No venue fits, or several do; the message lists them, or explains how to find the id.
    """
    group_id = read_group_id(text)
    name = text.strip() if group_id is None else group_id
    if not name:
        raise VenueNotFoundError(
            f"Invalid venue '{text}': expected a short name, such as ICLR2024, or the id of its group, such as"
            " ICLR.cc/2024/Conference."
        )
    if group_id is not None or "/" in name or name in held or catalogue.row_of(name) is not None:
        return name.rstrip("/") or name
    candidates = _find_candidates(name, held)
    if not candidates and _ONE_WORD.fullmatch(name):
        return name
    if len(candidates) > 1:
        candidates = [venue_id for venue_id in candidates if venue_id in held] or candidates
    if len(candidates) != 1:
        raise VenueNotFoundError(_explain(name, candidates, held))
    return candidates[0]


def is_known(text: str, held: Collection[str] = ()) -> bool:
    """Return whether a text is the URL of a venue's page, or may be the short name of a known venue."""
    return read_group_id(text) is not None or bool(_find_candidates(text.strip(), held))


def read_venue_or_conference(text: str) -> str:
    """Return the id of the venue with a short name; a conference, or a name of no known venue, is returned unchanged.

    >>> read_venue_or_conference("iclr"), read_venue_or_conference("iclr2024"), read_venue_or_conference("kites2024")
    ('iclr', 'ICLR.cc/2024/Conference', 'kites2024')

    Raises:
        VenueNotFoundError: Several venues fit.
    """
    return read_venue_id(text) if "/" in text or (_YEAR.search(text) and is_known(text)) else text


def _find_candidates(name: str, held: Collection[str]) -> list[str]:
    """Return the venues that a short name may mean, the newest first."""
    match = _NAME.fullmatch(name)
    assert match is not None  # everything in it is optional
    conference = re.sub(r"[^a-z0-9]+", "_", match["conference"].lower()).strip("_")
    conference = ALIASES.get(conference, conference)
    year = int(match["year"]) if match["year"] else None
    every = dict.fromkeys([*held, *(row.id for row in catalogue.rows())])
    fitting = [
        venue_id for venue_id in every if conference_of(venue_id) == conference and year in {None, year_of(venue_id)}
    ]
    fitting.sort(key=lambda venue_id: (-(year_of(venue_id) or 0), venue_id))
    words = set(_split_words(match["track"] or ""))
    if not words or words <= _MAIN_NAMES:
        return [venue_id for venue_id in fitting if track_of(venue_id) == MAIN] or fitting
    return [venue_id for venue_id in fitting if words <= set(_split_words(track_of(venue_id)))]


def _split_words(text: str) -> Iterator[str]:
    return iter(_WORD.findall(_CAPITAL_INSIDE.sub(" ", text).lower()))


def _explain(name: str, candidates: list[str], held: Collection[str]) -> str:
    if candidates:
        shown = ", ".join(candidates[:MOST_CANDIDATES])
        more = ", …" if len(candidates) > MOST_CANDIDATES else "."
        return f"'{name}' may mean {len(candidates)} venues; name one of: {shown}{more}"
    ids = [*held, *(row.id for row in catalogue.rows())]
    known = {f"{conference_of(venue_id)}{year_of(venue_id) or ''}" for venue_id in ids}
    close = suggest_name(name, known)
    hint = close if close.startswith("did you mean") else "'peercorpus venues' lists the known ones."
    return (
        f"'{name}' is not the short name of a known venue; {hint} Name any other venue by the id of its group,"
        " which follows 'group?id=' in the URL of its page on OpenReview, or by that URL."
    )

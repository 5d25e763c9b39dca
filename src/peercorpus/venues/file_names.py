"""Find the catalogue's venue from the name of a file, as crawlers name their dumps."""

import re
from functools import cache

from peercorpus.venues import catalogue
from peercorpus.venues.venue_id import ALIASES, MAIN, track_of

_TOKEN = re.compile(r"[a-z]+|\d+")
_YEAR = re.compile(r"(?:19|20)\d\d")
_NEUTRAL = frozenset(
    {"all", "api", "comments", "content", "conference", "crawl", "data", "dump", "export", "forum", "forums", "full"}
    | {"gz", "json", "jsonl", "lines", "main", "ndjson", "notes", "official", "openreview", "papers", "raw", "replies"}
    | {"review", "reviews", "submissions", "v"}
)
"""Words besides conference and year that do not indicate another track; any other word might."""
_COMMON_WORDS = frozenset({"alt", "clear", "log"})
"""Conference families whose names are ordinary words, as in `crawl_log_2023.json`."""


@cache
def venue_of_file(name: str) -> str | None:
    """Return the catalogue's venue named by a file or the nearest of its folders that names one; None if none does.

    A name contains the venue's whole id, with any punctuation, or the conference and the year, which mean its main
    track.

    >>> venue_of_file("reviews/iclr2019_review_content.jsonl.gz"), venue_of_file("NeurIPS-2022.json")
    ('ICLR.cc/2019/Conference', 'NeurIPS.cc/2022/Conference')
    >>> venue_of_file("iclr_2018_workshop.json"), venue_of_file("iclr2019-2020.json"), venue_of_file("a.json")
    (None, None, None)
    """
    tokens = _TOKEN.findall(name.lower())
    whole = {venue_id: own for venue_id, own in _ids_in_tokens() if _contains(tokens, own)}
    if whole:
        longest = max(whole, key=len)
        return longest if all(_contains(list(whole[longest]), own) for own in whole.values()) else None
    return next(
        (venue_id for part in (*reversed(name.split("/")), name) if (venue_id := _main_venue_named(part))), None
    )


def _contains(tokens: list[str], own: tuple[str, ...]) -> bool:
    return any(tuple(tokens[start : start + len(own)]) == own for start in range(len(tokens) - len(own) + 1))


@cache
def _ids_in_tokens() -> list[tuple[str, tuple[str, ...]]]:
    ids = (row.id for row in _usable_rows())
    return [(venue_id, tuple(_TOKEN.findall(venue_id.lower()))) for venue_id in ids if _YEAR.search(venue_id)]


def _usable_rows() -> list[catalogue.VenueRow]:
    return [row for row in catalogue.rows() if row.confidence is not catalogue.Confidence.D]


def _main_venue_named(part: str) -> str | None:
    """Return the main track of the one conference and year in a part of a path; None if it has anything else."""
    tokens = _TOKEN.findall(part.lower())
    years = {int(token) for token in tokens if _YEAR.fullmatch(token)}
    named = {token: ALIASES.get(token, token) for token in tokens if token.isalpha() and token not in _NEUTRAL}
    families = set(named.values())
    if len(years) != 1 or len(families) != 1 or not families <= set(catalogue.families()) - _COMMON_WORDS:
        return None
    (year,), (family,) = years, families
    main = [row.id for row in _usable_rows() if (row.family, row.year) == (family, year) and track_of(row.id) == MAIN]
    return main[0] if len(main) == 1 else None

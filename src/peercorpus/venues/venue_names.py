"""Find a venue by a name: one that a user gives, a published dataset's, or that of a file.

A user's name is an id, the URL of a page, or a short name such as `ICLR2024`. A dataset's name, such as "NeurIPS 2022
Conference", that fits no venue of the catalogue, or several, becomes a stand-in id, `published/…`. `name_of_stand_in`
reads the name back, so that a later catalogue can still identify the venue.
"""

import re
from collections.abc import Collection, Iterable
from functools import cache

from peercorpus.errors import VenueNotFoundError
from peercorpus.openreview.page_urls import read_group_id
from peercorpus.venues import catalogue
from peercorpus.venues.venue_id import ALIASES, MAIN, YEAR, conference_of, track_of, year_of
from peercorpus.wording.suggestions import suggest_name
from peercorpus.workspace.raw_store import UNPLACED

MOST_CANDIDATES = 15
"""Largest number of venues that a message lists."""
_NAME = re.compile(r"(?P<conference>.*?)[\W_]*(?:(?<!\d)(?P<year>(?:19|20)\d\d)(?!\d)[\W_]*(?P<track>.*))?", re.DOTALL)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_ONE_WORD = re.compile(r"\.?[^\W\d]+(?:[.-][^\W\d]+)*")
_WORD = re.compile(r"[a-z]+|\d+")
_CAPITAL_INSIDE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_MAIN_NAMES = frozenset({"main", "conference"})


def read_venue_ids(names: Iterable[str], held: Iterable[str] = ()) -> list[str]:
    """Return the ids of venues by whatever names them, each once, as `read_venue_id` does."""
    held = list(held)
    return list(dict.fromkeys(read_venue_id(name, held) for name in names))


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
    return [venue_id for venue_id in fitting if words <= set(_read_track(venue_id))]


def _split_words(text: str) -> list[str]:
    """Return the words of a text in lower case: "Tiny Papers" has the same words as "TinyPapers"."""
    return _WORD.findall(_CAPITAL_INSIDE.sub(" ", text).lower())


def _read_track(venue_id: str) -> list[str]:
    """Return the words of a track; the main track has none."""
    track = track_of(venue_id)
    return [] if track == MAIN else _split_words(track)


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


STAND_IN = "published/"
"""Prefix of the stand-in ids of venues that the catalogue does not name."""
_DATASET_NAME = re.compile(r"(?P<conference>\S++(?:\s++\S++)*?)\s++(?P<year>(?:19|20)\d\d)(?:\s++(?P<track>.+))?")
_NOT_IN_AN_ID = re.compile(r"[^\w.-]+")
_KINDS_OF_TRACK = frozenset({"track", "workshop"})
"""Words for a kind of track, in which a dataset's name and a venue's id may differ."""
_NEUTRAL = frozenset(
    {"all", "api", "comments", "content", "conference", "crawl", "data", "dump", "export", "forum", "forums", "full"}
    | {"gz", "json", "jsonl", "lines", "main", "ndjson", "notes", "official", "openreview", "papers", "raw", "replies"}
    | {"review", "reviews", "submissions", "v"}
)
"""Words besides conference and year that do not indicate another track; any other word might."""
_COMMON_WORDS = frozenset({"alt", "clear", "log"})
"""Conference families whose names are ordinary words, as in `crawl_log_2023.json`."""


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
    match = _DATASET_NAME.fullmatch(text.strip())
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
    """Return the venues that fit a name of conference, year and track, joined by slashes.

    Their track has the same words, if need be ignoring those for the kind of track.
    """
    year = year_of(name)
    ids = [row.id for row in _sure_rows(conference_of(name)) if row.year in {year, None}]
    words = _read_track(name)
    same = [venue_id for venue_id in ids if _read_track(venue_id) == words]
    return same or [venue_id for venue_id in ids if _drop_kind(_read_track(venue_id)) == _drop_kind(words)]


def _drop_kind(words: list[str]) -> list[str]:
    """Return the words without those for the kind of track, unless there are no others."""
    return [word for word in words if word not in _KINDS_OF_TRACK] or words


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
    words = _space_out(name)
    whole = {row.id: own for row in _sure_rows() if row.year is not None and (own := _space_out(row.id)) in words}
    if whole:
        longest = max(whole, key=len)
        return longest if all(own in whole[longest] for own in whole.values()) else None
    return next(
        (venue_id for part in (*reversed(name.split("/")), name) if (venue_id := _main_venue_named(part))), None
    )


@cache
def _space_out(text: str) -> str:
    """Return the words and numbers of a text in lower case, with a space before and after each."""
    return f" {' '.join(_WORD.findall(text.lower()))} "


def _sure_rows(family: str | None = None) -> list[catalogue.VenueRow]:
    return [row for row in catalogue.rows(family) if row.confidence is not catalogue.Confidence.D]


def _main_venue_named(part: str) -> str | None:
    """Return the main track of the one conference and year in a part of a path; None if it has anything else."""
    tokens = _WORD.findall(part.lower())
    years = {int(token) for token in tokens if YEAR.fullmatch(token)}
    named = {token: ALIASES.get(token, token) for token in tokens if token.isalpha() and token not in _NEUTRAL}
    families = set(named.values())
    if len(years) != 1 or len(families) != 1 or not families <= set(catalogue.families()) - _COMMON_WORDS:
        return None
    (year,), (family,) = years, families
    main = [row.id for row in _sure_rows(family) if row.year == year and track_of(row.id) == MAIN]
    return main[0] if len(main) == 1 else None

"""Find the venue that a dataset or a file names, and the venue of forums whose submission names none.

A dataset's name, such as "NeurIPS 2022 Conference", that fits no venue of the catalogue, or several, becomes a stand-in
id, `published/…`. `name_of_stand_in` reads the name back, so that a later catalogue can still identify the venue.

A forum belongs to the venue that its own notes name, if all agree. If they name none, it belongs to the venue that was
named when the notes were imported, or otherwise to the one in the file's name. If they name several, the forum stays
unplaced. The order of imports does not matter: all notes of a forum are examined again whenever one of them may add
information.
"""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache

import msgspec

from peercorpus.openreview.objects import read_note, stated_venues
from peercorpus.venues import catalogue
from peercorpus.venues.venue_id import ALIASES, MAIN, conference_of, track_of, year_of
from peercorpus.workspace.raw_store import UNPLACED, RawObject, RawStore

STAND_IN = "published/"
"""Prefix of the stand-in ids of venues that the catalogue does not name."""
_NAME = re.compile(r"(?P<conference>\S++(?:\s++\S++)*?)\s++(?P<year>(?:19|20)\d\d)(?:\s++(?P<track>.+))?")
_NOT_IN_AN_ID = re.compile(r"[^\w.-]+")
_CAPITAL_INSIDE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_KINDS_OF_TRACK = frozenset({"track", "workshop"})
"""Words for a kind of track, in which a dataset's name and a venue's id may differ."""
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
    """Return the venues whose track has the words of a name, if need be ignoring those for the kind of track."""
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
    return "" if track == MAIN else " ".join(_TOKEN.findall(spaced.lower()))


def _drop_kind(words: str) -> str:
    """Return the words without those for the kind of track, unless there are no others."""
    return " ".join(word for word in words.split() if word not in _KINDS_OF_TRACK) or words


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


def place_forums(
    raw: RawStore, by_user: Mapping[str, str], by_file: Mapping[str, str], others: Iterable[str] = ()
) -> None:
    """Assign a venue to forums whose submission names none: the one their notes agree on, or the one named for them.

    Args:
        raw: The store; `RawStore.place` has run.
        by_user: Venue named by the user, by forum id, for forums of notes that name none themselves.
        by_file: Venue from the names of the imported files, likewise.
        others: Forums with a note whose venue differs from that of its forum.
    """
    moves: list[tuple[str, str, str]] = []
    for forum_id, notes in raw.unsettled({*by_user, *by_file, *others}):
        venue_id = _choose_venue(forum_id, notes, by_user.get(forum_id), by_file.get(forum_id))
        moves += [(venue_id, held_id, forum_id) for held_id in sorted({note.venue_id for note in notes} - {venue_id})]
    raw.move(moves)


def _choose_venue(forum_id: str, notes: list[RawObject], by_user: str | None, by_file: str | None) -> str:
    """Return the venue of a forum from all versions of all its notes, latest last; `UNPLACED` if it is undecided.

    The submission takes precedence over replies, replies over the user, and the user over the names of files.
    """
    read = []
    for raw_note in notes:
        with suppress(msgspec.ValidationError):
            read.append((raw_note, read_note(raw_note.body)))
    roots = [(raw, note) for raw, note in read if raw.object_id == forum_id and (note.domain or note.created_by)]
    if roots:
        raw_root, root = roots[-1]
        return raw_root.venue_id if raw_root.venue_id != UNPLACED else next(stated_venues(root))
    stated = {venue_id for _, note in read for venue_id in stated_venues(note)}
    if stated:
        return stated.pop() if len(stated) == 1 else UNPLACED
    return by_user or _find_named(notes, by_file)


def _find_named(notes: list[RawObject], by_file: str | None) -> str:
    """Return the venue that a user named earlier, or otherwise the one that the names of the notes' files agree on."""
    named = [(note.venue_id, venue_of_file(note.origin)) for note in notes]
    placed = {venue_id for venue_id, _ in named} - {UNPLACED}
    by_files = {own for _, own in named if own}
    # If a note is at another venue than its file's name states, or the name states none, a user has named the venue.
    overruled = {venue_id for venue_id, own in named if own not in {None, venue_id}} - {UNPLACED}
    chosen = overruled or placed - by_files or by_files or ({by_file} if by_file else set())
    return chosen.pop() if len(chosen) == 1 else UNPLACED

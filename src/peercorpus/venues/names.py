"""What a venue's id says: its conference family, its year and its track."""

import re

ALIASES = {"nips": "neurips"}
"""Conference families that changed their name, as the first part of venue ids has it."""

YEAR = re.compile(r"(?:19|20)\d\d")
HOST_ENDING = re.compile(r"(?<=.)\.[A-Za-z]+$")
MAIN = "main"
MAIN_TRACKS = frozenset({"", "conference", "main_conference", "journal"})


def conference_of(venue_id: str) -> str:
    """The conference family, in lower case: what stands before the year, or the first part of a journal's id.

    >>> conference_of("ICLR.cc/2024/Conference"), conference_of("robot-learning.org/CoRL/2022/Conference")
    ('iclr', 'corl')
    >>> conference_of(".TMLR"), conference_of("NIPS.cc/2018/Workshop/CDNNRIA")
    ('tmlr', 'neurips')
    """
    parts = _parts(venue_id)
    place = _year_place(parts)
    family = parts[place - 1] if 0 < place < len(parts) else "".join(parts[:1])
    name = re.sub(r"[^a-z0-9]+", "_", HOST_ENDING.sub("", family).lower()).strip("_") or "unknown"
    return ALIASES.get(name, name)


def year_of(venue_id: str) -> int | None:
    """The calendar year in the id; None where there is none, as for journals.

    >>> year_of("aclweb.org/ACL/ARR/2023/May"), year_of("TMLR")
    (2023, None)
    """
    parts = _parts(venue_id)
    place = _year_place(parts)
    return int(parts[place]) if place < len(parts) else None


def track_of(venue_id: str) -> str:
    """The track or workshop within the conference; `main` for the conference itself and for journals.

    >>> track_of("ICLR.cc/2024/Conference"), track_of("NIPS.cc/2018/Workshop/CDNNRIA")
    ('main', 'Workshop/CDNNRIA')
    """
    parts = _parts(venue_id)
    rest = "/".join(parts[_year_place(parts) + 1 :])
    return MAIN if rest.lower() in MAIN_TRACKS else rest


def _parts(venue_id: str) -> list[str]:
    return [part for part in venue_id.split("/") if part]


def _year_place(parts: list[str]) -> int:
    """Where the year stands; behind the end where there is none."""
    return next((place for place, part in enumerate(parts) if YEAR.fullmatch(part)), len(parts))

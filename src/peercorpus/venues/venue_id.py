"""Read the conference, year and track from a venue id."""

import re

ALIASES = {"nips": "neurips"}
"""Former names of conference families, as in the first part of venue ids."""

YEAR = re.compile(r"(?:19|20)\d\d")
HOST_ENDING = re.compile(r"(?<=.)\.[A-Za-z]+$")
MAIN = "main"
MAIN_TRACKS = frozenset({"", "conference", "main_conference", "journal"})


def conference_of(venue_id: str) -> str:
    """Return the conference family in lower case: the part before the year, or the first part of a journal's id.

    >>> conference_of("ICLR.cc/2024/Conference"), conference_of("robot-learning.org/CoRL/2022/Conference")
    ('iclr', 'corl')
    >>> conference_of(".TMLR"), conference_of("NIPS.cc/2018/Workshop/CDNNRIA")
    ('tmlr', 'neurips')
    """
    parts = _split_id(venue_id)
    index = _find_year(parts)
    family = parts[index - 1] if 0 < index < len(parts) else "".join(parts[:1])
    name = re.sub(r"[^a-z0-9]+", "_", HOST_ENDING.sub("", family).lower()).strip("_") or "unknown"
    return ALIASES.get(name, name)


def year_of(venue_id: str) -> int | None:
    """Return the calendar year in the id, or None if there is none, as for journals.

    >>> year_of("aclweb.org/ACL/ARR/2023/May"), year_of("TMLR")
    (2023, None)
    """
    parts = _split_id(venue_id)
    index = _find_year(parts)
    return int(parts[index]) if index < len(parts) else None


def track_of(venue_id: str) -> str:
    """Return the track or workshop within the conference; `main` for the conference itself and for journals.

    >>> track_of("ICLR.cc/2024/Conference"), track_of("NIPS.cc/2018/Workshop/CDNNRIA")
    ('main', 'Workshop/CDNNRIA')
    """
    parts = _split_id(venue_id)
    track = "/".join(parts[_find_year(parts) + 1 :])
    return MAIN if track.lower() in MAIN_TRACKS else track


def _split_id(venue_id: str) -> list[str]:
    return [part for part in venue_id.split("/") if part]


def _find_year(parts: list[str]) -> int:
    """Return the index of the year, or the number of parts if there is none."""
    return next((index for index, part in enumerate(parts) if YEAR.fullmatch(part)), len(parts))

"""What a venue's id says (conference family, year, track), and what the catalogue adds: deadlines and odd lists."""

import hashlib
import re
import tomllib
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any

YEAR = re.compile(r"(?:19|20)\d\d")
HOST_ENDING = re.compile(r"(?<=.)\.[A-Za-z]+$")
MAIN = "main"
MAIN_TRACKS = frozenset({"", "conference", "main_conference", "journal"})


@dataclass(frozen=True, slots=True)
class Deadline:
    """When a venue's full papers were due.

    Attributes:
        at: In UTC.
        source: Where it was read.
    """

    at: datetime
    source: str


_TEXT = (files("peercorpus.venues") / "catalogue.toml").read_text(encoding="utf-8")
DIGEST = hashlib.sha256(_TEXT.encode()).hexdigest()
"""Stands for the catalogue in the keys of what is read with it."""


@cache
def _catalogue() -> dict[str, Any]:
    return tomllib.loads(_TEXT)


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
    aliases: dict[str, str] = _catalogue()["aliases"]
    return aliases.get(name, name)


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


def deadline_of(venue_id: str) -> Deadline | None:
    """When full papers were due, as the catalogue knows it; None where it does not."""
    for row in _catalogue().get("deadlines", ()):
        if row["venue_id"] == venue_id:
            return Deadline(row["at"], row["source"])
    return None


def submission_lists_of(venue_id: str) -> tuple[str, ...]:
    """The submission invitations of a venue that does not show them itself; empty where none are known."""
    for row in _catalogue().get("lists", ()):
        if row["venue_id"] == venue_id:
            return tuple(f"{venue_id}/-/{name}" for name in row["lists"])
    return ()


def _parts(venue_id: str) -> list[str]:
    return [part for part in venue_id.split("/") if part]


def _year_place(parts: list[str]) -> int:
    """Where the year stands; behind the end where there is none."""
    return next((place for place, part in enumerate(parts) if YEAR.fullmatch(part)), len(parts))

"""The catalogue: one row for each venue that is known, read from the files in `data/`."""

import hashlib
import json
import tomllib
from collections.abc import Iterable
from importlib.resources import files
from importlib.resources.abc import Traversable

from peercorpus.venues.names import ALIASES, conference_of, track_of, year_of
from peercorpus.venues.row import Confidence, Counts, Deadline, VenueRow, Visibility, read_rows

__all__ = [
    "DIGEST",
    "Confidence",
    "Counts",
    "Deadline",
    "VenueRow",
    "Visibility",
    "conference_of",
    "deadline_of",
    "digest_of",
    "families",
    "read_catalogue",
    "row_of",
    "rows",
    "submission_lists_of",
    "track_of",
    "year_of",
]

SOURCES = "sources.toml"
"""Names the sources in full; every other file holds rows."""


def read_catalogue(folder: Traversable) -> dict[str, VenueRow]:
    """The rows of every file of a folder, by the id of their venue.

    Raises:
        ValueError: A row says what it may not, or a venue has two.
    """
    found: dict[str, VenueRow] = {}
    sources = tomllib.loads((folder / SOURCES).read_text(encoding="utf-8"))
    for file in folder.iterdir():
        if file.name == SOURCES:
            continue
        for row in read_rows(file.read_text(encoding="utf-8"), sources):
            if row.id in found:
                raise ValueError(f"The catalogue has two rows of '{row.id}'.")
            found[row.id] = row
    return found


_ROWS = read_catalogue(files("peercorpus.venues") / "data")


def rows(family: str | None = None) -> list[VenueRow]:
    """Every row, or those of one conference family, by family and year."""
    chosen = [row for row in _ROWS.values() if family is None or row.family == family]
    return sorted(chosen, key=lambda row: (row.family, row.year or 0, row.id))


def families() -> list[str]:
    """The conference families that have a row."""
    return sorted({row.family for row in _ROWS.values()})


def row_of(venue_id: str) -> VenueRow | None:
    """The row of a venue; None where the catalogue has none, which says nothing of the venue."""
    return _ROWS.get(venue_id)


def deadline_of(venue_id: str) -> Deadline | None:
    """When full papers were due, as the catalogue knows it; None where it does not."""
    row = row_of(venue_id)
    return row.full_deadline if row else None


def submission_lists_of(venue_id: str) -> tuple[str, ...]:
    """The submission invitations of a venue that may not show them itself; empty where none are known."""
    row = row_of(venue_id)
    return tuple(f"{venue_id}/-/{name}" for name in row.lists) if row else ()


def digest_of(catalogue: Iterable[VenueRow]) -> str:
    """What stands for rows in the keys of the tables made with them: what tables show of them, and nothing else."""
    due = {
        row.id: (row.full_deadline.at.isoformat(), row.full_deadline.source) for row in catalogue if row.full_deadline
    }
    return hashlib.sha256(json.dumps([ALIASES, due], sort_keys=True).encode()).hexdigest()


DIGEST = digest_of(_ROWS.values())
"""Stands for the catalogue in the keys of what is read with it."""

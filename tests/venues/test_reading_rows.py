"""The reader of the catalogue's files refuses invalid rows, and names the row."""

from datetime import UTC, date, datetime

import pytest

from peercorpus.venues.catalogue import (
    Confidence,
    Counts,
    DueDate,
    ListedDeadline,
    VenueRow,
    Visibility,
    read_catalogue_rows,
)

SOURCES = {"page": "https://example.org/2030"}
LEAST = """
[[venue]]
id = "Example.cc/2030/Conference"
confidence = "B"
source = "page"
"""
FULL = f"""{LEAST}
api = 2
lists = ["Papers"]
visibility = "rejected_opt_in"
visibility_source = "page"
remark = "Invented."
counts = {{ accepted = 7, as_of = 2030-10-01, source = "page" }}
[venue.abstract_deadline]
at = 2030-09-24T11:59:00Z
source = "https://example.org: 'by the 23rd'"
[venue.full_deadline]
at = 2030-09-29T11:59:00Z
source = "https://example.org: 'by the 28th'"
[[venue.listed_deadlines]]
at = 2030-09-27T11:59:00Z
abstracts_at = 2030-09-22T11:59:00Z
sources = ["page"]
"""


def test_a_row_may_say_little_or_much() -> None:
    [least] = read_catalogue_rows(LEAST, SOURCES)
    [full] = read_catalogue_rows(FULL, SOURCES)
    assert least == VenueRow(
        id="Example.cc/2030/Conference", confidence=Confidence.B, source="https://example.org/2030"
    )
    assert (least.family, least.year, least.track) == ("example", 2030, "main")
    assert full == VenueRow(
        id="Example.cc/2030/Conference",
        confidence=Confidence.B,
        source="https://example.org/2030",
        api=2,
        lists=("Papers",),
        visibility=Visibility.REJECTED_OPT_IN,
        visibility_source="https://example.org/2030",
        remark="Invented.",
        counts=Counts(accepted=7, as_of=date(2030, 10, 1), source="https://example.org/2030"),
        abstract_deadline=DueDate(datetime(2030, 9, 24, 11, 59, tzinfo=UTC), "https://example.org: 'by the 23rd'"),
        full_deadline=DueDate(datetime(2030, 9, 29, 11, 59, tzinfo=UTC), "https://example.org: 'by the 28th'"),
        listed_deadlines=(
            ListedDeadline(
                at=datetime(2030, 9, 27, 11, 59, tzinfo=UTC),
                abstracts_at=datetime(2030, 9, 22, 11, 59, tzinfo=UTC),
                sources=("https://example.org/2030",),
            ),
        ),
    )


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("api = 2", "api = 3", "Invalid enum value 3"),
        ("api = 2", "apy = 2", "unknown field `apy`"),
        ('confidence = "B"', 'confidence = "E"', "Invalid enum value 'E'"),
        ('confidence = "B"', "", "missing required field `confidence`"),
        ('"rejected_opt_in"', '"hidden"', "Invalid enum value 'hidden'"),
        ('visibility_source = "page"', "", "'Example.cc/2030/Conference': 'visibility'"),
        ("accepted = 7", "excepted = 7", "unknown field `excepted`"),
        ('source = "page"', 'source = "pages"', "'pages'"),
        ("source = \"https://example.org: 'by the 28th'\"", "", "missing required field `source`"),
        ("source = \"https://example.org: 'by the 28th'\"", 'source = ""', "length >= 1"),
        ("2030-09-29T11:59:00Z", "2030-09-23T11:59:00Z", "abstracts"),
        ("2030-09-29T11:59:00Z", "2030-09-29T11:59:00-12:00", "UTC"),
        ("2030-09-29T11:59:00Z", "2030-09-29T11:59:00", "timezone"),
        ("2030-09-27T11:59:00Z", "2030-09-27T11:59:00+01:00", "UTC"),
        ("2030-09-22T11:59:00Z", "2030-09-28T11:59:00Z", "abstracts"),
        ('sources = ["page"]', 'sources = ["list"]', "'list'"),
        ('sources = ["page"]', "sources = []", "length >= 1"),
        ('sources = ["page"]', 'sources = ["page", "page"]', "twice"),
        (
            'id = "Example.cc/2030/Conference"',
            'id = "Example.cc/2030/Conference/-/Submission"',
            "id of a group",
        ),
        ("[[venue]]", "[[venues]]", "unknown field `venues`"),
    ],
)
def test_an_invalid_row_is_refused(old: str, new: str, problem: str) -> None:
    assert old in FULL
    with pytest.raises(ValueError, match=problem):
        read_catalogue_rows(FULL.replace(old, new), SOURCES)


def test_a_refusal_names_the_row() -> None:
    with pytest.raises(ValueError, match=r"'Example\.cc/2030/Conference'.*'page'"):
        read_catalogue_rows(LEAST, {})

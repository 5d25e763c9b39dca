"""The information in a venue's id, and what the catalogue adds."""

import re
import tomllib
from datetime import UTC, date, datetime, timedelta
from importlib.resources import files
from pathlib import Path

import msgspec
import pytest

from peercorpus.venues.catalogue import (
    Confidence,
    Counts,
    DueDate,
    ListedDeadline,
    VenueRow,
    Visibility,
    digest_deadlines,
    families,
    read_catalogue,
    read_catalogue_rows,
    row_of,
    rows,
    submission_lists_of,
)
from peercorpus.venues.venue_id import conference_of, track_of, year_of
from peercorpus.workspace.raw_store import UNPLACED

IDS = [
    ("ICLR.cc/2024/Conference", "iclr", 2024, "main"),
    ("ICLR.cc/2013/conference", "iclr", 2013, "main"),
    ("ICLR.cc/2016/workshop", "iclr", 2016, "workshop"),
    ("ICLR.cc/2023/TinyPapers", "iclr", 2023, "TinyPapers"),
    ("NIPS.cc/2018/Workshop/CDNNRIA", "neurips", 2018, "Workshop/CDNNRIA"),
    ("NeurIPS.cc/2023/Track/Datasets_and_Benchmarks", "neurips", 2023, "Track/Datasets_and_Benchmarks"),
    ("NeurIPS.cc/2024/Datasets_and_Benchmarks_Track", "neurips", 2024, "Datasets_and_Benchmarks_Track"),
    ("robot-learning.org/CoRL/2022/Conference", "corl", 2022, "main"),
    ("auai.org/UAI/2022/Conference", "uai", 2022, "main"),
    ("EMNLP/2023/Conference", "emnlp", 2023, "main"),
    ("aclweb.org/ACL/ARR/2023/May", "arr", 2023, "May"),
    ("MIDL.amsterdam/2018/Conference", "midl", 2018, "main"),
    ("rl-conference.cc/RLC/2024/Conference", "rlc", 2024, "main"),
    ("3DV/2025/Conference", "3dv", 2025, "main"),
    ("TMLR", "tmlr", None, "main"),
    (".TMLR", "tmlr", None, "main"),
    ("DMLR/Journal", "dmlr", None, "main"),
    (UNPLACED, "unplaced", None, "main"),
    ("2024", "2024", 2024, "main"),
    ("/", "unknown", None, "main"),
    ("", "unknown", None, "main"),
]


@pytest.mark.parametrize(("venue_id", "conference", "year", "track"), IDS)
def test_an_id_contains_family_year_and_track(venue_id: str, conference: str, year: int | None, track: str) -> None:
    assert (conference_of(venue_id), year_of(venue_id), track_of(venue_id)) == (conference, year, track)
    assert re.fullmatch(r"[a-z0-9_]+", conference_of(venue_id))


def test_every_row_is_valid_and_has_a_source() -> None:
    for row in rows():
        assert row.source
        deadlines = [deadline for deadline in (row.abstract_deadline, row.full_deadline) if deadline]
        assert all(re.search(r"https://|http://|ccfddl/", deadline.source) for deadline in deadlines)
        assert all('"' in deadline.source for deadline in deadlines)
        if row.year is not None:
            assert all(row.year - 2 < deadline.at.year <= row.year for deadline in deadlines)


def test_facts_from_memory_are_marked_as_such() -> None:
    remembered = [row for row in rows() if row.source.startswith("remembered")]
    assert remembered
    assert {row.confidence for row in remembered} == {Confidence.D}


def test_unused_sources_are_not_kept() -> None:
    folder = files("peercorpus.venues") / "data"
    names = tomllib.loads((folder / "sources.toml").read_text(encoding="utf-8"))
    text = "".join(file.read_text(encoding="utf-8") for file in folder.iterdir() if file.name != "sources.toml")
    assert {name for name in names if f'"{name}"' not in text} == set()


def test_rows_are_found_by_family_and_by_id() -> None:
    iclr = rows("iclr")
    assert {row.family for row in iclr} == {"iclr"}
    assert [row.year for row in iclr] == sorted(row.year or 0 for row in iclr)
    assert {"iclr", "neurips", "icml", "tmlr", "emnlp", "corl", "colm"} <= set(families())
    assert rows("nowhere") == []
    found = row_of("ICLR.cc/2026/Conference")
    assert found is not None
    assert (found.api, found.track) == (2, "main")
    assert found.visibility == "reverted_before_discussion"
    assert row_of("Nowhere.cc/2030/Conference") is None


@pytest.mark.parametrize(
    ("venue_id", "abstracts", "papers"),
    [
        # "11:59pm, Sept 28", anywhere on earth
        (
            "ICLR.cc/2024/Conference",
            datetime(2023, 9, 24, 11, 59, tzinfo=UTC),
            datetime(2023, 9, 29, 11, 59, tzinfo=UTC),
        ),
        # a day, anywhere on earth, to its end
        ("ICLR.cc/2023/Conference", datetime(2022, 9, 22, 12, tzinfo=UTC), datetime(2022, 9, 29, 12, tzinfo=UTC)),
        # at five in the afternoon, Pacific Daylight Time
        ("ICLR.cc/2022/Conference", datetime(2021, 9, 29, tzinfo=UTC), datetime(2021, 10, 6, tzinfo=UTC)),
        ("ICML.cc/2024/Conference", None, datetime(2024, 2, 2, 12, tzinfo=UTC)),
        # announced, but not kept
        ("ICLR.cc/2021/Conference", datetime(2020, 9, 28, 15, tzinfo=UTC), None),
    ],
)
def test_deadlines_are_in_utc(venue_id: str, abstracts: datetime | None, papers: datetime | None) -> None:
    row = row_of(venue_id)
    assert row is not None
    found = (row.abstract_deadline, row.full_deadline)
    assert tuple(deadline and deadline.at for deadline in found) == (abstracts, papers)


def test_unknown_venues_have_no_odd_list() -> None:
    assert submission_lists_of("Example.cc/2030/Conference") == ()


def test_odd_lists_are_whole_invitation_ids() -> None:
    assert submission_lists_of("ICLR.cc/2017/conference") == ("ICLR.cc/2017/conference/-/submission",)
    assert submission_lists_of("ICLR.cc/2024/Conference") == ()
    own = VenueRow(id="V", lists=("Papers",), confidence=Confidence.B, source="a user")
    assert submission_lists_of("V", own) == ("V/-/Papers",)


def test_two_rows_of_a_venue_are_refused(tmp_path: Path) -> None:
    (tmp_path / "sources.toml").write_text('page = "https://example.org"', encoding="utf-8")
    row = '[[venue]]\nid = "Example.cc/2030/Conference"\nconfidence = "B"\nsource = "page"\n'
    (tmp_path / "one.toml").write_text(row, encoding="utf-8")
    assert list(read_catalogue(tmp_path)) == ["Example.cc/2030/Conference"]
    (tmp_path / "two.toml").write_text(row, encoding="utf-8")
    with pytest.raises(ValueError, match=r"two rows .*'Example\.cc/2030/Conference'"):
        read_catalogue(tmp_path)


def test_only_deadlines_change_the_versions_key() -> None:
    row = row_of("NeurIPS.cc/2021/Conference")
    assert row is not None
    assert row.full_deadline is not None
    later = DueDate(row.full_deadline.at + timedelta(hours=1), row.full_deadline.source)
    elsewhere = DueDate(row.full_deadline.at, "another page")
    hint = ListedDeadline(at=row.full_deadline.at, sources=("a list",))
    agreed = ListedDeadline(at=row.full_deadline.at, sources=("a list", "another"))

    def digest(**changes: object) -> str:
        return digest_deadlines(msgspec.structs.replace(row, **changes))

    unread = {
        "remark": "Another.",
        "visibility": None,
        "visibility_source": None,
        "counts": None,
        "api": None,
        "lists": ("submission",),
        "abstract_deadline": None,
        "source": "another page",
        "confidence": Confidence.D,
    }
    assert {digest(**{name: value}) for name, value in unread.items()} == {digest()}
    changed = {
        digest(),
        digest(full_deadline=later),
        digest(full_deadline=elsewhere),
        digest(full_deadline=None),
        digest(listed_deadlines=()),
        digest(listed_deadlines=(hint,)),
        digest(listed_deadlines=(agreed,)),
    }
    assert len(changed) == 7


def test_no_deadlines_have_no_digest() -> None:
    assert digest_deadlines(None) == ""
    row = row_of("TMLR")
    assert digest_deadlines(row) == ""
    only_abstracts = row_of("ICLR.cc/2021/Conference")
    assert only_abstracts is not None
    assert digest_deadlines(only_abstracts) != ""


def test_a_single_lists_deadline_is_a_hint() -> None:
    hinted = [row for row in rows() if row.listed_deadlines]
    assert len(hinted) >= 30
    for row in hinted:
        own = row.full_deadline
        hints = {(one.at, one.is_agreed) for one in row.stated_deadlines if own is None or one.source != own.source}
        # What two lists stated and both moved later is agreed, too, and not the deadline.
        assert all(own is not None and at < own.at for at, is_agreed in hints if is_agreed), row.id
        assert list(row.stated_deadlines) == sorted(row.stated_deadlines, key=lambda one: one.at)
        if row.year is not None:
            assert all(row.year - 2 < one.at.year <= row.year for one in row.stated_deadlines), row.id


@pytest.mark.parametrize(
    ("venue_id", "full", "stated"),
    [
        # extended by two weeks; the list kept both
        ("colmweb.org/COLM/2024/Conference", "2024-03-30 11:59", ["2024-03-16 11:59", "2024-03-30 11:59"]),
        # the lists' second round of the year is another venue's
        ("KDD.org/2026/Research_Track_August", "2025-08-01 11:59", ["2025-08-01 11:59"]),
        ("KDD.org/2025/Research_Track_August", None, ["2024-08-02 11:59", "2024-08-09 11:59"]),
        # both lists moved it by a day
        ("colmweb.org/COLM/2025/Conference", "2025-03-29 11:59", ["2025-03-28 11:59", "2025-03-29 11:59"]),
        # one list alone, at two times
        ("auai.org/UAI/2020/Conference", None, ["2020-02-20 22:59", "2020-02-21 04:59"]),
        # a list's mistyped year is left out
        ("robot-learning.org/CoRL/2024/Conference", "2024-06-07 11:59", ["2024-06-07 11:59"]),
        # known to be wrong in one list
        ("ICLR.cc/2022/Conference", "2021-10-06 00:00", ["2021-10-06 00:00"]),
        ("ICLR.cc/2021/Conference", None, []),
        # only takes papers committed from ARR
        ("aclweb.org/ACL/2026/Conference", None, []),
        ("aclweb.org/ACL/ARR/2026/January", "2026-01-06 11:59", ["2026-01-06 11:59"]),
        ("TMLR", None, []),
    ],
)
def test_every_deadline_that_a_source_states_is_kept(venue_id: str, full: str | None, stated: list[str]) -> None:
    row = row_of(venue_id)
    assert row is not None
    assert (row.full_deadline and f"{row.full_deadline.at:%Y-%m-%d %H:%M}") == full
    assert [f"{one.at:%Y-%m-%d %H:%M}" for one in row.stated_deadlines] == stated


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
        ('id = "Example.cc/2030/Conference"', 'id = "Example.cc/2030/Conference/-/Submission"', "id of a group"),
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

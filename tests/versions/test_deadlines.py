"""When papers had to be in: anywhere on earth, with grace, and longer for some papers."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from peercorpus.raw import Kind, RawObject, RawStore
from peercorpus.venues.catalogue import deadline_of, rows
from peercorpus.versions.deadline import GRACE, Deadline, Deadlines

ICLR_2023, ICLR_2026 = "ICLR.cc/2023/Conference", "ICLR.cc/2026/Conference"
FULL = f"{ICLR_2026}/Submission7/-/Full_Submission"
AOE = re.compile(r"anywhere on earth|\bAOE\b|UTC-12", re.IGNORECASE)
PACIFIC = re.compile(r"05:00 PM PDT")


def _ms(at: datetime) -> int:
    return int(at.timestamp() * 1000)


def _deadline(folder: Path, venue_id: str, invitations: list[str], **held: dict[str, int]) -> Deadline | None:
    raw = RawStore(folder / "raw.db")
    for name, dates in held.items():
        body = json.dumps({"id": name, **dates}).encode()
        raw.add([RawObject(Kind.INVITATION, name, 2, venue_id, "", name, 0, 0, "test", body)])
    found = Deadlines(raw, venue_id).of(invitations)
    raw.close()
    return found


def test_every_deadline_anywhere_on_earth_is_noon_utc_of_the_day_after() -> None:
    listed = [row.full_deadline for row in rows() if row.full_deadline and AOE.search(row.full_deadline.source)]
    assert len(listed) > 3
    for deadline in listed:
        local = deadline.at - timedelta(hours=12)
        # The end of a day, or its last minute.
        assert (local + timedelta(minutes=1)).strftime("%H:%M") in {"00:00", "00:01"}, deadline


def test_five_in_the_afternoon_in_california_in_summer_is_midnight_utc() -> None:
    deadline = deadline_of("ICLR.cc/2022/Conference")
    assert deadline is not None
    assert PACIFIC.search(deadline.source)
    assert deadline.at == datetime(2021, 10, 6, tzinfo=UTC)


def test_the_28th_anywhere_on_earth_ends_on_the_29th_at_noon_and_half_an_hour_is_given(tmp_path: Path) -> None:
    found = _deadline(tmp_path, ICLR_2023, [])
    assert found is not None
    assert (found.due, found.at) == (datetime(2022, 9, 29, 12, tzinfo=UTC), datetime(2022, 9, 29, 12, 30, tzinfo=UTC))
    assert found.source.endswith("(+ 30 min)")


@pytest.mark.parametrize(
    ("later", "is_extension"),
    [
        (timedelta(minutes=10), False),
        (GRACE, False),
        (timedelta(hours=6), True),
        (timedelta(days=7), True),
        (timedelta(days=20), False),
    ],
)
def test_a_papers_own_invitation_that_closed_later_extends_its_deadline(
    tmp_path: Path, later: timedelta, is_extension: bool
) -> None:
    listed = deadline_of(ICLR_2026)
    assert listed is not None
    closed = listed.at + later
    found = _deadline(tmp_path, ICLR_2026, [f"{ICLR_2026}/-/Submission", FULL], **{FULL: {"expdate": _ms(closed)}})
    assert found is not None
    assert found.due == listed.at
    assert found.at == (closed if is_extension else listed.at + GRACE)
    assert found.source.startswith(f"{FULL} (expdate); due: ") == is_extension
    assert listed.source in found.source


def test_a_form_that_was_opened_again_long_after_its_due_date_extends_nothing(tmp_path: Path) -> None:
    due = datetime(2024, 9, 27, 12, tzinfo=UTC)
    dates = {"V/-/Submission": {"duedate": _ms(due), "expdate": _ms(due + timedelta(days=60))}}
    found = _deadline(tmp_path, "V", ["V/-/Submission"], **dates)
    assert found == Deadline(due + GRACE, "V/-/Submission (duedate + 30 min)", due)


@pytest.mark.parametrize(
    ("venue_id", "name", "later", "was_reopened"),
    [
        (ICLR_2026, f"{ICLR_2026}/-/Submission", timedelta(hours=6), False),
        (ICLR_2026, f"{ICLR_2026}/-/Submission", timedelta(days=20), True),
        (ICLR_2026, FULL, timedelta(days=20), True),
        (ICLR_2026, f"{ICLR_2026}/Submission8/-/Full_Submission", timedelta(days=20), False),
    ],
)
def test_a_form_that_closed_long_after_the_deadline_is_told_of(
    tmp_path: Path, venue_id: str, name: str, later: timedelta, was_reopened: bool
) -> None:
    listed = deadline_of(venue_id)
    assert listed is not None
    raw = RawStore(tmp_path / "raw.db")
    body = json.dumps({"id": name, "expdate": _ms(listed.at + later)}).encode()
    raw.add([RawObject(Kind.INVITATION, name, 2, venue_id, "", name, 0, 0, "test", body)])
    assert Deadlines(raw, venue_id).was_reopened([f"{venue_id}/-/Submission", FULL]) is was_reopened
    raw.close()


def test_where_the_catalogue_knows_only_when_abstracts_were_due_the_form_tells_no_more(tmp_path: Path) -> None:
    form = "ICLR.cc/2021/Conference/-/Submission"
    assert _deadline(tmp_path, "ICLR.cc/2021/Conference", [], **{form: {"expdate": 1_601_305_200_000}}) is None


def test_an_invitations_due_date_is_known_beside_its_close(tmp_path: Path) -> None:
    due = datetime(2024, 9, 27, 12, tzinfo=UTC)
    dates = {"duedate": _ms(due), "expdate": _ms(due + timedelta(hours=1))}
    found = _deadline(tmp_path, "V", ["V/-/Submission"], **{"V/-/Submission": dates})
    assert found == Deadline(due + timedelta(hours=1), "V/-/Submission (expdate)", due)


def test_at_iclr_2024_the_papers_own_revision_invitation_is_the_one_that_closes_late(tmp_path: Path) -> None:
    venue_id = "ICLR.cc/2024/Conference"
    own, listed = f"{venue_id}/Submission9/-/Revision", deadline_of(venue_id)
    assert listed is not None
    closed = listed.at + timedelta(hours=2)
    found = _deadline(tmp_path, venue_id, [own], **{own: {"expdate": _ms(closed)}})
    assert found is not None
    assert found.at == closed

"""When papers had to be in: anywhere on earth, with grace, and longer for some papers."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from peercorpus.records.enums import VersionMoment
from peercorpus.venues.catalogue import Confidence, DueDate, ListedDeadline, VenueRow, row_of
from peercorpus.venues.own_venues import OwnInvitations
from peercorpus.versions.deadlines import Deadline, Deadlines, extend_stages, stages_of
from peercorpus.workspace.raw_store import RawKind, RawObject, RawStore

ICLR_2023, ICLR_2026 = "ICLR.cc/2023/Conference", "ICLR.cc/2026/Conference"
FULL = f"{ICLR_2026}/Submission7/-/Full_Submission"


def _ms(at: datetime) -> int:
    return int(at.timestamp() * 1000)


def _listed(venue_id: str) -> DueDate:
    row = row_of(venue_id)
    assert row is not None
    assert row.full_deadline is not None
    return row.full_deadline


def _deadline(
    folder: Path, venue_id: str, invitations: list[str], row: VenueRow | None = None, /, **held: dict[str, Any]
) -> Deadline | None:
    raw = RawStore(folder / "raw.db")
    for name, dates in held.items():
        body = json.dumps({"id": name, **dates}).encode()
        raw.add([RawObject(RawKind.INVITATION, name, 2, venue_id, "", name, 0, 0, "test", body)])
    found = Deadlines(raw, venue_id, row).of(invitations)
    raw.close()
    return found


def test_half_an_hour_is_given(tmp_path: Path) -> None:
    found = _deadline(tmp_path, ICLR_2023, [])
    assert found is not None
    assert (found.due, found.at) == (datetime(2022, 9, 29, 12, tzinfo=UTC), datetime(2022, 9, 29, 12, 30, tzinfo=UTC))
    assert found.source.endswith("(+ 30 min)")


@pytest.mark.parametrize(
    ("later", "is_extension"),
    [
        (timedelta(minutes=10), False),
        (timedelta(minutes=30), False),
        (timedelta(hours=6), True),
        (timedelta(days=7), True),
        (timedelta(days=20), False),
    ],
)
def test_a_papers_own_invitation_extends_its_deadline(tmp_path: Path, later: timedelta, is_extension: bool) -> None:
    listed = _listed(ICLR_2026)
    closed = listed.at + later
    found = _deadline(
        tmp_path, ICLR_2026, [f"{ICLR_2026}/-/Submission", FULL], None, **{FULL: {"expdate": _ms(closed)}}
    )
    assert found is not None
    assert found.due == listed.at
    assert found.at == (closed if is_extension else listed.at + timedelta(minutes=30))
    assert found.source.startswith(f"{FULL} (expdate); due: ") == is_extension
    assert listed.source in found.source


def test_a_form_reopened_late_extends_nothing(tmp_path: Path) -> None:
    due = datetime(2024, 9, 27, 12, tzinfo=UTC)
    dates = {"V/-/Submission": {"duedate": _ms(due), "expdate": _ms(due + timedelta(days=60))}}
    found = _deadline(tmp_path, "V", ["V/-/Submission"], None, **dates)
    assert found == Deadline(due + timedelta(minutes=30), "V/-/Submission (duedate + 30 min)", due)


HINTED = datetime(2030, 9, 28, 12, tzinfo=UTC)
ABSTRACTS = datetime(2030, 9, 21, 12, tzinfo=UTC)


def _row(*, abstracts: bool = True) -> VenueRow:
    hint = ListedDeadline(at=HINTED, abstracts_at=ABSTRACTS if abstracts else None, sources=("a list",))
    return VenueRow(id="V", confidence=Confidence.B, source="page", listed_deadlines=(hint,))


@pytest.mark.parametrize(
    ("due", "invitations", "is_known", "is_sure"),
    [
        (HINTED, [], True, True),
        (HINTED + timedelta(minutes=1), ["V/-/Submission"], True, True),
        (ABSTRACTS, [], False, False),
        (ABSTRACTS, ["V/-/Submission"], False, False),
        (HINTED + timedelta(days=2), [], False, False),
    ],
)
def test_a_stated_date_proves_a_papers_form(
    tmp_path: Path, due: datetime, invitations: list[str], is_known: bool, is_sure: bool
) -> None:
    found = _deadline(tmp_path, "V", invitations, _row(), **{"V/-/Submission": {"duedate": _ms(due)}})
    assert (found is not None) == is_known
    assert (found is not None and not found.may_be_of_abstracts) == is_sure


def test_lists_stand_beside_a_venues_deadline(tmp_path: Path) -> None:
    row = _row()
    own = VenueRow(
        id="V",
        confidence=Confidence.B,
        source="page",
        full_deadline=DueDate(HINTED + timedelta(hours=9), "https://example.org"),
        listed_deadlines=row.listed_deadlines,
    )
    found = _deadline(tmp_path, "V", [], own)
    assert found is not None
    assert found.due == HINTED + timedelta(hours=9)
    assert [(one.at, one.is_agreed) for one in own.stated_deadlines] == [
        (HINTED, False),
        (HINTED + timedelta(hours=9), True),
    ]


def test_a_users_statement_on_an_invitation_takes_precedence() -> None:
    own = OwnInvitations(full_paper=("Edit", "Final_Upload"), ambiguous=("Revision",), camera_ready=("Last_Version",))
    found = extend_stages("ICLR.cc/2024/Conference", own)
    assert found.full_paper == {"Full_Submission", "Edit", "Final_Upload"}
    assert found.ambiguous == {"Revision"}
    assert "Revision" not in found.harmless
    assert found.moments["Last_Version"] is VersionMoment.CAMERA_READY
    assert extend_stages("ICLR.cc/2024/Conference", OwnInvitations()) == stages_of("ICLR.cc/2024/Conference")
    assert extend_stages("V", OwnInvitations()) == stages_of("V")


LAST = 253_402_300_799_000
"""The last second of the year 9999, in milliseconds."""


@pytest.mark.parametrize(
    ("dates", "source"),
    [
        ({"duedate": LAST}, None),
        ({"expdate": LAST}, None),
        ({"duedate": LAST, "expdate": LAST}, None),
        ({"duedate": _ms(HINTED), "expdate": LAST}, "V/-/Submission (duedate + 30 min)"),
        ({"duedate": LAST, "expdate": _ms(HINTED)}, "V/-/Submission (expdate)"),
        ({"duedate": "soon", "expdate": _ms(HINTED)}, "V/-/Submission (expdate)"),
        ({"duedate": 10**18, "expdate": None}, None),
    ],
)
def test_an_invalid_date_is_no_deadline(tmp_path: Path, dates: dict[str, Any], source: str | None) -> None:
    found = _deadline(tmp_path, "V", ["V/-/Submission"], None, **{"V/-/Submission": dates})
    assert (found.source if found else None) == source


def test_an_endless_form_was_open(tmp_path: Path) -> None:
    raw = RawStore(tmp_path / "raw.db")
    body = json.dumps({"id": "V/-/Submission", "duedate": _ms(HINTED), "expdate": LAST}).encode()
    raw.add([RawObject(RawKind.INVITATION, "V/-/Submission", 2, "V", "", "V/-/Submission", 0, 0, "test", body)])
    assert Deadlines(raw, "V").was_reopened([]) is True
    raw.close()

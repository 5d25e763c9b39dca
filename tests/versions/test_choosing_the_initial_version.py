"""Which PDF is taken for the one the reviewers read, and with what grade."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from peercorpus.kinds import PUBLISHABLE_GRADES, Grade
from peercorpus.raw import Kind, RawObject, RawStore
from peercorpus.versions.choose import Submission, Upload, choose, read_versions, revision_state, usable_deadline
from peercorpus.versions.deadline import Deadline, read_deadline

NOON = datetime(2024, 9, 27, 12, tzinfo=UTC)
DEADLINE = Deadline(NOON, "V/-/Submission (expdate)")
REVIEWED = NOON + timedelta(days=30)


def upload(name: str, at: datetime | None, *, settled: datetime | None = None) -> Upload:
    """A PDF that came at a time; settled then, unless it was posted again."""
    return Upload(f"edit-{name}", f"/pdf/{name}.pdf", at, settled or at, settled or at, "V/Submission1/-/Revision")


FIRST = upload("first", NOON - timedelta(days=2))
LAST_HOUR = upload("last-hour", NOON - timedelta(minutes=5))
LATE = upload("late", NOON + timedelta(days=3))
CAMERA_READY = upload("camera-ready", NOON + timedelta(days=100))
REPOSTED = upload("reposted", NOON - timedelta(hours=1), settled=NOON + timedelta(days=90))
ON_TIME = upload("on-time", NOON)
CURRENT = Upload("paper", "/pdf/current.pdf", None, None, None, None)
ATTACHED = Upload("paper/original_pdf", "/attachment/kept.pdf", None, None, None, None)
ALL_FILES = {one.path: "0" * 64 for one in (FIRST, ON_TIME, LAST_HOUR, LATE, CAMERA_READY, REPOSTED, CURRENT, ATTACHED)}
BARE = Submission("paper", "V", (), (), None, None, (), DEADLINE, REVIEWED, ALL_FILES)
UNREVISED = ("V/-/Submission", "V/-/Post_Submission")


@pytest.mark.parametrize(
    ("submission", "chosen", "grade"),
    [
        (replace(BARE, uploads=(FIRST, LAST_HOUR, LATE, CAMERA_READY)), LAST_HOUR, Grade.EXACT),
        (replace(BARE, uploads=(FIRST, ON_TIME)), ON_TIME, Grade.EXACT),
        (replace(BARE, uploads=(FIRST, REPOSTED)), FIRST, Grade.EXACT),
        (replace(BARE, uploads=(REPOSTED,)), None, Grade.UNAVAILABLE),
        (replace(BARE, uploads=(FIRST,), hidden=(LAST_HOUR,)), None, Grade.UNAVAILABLE),
        (replace(BARE, uploads=(LAST_HOUR,), hidden=(FIRST, LATE)), LAST_HOUR, Grade.EXACT),
        (replace(BARE, uploads=(LATE, CAMERA_READY)), LATE, Grade.BEFORE_FIRST_REVIEW),
        (replace(BARE, uploads=(CAMERA_READY,)), None, Grade.UNAVAILABLE),
        (replace(BARE, uploads=(LATE,), attachment=ATTACHED), ATTACHED, Grade.EXACT_ATTACHMENT),
        (replace(BARE, uploads=(FIRST, LATE), deadline=None), LATE, Grade.BEFORE_FIRST_REVIEW),
        (replace(BARE, uploads=(FIRST,), deadline=None, first_review_at=None), None, Grade.UNAVAILABLE),
        (
            replace(BARE, uploads=(CURRENT,), current_path=CURRENT.path, invitations=UNREVISED),
            CURRENT,
            Grade.UNREVISED,
        ),
        (
            replace(BARE, uploads=(CURRENT,), current_path=CURRENT.path, invitations=(*UNREVISED, "V/-/Edit")),
            CURRENT,
            Grade.UNREVISED_LIKELY,
        ),
        (
            replace(
                BARE,
                uploads=(CURRENT,),
                current_path=CURRENT.path,
                invitations=(*UNREVISED, "V/Submission1/-/Camera_Ready_Revision"),
            ),
            None,
            Grade.UNAVAILABLE,
        ),
        (replace(BARE, uploads=(CURRENT,), current_path=CURRENT.path), None, Grade.UNAVAILABLE),
    ],
)
def test_the_best_rule_that_applies_chooses(submission: Submission, chosen: Upload | None, grade: Grade) -> None:
    found = choose(submission)
    assert (found.upload, found.grade) == (chosen, grade)


@pytest.mark.parametrize(
    "tail",
    [
        "Rebuttal_Revision",
        "Camera_Ready_Revision",
        "PC_Revision",
        "Revision",
        "Something_New_Revision",
        "Something_New",
    ],
)
def test_an_invitation_that_may_have_changed_the_pdf_forbids_unrevised(tail: str) -> None:
    assert revision_state([*UNREVISED, f"V/Submission1/-/{tail}"]) is None


def test_no_invitations_at_all_prove_nothing() -> None:
    assert revision_state([]) is None


def test_without_its_file_no_version_has_a_grade_that_may_be_published() -> None:
    versions = read_versions(replace(BARE, uploads=(FIRST,), sha256={}))
    assert [(one.is_initial, one.grade) for one in versions] == [(True, Grade.UNAVAILABLE)]
    assert "exact" in versions[0].evidence.rule


def test_a_deadline_after_the_first_review_proves_nothing() -> None:
    moved = replace(BARE, uploads=(FIRST, LATE), deadline=Deadline(REVIEWED + timedelta(days=1), "moved"))
    assert usable_deadline(moved) is None
    assert choose(moved).grade is Grade.BEFORE_FIRST_REVIEW


@pytest.mark.parametrize(
    "submission",
    [
        replace(BARE, uploads=(FIRST, LATE, CAMERA_READY), current_path=CAMERA_READY.path),
        replace(BARE, uploads=(CAMERA_READY, CURRENT), current_path=CURRENT.path),
        replace(BARE, uploads=(CAMERA_READY,), current_path=None),
    ],
)
def test_exactly_one_version_carries_a_grade_and_no_later_one_is_published(submission: Submission) -> None:
    versions = read_versions(submission)
    graded = [one for one in versions if one.grade is not None]
    assert len(graded) == 1
    assert len(versions) == len(submission.uploads)
    for one in versions:
        if one.created_at is not None and one.created_at > NOON:
            assert not (one.is_initial and one.grade in PUBLISHABLE_GRADES)


@pytest.mark.parametrize(
    ("invitations", "source"),
    [
        ([], "V/-/Submission (expdate)"),
        (["V/-/Submission", "V/-/Post_Submission", "V/-/Edit"], "V/-/Submission (expdate)"),
        (["V/-/Submission", "V/Submission1/-/Rebuttal_Revision"], "V/-/Submission (expdate)"),
        (["V/-/Submission", "V/Submission1/-/Full_Submission"], "V/Submission1/-/Full_Submission (duedate + 30 min)"),
        (["V/-/Submission", "V/Submission2/-/Full_Submission"], None),
        (["V/-/Submission", "V/Submission1/-/Revision"], None),
        (["V/-/Submission", "V/Submission1/-/Second_Submission"], None),
    ],
)
def test_the_deadline_of_abstracts_is_none_of_papers(
    tmp_path: Path, invitations: list[str], source: str | None
) -> None:
    raw = RawStore(tmp_path / "raw.db")
    for name, dates in {"V/-/Submission": {"expdate": 9}, "V/Submission1/-/Full_Submission": {"duedate": 5}}.items():
        body = json.dumps({"id": name, **dates}).encode()
        raw.add([RawObject(Kind.INVITATION, name, 2, "V", "", name, 0, 0, "test", body)])
    found = read_deadline(raw, "V", invitations)
    raw.close()
    assert (found.source if found else None) == source

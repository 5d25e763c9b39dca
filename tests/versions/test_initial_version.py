"""Which PDF counts as the one the reviewers read, and with which grade."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from histories import (
    ALL_FILES,
    ATTACHED,
    BARE,
    CAMERA_READY,
    CURRENT,
    DEADLINE,
    FIRST,
    LAST_HOUR,
    LATE,
    NOON,
    ON_TIME,
    REPOSTED,
    REVIEWED,
    REVISED,
    UNREVISED,
    upload,
)
from naming import Naming
from peercorpus.records.enums import PUBLISHABLE_GRADES, Grade
from peercorpus.versions.at_deadline import usable_deadline
from peercorpus.versions.deadlines import Deadline, Deadlines, stages_of
from peercorpus.versions.find_versions import read_versions
from peercorpus.versions.initial_version import choose_initial_version, revision_state
from peercorpus.versions.uploads import SubmissionPdfs, Upload
from peercorpus.workspace.raw_store import RawKind, RawObject, RawStore


@pytest.mark.parametrize(
    ("submission", "chosen", "grade"),
    [
        (replace(BARE, uploads=(FIRST, LAST_HOUR, REVISED, CAMERA_READY)), LAST_HOUR, Grade.EXACT),
        (replace(BARE, uploads=(FIRST, ON_TIME)), ON_TIME, Grade.EXACT),
        (replace(BARE, uploads=(FIRST, REPOSTED)), None, Grade.UNAVAILABLE),
        (replace(BARE, uploads=(REPOSTED,)), None, Grade.UNAVAILABLE),
        (replace(BARE, uploads=(FIRST,), hidden=(LAST_HOUR,)), None, Grade.UNAVAILABLE),
        (replace(BARE, uploads=(LAST_HOUR,), hidden=(FIRST, REVISED)), LAST_HOUR, Grade.EXACT),
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
def test_the_best_applicable_rule_is_used(submission: SubmissionPdfs, chosen: Upload | None, grade: Grade) -> None:
    found = choose_initial_version(submission)
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
def test_a_changing_invitation_forbids_unrevised(tail: str) -> None:
    assert revision_state([*UNREVISED, f"V/Submission1/-/{tail}"]) is None


def test_a_deadline_after_the_first_review_proves_nothing() -> None:
    moved = replace(BARE, uploads=(FIRST, LATE), deadline=Deadline(REVIEWED + timedelta(days=1), "moved"))
    assert usable_deadline(moved) is None
    assert choose_initial_version(moved).grade is Grade.BEFORE_FIRST_REVIEW


@pytest.mark.parametrize(
    "submission",
    [
        replace(BARE, uploads=(FIRST, LATE, CAMERA_READY), current_path=CAMERA_READY.path),
        replace(BARE, uploads=(CAMERA_READY, CURRENT), current_path=CURRENT.path),
        replace(BARE, uploads=(CAMERA_READY,), current_path=None),
    ],
)
def test_exactly_one_version_carries_a_grade(submission: SubmissionPdfs) -> None:
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
def test_abstract_deadlines_are_not_for_papers(tmp_path: Path, invitations: list[str], source: str | None) -> None:
    raw = RawStore(tmp_path / "raw.db")
    for name, dates in {"V/-/Submission": {"expdate": 9}, "V/Submission1/-/Full_Submission": {"duedate": 5}}.items():
        body = json.dumps({"id": name, **dates}).encode()
        raw.add([RawObject(RawKind.INVITATION, name, 2, "V", "", name, 0, 0, "test", body)])
    found = Deadlines(raw, "V").of(invitations)
    raw.close()
    assert (found.source if found else None) == source


def test_a_reposted_edit_invalidates_earlier_ones() -> None:
    found = choose_initial_version(replace(BARE, uploads=(FIRST, REPOSTED)))
    assert found.upload is None
    assert "again later" in found.rule
    # What came after it is the latest all the same.
    assert choose_initial_version(replace(BARE, uploads=(FIRST, REPOSTED, LAST_HOUR))).upload == LAST_HOUR


def test_a_hidden_later_upload_invalidates_it() -> None:
    found = choose_initial_version(replace(BARE, uploads=(FIRST,), hidden=(LAST_HOUR,)))
    assert (found.upload, found.grade) == (None, Grade.UNAVAILABLE)
    assert "is not public" in found.rule


@pytest.mark.parametrize("tail", ["Full_Submission", "Revision", "Second_Submission"])
def test_hidden_edits_invalidate_the_abstracts_pdf(tail: str) -> None:
    stub = replace(FIRST, invitation="V/-/Submission")
    named = ("V/-/Submission", f"V/Submission1/-/{tail}", "V/Submission1/-/Camera_Ready_Revision")
    hidden = replace(BARE, uploads=(stub, CAMERA_READY), invitations=named, shown=frozenset({"V/-/Submission"}))
    assert (choose_initial_version(hidden).upload, choose_initial_version(hidden).grade) == (None, Grade.UNAVAILABLE)
    shown = replace(hidden, shown=frozenset(named), uploads=(stub, LAST_HOUR, CAMERA_READY))
    assert (choose_initial_version(shown).upload, choose_initial_version(shown).grade) == (LAST_HOUR, Grade.EXACT)


def test_the_full_paper_is_chosen() -> None:
    deadline = Deadline(NOON + timedelta(minutes=30), "catalogue (+ 30 min)", NOON)
    placeholder = upload("first", NOON - timedelta(days=7), invitation="V/-/Submission")
    found = choose_initial_version(replace(BARE, uploads=(placeholder, LAST_HOUR, REVISED), deadline=deadline))
    assert (found.upload, found.grade) == (LAST_HOUR, Grade.EXACT)


@pytest.mark.parametrize("name", ["V/-/Edit", "V/-/PC_Revision", "TMLR/-/Edit"])
def test_a_later_pdf_by_chairs_is_inexact(name: str) -> None:
    chairs = replace(CAMERA_READY, invitation=name)
    submission = replace(BARE, uploads=(chairs,), current_path=chairs.path, invitations=(*UNREVISED, name))
    assert choose_initial_version(submission).grade is Grade.UNAVAILABLE
    assert choose_initial_version(replace(submission, uploads=(FIRST, chairs))).upload == FIRST


def test_an_upload_in_the_grace_period() -> None:
    extended = Deadline(NOON + timedelta(days=4), "V/Submission1/-/Full_Submission (expdate); due: call", NOON)
    found = choose_initial_version(replace(BARE, uploads=(FIRST, LATE), deadline=extended))
    assert (found.upload, found.grade) == (LATE, Grade.EXACT)
    assert found.rule == Naming("late", "2024-09-27 12:00:00 UTC", "2024-09-30 12:00:00 UTC")
    assert (
        "uploaded late"
        not in choose_initial_version(
            replace(BARE, uploads=(FIRST, ON_TIME), deadline=replace(extended, due=NOON))
        ).rule
    )


def test_an_attachment_is_assigned_to_its_edit() -> None:
    twin = replace(FIRST, path="/pdf/kept.pdf", title="On Kites")
    submission = replace(BARE, uploads=(twin,), attachment=ATTACHED, deadline=None, sha256={twin.path: "1" * 64})
    versions = read_versions(submission)
    assert [(one.edit_id, one.is_initial, one.sha256, one.title) for one in versions] == [
        ("paper/original_pdf", True, "1" * 64, "On Kites"),
        ("edit-first", False, "1" * 64, "On Kites"),
    ]
    assert versions[0].grade is Grade.EXACT_ATTACHMENT
    assert "edit-first brought" in versions[0].evidence.rule


def test_another_pdf_disproves_an_attachment() -> None:
    twin = replace(FIRST, path="/pdf/kept.pdf")
    files = ALL_FILES | {twin.path: "1" * 64}
    submission = replace(BARE, uploads=(twin,), hidden=(LAST_HOUR,), attachment=ATTACHED, sha256=files)
    assert choose_initial_version(submission).grade is Grade.UNAVAILABLE
    unknown = replace(submission, uploads=(twin, LAST_HOUR), hidden=(), deadline=None)
    assert (choose_initial_version(unknown).upload, choose_initial_version(unknown).grade) == (
        LAST_HOUR,
        Grade.BEFORE_FIRST_REVIEW,
    )


def test_iclr_2024_took_papers_by_revision() -> None:
    iclr = "ICLR.cc/2024/Conference"
    named = [f"{iclr}/-/Submission", f"{iclr}/-/Post_Submission", f"{iclr}/Submission9/-/Revision"]
    assert revision_state(named, stages_of(iclr)) is Grade.UNREVISED
    assert revision_state([*named, f"{iclr}/Submission9/-/Rebuttal_Revision"], stages_of(iclr)) is None
    assert revision_state(named, stages_of("ICLR.cc/2025/Conference")) is None


HOUR, DAY = timedelta(hours=1), timedelta(days=1)
OWN = "V/Submission1/-"
BLIND = "V/-/Blind_Submission"


def late(after: timedelta, invitation: str, name: str = "b", *, settled: datetime | None = None) -> Upload:
    """A PDF that came some time after the deadline."""
    return upload(name, NOON + after, settled=settled, invitation=invitation)


FULL = late(2 * HOUR, f"{OWN}/Full_Submission")
FORM = late(2 * HOUR, "V/-/Submission")
UNKNOWN = late(2 * HOUR, f"{OWN}/Revision")
SECOND = late(2 * HOUR, f"{OWN}/Second_Submission")
CHAIRS = late(2 * DAY, "V/-/Edit", "c")
AGAIN = replace(LAST_HOUR, edit_id="edit-again", created_at=NOON + 3 * DAY, settled_at=NOON + 3 * DAY)


def case(*uploads: Upload, **more: object) -> SubmissionPdfs:
    """A paper whose PDF of the last hour was followed by others."""
    files = {one.path: "0" * 64 for one in (LAST_HOUR, FULL, CHAIRS, ATTACHED)}
    return replace(BARE, uploads=(LAST_HOUR, *uploads), sha256=files, **more)  # type: ignore[arg-type]


UNREVIEWED = {"first_review_at": None}
CASES: dict[str, tuple[SubmissionPdfs, Upload | None, Grade]] = {
    "nothing came": (case(), LAST_HOUR, Grade.EXACT),
    "the full-paper form took another": (case(FULL), FULL, Grade.EXACT),
    "the venue's form took another": (case(FORM), FORM, Grade.EXACT),
    "and another": (case(FULL, late(5 * HOUR, FULL.invitation or "", "c")), None, Grade.EXACT),
    "an unknown revision": (case(UNKNOWN), UNKNOWN, Grade.BEFORE_FIRST_REVIEW),
    "an unknown submission": (case(SECOND), SECOND, Grade.BEFORE_FIRST_REVIEW),
    "an unknown revision, all edits known": (case(UNKNOWN, is_complete=True), UNKNOWN, Grade.EXACT),
    "an unknown revision after weeks": (
        case(late(20 * DAY, f"{OWN}/Revision"), is_complete=True),
        None,
        Grade.BEFORE_FIRST_REVIEW,
    ),
    "the full-paper form, opened again after weeks": (
        case(late(20 * DAY, f"{OWN}/Full_Submission")),
        None,
        Grade.BEFORE_FIRST_REVIEW,
    ),
    "chairs replaced it": (case(CHAIRS), CHAIRS, Grade.BEFORE_FIRST_REVIEW),
    "chairs replaced it by their own form": (case(late(2 * DAY, "V/-/PC_Revision")), None, Grade.BEFORE_FIRST_REVIEW),
    "extended, then replaced by chairs": (case(FULL, CHAIRS), CHAIRS, Grade.BEFORE_FIRST_REVIEW),
    "replaced by chairs, then extended": (case(late(1 * HOUR, "V/-/Edit", "c"), FULL), FULL, Grade.EXACT),
    "put back before reviewing": (case(CHAIRS, repeats=(AGAIN,)), LAST_HOUR, Grade.EXACT),
    "put back, and written again after the reviews": (
        case(CHAIRS, repeats=(replace(AGAIN, settled_at=REVIEWED + DAY),)),
        None,
        Grade.UNAVAILABLE,
    ),
    "put back only after the reviews": (
        case(CHAIRS, repeats=(replace(AGAIN, created_at=REVIEWED + DAY, settled_at=REVIEWED + DAY),)),
        CHAIRS,
        Grade.BEFORE_FIRST_REVIEW,
    ),
    "the same file under another path": (
        case(replace(CHAIRS, path=f"/pdf/other{LAST_HOUR.path.removeprefix('/pdf')}")),
        LAST_HOUR,
        Grade.EXACT,
    ),
    "hidden, by the full-paper form": (case(hidden=(FULL,)), None, Grade.UNAVAILABLE),
    "hidden, by chairs": (case(hidden=(CHAIRS,)), None, Grade.UNAVAILABLE),
    "hidden, then extended": (case(FULL, hidden=(late(HOUR, "V/-/Edit", "c"),)), FULL, Grade.EXACT),
    "undated": (case(replace(CHAIRS, created_at=None, settled_at=None)), None, Grade.UNAVAILABLE),
    "deleted before reviewing": (case(hidden=(replace(CHAIRS, deleted_at=NOON + 3 * DAY),)), LAST_HOUR, Grade.EXACT),
    "deleted after the reviews": (case(hidden=(replace(CHAIRS, deleted_at=REVIEWED + DAY),)), None, Grade.UNAVAILABLE),
    "written again before the reviews": (
        case(late(2 * HOUR, f"{OWN}/Full_Submission", settled=NOON + 4 * DAY)),
        None,
        Grade.EXACT,
    ),
    "written again after the reviews": (
        case(late(2 * HOUR, f"{OWN}/Full_Submission", settled=REVIEWED + DAY)),
        None,
        Grade.UNAVAILABLE,
    ),
    "chairs', written again after the reviews": (
        case(late(2 * DAY, "V/-/Edit", "c", settled=REVIEWED + DAY)),
        None,
        Grade.UNAVAILABLE,
    ),
    "a revision of the discussion tells that reviews were there": (
        case(late(2 * DAY, f"{OWN}/Rebuttal_Revision")),
        LAST_HOUR,
        Grade.EXACT,
    ),
    "a final version": (case(late(2 * DAY, f"{OWN}/Camera_Ready_Revision")), LAST_HOUR, Grade.EXACT),
    "after the first review": (case(late(31 * DAY, "V/-/Edit")), LAST_HOUR, Grade.EXACT),
    "at the instant of the first review": (case(late(30 * DAY, "V/-/Edit")), LAST_HOUR, Grade.EXACT),
    "API 1 names no form": (case(late(2 * HOUR, BLIND), masked_as=BLIND), None, Grade.BEFORE_FIRST_REVIEW),
    "API 1 names no form, open": (
        case(FORM, masked_as="V/-/Submission", is_complete=True),
        FORM,
        Grade.BEFORE_FIRST_REVIEW,
    ),
    "never reviewed, extended": (case(FULL, **UNREVIEWED), FULL, Grade.EXACT),
    "never reviewed, replaced": (case(CHAIRS, **UNREVIEWED), None, Grade.UNAVAILABLE),
    "never reviewed, changed when others had been reviewed": (
        case(late(3 * DAY, "V/-/Edit"), venue_reviewed_at=NOON + 2 * DAY, **UNREVIEWED),
        LAST_HOUR,
        Grade.EXACT,
    ),
    "never reviewed, changed before others were": (
        case(late(20 * DAY, "V/-/Edit"), venue_reviewed_at=REVIEWED, **UNREVIEWED),
        None,
        Grade.UNAVAILABLE,
    ),
    "never reviewed, nor is a review known, changed after weeks": (
        case(late(20 * DAY, "V/-/Edit"), **UNREVIEWED),
        LAST_HOUR,
        Grade.EXACT,
    ),
    "the deadline was stated after the first review": (
        case(FULL, deadline=Deadline(REVIEWED + DAY, "moved")),
        FULL,
        Grade.BEFORE_FIRST_REVIEW,
    ),
    "within the grace": (
        case(FULL, deadline=Deadline(NOON + 3 * HOUR, "V/-/Submission (expdate)", NOON)),
        FULL,
        Grade.EXACT,
    ),
    "kept as an attachment, then replaced": (
        case(CHAIRS, attachment=replace(ATTACHED, path=f"/attachment{LAST_HOUR.path.removeprefix('/pdf')}")),
        CHAIRS,
        Grade.BEFORE_FIRST_REVIEW,
    ),
}


@pytest.mark.parametrize(("submission", "chosen", "grade"), CASES.values(), ids=CASES)
def test_the_last_file_before_reviewing_is_it(submission: SubmissionPdfs, chosen: Upload | None, grade: Grade) -> None:
    submission = replace(
        submission, sha256={one.path: "0" * 64 for one in submission.uploads} | dict(submission.sha256)
    )
    found = choose_initial_version(submission)
    assert found.grade is grade
    if chosen is not None or grade is Grade.UNAVAILABLE:
        assert found.upload == chosen
    else:
        assert found.upload == submission.uploads[-1]


@pytest.mark.parametrize("name", [name for name, one in CASES.items() if one[1] is not LAST_HOUR])
def test_a_replaced_file_is_never_published(name: str) -> None:
    submission, _, grade = CASES[name]
    files = {one.path: "0" * 64 for one in submission.uploads}
    versions = read_versions(replace(submission, sha256=files))
    (graded,) = [one for one in versions if one.grade is not None]
    (replaced,) = [one for one in versions if one.edit_id == LAST_HOUR.edit_id]
    assert not (replaced.is_initial and replaced.grade in PUBLISHABLE_GRADES)
    if grade is Grade.BEFORE_FIRST_REVIEW and submission.deadline == DEADLINE:
        assert graded.edit_id in graded.evidence.rule


def test_a_proven_extension_is_the_deadline() -> None:
    submission = case(FULL)
    (graded,) = [one for one in read_versions(submission) if one.grade is not None]
    assert graded.evidence.deadline == NOON + 2 * HOUR
    assert graded.evidence.deadline_source == f"{OWN}/Full_Submission took edit-b; due: {DEADLINE.source}"
    assert "uploaded late" in graded.evidence.rule

"""What an upload between the deadline and the first review proves, case by case."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from histories import ATTACHED, BARE, DEADLINE, LAST_HOUR, NOON, REVIEWED, upload
from peercorpus.records.enums import PUBLISHABLE_GRADES, Grade
from peercorpus.versions.deadlines import Deadline
from peercorpus.versions.find_versions import read_versions
from peercorpus.versions.initial_version import choose_initial_version
from peercorpus.versions.uploads import SubmissionPdfs, Upload

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
        late(20 * DAY, f"{OWN}/Revision"),
        Grade.BEFORE_FIRST_REVIEW,
    ),
    "the full-paper form, opened again after weeks": (
        case(late(20 * DAY, f"{OWN}/Full_Submission")),
        late(20 * DAY, f"{OWN}/Full_Submission"),
        Grade.BEFORE_FIRST_REVIEW,
    ),
    "chairs replaced it": (case(CHAIRS), CHAIRS, Grade.BEFORE_FIRST_REVIEW),
    "chairs replaced it by their own form": (
        case(late(2 * DAY, "V/-/PC_Revision")),
        late(2 * DAY, "V/-/PC_Revision"),
        Grade.BEFORE_FIRST_REVIEW,
    ),
    "extended, then replaced by chairs": (case(FULL, CHAIRS), CHAIRS, Grade.BEFORE_FIRST_REVIEW),
    "replaced by chairs, then extended": (
        case(late(1 * HOUR, "V/-/Edit", "c"), FULL),
        FULL,
        Grade.EXACT,
    ),
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
    "deleted after the reviews": (
        case(hidden=(replace(CHAIRS, deleted_at=REVIEWED + DAY),)),
        None,
        Grade.UNAVAILABLE,
    ),
    "written again before the reviews": (
        case(late(2 * HOUR, f"{OWN}/Full_Submission", settled=NOON + 4 * DAY)),
        late(2 * HOUR, f"{OWN}/Full_Submission", settled=NOON + 4 * DAY),
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
    "API 1 names no form": (
        case(late(2 * HOUR, BLIND), masked_as=BLIND),
        late(2 * HOUR, BLIND),
        Grade.BEFORE_FIRST_REVIEW,
    ),
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
def test_the_last_file_before_reviewing_is_chosen_with_its_proven_grade(
    submission: SubmissionPdfs, chosen: Upload | None, grade: Grade
) -> None:
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
def test_a_replaced_file_is_never_published_and_the_rule_names_its_replacement(name: str) -> None:
    submission, _, grade = CASES[name]
    files = {one.path: "0" * 64 for one in submission.uploads}
    versions = read_versions(replace(submission, sha256=files))
    (graded,) = [one for one in versions if one.grade is not None]
    (replaced,) = [one for one in versions if one.edit_id == LAST_HOUR.edit_id]
    assert not (replaced.is_initial and replaced.grade in PUBLISHABLE_GRADES)
    if grade is Grade.BEFORE_FIRST_REVIEW and submission.deadline == DEADLINE:
        assert graded.edit_id in graded.evidence.rule


def test_an_extension_that_an_upload_proves_is_the_deadline_of_its_evidence() -> None:
    submission = case(FULL)
    (graded,) = [one for one in read_versions(submission) if one.grade is not None]
    assert graded.evidence.deadline == NOON + 2 * HOUR
    assert graded.evidence.deadline_source == f"{OWN}/Full_Submission took edit-b; due: {DEADLINE.source}"
    assert "uploaded late" in graded.evidence.rule

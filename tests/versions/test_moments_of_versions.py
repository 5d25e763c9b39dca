"""When in a paper's life each version came, where that is known, and what the file itself adds."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from histories import (
    BARE,
    CAMERA_READY,
    CURRENT,
    DECIDED,
    FIRST,
    LAST_HOUR,
    LATE,
    NOON,
    REPOSTED,
    REVISED,
    UNREVISED,
    upload,
)
from naming import Naming
from peercorpus.records.enums import FileSays, Grade, VersionMoment
from peercorpus.versions.find_versions import read_versions
from peercorpus.versions.uploads import Opinion, SubmissionPdfs

WHOLE = replace(
    BARE,
    uploads=(FIRST, LAST_HOUR, LATE, REVISED, CAMERA_READY, CURRENT),
    current_path=CURRENT.path,
    decided_at=DECIDED,
    is_accepted=True,
)
M = VersionMoment


def moments(submission: SubmissionPdfs) -> list[VersionMoment | None]:
    return [one.moment for one in read_versions(submission)]


@pytest.mark.parametrize(
    ("submission", "expected"),
    [
        (WHOLE, [M.BEFORE_DEADLINE, M.BEFORE_DEADLINE, M.INITIAL, M.DISCUSSION, M.CAMERA_READY, M.CURRENT]),
        (
            replace(WHOLE, is_accepted=False),
            [M.BEFORE_DEADLINE, M.BEFORE_DEADLINE, M.INITIAL, M.DISCUSSION, None, M.CURRENT],
        ),
        (
            replace(WHOLE, decided_at=None),
            [M.BEFORE_DEADLINE, M.BEFORE_DEADLINE, M.INITIAL, None, None, M.CURRENT],
        ),
        (
            replace(WHOLE, deadline=None),
            [M.BEFORE_REVIEWS, M.BEFORE_REVIEWS, M.INITIAL, M.DISCUSSION, M.CAMERA_READY, M.CURRENT],
        ),
        (replace(WHOLE, deadline=None, first_review_at=None), [None, None, None, None, None, M.CURRENT]),
        (replace(BARE, uploads=(REPOSTED,), decided_at=DECIDED, is_accepted=True), [None]),
        (replace(BARE, uploads=(CURRENT,), current_path=CURRENT.path, invitations=UNREVISED), [M.INITIAL]),
        (replace(BARE, uploads=(replace(CURRENT, path="/pdf/gone.pdf"),), current_path=None), [None]),
    ],
    ids=["all known", "rejected", "decision unknown", "deadline unknown", "no time known", "reposted", "proven", "odd"],
)
def test_a_stage_is_determined_by_times_or_unknown(
    submission: SubmissionPdfs, expected: list[VersionMoment | None]
) -> None:
    assert moments(submission) == expected


@pytest.mark.parametrize(
    ("tail", "expected"),
    [("Rebuttal_Revision", M.DISCUSSION), ("Camera_Ready_Revision", M.CAMERA_READY), ("Revision", None)],
)
def test_an_invitation_determines_the_stage_if_times_do_not(tail: str, expected: VersionMoment | None) -> None:
    revised = upload("revised", NOON + timedelta(days=45), invitation=f"V/Submission1/-/{tail}")
    assert moments(replace(BARE, uploads=(revised,))) == [expected]


def test_the_title_of_the_current_pdf_is_that_of_the_initial_one_only_where_nothing_was_edited() -> None:
    proven = replace(BARE, uploads=(CURRENT,), current_path=CURRENT.path, invitations=UNREVISED)
    assert [one.title for one in read_versions(proven)] == ["On Kites"]
    edited = replace(proven, invitations=(*UNREVISED, "V/-/Edit"))
    assert [(one.grade, one.title) for one in read_versions(edited)] == [(Grade.UNREVISED_LIKELY, None)]


def _saying(says: FileSays, asked: list[datetime | None]) -> SubmissionPdfs:
    def opinion(_: str, deadline: datetime | None) -> Opinion | None:
        asked.append(deadline)
        return says, ("page 1: Published as a conference paper",)

    # LATE would have taken the place of LAST_HOUR.
    return replace(WHOLE, uploads=[one for one in WHOLE.uploads if one is not LATE], opinion=opinion)


def test_a_file_marked_as_final_loses_the_grade_and_is_never_initial() -> None:
    versions = read_versions(_saying(FileSays.FINAL, []))
    assert not any(one.is_initial for one in versions)
    (graded,) = [one for one in versions if one.grade is not None]
    assert (graded.edit_id, graded.grade) == (LAST_HOUR.edit_id, Grade.UNAVAILABLE)
    assert graded.evidence.rule == Naming("(exact); ", "later version", ": page 1: Published as a conference paper")
    assert graded.evidence.file_says is FileSays.FINAL
    assert graded.moment is M.BEFORE_DEADLINE


@pytest.mark.parametrize("says", [FileSays.SUBMITTED, FileSays.NOTHING])
def test_a_file_without_contradiction_keeps_the_grade_and_its_signs_are_stored(says: FileSays) -> None:
    versions = read_versions(_saying(says, []))
    assert [one.grade for one in versions if one.is_initial] == [Grade.EXACT]
    assert {(one.evidence.file_says, one.evidence.file_signs) for one in versions} == {
        (says, ("page 1: Published as a conference paper",))
    }


def test_a_file_is_checked_against_the_time_of_its_rule() -> None:
    asked: list[datetime | None] = []
    read_versions(replace(_saying(FileSays.NOTHING, asked), uploads=(FIRST,)))
    assert set(asked) == {NOON}
    asked.clear()
    read_versions(replace(_saying(FileSays.NOTHING, asked), uploads=(LATE,)))
    assert set(asked) == {BARE.first_review_at}


def test_an_uninspected_file_decides_nothing() -> None:
    assert {one.evidence.file_says for one in read_versions(WHOLE)} == {None}

"""What a user states about a PDF of their own, and what it counts for."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from histories import BARE, FIRST, LATE, NOON, REVIEWED, REVISED
from peercorpus.records.enums import FileSays, Grade, VersionMoment
from peercorpus.versions.find_versions import build_supplied
from peercorpus.versions.uploads import Opinion, SubmissionPdfs
from peercorpus.workspace.harvest_state import StoredFile, Supplied

DAY = timedelta(days=1)
M = VersionMoment
UNPROVEN = replace(BARE, uploads=(REVISED,))
"""A paper of which only a revision of the discussion can be seen."""


def _supplied(label: str = "", when: datetime | None = None) -> StoredFile:
    edit_id, path = Supplied("paper", when, label).names()
    return StoredFile(edit_id, path, "V", "paper", f"{label}{when}", 1, None)


@pytest.mark.parametrize(
    ("submission", "files", "expected"),
    [
        pytest.param(UNPROVEN, [_supplied()], [(None, None)], id="nothing stated"),
        pytest.param(UNPROVEN, [_supplied("initial")], [(Grade.STATED, M.INITIAL)], id="named"),
        pytest.param(UNPROVEN, [_supplied("Camera-Ready")], [(None, M.CAMERA_READY)], id="named as another"),
        pytest.param(UNPROVEN, [_supplied("v1", NOON - DAY)], [(Grade.STATED, M.INITIAL)], id="before the deadline"),
        pytest.param(UNPROVEN, [_supplied("v2", REVIEWED + DAY)], [(None, None)], id="after the first review"),
        pytest.param(
            UNPROVEN,
            [_supplied("v1", NOON - DAY), _supplied("v2", NOON - DAY / 2)],
            [(None, M.BEFORE_DEADLINE), (Grade.STATED, M.INITIAL)],
            id="the later of two",
        ),
        pytest.param(
            UNPROVEN, [_supplied("initial", REVIEWED + DAY)], [(None, None)], id="named, but after the first review"
        ),
        pytest.param(
            replace(UNPROVEN, hidden=(FIRST,)),
            [_supplied("v1", NOON - 3 * DAY)],
            [(None, M.BEFORE_DEADLINE)],
            id="an edit brought another after it",
        ),
        pytest.param(
            replace(BARE, uploads=(FIRST,)),
            [_supplied("initial", NOON - DAY)],
            [(None, M.BEFORE_DEADLINE)],
            id="another is proven",
        ),
        pytest.param(
            replace(UNPROVEN, deadline=None, uploads=()),
            [_supplied("v1", REVIEWED - DAY)],
            [(Grade.STATED, M.INITIAL)],
            id="before the first review, no deadline known",
        ),
        pytest.param(
            replace(BARE, uploads=(LATE,)), [_supplied("initial")], [(Grade.STATED, M.INITIAL)], id="another is seen"
        ),
    ],
)
def test_a_users_statement_counts_where_no_edit_proves_more(
    submission: SubmissionPdfs,
    files: Sequence[StoredFile],
    expected: Sequence[tuple[Grade | None, VersionMoment | None]],
) -> None:
    versions = build_supplied(submission, files)
    assert [(one.grade, one.moment) for one in versions] == expected
    assert [one.is_initial for one in versions] == [grade is Grade.STATED for grade, _ in expected]


def test_a_file_that_says_it_is_final_is_not_the_stated_one() -> None:
    def opinion(_sha256: str, _until: datetime | None) -> Opinion | None:
        return FileSays.FINAL, ("it names a venue",)

    (version,) = build_supplied(replace(UNPROVEN, opinion=opinion), [_supplied("initial")])
    assert (version.grade, version.is_initial, version.evidence.file_says) == (None, False, FileSays.FINAL)

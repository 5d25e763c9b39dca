"""Properties of any history: late files are never called exact, and one version has the grade."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histories import NOON
from peercorpus.records.enums import FileSays, Grade, VersionMoment
from peercorpus.records.papers import PaperVersion
from peercorpus.venues.catalogue import StatedDeadline
from peercorpus.versions.deadlines import GRACE, Deadline
from peercorpus.versions.find_versions import read_versions
from peercorpus.versions.uploads import Opinion, SubmissionEdit, SubmissionPdfs, Upload, fold

pytestmark = pytest.mark.slow

HOURS = st.integers(-60, 60)
PATHS = tuple(f"/pdf/{name}.pdf" for name in "abc")
LINK = "https://elsewhere.example/paper.pdf"
T = TypeVar("T")
TAILS = ("Submission", "Post_Submission", "Full_Submission", "Revision", "Rebuttal_Revision", "Edit", "Unheard_Of")


def at(hours: int) -> datetime:
    return NOON + timedelta(hours=hours)


def seldom(rare: st.SearchStrategy[T], usual: st.SearchStrategy[T]) -> st.SearchStrategy[T]:
    """One thing in one case of five: so that most histories have something to choose."""
    return st.integers(0, 4).flatmap(lambda number: rare if number == 2 else usual)


@st.composite
def changes(draw: st.DrawFn, number: int) -> SubmissionEdit:
    """An edit: public or hidden, posted once or again."""
    made = draw(HOURS)
    again = draw(seldom(st.integers(0, 80), st.just(0)))
    return SubmissionEdit(
        edit_id=f"e{number}",
        created_at=at(made),
        modified_at=at(made + again),
        invitation=f"V/Submission1/-/{draw(st.sampled_from(TAILS))}",
        is_public=draw(seldom(st.just(False), st.just(True))),
        path=draw(seldom(st.sampled_from([None, LINK]), st.sampled_from(PATHS))),
        title=draw(st.one_of(st.none(), st.just(f"Title {number}"))),
        abstract=None,
        deleted_at=draw(seldom(st.integers(0, 80).map(lambda later: at(made + later)), st.none())),
    )


STATED = st.builds(StatedDeadline, st.integers(-20, 20).map(at), st.sampled_from(["a list", "another"]), st.booleans())
NAMES = st.sets(st.sampled_from(TAILS)).map(lambda tails: [f"V/Submission1/-/{tail}" for tail in sorted(tails)])


@st.composite
def submissions(draw: st.DrawFn) -> tuple[SubmissionPdfs, list[SubmissionEdit]]:
    """A submission with any history, as the stage would make it."""
    made = [draw(changes(number)) for number in range(draw(st.integers(0, 3)) + draw(st.integers(0, 3)))]
    public, hidden = fold(made, is_whole=draw(st.booleans()))
    first: dict[str, Upload] = {}
    for one in sorted(public, key=lambda one: (one.settled_at or NOON, one.edit_id)):
        first.setdefault(one.path, one)
    current = draw(st.sampled_from(PATHS))
    if current not in first:
        first[current] = Upload("paper", current, None, None, None, None)
    deadline = draw(seldom(st.none(), st.integers(-20, 20)))
    grace = draw(st.integers(0, 5))
    attachment = draw(seldom(st.sampled_from([*PATHS, "/pdf/other.pdf"]), st.none()))
    says = draw(seldom(st.sampled_from(FileSays), st.none()))
    last = datetime.max.replace(tzinfo=NOON.tzinfo)
    found = SubmissionPdfs(
        forum_id="paper",
        venue_id="V",
        uploads=sorted(first.values(), key=lambda one: (one.created_at or last, one.edit_id)),
        hidden=hidden,
        attachment=Upload("paper/original_pdf", attachment.replace("pdf", "attachment", 1), None, None, None, None)
        if attachment
        else None,
        current_path=current,
        invitations=draw(seldom(NAMES, st.just({one.invitation for one in made}).map(sorted))),
        deadline=None if deadline is None else Deadline(at(deadline + grace), "source", at(deadline)),
        first_review_at=draw(seldom(HOURS.map(at), st.none() | st.integers(20, 60).map(at))),
        sha256={path: path for path in draw(st.sets(st.sampled_from(PATHS), min_size=2))},
        shown=frozenset(one.invitation for one in made if one.is_public),
        is_one_for_months=draw(seldom(st.just(True), st.just(False))),
        is_accepted=draw(st.booleans()),
        decided_at=draw(st.one_of(st.none(), HOURS.map(at))),
        repeats=[one for one in public if one is not first[one.path]],
        was_reopened=draw(st.booleans()),
        is_complete=draw(st.booleans()),
        stated_deadlines=draw(seldom(st.lists(STATED, max_size=3).map(tuple), st.just(()))),
    )

    def opinion(_sha256: str, _until: datetime | None) -> Opinion | None:
        return None if says is None else (says, ())

    return replace(found, opinion=opinion), made


def _written(made: Sequence[SubmissionEdit], version: PaperVersion) -> list[datetime]:
    """When each edit that names a version's file was last written."""
    name = version.path.rpartition("/")[2]
    return [
        max(one.created_at, one.modified_at or one.created_at)
        for one in made
        if one.path is not None and one.created_at is not None and one.path.endswith(name)
    ]


def _standing(made: Sequence[SubmissionEdit], limit: datetime) -> set[str]:
    """Return every file that may have been current at a time; more than one if two edits are simultaneous."""
    in_time = [one for one in made if one.path and one.created_at and one.created_at <= limit]
    standing = [one for one in in_time if one.deleted_at is None or one.deleted_at > limit]
    last = max((one.created_at for one in standing if one.created_at), default=None)
    return {one.path for one in standing if one.path and one.created_at == last}


def _submitted(made: Sequence[SubmissionEdit]) -> set[datetime | None]:
    """Return when files arrived by forms that authors use, or may use, only until the deadline."""
    tails = ("/Submission", "/Full_Submission", "/Revision")
    return {time for one in made if one.invitation.endswith(tails) for time in (one.created_at, one.settled_at)}


def _replaced_by(made: Sequence[SubmissionEdit], limit: datetime, first: datetime | None) -> set[str]:
    """The files that came last between the deadline and the first review; none if they followed reviews."""
    if first is None:
        return set()
    later = [
        (one.created_at, one.path)
        for one in made
        if one.path
        and one.created_at
        and limit < one.created_at < first
        and not one.invitation.endswith("Rebuttal_Revision")
        and (one.deleted_at is None or one.deleted_at > first)
    ]
    return {path for created_at, path in later if created_at == max(later)[0]}


def _may_hold(submission: SubmissionPdfs, made: Sequence[SubmissionEdit], limit: datetime | None) -> bool:
    """Whether a deadline may be that of an exact version: one that is stated, or what a form took after it."""
    deadline, stated = submission.deadline, submission.stated_deadlines
    if deadline is None and len(stated) < 2 and not any(one.is_agreed for one in stated):
        return False
    allowed = {time for one in stated for time in (one.at, one.at + GRACE)} | _submitted(made)
    return limit in allowed | ({deadline.at, deadline.due} if deadline else set())


@settings(max_examples=600, deadline=None)
@given(drawn=submissions())
def test_no_late_file_is_exact_and_one_version_has_the_grade(
    drawn: tuple[SubmissionPdfs, list[SubmissionEdit]],
) -> None:
    submission, made = drawn
    versions = read_versions(submission)
    (graded,) = [one for one in versions if one.grade is not None]
    initial = [one for one in versions if one.is_initial]
    assert initial in ([], [graded])
    deadline, first = submission.deadline, submission.first_review_at
    if graded.grade is Grade.EXACT:
        limit = graded.evidence.deadline
        assert limit is not None
        assert _may_hold(submission, made, limit)
        assert _replaced_by(made, limit, first) <= {graded.path}
        assert graded.modified_at is not None
        assert graded.modified_at <= limit
        public = [one for one in made if one.is_public and one.can_be_had]
        written = min(_written(public, graded))
        assert written <= limit
        assert _standing(made, limit) == {graded.path}
        due = deadline.due if deadline and not submission.stated_deadlines else None
        if due is not None and written > due:
            assert "uploaded late" in graded.evidence.rule
        elif not submission.stated_deadlines and "uploaded late" in graded.evidence.rule:
            assert "put back" in graded.evidence.rule
    if graded.grade is Grade.ONLY_BEFORE_REVIEW:
        assert submission.is_complete
        assert first is not None
        early = [one for one in made if one.path and one.created_at and one.created_at < first]
        assert {one.path for one in early} == {graded.path}
        assert all(one.settled_at is not None and one.settled_at < first for one in early)
    if initial and first is not None and _written(made, graded):
        assert min(_written(made, graded)) < first
    for row in versions:
        assert row.path.startswith(("/pdf/", "/attachment/"))
        if row.moment is VersionMoment.BEFORE_DEADLINE:
            assert row.evidence.deadline is not None
            assert row.created_at is not None
            assert row.created_at <= row.evidence.deadline


@settings(max_examples=200, deadline=None)
@given(drawn=submissions())
def test_a_final_or_missing_file_is_never_published(
    drawn: tuple[SubmissionPdfs, list[SubmissionEdit]],
) -> None:
    for one in read_versions(drawn[0]):
        if one.is_initial and (one.sha256 is None or one.evidence.file_says is FileSays.FINAL):
            assert one.grade is Grade.UNAVAILABLE
        if one.evidence.file_says is FileSays.FINAL:
            assert not one.is_initial

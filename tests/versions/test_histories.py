"""Every rule and special case at the simulated OpenReview: the choice, compared with the true submission."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histories import NOON
from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import no_report
from peercorpus.openreview.objects import EVERYONE
from peercorpus.openreview.raw_rows import RawOrigin, build_edit, build_note, build_setting
from peercorpus.pipeline.build import STAGES
from peercorpus.pipeline.plan_build import expected_key
from peercorpus.records.enums import PUBLISHABLE_GRADES, FileSays, Grade, VersionMoment
from peercorpus.records.papers import PaperVersion
from peercorpus.simulator.server import changes
from peercorpus.simulator.world.holdings import Json, World
from peercorpus.simulator.world.venues import AURORA, BOREALIS, CASCADIA, DALES, DAY_MS, JLE, VENUES, Venue
from peercorpus.simulator.world.world import build_world
from peercorpus.venues.catalogue import StatedDeadline
from peercorpus.versions.deadlines import GRACE, Deadline
from peercorpus.versions.find_versions import NAME, read_versions
from peercorpus.versions.uploads import Opinion, SubmissionEdit, SubmissionPdfs, Upload, fold
from peercorpus.workspace.harvest_state import StoredFile
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import open_workspace

ORIGIN = RawOrigin("simulator", 0)
PAPERS = 150
Versions = dict[str, list[PaperVersion]]


@pytest.fixture(scope="module")
def world() -> World:
    """A simulated OpenReview; tests must change only copies."""
    return build_world(papers=PAPERS)


def _pdf(found: Json) -> str | None:
    inside = found.get("note", found)
    content = inside.get("content") if isinstance(inside, dict) else None
    answer = content.get("pdf") if isinstance(content, dict) else None
    path = answer.get("value") if isinstance(answer, dict) else answer
    return path if isinstance(path, str) else None


def _subject(edit: Json) -> str:
    note = edit.get("note")
    return str(note["id"] if isinstance(note, dict) else edit["referent"])


def _shown(found: Json, *, insider: bool) -> bool:
    readers = found.get("readers")
    return insider or (isinstance(readers, list) and EVERYONE in readers)


def _received(world: World, *, insider: bool) -> Iterator[RawObject]:
    for holdings in (world.v1, world.v2):
        for note in holdings.notes.values():
            if _shown(note, insider=False):
                yield build_note(json.dumps(note).encode(), ORIGIN)
        for edit in holdings.edits.values():
            if _shown(edit, insider=insider):
                yield (build_edit if "note" in edit else build_note)(json.dumps(edit).encode(), ORIGIN)
        for invitation in holdings.invitations.values():
            if _shown(invitation, insider=False):
                yield build_setting(RawKind.INVITATION, json.dumps(invitation).encode(), ORIGIN)


def _versions(folder: Path, world: World, *, insider: bool = False) -> Versions:
    """The versions of every paper, by forum; every path has a file."""
    found: Versions = {}
    with open_workspace(folder, create=True) as workspace:
        with workspace.raw.transaction():
            workspace.raw.add(_received(world, insider=insider))
            workspace.raw.place()
        for venue_id in workspace.raw.venues():
            for path in (*world.v1.files, *world.v2.files):
                sha256 = hashlib.sha256(path.encode()).hexdigest()
                workspace.raw.state.add_file(StoredFile(venue_id, path, venue_id, "", sha256, 1, None))
            for stage in STAGES:
                if stage.name in {"normalise", NAME}:
                    key = expected_key(workspace, stage, venue_id, BuildRequest())
                    stage.run(workspace, venue_id, BuildRequest(), key, no_report)
            for version in workspace.tables.read(PaperVersion, venue_id):
                found.setdefault(version.forum_id, []).append(version)
    return found


def _submitted(world: World, venue: Venue) -> dict[str, str]:
    """The path of what was submitted, by forum: the latest upload on or before the deadline, hidden ones too."""
    holdings, found = (world.v1 if venue.api == 1 else world.v2), {}
    for edit in sorted(holdings.edits.values(), key=lambda one: int(str(one["tcdate"]))):
        path, is_of_paper = _pdf(edit), str(edit["invitation"]).startswith(venue.venue_id)
        is_first = venue.rolling and _subject(edit) not in found
        if (
            path
            and is_of_paper
            and (is_first or (not venue.rolling and int(str(edit["tcdate"])) <= venue.calendar.deadline))
        ):
            found[_subject(edit)] = path
    return found


@pytest.fixture(scope="module")
def harvested(world: World, tmp_path_factory: pytest.TempPathFactory) -> Versions:
    return _versions(tmp_path_factory.mktemp("simulated") / "corpus", world)


def _name(path: str) -> str:
    return path.rpartition("/")[2]


@pytest.mark.parametrize("venue", VENUES, ids=lambda venue: venue.short)
def test_the_version_called_initial_is_the_one_submitted(world: World, harvested: Versions, venue: Venue) -> None:
    submitted = _submitted(world, venue)
    assert abs(len(submitted) - PAPERS // len(VENUES)) <= 1
    for forum_id, path in submitted.items():
        versions = harvested[forum_id]
        (graded,) = [one for one in versions if one.grade is not None]
        for one in versions:
            if one.is_initial or one.moment is VersionMoment.INITIAL:
                assert _name(one.path) == _name(path)
        assert graded.is_initial == (graded.grade is not Grade.UNAVAILABLE)
        assert graded.evidence.file_says is None


@pytest.mark.parametrize(
    ("venue", "expected"),
    [
        (AURORA, {Grade.EXACT}),
        (BOREALIS, {Grade.UNREVISED, Grade.UNREVISED_LIKELY, Grade.UNAVAILABLE}),
        (CASCADIA, {Grade.EXACT, Grade.UNREVISED, Grade.UNREVISED_LIKELY, Grade.UNAVAILABLE}),
        (DALES, {Grade.EXACT, Grade.UNREVISED, Grade.UNREVISED_LIKELY, Grade.UNAVAILABLE}),
        (JLE, {Grade.ONLY_BEFORE_REVIEW, Grade.UNREVISED_LIKELY}),
    ],
    ids=lambda one: one.short if isinstance(one, Venue) else "",
)
def test_each_venue_reaches_its_grades(world: World, harvested: Versions, venue: Venue, expected: set[Grade]) -> None:
    grades = Counter(one.grade for forum in _submitted(world, venue) for one in harvested[forum] if one.grade)
    assert set(grades) == expected


def _exact(world: World, harvested: Versions, venue: Venue) -> str:
    """A paper whose submitted version is exact, and the only one of its time."""
    submitted = _submitted(world, venue)
    forums = [forum for forum in submitted if any(one.grade is Grade.EXACT for one in harvested[forum])]
    return next(
        forum
        for forum in forums
        if not any(
            one.moment is VersionMoment.BEFORE_DEADLINE or "original_pdf" in one.edit_id for one in harvested[forum]
        )
        and (venue.api == 2 or "original_pdf" not in json.dumps(world.v1.notes[forum]))
    )


def _change(world: World, forum_id: str, venue: Venue, wanted: Callable[[Json], bool], **new: object) -> None:
    holdings = world.v1 if venue.api == 1 else world.v2
    for edit_id, edit in list(holdings.edits.items()):
        if _subject(edit) == forum_id and _pdf(edit) and wanted(edit):
            holdings.edits[edit_id] = edit | new


def _graded(folder: Path, world: World, forum_id: str, *, insider: bool = False) -> PaperVersion:
    versions = _versions(folder / "corpus", world, insider=insider)[forum_id]
    (graded,) = [one for one in versions if one.grade is not None]
    return graded


def _in_time(venue: Venue) -> Callable[[Json], bool]:
    return lambda edit: int(str(edit["tcdate"])) <= venue.calendar.deadline


@pytest.mark.slow
@pytest.mark.parametrize("venue", [AURORA, CASCADIA], ids=lambda venue: venue.short)
def test_trap_an_edit_posted_again_later(world: World, harvested: Versions, tmp_path: Path, venue: Venue) -> None:
    changed, forum_id = world.copy(), _exact(world, harvested, venue)
    _change(changed, forum_id, venue, _in_time(venue), tmdate=venue.calendar.decision)
    graded = _graded(tmp_path, changed, forum_id)
    assert graded.grade not in {Grade.EXACT, Grade.BEFORE_FIRST_REVIEW}


@pytest.mark.slow
def test_trap_chairs_overwrite_every_reference(world: World, harvested: Versions, tmp_path: Path) -> None:
    changed, forum_id = world.copy(), _exact(world, harvested, AURORA)
    final = changes.replace_pdf(changed, forum_id, AURORA.calendar.camera_ready)
    after = AURORA.calendar.camera_ready + DAY_MS
    for edit_id, edit in list(changed.v1.edits.items()):
        content = edit["content"]
        if _subject(edit) == forum_id and _pdf(edit) and isinstance(content, dict):
            changed.v1.edits[edit_id] = edit | {"content": content | {"pdf": final}, "tmdate": after}
    graded = _graded(tmp_path, changed, forum_id)
    assert (graded.grade, graded.is_initial) == (Grade.UNAVAILABLE, False)
    # Even where the overwriting left no trace in the times, it is not exact.
    for edit_id, edit in list(changed.v1.edits.items()):
        if _subject(edit) == forum_id:
            changed.v1.edits[edit_id] = edit | {"tmdate": edit["tcdate"]}
    graded = _graded(tmp_path / "untraced", changed, forum_id)
    assert graded.grade is Grade.UNREVISED_LIKELY
    assert graded.grade not in PUBLISHABLE_GRADES


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
def edits(draw: st.DrawFn, number: int) -> SubmissionEdit:
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
    made = [draw(edits(number)) for number in range(draw(st.integers(0, 3)) + draw(st.integers(0, 3)))]
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


def times_submitted(made: Sequence[SubmissionEdit]) -> set[datetime | None]:
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
    allowed = {time for one in stated for time in (one.at, one.at + GRACE)} | times_submitted(made)
    return limit in allowed | ({deadline.at, deadline.due} if deadline else set())


@pytest.mark.slow
@settings(max_examples=600, deadline=None)
@given(drawn=submissions())
def test_no_late_file_is_exact(drawn: tuple[SubmissionPdfs, list[SubmissionEdit]]) -> None:
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


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(drawn=submissions())
def test_no_final_file_is_published(drawn: tuple[SubmissionPdfs, list[SubmissionEdit]]) -> None:
    for one in read_versions(drawn[0]):
        if one.is_initial and (one.sha256 is None or one.evidence.file_says is FileSays.FINAL):
            assert one.grade is Grade.UNAVAILABLE
        if one.evidence.file_says is FileSays.FINAL:
            assert not one.is_initial

"""Every rule and special case at the simulated OpenReview: the choice, compared with the true submission."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import no_report
from peercorpus.openreview.objects import EVERYONE
from peercorpus.openreview.raw_rows import RawOrigin, build_edit, build_note, build_setting
from peercorpus.pipeline.build import STAGES
from peercorpus.pipeline.plan_build import expected_key
from peercorpus.records.enums import PUBLISHABLE_GRADES, Grade, VersionMoment
from peercorpus.records.papers import PaperVersion
from peercorpus.simulator.server import changes
from peercorpus.simulator.world.holdings import Json, World
from peercorpus.simulator.world.venues import AURORA, BOREALIS, CASCADIA, DALES, DAY_MS, JLE, VENUES, Venue
from peercorpus.simulator.world.world import build_world
from peercorpus.versions.find_versions import NAME
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


def test_the_versions_of_a_conference_have_their_stages(world: World, harvested: Versions) -> None:
    moments = Counter(one.moment for forum in _submitted(world, AURORA) for one in harvested[forum])
    assert set(moments) == {
        VersionMoment.INITIAL,
        VersionMoment.BEFORE_DEADLINE,
        VersionMoment.DISCUSSION,
        VersionMoment.CAMERA_READY,
    }


def test_every_version_of_api_1_has_its_own_title_and_abstract(world: World, harvested: Versions) -> None:
    versions = [one for forum in _submitted(world, AURORA) for one in harvested[forum] if one.path.startswith("/pdf/")]
    assert all(one.title and one.abstract for one in versions)


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
def test_trap_an_edit_posted_again_after_the_deadline(
    world: World, harvested: Versions, tmp_path: Path, venue: Venue
) -> None:
    changed, forum_id = world.copy(), _exact(world, harvested, venue)
    _change(changed, forum_id, venue, _in_time(venue), tmdate=venue.calendar.decision)
    graded = _graded(tmp_path, changed, forum_id)
    assert graded.grade not in {Grade.EXACT, Grade.BEFORE_FIRST_REVIEW}


@pytest.mark.slow
def test_trap_chairs_overwrite_every_reference_with_the_final_version(
    world: World, harvested: Versions, tmp_path: Path
) -> None:
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


@pytest.mark.slow
def test_trap_a_revision_during_the_discussion_replaces_no_version(
    world: World, harvested: Versions, tmp_path: Path
) -> None:
    changed, forum_id = world.copy(), _exact(world, harvested, CASCADIA)
    changes.replace_pdf(changed, forum_id, CASCADIA.calendar.deadline + DAY_MS, stage="Rebuttal_Revision")
    graded = _graded(tmp_path, changed, forum_id)
    assert (graded.path, graded.grade) == (_submitted(world, CASCADIA)[forum_id], Grade.EXACT)


@pytest.mark.slow
def test_trap_on_api_1_no_form_is_named_so_a_late_upload_before_the_reviews_takes_the_grade(
    world: World, harvested: Versions, tmp_path: Path
) -> None:
    changed, forum_id = world.copy(), _exact(world, harvested, AURORA)
    path = changes.replace_pdf(changed, forum_id, AURORA.calendar.deadline + DAY_MS)
    graded = _graded(tmp_path, changed, forum_id)
    assert (graded.path, graded.grade) == (path, Grade.BEFORE_FIRST_REVIEW)


@pytest.mark.slow
def test_trap_a_later_upload_before_the_deadline_that_only_chairs_see(
    world: World, harvested: Versions, tmp_path: Path
) -> None:
    changed, forum_id = world.copy(), _exact(world, harvested, CASCADIA)
    (public,) = [one for one in harvested[forum_id] if one.is_initial]
    assert public.created_at is not None
    at_ms = (int(public.created_at.timestamp() * 1000) + CASCADIA.calendar.deadline) // 2
    changes.replace_pdf(changed, forum_id, at_ms, stage="Full_Submission", public=False)
    # A guest sees only that such an edit was made; whoever may read it sees the edit, which is not published.
    for insider in (False, True):
        graded = _graded(tmp_path / str(insider), changed, forum_id, insider=insider)
        assert not (graded.is_initial and graded.path == public.path)
        assert graded.grade is not Grade.EXACT


@pytest.mark.slow
def test_trap_chairs_upload_a_pdf_at_the_decision(world: World, harvested: Versions, tmp_path: Path) -> None:
    forum_id = next(
        forum for forum in _submitted(world, BOREALIS) if any(one.grade is Grade.UNREVISED for one in harvested[forum])
    )
    for stage, public in (("Edit", True), ("PC_Revision", False), ("Edit", False)):
        changed = world.copy()
        path = changes.replace_pdf(changed, forum_id, BOREALIS.calendar.decision, stage=stage, public=public)
        graded = _graded(tmp_path / f"{stage}-{public}", changed, forum_id)
        assert graded.grade not in PUBLISHABLE_GRADES
        assert graded.path == path


def test_trap_the_full_paper_of_an_abstracts_first_venue_is_hidden(world: World, harvested: Versions) -> None:
    for forum_id in _submitted(world, BOREALIS):
        assert not any(one.grade is Grade.EXACT for one in harvested[forum_id])


@pytest.mark.slow
def test_an_extension_of_one_paper_is_exact_and_flagged(world: World, harvested: Versions, tmp_path: Path) -> None:
    changed, forum_id = world.copy(), _exact(world, harvested, CASCADIA)
    late, place = CASCADIA.calendar.deadline + DAY_MS // 4, CASCADIA.calendar.deadline
    path = changes.replace_pdf(changed, forum_id, late, stage="Full_Submission")
    (name,) = [
        str(edit["invitation"])
        for edit in changed.v2.edits.values()
        if _pdf(edit) == path and _subject(edit) == forum_id
    ]
    own: Json = {"id": name, "domain": CASCADIA.venue_id, "readers": [EVERYONE], "duedate": place}
    changed.v2.invitations[name] = own | {"expdate": place + DAY_MS}
    graded = _graded(tmp_path, changed, forum_id)
    assert (graded.path, graded.grade) == (path, Grade.EXACT)
    assert "uploaded late" in graded.evidence.rule
    assert graded.evidence.deadline_source == f"{name} (expdate)"

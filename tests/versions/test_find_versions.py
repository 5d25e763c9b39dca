"""What is proven where no deadline is known: a complete history in which one PDF alone came before any review."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

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
    REVIEWED,
    REVISED,
    UNREVISED,
    upload,
)
from in_this_process import build_here
from naming import Naming
from peercorpus.records.enums import PUBLISHABLE_GRADES, FileSays, Grade, VersionMoment
from peercorpus.records.papers import PaperVersion
from peercorpus.venues.catalogue import StatedDeadline
from peercorpus.versions.find_versions import build_supplied, read_versions
from peercorpus.versions.initial_version import choose_initial_version
from peercorpus.versions.uploads import Opinion, SubmissionPdfs
from peercorpus.workspace.harvest_state import StoredFile, Supplied
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import open_workspace

DAY = timedelta(days=1)
DAY_MS = 86_400_000
MADE = 1_538_000_000_000
"""When the authors submitted; the tests count days from it."""

REVIEWED_DAY = 30
CONFERENCE, JOURNAL = "Invented.cc/2019/Conference", "IJR"
Json = dict[str, Any]


def _ms(day: float) -> int:
    return MADE + int(day * DAY_MS)


def _reference(name: str, day: float, pdf: str | None, **more: Any) -> Json:
    return {
        "id": name,
        "referent": "paper",
        "forum": "paper",
        "invitation": f"{CONFERENCE}/-/Blind_Submission",
        "readers": ["everyone"],
        "tcdate": _ms(day),
        "tmdate": _ms(day),
        "content": {"pdf": f"/pdf/{pdf}.pdf"} if pdf else {"title": "On Kites"},
    } | more


def _edit(tail: str, day: float, pdf: str | None, **more: Any) -> Json:
    content = {"pdf": {"value": f"/pdf/{pdf}.pdf"}} if pdf else {"title": {"value": "On Kites"}}
    return {
        "id": f"edit-{tail.rpartition('/')[2]}-{day}",
        "invitation": f"{JOURNAL}/{tail}",
        "readers": ["everyone"],
        "tcdate": _ms(day),
        "tmdate": _ms(day),
        "note": {"id": "paper", "forum": "paper", "content": content},
    } | more


def _built(
    folder: Path,
    venue_id: str,
    kind: RawKind,
    root: Json,
    edits: Sequence[Json],
    *,
    reviewed_ms: int,
    deleted_ms: int | None = None,
) -> list[PaperVersion]:
    api = 1 if kind is RawKind.REFERENCE else 2
    prefix = f"{venue_id}/Paper1/-"
    review: Json = {"id": "review", "forum": "paper", "replyto": "paper", "readers": ["everyone"]}
    review |= {"signatures": [f"{venue_id}/Paper1/AnonReviewer1"], "tcdate": reviewed_ms, "tmdate": reviewed_ms}
    review |= {"invitation": f"{prefix}/Official_Review"} if api == 1 else {"invitations": [f"{prefix}/Review"]}
    review["content"] = {"review": "It flies."} if api == 1 else {"review": {"value": "It flies."}}
    rows = [(RawKind.NOTE, root), *((kind, edit) for edit in edits), (RawKind.NOTE, review)]
    if deleted_ms:
        rows.append((RawKind.NOTE, review | {"id": "deleted", "tcdate": deleted_ms, "ddate": deleted_ms + DAY_MS}))
    with open_workspace(folder, create=True) as workspace:
        for row_kind, found in rows:
            subject_id = "paper" if row_kind is kind else str(found["id"])
            body = json.dumps(found).encode()
            workspace.raw.add(
                [RawObject(row_kind, str(found["id"]), api, venue_id, "paper", subject_id, 0, 0, "t", body)]
            )
        for letter in "abcn":
            path = f"/pdf/{letter}.pdf"
            workspace.raw.state.add_file(StoredFile(letter, path, venue_id, "paper", letter * 64, 1, None))
        build_here(workspace)
        return list(workspace.tables.read(PaperVersion, venue_id))


def _conference(
    folder: Path, references: Sequence[Json], *, deleted_ms: int | None = None, **more: Any
) -> PaperVersion:
    root: Json = {"id": "paper", "forum": "paper", "original": "own", "readers": ["everyone"], "tcdate": _ms(0.5)}
    root |= {"invitation": f"{CONFERENCE}/-/Blind_Submission", "content": {"title": "On Kites", "pdf": "/pdf/n.pdf"}}
    versions = _built(
        folder,
        CONFERENCE,
        RawKind.REFERENCE,
        root | more,
        references,
        reviewed_ms=_ms(REVIEWED_DAY),
        deleted_ms=deleted_ms,
    )
    (graded,) = [one for one in versions if one.grade is not None]
    return graded


A, NOW = _reference("a", 0, "a"), _reference("n", 150, "n")
ONLY, SEEN, NONE = Grade.ONLY_BEFORE_REVIEW, Grade.BEFORE_FIRST_REVIEW, Grade.UNAVAILABLE


@pytest.mark.parametrize(
    ("references", "more", "edit_id", "grade"),
    [
        pytest.param([A, NOW], {}, "a", ONLY, id="one file before any review, all references known"),
        pytest.param([A, _reference("b", 45, "b"), NOW], {}, "a", ONLY, id="and others in the discussion"),
        pytest.param([A, _reference("c", 3, None), NOW], {}, "a", ONLY, id="and a change of the title"),
        pytest.param(
            [_reference("c", 0, None), _reference("a", 3, "a"), NOW], {}, "a", ONLY, id="the abstract came first"
        ),
        pytest.param([A, _reference("again", 20, "a"), NOW], {}, "a", ONLY, id="the same file sent again"),
        pytest.param([A, _reference("b", 20, "b"), NOW], {}, "b", SEEN, id="two files before any review"),
        pytest.param(
            [A, _reference("b", 45, "b")], {}, "a", ONLY, id="that of the current PDF alone is missing, after another"
        ),
        pytest.param([A, _reference("b", 20, "b")], {}, "b", SEEN, id="that of the current PDF is missing, after two"),
        pytest.param([A], {}, "a", SEEN, id="the reference of the current PDF is missing"),
        pytest.param([_reference("a", 2, "a"), NOW], {}, "a", SEEN, id="the reference that made the note is missing"),
        pytest.param([A, NOW], {"tcdate": None}, "a", SEEN, id="nobody knows when the note was made"),
        pytest.param([A | {"tmdate": _ms(40)}, NOW], {}, None, NONE, id="written again after the reviews"),
        pytest.param(
            [A, _reference("b", 20, "a", tmdate=_ms(40)), NOW],
            {},
            "a",
            SEEN,
            id="may have named another file until then",
        ),
        pytest.param([A, _reference("b", 20, "b", ddate=_ms(21)), NOW], {}, "a", SEEN, id="another was deleted"),
        pytest.param([A, _reference("b", 20, "b", readers=["x"]), NOW], {}, None, NONE, id="another is hidden"),
        pytest.param([A, _reference("b", 20, "b", content=5), NOW], {}, "a", SEEN, id="another cannot be read"),
        pytest.param([A, _reference("b", 20, "b", tcdate=None), NOW], {}, None, NONE, id="another has no date"),
        pytest.param(
            [A, *(_reference(f"r{day}", day, "a") for day in (80, 90))],
            {"content": {"title": "On Kites", "pdf": "/pdf/a.pdf"}},
            "a",
            SEEN,
            id="chairs may have overwritten it",
        ),
        pytest.param(
            [_reference("c", 0.5, None), _reference("a", 20, "a"), NOW],
            {},
            "a",
            SEEN,
            id="they begin with the blind note",
        ),
        pytest.param([NOW], {}, None, NONE, id="the blind note's own references alone"),
        pytest.param([], {}, None, NONE, id="references were never fetched"),
    ],
)
def test_on_api_1_references_prove_the_initial_version(
    tmp_path: Path, references: list[Json], more: Mapping[str, Any], edit_id: str | None, grade: Grade
) -> None:
    graded = _conference(tmp_path / "w", references, **more)
    assert (graded.edit_id if graded.is_initial else None, graded.grade) == (edit_id, grade)


def test_a_deleted_review_is_not_the_first(tmp_path: Path) -> None:
    graded = _conference(tmp_path / "w", [A, _reference("b", 20, "b"), NOW], deleted_ms=_ms(10))
    assert (graded.is_initial, graded.edit_id, graded.grade) == (True, "b", SEEN)


FORM, POSTED, AS_CHAIRS = (
    _edit("-/Submission", 0, "a"),
    _edit("Paper1/-/Under_Review", 3, None),
    _edit("-/Edit", 0, "a"),
)
REVISION = _edit("Paper1/-/Revision", 60, "n")
NAMED = ("-/Submission", "Paper1/-/Under_Review", "Paper1/-/Revision")


@pytest.mark.parametrize(
    ("edits", "named", "edit_id", "grade"),
    [
        pytest.param([FORM, POSTED, REVISION], NAMED, FORM["id"], ONLY, id="every invitation has its edit"),
        pytest.param([FORM, REVISION], NAMED, FORM["id"], ONLY, id="what posts the paper brings no PDF"),
        pytest.param(
            [AS_CHAIRS | {"tmdate": _ms(3)}, POSTED, REVISION],
            (*NAMED, "-/Edit"),
            AS_CHAIRS["id"],
            ONLY,
            id="the journal wrote the first edit anew at its release",
        ),
        pytest.param([FORM, REVISION], (*NAMED, "-/Edit"), FORM["id"], SEEN, id="the chairs' edit is not shown"),
        pytest.param(
            [FORM, REVISION], (*NAMED, "Paper1/-/Camera_Ready"), FORM["id"], SEEN, id="nor one of an unknown kind"
        ),
        pytest.param([FORM], NAMED, None, NONE, id="the revision is not shown, and may have come before"),
        pytest.param(
            [FORM, _edit("Paper1/-/Revision", 9, "b"), REVISION],
            NAMED,
            "edit-Revision-9",
            SEEN,
            id="two files before any review",
        ),
        pytest.param(
            [_edit("Paper1/-/Revision", 9, "b"), REVISION],
            NAMED,
            "edit-Revision-9",
            SEEN,
            id="the first edit is not shown",
        ),
    ],
)
def test_at_a_journal_edits_prove_the_initial_version(
    tmp_path: Path, edits: list[Json], named: Sequence[str], edit_id: str | None, grade: Grade
) -> None:
    root: Json = {"id": "paper", "forum": "paper", "readers": ["everyone"], "tcdate": _ms(0), "domain": JOURNAL}
    root |= {"invitations": [f"{JOURNAL}/{name}" for name in named]}
    root |= {"content": {"title": {"value": "On Kites"}, "pdf": {"value": "/pdf/n.pdf"}}}
    versions = _built(tmp_path / "w", JOURNAL, RawKind.EDIT, root, edits, reviewed_ms=_ms(REVIEWED_DAY))
    (graded,) = [one for one in versions if one.grade is not None]
    assert (graded.edit_id if graded.is_initial else None, graded.grade) == (edit_id, grade)


ICLR_2024 = "ICLR.cc/2024/Conference"
DUE = 1_695_988_800_000
"""29 September 2023, 12:00 UTC: the end of the 28th anywhere on earth, as the catalogue has it."""

HOUR_MS = 3_600_000


@pytest.mark.parametrize(
    ("extra", "path", "grade"),
    [
        pytest.param((), "/pdf/a.pdf", Grade.EXACT, id="nothing came after the deadline"),
        pytest.param((("Revision", 2, "b"),), "/pdf/b.pdf", Grade.EXACT, id="the full-paper form took another"),
        pytest.param((("Revision", 2, "b"), ("Edit", 50, "c")), "/pdf/c.pdf", SEEN, id="and chairs replaced it"),
        pytest.param((("Edit", 50, "c"),), "/pdf/c.pdf", SEEN, id="chairs replaced it"),
        pytest.param((("Revision", 24 * 40, "b"),), "/pdf/a.pdf", Grade.EXACT, id="the form was used after reviews"),
        pytest.param((("Rebuttal_Revision", 24 * 40, "b"),), "/pdf/a.pdf", Grade.EXACT, id="in the discussion"),
    ],
)
def test_files_may_be_replaced(tmp_path: Path, extra: Sequence[tuple[str, int, str]], path: str, grade: Grade) -> None:
    own = f"{ICLR_2024}/Submission1/-"
    uploads = [("Revision", -1, "a"), *extra]
    edits = []
    for tail, hours, letter in uploads:
        at = DUE + hours * HOUR_MS
        name = f"{ICLR_2024}/-/Edit" if tail == "Edit" else f"{own}/{tail}"
        edits.append(_edit("", 0, letter) | {"id": f"e{hours}", "invitation": name, "tcdate": at, "tmdate": at})
    named = [f"{ICLR_2024}/-/Submission", f"{ICLR_2024}/-/Post_Submission", *(str(one["invitation"]) for one in edits)]
    content = {"title": {"value": "On Kites"}, "pdf": {"value": f"/pdf/{uploads[-1][2]}.pdf"}}
    root: Json = {"id": "paper", "forum": "paper", "readers": ["everyone"], "tcdate": DUE - 200 * HOUR_MS}
    root |= {"domain": ICLR_2024, "invitations": named, "content": content}
    reviewed_ms = DUE + 24 * REVIEWED_DAY * HOUR_MS
    versions = _built(tmp_path / "w", ICLR_2024, RawKind.EDIT, root, edits, reviewed_ms=reviewed_ms)
    (graded,) = [one for one in versions if one.grade is not None]
    assert (graded.path, graded.grade, graded.is_initial) == (path, grade, True)


WHOLE = replace(BARE, deadline=None, is_complete=True, uploads=(FIRST, REVISED))


def test_the_file_is_checked_with_its_title() -> None:
    (graded,) = [one for one in read_versions(WHOLE) if one.grade is not None]
    assert (graded.edit_id, graded.grade, graded.evidence.deadline) == (FIRST.edit_id, ONLY, None)
    assert choose_initial_version(WHOLE).until == BARE.first_review_at


def test_a_late_file_alone_is_chosen() -> None:
    late = upload("late", NOON + 3 * DAY, invitation="V/-/Edit")
    assert choose_initial_version(replace(BARE, uploads=(late,), is_complete=True)).grade is ONLY
    revision = replace(late, invitation="V/Submission1/-/Rebuttal_Revision")
    assert choose_initial_version(replace(BARE, uploads=(revision,), is_complete=True)).grade is SEEN


def test_published_grades_rank_first() -> None:
    assert list(Grade)[: len(PUBLISHABLE_GRADES)] == list(PUBLISHABLE_GRADES)
    assert ONLY in PUBLISHABLE_GRADES


def _stated(*days: float, is_agreed: bool = False) -> tuple[StatedDeadline, ...]:
    return tuple(StatedDeadline(NOON + day * DAY, f"list {day}", is_agreed) for day in days)


@pytest.mark.parametrize(
    ("stated", "uploads", "chosen", "number"),
    [
        pytest.param(_stated(0, 1), (FIRST, LAST_HOUR), LAST_HOUR, 2, id="two hints, one version"),
        pytest.param(_stated(0, 1, 2), (LAST_HOUR, REVISED), LAST_HOUR, 3, id="three hints"),
        pytest.param(_stated(-1, 1), (FIRST, LAST_HOUR), None, 0, id="an upload between two"),
        pytest.param(_stated(0), (FIRST, LAST_HOUR), None, 0, id="one hint alone"),
        pytest.param(_stated(0, is_agreed=True), (FIRST, LAST_HOUR), LAST_HOUR, 0, id="one that two lists state"),
        pytest.param(_stated(0, 300), (FIRST, LAST_HOUR), None, 0, id="one is after the first review: one is left"),
        pytest.param(_stated(-365, 0), (FIRST, LAST_HOUR), None, 0, id="a year mistyped"),
        pytest.param(_stated(0, 1), (LAST_HOUR, LATE), None, 0, id="replaced after all of them"),
        pytest.param(
            (*_stated(0), *_stated(1, is_agreed=True)), (LAST_HOUR,), LAST_HOUR, 2, id="a hint, and an agreed one"
        ),
        pytest.param(
            (*_stated(0), *_stated(40, is_agreed=True)),
            (LAST_HOUR,),
            None,
            0,
            id="the agreed one is after the first review: a hint alone is left",
        ),
        pytest.param(
            (*_stated(0, 1), *_stated(40, is_agreed=True)),
            (LAST_HOUR,),
            LAST_HOUR,
            2,
            id="the agreed one is after the first review: two hints are left",
        ),
        pytest.param(
            (*_stated(-3), *_stated(40, is_agreed=True)),
            (LAST_HOUR,),
            None,
            0,
            id="and the hint is before the only PDF",
        ),
        pytest.param((), (FIRST, LAST_HOUR), None, 0, id="none"),
    ],
)
def test_equal_choices_need_no_deadline(
    stated: tuple[StatedDeadline, ...], uploads: tuple[Any, ...], chosen: object, number: int
) -> None:
    submission = replace(BARE, deadline=None, stated_deadlines=stated, uploads=uploads)
    found = choose_initial_version(submission)
    assert (found.grade is Grade.EXACT) == (chosen is not None)
    if chosen is None:
        assert found.grade is SEEN
    else:
        assert found.upload is chosen
        assert (f"each of {number} deadlines" in found.rule) == (number > 0)


def test_agreeing_deadlines_are_counted() -> None:
    submission = replace(BARE, uploads=(FIRST, LAST_HOUR), stated_deadlines=_stated(0, 3))
    (graded,) = [one for one in read_versions(submission) if one.grade is not None]
    assert "each of 2 deadlines" in graded.evidence.rule
    between = replace(submission, stated_deadlines=_stated(-1, 0))
    found = choose_initial_version(between)
    assert (found.upload, found.grade) == (LAST_HOUR, Grade.EXACT)
    assert "deadlines" not in found.rule


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
def test_a_users_statement_counts_last(
    submission: SubmissionPdfs,
    files: Sequence[StoredFile],
    expected: Sequence[tuple[Grade | None, VersionMoment | None]],
) -> None:
    versions = build_supplied(submission, files)
    assert [(one.grade, one.moment) for one in versions] == expected
    assert [one.is_initial for one in versions] == [grade is Grade.STATED for grade, _ in expected]


def test_a_final_file_is_not_the_stated_one() -> None:
    def opinion(_sha256: str, _until: datetime | None) -> Opinion | None:
        return FileSays.FINAL, ("it names a venue",)

    (version,) = build_supplied(replace(UNPROVEN, opinion=opinion), [_supplied("initial")])
    assert (version.grade, version.is_initial, version.evidence.file_says) == (None, False, FileSays.FINAL)


AT_CONFERENCE = replace(
    BARE,
    uploads=(FIRST, LAST_HOUR, LATE, REVISED, CAMERA_READY, CURRENT),
    current_path=CURRENT.path,
    decided_at=DECIDED,
    is_accepted=True,
)


def moments(submission: SubmissionPdfs) -> list[VersionMoment | None]:
    return [one.moment for one in read_versions(submission)]


@pytest.mark.parametrize(
    ("submission", "expected"),
    [
        (
            AT_CONFERENCE,
            [M.BEFORE_DEADLINE, M.BEFORE_DEADLINE, M.INITIAL, M.DISCUSSION, M.CAMERA_READY, M.CURRENT],
        ),
        (
            replace(AT_CONFERENCE, is_accepted=False),
            [M.BEFORE_DEADLINE, M.BEFORE_DEADLINE, M.INITIAL, M.DISCUSSION, None, M.CURRENT],
        ),
        (
            replace(AT_CONFERENCE, decided_at=None),
            [M.BEFORE_DEADLINE, M.BEFORE_DEADLINE, M.INITIAL, None, None, M.CURRENT],
        ),
        (
            replace(AT_CONFERENCE, deadline=None),
            [M.BEFORE_REVIEWS, M.BEFORE_REVIEWS, M.INITIAL, M.DISCUSSION, M.CAMERA_READY, M.CURRENT],
        ),
        (
            replace(AT_CONFERENCE, deadline=None, first_review_at=None),
            [None, None, None, None, None, M.CURRENT],
        ),
        (replace(BARE, uploads=(REPOSTED,), decided_at=DECIDED, is_accepted=True), [None]),
        (replace(BARE, uploads=(CURRENT,), current_path=CURRENT.path, invitations=UNREVISED), [M.INITIAL]),
        (replace(BARE, uploads=(replace(CURRENT, path="/pdf/gone.pdf"),), current_path=None), [None]),
    ],
    ids=["all known", "rejected", "decision unknown", "deadline unknown", "no time known", "reposted", "proven", "odd"],
)
def test_a_stage_is_known_by_times(submission: SubmissionPdfs, expected: list[VersionMoment | None]) -> None:
    assert moments(submission) == expected


def test_an_unedited_title_is_the_initial_one() -> None:
    proven = replace(BARE, uploads=(CURRENT,), current_path=CURRENT.path, invitations=UNREVISED)
    assert [one.title for one in read_versions(proven)] == ["On Kites"]
    edited = replace(proven, invitations=(*UNREVISED, "V/-/Edit"))
    assert [(one.grade, one.title) for one in read_versions(edited)] == [(Grade.UNREVISED_LIKELY, None)]


def _saying(says: FileSays, asked: list[datetime | None]) -> SubmissionPdfs:
    def opinion(_: str, deadline: datetime | None) -> Opinion | None:
        asked.append(deadline)
        return says, ("page 1: Published as a conference paper",)

    # LATE would have taken the place of LAST_HOUR.
    return replace(
        AT_CONFERENCE,
        uploads=[one for one in AT_CONFERENCE.uploads if one is not LATE],
        opinion=opinion,
    )


def test_a_final_file_loses_the_grade() -> None:
    versions = read_versions(_saying(FileSays.FINAL, []))
    assert not any(one.is_initial for one in versions)
    (graded,) = [one for one in versions if one.grade is not None]
    assert (graded.edit_id, graded.grade) == (LAST_HOUR.edit_id, Grade.UNAVAILABLE)
    assert graded.evidence.rule == Naming("(exact); ", "later version", ": page 1: Published as a conference paper")
    assert graded.evidence.file_says is FileSays.FINAL
    assert graded.moment is M.BEFORE_DEADLINE


@pytest.mark.parametrize("says", [FileSays.SUBMITTED, FileSays.NOTHING])
def test_an_uncontradicted_file_keeps_the_grade(says: FileSays) -> None:
    versions = read_versions(_saying(says, []))
    assert [one.grade for one in versions if one.is_initial] == [Grade.EXACT]
    assert {(one.evidence.file_says, one.evidence.file_signs) for one in versions} == {
        (says, ("page 1: Published as a conference paper",))
    }


def test_a_file_is_checked_by_its_rule() -> None:
    asked: list[datetime | None] = []
    read_versions(replace(_saying(FileSays.NOTHING, asked), uploads=(FIRST,)))
    assert set(asked) == {NOON}
    asked.clear()
    read_versions(replace(_saying(FileSays.NOTHING, asked), uploads=(LATE,)))
    assert set(asked) == {BARE.first_review_at}

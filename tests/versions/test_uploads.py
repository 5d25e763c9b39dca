"""Which edits and references bring a version, and which are set aside."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from histories import NOON
from in_this_process import build_here
from peercorpus.records.enums import Grade, Reason
from peercorpus.records.papers import PaperVersion, SetAside
from peercorpus.versions import find_versions
from peercorpus.versions.uploads import SubmissionEdit, SubmissionPdfs, Upload, fold
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import open_workspace

V = "Invented.cc/2020/Conference"
DAY_MS = 86_400_000
DEADLINE_MS = 1_570_000_000_000


def _reference(reference_id: str, tcdate: int, **more: Any) -> dict[str, Any]:
    return {
        "id": reference_id,
        "referent": "paper",
        "forum": "paper",
        "invitation": f"{V}/-/Blind_Submission",
        "readers": ["everyone"],
        "tcdate": tcdate,
        "tmdate": tcdate,
        "content": {"pdf": f"/pdf/{reference_id}.pdf"},
    } | more


def _versions(
    folder: Path,
    references: list[dict[str, Any]],
    *,
    form: str = "Blind_Submission",
    original: str | None = None,
    **more: Any,
) -> tuple[list[PaperVersion], dict[str, Reason]]:
    content = {"title": "On Kites", "pdf": "/pdf/now.pdf"} | more
    named = {"invitation": f"{V}/-/{form}", "original": original, "readers": ["everyone"]}
    root = {"id": "paper", "forum": "paper", "content": content} | named
    rows = [(RawKind.NOTE, root), *((RawKind.REFERENCE, reference) for reference in references)]
    rows.append((RawKind.INVITATION, {"id": f"{V}/-/Submission", "expdate": DEADLINE_MS}))
    with open_workspace(folder, create=True) as workspace:
        for kind, found in rows:
            forum_id = "" if kind is RawKind.INVITATION else "paper"
            body, subject_id = json.dumps(found).encode(), str(found.get("referent") or found["id"])
            workspace.raw.add([RawObject(kind, str(found["id"]), 1, V, forum_id, subject_id, 0, 0, "test", body)])
        build_here(workspace)
        aside = {row.record_id: row.reason for row in workspace.tables.read(SetAside, V)}
        return list(workspace.tables.read(PaperVersion, V)), aside


def test_the_latest_reference_before_the_deadline_is_chosen(tmp_path: Path) -> None:
    references = [
        _reference("b", DEADLINE_MS - 1),
        _reference("a", DEADLINE_MS - DAY_MS),
        _reference("c", DEADLINE_MS + 20 * DAY_MS),
    ]
    versions, _ = _versions(tmp_path / "w", references)
    assert [version.edit_id for version in versions] == ["a", "b", "c", "paper"]
    # Its file was not fetched, so nothing is graded better than that.
    assert [(version.edit_id, version.grade) for version in versions if version.is_initial] == [
        ("b", Grade.UNAVAILABLE)
    ]


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"readers": [V]}, Reason.NOT_PUBLIC),
        ({"ddate": 1}, Reason.NO_PDF),
        ({"content": {"title": "On Kites"}}, Reason.NO_PDF),
        ({"content": {"pdf": "https://arxiv.example/1.pdf"}}, Reason.NO_PDF),
        ({"content": {"pdf": "/pdf/now.pdf"}, "referent": "review"}, Reason.EDIT_OF_A_REPLY),
        ({"content": 5}, Reason.UNREADABLE),
    ],
)
def test_a_version_without_pdf_is_set_aside(tmp_path: Path, more: dict[str, Any], reason: Reason) -> None:
    versions, aside = _versions(tmp_path / "w", [_reference("x", DEADLINE_MS - 1, **more)])
    assert aside["x"] is reason
    assert [version.edit_id for version in versions] == ["paper"]


def test_a_reference_without_a_pdf_keeps_it(tmp_path: Path) -> None:
    references = [
        _reference("a", DEADLINE_MS - 3, content={"pdf": "/pdf/a.pdf", "title": "On Kites", "abstract": "Of strings."}),
        _reference("b", DEADLINE_MS - 2, content={"title": "On Kites and Strings"}),
        _reference("c", DEADLINE_MS + 20 * DAY_MS, content={"pdf": "/pdf/c.pdf"}),
    ]
    versions, aside = _versions(tmp_path / "w", references)
    assert aside["b"] is Reason.NO_PDF
    assert [(one.edit_id, one.title, one.abstract, one.is_initial) for one in versions] == [
        ("a", "On Kites", "Of strings.", True),
        ("c", "On Kites and Strings", "Of strings.", False),
        ("paper", "On Kites", None, False),
    ]


def test_the_reference_not_rewritten_counts(tmp_path: Path) -> None:
    late = DEADLINE_MS + 10 * DAY_MS
    references = [
        _reference("a", DEADLINE_MS - DAY_MS, content={"pdf": "/pdf/b.pdf"}, tmdate=late + 1),
        _reference("b", late),
    ]
    versions, aside = _versions(tmp_path / "w", references)
    assert aside["a"] is Reason.PDF_UNCHANGED
    assert [(one.edit_id, one.is_initial) for one in versions] == [("b", False), ("paper", False)]


def test_months_with_one_pdf_are_not_exact(tmp_path: Path) -> None:
    same = [_reference(f"r{day}", DEADLINE_MS + day * DAY_MS, content={"pdf": "/pdf/now.pdf"}) for day in (-1, 20, 90)]
    versions, _ = _versions(tmp_path / "w", same)
    assert [(one.edit_id, one.is_initial) for one in versions] == [("r-1", True)]
    assert "(unrevised_likely)" in versions[0].evidence.rule


@pytest.mark.parametrize(
    ("last", "rule"),
    [
        ({"ddate": DEADLINE_MS + 90 * DAY_MS}, "was deleted since"),
        ({"content": {"pdf": "https://arxiv.example/1.pdf"}}, "is a link to another place"),
        ({"tmdate": None}, "may be another: b does not say when it was last written"),
        ({"tcdate": None}, "may be another: b brought one at no known time"),
        ({"tcdate": DEADLINE_MS - 3 * DAY_MS}, "may be another: a brought one too"),
    ],
    ids=["deleted after the deadline", "kept elsewhere", "no time of writing", "no time at all", "same instant"],
)
def test_no_earlier_pdf_for_an_unavailable_one(tmp_path: Path, last: dict[str, Any], rule: str) -> None:
    references = [_reference("a", DEADLINE_MS - 3 * DAY_MS), _reference("b", DEADLINE_MS - 2 * DAY_MS) | last]
    versions, _ = _versions(tmp_path / "w", references)
    assert not any(one.is_initial for one in versions)
    (graded,) = [one for one in versions if one.grade is not None]
    assert rule in graded.evidence.rule


def test_a_pdf_of_the_next_week(tmp_path: Path) -> None:
    placeholder, full = _reference("a", DEADLINE_MS - DAY_MS), _reference("b", DEADLINE_MS + 7 * DAY_MS)
    versions, _ = _versions(tmp_path / "w", [placeholder, full])
    assert not any(one.is_initial for one in versions)
    revised = full | {"invitation": f"{V}/Paper1/-/Rebuttal_Revision"}
    versions, _ = _versions(tmp_path / "discussed", [placeholder, revised])
    assert [one.edit_id for one in versions if one.is_initial] == ["a"]


@pytest.mark.parametrize(
    ("form", "original", "is_open"),
    [("Submission", None, True), ("Submission", "own", False), ("Blind_Submission", "own", False)],
)
def test_author_names_decide_nothing_if_submissions_show_authors(
    tmp_path: Path, form: str, original: str | None, is_open: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[SubmissionPdfs] = []

    def keep(submission: SubmissionPdfs) -> list[PaperVersion]:
        held.append(submission)
        return []

    monkeypatch.setattr(find_versions, "read_versions", keep)
    _versions(tmp_path / "w", [], form=form, original=original)
    assert [one.names_are_open for one in held] == [is_open]


HOUR = timedelta(hours=1)


def change(
    name: str,
    at: datetime | None,
    path: str | None = None,
    title: str | None = None,
    *,
    abstract: str | None = None,
    again: datetime | None = None,
    is_public: bool = True,
) -> SubmissionEdit:
    """The content of one reference."""
    return SubmissionEdit(name, at, again or at, "V/-/Blind_Submission", is_public, path, title, abstract)


def told(uploads: list[Upload]) -> list[tuple[str, str, str | None]]:
    return [(one.edit_id, one.path, one.title) for one in uploads]


def test_a_later_title_is_not_the_versions() -> None:
    again = NOON + 100 * HOUR
    changes = [change("a", NOON, title="Final Title", again=again), change("b", NOON + HOUR, "/pdf/1")]
    assert told(fold(changes, is_whole=True)[0]) == [("b", "/pdf/1", None)]
    own = [change("a", NOON, "/pdf/1", "Final Title", again=again)]
    assert told(fold(own, is_whole=True)[0]) == [("a", "/pdf/1", "Final Title")]


def test_a_hidden_title_is_shown_nowhere() -> None:
    changes = [
        change("a", NOON, "/pdf/1", "On Kites"),
        change("b", NOON + HOUR, "/pdf/2", "Secret", is_public=False),
        change("c", NOON + 2 * HOUR, "/pdf/3"),
    ]
    public, hidden = fold(changes, is_whole=True)
    assert told(public) == [("a", "/pdf/1", "On Kites"), ("c", "/pdf/3", None)]
    assert told(hidden) == [("b", "/pdf/2", None)]

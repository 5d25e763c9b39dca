"""Which edits and references bring a version, and which are set aside."""

import json
from pathlib import Path
from typing import Any

import pytest

from peercorpus.kinds import Grade, Reason
from peercorpus.pipeline import build
from peercorpus.raw import Kind, RawObject
from peercorpus.records import PaperVersion, SetAside
from peercorpus.workspace import open_workspace

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


def _versions(folder: Path, references: list[dict[str, Any]]) -> tuple[list[PaperVersion], dict[str, Reason]]:
    content = {"title": "On Kites", "pdf": "/pdf/now.pdf"}
    root = {"id": "paper", "forum": "paper", "invitation": f"{V}/-/Blind_Submission", "content": content}
    rows = [(Kind.NOTE, root), *((Kind.REFERENCE, reference) for reference in references)]
    rows.append((Kind.INVITATION, {"id": f"{V}/-/Submission", "expdate": DEADLINE_MS}))
    with open_workspace(folder, create=True) as workspace:
        for kind, found in rows:
            forum_id = "" if kind is Kind.INVITATION else "paper"
            body, subject_id = json.dumps(found).encode(), str(found.get("referent") or found["id"])
            workspace.raw.add([RawObject(kind, str(found["id"]), 1, V, forum_id, subject_id, 0, 0, "test", body)])
        build(workspace)
        aside = {row.record_id: row.reason for row in workspace.tables.read(SetAside, V)}
        return list(workspace.tables.read(PaperVersion, V)), aside


def test_a_reference_written_again_after_the_deadline_is_not_exact(tmp_path: Path) -> None:
    rewritten = _reference("a", DEADLINE_MS - DAY_MS, tmdate=DEADLINE_MS + 200 * DAY_MS)
    versions, _ = _versions(tmp_path / "w", [rewritten])
    assert [version.is_initial for version in versions] == [False, False]


def test_the_latest_reference_before_the_deadline_is_the_one(tmp_path: Path) -> None:
    references = [
        _reference("b", DEADLINE_MS - 1),
        _reference("a", DEADLINE_MS - DAY_MS),
        _reference("c", DEADLINE_MS + 1),
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
def test_what_brings_no_public_pdf_of_the_paper_is_set_aside(
    tmp_path: Path, more: dict[str, Any], reason: Reason
) -> None:
    versions, aside = _versions(tmp_path / "w", [_reference("x", DEADLINE_MS - 1, **more)])
    assert aside["x"] is reason
    assert [version.edit_id for version in versions] == ["paper"]

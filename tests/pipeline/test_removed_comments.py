"""Public comments that ICLR 2026 removed after its leak are set aside if a dump has them, and never published."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from asked_releases import publish_release
from in_this_process import build_here
from peercorpus.importers.import_dumps import import_dumps
from peercorpus.pipeline.status import read_status
from peercorpus.records.enums import Reason
from peercorpus.records.papers import SetAside
from peercorpus.records.reviews import Post
from peercorpus.workspace.workspace import Workspace, open_workspace

pytestmark = pytest.mark.slow

V = "ICLR.cc/2026/Conference"
OTHER = "ICLR.cc/2025/Conference"
ONE_DAY_BEFORE, ON_THE_DAY, LATE_ON_THE_28TH, AFTER = (
    int(datetime.fromisoformat(moment).timestamp() * 1_000)
    for moment in ("2025-11-25T12:00Z", "2025-11-27T15:00Z", "2025-11-29T11:59Z", "2025-11-29T12:01Z")
)


def note(note_id: str, tail: str, signer: str, at: int | None, venue_id: str = V, **more: Any) -> dict[str, Any]:
    is_root = tail == "Submission"
    forum = f"{venue_id[8:12]}-paper"
    return {
        "id": forum if is_root else note_id,
        "forum": forum,
        "replyto": None if is_root else forum,
        "domain": venue_id,
        "invitations": [f"{venue_id}/-/{tail}" if is_root else f"{venue_id}/Submission1/-/{tail}"],
        "signatures": [signer],
        "readers": ["everyone"],
        "tcdate": at,
        "content": {"title": {"value": "On Kites"}, "comment": {"value": f"Says {note_id}."}},
        **more,
    }


def comment(note_id: str, at: int | None, **more: Any) -> dict[str, Any]:
    return note(note_id, "Public_Comment", "~Tavi_Marrow1", at, **more)


PAPERS = [note("", "Submission", f"{venue}/Submission1/Authors", ONE_DAY_BEFORE, venue) for venue in (V, OTHER)]
REMOVED = {
    "of-the-day": comment("of-the-day", ON_THE_DAY),
    "late": comment("late", LATE_ON_THE_28TH),
    "changed": comment("changed", ONE_DAY_BEFORE, tmdate=ON_THE_DAY),
    "undated": comment("undated", None),
    "unnamed": note("unnamed", "Public_Comment", "(anonymous)", ON_THE_DAY),
    "by-account": note("by-account", "Official_Comment", "~Tavi_Marrow1", ON_THE_DAY),
}
KEPT = {
    "before": comment("before", ONE_DAY_BEFORE, tmdate=AFTER),
    "after": comment("after", AFTER),
    "reviewer": note("reviewer", "Official_Comment", f"{V}/Submission1/Reviewer_AbCd", ON_THE_DAY),
    "answer": note("answer", "Official_Comment", f"{V}/Submission1/Authors", ON_THE_DAY, replyto="of-the-day"),
    "elsewhere": comment("elsewhere", ON_THE_DAY, venue_id=OTHER),
}


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    (tmp_path / "dump.json").write_text(json.dumps([*PAPERS, *REMOVED.values(), *KEPT.values()]))
    with open_workspace(tmp_path / "corpus", create=True) as opened:
        import_dumps(opened, [tmp_path / "dump.json"])
        yield opened


def build_posts(workspace: Workspace) -> tuple[set[str], set[str]]:
    """Return the ids of the posts made, and of the notes set aside as removed."""
    build_here(workspace)
    assert read_status(workspace).holds
    left = [row for row in workspace.tables.read(SetAside, V) if row.reason is Reason.REMOVED_BY_VENUE]
    assert not any("Says" in row.detail for row in left)
    made = {post.post_id for venue in (V, OTHER) for post in workspace.tables.read(Post, venue)}
    return made, {row.record_id for row in left}


def test_removed_comments_are_set_aside(workspace: Workspace) -> None:
    assert build_posts(workspace) == (set(KEPT), set(REMOVED))


def test_no_release_contains_removed_comments(workspace: Workspace, tmp_path: Path) -> None:
    build_posts(workspace)
    publish_release(workspace, tmp_path / "release")
    files = sorted((tmp_path / "release").rglob("*.parquet"))
    rows = json.dumps([row for file in files for row in pq.ParquetFile(file).read().to_pylist()], default=str)
    assert [note_id for note_id in (*REMOVED, *KEPT) if f"Says {note_id}." in rows] == list(KEPT)


def test_listed_comment_is_restored(workspace: Workspace) -> None:
    build_posts(workspace)
    with workspace.raw.transaction():
        workspace.raw.state.sight([PAPERS[0]["id"], *KEPT, "late"], AFTER)
        workspace.raw.state.sight(["of-the-day"], ON_THE_DAY)
    made, removed = build_posts(workspace)
    assert "late" in made
    assert "of-the-day" not in made
    assert "late" not in removed

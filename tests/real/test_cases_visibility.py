"""Recorded notes whose readers are missing: not published, unless their whole dump names none."""

from pathlib import Path

import pytest

from asked_releases import publish_release
from peercorpus.importers.import_dumps import import_dumps
from peercorpus.pipeline.build import build
from peercorpus.pipeline.status import KnownIssue, read_status
from peercorpus.records.enums import Unseen
from peercorpus.records.papers import Paper
from peercorpus.workspace.workspace import open_workspace

DATA = Path(__file__).parents[3] / "shared" / "data"
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not DATA.is_dir(), reason="the recorded data is not beside this checkout, in ../shared/data"),
]


@pytest.mark.parametrize(
    "name",
    [
        "19-readers-missing/input/noreaders.json",
        *(f"17-silently-skipped/input/{n}.json" for n in ("noreaders", "readersnull")),
    ],
)
def test_a_note_without_readers_is_withheld(name: str, tmp_path: Path) -> None:
    with open_workspace(tmp_path / "corpus", create=True) as workspace:
        import_dumps(workspace, [DATA / "cases-2026-11" / name])
        build(workspace)
        summary = publish_release(workspace, tmp_path / "release")
        (venue,) = read_status(workspace).venues
    assert (summary.reviews, venue.notes and venue.notes.not_public) == (1, 1)


def test_a_dump_without_any_readers_is_published(tmp_path: Path) -> None:
    with open_workspace(tmp_path / "corpus", create=True) as workspace:
        import_dumps(workspace, [DATA / "forum-prints-peersum"])
        build(workspace)
        summary = publish_release(workspace, tmp_path / "release")
        venues = read_status(workspace).venues
    unstated = sum(
        issue.count for venue in venues for issue in venue.cautions if issue.trap is KnownIssue.READERS_UNSTATED
    )
    assert (summary.papers, unstated) == (4, 55)
    assert "in which nothing names readers" in (tmp_path / "release" / "README.md").read_text(encoding="utf-8")


def test_gaps_in_recorded_numbers(tmp_path: Path) -> None:
    with open_workspace(tmp_path / "corpus", create=True) as workspace:
        import_dumps(workspace, sorted(DATA.glob("raw-*nnkennard")) + sorted(DATA.glob("raw-api-notebook")))
        build(workspace)
        publish_release(workspace, tmp_path / "release")
        papers = [paper for venue in workspace.venues() for paper in workspace.tables.read(Paper, venue)]
    expected = {
        "ryxyCeHtPB": (Unseen.NOT_SHOWN, 3),  # Reviews 1, 2, 4; comments 3, 4, 5.
        "ryxz8CVYDH": (Unseen.NOT_SHOWN, 1),  # Comments from 2.
        "g1SzIRLQXMM": (Unseen.NOT_SHOWN, 2),  # Comments 2 to 13, without 11.
        "zzo3Sy3NSX": (Unseen.NONE, 0),
        "S1sRrN-CW": (Unseen.NONE, 0),
    }
    found = {paper.forum_id: (paper.unseen, paper.replies_not_shown) for paper in papers}
    assert {forum_id: found[forum_id] for forum_id in expected} == expected
    assert "gaps in their numbers" in (tmp_path / "release" / "README.md").read_text(encoding="utf-8")

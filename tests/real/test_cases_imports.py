"""Recorded dumps with items that are no whole notes: each is taken or set aside with a reason, and the sum says so."""

from pathlib import Path

import pytest

from peercorpus.importers.import_dumps import import_dumps
from peercorpus.pipeline.build import build
from peercorpus.records.reviews import Review
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import open_workspace

CASES = Path(__file__).parents[3] / "shared" / "data" / "cases-2026-11"
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not CASES.is_dir(), reason="the recorded data is not beside this checkout, in ../shared/data"),
]


def test_a_restored_review_is_no_longer_deleted(tmp_path: Path) -> None:
    with open_workspace(tmp_path / "corpus", create=True) as workspace:
        summary = import_dumps(workspace, [CASES / "01b-restored-ddate-delete"])
        build(workspace)
        reviews = [review for venue in workspace.venues() for review in workspace.tables.read(Review, venue)]
    assert (summary.taken(RawKind.EDIT).new, dict(summary.left_out), len(reviews)) == (3, {}, 1)


def test_notes_without_content_are_notes(tmp_path: Path) -> None:
    with open_workspace(tmp_path / "corpus", create=True) as workspace:
        summary = import_dumps(workspace, [CASES / "16-no-content"])
    assert (summary.taken(RawKind.NOTE).new, dict(summary.left_out)) == (5, {})


def test_every_item_of_a_list_is_taken_or_set_aside(tmp_path: Path) -> None:
    left = {}
    for path in sorted((CASES / "17-silently-skipped" / "input").glob("*.json")):
        with open_workspace(tmp_path / path.stem, create=True) as workspace:
            summary = import_dumps(workspace, [path])
        left[path.stem] = sum(summary.left_out.values())
        assert summary.taken(RawKind.NOTE).new + left[path.stem] == (6 if path.stem == "junk" else 3)
    assert {name: number for name, number in left.items() if number} == {
        "contentstr": 1,
        "isodate": 1,
        "junk": 3,
        "noid": 1,
        "sigstr": 1,
    }

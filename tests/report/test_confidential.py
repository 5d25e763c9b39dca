"""Only `report --confidential` counts what only the account may read; it marks the page and each figure."""

import json
import shutil
from pathlib import Path

import pytest

from commands import Run, assert_refused
from invented_tables import ICLR, invented, paper, post, review
from peercorpus.corpus.confidential import FOLDER, open_confidential
from peercorpus.models.token_counts import words_and_signs
from peercorpus.records.enums import PostKind
from peercorpus.release.publish import publish_release
from peercorpus.report.corpus_sources import WorkspaceSource
from peercorpus.report.write_report import write_report
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import open_workspace

pytest.importorskip("matplotlib")
MARK = "Not for publication"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Two papers; reviews that are public, only for chairs, and deleted, and one that is taken down."""
    reviews = [
        review("f1", "open"),
        review("f1", "hidden", readers_public=False),
        review("f1", "deleted", readers_public=False, deleted=True),
        review("f2", "gone", readers_public=False),
    ]
    posts = [
        post(one.review_id, one.forum_id, kind=PostKind.REVIEW, readers_public=one.readers_public, deleted=one.deleted)
        for one in reviews
    ]
    with invented(tmp_path / "corpus", {ICLR: [paper("f1"), paper("f2"), *reviews, *posts]}) as workspace:
        workspace.raw.add([RawObject(RawKind.NOTE, "f1", 1, ICLR, "f1", "f1", 1, 1, "t", b"{}")])
    (tmp_path / "corpus" / "takedown.txt").write_text("f2-gone\n")
    # As a build would make them of the same notes.
    shutil.copytree(tmp_path / "corpus" / "tables", tmp_path / "corpus" / FOLDER / "tables")
    return tmp_path / "corpus"


def numbers(out: Path) -> dict[str, object]:
    content: dict[str, object] = json.loads((out / "numbers.json").read_text())
    return content


def counted(corpus: Path, out: Path, *, is_confidential: bool) -> int:
    """Return the reviews counted by a report of lengths, which are cached between reports."""
    write_report(corpus, out, figures=["review_length"], is_confidential=is_confidential)
    figures = numbers(out)["figures"]
    assert isinstance(figures, dict)
    return int(figures["review_length"]["n"])


def test_confidential_records_are_counted_only_on_request_and_separately(corpus: Path, tmp_path: Path) -> None:
    assert [counted(corpus, tmp_path / "out", is_confidential=asked) for asked in (False, True, False, True)] == [
        1,
        2,
        1,
        2,
    ]
    with open_workspace(corpus, write=False) as workspace, open_confidential(workspace) as view:
        sources = [
            WorkspaceSource(opened, words_and_signs(), is_confidential=opened is view) for opened in (workspace, view)
        ]
        assert [sorted(source.reviews["review_id"]) for source in sources] == [["f1-open"], ["f1-hidden", "f1-open"]]


def test_page_figures_and_data_of_a_confidential_report_are_marked_and_others_are_not(
    corpus: Path, tmp_path: Path
) -> None:
    marked, plain = tmp_path / "marked", tmp_path / "plain"
    write_report(corpus, marked, figures=["review_load", "grades"], is_confidential=True)
    write_report(corpus, plain, figures=["review_load", "grades"])
    page = (marked / "report.html").read_text()
    assert page.count(f"<strong>{MARK}.</strong>") == 3
    assert "Only what everyone may read is counted" not in page
    assert "public review" not in (page + json.dumps(numbers(marked))).lower()
    assert "public review" in (plain / "report.html").read_text().lower()
    assert numbers(marked)["confidential"] == MARK
    assert (marked / "NOT_FOR_PUBLICATION.txt").read_text().startswith(MARK)
    assert MARK not in (plain / "report.html").read_text()
    assert "confidential" not in numbers(plain)
    assert not (plain / "NOT_FOR_PUBLICATION.txt").exists()
    for name in ("review_load", "grades"):
        for kind in ("svg", "png", "pdf"):
            assert (marked / f"{name}.{kind}").read_bytes() != (plain / f"{name}.{kind}").read_bytes()


def test_a_release_is_refused_for_confidential_reports_and_has_only_public_records(
    corpus: Path, tmp_path: Path, run: Run
) -> None:
    write_report(corpus, tmp_path / "out", figures=["review_length"], is_confidential=True)
    with open_workspace(corpus, write=False) as workspace:
        publish_release(workspace, tmp_path / "release")
    assert json.loads((tmp_path / "release" / "release.json").read_text())
    out = tmp_path / "of-release"
    assert_refused(
        run("report", "-w", tmp_path / "release", "--out", out, "--confidential"), "--confidential", "workspace"
    )
    write_report(tmp_path / "release", out, figures=["review_length"])
    figures = numbers(out)["figures"]
    assert isinstance(figures, dict)
    assert figures["review_length"]["n"] == 1

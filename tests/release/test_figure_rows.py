"""The configuration `figures`: images only from the published texts' PDFs, joined to the text."""

from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from PIL import Image

from asked_releases import publish_release, rows_of
from in_this_process import InThisProcess
from invented_figures import paper_with_figures, paper_without_figures
from invented_tables import ICLR, TABLES_BUILT, a_forum, invented, text, version
from peercorpus.corpus.figures import find_caption_block
from peercorpus.errors import TableError
from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import no_report
from peercorpus.records.documents import PAGE_BREAK, Figure
from peercorpus.records.enums import FigureKind, Grade, VersionMoment
from peercorpus.records.papers import PaperVersion
from peercorpus.texts import cut_figures
from peercorpus.workspace.workspace import Workspace

MARKDOWN = (
    "# Herbs\n\nWe weigh. See Figure 1.\n\nFigure 1: Weights of herbs, by ada@herbs.example.\n\nMore.\n\n"
    "**Table 1:** Prices."
)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """One paper whose PDF has two figures and whose later PDF has four, and one whose PDF has none."""
    with invented(tmp_path / "corpus", {}) as opened:
        first, late, plain = (
            opened.files.add(pdf) for pdf in (paper_with_figures(), paper_with_figures(2), paper_without_figures())
        )
        records = [
            *(_with_file(one, first) for one in a_forum("f1", markdown=MARKDOWN)),
            replace(version("f1", late, None), moment=VersionMoment.CAMERA_READY),
            text(late, "# Late\n\nFigure 2: Late."),
            *(_with_file(one, plain) for one in a_forum("f2")),
        ]
        with opened.tables.replacing(TABLES_BUILT, ICLR, "invent", "a" * 64) as replacement:
            for record in records:
                replacement.add(record)
        yield opened


def _with_file(record: Any, sha256: str) -> Any:
    return replace(record, sha256=sha256) if hasattr(record, "sha256") else record


def cut(workspace: Workspace) -> None:
    cut_figures.stage(InThisProcess()).run(workspace, ICLR, BuildRequest(), "b" * 64, no_report)


@pytest.mark.slow
def test_only_figures_of_the_published_text_are_included(workspace: Workspace, tmp_path: Path) -> None:
    cut(workspace)
    publish_release(workspace, tmp_path / "out", figures=True)
    figure, table = rows_of(tmp_path / "out", "figures")
    (sha256,) = {
        one.sha256 for one in workspace.tables.read(PaperVersion, ICLR) if one.forum_id == "f1" and one.is_initial
    }
    assert (figure["forum_id"], figure["sha256"], figure["grade"]) == ("f1", sha256, Grade.EXACT)
    assert (figure["kind"], figure["label"], figure["page"]) == ("figure", "Figure 1", 1)
    assert (table["kind"], table["label"]) == ("table", "Table 1")
    image = Image.open(BytesIO(figure["image"]["bytes"]))
    assert (image.format, image.size) == ("WEBP", (figure["width_px"], figure["height_px"]))
    assert figure["image"]["path"] == f"{sha256}-001.webp"
    (published,) = [
        row
        for row in pq.read_table(next((tmp_path / "out/data/papers").glob("*"))).to_pylist()
        if row["forum_id"] == "f1"
    ]
    blocks = published["markdown"].split("\n\n")
    assert blocks[figure["block"]].startswith("Figure 1: Weights")
    assert blocks[table["block"]] == "**Table 1:** Prices."


def test_without_cut_figures_publishing_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(
        TableError, match=r"The figures of 3 PDFs of 'ICLR.+' have not been extracted yet; run 'peercorpus build"
    ):
        publish_release(workspace, tmp_path / "out", figures=True)
    assert not (tmp_path / "out").exists()


def test_a_takedown_of_a_paper_removes_its_figures(workspace: Workspace, tmp_path: Path) -> None:
    cut(workspace)
    (workspace.folder / "takedown.txt").write_text("f1\n")
    publish_release(workspace, tmp_path / "out", figures=True)
    assert rows_of(tmp_path / "out", "figures") == []


def a_figure(label: str, page: int) -> Figure:
    kind = FigureKind.TABLE if label.startswith("Table") else FigureKind.FIGURE
    nothing = (None,) * 8
    return Figure("a" * 64, "f1", ICLR, 1, kind, label, "", page, *nothing, "Nothing.", "1")


@pytest.mark.parametrize(
    ("label", "page", "block"),
    [("Figure 1", 1, 1), ("Figure 1", 2, None), ("Figure 10", 2, 4), ("Table 2", 2, 5), ("Table 3", 2, None)],
)
def test_a_caption_is_found_by_its_label(label: str, page: int, block: int | None) -> None:
    markdown = PAGE_BREAK.join(
        ["Words.\n\nFig. 1. Sage.\n\nFigure 3 shows more.", "*Figure 10:* Thyme.\n\n**TABLE 2** Prices."]
    )
    assert find_caption_block(markdown, a_figure(label, page)) == block

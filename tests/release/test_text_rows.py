"""The texts of a release block by block and as LaTeX."""

from dataclasses import replace
from pathlib import Path

import pytest

from asked_releases import rows_of
from commands import Run
from invented_blocks import NEXT_PAGE, Part, caption, entry, formula, heading, structured
from invented_tables import ICLR, invented, paper, review, text, version
from peercorpus.corpus.structured_text import StructuredText
from peercorpus.records.blocks import PageBox, TableCell, TextBlock
from peercorpus.records.enums import BlockKind, Grade, MentionKind
from peercorpus.release.text_rows import mask_blocks
from peercorpus.workspace.raw_store import RawKind, RawObject

SHA, OTHER = "a" * 64, "b" * 64
NOTE = RawObject(RawKind.NOTE, "f1", 2, ICLR, "f1", "f1", 1, 1, "invented", b"{}")
PARTS: tuple[Part, ...] = (
    "Write to ada@kites.example before you read on.",
    heading("1", "Herbs"),
    NEXT_PAGE,
    formula("5"),
    (BlockKind.TABLE, "| ada@kites.example |\n| --- |", {"cells": (TableCell(0, 0, 1, 1, True, "ada@kites.example"),)}),
    caption(MentionKind.TABLE, "1"),
    "See Eq. (5), Table 1 and [2].",
    entry("A. Author. Herbs.", "2"),
)


def with_header(held: StructuredText) -> StructuredText:
    """The same text with a running header that names a person."""
    boxes = (PageBox(1, 72.0, 750.0, 200.0, 760.0),)
    end = len(held.markdown)
    header = TextBlock(len(held.blocks), BlockKind.PAGE_FOOTER, end, end, boxes, text="Ada Lee")
    return replace(held, blocks=(*held.blocks, header))


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace of one paper with two texts, one from an engine without blocks."""
    held = with_header(structured(*PARTS))
    texts = [replace(text(SHA, held.markdown), blocks=held.blocks), text(OTHER, "Text.")]
    records = [paper("f1"), review("f1"), version("f1", SHA, Grade.EXACT), *texts]
    with invented(tmp_path / "corpus", {ICLR: records}) as workspace:
        workspace.raw.add([NOTE])
    monkeypatch.setattr("peercorpus.pipeline.build.require_built", lambda *_, **__: None)
    return tmp_path / "corpus"


@pytest.mark.slow
def test_texts_have_blocks_on_request(corpus: Path, run: Run) -> None:
    release = corpus.parent / "release"
    asked = ("publish", "--workspace", corpus, "--splits", "none", "--out", release)
    assert run(*asked).code == 0
    assert [(row["blocks"], row["mentions"]) for row in rows_of(release, "texts")] == [(None, None)]
    assert run(*asked, "--blocks").code == 0
    (row,) = rows_of(release, "texts")
    words = [row["markdown"][block["start"] : block["end"]] for block in row["blocks"]]
    assert words[:3] == ["Write to [e-mail] before you read on.", "## 1 Herbs", "$$a = b$$ (5)"]
    named = [(row["markdown"][one["start"] : one["end"]], words[one["target"]]) for one in row["mentions"]]
    assert named == [("Eq. (5)", words[2]), ("Table 1", words[4]), ("2", "[2] A. Author. Herbs.")]
    assert row["blocks"][3]["cells"][0]["text"] == "[e-mail]"
    assert row["blocks"][-1]["text"] == "Ada Lee"
    assert run("verify", release).code == 0


@pytest.mark.slow
def test_without_authors_running_headers_are_left_out(corpus: Path, run: Run) -> None:
    release = corpus.parent / "release"
    assert run("publish", "--workspace", corpus, "--out", release, "--blocks", "--no-authors").code == 0
    (row,) = rows_of(release, "texts")
    assert (row["blocks"][-1]["kind"], row["blocks"][-1]["text"]) == ("page_footer", None)


def test_an_address_across_blocks_removes_them() -> None:
    held = structured("(ada,", "bob)@kites.example and more.")
    assert mask_blocks(held, "[e-mail] and more.") is None


MARKDOWN = "# On herbs\n\nAbout 5% of $≤$; write to ada\\@kites.example."


@pytest.fixture
def latex_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace of one paper with a text."""
    records = [paper("f1"), review("f1"), version("f1", "a" * 64, Grade.EXACT), text("a" * 64, MARKDOWN)]
    with invented(tmp_path / "latex_corpus", {ICLR: records}) as workspace:
        workspace.raw.add([RawObject(RawKind.NOTE, "f1", 2, ICLR, "f1", "f1", 1, 1, "invented", b"{}")])
    monkeypatch.setattr("peercorpus.pipeline.build.require_built", lambda *_, **__: None)
    return tmp_path / "latex_corpus"


@pytest.mark.slow
def test_texts_are_latex_on_request(latex_corpus: Path, run: Run) -> None:
    release = latex_corpus.parent / "release"
    asked = ("publish", "--workspace", latex_corpus, "--splits", "none", "--out", release)
    assert run(*asked).code == 0
    assert [row["latex"] for row in rows_of(release, "texts")] == [None]
    assert run(*asked, "--latex").code == 0
    (row,) = rows_of(release, "texts")
    assert "About 5\\% of $\\leq$; write to [e-mail].\n\\end{document}\n" in row["latex"]
    assert row["markdown"] == MARKDOWN
    assert run(*asked).code == 0
    assert [row["latex"] for row in rows_of(release, "texts")] == [None], (
        "a release with LaTeX stands where none was asked for"
    )

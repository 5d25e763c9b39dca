"""The default engine on the simulator's papers: one and two columns, as submitted and as published."""

import gc
import os
from pathlib import Path

import pytest

from invented_pdfs import by_hand, lines
from invented_pdfs import typeset as set_pages
from peercorpus.errors import UnreadablePdfError
from peercorpus.simulator.world.papers import Draft, Manuscript, read_handwritten
from peercorpus.simulator.world.pdfs import PageStyle, typeset
from peercorpus.texts.engine import SEPARATOR, Converted, without_pages
from peercorpus.texts.layout.pdfium_layout import PdfiumLayout

GOLDEN = Path(__file__).parents[1] / "golden" / "markdown"
RULED, TWO_COLUMNS = PageStyle("Kites 2024", 1, True, False), PageStyle("Kites 2024", 2, True, False)
CASES = {
    "submitted": (RULED, Draft.SUBMISSION),
    "published": (RULED, Draft.CAMERA_READY),
    "submitted-in-two-columns": (TWO_COLUMNS, Draft.SUBMISSION),
    "published-in-two-columns": (TWO_COLUMNS, Draft.CAMERA_READY),
}


@pytest.fixture(scope="module")
def manuscript() -> Manuscript:
    return read_handwritten("Aurora.cc/2020/Conference")[0].manuscript


@pytest.fixture(scope="module")
def read(manuscript: Manuscript) -> dict[str, Converted]:
    return {name: PdfiumLayout().convert(typeset(manuscript, *case)) for name, case in CASES.items()}


@pytest.mark.parametrize("case", CASES)
def test_the_markdown_equals_the_reviewed_one(read: dict[str, Converted], case: str) -> None:
    """Set UPDATE_GOLDEN=1 to rewrite the files; then compare them with the pages."""
    path = GOLDEN / f"{case}.md"
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(read[case].markdown + "\n")
    assert read[case].markdown + "\n" == path.read_text()


@pytest.mark.parametrize("case", CASES)
def test_every_heading_has_its_level_and_page(read: dict[str, Converted], manuscript: Manuscript, case: str) -> None:
    found = read[case]
    version = CASES[case][1]
    titles = [passage.heading for passage in manuscript.passages if passage.since <= version]
    assert [one.title.split(" ", 1)[-1] for one in found.headings] == ["Abstract", *titles, "References"]
    assert {one.level for one in found.headings} == {1}
    pages = found.markdown.split(SEPARATOR)
    assert all(f"## {one.title}" in pages[one.page - 1] for one in found.headings)


@pytest.mark.parametrize("case", CASES)
def test_page_furniture_is_removed_and_no_text_of_the_paper_is_missing(
    read: dict[str, Converted], manuscript: Manuscript, case: str
) -> None:
    text = read[case].markdown
    assert text.startswith(f"# {manuscript.title}\n")
    assert "conference paper at" not in text
    assert manuscript.abstract in without_pages(text)
    assert all(entry in text.split("\n\n") for entry in manuscript.references)
    assert f"| {' | '.join(manuscript.table[0])} |" in text
    quality = read[case].quality
    assert quality is not None
    assert (quality.unknown_characters, quality.empty_pages, quality.formulas) == (0.0, 0, 1)


def test_a_page_without_text_is_named() -> None:
    found = PdfiumLayout().convert(set_pages("= One\n\nText.", "", "= Two\n\nMore."))
    assert found.problems == ("without text: page 2",)
    assert found.markdown.split(SEPARATOR)[1] == ""


UPRIGHT = {90: "0 1 -1 0", 180: "-1 0 0 -1", 270: "0 -1 1 0"}


@pytest.mark.parametrize("degrees", UPRIGHT)
def test_a_rotated_page_is_read_as_displayed(degrees: int) -> None:
    content = f"BT /F 12 Tf {UPRIGHT[degrees]} 300 300 Tm (One line) Tj 0 -14 Td (and another.) Tj ET"
    pdf = by_hand([content.encode()]).replace(b"/MediaBox", b"/Rotate %d /MediaBox" % degrees)
    assert PdfiumLayout().convert(pdf).markdown == "One line and another."


def test_sideways_text_is_rotated_and_a_stamp_in_the_margin_is_kept_separate() -> None:
    lying = b"BT /F 12 Tf 0 1 -1 0 300 300 Tm (Lying on its side) Tj ET"
    assert PdfiumLayout().convert(by_hand([lying])).markdown == "Lying on its side"
    found = PdfiumLayout().convert(by_hand([lines("A line that stands upright and is long enough") + b" " + lying]))
    assert found.markdown == "A line that stands upright and is long enough"
    assert found.figures == ("Lying on its side",)


def test_a_title_in_small_capitals_continues_on_a_line_without_a_large_capital() -> None:
    first = (
        b"BT /F 17 Tf 72 700 Td (A) Tj /F 13 Tf (TITLE IN SMALL CAPITALS THAT IS LONG) Tj 0 -19 Td (AND GOES ON) Tj ET "
    )
    body = [f"BT /F 10 Tf 72 {600 - 12 * n} Td (A line of the body that is long enough, {n}.) Tj ET " for n in range(9)]
    found = PdfiumLayout().convert(by_hand([first + "".join(body).encode()]))
    assert found.markdown.startswith("# ATITLE IN SMALL CAPITALS THAT IS LONG AND GOES ON\n")


def test_garbage_collection_is_restored_after_readable_and_unreadable_papers() -> None:
    assert gc.isenabled()
    PdfiumLayout().convert(by_hand([lines("a line")]))
    assert gc.isenabled()
    with pytest.raises(UnreadablePdfError):
        PdfiumLayout().convert(by_hand([]))
    assert gc.isenabled()

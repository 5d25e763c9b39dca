"""The blocks of a text cover all of it, in order, with their positions and contents."""

import pytest

from invented_figures import paper_with_figures, prose, say
from invented_lines import TOP, line, stacked
from invented_pages import InventedPage
from invented_pdfs import by_hand
from peercorpus.records.blocks import PageBox, TableCell, TextBlock
from peercorpus.records.enums import BlockKind, MentionKind
from peercorpus.texts.engine import SEPARATOR
from peercorpus.texts.layout.blocks import Block
from peercorpus.texts.layout.pdfium_layout import PdfiumLayout
from peercorpus.texts.layout.text_blocks import describe_blocks


def block(kind: BlockKind, markdown: str, page: int = 0, top: float = TOP, **fields: object) -> Block:
    """A block of one line at a height."""
    return Block(kind, page, [line("words", top, page=page)], markdown=markdown, **fields)  # type: ignore[arg-type]


def described(*blocks: Block, pages: int = 1) -> list[TextBlock]:
    return describe_blocks(blocks, [[] for _ in range(pages)])


def test_the_blocks_are_the_whole_text_in_its_order() -> None:
    converted = PdfiumLayout().convert(paper_with_figures(3))
    assert converted.blocks is not None
    words = [converted.markdown[one.start : one.end] for one in converted.blocks if one.text is None]
    per_page = len(words) // 3
    pages = ["\n\n".join(words[at : at + per_page]) for at in range(0, len(words), per_page)]
    assert SEPARATOR.join(pages) == converted.markdown
    assert {box.page for one in converted.blocks[-per_page:] for box in one.boxes} == {3}


def test_a_table_has_its_place_its_caption_and_its_cells() -> None:
    converted = PdfiumLayout().convert(paper_with_figures())
    assert converted.blocks is not None
    (table,) = (one for one in converted.blocks if one.kind is BlockKind.TABLE)
    caption = converted.blocks[table.block_id - 1]
    assert (caption.number, caption.caption_of, caption.describes) == ("1", MentionKind.TABLE, table.block_id)
    (box,) = table.boxes
    assert box.page == 1
    assert (box.x0, box.y0, box.x1, box.y1) == pytest.approx((120, 240, 460, 300), abs=2)
    rows = [[cell.text for cell in table.cells if cell.row == row] for row in range(3)]
    assert rows == [["Herb", "Weight", "Price"], ["Sage", "1.5", "20"], ["Thyme", "2.5", "30"]]
    assert [cell.is_head for cell in table.cells] == [True] * 3 + [False] * 6


def test_running_headers_and_page_numbers_are_kept_beside_the_text() -> None:
    header, text = say("Herbs and their weights", 200, 770), prose(700)
    pages = [header + text + say(str(number), 300, 30) for number in range(1, 6)]
    converted = PdfiumLayout().convert(by_hand(pages))
    assert converted.blocks is not None
    first, body, last = converted.blocks[:3]
    assert (first.kind, first.text) == (BlockKind.PAGE_HEADER, "Herbs and their weights")
    assert (last.kind, last.text) == (BlockKind.PAGE_FOOTER, "1")
    assert (first.start, first.end, last.start, last.end) == (0, 0, body.end, body.end)
    assert "Herbs and their" not in converted.markdown


def test_a_block_over_two_columns_and_pages_has_a_box_for_each() -> None:
    lines = [
        *stacked(*(line("left", left=100, right=200) for _ in range(3))),
        line("right", TOP, left=220, right=300),
        line("next", TOP, left=100, right=200, page=1),
        line("next", TOP - 12, left=100, right=190, page=1),
    ]
    (text,) = described(Block(BlockKind.PARAGRAPH, 0, lines, markdown="Text."), pages=2)
    assert text.boxes == (
        PageBox(1, 100.0, 673.5, 200.0, 708.0),
        PageBox(1, 220.0, 697.5, 300.0, 708.0),
        PageBox(2, 100.0, 685.5, 200.0, 708.0),
    )


@pytest.mark.parametrize(
    ("kind", "markdown", "number"),
    [
        (BlockKind.HEADING, "## 3 Method", "3"),
        (BlockKind.HEADING, "### 3.2. Weights", "3.2"),
        (BlockKind.HEADING, "## A Proofs", "A"),
        (BlockKind.HEADING, "## Appendix B: More", "B"),
        (BlockKind.HEADING, "## IV. RESULTS", "IV"),
        (BlockKind.HEADING, "## A few words", None),
        (BlockKind.HEADING, "## Introduction", None),
        (BlockKind.HEADING, "## 3D shapes", None),
        (BlockKind.ENTRY, "[17] A. Author. Herbs.", "17"),
        (BlockKind.ENTRY, "\\[ABC+20\\] A. Author. Herbs.", "ABC+20"),
        (BlockKind.ENTRY, "3. Author, A. Herbs.", "3"),
        (BlockKind.ENTRY, "Author, A. Herbs.", None),
        (BlockKind.CAPTION, "Figure 3: Herbs.", "3"),
        (BlockKind.CAPTION, "**Table IV.** Herbs.", "IV"),
        (BlockKind.CAPTION, "Box 3: Herbs.", None),
        (BlockKind.PARAGRAPH, "3 herbs.", None),
    ],
)
def test_a_number_is_read_as_printed(kind: BlockKind, markdown: str, number: str | None) -> None:
    (one,) = described(block(kind, markdown, level=1 if kind is BlockKind.HEADING else 0))
    assert one.number == number


def test_headers_above_other_headers_span_their_columns() -> None:
    page = InventedPage()
    page.rule(712)
    page.rule(707, 195, 330)
    page.rows(712 - 12, {235: "Both scores"}, {100: "Model", 200: "BLEU", 300: "Loss"})
    page.rule(697, 195, 330)
    page.rule(683)
    page.rows(671, {100: "Ours", 200: "28.4", 300: "1.25"}, {100: "Base", 200: "27.3", 300: "1.31"})
    page.rule(650)
    (table,) = page.tables()
    assert table.cells[0] == TableCell(0, 1, 1, 2, is_head=True, text="Both scores")
    assert [(cell.row, cell.column, cell.text) for cell in table.cells[1:5]] == [
        (1, 0, "Model"),
        (1, 1, "BLEU"),
        (1, 2, "Loss"),
        (2, 0, "Ours"),
    ]

"""The blocks of a text cover all of it, in order, with their positions and contents."""

import pytest

from invented_figures import paper_with_figures
from invented_lines import TOP, line
from peercorpus.records.blocks import TextBlock
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


def test_blocks_are_the_whole_text() -> None:
    converted = PdfiumLayout().convert(paper_with_figures(3))
    assert converted.blocks is not None
    words = [converted.markdown[one.start : one.end] for one in converted.blocks if one.text is None]
    per_page = len(words) // 3
    pages = ["\n\n".join(words[at : at + per_page]) for at in range(0, len(words), per_page)]
    assert SEPARATOR.join(pages) == converted.markdown
    assert {box.page for one in converted.blocks[-per_page:] for box in one.boxes} == {3}


def test_a_table_has_its_cells() -> None:
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

"""Records of the parts of a text: its blocks with their positions on the pages, and the references in its sentences."""

from dataclasses import dataclass

from peercorpus.records.enums import BlockKind, FigureKind, MentionKind


@dataclass(frozen=True, slots=True)
class PageBox:
    """A rectangle on a page, in points (1/72 inch) from the lower left corner of the upright page.

    Attributes:
        page: Page number, from 1.
        x0: Left edge.
        y0: Lower edge.
        x1: Right edge.
        y1: Upper edge.
    """

    page: int
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell of a table that is not empty.

    Attributes:
        row: Number of its first row, from 0.
        column: Number of its first column, from 0.
        row_span: Number of rows that it spans.
        column_span: Number of columns that it spans.
        is_head: Whether it is in the column headers.
        text: Its text, without Markdown escapes.
    """

    row: int
    column: int
    row_span: int
    column_span: int
    is_head: bool
    text: str


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A block of a text. The blocks are in reading order, and together they form the whole Markdown.

    Two blocks are separated only by a blank line or a page break mark. Offsets count Unicode characters.

    Attributes:
        block_id: Number of the block within the text, from 0.
        start: Offset of its first character in the Markdown.
        end: Offset after its last character; equal to `start` for a block that is not in the Markdown.
        boxes: Its positions, in reading order: one for each page and column that it is on; empty if unknown.
        level: Level of a heading: 1 for a section, 2 for a subsection and so on; None for other blocks.
        number: Number as printed, without brackets, of a heading ("3.2", "A.1"), a formula ("5"), a caption ("2", "IV")
            or a bibliography entry ("17"); None if there is none.
        caption_of: Kind of object that a caption describes; None for other blocks, and for captions of anything else.
        describes: `block_id` of the table or listing that a caption describes; None if that is not known.
        latex: LaTeX of a formula in commands alone, without dollar signs and number; None for other blocks.
        sureness: Confidence that a formula equals its source, on [0, 1]; None for other blocks.
        cells: Cells of a table, row by row; empty for other blocks.
        text: Text of a block that is not in the Markdown, such as a running header; None for other blocks.
    """

    block_id: int
    kind: BlockKind
    start: int
    end: int
    boxes: tuple[PageBox, ...] = ()
    level: int | None = None
    number: str | None = None
    caption_of: MentionKind | None = None
    describes: int | None = None
    latex: str | None = None
    sureness: float | None = None
    cells: tuple[TableCell, ...] = ()
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Mention:
    """A place in a text that refers to an entry of the bibliography, a formula, a caption or a section.

    Attributes:
        block_id: The block that contains it.
        start: Offset of its first character in the Markdown.
        end: Offset after its last character. A number inside a range ("[3-5]") has the offsets of the whole range.
        number: The number as printed, or authors and year ("Smith et al. 2020").
        target: `block_id` of the bibliography entry, formula, caption or heading; None if none or several have that
            number, or if the sentence is about another work.
    """

    kind: MentionKind
    block_id: int
    start: int
    end: int
    number: str
    target: int | None


@dataclass(frozen=True, slots=True)
class BibliographyEntry:
    """An entry of the list of references, with its identifiers.

    Attributes:
        block_id: Its block, whose text is the whole entry.
        number: Its number or label, without brackets; None in a list without numbers.
        year: Year with its letter, as printed ("2020a"); None if none is found.
        doi: DOI as printed, without the URL of a resolver; None if there is none.
        urls: URLs, as printed.
    """

    block_id: int
    number: str | None = None
    year: str | None = None
    doi: str | None = None
    urls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FigureImage:
    """A caption of a figure or a table, and the file with the image of it.

    Attributes:
        label: The label in full, such as "Figure 3".
        caption: The whole caption.
        page: Page number of the caption, from 1.
        block_id: The block of the caption; None if the text has no blocks, or not exactly one that fits.
        box: Position of the figure on the page; None if nothing is drawn next to the caption.
        file: Path of the image relative to the folder of the JSON file; None if `problem` states why there is none.
        width_px: Width of the image; None, like its height, if there is no image.
        problem: Why there is no image, as a sentence; None if there is one.
    """

    kind: FigureKind
    label: str
    caption: str
    page: int
    block_id: int | None
    box: PageBox | None
    file: str | None
    width_px: int | None
    height_px: int | None
    problem: str | None

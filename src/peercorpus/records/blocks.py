"""Records about the parts of a text: its blocks with their places on the pages, and what its sentences refer to."""

from dataclasses import dataclass

from peercorpus.records.enums import BlockKind, FigureKind, MentionKind


@dataclass(frozen=True, slots=True)
class PageBox:
    """A rectangle on a page, in points (1/72 inch) from the lower left corner of the page as it is shown upright.

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
        row_span: Rows that it takes.
        column_span: Columns that it takes.
        is_head: Whether it is in the heads of the columns.
        text: Its text, without the escapes of Markdown.
    """

    row: int
    column: int
    row_span: int
    column_span: int
    is_head: bool
    text: str


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A block of a text. The blocks are in reading order, and together they are the whole Markdown.

    Between two blocks there is only a blank line or the mark of a page break. Offsets count Unicode characters.

    Attributes:
        block_id: Number of the block within the text, from 0.
        start: Offset of its first character in the Markdown.
        end: Offset behind its last character; equal to `start` for what is not in the Markdown.
        boxes: Its places, in reading order: one for each page and column on which it stands; empty if not known.
        level: Of a heading: 1 for a section, 2 for a subsection and so on; None for other blocks.
        number: As printed, without brackets: of a heading ("3.2", "A.1"), a formula ("5"), a caption ("2", "IV") or
            an entry of the bibliography ("17"); None if there is none.
        caption_of: What a caption describes; None for other blocks, and for captions of anything else.
        describes: `block_id` of the table or listing that a caption describes; None if that is not known.
        latex: LaTeX of a formula in commands alone, without dollar signs and number; None for other blocks.
        sureness: How sure it is that a formula equals its source, on [0, 1]; None for other blocks.
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
        block_id: The block in which it stands.
        start: Offset of its first character in the Markdown.
        end: Offset behind its last character. What lies inside a range ("[3-5]") has the offsets of the whole range.
        number: What it names: the number as printed, or authors and year ("Smith et al. 2020").
        target: `block_id` of the bibliography entry, formula, caption or heading; None if there is none of that number,
            or several, or if the sentence speaks of another work.
    """

    kind: MentionKind
    block_id: int
    start: int
    end: int
    number: str
    target: int | None


@dataclass(frozen=True, slots=True)
class BibliographyEntry:
    """An entry of the list of references, as far as it states what can be looked up.

    Attributes:
        block_id: Its block, whose text is the whole entry.
        number: Its number or label, without brackets; None in a list without numbers.
        year: The year with its letter, as printed ("2020a"); None if none is found.
        doi: As printed, without the address of a resolver; None if there is none.
        urls: Addresses, as printed.
    """

    block_id: int
    number: str | None = None
    year: str | None = None
    doi: str | None = None
    urls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FigureImage:
    """A caption of a figure or a table, and the file with the image of what it describes.

    Attributes:
        label: In full, such as "Figure 3".
        caption: The whole caption.
        page: Page number of the caption, from 1.
        block_id: The block of the caption; None where the text has no blocks, or not exactly one that fits.
        box: Place of the figure on the page; None where nothing is drawn next to the caption.
        file: Path of the image relative to the folder of the JSON; None where `problem` says why there is none.
        width_px: Width of the image; None, like its height, where there is none.
        problem: Why there is no image, as a sentence; None where there is one.
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

"""Records of the parts of a text: its blocks with their positions on the pages, and the references in its sentences."""

from dataclasses import dataclass
from typing import Annotated

from peercorpus.records.enums import BlockKind, FigureKind, MentionKind


@dataclass(frozen=True, slots=True)
class PageBox:
    """A rectangle on a page, in points (1/72 inch)."""

    page: Annotated[int, "from 1"]
    x0: Annotated[float, "left edge, in points from the left edge of the page as it is shown upright"]
    y0: Annotated[float, "lower edge, in points from its lower edge"]
    x1: Annotated[float, "right edge"]
    y1: Annotated[float, "upper edge"]


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell of a table that is not empty."""

    row: Annotated[int, "of its first row, from 0"]
    column: Annotated[int, "of its first column, from 0"]
    row_span: Annotated[int, "rows that it takes"]
    column_span: Annotated[int, "columns that it takes"]
    is_head: Annotated[bool, "whether it is in the heads of the columns"]
    text: Annotated[str, "without the escapes of Markdown; empty cells are left out"]


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A block of a text. The blocks are in reading order, and together they form the whole Markdown.

    Two blocks are separated only by a blank line or a page break mark. Offsets count Unicode characters.
    """

    block_id: Annotated[int, "number within the text, from 0"]
    kind: Annotated[
        BlockKind, "`title`, `heading`, `paragraph`, `list_item`, `formula`, `table`, `caption`, `listing`, …"
    ]
    start: Annotated[int, "offset of its first character in `markdown`"]
    end: Annotated[int, "offset behind its last character; equal to `start` for what is not in `markdown`"]
    boxes: Annotated[tuple[PageBox, ...], "its places: one for each page and column; empty if not known"] = ()
    level: Annotated[int | None, "of a heading: 1 for a section, 2 for a subsection, and so on"] = None
    number: Annotated[
        str | None, "of a heading, formula, caption or bibliography entry, as printed, without brackets"
    ] = None
    caption_of: Annotated[
        MentionKind | None, "`figure`, `table`, `algorithm` or `listing`; null for all but captions"
    ] = None
    describes: Annotated[
        int | None, "`block_id` of the table or listing that a caption describes; null if not known"
    ] = None
    latex: Annotated[str | None, "of a formula in commands alone, without dollar signs and number"] = None
    sureness: Annotated[float | None, "how sure it is that a formula equals its source, from 0 to 1"] = None
    cells: Annotated[tuple[TableCell, ...], "of a table, row by row"] = ()
    text: Annotated[
        str | None, "of what is not in `markdown`, such as a running header; null in a release without authors"
    ] = None


@dataclass(frozen=True, slots=True)
class Mention:
    """A place in a text that refers to an entry of the bibliography, a formula, a caption or a section.

    A number inside a range ("[3-5]") has the offsets of the whole range.
    """

    kind: Annotated[MentionKind, "`citation`, `equation`, `figure`, `table`, `algorithm`, `listing` or `section`"]
    block_id: Annotated[int, "the block in which it stands"]
    start: Annotated[int, "offset of its first character in `markdown`"]
    end: Annotated[int, "offset behind its last character"]
    number: Annotated[str, "what it names: the number as printed, or authors and year"]
    target: Annotated[
        int | None, "`block_id` of what it refers to; null if that is not there, not clear, or in another work"
    ]


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

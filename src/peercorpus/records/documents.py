"""Records of files: the text of a PDF, signs of its version, and passages changed between two versions."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from peercorpus.records.blocks import TextBlock
from peercorpus.records.enums import ChangeKind, FigureKind, SignKind


@dataclass(frozen=True, slots=True)
class VersionSign:
    """One sign in a file that indicates which version of the paper it is.

    Attributes:
        kind: Kind of the sign.
        page: Page number from 1; None for the file's metadata.
        words: The words found, verbatim, at most 200 characters. If they would name a person, a description instead
            ("an e-mail address above the abstract"); e-mail addresses are never included.
    """

    kind: SignKind
    page: int | None
    words: str


@dataclass(frozen=True, slots=True)
class Inspection:
    """Evidence in one file for the version of the paper that it is.

    Attributes:
        sha256: Digest of the file.
        forum_id: The forum that has the file; of several, the one whose id sorts first.
        pages: Number of pages.
        made_at: Creation time in the file's metadata; None if missing or not a time.
        changed_at: Modification time in the file's metadata; None if missing or not a time.
        producer: The program that made the file, from its metadata, at most 200 characters.
        signs: The signs found, in the order of the file.
        problems: Descriptions of parts that could not be read.
        inspector: Version of the code that inspected the file.
    """

    sha256: str
    forum_id: str
    venue_id: str
    pages: int
    made_at: datetime | None
    changed_at: datetime | None
    producer: str | None
    signs: tuple[VersionSign, ...]
    problems: tuple[str, ...]
    inspector: str = ""


@dataclass(frozen=True, slots=True)
class TextHeading:
    """A heading of a paper; its title is none."""

    level: Annotated[int, "1 for a section, 2 for a subsection, and so on"]
    title: Annotated[str, "as in the text, with its number"]
    page: Annotated[int, "from 1"]


@dataclass(frozen=True, slots=True)
class TextQuality:
    """Quality of the reading of a text.

    Attributes:
        unknown_characters: Share of characters that could not be mapped to Unicode, on [0, 1].
        empty_pages: Number of pages without any text.
        figure_characters: Number of characters inside figures; they are not part of the Markdown.
        formulas: Number of displayed formulas.
        formula_sureness: Mean confidence that a displayed formula equals its source, on [0, 1]; None if there is no
            formula or the engine does not report it.
    """

    unknown_characters: float
    empty_pages: int
    figure_characters: int
    formulas: int
    formula_sureness: float | None


@dataclass(frozen=True, slots=True)
class Change:
    """One passage in which the last version of a paper differs from the version that the reviewers read.

    A passage that is in both versions word for word was neither added nor removed: it moved if it is under another
    heading, or is more often in one of them, and otherwise is not a change, however sections are numbered, named and
    ordered. The list of references, the numbers of cited works and of equations, line numbers and running headers are
    ignored. Changes are not matched to the reviews that they answer.

    Attributes:
        left_sha256: Digest of the file the reviewers read.
        right_sha256: Digest of the last file that has a text.
        number: Number of the change within the paper, from 1, in the order of the earlier text.
        changes: Number of changes of the paper.
        kind: Whether the passage was added, removed, changed or moved.
        section: The heading above the passage: in the later version for an added passage, otherwise in the earlier one.
            None above the first heading.
        before: The passage in the earlier text, verbatim but without line numbers, running headers and floats; empty if
            it was added.
        after: The passage in the later text, likewise; empty if it was removed.
        later_section: The heading above the passage in the later version; None if it was removed, or above the first
            heading.
    """

    forum_id: str
    venue_id: str
    left_sha256: str
    right_sha256: str
    number: int
    changes: int
    kind: ChangeKind
    section: str | None
    before: str
    after: str
    later_section: str | None = None


PAGE_BREAK = "\n\n---\n\n"
"""Separator between two pages of a `PaperText`."""


@dataclass(frozen=True, slots=True)
class PaperText:
    r"""The text of one file as Markdown, made by one engine or taken from a published record.

    Attributes:
        sha256: Digest of the file; for a text from a published record, digest of its UTF-8 bytes.
        engine: The engine that read the file; `reviewbench` or `re2` for a text from that dataset.
        engine_version: Version of the engine; empty if a dataset does not state it.
        markdown: The pages, joined by `\n\n---\n\n`; a published text is verbatim.
        pages: Number of pages; None if a dataset does not state it.
        characters_per_page: Mean number of characters per page; None if the number of pages is unknown.
        problems: Descriptions of what the engine could not do.
        headings: The headings in the order of the text; empty if the engine does not report them.
        figures: Text inside figures, one entry per page that has any; not part of `markdown`.
        quality: Quality of the reading; None if the engine or the dataset does not report it.
        ocr_pages: Pages read by OCR, numbered from 1.
        heavier_pages: Pages that the engine `auto` sent to a heavier engine, numbered from 1.
        blocks: The text block by block; None if the engine or the dataset does not provide blocks.
    """

    sha256: str
    venue_id: str
    engine: str
    engine_version: str
    markdown: str
    pages: int | None
    characters_per_page: float | None
    problems: tuple[str, ...]
    headings: tuple[TextHeading, ...] = ()
    figures: tuple[str, ...] = ()
    quality: TextQuality | None = None
    ocr_pages: tuple[int, ...] = ()
    heavier_pages: tuple[int, ...] = ()
    blocks: tuple[TextBlock, ...] | None = None


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure or table of a file, cut out of its page with the help of its caption.

    Attributes:
        sha256: Digest of the file.
        forum_id: The forum that has the file; of several, the first one.
        number: Number of the caption within the file, from 1, in the order of the text.
        kind: Kind according to the caption.
        label: The label in full, such as "Figure 3" or "Table IV".
        caption: The caption as Markdown, as the engine `pdfium-layout` reads it.
        page: Page number, from 1.
        x0: Left edge of the figure without its caption, in points from the left edge of the upright page; None, like
            the other edges, if nothing was found next to the caption.
        y0: Lower edge, in points from the lower edge of the page.
        x1: Right edge.
        y1: Upper edge.
        image: The image; None if there is no box, or for the reason in `problem`.
        image_format: "webp"; None without an image.
        width_px: Width of the image, in pixels.
        height_px: Height of the image, in pixels.
        problem: Why there is no image, in words; None if there is one.
        made_with: Versions of the code and the libraries, and the limits of size and number.
    """

    sha256: str
    forum_id: str
    venue_id: str
    number: int
    kind: FigureKind
    label: str
    caption: str
    page: int
    x0: float | None
    y0: float | None
    x1: float | None
    y1: float | None
    image: bytes | None
    image_format: str | None
    width_px: int | None
    height_px: int | None
    problem: str | None
    made_with: str

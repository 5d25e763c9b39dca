"""Read one PDF with the references in its text, and write and read its `NAME.json` beside the Markdown."""

import hashlib
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from peercorpus.corpus.structured_text import StructuredText
from peercorpus.errors import PeercorpusError
from peercorpus.latex.maths import write_with_commands
from peercorpus.records.blocks import BibliographyEntry, FigureImage, Mention, TableCell, TextBlock
from peercorpus.records.documents import TextHeading, TextQuality
from peercorpus.records.enums import BlockKind, Reason
from peercorpus.texts.engine import Converted, EngineJob, convert_file
from peercorpus.workspace.object_store import Location

CONVERTED = "converted"
FAILED = "failed"


@dataclass(frozen=True, slots=True)
class TextParts:
    """The blocks of a text, and the references in it."""

    blocks: tuple[TextBlock, ...]
    mentions: tuple[Mention, ...]
    bibliography: tuple[BibliographyEntry, ...]

    def __reduce__(self) -> tuple[Callable[[bytes], "TextParts"], tuple[bytes]]:
        """Pickle as MessagePack, like `Converted`."""
        return partial(msgspec.msgpack.decode, type=TextParts), (msgspec.msgpack.encode(self),)


def find_parts(converted: Converted) -> TextParts | None:
    """Return the parts of a text; None if its engine reports no blocks."""
    if converted.blocks is None:
        return None
    text = StructuredText(converted.markdown, converted.blocks)
    return TextParts(text.blocks, text.mentions, text.bibliography)


class TimedText(NamedTuple):
    """The text of one file without its blocks, these with the references (None if unreported), and the seconds."""

    converted: Converted
    parts: TextParts | None
    seconds: float


def convert_timed(job: EngineJob, *, commands: bool = False) -> TimedText:
    """Read one file, its formulas in commands or signs, and find the references in its text."""
    started = time.perf_counter()
    converted = convert_file(job)
    if commands:
        converted = write_formula_commands(converted)
    parts = find_parts(converted)
    return TimedText(replace(converted, blocks=None), parts, time.perf_counter() - started)


@dataclass(frozen=True, slots=True)
class Measures:
    """Content of `NAME.json`: the data on one PDF.

    Attributes:
        source: File name of the PDF, without folders.
        path: Path of the PDF relative to the folder of the pair; the complete URL if one of them is in a store.
        sha256: SHA-256 of its content; None if it could not be opened.
        formulas: Form of formulas in the Markdown: "unicode" with letters and signs, or "latex" with commands.
        status: "converted" or "failed".
        reason: Why there is no Markdown, with `detail` as a sentence; both None if there is Markdown.
        pages: Number of pages; None, like all following fields, if there is no Markdown.
        markdown_sha256: SHA-256 of `NAME.md`, which the blocks describe; None also from earlier versions.
        characters: Characters of all pages, without page separators.
        figures: Text inside figures, which is not in the Markdown; one entry for each page with any.
        ocr_pages: Numbers, from 1, of the pages recognised from their image.
        heavier_pages: Numbers, from 1, of the pages read by `auto`'s heavier engine.
        seconds: Time taken for reading, in seconds; None if unknown.
        blocks: The text of `NAME.md` block by block; None also if the engine reports no blocks.
        mentions: References in the text; None if `blocks` is.
        bibliography: The entries of the list of references; None if `blocks` is.
        images: Captions of figures and tables, each with its image; None if images were not requested.
        images_made_with: Code, libraries and limits that determine the images; None if `images` is.
    """

    source: str
    path: str
    sha256: str | None
    engine: str
    engine_version: str
    formulas: str = "unicode"
    status: str = FAILED
    reason: Reason | None = None
    detail: str | None = None
    pages: int | None = None
    markdown_sha256: str | None = None
    characters: int | None = None
    headings: tuple[TextHeading, ...] | None = None
    quality: TextQuality | None = None
    problems: tuple[str, ...] | None = None
    figures: tuple[str, ...] | None = None
    ocr_pages: tuple[int, ...] | None = None
    heavier_pages: tuple[int, ...] | None = None
    seconds: float | None = None
    blocks: tuple[TextBlock, ...] | None = None
    mentions: tuple[Mention, ...] | None = None
    bibliography: tuple[BibliographyEntry, ...] | None = None
    images: tuple[FigureImage, ...] | None = None
    images_made_with: str | None = None

    def failed(self, reason: Reason, detail: str) -> "Measures":
        """Return these measures for a PDF that could not be read."""
        return replace(self, status=FAILED, reason=reason, detail=detail)

    def converted(self, result: Converted, parts: TextParts | None, seconds: float | None) -> "Measures":
        """Return these measures for a PDF that was read, with the parts of the written text."""
        return replace(
            self,
            status=CONVERTED,
            pages=result.pages,
            characters=result.characters,
            headings=result.headings,
            quality=result.quality,
            problems=result.problems,
            figures=result.figures,
            ocr_pages=result.ocr_pages,
            heavier_pages=result.heavier_pages,
            seconds=None if seconds is None else round(seconds, 3),
            blocks=None if parts is None else parts.blocks,
            mentions=None if parts is None else parts.mentions,
            bibliography=None if parts is None else parts.bibliography,
        )


_OPTIONAL = frozenset(
    field.name
    for kind in (TextBlock, Mention, BibliographyEntry)
    for field in fields(kind)
    if field.default is not MISSING
)
_PARTS = frozenset(field.name for field in fields(TextParts))


def format_measures(content: Mapping[str, object]) -> bytes:
    """Return the content of `NAME.json`, a line for each field and item; null or empty optional fields of parts are
    omitted.
    """
    lines = []
    for name, value in content.items():
        shown = _encode(value)
        if isinstance(value, Sequence) and value and not isinstance(value, str):
            items = [_encode(_leave_out_empty(item) if name in _PARTS else item) for item in value]
            shown = "[\n    " + ",\n    ".join(items) + "\n  ]"
        lines.append(f"  {_encode(name)}: {shown}")
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _leave_out_empty(part: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in part.items() if value or value == 0 or name not in _OPTIONAL}


def _encode(value: object) -> str:
    return msgspec.json.encode(value).decode()


class _StoredImage(msgspec.Struct):
    file: str | None


class StoredPair(msgspec.Struct, frozen=True):
    """What is read of `NAME.json`; `path` is None from versions that did not write it, `blocks` are still encoded."""

    sha256: str | None
    engine: str
    engine_version: str
    status: str
    reason: str | None
    detail: str | None
    path: str | None = None
    formulas: str = "unicode"
    markdown_sha256: str | None = None
    blocks: msgspec.Raw = msgspec.Raw(b"null")
    images: tuple[_StoredImage, ...] | None = None
    images_made_with: str | None = None

    def read_blocks(self) -> tuple[TextBlock, ...] | None:
        """Return the blocks; None if the engine reports none."""
        return msgspec.json.decode(self.blocks, type=tuple[TextBlock, ...] | None)


def read_stored(path: Location) -> StoredPair:
    """Return the content of `NAME.json`; raises an OSError or a msgspec.DecodeError if it cannot be read."""
    return msgspec.json.decode(path.read_bytes(), type=StoredPair)


def compute_markdown_sha256(markdown: str) -> str:
    """Return the SHA-256 of the content of `NAME.md`."""
    return hashlib.sha256(markdown.encode()).hexdigest()


def read_pair(path: Path) -> StructuredText:
    """Return the text of a pair with its blocks.

    Args:
        path: `NAME.json` or `NAME.md`.

    Raises:
        PeercorpusError: The pair is missing or incomplete, or has no blocks.
    """
    json_path, text_path = path.with_suffix(".json"), path.with_suffix(".md")
    try:
        stored = read_stored(json_path)
        blocks = stored.read_blocks()
        markdown = text_path.read_text(encoding="utf-8") if stored.status == CONVERTED else ""
    except (OSError, UnicodeDecodeError, msgspec.DecodeError) as error:
        raise PeercorpusError(
            f"'{path}' cannot be opened: it must be the Markdown or the JSON written by 'peercorpus convert', with"
            f" the other beside it ({error})."
        ) from error
    if stored.status != CONVERTED:
        raise PeercorpusError(f"'{path}' has no text: {stored.detail}")
    if blocks is None:
        raise PeercorpusError(
            f"'{path}' has no blocks: the engine '{stored.engine}' reports none, or an earlier version read the PDF;"
            " convert it again with the default engine."
        )
    text = StructuredText(markdown.removesuffix("\n"), blocks)
    if stored.markdown_sha256 not in {None, compute_markdown_sha256(markdown)} or not text.is_whole():
        raise PeercorpusError(
            f"The blocks of '{json_path}' do not match '{text_path}', which has changed; convert its PDF again."
        )
    return text


_FORMULA = re.compile(
    r"\\."
    r"|```[^`]*```|`[^`\n]*`"
    r"|(?P<mark>\$\$?)(?P<signs>(?!\s)(?:\\[\s\S]|[^$\\])+(?<!\s))(?P=mark)"
)
"""Matches a formula; also escaped characters and code, so that a dollar sign in them begins no formula."""


def write_formula_commands(converted: Converted) -> Converted:
    """Return the text with LaTeX commands in formulas, and with the offsets of its blocks updated.

    Code, and formulas that could not compile, are unchanged; so is the text of an engine without blocks, which writes
    commands itself or finds no formulas.
    """
    if converted.blocks is None:
        return converted
    markdown, blocks = _rewrite(converted.markdown, converted.blocks)
    return replace(
        converted,
        markdown=markdown,
        characters=converted.characters + len(markdown) - len(converted.markdown),
        headings=tuple(replace(heading, title=_replace_formulas(heading.title)) for heading in converted.headings),
        blocks=blocks,
    )


def _rewrite(markdown: str, blocks: Sequence[TextBlock]) -> tuple[str, tuple[TextBlock, ...]]:
    parts: list[str] = []
    moved: list[TextBlock] = []
    at = length = 0
    for block in blocks:
        text = markdown[block.start : block.end]
        written = text if block.kind == BlockKind.UNDIVIDED else _replace_formulas(text)
        start = length + block.start - at
        parts += (markdown[at : block.start], written)
        at, length = block.end, start + len(written)
        moved.append(replace(block, start=start, end=length, cells=tuple(_rewrite_cells(block, text))))
    return "".join([*parts, markdown[at:]]), tuple(moved)


def _replace_formulas(text: str) -> str:
    return _FORMULA.sub(_replace_match, text) if "$" in text else text


def _replace_match(match: re.Match[str]) -> str:
    mark = match["mark"]
    return f"{mark}{write_with_commands(match['signs'])}{mark}" if mark else match[0]


def _rewrite_cells(block: TextBlock, text: str) -> Iterator[TableCell]:
    """Yield the cells of a block; only formulas in the Markdown of the block count as formulas in cells."""
    formulas = {match[0]: _replace_match(match) for match in _FORMULA.finditer(text) if match["mark"]}
    for cell in block.cells:
        written = cell.text
        for formula in formulas if "$" in written else ():
            written = written.replace(formula, formulas[formula])
        yield replace(cell, text=written)

"""Read the blocks of a Markdown text: headings, paragraphs, lists, tables, code, quotations, notes and page breaks."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

MOST_DEPTH = 4
"""Deepest nesting of lists and quotations, as LaTeX allows only a few levels; marks of deeper ones stay in the text."""
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^`]*)")
_ITEM = re.compile(r"( *)([-+*]|\d{1,9}[.)])(?:[ \t]+(.*)|[ \t]*$)")
_QUOTE = re.compile(r" {0,3}> ?(.*)")
_NOTE = re.compile(r" {0,3}\[\^([^\]\s]{1,40})\]:[ \t]*(.*)")
_RULE = re.compile(r" {0,3}(?:-[ \t]*){3,}| {0,3}(?:\*[ \t]*){3,}| {0,3}(?:_[ \t]*){3,}")
_DASHES = re.compile(r":?-+:?")
_PIPE = re.compile(r"(?<!\\)((?:\\\\)*)\|")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading with its level, 1 for the title."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph; `text` has no blank line."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """Lines that are shown verbatim, and the info string of their fence, usually a language."""

    lines: tuple[str, ...]
    info: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """The text of a footnote with its label."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Break:
    """A line of dashes, which separates two pages."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells, all of the same length, the first of which is the header; `columns` are "l", "c" or "r"."""

    columns: str
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Quotation:
    """Blocks that are quoted."""

    blocks: "tuple[Block, ...]"


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a list, with its mark: "" for a bullet, otherwise its number as written."""

    mark: str
    blocks: "tuple[Block, ...]"


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    items: tuple[Item, ...]


Block = Heading | Paragraph | Code | Note | Break | Table | Quotation | Items


def read_blocks(lines: Sequence[str], depth: int = 0) -> list[Block]:
    """Return the blocks of a text.

    >>> read_blocks(["# A title", "Words", "", "- one", "- two"])[:2]
    [Heading(level=1, text='A title'), Paragraph(text='Words')]

    Args:
        lines: Lines without control characters.
        depth: Number of lists and quotations that the lines are nested in.
    """
    return _Reader(lines, depth).read()


class _Reader:
    def __init__(self, lines: Sequence[str], depth: int) -> None:
        self._lines = lines
        self._depth = depth
        self._at = 0
        self._blocks: list[Block] = []
        self._paragraph: list[str] = []

    def read(self) -> list[Block]:
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if not line.strip():
                self._end_paragraph()
                self._at += 1
            elif not self._read_block(line):
                # Spaces at the end of a line are a line break.
                self._paragraph.append(line.strip(" \t") + "  " * line.endswith("  "))
                self._at += 1
        self._end_paragraph()
        return self._blocks

    def _end_paragraph(self) -> None:
        if self._paragraph:
            self._blocks.append(Paragraph("\n".join(self._paragraph).strip()))
            self._paragraph = []

    def _read_block(self, line: str) -> bool:
        for read in (
            self._read_code,
            self._read_heading,
            self._read_rule,
            self._read_display,
            self._read_quotation,
            self._read_items,
            self._read_note,
            self._read_table,
        ):
            block = read(line)
            if block is not None:
                self._end_paragraph()
                self._blocks.append(block)
                return True
        return False

    def _read_heading(self, line: str) -> Heading | None:
        heading = _HEADING.fullmatch(line)
        if heading is None:
            return None
        self._at += 1
        text = heading[2].strip()
        without_marks = text.rstrip("#")
        return Heading(len(heading[1]), without_marks.strip() if without_marks[-1:] in {"", " "} else text)

    def _read_rule(self, line: str) -> Break | None:
        if not _RULE.fullmatch(line):
            return None
        self._at += 1
        return Break()

    def _is_item(self, line: str) -> bool:
        item = _ITEM.fullmatch(line)
        if item is None or len(item[1]) > _MOST_INDENT:
            return False
        # Within a paragraph, only a bullet or the number 1 followed by text begins a list.
        return not self._paragraph or (bool(item[3]) and (item[2] in "-+*" or item[2][:-1] == "1"))

    def _read_code(self, line: str) -> Code | None:
        fence = _FENCE.fullmatch(line)
        if fence is None:
            return None
        end = re.compile(rf" {{0,3}}{re.escape(fence[1][0])}{{{len(fence[1])},}}[ \t]*")
        first = self._at + 1
        last = first
        while last < len(self._lines) and not end.fullmatch(self._lines[last]):
            last += 1
        self._at = last + 1
        return Code(tuple(self._lines[first:last]), fence[2].strip())

    def _read_display(self, line: str) -> Paragraph | None:
        """Read a displayed formula over several lines, in which blank lines and marks have no meaning."""
        if line.count("$$") % 2 == 0 or not line.lstrip().startswith("$$"):
            return None
        for last in range(self._at + 1, min(self._at + _MOST_FORMULA_LINES, len(self._lines))):
            if "$$" in self._lines[last]:
                rows = [row for row in self._lines[self._at : last + 1] if row.strip()]
                self._at = last + 1
                return Paragraph("\n".join(rows).strip())
        return None

    def _read_quotation(self, line: str) -> Quotation | None:
        if self._depth >= MOST_DEPTH or not _QUOTE.fullmatch(line):
            return None
        inner = []
        while self._at < len(self._lines) and (quote := _QUOTE.fullmatch(self._lines[self._at])):
            inner.append(quote[1])
            self._at += 1
        return Quotation(tuple(read_blocks(inner, self._depth + 1)))

    def _read_items(self, line: str) -> Items | None:
        if self._depth >= MOST_DEPTH or not self._is_item(line):
            return None
        items = []
        while self._at < len(self._lines) and (item := _ITEM.fullmatch(self._lines[self._at])):
            if _RULE.fullmatch(self._lines[self._at]) or len(item[1]) > _MOST_INDENT:
                break
            items.append(self._read_item(item))
            self._skip_blank_lines()
        return Items(tuple(items))

    def _read_item(self, item: re.Match[str]) -> Item:
        """Read one item: its line, and the following lines that are indented or belong to its last paragraph."""
        indent = len(item[1])
        inner = [item[3] or ""]
        self._at += 1
        while self._at < len(self._lines):
            line = self._lines[self._at]
            width = len(line) - len(line.lstrip(" "))
            if not line.strip():
                following = self._skip_blank_lines()
                if following is None or len(following) - len(following.lstrip(" ")) <= indent + 1:
                    break
                inner.append("")
                continue
            if width <= indent and (not inner[-1].strip() or _starts_block(line)):
                break
            inner.append(line[min(width, indent + 2) :])
            self._at += 1
        mark = "" if item[2] in "-+*" else item[2]
        return Item(mark, tuple(read_blocks(inner, self._depth + 1)))

    def _skip_blank_lines(self) -> str | None:
        while self._at < len(self._lines):
            if self._lines[self._at].strip():
                return self._lines[self._at]
            self._at += 1
        return None

    def _read_note(self, line: str) -> Note | None:
        note = _NOTE.fullmatch(line)
        if note is None:
            return None
        text = [note[2]]
        self._at += 1
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if not line.strip() or _starts_block(line):
                break
            text.append(line.strip())
            self._at += 1
        return Note(note[1], "\n".join(text).strip())

    def _read_table(self, line: str) -> Table | None:
        following = self._lines[self._at + 1] if self._at + 1 < len(self._lines) else ""
        if "|" not in line or "|" not in following:
            return None
        marks = split_cells(following)
        if not all(_DASHES.fullmatch(mark) for mark in marks) or len(marks) != len(split_cells(line)):
            return None
        rows = [split_cells(line)]
        self._at += 2
        while self._at < len(self._lines) and "|" in self._lines[self._at]:
            rows.append(split_cells(self._lines[self._at]))
            self._at += 1
        width = max(map(len, rows))
        columns = "".join("lrc"[mark.endswith(":") + (mark.endswith(":") and mark.startswith(":"))] for mark in marks)
        cells = tuple((*row, *[""] * (width - len(row))) for row in rows)
        return Table(columns.ljust(width, "l"), cells)


_MOST_FORMULA_LINES = 200
_MOST_INDENT = 60
"""Widest indentation of an item; the Markdown of papers has no wider one."""


def _starts_block(line: str) -> bool:
    return bool(
        _HEADING.fullmatch(line)
        or _FENCE.fullmatch(line)
        or _QUOTE.fullmatch(line)
        or _ITEM.fullmatch(line)
        or _RULE.fullmatch(line)
        or _NOTE.fullmatch(line)
    )


def split_cells(line: str) -> list[str]:
    r"""Return the cells of a row of a table; `\|` is a pipe within a cell.

    >>> split_cells(r"| a | b \| c |")
    ['a', 'b | c']
    """
    cells = _PIPE.sub("\\1\0", line.strip().removeprefix("|")).split("\0")
    if len(cells) > 1 and not cells[-1].strip():
        cells.pop()
    return [cell.strip().replace("\\|", "|") for cell in cells]

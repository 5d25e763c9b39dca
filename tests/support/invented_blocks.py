"""A text made of one-line blocks, for tests of references between them."""

from typing import Any

from peercorpus.corpus.structured_text import StructuredText
from peercorpus.records.blocks import TextBlock
from peercorpus.records.documents import PAGE_BREAK
from peercorpus.records.enums import BlockKind, MentionKind

NEXT_PAGE = "next page"
"""Represents the end of a page."""
Part = tuple[BlockKind, str, dict[str, Any]] | str


def heading(number: str | None, title: str, level: int = 1) -> Part:
    shown = " ".join(filter(None, (number, title)))
    return BlockKind.HEADING, f"{'#' * (level + 1)} {shown}", {"number": number, "level": level}


def formula(number: str | None, latex: str = "a = b") -> Part:
    return BlockKind.FORMULA, f"$${latex}$$" + (f" ({number})" if number else ""), {"number": number, "latex": latex}


def caption(kind: MentionKind, number: str, words: str = "Weights.") -> Part:
    return BlockKind.CAPTION, f"{kind.value.title()} {number}: {words}", {"number": number, "caption_of": kind}


def entry(text: str, number: str | None = None) -> Part:
    return BlockKind.ENTRY, f"[{number}] {text}" if number else text, {"number": number}


def structured(*parts: Part) -> StructuredText:
    """A text of these blocks; a string is a paragraph, `NEXT_PAGE` the end of a page."""
    markdown = ""
    blocks: list[TextBlock] = []
    between = ""
    for part in parts:
        if part == NEXT_PAGE:
            between = PAGE_BREAK
            continue
        kind, text, fields = (BlockKind.PARAGRAPH, part, {}) if isinstance(part, str) else part
        markdown += between
        start = len(markdown)
        markdown += text
        blocks.append(TextBlock(len(blocks), kind, start, len(markdown), **fields))
        between = "\n\n"
    return StructuredText(markdown, tuple(blocks))

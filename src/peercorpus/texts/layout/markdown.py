"""Blocks as Markdown."""

import re

from peercorpus.texts.layout.blocks import Block, Kind
from peercorpus.texts.layout.formulas import inline, whole
from peercorpus.texts.layout.joining import Joiner
from peercorpus.texts.layout.lines import Line
from peercorpus.texts.layout.paragraphs import BULLET

DEEPEST = 6
MARKED = re.compile(r"[#>|]|[-+*] ")
"""What would be a heading, a quotation, a table or a list."""


def _said(line: Line) -> str:
    return inline(line.runs, line.base, line.size)


def render(block: Block, joiner: Joiner) -> str:
    """The Markdown of one block."""
    if block.markdown is not None:
        return block.markdown
    text, is_cut = _said(block.lines[0]), block.lines[0].is_cut
    for line in block.lines[1:]:
        text, is_cut = joiner.join(text, _said(line), is_cut=is_cut), line.is_cut
    text = whole(text) + ("-" if is_cut else "")
    if block.kind is Kind.TITLE:
        return f"# {text}"
    if block.kind is Kind.HEADING:
        return f"{'#' * min(DEEPEST, block.level + 1)} {text}"
    if block.kind is Kind.ITEM:
        return f"- {BULLET.sub('', text, count=1)}" if BULLET.match(text) else text
    return f"\\{text}" if MARKED.match(text) else text

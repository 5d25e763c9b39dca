"""Blocks as Markdown."""

import re
from collections.abc import Sequence
from dataclasses import replace

from peercorpus.texts.layout.blocks import Block, Kind
from peercorpus.texts.layout.formulas import inline, whole
from peercorpus.texts.layout.glyphs import Run
from peercorpus.texts.layout.joining import Joiner
from peercorpus.texts.layout.lines import Line
from peercorpus.texts.layout.paragraphs import BULLET

DEEPEST = 6
MARKED = re.compile(r"[#>|]|[-+*] ")
"""What would be a heading, a quotation, a table or a list."""
ENDS = (".", ":", "?")
"""How a head ends that stands at the beginning of a paragraph."""
LEAST, MOST = 3, 120
"""Characters of one, without spaces between runs."""


def _said(line: Line) -> str:
    return inline(line.runs, line.base, line.size)


def _text(lines: Sequence[Line], joiner: Joiner) -> str:
    text, is_cut = "", False
    for number, line in enumerate(lines):
        said = _said(line)
        text, is_cut = joiner.join(text, said, is_cut=is_cut) if number else said, line.is_cut
    return whole(text) + ("-" if is_cut else "")


def _with_run_in(lines: Sequence[Line], joiner: Joiner) -> str:
    """A paragraph, with the head in bold that it begins with marked, as in "**Data.** We use"."""
    first = lines[0]
    end = _end_of_head(first.runs) if first.runs[0].font.is_bold else 0
    if not end:
        return _text(lines, joiner)
    head = whole(inline(first.runs[:end], first.base, first.size))
    rest = [replace(first, runs=first.runs[end:], _text=None)] if end < len(first.runs) else []
    said = _text([*rest, *lines[1:]], joiner)
    mark = re.match(r"[.:?]", said) if head[-1] not in ENDS else None
    if mark:
        head, said = head + mark[0], said[1:].lstrip()
    return f"**{head}** {said}"


def _end_of_head(runs: Sequence[Run]) -> int:
    """How many runs are a head in bold that ends with a mark, and goes on in another font; 0 where there is none."""
    end = next((at for at, run in enumerate(runs) if not run.font.is_bold), len(runs))
    text = "".join(run.text for run in runs[:end])
    after = runs[end].text if end < len(runs) else ""
    is_ended = text.endswith(ENDS) or after.startswith(ENDS)
    is_more = len(after) > 1 or end + 1 < len(runs)
    return end if is_ended and is_more and LEAST <= len(text) <= MOST and any(map(str.isalpha, text)) else 0


def render(block: Block, joiner: Joiner) -> str:
    """The Markdown of one block."""
    if block.markdown is not None:
        return block.markdown
    text = _text(block.lines, joiner) if block.kind is not Kind.PARAGRAPH else _with_run_in(block.lines, joiner)
    if block.kind is Kind.TITLE:
        return f"# {text}"
    if block.kind is Kind.HEADING:
        return f"{'#' * min(DEEPEST, block.level + 1)} {text}"
    if block.kind is Kind.ITEM:
        return f"- {BULLET.sub('', text, count=1)}" if BULLET.match(text) else text
    return f"\\{text}" if MARKED.match(text) else text

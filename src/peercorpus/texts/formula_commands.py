"""Write the formulas of a text with LaTeX commands instead of Unicode letters and signs."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from peercorpus.latex.maths import write_with_commands
from peercorpus.records.blocks import TableCell, TextBlock
from peercorpus.records.enums import BlockKind
from peercorpus.texts.engine import Converted

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

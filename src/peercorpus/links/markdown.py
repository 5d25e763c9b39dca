"""What no sentence of a Markdown text goes beyond: its prose, and by themselves each formula, row, caption and note.

A sentence does go on over a caption, a footnote, a table and the end of a page.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from peercorpus.links.asides import CAPTION, NOTICE, is_reference
from peercorpus.links.lines import Line

DISPLAYED = "$$"
ROW = "|"
FENCE = "```"
RULE = re.compile(r"[\s|:-]*$")
"""What stands between the head of a table and its rows."""

ITEM = re.compile("([-*+\u2022]|\\d{1,2}[.)])\\s")
NOTE = re.compile("(<sup>[^<\\s]{1,4}</sup>|[\u2217\u2020\u2021\xa7\xb6])\\s*(?=\\S)")
STRAY = re.compile(r"\d{1,4}$")
"""A number alone: that of a page, or what is left of a formula that was not read."""

ENDED = re.compile("[.!?:;][\"'\u201d\u2019)\\]*_]*(<sup>[^<\\s]{1,4}</sup>|\\d{1,2})?$")


class Kind(Enum):
    """What a block is, as far as its sentences go."""

    PROSE = "prose"
    ITEM = "item"
    ASIDE = "aside"
    ROW = "row"
    FORMULA = "formula"


@dataclass(frozen=True, slots=True)
class Block:
    """Successive lines, and what they are."""

    kind: Kind
    lines: list[Line]


def read_blocks(lines: Sequence[Line]) -> list[Block]:
    r"""The blocks of a section's lines; prose that goes on behind a page or a caption is one with where it began.

    >>> blocks = read_blocks([Line(0, "We"), Line(2, ""), Line(4, "Figure 1: A."), Line(16, ""), Line(18, "go.")])
    >>> [(block.kind.value, [line.words for line in block.lines]) for block in blocks]
    [('prose', ['We', 'go.']), ('aside', ['Figure 1: A.'])]
    """
    found: list[Block] = []
    open_at: int | None = None
    is_interrupted = False
    code = fenced(lines)
    for lot in _lots(lines, code):
        before = found[open_at].lines[-1].words if open_at is not None else ""
        is_interrupted |= lot[0].is_top
        block = Block(Kind.ROW, lot) if lot[0].start in code else _read(lot, before)
        if block is None:
            continue
        words = block.lines[0].words
        if block.kind is Kind.PROSE and open_at is not None and _goes_on(before, words, is_interrupted=is_interrupted):
            found[open_at].lines.extend(block.lines)
            is_interrupted = False
            continue
        found.append(block)
        if block.kind in {Kind.PROSE, Kind.ITEM}:
            open_at, is_interrupted = len(found) - 1, False
        elif block.kind is Kind.FORMULA:
            open_at = None
        elif block.kind is Kind.ASIDE:
            is_interrupted = True
    return found


def fenced(lines: Sequence[Line]) -> frozenset[int]:
    """Where the lines of programs and algorithms begin, with the fences around them; none where a fence stays open."""
    marks = [at for at, line in enumerate(lines) if line.words.startswith(FENCE)]
    pairs = zip(marks[::2], marks[1::2], strict=True) if len(marks) % 2 == 0 else ()
    return frozenset(line.start for first, last in pairs for line in lines[first : last + 1])


def _lots(lines: Sequence[Line], code: frozenset[int]) -> Iterator[list[Line]]:
    """Lines that stand together; each row and item begins anew, and a formula ends where its marks do."""
    lot: list[Line] = []
    for line in lines:
        is_code = line.start in code
        if lot and (is_code or lot[0].start in code or _is_single(line, lot[0]) or line.is_top or _is_complete(lot)):
            yield lot
            lot = []
        if line.words and not (is_code and line.words.startswith(FENCE)):
            lot.append(line)
    if lot:
        yield lot


def _is_single(line: Line, first: Line) -> bool:
    if first.words.startswith(DISPLAYED):
        return not line.words
    return not line.words or line.words.startswith((ROW, DISPLAYED)) or ITEM.match(line.words) is not None


def _is_complete(lot: Sequence[Line]) -> bool:
    first = lot[0].words
    if first.startswith(ROW):
        return True
    return first.startswith(DISPLAYED) and DISPLAYED in (first[len(DISPLAYED) :] if len(lot) == 1 else lot[-1].words)


def _read(lot: list[Line], before: str) -> Block | None:
    """The block that lines are, a footnote without its mark; None where they say nothing."""
    first = lot[0]
    if first.words.startswith(ROW):
        return None if RULE.match(first.words) else Block(Kind.ROW, lot)
    if NOTICE.match(first.words) or (len(lot) == 1 and STRAY.match(first.words)):
        return None
    if first.words.startswith(DISPLAYED):
        return Block(Kind.FORMULA, lot)
    if CAPTION.match(first.words) and not is_reference(first.words, before):
        return Block(Kind.ASIDE, lot)
    note = NOTE.match(first.words)
    if note:
        words = first.words[note.end() :]
        return Block(Kind.ASIDE, [replace(first, start=first.start + note.end(), words=words), *lot[1:]])
    return Block(Kind.ITEM if ITEM.match(first.words) else Kind.PROSE, lot)


def _goes_on(before: str, words: str, *, is_interrupted: bool) -> bool:
    """Whether words go on with a sentence that had no end: in small letters, or behind what came in between."""
    return not ENDED.search(before) and (is_interrupted or words[0].islower() or words[0] in ",.;:)")

"""What stands beside the text: labels below the parts of a figure, and notices at the foot of the first page."""

import re
from collections.abc import Sequence
from itertools import chain

from peercorpus.texts.layout.blocks import Block, Body, Kind
from peercorpus.texts.layout.paragraphs import RUNNING, SET_SMALLER

LABEL = re.compile(r"\(([a-z])\)(?!\w)")
FIRST, FEWEST = "a", 2
"""The first label of a figure's parts, and how many there are at least."""
LONGEST = 3
"""Lines of a label, at most."""
BESIDE = 5.0
"""Points by which the labels of a figure begin elsewhere at least; the items of a list begin at one place."""
FIGURE = re.compile(r"(?:(?:supplementary|extended data) )?fig", re.IGNORECASE)


def with_labels(blocks: Sequence[Block]) -> list[Block]:
    """The same blocks, the labels of a figure's parts put behind its caption, in which they are told."""
    kept: list[Block] = []
    for block in blocks:
        if block.kind is Kind.CAPTION and FIGURE.match(block.lines[0].text):
            labels = _labels(kept, block.page)
            del kept[len(kept) - len(labels) :]
            block.lines += chain.from_iterable(label.lines for label in labels)
        kept.append(block)
    return kept


def _labels(before: Sequence[Block], page: int) -> Sequence[Block]:
    """The last blocks, where they are the labels of a figure, from its first part on."""
    for at in range(len(before) - 1, -1, -1):
        block = before[at]
        if block.kind not in RUNNING or block.page != page or len(block.lines) > LONGEST:
            return ()
        label = LABEL.match(block.lines[0].text)
        if label and label[1] == FIRST:
            return before[at:] if _are_labels(before[at:]) else ()
    return ()


def _are_labels(blocks: Sequence[Block]) -> bool:
    """Whether labels count on from one block or line to the next, and stand side by side."""
    found = [label for block in blocks for line in block.lines for label in LABEL.findall(line.text)]
    if len(found) < FEWEST or found != [chr(ord(FIRST) + number) for number in range(len(found))]:
        return False
    labelled = [line for block in blocks for line in block.lines if LABEL.match(line.text)]
    lefts = [line.left for line in labelled]
    return len(labelled) == 1 or max(lefts) - min(lefts) > BESIDE


def with_notices_last(blocks: Sequence[Block], body: Body) -> list[Block]:
    """The same blocks, what is set small at the foot of the first page put behind all else that begins on it."""
    first = [block for block in blocks if block.page == 0]
    small = [block for block in first if block.lines and _is_small(block, body)]
    text = [block for block in first if not any(block is one for one in small)]
    notices = [block for block in small if _is_at_foot(block, text)]
    behind = [block for block in first if not any(block is one for one in notices)] + notices
    return behind + [block for block in blocks if block.page > 0]


def _is_small(block: Block, body: Body) -> bool:
    if block.kind is Kind.FOOTNOTE:
        return True
    return block.kind is Kind.PARAGRAPH and all(line.size < SET_SMALLER * body.size for line in block.lines)


def _is_at_foot(block: Block, text: Sequence[Block]) -> bool:
    """Whether text stands above a block, and none below it in its column."""
    top, left = block.lines[0].base, min(line.left for line in block.lines)
    right = max(line.right for line in block.lines)
    over = [
        line.base for one in text for line in one.lines if line.page == 0 and line.left < right and line.right > left
    ]
    return bool(over) and min(over) > top

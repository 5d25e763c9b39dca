"""Separate the text of figures from the body, and move labels and notices out of the running text."""

import re
from collections.abc import Sequence
from itertools import chain

from peercorpus.pdf.glyphs import TextRun
from peercorpus.pdf.shapes import Box, Shapes
from peercorpus.texts.layout.blocks import Block, BlockKind, Body, TextLine, read_lines
from peercorpus.texts.layout.paragraphs import CAPTION, MIN_BODY_SIZE_RATIO, RUNNING_TEXT

_MIN_WHOLE_PAGE_SHARE = 0.6
"""Share of a page's characters inside figures above which the figure may be the page itself."""
_MIN_PROSE_CHARACTERS = 40
"""Minimum characters of a line of prose; text in figures is shorter."""
_MIN_PROSE_SHARE = 0.5
"""Minimum share of characters in prose lines if a figure is the page itself."""
_MAX_PICTURES = 100
"""Maximum number of pictures on a page whose labels are searched."""
_MAX_LABEL_CHARACTERS = 40
_MAX_OFF_CENTRE_SHARE = 0.05
"""Maximum distance of the centre of a label from that of its picture, as a share of the picture's width."""
_MAX_LABEL_DISTANCE_EM = 1.7
"""Maximum height of the baseline of a label above its picture, in em."""
_MAX_LABEL_OFFSET_POINTS = 1.0
"""Maximum distance of the baselines of two labels side by side, in points."""

_MIN_PICTURE_POINTS = 20.0
"""Minimum width and height of a picture that may contain text, in points."""


def split_figures(runs: Sequence[TextRun], shapes: Shapes) -> tuple[list[TextRun], list[TextRun]]:
    """Return the runs of the body, and those of figures: in a form XObject or over a raster image."""
    pictures = [box for box in shapes.images if min(box.right - box.left, box.top - box.bottom) > _MIN_PICTURE_POINTS]

    texts = shapes.texts

    def is_over_picture(run: TextRun) -> bool:
        return any(_contains(box, run) for box in pictures)

    # Text recognised in an image has no handle: it is not a text object, and so not part of a form.
    inside = [
        run
        for run in runs
        if (texts is not None and run.handle and run.handle not in texts) or (pictures and is_over_picture(run))
    ]
    most = _MIN_WHOLE_PAGE_SHARE * _count_characters(runs)
    if not inside or (_count_characters(inside) > most and (_is_prose(inside) or _is_scan(runs, pictures, most))):
        return list(runs), []
    own = set(map(id, inside))
    return [run for run in runs if id(run) not in own], inside


def _contains(box: Box, run: TextRun) -> bool:
    return box.holds((run.left + run.right) / 2, run.base)


def _is_scan(runs: Sequence[TextRun], pictures: Sequence[Box], most: float) -> bool:
    return any(_count_characters([run for run in runs if _contains(box, run)]) > most for box in pictures)


def _count_characters(runs: Sequence[TextRun]) -> int:
    return sum([len(run.text) for run in runs])


def _is_prose(runs: Sequence[TextRun]) -> bool:
    lengths = [line.characters for line in read_lines(runs, 0)]
    return sum(length for length in lengths if length >= _MIN_PROSE_CHARACTERS) >= _MIN_PROSE_SHARE * sum(lengths)


def split_labels(lines: list[TextLine], shapes: Shapes) -> tuple[list[TextLine], list[TextLine]]:
    """Return the lines of the body, and the labels centred above pictures side by side; "(a) Before" stays, as a
    caption.
    """
    pictures = [
        box
        for box in (*shapes.images, *shapes.forms)
        if min(box.right - box.left, box.top - box.bottom) > _MIN_PICTURE_POINTS
    ]
    if not 2 <= len(pictures) <= _MAX_PICTURES:
        return lines, []
    short = [
        line
        for line in lines
        if line.characters <= _MAX_LABEL_CHARACTERS and not line.text.startswith("(") and not CAPTION.match(line.text)
    ]
    over = [(line, box) for line in short for box in pictures if _is_above(line, box)]
    labels = {
        id(line)
        for line, box in over
        if any(
            box != other_box and abs(line.base - other_line.base) < _MAX_LABEL_OFFSET_POINTS
            for other_line, other_box in over
        )
    }
    return [line for line in lines if id(line) not in labels], [line for line in lines if id(line) in labels]


def _is_above(line: TextLine, box: Box) -> bool:
    off = abs(line.left + line.right - box.left - box.right) / 2
    return 0 <= line.base - box.top <= _MAX_LABEL_DISTANCE_EM * line.size and off < _MAX_OFF_CENTRE_SHARE * (
        box.right - box.left
    )


_SUBFIGURE_LABEL = re.compile(r"\(([a-z])\)(?!\w)")
_FIRST_LABEL = "a"
_MIN_LABELS = 2
_MAX_LABEL_LINES = 3
_MIN_LABEL_SPREAD_POINTS = 5.0
"""Minimum distance of the left edges of subfigure labels, in points; list items share their left edge."""
_FIGURE_CAPTION = re.compile(r"(?:(?:supplementary|extended data) )?fig", re.IGNORECASE)


def move_labels_behind_captions(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks with subfigure labels moved after the caption of their figure, which refers to them."""
    kept: list[Block] = []
    for block in blocks:
        if block.kind is BlockKind.CAPTION and _FIGURE_CAPTION.match(block.lines[0].text):
            labels = _find_trailing_labels(kept, block.page)
            del kept[len(kept) - len(labels) :]
            block.lines += chain.from_iterable(label.lines for label in labels)
        kept.append(block)
    return kept


def _find_trailing_labels(before: Sequence[Block], page: int) -> Sequence[Block]:
    """Return the last blocks if they are the labels of a figure, from its first subfigure on."""
    for index in range(len(before) - 1, -1, -1):
        block = before[index]
        if block.kind not in RUNNING_TEXT or block.page != page or len(block.lines) > _MAX_LABEL_LINES:
            return ()
        label = _SUBFIGURE_LABEL.match(block.lines[0].text)
        if label and label[1] == _FIRST_LABEL:
            return before[index:] if _are_labels(before[index:]) else ()
    return ()


def _are_labels(blocks: Sequence[Block]) -> bool:
    labels = [label for block in blocks for line in block.lines for label in _SUBFIGURE_LABEL.findall(line.text)]
    if len(labels) < _MIN_LABELS or labels != [chr(ord(_FIRST_LABEL) + number) for number in range(len(labels))]:
        return False
    labelled = [line for block in blocks for line in block.lines if _SUBFIGURE_LABEL.match(line.text)]
    lefts = [line.left for line in labelled]
    return len(labelled) == 1 or max(lefts) - min(lefts) > _MIN_LABEL_SPREAD_POINTS


def move_notices_last(blocks: Sequence[Block], body: Body) -> list[Block]:
    """Return the blocks with small text at the foot of the first page moved after the rest of that page."""
    first = [block for block in blocks if block.page == 0]
    small = [block for block in first if block.lines and _is_small(block, body)]
    text = [block for block in first if not any(block is other for other in small)]
    notices = [block for block in small if _is_at_foot(block, text)]
    behind = [block for block in first if not any(block is other for other in notices)] + notices
    return behind + [block for block in blocks if block.page > 0]


def _is_small(block: Block, body: Body) -> bool:
    if block.kind is BlockKind.FOOTNOTE:
        return True
    return block.kind is BlockKind.PARAGRAPH and all(
        line.size < MIN_BODY_SIZE_RATIO * body.size for line in block.lines
    )


def _is_at_foot(block: Block, text: Sequence[Block]) -> bool:
    top = block.lines[0].base
    left = min(line.left for line in block.lines)
    right = max(line.right for line in block.lines)
    over = [
        line.base
        for other in text
        for line in other.lines
        if line.page == 0 and line.left < right and line.right > left
    ]
    return bool(over) and min(over) > top

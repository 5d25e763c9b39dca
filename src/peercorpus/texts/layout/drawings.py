"""Find drawn figures, such as plots and diagrams, and separate their labels from the body.

A drawing is a group of paths that touch each other, near the caption of a figure. Its labels are the words inside it,
and short lines at its edges, such as those of axes.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from peercorpus.pdf.shapes import Box, Shapes
from peercorpus.texts.layout.blocks import TextLine
from peercorpus.texts.layout.paragraphs import CAPTION

_FIGURE = re.compile(r"(?:(?:Supplementary|Extended Data) )?fig", re.IGNORECASE)
_MAX_PATHS = 5_000
"""Maximum number of paths of a page that are grouped, from the largest."""
_MIN_PATHS = 6
"""Minimum paths of a drawing; a frame around text, or below a heading, has fewer."""
_MIN_WIDTH_POINTS = 30.0
_MIN_HEIGHT_POINTS = 20.0
"""Minimum size of a drawing, in points."""
_MAX_PATH_GAP_POINTS = 4.0
_MAX_CAPTION_GAP_POINTS = 60.0
"""Maximum distance of a drawing from its caption, or from another drawing of the same figure, in points."""
_MAX_LABEL_CHARACTERS = 40
"""Maximum characters of a label; longer lines are prose."""
_MAX_PROSE_SHARE = 0.5
"""Share of characters in prose above which the paths are a frame around text."""
_MAX_LABEL_GAP_EM = 1.0
_MIN_LABEL_GAP_POINTS = 6.0
"""Lower limit, in points, of the maximum distance of a label from its drawing, which is one em of the label."""
_ASCENT_EM = 0.7
_DESCENT_EM = 0.2
"""Height of a line above its baseline and its depth below it, in em."""


@dataclass(slots=True)
class _Group:
    box: Box
    paths: int

    @property
    def is_drawing(self) -> bool:
        left, bottom, right, top = self.box
        return self.paths >= _MIN_PATHS and right - left >= _MIN_WIDTH_POINTS and top - bottom >= _MIN_HEIGHT_POINTS


def split_drawings(
    lines: list[TextLine], shapes: Shapes, tables: Iterable[Box]
) -> tuple[list[TextLine], list[TextLine]]:
    """Return the lines of the body, and the labels of drawn figures; rules of tables do not count as drawings."""
    paths = [*shapes.strokes, *shapes.uprights, *shapes.rules]
    if len(paths) < _MIN_PATHS or not shapes.strokes:
        return lines, []
    captions = [_measure(line) for line in lines if _is_caption(line)]
    if not captions:
        return lines, []
    boxes_of_tables = list(tables)
    drawings = [
        group.box
        for group in _group(paths)
        if group.is_drawing and not any(_measure_gap(group.box, table) <= 0 for table in boxes_of_tables)
    ]
    labels: set[int] = set()
    for drawing in _find_captioned(drawings, captions):
        labels |= _find_labels(drawing, lines)
    return [line for line in lines if id(line) not in labels], [line for line in lines if id(line) in labels]


def _is_caption(line: TextLine) -> bool:
    return bool(CAPTION.match(line.text) and _FIGURE.match(line.text))


def _group(paths: Sequence[Box]) -> list[_Group]:
    groups: list[_Group] = []
    for path in sorted(paths, key=_compute_size, reverse=True)[:_MAX_PATHS]:
        touching = [group for group in groups if _measure_gap(group.box, path) <= _MAX_PATH_GAP_POINTS]
        if not touching:
            groups.append(_Group(path, 1))
            continue
        first, *others = touching
        first.box = _unite([path, *(group.box for group in touching)])
        first.paths += 1 + sum(group.paths for group in others)
        if others:
            groups = [group for group in groups if not any(group is other for other in others)]
    return groups


def _compute_size(box: Box) -> float:
    return box.right - box.left + box.top - box.bottom


def _find_captioned(drawings: Sequence[Box], captions: Sequence[Box]) -> list[Box]:
    reached = list(captions)
    left = list(drawings)
    captioned: list[Box] = []
    while reached and left:
        place = reached.pop()
        near = [box for box in left if _measure_gap(box, place) <= _MAX_CAPTION_GAP_POINTS]
        left = [box for box in left if box not in near]
        captioned += near
        reached += near
    return captioned


def _find_labels(drawing: Box, lines: Sequence[TextLine]) -> set[int]:
    """Return the ids of the lines inside a drawing and at its edges; none if the drawing is a frame around prose."""
    boxes = [(line, _measure(line)) for line in lines if not _is_caption(line)]
    inside = [line for line, box in boxes if drawing.holds((box.left + box.right) / 2, (box.bottom + box.top) / 2)]
    prose = sum(line.characters for line in inside if line.characters > _MAX_LABEL_CHARACTERS)
    if prose > _MAX_PROSE_SHARE * sum(line.characters for line in inside):
        return set()
    labels = {id(line) for line in inside}
    found = True
    while found:
        found = False
        for line, box in boxes:
            reach = max(_MIN_LABEL_GAP_POINTS, _MAX_LABEL_GAP_EM * line.size)
            if (
                id(line) not in labels
                and line.characters <= _MAX_LABEL_CHARACTERS
                and _measure_gap(box, drawing) <= reach
            ):
                labels.add(id(line))
                drawing = _unite([drawing, box])
                found = True
    return labels


def _measure(line: TextLine) -> Box:
    return Box(line.left, line.base - _DESCENT_EM * line.size, line.right, line.base + _ASCENT_EM * line.size)


def _measure_gap(first: Box, second: Box) -> float:
    return max(
        first.left - second.right,
        second.left - first.right,
        first.bottom - second.top,
        second.bottom - first.top,
    )


def _unite(boxes: Sequence[Box]) -> Box:
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    return Box(min(lefts), min(bottoms), max(rights), max(tops))

"""Text inside figures, told apart from the body."""

from collections.abc import Sequence

from peercorpus.texts.layout.glyphs import Run
from peercorpus.texts.layout.lines import Line, read_lines
from peercorpus.texts.layout.paragraphs import CAPTION
from peercorpus.texts.layout.shapes import Box, Shapes

WHOLE_PAGE = 0.6
"""Share of a page's characters inside what was included, from which on it may be the page that was included."""
LONG = 40
"""Characters of a line of prose, at least; what stands in a figure is shorter."""
PROSE = 0.5
"""Share of the characters inside that are of such lines, from which on it is the page."""
MOST = 100
"""Pictures of a page whose labels are sought."""
SHORT = 40
"""Characters of a label beside a picture, at most."""
OFF_CENTRE = 0.05
"""How far the middle of a label is off that of its picture, in the width of the picture, at most."""
NEAR = 1.7
"""How far the baseline of a label is above its picture, in the size of its font, at most."""
LEVEL = 1.0
"""Difference of the baselines of two labels side by side, in points, at most."""

LEAST = 20.0
"""Width and height of a picture, in points, that may hold text."""


def split_figures(runs: Sequence[Run], shapes: Shapes) -> tuple[list[Run], list[Run]]:
    """The runs of the body, and those inside figures: in what was included as a whole, or printed over a picture."""
    pictures = [box for box in shapes.images if min(box.right - box.left, box.top - box.bottom) > LEAST]

    texts = shapes.texts

    def is_over_picture(run: Run) -> bool:
        return any(_holds(box, run) for box in pictures)

    # What was recognised from an image has no handle, as it is no text object: it was not included either.
    inside = [
        run
        for run in runs
        if (texts is not None and run.handle and run.handle not in texts) or (pictures and is_over_picture(run))
    ]
    most = WHOLE_PAGE * _length(runs)
    if not inside or (_length(inside) > most and (_is_prose(inside) or _is_scan(runs, pictures, most))):
        return list(runs), []
    own = set(map(id, inside))
    return [run for run in runs if id(run) not in own], inside


def _is_caption(line: Line) -> bool:
    """Whether a line is the caption of a figure, a table, or a part of one: "(a) …"."""
    return line.text.startswith("(") or CAPTION.match(line.text) is not None


def _holds(box: Box, run: Run) -> bool:
    return box.holds((run.left + run.right) / 2, run.base)


def _is_scan(runs: Sequence[Run], pictures: Sequence[Box], most: float) -> bool:
    """Whether one picture lies behind more characters than that: the page as it was scanned."""
    return any(_length([run for run in runs if _holds(box, run)]) > most for box in pictures)


def _length(runs: Sequence[Run]) -> int:
    return sum([len(run.text) for run in runs])


def _is_prose(runs: Sequence[Run]) -> bool:
    lengths = [line.characters for line in read_lines(runs, 0)]
    return sum(length for length in lengths if length >= LONG) >= PROSE * sum(lengths)


def split_labels(lines: list[Line], shapes: Shapes) -> tuple[list[Line], list[Line]]:
    """The lines of the body, and the labels of pictures side by side: each over the middle of its own, on one height.

    What is lettered, as in "(a) Before", is a caption, and stays.
    """
    pictures = [
        box for box in (*shapes.images, *shapes.forms) if min(box.right - box.left, box.top - box.bottom) > LEAST
    ]
    if not 2 <= len(pictures) <= MOST:
        return lines, []
    short = [line for line in lines if line.characters <= SHORT and not _is_caption(line)]
    over = [(line, box) for line in short for box in pictures if _is_above(line, box)]
    labels = {
        id(line) for line, box in over if any(box != other and abs(line.base - one.base) < LEVEL for one, other in over)
    }
    return [line for line in lines if id(line) not in labels], [line for line in lines if id(line) in labels]


def _is_above(line: Line, box: Box) -> bool:
    off = abs(line.left + line.right - box.left - box.right) / 2
    return 0 <= line.base - box.top <= NEAR * line.size and off < OFF_CENTRE * (box.right - box.left)

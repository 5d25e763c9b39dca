"""Text inside figures, told apart from the body."""

from collections.abc import Sequence

from peercorpus.texts.layout.glyphs import Run
from peercorpus.texts.layout.shapes import Shapes

WHOLE_PAGE = 0.6
"""Share of a page's characters inside what was included, from which on it is the page itself that was included."""

LEAST = 20.0
"""Width and height of a picture, in points, that may hold text."""


def split_figures(runs: Sequence[Run], shapes: Shapes) -> tuple[list[Run], list[Run]]:
    """The runs of the body, and those inside figures: in what was included as a whole, or printed over a picture."""
    pictures = [box for box in shapes.images if min(box.right - box.left, box.top - box.bottom) > LEAST]

    texts = shapes.texts

    def is_over_picture(run: Run) -> bool:
        return any(box.holds((run.left + run.right) / 2, run.base) for box in pictures)

    inside = [
        run for run in runs if (texts is not None and run.handle not in texts) or (pictures and is_over_picture(run))
    ]
    if not inside or sum([len(run.text) for run in inside]) > WHOLE_PAGE * sum([len(run.text) for run in runs]):
        return list(runs), []
    own = set(map(id, inside))
    return [run for run in runs if id(run) not in own], inside

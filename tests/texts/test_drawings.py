"""Labels of drawn figures are distinguished from the body by the paths around them and the caption nearby."""

from dataclasses import replace

import pytest

from invented_lines import line
from peercorpus.pdf.shapes import Box, Shapes
from peercorpus.texts.layout.drawings import split_drawings

FRAME = Box(150, 500, 350, 600)
CURVES = [Box(150 + 30 * step, 500, 180 + 30 * step, 520 + 10 * step) for step in range(6)]
PLOT = Shapes(strokes=[FRAME, *CURVES])
CAPTION = line("Figure 3: Waiting time by the number of crossings.", 470.0)
PROSE = line("The text above the figure goes on to the end of its column, as it does.", 640.0)
INSIDE = line("Xebec", 580.0, left=300, right=330, size=7.0)
TICKS = [line(text, 492.0, left=left, right=left + 15, size=7.0) for text, left in (("137", 170), ("274", 260))]
AXIS = line("tallied sailings", 483.0, left=220, right=280, size=7.0)
LABELS = [INSIDE, *TICKS, AXIS]


def test_words_in_a_plot_and_at_its_axes_are_labels() -> None:
    assert split_drawings([PROSE, *LABELS, CAPTION], PLOT, ()) == ([PROSE, CAPTION], LABELS)


def test_drawings_beside_one_another_share_a_caption() -> None:
    second = [Box(box.left, box.bottom + 130, box.right, box.top + 130) for box in PLOT.strokes]
    label = line("Yawl", 700.0, left=300, right=330)

    assert split_drawings([label, CAPTION], Shapes(strokes=[*PLOT.strokes, *second]), ()) == ([CAPTION], [label])


@pytest.mark.parametrize(
    "caption", ["Table 3: Waiting time.", "Figure 3 shows the waiting time.", "Algorithm 1: Waiting", "A caption"]
)
def test_without_the_caption_of_a_figure_nothing_is_a_label(caption: str) -> None:
    lines = [PROSE, *LABELS, line(caption, 470.0)]

    assert split_drawings(lines, PLOT, ()) == (lines, [])


def test_a_frame_around_text_is_no_drawing() -> None:
    framed = [
        line("This prompt is told to every model, word for word, as it is.", base, left=155) for base in (580.0, 560.0)
    ]

    assert split_drawings([*framed, CAPTION], PLOT, ()) == ([*framed, CAPTION], [])
    few = Shapes(strokes=PLOT.strokes[:2])
    assert split_drawings([INSIDE, CAPTION], few, ()) == ([INSIDE, CAPTION], [])


def test_a_table_keeps_its_cells() -> None:
    assert split_drawings([INSIDE, CAPTION], PLOT, [FRAME]) == ([INSIDE, CAPTION], [])


def test_a_short_line_of_the_body_some_way_off_stays() -> None:
    short = replace(INSIDE, base=615.0)

    assert split_drawings([short, CAPTION], PLOT, ()) == ([short, CAPTION], [])

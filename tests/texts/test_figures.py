"""Text in figures is kept apart from the prose: labels over pictures, and whole pages of diagrams."""

import pytest

from invented_lines import line, run
from peercorpus.pdf.glyphs import TextRun
from peercorpus.pdf.shapes import Box, Shapes
from peercorpus.texts.layout.blocks import TextLine
from peercorpus.texts.layout.figures import split_figures, split_labels

LEFT, RIGHT = Box(100, 500, 200, 600), Box(300, 500, 400, 600)
BESIDE = Shapes(images=[LEFT], forms=[RIGHT])


def over(text: str, box: Box, base: float = 608.0) -> TextLine:
    """A line over the middle of a picture."""
    middle, half = (box.left + box.right) / 2, 2.5 * len(text)
    return line(text, base, left=middle - half, right=middle + half)


def test_labels_above_adjacent_pictures_belong_to_the_figure() -> None:
    body = [line("A sentence that goes on", 650.0), line("below the figure.", 480.0)]
    labels = [over("Before", LEFT), over("After all of it", RIGHT)]
    assert split_labels([body[0], *labels, body[1]], BESIDE) == (body, labels)


@pytest.mark.parametrize(
    "lines",
    [
        [over("One alone", LEFT)],
        [over("(a) Before", LEFT), over("(b) After", RIGHT)],
        [over("Before", LEFT), over("After", RIGHT, 640.0)],
        [over("Before", LEFT, 560.0), over("After", RIGHT, 560.0)],
        [line("Before", 608.0, left=100.0, right=120.0), line("After", 608.0, left=300.0, right=320.0)],
        [over("Before and after, as they were seen by all who came", box) for box in (LEFT, RIGHT)],
    ],
    ids=["one", "captions", "too high", "inside", "at the left", "long"],
)
def test_other_lines_above_pictures_are_kept(lines: list[TextLine]) -> None:
    assert split_labels(lines, BESIDE) == (lines, [])


def test_captions_above_adjacent_pictures_are_kept() -> None:
    captions = [over("Table 1: Ours", LEFT), over("Table 2: Theirs", RIGHT)]
    assert split_labels(captions, BESIDE) == (captions, [])


def test_text_recognised_from_an_image_is_not_a_figure() -> None:
    words = [run(text, 110, 590.0 - 12 * at) for at, text in enumerate(["Printed", "words"])]
    assert split_figures(words, Shapes(texts={3})) == (words, [])


def test_a_label_above_a_single_picture_is_kept() -> None:
    lines = [over("Results", LEFT)]
    assert split_labels(lines, Shapes(images=[LEFT])) == (lines, [])


def inside(texts: list[str]) -> list[TextRun]:
    return [run(text, 110, 590.0 - 12 * at, handle=7) for at, text in enumerate(texts)]


def test_text_of_diagrams_is_kept_separate_even_on_a_nearly_empty_page() -> None:
    labels, caption = inside(["0.25", "0.50", "0.75", "learning rate"] * 8), run("Figure 4: Loss.", handle=3)
    assert split_figures([*labels, caption], Shapes(texts={3})) == ([caption], labels)


def test_a_page_included_as_a_whole_is_not_a_figure() -> None:
    prose = inside(["A line of a paper that was included as a whole, and that goes on"] * 8)
    number = run("12", handle=3)
    assert split_figures([*prose, number], Shapes(texts={3})) == ([*prose, number], [])


def test_a_scan_behind_the_text_is_not_a_figure() -> None:
    runs = inside(["ITEM 4", "Paid", "12.50"] * 8)
    assert split_figures(runs, Shapes(images=[Box(0, 0, 600, 800)])) == (runs, [])

"""Text in figures and their labels are kept apart from the prose, notices of the first page follow its text."""

import pytest

from invented_lines import BODY, LEFT, line, run
from peercorpus.pdf.glyphs import TextRun
from peercorpus.pdf.shapes import Box, Shapes
from peercorpus.texts.layout.blocks import Block, BlockKind, TextLine
from peercorpus.texts.layout.drawings import split_drawings
from peercorpus.texts.layout.figures import move_labels_behind_captions, move_notices_last, split_figures, split_labels

WEST, EAST = Box(100, 500, 200, 600), Box(300, 500, 400, 600)
BESIDE = Shapes(images=[WEST], forms=[EAST])


def over(text: str, box: Box, base: float = 608.0) -> TextLine:
    """A line over the middle of a picture."""
    middle, half = (box.left + box.right) / 2, 2.5 * len(text)
    return line(text, base, left=middle - half, right=middle + half)


def test_labels_above_adjacent_pictures_belong_to_the_figure() -> None:
    body = [line("A sentence that goes on", 650.0), line("below the figure.", 480.0)]
    labels = [over("Before", WEST), over("After all of it", EAST)]
    assert split_labels([body[0], *labels, body[1]], BESIDE) == (body, labels)


@pytest.mark.parametrize(
    "lines",
    [
        [over("One alone", WEST)],
        [over("(a) Before", WEST), over("(b) After", EAST)],
        [over("Before", WEST), over("After", EAST, 640.0)],
        [over("Before", WEST, 560.0), over("After", EAST, 560.0)],
        [line("Before", 608.0, left=100.0, right=120.0), line("After", 608.0, left=300.0, right=320.0)],
        [over("Before and after, as they were seen by all who came", box) for box in (WEST, EAST)],
    ],
    ids=["one", "captions", "too high", "inside", "at the left", "long"],
)
def test_other_lines_above_pictures_are_kept(lines: list[TextLine]) -> None:
    assert split_labels(lines, BESIDE) == (lines, [])


def inside(texts: list[str]) -> list[TextRun]:
    return [run(text, 110, 590.0 - 12 * at, handle=7) for at, text in enumerate(texts)]


def test_text_of_diagrams_is_separate() -> None:
    labels, caption = inside(["0.25", "0.50", "0.75", "learning rate"] * 8), run("Figure 4: Loss.", handle=3)
    assert split_figures([*labels, caption], Shapes(texts={3})) == ([caption], labels)


def test_a_scan_behind_text_is_no_figure() -> None:
    runs = inside(["ITEM 4", "Paid", "12.50"] * 8)
    assert split_figures(runs, Shapes(images=[Box(0, 0, 600, 800)])) == (runs, [])


CAPTION = "Figure 2: Two kites"


def one(kind: BlockKind, *lines: TextLine) -> Block:
    return Block(kind, lines[0].page, list(lines))


def texts(blocks: list[Block]) -> list[list[str]]:
    return [[each.text for each in block.lines] for block in blocks]


def label(text: str, left: float, base: float = 500.0) -> Block:
    return one(BlockKind.PARAGRAPH, line(text, base, left=left, right=left + 80))


def test_adjacent_labels_join_their_caption() -> None:
    prose, caption = one(BlockKind.PARAGRAPH, line("Some words.")), one(BlockKind.CAPTION, line(CAPTION, 480.0))
    found = move_labels_behind_captions([prose, label("(a) A red one", 120.0), label("(b) A blue one", 280.0), caption])
    assert texts(found) == [["Some words."], [CAPTION, "(a) A red one", "(b) A blue one"]]
    found = move_labels_behind_captions(
        [prose, label("(a) (b) (c)", 120.0), one(BlockKind.CAPTION, line(CAPTION, 480.0))]
    )
    assert texts(found) == [["Some words."], [CAPTION, "(a) (b) (c)"]]


def test_a_list_above_a_figure_is_kept() -> None:
    for labels in (
        [label("(a) A point", LEFT), label("(b) Another", LEFT, 488.0)],
        [label("(a) A point", 120.0), label("(c) Another", 280.0)],
        [label("(a) Alone", 120.0)],
        [label("(b) A point", 120.0), label("(c) Another", 280.0)],
    ):
        blocks = [*labels, one(BlockKind.CAPTION, line(CAPTION, 470.0))]
        assert move_labels_behind_captions(blocks) == blocks


def test_first_page_notices_follow_its_text() -> None:
    first = one(BlockKind.PARAGRAPH, line("Text of the left column", 300.0, right=240.0))
    mark = one(BlockKind.FOOTNOTE, line("1 A university.", 80.0, size=8.0, right=240.0))
    notice = one(BlockKind.PARAGRAPH, line("To appear in a volume on kites.", 60.0, size=8.0, right=240.0))
    second = one(BlockKind.PARAGRAPH, line("Text of the right column.", 600.0, left=260.0))
    later = one(BlockKind.PARAGRAPH, line("Text of the next page.", page=1))
    found = move_notices_last([first, mark, notice, second, later], BODY)
    assert found == [first, second, mark, notice, later]


FRAME = Box(150, 500, 350, 600)
CURVES = [Box(150 + 30 * step, 500, 180 + 30 * step, 520 + 10 * step) for step in range(6)]
PLOT = Shapes(strokes=[FRAME, *CURVES])
TITLE = line("Figure 3: Waiting time by the number of crossings.", 470.0)
PROSE = line("The text above the figure goes on to the end of its column, as it does.", 640.0)
INSIDE = line("Xebec", 580.0, left=300, right=330, size=7.0)
TICKS = [line(text, 492.0, left=left, right=left + 15, size=7.0) for text, left in (("137", 170), ("274", 260))]
AXIS = line("tallied sailings", 483.0, left=220, right=280, size=7.0)
LABELS = [INSIDE, *TICKS, AXIS]


def test_words_in_a_plot_are_labels() -> None:
    assert split_drawings([PROSE, *LABELS, TITLE], PLOT, ()) == ([PROSE, TITLE], LABELS)


@pytest.mark.parametrize(
    "caption", ["Table 3: Waiting time.", "Figure 3 shows the waiting time.", "Algorithm 1: Waiting", "A caption"]
)
def test_without_a_caption_nothing_is_a_label(caption: str) -> None:
    lines = [PROSE, *LABELS, line(caption, 470.0)]

    assert split_drawings(lines, PLOT, ()) == (lines, [])


def test_a_frame_around_text_is_no_drawing() -> None:
    framed = [
        line("This prompt is told to every model, word for word, as it is.", base, left=155) for base in (580.0, 560.0)
    ]

    assert split_drawings([*framed, TITLE], PLOT, ()) == ([*framed, TITLE], [])
    few = Shapes(strokes=PLOT.strokes[:2])
    assert split_drawings([INSIDE, TITLE], few, ()) == ([INSIDE, TITLE], [])

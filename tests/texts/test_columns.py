"""Columns of a page, and lines made of its runs."""

from dataclasses import replace

import pytest

from invented_lines import BODY, SERIF, line, run
from peercorpus.pdf.glyphs import Font, TextRun, read_font
from peercorpus.texts.layout.blocks import Block, TextLine, read_lines
from peercorpus.texts.layout.columns import PageColumns, find_all_columns, find_columns, reading_order
from peercorpus.texts.layout.formulas.display import find_formulas
from peercorpus.texts.layout.formulas.inline import inline

WIDTH = 600.0
LONG = "a line that is long enough to tell"


def column(left: float, right: float, count: int = 20, name: str = "") -> list[TextLine]:
    return [line(f"{LONG} {name}{number}", 700.0 - 12 * number, left=left, right=right) for number in range(count)]


def test_two_columns_and_a_line_over_both() -> None:
    found = find_columns(column(50.0, 290.0) + column(310.0, 550.0), WIDTH, 10.0)
    assert found.spans == ((50.0, 290.0), (310.0, 550.0))
    lines = (line(LONG, left=50.0, right=200.0), line(LONG, left=310.0), line(LONG, left=60.0, right=540.0))
    assert [found.number(one) for one in lines] == [0, 1, -1]
    assert found.of(lines[2]) == (50.0, 550.0)


def test_content_order_stays_unless_it_jumps() -> None:
    left, right = column(50.0, 290.0, name="l"), column(310.0, 550.0, name="r")
    columns = find_columns(left + right, WIDTH, 10.0)
    assert reading_order(left + right, columns) == left + right
    title = line("A title over both of the columns", 760.0, left=100.0, right=500.0)
    mixed = [*left[::2], *right[::2], *left[1::2], *right[1::2], title]
    shuffled = sorted(mixed, key=lambda one: one.text[::-1])
    assert reading_order(shuffled, columns) == [title, *left, *right]


def formulas(*ends: tuple[float, float]) -> list[TextLine]:
    """Long lines of formulas, which begin and end anywhere."""
    font = read_font("CMMI10")
    return [replace(line("x" * 30, 700.0 - 20 * at, font=font), left=a, right=b) for at, (a, b) in enumerate(ends)]


def test_a_page_of_little_prose_has_others_columns() -> None:
    little = [*column(140.0, 290.0, 2), *column(320.0, 470.0, 3)]
    pages = [column(100.0, 500.0), column(100.0, 497.0, 30), little, []]
    found = find_all_columns(pages, [WIDTH] * 4, 10.0)
    assert [one.spans for one in found] == [((100.0, 500.0),), *[((100.0, 497.0),)] * 3]


def test_a_page_of_another_width_has_its_own() -> None:
    both = column(50.0, 290.0) + column(310.0, 550.0)
    wide, over = column(70.0, 700.0, 4), column(60.0, 540.0, 4)
    found = find_all_columns([both, wide, over], [WIDTH, 800.0, WIDTH], 10.0)
    assert [one.spans for one in found[1:]] == [((70.0, 700.0),), ((60.0, 540.0),)]


LETTERS, UPRIGHT, LARGE = read_font("CMMI10"), read_font("CMR10"), read_font("CMEX10")


def said(*runs: TextRun) -> list[str]:
    """The lines of running text that runs make, as Markdown."""
    return [inline(line.runs, line.base, line.size) for line in read_lines(runs, 0)]


def piece(
    text: str, left: float, right: float, font: Font = UPRIGHT, base: float = 700.0, size: float = 10.0
) -> TextRun:
    found = run(text, left, base, size, font, has_space=font is SERIF)
    found.right = right
    return found


def test_a_tall_bracket_is_in_its_line() -> None:
    opening, closing = piece('"', 150, 156, LARGE, 717.0), piece("#", 176, 182, LARGE, 717.0)
    runs = piece("it is", 100, 136, SERIF), piece("E", 140, 148), opening, piece("K", 158, 174, LETTERS), closing
    (line,) = read_lines([*runs, piece(".", 183, 186, SERIF)], 0)
    assert (line.base, line.text.count("K")) == (700.0, 1)


@pytest.mark.parametrize("left", [118.0, 150.0, 200.0], ids=["outside", "nested", "nested deeper"])
def test_a_steps_number_is_in_its_line(left: float) -> None:
    runs = [piece("7:", 100, 108, SERIF), piece("repeat", left, left + 30, SERIF)]
    assert said(*runs) == ["7: repeat"]


@pytest.mark.parametrize(("number", "left"), [("7", 150.0), ("7:", 260.0), ("Inputs:", 190.0)])
def test_text_far_behind_a_line_is_another_line(number: str, left: float) -> None:
    assert len(said(piece(number, 100, 130, SERIF), piece("repeat", left, left + 30, SERIF))) == 2


def row(base: float) -> list[TextRun]:
    """A row of a display formula: a sum with its limit, and its summand."""
    limit, what = piece("t", 205, 209, LETTERS, base - 11.8, 7.0), piece("x", 218, 223, LETTERS, base)
    return [piece("=", 190, 198, UPRIGHT, base), piece("X", 200, 214, LARGE, base + 9.5), limit, what]


@pytest.mark.parametrize(("step", "count"), [(34.0, 1), (60.0, 2)], ids=["near", "far"])
def test_rows_joined_by_large_signs_are_one_formula(step: float, count: int) -> None:
    lines = read_lines([*row(700.0), *row(700.0 - step)], 0)
    found = find_formulas(lines, [], PageColumns(((50.0, 360.0),)), BODY)
    assert (len(found), all(isinstance(one, Block) for one in found)) == (count, True)

"""Runs become lines: tall signs by their axis, scripts by their base sign, steps by their number.

And how formulas use these lines.
"""

import pytest

from invented_lines import BODY, SERIF, run
from peercorpus.pdf.glyphs import Font, TextRun, read_font
from peercorpus.pdf.shapes import Box
from peercorpus.texts.layout.blocks import TextLine, read_lines
from peercorpus.texts.layout.columns import PageColumns
from peercorpus.texts.layout.formulas.display import Formula, find_formulas
from peercorpus.texts.layout.formulas.inline import inline

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


def test_a_tall_bracket_and_its_content_are_in_the_line_it_is_centred_on() -> None:
    opening, closing = piece('"', 150, 156, LARGE, 717.0), piece("#", 176, 182, LARGE, 717.0)
    runs = piece("it is", 100, 136, SERIF), piece("E", 140, 148), opening, piece("K", 158, 174, LETTERS), closing
    (line,) = read_lines([*runs, piece(".", 183, 186, SERIF)], 0)
    assert (line.base, line.text.count("K")) == (700.0, 1)


def test_a_line_that_begins_with_a_tall_bracket_has_the_baseline_of_its_letters() -> None:
    opening, closing = piece("\x12", 100, 107, LARGE, 714.5), piece("\x13", 114, 121, LARGE, 714.5)
    (line,) = read_lines([opening, piece("x", 108, 113, LETTERS), closing], 0)
    assert line.base == pytest.approx(700.0)


def test_an_exponent_may_be_as_high_as_the_bracket_before_it() -> None:
    bracket = piece("\x13", 110, 117, LARGE, 714.5)
    runs = [piece("x", 100, 110, LETTERS), bracket, piece("n", 117, 121, LETTERS, 709.0, 7.0)]
    assert len(read_lines(runs, 0)) == 1
    assert len(read_lines([runs[0], piece("n", 117, 121, LETTERS, 709.0, 7.0)], 0)) == 2


def test_a_subscript_under_a_long_exponent_belongs_to_the_same_letter() -> None:
    power = piece("(Exec)", 108, 140, UPRIGHT, 705.2, 7.0)
    runs = (
        piece("Y", 100, 108, LETTERS),
        power,
        piece("i", 106, 109, LETTERS, 697.2, 7.0),
        piece("Z", 143, 150, LETTERS),
    )
    assert said(*runs) == [r"$Y_i^{({\rm Exec})}Z$"]


def test_a_footnote_mark_is_not_a_script_of_the_note_above() -> None:
    mark = piece("2", 110, 113, SERIF, 696.0, 6.0)
    assert len(read_lines([piece("the end of the first note.", 100, 220, SERIF), mark], 0)) == 2


@pytest.mark.parametrize("left", [118.0, 150.0, 200.0], ids=["outside", "nested", "nested deeper"])
def test_the_number_of_a_step_and_the_step_are_one_line(left: float) -> None:
    runs = [piece("7:", 100, 108, SERIF), piece("repeat", left, left + 30, SERIF)]
    assert said(*runs) == ["7: repeat"]


@pytest.mark.parametrize(("number", "left"), [("7", 150.0), ("7:", 260.0), ("Inputs:", 190.0)])
def test_text_far_behind_a_line_is_another_line(number: str, left: float) -> None:
    assert len(said(piece(number, 100, 130, SERIF), piece("repeat", left, left + 30, SERIF))) == 2


def test_parts_of_a_bar_are_not_centred_and_stay_separate() -> None:
    """None of them alone determines the baseline; together they do, when a formula is built."""
    assert len(said(piece("as", 100, 109, SERIF), piece("\x0c", 110, 113, LARGE, 717.5))) == 2


def test_a_fraction_at_the_start_of_a_line_precedes_the_rest() -> None:
    parts = piece("2k", 101, 121, LETTERS, 704.4, 7.0), piece("k", 109, 113, LETTERS, 696.4, 7.0)
    rest = piece("is what is left of it.", 124, 234, SERIF)
    bars = [Box(100, 702.3, 122, 702.7)]
    (line,) = find_formulas(read_lines([*parts, rest], 0), bars, PageColumns(((100.0, 400.0),)), BODY)
    assert isinstance(line, TextLine)
    assert inline(line.runs, line.base, line.size) == r"$\frac{2k}{k}$ is what is left of it."


def row(base: float) -> list[TextRun]:
    """A row of a display formula: a sum with its limit, and its summand."""
    limit, what = piece("t", 205, 209, LETTERS, base - 11.8, 7.0), piece("x", 218, 223, LETTERS, base)
    return [piece("=", 190, 198, UPRIGHT, base), piece("X", 200, 214, LARGE, base + 9.5), limit, what]


@pytest.mark.parametrize(("step", "count"), [(34.0, 1), (60.0, 2)], ids=["near", "far"])
def test_rows_are_one_formula_where_the_limits_and_large_signs_reach_from_one_to_the_next(
    step: float, count: int
) -> None:
    lines = read_lines([*row(700.0), *row(700.0 - step)], 0)
    found = find_formulas(lines, [], PageColumns(((50.0, 360.0),)), BODY)
    assert (len(found), all(isinstance(one, Formula) for one in found)) == (count, True)

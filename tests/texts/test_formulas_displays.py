"""Displays with tall brackets, limits or adjacent prose, and the space inside them."""

from dataclasses import replace

import pytest

from invented_formulas import LARGE, LETTERS, SIGNS, TEXT, UPRIGHT, equation, found, in_text, latex, row, run, said
from peercorpus.pdf.glyphs import TextRun
from peercorpus.pdf.shapes import Box
from peercorpus.texts.layout.formulas.display import Formula


@pytest.mark.parametrize(("font", "meant"), [(TEXT, "if $K = 0$, $A$ is"), (LETTERS, "if $K = 0,A$ is")])
def test_a_comma_of_the_prose_ends_a_formula_but_one_inside_does_not(font: str, meant: str) -> None:
    runs = row(("if", TEXT), (" K", LETTERS), ("=", UPRIGHT), ("0", UPRIGHT), (",", font), (" A", LETTERS), left=100)
    assert said(*runs, run("is", runs[-1].right + 2.5, gap=True)) == meant


def test_a_comma_within_brackets_ends_no_formula() -> None:
    pieces = (" f", LETTERS), ("(", UPRIGHT), ("x", LETTERS), (",", TEXT), (" y", LETTERS), (")", UPRIGHT)
    assert said(*row(("of", TEXT), *pieces, left=100)) == "of $f(x,y)$"


def test_a_list_item_number_is_not_part_of_the_formula_before_it() -> None:
    pieces = (" x", LETTERS), ("+", UPRIGHT), ("z", LETTERS), (",", LETTERS), (" (3) Both", TEXT)
    assert said(*row(("(2) Native:", TEXT), *pieces, left=100)) == "(2) Native: $x + z$, (3) Both"


def test_a_bullet_may_precede_a_formula() -> None:
    runs = [run("•", 100, SIGNS), run("(", 110, UPRIGHT, gap=True), run("ε", 114, LETTERS), run(")", 119, UPRIGHT)]
    assert said(*runs, run("-private", 123)) == "• $(ε)$-private"


def brackets_in_an_exponent() -> list[TextRun]:
    return [
        run("e", 255, LETTERS),
        run("2", 260, "CMR7", 704.3, 7.0),
        run("D", 263.5, "CMMI7", 704.3, 7.0),
        run("(", 267, UPRIGHT, 703.6),
        run("A", 271, "CMMI7", 704.3, 7.0),
        run("k", 274.5, SIGNS, 703.6),
        run("B", 279.5, "CMMI7", 704.3, 7.0),
        run(")", 283, UPRIGHT, 703.6),
    ]


def test_brackets_of_full_size_stay_in_their_exponent() -> None:
    assert latex(equation(*brackets_in_an_exponent(), run("x", 290, LETTERS))) == "y = e^{2D(A∥B)}x"


def test_a_full_stop_after_cases_is_not_a_row() -> None:
    runs = equation(run("(", 254, LARGE, 717.5), run("1", 264, UPRIGHT, 706), run("x", 280, LETTERS, 706))
    runs += [run("0", 264, UPRIGHT, 694), run("z", 280, LETTERS, 694), run(".", 292, LETTERS, 700)]
    assert latex(runs) == r"y = \begin{cases} 1 & x \\ 0 & z \end{cases}."


def test_a_wide_space_is_kept_and_none_is_beside_an_operator() -> None:
    assert latex(equation(run("a,", 256, LETTERS), run("b", 278, LETTERS))) == r"y = a,\quad b"
    assert latex(equation(run("a", 256, LETTERS), run("if", 273), run("b", 286, LETTERS))) == r"y = a\quad \text{if }b"
    assert latex(equation(run("a", 256, LETTERS), run("=", 275, UPRIGHT), run("b", 295, LETTERS))) == "y = a = b"


def test_a_tall_bar_of_several_parts_behind_a_limit_is_in_the_row() -> None:
    bars = [run("\x0c", 272, LARGE, 712 - 6 * part) for part in range(3)]
    limits = run("n", 256, "CMMI7", 705.0, 7.0), run("k", 256, "CMMI7", 697.0, 7.0)
    assert said(run("X", 251, LARGE, 707), *limits, *bars, run("x", 278, LETTERS)) == "$∑_k^n∣x$"


def test_a_subscript_of_an_expectation_is_not_a_step_of_an_algorithm() -> None:
    runs = row(("D", LETTERS), ("=", UPRIGHT), ("E", "MSBM10"), left=280)
    drawn = [
        run("x", 286, "CMMI7", 693.0, 7.0),
        run("←", 289.5, "CMSY7", 693.0, 7.0),
        run("P", 294, "CMMI7", 693.0, 7.0),
    ]
    (formula,) = found([*runs, *drawn, run("f", 299, LETTERS)])
    assert isinstance(formula, Formula)
    assert formula.signs == "D = 𝔼_{x ← P}f"


def test_a_display_below_the_end_of_a_paragraph_that_is_a_formula_too_is_one() -> None:
    prose = [run("It is well known that we have", 100, base=700), run("x", 262, "CMMI7", 698.0, 7.0)]
    runs = [*prose, *row(("y", LETTERS), ("=", UPRIGHT), ("x", LETTERS), left=292, base=678)]
    displays = [one.signs for one in found(runs) if isinstance(one, Formula)]
    assert displays == ["y = x"]


def test_a_formula_line_off_centre_is_displayed_if_no_prose_continues_in_it() -> None:
    formula = row(("y", LETTERS), ("=", UPRIGHT), ("x", LETTERS), left=180, base=688)
    prose = "It follows at once from what was said above that"
    assert [type(one) for one in found([run(prose, 100), *formula])][1] is Formula
    assert in_text([run(prose, 180), *formula])[1] == "$y = x$"


def at_the_edge(*pieces: tuple[str, str], base: float = 720.0) -> list[TextRun]:
    """A row that begins at the left edge of its column, like the first row of a display that fills it."""
    return row(*pieces, left=100, base=base)


WIDE = [run(letter, 290 + 16 * at, LETTERS, base=702) for at, letter in enumerate("abcdefghijklm")]
BEGINNINGS = {
    "the next row begins with a relation": [
        *at_the_edge(("D", LETTERS), ("(", UPRIGHT), ("A", LETTERS), (")", UPRIGHT)),
        *row(("≤", SIGNS), ("C", LETTERS), ("+", UPRIGHT), left=250, base=702),
    ],
    "the row ends with a relation": [
        *at_the_edge(("D", LETTERS), ("=", UPRIGHT)),
        *row(("C", LETTERS), ("+", UPRIGHT), left=250, base=702),
    ],
    "the row has a large operator": [
        *at_the_edge(("D", LETTERS), ("=", UPRIGHT), ("A", LETTERS), ("X", LARGE)),
        *row(("C", LETTERS), ("=", UPRIGHT), left=250, base=702),
    ],
}


@pytest.mark.parametrize("runs", BEGINNINGS.values(), ids=BEGINNINGS)
def test_a_display_may_begin_at_the_left_edge_of_its_column(runs: list[TextRun]) -> None:
    prose = "It follows at once from what was said above that"
    before, formula = found([run(prose, 100, base=760), *runs, *WIDE])
    assert isinstance(formula, Formula)
    assert all(letter in formula.signs for letter in "DC")
    assert not isinstance(before, Formula)


def test_a_number_alone_at_the_left_edge_is_that_of_its_display() -> None:
    runs = [*row(("D", LETTERS), ("=", UPRIGHT), ("C", LETTERS), left=290), run("(7)", 100, base=696)]
    (formula,) = found(runs)
    assert isinstance(formula, Formula)
    assert (formula.signs, formula.number) == ("D = C", "7")


def test_the_short_last_line_of_a_paragraph_before_a_display_is_prose() -> None:
    last = at_the_edge(("s", LETTERS), (">", LETTERS), ("0,", TEXT), base=725)
    line, formula = found([*last, *equation(run("x", 255, LETTERS))])
    assert isinstance(formula, Formula)
    assert (formula.signs, isinstance(line, Formula)) == ("y = x", False)


def test_a_display_wider_than_its_column_begins_at_the_left_edge() -> None:
    wide = [run("y", 100, LETTERS), run("=", 110, UPRIGHT)]
    wide += [run(letter, 120 + 30 * at, LETTERS) for at, letter in enumerate("abcdefghijklmnpq")]
    prose = "It follows at once from what was said above that"
    _, formula = found([run(prose, 100, base=730), *wide])
    assert isinstance(formula, Formula)
    assert formula.signs.startswith("y = a")


def test_only_exponents_stand_next_to_the_bar_of_a_fraction() -> None:
    denominator = [run("e", 262, LETTERS, 690), run("b", 267, "CMMI7", 695, 7.0), run("k", 272, "CMMI7", 687.5, 7.0)]
    runs = equation(run("a", 262, LETTERS, 706.8), *denominator)
    assert latex(runs, Box(255, 702.3, 278, 702.7)) == r"y = \frac{a}{e_k^b}"


def test_a_bar_that_is_larger_than_the_letters_beside_it_does_not_make_them_scripts() -> None:
    def small(text: str, left: float, font: str, base: float = 706.8, size: float = 7.0) -> TextRun:
        return run(text, left, font, base, size)

    numerator = [small("j", 255, SIGNS, 706.3, 10.0), small("s", 260, "CMMI7"), small("1", 263.5, "CMR5", 705.3, 5.0)]
    numerator += [small("−", 267, "CMSY7"), small("s", 271, "CMMI7"), small("2", 274.5, "CMR5", 705.3, 5.0)]
    numerator += [small("j", 278, SIGNS, 706.3, 10.0)]
    runs = equation(*numerator, small("b", 266, "CMMI7", 695.0))
    assert latex(runs, Box(254, 702.3, 284, 702.7)) == r"y = \frac{∣s_1 − s_2∣}{b}"


def stacked(*pieces: str) -> list[TextRun]:
    """The pieces of a tall brace, each 7 points high with 0.5 points of overlap, from 719 points down."""
    runs = [run(piece, 254, "DejaVuMathTeXGyre", 712 - 6.5 * at) for at, piece in enumerate(pieces)]
    return [replace(piece, right=259, ink={0: (piece.base, piece.base + 7)}) for piece in runs]


@pytest.mark.parametrize("extension", ["⎪", "{"])
def test_an_extension_that_has_the_code_of_the_whole_brace_is_a_piece_of_it(extension: str) -> None:
    cells = [run("1", 264, UPRIGHT, 706), run("x", 284, LETTERS, 706), run("0", 264, UPRIGHT, 694)]
    runs = equation(*stacked("⎧", extension, "⎨", extension, "⎩"), *cells, run("z", 284, LETTERS, 694))
    assert latex(runs) == r"y = \begin{cases} 1 & x \\ 0 & z \end{cases}"


@pytest.mark.parametrize("height", [0.0, 0.4, 0.8, 1.2, 1.6, 2.0])
def test_the_middle_of_a_horizontal_brace_is_recognised_at_any_height(height: float) -> None:
    tops = (698.6, 697.8, 697.3, 697.8, 698.6)
    brace = [run("⏟", 252 + 6 * at, "DejaVuMathTeXGyre", 697) for at in range(5)]
    brace = [
        replace(piece, right=piece.left + 6, ink={0: (top - 1 - height, top - height)})
        for piece, top in zip(brace, tops, strict=True)
    ]
    runs = equation(run("a", 255, LETTERS), run("b", 262, LETTERS), *brace, run("n", 264, "CMMI7", 688 - height, 7.0))
    assert latex(runs) == r"y = \underbrace{ab}_{n}"


def test_a_few_symbols_do_not_show_that_a_font_has_a_unicode_table() -> None:
    """`(` and `)` are codes of tall braces, as other formulas on the page show."""
    braces = equation(run("(", 254, LARGE, 717.5), run("x", 264, LETTERS), run(")", 272, LARGE, 717.5))
    other = [run("z", 255, LETTERS, 640), run("=", 262, SIGNS, 640), run("\x12", 270, LARGE, 654.5)]
    other += [run("b", 280, LETTERS, 640), run("\x13", 288, LARGE, 654.5)]
    first, *_ = found([*braces, *other])
    assert isinstance(first, Formula)
    assert first.signs == r"y = \{x\}"


def test_the_extension_of_a_horizontal_brace_is_not_a_symbol() -> None:
    brace = [run("|", 252, "txex", 694), run(" ", 256, "txexa", 694), run("{", 258, "txex", 694)]
    brace += [run("z", 261, "txex", 694), run(" ", 264, "txexa", 694), run("}", 266, "txex", 694)]
    runs = equation(run("a", 255, LETTERS), run("b", 262, LETTERS), *brace, run("n", 260, "txmi", 684, 7.0))
    assert latex(runs) == r"y = \underbrace{ab}_{n}"


@pytest.mark.parametrize("thickness", [0.4, 0.8, 1.2])
def test_a_thick_bar_of_a_fraction_is_as_near_to_its_parts(thickness: float) -> None:
    runs = equation(run("a", 256, LETTERS, 702.6 + thickness + 4), run("b", 256, LETTERS, 702.6 - 11.3))
    assert latex(runs, Box(255, 702.6, 262, 702.6 + thickness)) == r"y = \frac{a}{b}"


def test_the_rows_of_a_limit_may_be_close() -> None:
    limit = [run("x", 258, "CMMI7", 692.0, 7.0), run("z", 258, "CMMI7", 686.0, 7.0)]
    assert latex(equation(run("sup", 254, UPRIGHT), *limit, run("f", 275, LETTERS))) == (
        r"y = \sup_{\substack{x \\ z}}f"
    )


def test_a_full_stop_after_a_root_is_not_under_its_bar() -> None:
    runs = equation(run("√", 252, SIGNS, 707.6), run("m.", 258, LETTERS))
    runs[2].right, runs[3].right = 257.5, 266
    assert latex(runs, Box(257.5, 707.4, 265, 707.8)) == r"y = \sqrt{m}."


def test_small_capitals_below_a_displayed_formula_are_not_one_of_its_rows() -> None:
    heading = [run("V.", 270, base=680), run("E", 283, base=680), run("XPERIMENTS", 288, base=680, size=8.0)]
    formula, line = found([*equation(run("x", 255, LETTERS)), *heading])
    assert isinstance(formula, Formula)
    assert formula.signs == "y = x"
    assert not isinstance(line, Formula)

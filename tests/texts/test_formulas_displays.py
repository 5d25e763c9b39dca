"""Displays that tall brackets, limits or prose beside them used to break, and the space inside them."""

import pytest

from invented_formulas import LARGE, LETTERS, SIGNS, TEXT, UPRIGHT, equation, found, in_text, latex, row, run, said
from peercorpus.pdf.glyphs import TextRun
from peercorpus.texts.layout.formulas.display import Formula


@pytest.mark.parametrize(("font", "meant"), [(TEXT, "if $K = 0$, $A$ is"), (LETTERS, "if $K = 0,A$ is")])
def test_a_comma_of_the_prose_ends_a_formula_and_one_of_the_formula_does_not(font: str, meant: str) -> None:
    runs = row(("if", TEXT), (" K", LETTERS), ("=", UPRIGHT), ("0", UPRIGHT), (",", font), (" A", LETTERS), left=100)
    assert said(*runs, run("is", runs[-1].right + 2.5, gap=True)) == meant


def test_a_comma_within_brackets_ends_no_formula() -> None:
    pieces = (" f", LETTERS), ("(", UPRIGHT), ("x", LETTERS), (",", TEXT), (" y", LETTERS), (")", UPRIGHT)
    assert said(*row(("of", TEXT), *pieces, left=100)) == "of $f(x,y)$"


def test_the_number_of_an_item_is_no_part_of_the_formula_before_it() -> None:
    pieces = (" x", LETTERS), ("+", UPRIGHT), ("z", LETTERS), (",", LETTERS), (" (3) Both", TEXT)
    assert said(*row(("(2) Native:", TEXT), *pieces, left=100)) == "(2) Native: $x + z$, (3) Both"


def test_a_bullet_stands_before_a_formula() -> None:
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


def test_a_stop_behind_cases_is_no_row() -> None:
    runs = equation(run("(", 254, LARGE, 717.5), run("1", 264, UPRIGHT, 706), run("x", 280, LETTERS, 706))
    runs += [run("0", 264, UPRIGHT, 694), run("z", 280, LETTERS, 694), run(".", 292, LETTERS, 700)]
    assert latex(runs) == r"y = \begin{cases} 1 & x \\ 0 & z \end{cases}."


def test_a_wide_space_stays_and_none_stands_beside_a_sign() -> None:
    assert latex(equation(run("a,", 256, LETTERS), run("b", 278, LETTERS))) == r"y = a,\quad b"
    assert latex(equation(run("a", 256, LETTERS), run("if", 273), run("b", 286, LETTERS))) == r"y = a\quad \text{if }b"
    assert latex(equation(run("a", 256, LETTERS), run("=", 275, UPRIGHT), run("b", 295, LETTERS))) == "y = a = b"


def test_a_tall_bar_of_several_parts_behind_a_limit_is_in_the_row() -> None:
    bars = [run("\x0c", 272, LARGE, 712 - 6 * part) for part in range(3)]
    limits = run("n", 256, "CMMI7", 705.0, 7.0), run("k", 256, "CMMI7", 697.0, 7.0)
    assert said(run("X", 251, LARGE, 707), *limits, *bars, run("x", 278, LETTERS)) == "$∑_k^n∣x$"


def test_what_is_drawn_below_an_expectation_is_no_step_of_an_algorithm() -> None:
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


def test_a_line_of_one_formula_off_the_middle_is_a_display_where_no_prose_goes_on_in_it() -> None:
    formula = row(("y", LETTERS), ("=", UPRIGHT), ("x", LETTERS), left=180, base=688)
    prose = "It follows at once from what was said above that"
    assert [type(one) for one in found([run(prose, 100), *formula])][1] is Formula
    assert in_text([run(prose, 180), *formula])[1] == "$y = x$"

"""Displays, formulas in fonts that are not TeX's own, and what makes a formula doubtful."""

from dataclasses import replace

import pytest

from invented_formulas import (
    LARGE,
    LETTERS,
    SIGNS,
    TEXT,
    UPRIGHT,
    equation,
    found,
    in_text,
    latex,
    row,
    run,
    said,
    signs_of,
)
from peercorpus.pdf.glyphs import TextRun
from peercorpus.pdf.shapes import Box
from peercorpus.texts.layout.blocks import Block
from peercorpus.texts.layout.formulas.doubts import count_doubts, count_overlaps
from peercorpus.texts.layout.formulas.nodes import FormulaNode, nodes_of


@pytest.mark.parametrize(("font", "meant"), [(TEXT, "if $K = 0$, $A$ is"), (LETTERS, "if $K = 0,A$ is")])
def test_a_comma_of_the_prose_ends_a_formula(font: str, meant: str) -> None:
    runs = row(("if", TEXT), (" K", LETTERS), ("=", UPRIGHT), ("0", UPRIGHT), (",", font), (" A", LETTERS), left=100)
    assert said(*runs, run("is", runs[-1].right + 2.5, gap=True)) == meant


def test_a_list_number_is_no_formula() -> None:
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


def test_a_stop_after_cases_is_no_row() -> None:
    runs = equation(run("(", 254, LARGE, 717.5), run("1", 264, UPRIGHT, 706), run("x", 280, LETTERS, 706))
    runs += [run("0", 264, UPRIGHT, 694), run("z", 280, LETTERS, 694), run(".", 292, LETTERS, 700)]
    assert latex(runs) == r"y = \begin{cases} 1 & x \\ 0 & z \end{cases}."


def test_a_wide_space_is_kept() -> None:
    assert latex(equation(run("a,", 256, LETTERS), run("b", 278, LETTERS))) == r"y = a,\quad b"
    assert latex(equation(run("a", 256, LETTERS), run("if", 273), run("b", 286, LETTERS))) == r"y = a\quad \text{if }b"
    assert latex(equation(run("a", 256, LETTERS), run("=", 275, UPRIGHT), run("b", 295, LETTERS))) == "y = a = b"


def test_a_subscript_is_no_step() -> None:
    runs = row(("D", LETTERS), ("=", UPRIGHT), ("E", "MSBM10"), left=280)
    drawn = [
        run("x", 286, "CMMI7", 693.0, 7.0),
        run("←", 289.5, "CMSY7", 693.0, 7.0),
        run("P", 294, "CMMI7", 693.0, 7.0),
    ]
    (formula,) = found([*runs, *drawn, run("f", 299, LETTERS)])
    assert isinstance(formula, Block)
    assert signs_of(formula) == "D = 𝔼_{x ← P}f"


def test_a_display_may_follow_a_formula() -> None:
    prose = [run("It is well known that we have", 100, base=700), run("x", 262, "CMMI7", 698.0, 7.0)]
    runs = [*prose, *row(("y", LETTERS), ("=", UPRIGHT), ("x", LETTERS), left=292, base=678)]
    displays = [signs_of(one) for one in found(runs) if isinstance(one, Block)]
    assert displays == ["y = x"]


def test_a_line_off_centre_is_displayed() -> None:
    formula = row(("y", LETTERS), ("=", UPRIGHT), ("x", LETTERS), left=180, base=688)
    prose = "It follows at once from what was said above that"
    assert [type(one) for one in found([run(prose, 100), *formula])][1] is Block
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
def test_a_display_may_begin_at_the_left(runs: list[TextRun]) -> None:
    prose = "It follows at once from what was said above that"
    before, formula = found([run(prose, 100, base=760), *runs, *WIDE])
    assert isinstance(formula, Block)
    assert all(letter in signs_of(formula) for letter in "DC")
    assert not isinstance(before, Block)


def stacked(*pieces: str) -> list[TextRun]:
    """The pieces of a tall brace, each 7 points high with 0.5 points of overlap, from 719 points down."""
    runs = [run(piece, 254, "DejaVuMathTeXGyre", 712 - 6.5 * at) for at, piece in enumerate(pieces)]
    return [replace(piece, right=259, ink={0: (piece.base, piece.base + 7)}) for piece in runs]


@pytest.mark.parametrize("extension", ["⎪", "{"])
def test_an_extension_is_a_piece_of_its_brace(extension: str) -> None:
    cells = [run("1", 264, UPRIGHT, 706), run("x", 284, LETTERS, 706), run("0", 264, UPRIGHT, 694)]
    runs = equation(*stacked("⎧", extension, "⎨", extension, "⎩"), *cells, run("z", 284, LETTERS, 694))
    assert latex(runs) == r"y = \begin{cases} 1 & x \\ 0 & z \end{cases}"


def test_an_extension_is_no_symbol() -> None:
    brace = [run("|", 252, "txex", 694), run(" ", 256, "txexa", 694), run("{", 258, "txex", 694)]
    brace += [run("z", 261, "txex", 694), run(" ", 264, "txexa", 694), run("}", 266, "txex", 694)]
    runs = equation(run("a", 255, LETTERS), run("b", 262, LETTERS), *brace, run("n", 260, "txmi", 684, 7.0))
    assert latex(runs) == r"y = \underbrace{ab}_{n}"


@pytest.mark.parametrize("thickness", [0.4, 0.8, 1.2])
def test_a_thick_bar_is_near_its_parts(thickness: float) -> None:
    runs = equation(run("a", 256, LETTERS, 702.6 + thickness + 4), run("b", 256, LETTERS, 702.6 - 11.3))
    assert latex(runs, Box(255, 702.6, 262, 702.6 + thickness)) == r"y = \frac{a}{b}"


UNICODE, SYMBOL, ITALIC = "LatinModernMath-Regular", "StandardSymL", "NimbusRomNo9L-ReguItal"


def stretched(text: str, left: float, bottom: float, top: float) -> TextRun:
    """A symbol of a Unicode font whose ink was measured."""
    return replace(run(text, left, UNICODE), ink={0: (bottom, top)})


def node(latex: str, left: float, right: float, glyphs: int = 1) -> FormulaNode:
    return FormulaNode(latex, left, right, 698.0, 707.0, 700.0, 10.0, "letter", glyphs=glyphs)


def test_a_stretched_bracket_encloses_a_matrix() -> None:
    brackets = [stretched("(", 255, 688, 716), stretched(")", 285, 688, 716)]
    rows = [run("a", 265, LETTERS, 708), run("b", 276, LETTERS, 708)]
    rows += [run("c", 265, LETTERS, 693), run("d", 276, LETTERS, 693)]
    assert latex(equation(brackets[0], *rows, brackets[1])) == r"y = \begin{pmatrix} a & b \\ c & d \end{pmatrix}"


@pytest.mark.parametrize(("text", "pieces"), [("ab", ["a", "b"]), ("if", ["if"]), ("where", ["where"])])
def test_two_italic_letters_are_a_product(text: str, pieces: list[str]) -> None:
    assert [piece.latex for piece in nodes_of(run(text, 255, ITALIC))] == pieces


def test_a_sum_has_the_size_of_its_row() -> None:
    total = run("∑", 255, SYMBOL, 698.0, 14.3)
    limits = [run("i", 257, LETTERS, 689.0, 7.0), run("n", 257, LETTERS, 711.0, 7.0)]
    assert latex(equation(total, *limits, run("x", 265, LETTERS))) == "y = ∑_{i}^{n}x"


def test_a_page_number_is_no_row() -> None:
    display = [run("y", 230, LETTERS), run("=", 240, UPRIGHT), run("x", 250, LETTERS)]
    assert latex([*display, run("12", 260, base=680)]) == "y = x"


@pytest.mark.parametrize(
    ("step", "symbol"), [((0.0, 4.0), "⋮"), ((4.0, 3.0), "⋱")], ids=["one below the other", "on a diagonal"]
)
def test_three_dots_are_one_symbol(step: tuple[float, float], symbol: str) -> None:
    dots = [run(".", 262 + index * step[0], LETTERS, 704 - index * step[1]) for index in range(3)]
    assert symbol in latex(equation(run("x", 255, LETTERS), *dots))


def test_the_index_of_a_root_is_read() -> None:
    root = [run("3", 254, UPRIGHT, 704, 5.0), run("p", 253, LARGE, 709), run("x", 259, LETTERS)]
    assert latex(equation(*root), Box(258, 708.8, 265, 709.2)) == r"y = \sqrt[3]{x}"


@pytest.mark.parametrize(
    ("signs", "doubts"),
    [
        ("y = x_i^2", 0),
        ("x ∈ ℝ_+^n", 0),
        ("y = _i", 1),
        ("y = (x", 2),
        ("y = \ufffd", 1),
        ("y =", 1),
        (r"\begin{matrix} a & & b \end{matrix}", 1),
    ],
)
def test_doubtful_formulas_have_lower_confidence(signs: str, doubts: int) -> None:
    assert count_doubts([node(signs, 0, 50, glyphs=9)]) == doubts


def test_symbols_that_overlap_in_a_row_are_doubtful() -> None:
    assert count_overlaps([node("a", 0, 5), node("b", 5, 10)]) == 0
    assert count_overlaps([node("a", 0, 10), node("b", 4, 9)]) == 1


@pytest.mark.parametrize(("signs", "arrow"), [("−→", "⟶"), ("=⇒", "⟹"), ("⇐⇒", "⟺")])
def test_an_arrow_of_two_glyphs_is_one(signs: str, arrow: str) -> None:
    first, second = run(signs[0], 255, SIGNS), run(signs[1], 259, SIGNS)
    assert latex(equation(run("x", 248, LETTERS), first, second, run("z", 268, LETTERS))) == f"y = x {arrow} z"

"""Formulas in fonts that are not TeX's own, and what makes a formula doubtful."""

from dataclasses import replace

import pytest

from invented_formulas import LARGE, LETTERS, SIGNS, TEXT, UPRIGHT, equation, found, latex, run
from peercorpus.pdf.glyphs import TextRun
from peercorpus.pdf.shapes import Box
from peercorpus.texts.layout.formulas.display import Formula
from peercorpus.texts.layout.formulas.doubts import count_doubts, count_overlaps, measure_sureness
from peercorpus.texts.layout.formulas.nodes import FormulaNode, nodes_of

UNICODE, SYMBOL, ITALIC = "LatinModernMath-Regular", "StandardSymL", "NimbusRomNo9L-ReguItal"


def stretched(text: str, left: float, bottom: float, top: float) -> TextRun:
    """A symbol of a Unicode font whose ink was measured."""
    return replace(run(text, left, UNICODE), ink={0: (bottom, top)})


def node(latex: str, left: float, right: float, glyphs: int = 1) -> FormulaNode:
    return FormulaNode(latex, left, right, 698.0, 707.0, 700.0, 10.0, "letter", glyphs=glyphs)


def test_a_stretched_bracket_of_a_unicode_font_encloses_a_matrix() -> None:
    brackets = [stretched("(", 255, 688, 716), stretched(")", 285, 688, 716)]
    rows = [run("a", 265, LETTERS, 708), run("b", 276, LETTERS, 708)]
    rows += [run("c", 265, LETTERS, 693), run("d", 276, LETTERS, 693)]
    assert latex(equation(brackets[0], *rows, brackets[1])) == r"y = \begin{pmatrix} a & b \\ c & d \end{pmatrix}"


def test_a_bracket_of_its_usual_height_is_a_letter() -> None:
    (bracket,) = nodes_of(stretched("(", 255, 698, 707))
    assert bracket.kind == "letter"


def test_letters_of_a_unicode_font_are_single_letters() -> None:
    assert [piece.latex for piece in nodes_of(run("𝑑𝜋", 255, UNICODE))] == ["d", "π"]


@pytest.mark.parametrize(("text", "pieces"), [("ab", ["a", "b"]), ("if", ["if"]), ("where", ["where"])])
def test_two_letters_in_italics_are_a_product_unless_they_are_a_word(text: str, pieces: list[str]) -> None:
    assert [piece.latex for piece in nodes_of(run(text, 255, ITALIC))] == pieces


def test_the_sum_of_a_text_font_has_the_size_of_its_row() -> None:
    total = run("∑", 255, SYMBOL, 698.0, 14.3)
    limits = [run("i", 257, LETTERS, 689.0, 7.0), run("n", 257, LETTERS, 711.0, 7.0)]
    assert latex(equation(total, *limits, run("x", 265, LETTERS))) == "y = ∑_{i}^{n}x"


def test_a_number_at_the_left_edge_is_not_part_of_the_formula() -> None:
    (formula,) = found([run("(A.2) y =", 100, UPRIGHT), run("x", 150, LETTERS)])
    assert isinstance(formula, Formula)
    assert (formula.number, formula.signs) == ("A.2", "y = x")


def test_words_beside_a_formula_belong_to_it_though_they_begin_like_an_algorithm() -> None:
    runs = [run("y", 230, LETTERS), run("=", 240, UPRIGHT), run("x", 250, LETTERS)]
    runs += [run("for", 290), run("x", 308, LETTERS), run(">", 314, LETTERS), run("0", 320, UPRIGHT)]
    assert latex(runs) == r"y = x\quad \text{for }x > 0"


def test_brackets_of_two_rows_at_the_same_place_are_two() -> None:
    pieces = [run("\r", left, LARGE, base) for left in (250, 275) for base in (718.0, 712.0, 698.0, 692.0)]
    letters = [run("a", 262, LETTERS, 709), run("b", 262, LETTERS, 689), run("=", 241, UPRIGHT, 689)]
    assert latex([run("y", 230, LETTERS, 709), run("=", 240, UPRIGHT, 709), *pieces, *letters]).count("∥") == 4


def test_a_page_number_below_a_formula_is_not_one_of_its_rows() -> None:
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


def test_an_overline_in_a_denominator_is_no_second_fraction() -> None:
    parts = [run("x", 262, LETTERS, 707), run("W", 262, LETTERS, 692)]
    bars = [Box(260, 702.3, 270, 702.7), Box(262, 699.9, 267, 700.3)]
    assert latex(equation(*parts), *bars) == r"y = \frac{x}{\overline{W}}"


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


def test_a_short_row_among_several_is_doubtful() -> None:
    assert count_doubts([node("y = x", 0, 50, glyphs=5), node("8", 0, 5)]) == 1


def test_symbols_that_overlap_in_a_row_are_doubtful() -> None:
    assert count_overlaps([node("a", 0, 5), node("b", 5, 10)]) == 0
    assert count_overlaps([node("a", 0, 10), node("b", 4, 9)]) == 1


def test_a_formula_without_doubts_is_nearly_sure_and_one_with_doubts_is_not() -> None:
    assert measure_sureness(20, 0) > 0.9
    assert measure_sureness(20, 1) < 0.5
    assert measure_sureness(2, 5) == 0.0


def test_a_font_without_a_name_makes_a_formula_doubtful() -> None:
    (formula,) = found(equation(replace(run("x", 255, LETTERS), font=replace(run("x", 0, TEXT).font, name=""))))
    assert isinstance(formula, Formula)
    assert formula.sureness < 0.5


@pytest.mark.parametrize(("signs", "arrow"), [("−→", "⟶"), ("=⇒", "⟹"), ("⇐⇒", "⟺")])
def test_an_arrow_of_two_glyphs_is_one(signs: str, arrow: str) -> None:
    first, second = run(signs[0], 255, SIGNS), run(signs[1], 259, SIGNS)
    assert latex(equation(run("x", 248, LETTERS), first, second, run("z", 268, LETTERS))) == f"y = x {arrow} z"

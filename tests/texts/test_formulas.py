"""Formulas from glyphs with their positions: what counts as one, and its LaTeX."""

import time

import pytest

from invented_formulas import (
    BODY,
    COLUMNS,
    LARGE,
    LETTERS,
    SIGNS,
    TEXT,
    UPRIGHT,
    equation,
    in_text,
    latex,
    run,
    said,
)
from peercorpus.pdf.glyphs import TextRun, read_font
from peercorpus.pdf.math_fonts import font_encoding, sign
from peercorpus.pdf.shapes import Box, Shapes
from peercorpus.texts.layout.blocks import Block, read_lines
from peercorpus.texts.layout.formulas.display import find_formulas, thin_bars
from peercorpus.texts.layout.formulas.inline import inline


@pytest.mark.parametrize(
    ("font", "letter", "meaning"),
    [
        ("CMMI10", "\x0b", "α"),
        ("CMMI10", "`", "ℓ"),
        ("CMSY10", "k", "∥"),
        ("CMSY10", "L", "ℒ"),
        ("CMSY10", "\xa1", "−"),
        ("CMSY10", "±", "±"),
        ("CMEX10", "\ufffd", "("),
        ("CMEX10", " ", "("),
        ("CMEX10", "X", "∑"),
        ("CMEX10", "p", "√"),
        ("CMEX10", "\uf8ee", "⎡"),
        ("LMMathExtension10-Regular", "∑", "∑"),
        ("MSBM10", "E", "𝔼"),
        ("dsrom10", "1", "𝟙"),
        ("EUFM10", "g", "𝔤"),
        ("RMTMI", "\x19", "π"),
        ("txsys", "\x14", "≤"),
        ("NewTXMI", "\x12", "θ"),
        ("STIXMath-Regular", "𝑥", "x"),
        ("STIXMath-Regular", "\ue0f2", "\ufffd"),
        ("CMMI10", "\u200b", ""),
        ("txmia", "g", "𝔤"),
        ("txexa", "\x21", "\ufffd"),
    ],
)
def test_old_font_codes_are_read(font: str, letter: str, meaning: str) -> None:
    assert sign(font, letter).text == meaning


@pytest.mark.parametrize("name", ["CMEX10", "LMMathExtension10-Regular", "txex", "MTEX", "NewTXEX"])
def test_fonts_of_large_symbols_are_recognised_by_name(name: str) -> None:
    assert name.startswith("LMMath") or font_encoding(name) == "omx"


def test_prose_is_unchanged_except_for_dollar_signs() -> None:
    assert said(run("It costs", 100), run("$5", 150, gap=True)) == r"It costs \$5"


def test_scripts_belong_to_the_formula() -> None:
    runs = [
        run("rate", 100),
        run("f", 125, LETTERS, gap=True),
        run("θ", 130, "CMMI7", 698.5, 7.0),
        run("(", 135, UPRIGHT),
        run("x", 140, LETTERS),
        run(") = 2, and", 145),
    ]
    assert said(*runs) == "rate $f_θ(x) = 2$, and"


def test_a_mark_is_superscript() -> None:
    runs = [run("Ada", 100), run("1", 115, base=703.6, size=7.0), run(",", 119, base=703.6, size=7.0)]
    assert said(*runs, run("∗", 121, "CMSY7", 703.6, 7.0)) == "Ada<sup>1,*</sup>"


def test_a_small_fraction_is_centred() -> None:
    runs = [
        run("=", 100, SIGNS),
        run("x", 106, LETTERS),
        run("1", 114.2, "CMR7", 703.9, 7.0),
        run("N", 114.2, "CMMI7", 696.5, 7.0),
    ]
    assert said(*runs).endswith(r"x\frac{1}{N}$")


def test_a_fraction_has_two_parts() -> None:
    runs = equation(run("a", 256, LETTERS, 706.8), run("b", 256, LETTERS, 693.1))
    assert latex(runs, Box(255, 702.3, 262, 702.7)) == r"y = \frac{a}{b}"


def test_a_sum_has_limits() -> None:
    runs = equation(
        run("X", 254, LARGE, 709.5),
        run("i", 253, "CMMI7", 688.2, 7.0),
        run("=1", 256, "CMR7", 688.2, 7.0),
        run("N", 255, "CMMI7", 712.0, 7.0),
        run("x", 272, LETTERS),
    )
    runs[2].right = 268.4
    runs[5].left, runs[5].right = 258, 264
    runs[3].left, runs[3].right, runs[4].left, runs[4].right = 255, 258, 258, 268
    assert latex(runs) == "y = ∑_{i = 1}^{N}x"


def test_a_matrix_has_rows_and_columns() -> None:
    cells = [("a", 262, 706), ("b", 280, 706), ("c", 262, 694), ("d", 280, 694)]
    runs = equation(
        run("\x12", 254, LARGE, 714.5),
        *(run(text, left, LETTERS, base) for text, left, base in cells),
        run("\x13", 288, LARGE, 714.5),
    )
    assert latex(runs) == r"y = \begin{pmatrix} a & b \\ c & d \end{pmatrix}"


def test_cases_follow_a_brace() -> None:
    runs = equation(
        run("(", 254, LARGE, 717.5),
        run("1", 264, UPRIGHT, 706),
        run("if", 280, TEXT, 706),
        run("x", 292, LETTERS, 706),
        run("0", 264, UPRIGHT, 694),
        run("otherwise", 280, TEXT, 694),
    )
    assert latex(runs) == r"y = \begin{cases} 1 & \text{if }x \\ 0 & {\rm otherwise} \end{cases}"


@pytest.mark.parametrize(
    ("opening", "closing"), [("\x10", "\x11"), ("(", ")")], ids=["codes", "with a table of Unicode"]
)
def test_large_brackets_are_brackets(opening: str, closing: str) -> None:
    runs = equation(run(opening, 254, LARGE, 712), run("x", 260, LETTERS), run(closing, 266, LARGE, 712))
    assert latex(runs) == "y = (x)"


def test_a_horizontal_brace_has_a_label() -> None:
    brace = [run(text, left, LARGE, 694) for text, left in (("|", 252), ("{", 258), ("z", 261), ("}", 266))]
    runs = equation(run("a", 255, LETTERS), run("b", 262, LETTERS), *brace, run("n", 260, "CMMI7", 684, 7.0))
    assert latex(runs) == r"y = \underbrace{ab}_{n}"


def test_an_accent_is_joined_to_its_letter() -> None:
    assert said(run("x", 100, LETTERS), run("ˆ", 100, UPRIGHT)) == "$x̂$"
    assert (
        said(run("a", 100, LETTERS), run("6", 108, SIGNS), run("=", 108, UPRIGHT), run("b", 116, LETTERS)) == "$a ≠ b$"
    )


@pytest.mark.parametrize(("font", "base"), [("CMSY10", 707.6), ("NewCMMath-Book", 700.0)], ids=["hung", "standing"])
def test_a_root_has_what_is_under_it(font: str, base: float) -> None:
    inside = run("d", 160, LETTERS), run("k", 165, "CMMI7", 698.5, 7.0)
    runs = [run("divided by", 100), run("√", 153, font, base, gap=True), *inside]
    runs[1].right = 160.0
    (line,) = in_text([*runs, run(", and", 169)], Box(160, 707.7, 169, 708.5))
    assert line == r"divided by $\sqrt{d_k}$, and"


def test_a_rule_at_the_foot_is_an_underscore() -> None:
    runs = [run("example.org/Fourier", 100), run("transform", 199, gap=True)]
    assert in_text(runs, Box(195.2, 699.8, 198.8, 700.2)) == ["example.org/Fourier_transform"]
    assert in_text(runs, Box(195.2, 703.8, 198.8, 704.2)) == ["example.org/Fourier transform"]


def test_a_tall_bar_of_several_parts_is_one() -> None:
    bars = [run("\x0c", left, LARGE, 712 - 6 * part) for left in (110, 120) for part in range(3)]
    assert said(*bars[:3], run("x", 114, LETTERS), *bars[3:]) == "$∣x∣$"


@pytest.mark.slow
@pytest.mark.fault("input", "a page of 20,000 signs and bars", "it is read in bounded time", times=8)
@pytest.mark.parametrize("text", ["x", "((((((((", "ˆ", "p"])
@pytest.mark.parametrize("font", [LETTERS, LARGE])
def test_a_hostile_page_takes_bounded_time(text: str, font: str) -> None:
    runs = [run(text, 110 + at % 40 * 9.0, font, 760 - at // 40 % 1000 * 0.7, 5 + at % 7) for at in range(20_000)]
    bars = [Box(110 + at % 300, at % 700, 120 + at % 300, at % 700 + 0.4) for at in range(20_000)]
    begun = time.process_time()
    lines = read_lines(runs, 0)
    output = "".join(
        str(one.markdown) if isinstance(one, Block) else inline(one.runs, one.base, one.size)
        for one in find_formulas(lines, thin_bars(Shapes(strokes=bars)), COLUMNS, BODY)
    )
    assert time.process_time() - begun < 10
    assert not any(letter == "\ufffd" or letter < " " or "\ue000" <= letter <= "\uf8ff" for letter in output)


ITALIC, ROMAN, TIMES = read_font("CMMI10"), read_font("CMR10"), read_font("NimbusRomNo9L-Regu")


def glyphs(text: str, left: float) -> TextRun:
    font = ITALIC if text.isalpha() else ROMAN
    return TextRun(text, left, left + 5.0 * len(text), 700.0, 10.0, font, False, False, 0, len(text))


def inline_said(*runs: TextRun) -> str:
    """Runs after words in the font of the text."""
    words = TextRun("Let", 70.0, 90.0, 700.0, 10.0, TIMES, False, False, 0, 3)
    return inline([words, *runs], 700.0, 10.0)


@pytest.mark.parametrize(
    ("sign", "printed"),
    [(":=", [":="]), (":=", [":", "="]), ("==", ["=", "="]), ("<=", ["<", "="]), ("!=", ["!", "="])],
)
def test_touching_symbols_are_one_symbol(sign: str, printed: list[str]) -> None:
    parts = [glyphs(part, 115.0 + 5.0 * at) for at, part in enumerate(printed)]
    assert inline_said(glyphs("q", 105.0), *parts, glyphs("p", 128.0)) == f"Let$q {sign} p$"


@pytest.mark.parametrize(
    ("slash", "relation", "negated"), [("6", "= 0", "≠ 0"), ("\u0338", "=", "≠"), ("6", "\u2282", "⊄"), ("6", "9", "∄")]
)
def test_a_slash_stays_with_the_symbol_it_negates(slash: str, relation: str, negated: str) -> None:
    runs = [run("if", 100), run("a", 115, LETTERS, gap=True), run(slash, 123, SIGNS, gap=True)]
    runs[2].right = 129.4
    font = UPRIGHT if "=" in relation else SIGNS
    assert in_text([*runs, run(relation, 123, font)]) == [f"if $a {negated}$".replace(" ∄", "∄")]

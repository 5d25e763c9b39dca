"""Signs printed as several touching glyphs."""

import pytest

from peercorpus.pdf.glyphs import TextRun, read_font
from peercorpus.texts.layout.formulas.inline import inline

LETTERS, UPRIGHT, TEXT = read_font("CMMI10"), read_font("CMR10"), read_font("NimbusRomNo9L-Regu")


def run(text: str, left: float) -> TextRun:
    font = LETTERS if text.isalpha() else UPRIGHT
    return TextRun(text, left, left + 5.0 * len(text), 700.0, 10.0, font, False, False, 0, len(text))


def said(*runs: TextRun) -> str:
    """Runs after words in the font of the text."""
    words = TextRun("Let", 70.0, 90.0, 700.0, 10.0, TEXT, False, False, 0, 3)
    return inline([words, *runs], 700.0, 10.0)


@pytest.mark.parametrize(
    ("sign", "printed"),
    [(":=", [":="]), (":=", [":", "="]), ("==", ["=", "="]), ("<=", ["<", "="]), ("!=", ["!", "="])],
)
def test_touching_symbols_are_one_symbol(sign: str, printed: list[str]) -> None:
    parts = [run(part, 115.0 + 5.0 * at) for at, part in enumerate(printed)]
    assert said(run("q", 105.0), *parts, run("p", 128.0)) == f"Let$q {sign} p$"


def test_separate_symbols_are_two() -> None:
    assert said(run("n", 105.0), run("!", 110.0), run("=", 118.0), run("m", 126.0)) == "Let$n! = m$"
    assert said(run("n", 105.0), run("=", 115.0), run("m", 126.0)) == "Let$n = m$"

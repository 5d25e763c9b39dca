"""Slashes and accents of formulas: what they belong to, and that none of them vanishes."""

import pytest

from invented_formulas import LETTERS, SIGNS, UPRIGHT, in_text, run, said
from peercorpus.pdf.math_fonts import sign


@pytest.mark.parametrize(
    ("slash", "relation", "negated"), [("6", "= 0", "≠ 0"), ("\u0338", "=", "≠"), ("6", "\u2282", "⊄"), ("6", "9", "∄")]
)
def test_a_slash_stays_with_the_symbol_it_negates_even_if_both_start_together(
    slash: str, relation: str, negated: str
) -> None:
    runs = [run("if", 100), run("a", 115, LETTERS, gap=True), run(slash, 123, SIGNS, gap=True)]
    runs[2].right = 129.4
    font = UPRIGHT if "=" in relation else SIGNS
    assert in_text([*runs, run(relation, 123, font)]) == [f"if $a {negated}$".replace(" ∄", "∄")]


def test_an_accent_over_nothing_is_written_as_a_sign_of_its_own() -> None:
    assert said(run("x", 100, LETTERS), run("=", 110, UPRIGHT), run("ˆ", 118, UPRIGHT)) == "$x = ˆ$"
    assert said(run("x", 100, LETTERS), run("6", 110, SIGNS), run("y", 118, LETTERS)) == "$x/y$"


@pytest.mark.parametrize(("letter", "meaning"), [("*", "⊈"), ("\x02", "≰"), ("\xa3", "≰"), ("1", "⊮"), ("@", "∄")])
def test_negated_symbols_of_the_ams_fonts_are_read(letter: str, meaning: str) -> None:
    assert sign("MSBM10", letter).text == meaning
    assert sign("bbm10", "1").text == "𝟙"


def test_an_accent_is_combined_with_its_letter_within_a_longer_run() -> None:
    runs = [
        run("all", 100),
        run("λ >", 118, LETTERS, gap=True),
        run("ˆ", 118.4, UPRIGHT, 702.6),
        run("1", 137, UPRIGHT),
    ]
    runs[1].right = 134.3
    assert in_text([*runs, run(", and", 142)]) == ["all $λ̂ > 1$, and"]

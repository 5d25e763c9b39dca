"""Whatever the Markdown, its LaTeX is balanced, uses only known commands and has all words in order."""

import re
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from latex_reading import body, check_balance
from peercorpus.latex.document import write_latex

PIECES = (
    *(
        "$",
        "$$",
        "\\",
        "`",
        "```",
        "*",
        "**",
        "***",
        "_",
        "__",
        "[",
        "]",
        "](http://a.example/b_c%20d)",
        "](figures/one.png)",
    ),
    *(
        "![",
        "|",
        " | ",
        "\n| --- | :-: |\n",
        "\n---\n",
        "\n\n---\n\n",
        "\n- ",
        "\n  - ",
        "\n    - ",
        "\n1. ",
        "\n2) ",
        "\n# ",
    ),
    *(
        "\n## ",
        "\n> ",
        "\n\n",
        "\n",
        " ",
        "  \n",
        "<sup>",
        "</sup>",
        "<sub>",
        "</sub>",
        "<b>",
        "<br>",
        "&amp;",
        "&lt;",
        "{",
    ),
    *(
        "}",
        "%",
        "#",
        "~",
        "^",
        "&",
        "[^1]",
        "\n[^1]: ",
        r"\input{/etc/passwd}",
        r"\write18{ls}",
        r"\end{verbatim}",
        r"\csname",
    ),
    *(
        r"\begin{cases}",
        r"\end{cases}",
        r"\begin{align}",
        r"\end{align}",
        r"\\",
        r"\\[2pt]",
        r"\frac",
        r"\sqrt[",
        r"\left(",
        r"\right)",
    ),
    *(
        r"\text{",
        r"\mathbf",
        r"\rm ",
        r"\sum\limits",
        r"\hspace{1em}",
        r"\def\x",
        r"\(",
        r"\)",
        r"\[",
        r"\]",
        "'",
        "''",
        "--",
        "\t",
    ),
    *(
        "é",
        "α",
        "≤",
        "𝐱",
        "ŷ",
        "x\u0302 ",
        "α\u0302 ",
        "中",
        "—",
        "\u00a0",
        "\u200b",
        "ﬁ",
        "²",
        "\x00",
        "\x0c",
        "\u202e",
        "😀",
    ),
    *("Figure 1: ", "https://a.example/x_(y)?q=1#z", "```\n", "\n```\n", "a_b", "1", "x", "\n\\begin{align}\n"),
)
MARKDOWN = st.lists(st.sampled_from(PIECES), max_size=30)


def with_words(pieces: list[str]) -> tuple[str, list[str]]:
    names = [f"w{number}w" for number in range(len(pieces))]
    return "".join(f"{piece}{name}" for piece, name in zip(pieces, names, strict=True)), names


@given(MARKDOWN)
@settings(max_examples=150, deadline=None)
@example(["$", "\\", "$"])
@example(["\n- ", "["])
@example(["\n- ", "$", "\\input{/etc/passwd}", "$"])
@example(["\n1. ", "$", "\\input{/etc/passwd}", "$"])
@example(["\n| a | b |", "\n| --- | :-: |\n", "| * | [1pt] |\n", "| a |"])
@example(["```\n", r"\end{verbatim}", "\n```\n"])
@example(["$", r"x^a^b'", "$"])
def test_the_document_is_balanced_and_complete(pieces: list[str]) -> None:
    markdown, names = with_words(pieces)
    latex = write_latex(markdown).latex
    check_balance(latex)
    shown = re.sub(r"\\href\{[^{}]*\}", "", body(latex))
    assert re.findall(r"w\d+w", shown) == names


@given(st.text(max_size=200))
@settings(max_examples=100, deadline=None)
def test_any_text_can_be_written(text: str) -> None:
    latex = write_latex(text).latex
    latex.encode()
    check_balance(latex)


@pytest.mark.parametrize(
    "piece",
    [
        *"[>|# \t\\\n{}^\u0302中-x%",
        *("![a](", "*a ", "**", "_a", "`a``", "$a", "$$", "> ", "- "),
        *("  - a\n", "| a |\n", "# ", "<sup>", "\\(", "\\[", "http://", "&amp", "~~~"),
        *("\n\n- a\n\n", "a\u0302", "[^a]: b\n", "$$\n", "```\n", "$x^{", "1."),
    ],
)
def test_no_text_takes_long(piece: str) -> None:
    started = time.perf_counter()
    latex = write_latex(piece * (40_000 // len(piece))).latex
    assert time.perf_counter() - started < 3
    assert max(map(len, latex.split("\n"))) < 60_000

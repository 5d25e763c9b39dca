"""Texts are split into passages without gaps, each with its information from lists, labels and headings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peercorpus.criticism.passages import read_passages

PIECES = st.sampled_from(
    [
        *("- ", "1. ", "(2) ", "W3: ", "Q1 ", "**Weakness 4**: ", "# Cons", "Pros:", "> ", "---", "\n", "\n\n", "\r\n"),
        *(
            "It rains. ",
            "Why? ",
            "First, clouds e.g. cirrus. ",
            "\u2028",
            "\t",
            "a) ",
            "[1] Smith et al. 2020.",
            "$x_1$ ",
            "``` ",
        ),
    ]
)


@given(st.lists(PIECES | st.text(max_size=12), max_size=30).map("".join))
def test_passages_cover_every_character_of_any_text(text: str) -> None:
    passages = read_passages(text)
    assert "".join(text[one.start : one.end] for one in passages) == (text if passages else "")
    assert all(one.words for one in passages)
    assert [one.block for one in passages] == sorted(one.block for one in passages)


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("1. The sky is grey.", "1"),
        ("(3) The sky is grey.", "(3)"),
        ("2) The sky is grey.", "2)"),
        ("W2: The sky is grey.", "W2"),
        ("**Q1.** Is the sky grey?", "Q1"),
        ("Q4 Is the sky grey?", "Q4"),
        ("- **Weakness 2**: The sky is grey.", "Weakness 2"),
        ("[W1] The sky is grey.", "[W1]"),
        ("(a) The sky is grey.", "(a)"),
        ("2.1. The sky is grey.", "2.1"),
        ("Response to Question 3: it is grey.", "Response to Question 3"),
        ("3.5% of the sky is grey.", None),
        ("2 clouds are grey.", None),
        ("A cloud is grey.", None),
        ("2020 was grey.", None),
        ("I. think so", None),
        ("The sky is grey (1).", None),
    ],
)
def test_a_label_is_kept_as_it_was_written(line: str, label: str | None) -> None:
    (first, *_) = read_passages(line)
    assert first.label == label


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("## Strengths\nClear.", ["## Strengths"]),
        ("**Weaknesses**\n\n- Short.", ["**Weaknesses**"]),
        ("Pros:\n+ Clear.\nCons:\n- Short.", ["Pros:", "Cons:"]),
        ("Strengths\nClear.", ["Strengths"]),
        ("Clear.\nGood.", []),
        ("I have one remark: it is short. Really:", []),
    ],
)
def test_headings_are_distinguished_from_sentences(text: str, headings: list[str]) -> None:
    assert [one.words for one in read_passages(text) if one.is_heading] == headings


def test_a_soft_break_ends_no_sentence() -> None:
    passages = read_passages("1. The first cloud is\nfar too grey. Why?\n2. The other.")
    assert [(one.label, one.words) for one in passages] == [
        ("1", "1. The first cloud is\nfar too grey."),
        ("1", "Why?"),
        ("2", "2. The other."),
    ]

"""Numbers without a word or a square bracket are linked only if their meaning is certain."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostile_texts import find_growth
from invented_blocks import Part, caption, entry, formula, heading, structured
from peercorpus.records.enums import BlockKind, MentionKind
from peercorpus.records.structured_text import StructuredText

FORMULAS = (*(formula(number) for number in ("1", "2", "3", "5", "A.2")), formula("7"), formula("7"))
ENTRIES = tuple(entry(f"A. Author. Herbs, 200{number}.", str(number)) for number in range(1, 7))
CITING = (heading("1", "Herbs"), "Herbs are weighed,<sup>1</sup> and teas<sup>2,3</sup> are poured.<sup>4\u20136</sup>")


def link(text: StructuredText, block_id: int = 0) -> list[tuple[str, str]]:
    """The linked mentions of a block: their words, and what they refer to."""
    return [
        (text.read(mention), text.blocks[mention.target].number or "")
        for mention in text.mentions
        if mention.block_id == block_id and mention.target is not None
    ]


def link_formulas(sentence: str, *parts: Part) -> list[tuple[str, str]]:
    return link(structured(sentence, *FORMULAS, *parts))


@pytest.mark.parametrize(
    ("sentence", "numbers"),
    [
        ("as shown in (2), the herbs", ["2"]),
        ("follows from (1) and (3).", ["1", "3"]),
        ("(see (5))", ["5"]),
        ("By (A.2) we", []),
        ("By (A.2), we", ["A.2"]),
        ("Substituting (1) into (2), we have", ["1", "2"]),
        ("From (1)\u2013(3), we have", ["1", "2", "3"]),
        ("As (2) is a vector", ["2"]),
        ("to minimise (5).", ["5"]),
        ("the problem (5) can be solved", ["5"]),
        ("In Eq. (1) and (2) it holds", ["1", "2"]),
        ("by (7).", []),
        ("by (9).", []),
        ("in (5) of the cases", []),
        ("a total of (5) herbs", []),
        ("it was sold in 1999 (5).", []),
        ("$a = b$ by $(5)$.", []),
        ("in f(5).", []),
        ("by (5)(2).", []),
    ],
)
def test_words_make_a_number_an_equation(sentence: str, numbers: list[str]) -> None:
    assert [number for _, number in link_formulas(sentence)] == numbers


@pytest.mark.parametrize(
    "sentence",
    [
        "It consists of (1) the herbs, and (2) the teas.",
        "They differ in (1) when herbs are picked and (2) when they are sold.",
        "Contributions: (1) We weigh. (2) We pour.",
        "We ask for three things: (1) is it green, (2) is it hot, and (3) is it tea?",
    ],
)
def test_numbers_of_list_items_are_not_equation_numbers(sentence: str) -> None:
    assert link_formulas(sentence) == []


def test_a_number_refers_to_the_latest() -> None:
    listed = "There are two teas: (1) green tea, and (2) mint."
    assert link(structured(formula("1"), listed, "As shown in (1), it is green."), 2) == []
    assert link(structured(listed, formula("1"), "As shown in (1), it is green."), 2) == [("(1)", "1")]


def test_a_cited_works_equation_is_not_ours() -> None:
    assert link_formulas("by (2) of [3].", *ENTRIES, "As [1-6].") == [("3", "3")]


def test_possible_citations_are_no_equations() -> None:
    assert link_formulas("as shown in (2).", *ENTRIES) == []
    assert link_formulas("as shown in (2), within [1, 2].", *ENTRIES) == [("1", "1"), ("2", "2")]
    assert link_formulas("as shown in (2).", *ENTRIES, "As [4-6] say.") == [("(2)", "2")]


def test_a_number_in_code_is_not_an_equation() -> None:
    listing: Part = (BlockKind.LISTING, "```\nfor boat in (2):\n```", {})
    assert link(structured(listing, *FORMULAS)) == []


@pytest.mark.parametrize(
    ("sentence", "numbers"),
    [
        ("Teas<sup>2</sup> are hot.", ["2"]),
        ("Teas are hot.<sup>3,5</sup> Cups", ["3", "5"]),
        ("Teas are hot.<sup>1\u20133</sup>", ["1", "2", "3"]),
        ("as Smith (Herbs)<sup>4</sup> said", ["4"]),
        ("10<sup>3</sup> herbs", []),
        ("5 m<sup>2</sup> and 2 km<sup>2</sup> of herbs", []),
        ("R<sup>2</sup> and sin<sup>2</sup> and RNA<sup>2</sup>", []),
        ("the isotope <sup>6</sup>Li", []),
        ("Ca<sup>2+</sup> and herbs<sup>x</sup>", []),
        ("(a + b)<sup>2</sup>", []),
        ("Teas<sup>2,99</sup> are hot", []),
    ],
)
def test_raised_numbers_may_be_citations(sentence: str, numbers: list[str]) -> None:
    text = structured(*CITING, sentence, *ENTRIES)
    assert [number for _, number in link(text, 2)] == numbers


@pytest.mark.parametrize(
    "parts",
    [
        ("Cups [1] and [2].", *ENTRIES),
        (*ENTRIES, *(entry(f"B. Author. Teas, 19{number}.", str(number)) for number in range(10, 30))),
        ("A. Author. Herbs, 2001.",),
    ],
    ids=["others in brackets", "most are never cited", "no list"],
)
def test_superscript_numbers_in_other_papers_are_not_citations(parts: tuple[Part, ...]) -> None:
    assert link(structured(*CITING, *parts), 1) == []


def test_footnote_and_affiliation_marks_are_not_citations() -> None:
    note: Part = (BlockKind.FOOTNOTE, "<sup>2</sup>A note.", {})
    authors = "Ada Bell,<sup>1,2</sup> Zoe Cole<sup>3</sup>"
    text = structured(authors, *CITING, "Cups<sup>1</sup> and teas<sup>1</sup> are hot.<sup>2</sup>", note, *ENTRIES)
    assert link(text, 0) == []
    assert [number for _, number in link(text, 3)] == ["1", "1"]


def test_captions_contain_citations_too() -> None:
    text = structured(*CITING, caption(MentionKind.FIGURE, "1", "From Smith.<sup>2</sup>"), *ENTRIES)
    assert link(text, 2) == [("2", "2")]


@given(st.text(alphabet="(),.;-\u2013 0123456789AbyinseeEq<sup>/\n$", max_size=200))
def test_mentions_of_any_text_are_within_the_text(sentence: str) -> None:
    text = structured(sentence or "x", *CITING, *FORMULAS, *ENTRIES)
    assert all(0 <= one.start < one.end <= len(text.markdown) for one in text.mentions)


@pytest.mark.parametrize("text", ["in (1), ", "(1)", "(1) and ", "a<sup>1</sup> ", "<sup>1,", "abc"])
def test_run_time_is_linear_in_the_length(text: str) -> None:
    def find(size: int) -> Callable[[], object]:
        return lambda: structured(text * (size // len(text)), *CITING, *FORMULAS, *ENTRIES).mentions

    assert find_growth(find, [2_000, 20_000], 0.05) is None

"""A reference in a sentence is linked to its block if that is certain, and kept without a target otherwise."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostile_texts import find_growth
from invented_blocks import NEXT_PAGE, Part, caption, entry, formula, heading, structured
from peercorpus.corpus.structured_text import StructuredText
from peercorpus.records.enums import BlockKind, MentionKind

NUMBERED = (
    heading("1", "Introduction"),
    heading("3.2", "Weights", 2),
    heading("A", "Proofs"),
    heading("A.1", "Lemmas", 2),
    formula("5"),
    formula("6"),
    formula("A.2"),
    *(caption(MentionKind.FIGURE, number) for number in "1234"),
    caption(MentionKind.TABLE, "1"),
    caption(MentionKind.TABLE, "II"),
    caption(MentionKind.ALGORITHM, "1"),
    *(entry(f"A. Author. Herbs, 200{number}.", number) for number in "12345"),
)
NAMED = (
    entry("Jane Smith, John Doe, and Ada Lee. Herbs. arXiv:1901.00001, 2020."),
    entry("Smith, J. and Jones, K. Teas. Journal of Teas, 12:2001-2010, 2019a."),
    entry("Smith, J. Pots. 2019b."),
    entry("Aaron van den Oord. Cups. 2018."),
    entry("OpenAI. Saucers. Technical report, 2023."),
    entry("Müller-Lüdenscheidt, H. (2017). Spoons. Preprint 2016."),
    entry("Wei Li and Xin Chen. Forks. 2021."),
    entry("Wei Li and Xin Chen. Knives. 2021."),
)


def linked(sentence: str, parts: tuple[Part, ...]) -> list[tuple[str, str | None]]:
    """The mentions of a sentence: their words, and the beginning of what they refer to."""
    text = structured(sentence, *parts)
    found = []
    for mention in text.mentions:
        if mention.block_id == 0:
            target = text.find_target(mention)
            found.append((text.read(mention), None if target is None else text.read(target)[:12]))
    return found


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("See Eq. (5).", [("Eq. (5)", "$$a = b$$ (5")]),
        ("by equation 6 and", [("equation 6", "$$a = b$$ (6")]),
        ("Eqs. (5) and (6) hold", [("Eqs. (5)", "$$a = b$$ (5"), ("(6)", "$$a = b$$ (6")]),
        ("Equation (A.2) says", [("Equation (A.2)", "$$a = b$$ (A")]),
        ("(Eq. 5)", [("Eq. 5", "$$a = b$$ (5")]),
        ("Equation (9) says", [("Equation (9)", None)]),
        ("in Fig. 2 and", [("Fig. 2", "Figure 2: We")]),
        ("Figure 2a shows", [("Figure 2a", "Figure 2: We")]),
        ("Figure 2(b) shows", [("Figure 2(b)", "Figure 2: We")]),
        ("(see Figure 1)", [("Figure 1", "Figure 1: We")]),
        ("Figures 1 and 3 show", [("Figures 1", "Figure 1: We"), ("3", "Figure 3: We")]),
        ("Figs. 2-4 show", [("Figs. 2", "Figure 2: We"), ("Figs. 2-4", "Figure 3: We"), ("4", "Figure 4: We")]),
        ("In Table 1, 5 models fail", [("Table 1", "Table 1: Wei")]),
        ("In Table 1 and 3 seeds", [("Table 1", "Table 1: Wei")]),
        ("TABLE II lists", [("TABLE II", "Table II: We")]),
        ("Table 2 lists", [("Table 2", "Table II: We")]),
        ("by Algorithm 1.", [("Algorithm 1", "Algorithm 1:")]),
        ("in Section 3.2, we", [("Section 3.2", "### 3.2 Weig")]),
        ("in §3.2", [("§3.2", "### 3.2 Weig")]),
        ("in Appendix A", [("Appendix A", "## A Proofs")]),
        ("in Appendix A.1", [("Appendix A.1", "### A.1 Lemm")]),
        ("Section 3.2 of [4] says", [("Section 3.2", None), ("4", "[4] A. Autho")]),
        ("The FIGURES and TABLES below", []),
        ("Figure it out in 3 steps", []),
        ("as [3] shows", [("3", "[3] A. Autho")]),
        ("as [3, 5] show", [("3", "[3] A. Autho"), ("5", "[5] A. Autho")]),
        ("as [3-5] show", [("3", "[3] A. Autho"), ("3-5", "[4] A. Autho"), ("5", "[5] A. Autho")]),
        ("as [17] shows", [("17", None)]),
        ("in [2, Section 3.2]", [("2", "[2] A. Autho"), ("Section 3.2", None)]),
        ("lies in [0, 1]", []),
        ("lies in $[1, 2]$", []),
    ],
)
def test_numbers_are_linked(sentence: str, expected: list[tuple[str, str | None]]) -> None:
    assert linked(sentence, NUMBERED) == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("as known (Smith et al., 2020).", [("Smith et al., 2020", "Jane Smith, ")]),
        ("Smith et al. (2020) show", [("Smith et al. (2020)", "Jane Smith, ")]),
        ("Smith et al. [2020] show", [("Smith et al. [2020]", "Jane Smith, ")]),
        ("In Smith & Jones (2019a) and", [("Smith & Jones (2019a)", "Smith, J. an")]),
        ("Smith's (2019b) pots", [("Smith's (2019b)", "Smith, J. Po")]),
        ("(see e.g. van den Oord, 2018)", [("van den Oord, 2018", "Aaron van de")]),
        ("(OpenAI, 2023)", [("OpenAI, 2023", "OpenAI. Sauc")]),
        ("(Muller-Ludenscheidt, 2017)", [("Muller-Ludenscheidt, 2017", "Müller-Lüden")]),
        (
            "(Smith et al., 2020; van den Oord, 2018; Gone et al., 2001)",
            [
                ("Smith et al., 2020", "Jane Smith, "),
                ("van den Oord, 2018", "Aaron van de"),
                ("Gone et al., 2001", None),
            ],
        ),
        ("(Smith, 2019a,b)", [("Smith, 2019a", "Smith, J. an"), ("b", "Smith, J. Po")]),
        ("Li and Chen (2021) show", [("Li and Chen (2021)", None)]),
        ("Smith and Doe (2019a)", [("Smith and Doe (2019a)", None)]),
        ("gamesSmith et al. (2020) play", [("Smith et al. (2020)", "Jane Smith, ")]),
        ("Similarly, Smith & Jones (2019a) find", [("Smith & Jones (2019a)", "Smith, J. an")]),
        ("ICML (2020) was held, and ImageNet 2012 was used, in June 2020 and May 2021.", []),
        ("on WMT 2014 English and WMT 2014 German", []),
        ("as [1, 2] are", []),
    ],
)
def test_authors_and_years_are_linked(sentence: str, expected: list[tuple[str, str | None]]) -> None:
    assert linked(sentence, NAMED) == expected


def test_two_names_and_et_al_differ() -> None:
    parts = (entry("Kim Wu and Max Ray. Herbs. 2020."), entry("Kim Wu, Max Ray, and Ada Lee. Teas. 2020."))
    found = linked("(Wu & Ray, 2020; Wu et al., 2020)", parts)
    assert [target for _, target in found] == ["Kim Wu and M", "Kim Wu, Max "]


def test_alphabetic_labels_are_linked_to_their_entries() -> None:
    parts = (entry("Ada Bell and others. Herbs.", "ABC+20"), entry("Zoe. Teas.", "Zoe21"))
    assert linked("as [ABC+20, Zoe21] and [MASK] say", parts) == [("ABC+20", "[ABC+20] Ada"), ("Zoe21", "[Zoe21] Zoe.")]


def test_without_references_numbers_stay_unlinked() -> None:
    assert linked("as [1, 2] say", ()) == [("1", None), ("2", None)]


def test_a_repeated_section_number_is_no_target() -> None:
    assert linked("See Section 1.", (heading("1", "Here"), heading("1", "There"))) == [("Section 1", None)]


def test_subsections_with_letters_are_found_below_their_section() -> None:
    parts = (heading("III", "Method"), heading("A", "Data", 2), heading("IV", "Results"), heading("A", "Scores", 2))
    found = linked("Sections III-A and IV-A, not Section A.", (*parts, heading("A", "Proofs")))
    assert [target for _, target in found] == ["### A Data", "### A Scores", "## A Proofs"]


def test_a_captions_own_label_is_not_a_mention() -> None:
    text = structured(caption(MentionKind.FIGURE, "1", "As Figure 2."), caption(MentionKind.FIGURE, "2"))
    assert [(mention.number, mention.target) for mention in text.mentions] == [("2", 1)]


def test_links_can_be_read_from_both_ends() -> None:
    text = structured(
        heading("1", "Why"), "As (5) says.", NEXT_PAGE, heading("2", "How", 1), formula("5"), "See Eq. (5)."
    )
    (mention,) = text.mentions
    target = text.find_target(mention)
    assert target is not None
    assert (text.read(target), text.find_mentions_of(target)) == ("$$a = b$$ (5)", [mention])
    assert [text.read(block) for block in text.find_headings(text.blocks[mention.block_id])] == ["## 2 How"]


@given(st.text(alphabet="[](),;-\u2013 0123456789EqFigTable.Smith&etal§AI\n$", max_size=200))
def test_mentions_of_any_text_are_within_the_text(sentence: str) -> None:
    text: StructuredText = structured(sentence or "x", *NUMBERED, *NAMED)
    assert all(0 <= one.start < one.end <= len(text.markdown) for one in text.mentions)


@pytest.mark.parametrize("text", ["Aa" * 40 + "2019", "Aa" * 40 + "+2019+", "Ab (2019, 2019)", "Aa Bb Cc, 2019x "])
def test_names_and_years_take_linear_time(text: str) -> None:
    def find(size: int) -> Callable[[], object]:
        return lambda: structured(text * (size // len(text)), *NAMED).mentions

    assert find_growth(find, [2_000, 20_000], 0.05) is None


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
def test_mentions_of_any_text_are_stay_within_it(sentence: str) -> None:
    text = structured(sentence or "x", *CITING, *FORMULAS, *ENTRIES)
    assert all(0 <= one.start < one.end <= len(text.markdown) for one in text.mentions)


@pytest.mark.parametrize("text", ["in (1), ", "(1)", "(1) and ", "a<sup>1</sup> ", "<sup>1,", "abc"])
def test_run_time_is_linear_in_the_length(text: str) -> None:
    def find(size: int) -> Callable[[], object]:
        return lambda: structured(text * (size // len(text)), *CITING, *FORMULAS, *ENTRIES).mentions

    assert find_growth(find, [2_000, 20_000], 0.05) is None

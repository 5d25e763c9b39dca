"""A reference in a sentence is linked to its block if that is certain, and kept without a target otherwise."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostile_texts import find_growth
from invented_blocks import NEXT_PAGE, Part, caption, entry, formula, heading, structured
from peercorpus.records.enums import MentionKind
from peercorpus.records.structured_text import StructuredText

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

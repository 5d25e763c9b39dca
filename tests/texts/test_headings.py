"""Headings are recognised by font, spacing and consecutive numbers."""

from math import inf

import pytest

from invented_lines import BODY, BOLD, LEFT, ONE_COLUMN, RIGHT, SERIF, line
from peercorpus.pdf.glyphs import Font, read_font
from peercorpus.texts.layout.blocks import TextLine
from peercorpus.texts.layout.columns import PageColumns
from peercorpus.texts.layout.headings import HeadingFinder

BELOW = line("The text below begins here and goes on to the end of its column, as it does.", 680.0)


def levels(*lines: TextLine, is_apart: bool = True) -> list[int]:
    headings = HeadingFinder(BODY)
    return [headings.read(one, BELOW, ONE_COLUMN, step=20.0, is_apart=is_apart) for one in lines]


def bold(text: str, size: float = 12.0) -> TextLine:
    return line(text, size=size, font=BOLD, right=LEFT + 6 * len(text))


def test_numbers_determine_the_level_of_a_heading() -> None:
    texts = ["1 Introduction", "2 Method", "2.1 Model", "2.1.1 Loss", "3. Results", "A Proofs", "A.1 Lemma"]
    assert levels(*map(bold, texts)) == [1, 1, 2, 3, 1, 1, 2]


def test_chapters_may_start_with_zero() -> None:
    assert levels(*map(bold, ["0.1 Introduction", "0.1.1 Model", "0.2 Method"])) == [1, 2, 1]


@pytest.mark.parametrize("text", ["Abstract", "References", "Acknowledgments", "Limitations", "Broader Impact"])
def test_common_section_names_need_no_number(text: str) -> None:
    assert levels(bold(text)) == [1]


@pytest.mark.parametrize(
    "text",
    [
        "7 Wonders of the world are told here",
        "1. Claims that are made in the abstract,",
        "3.2, 4.1 and 5.0",
        "We show that it holds.",
    ],
)
def test_a_bold_line_is_no_heading(text: str) -> None:
    assert levels(bold("1 Introduction"), bold(text, 10.0))[1] == 0


def test_large_text_before_headings_is_none() -> None:
    assert levels(bold("A Great Title", 17.0), bold("1 Introduction"), bold("Software and Data")) == [0, 1, 1]


def test_a_skipped_number_is_still_a_section() -> None:
    assert levels(bold("1 Introduction"), bold("6 Results"), bold("7 Discussion")) == [1, 1, 1]
    assert levels(bold("1 Introduction", 10.0), bold("6 Results", 10.0)) == [1, 0]


@pytest.mark.parametrize(
    ("before", "after", "wraps"),
    [
        ("2 A heading that is too long", "for its line", True),
        ("2 A heading", "3 Another", False),
        ("2 A heading", "Abstract", False),
    ],
)
def test_a_heading_may_continue_on_the_next_line(before: str, after: str, wraps: bool) -> None:
    assert HeadingFinder(BODY).wraps(bold(before), bold(after), ONE_COLUMN, step=14.0) is wraps


def plain(text: str) -> TextLine:
    return line(text, right=LEFT + 6 * len(text))


@pytest.mark.parametrize(
    "text", ["2.1 times as large", "2.3 Results", "3.1 Of another section", "2.1 It ends.", "2 Of the first level"]
)
def test_other_numbers_start_no_heading(text: str) -> None:
    assert levels(bold("1 Introduction"), bold("2 Method"), plain(text))[2] == 0


def test_a_number_close_to_text_starts_none() -> None:
    headings, close = HeadingFinder(BODY), line("The text below stands as closely as in a paragraph.", 688.0)
    headings.read(bold("1 Introduction"), BELOW, ONE_COLUMN, step=20.0, is_apart=True)
    assert headings.read(plain("1.1 Features"), close, ONE_COLUMN, step=20.0, is_apart=True) == 0


@pytest.mark.parametrize(
    ("text", "level"), [("References", 1), ("Acknowledgments", 1), ("Results", 2), ("Results:", 0)]
)
def test_with_large_sections_lower_headings_may_be_small(text: str, level: int) -> None:
    assert levels(bold("1 Introduction"), bold(text, 10.0)) == [1, level]


def test_without_numbers_the_font_size_determines_the_level() -> None:
    sizes = {"Abstract": 14.0, "Introduction": 16.0, "Related work": 16.0, "Rivers": 13.0, "Of the north": 12.0}
    assert levels(*(bold(text, size) for text, size in sizes.items())) == [1, 1, 1, 2, 3]


def test_capitals_are_level_three_below_large_sections() -> None:
    assert levels(bold("1 INTRODUCTION"), bold("ACKNOWLEDGMENTS", 10.0), bold("REFERENCES", 10.0)) == [1, 3, 1]


def test_a_bold_line_behind_a_formula() -> None:
    headings = HeadingFinder(BODY)
    for one, found in ((bold("1 Introduction"), 1), (bold("Proof of the bound", 10.0), 2)):
        assert headings.read(one, BELOW, ONE_COLUMN, step=-inf, is_apart=True) == found


def test_a_heading_beside_formulas() -> None:
    headings, narrow = HeadingFinder(BODY), PageColumns(((LEFT + 80, 400.0),))
    for one, found in ((bold("1 Introduction"), 1), (bold("Proof of the bound", 10.0), 2)):
        assert headings.read(one, BELOW, narrow, step=20.0, is_apart=True) == found


ITALIC = read_font("Times-Italic")


def centred(text: str, font: Font, size: float = 10.0) -> TextLine:
    middle = (LEFT + RIGHT) / 2
    return line(text, font=font, size=size, left=middle - 3 * len(text), right=middle + 3 * len(text))


def test_numbers_are_counted_per_level() -> None:
    sections = [centred(text, SERIF) for text in ("I. INTRODUCTION", "II. METHOD", "III. RESULTS", "V. END")]
    data, sources, models, scores = (
        line(text, font=ITALIC, right=RIGHT - 50) for text in ("A. Data", "1. Sources", "B. Models", "A. Scores")
    )

    heads = [sections[0], sections[1], data, sources, models, sections[2], scores, sections[3]]
    assert levels(*heads) == [1, 1, 2, 3, 2, 1, 2, 1]


def test_small_headings_of_a_journal_are_found() -> None:
    texts = ["I. INTRODUCTION", "A. Objective", "Appendix A: Proofs", "1. Proof", "2. Bound", "Appendix B: Data"]

    assert levels(*(centred(text, BOLD, 9.0) for text in texts)) == [1, 2, 1, 2, 2, 1]


@pytest.mark.parametrize("text", ["C. elegans", "B. Ears", "2. Claims", "IV. VIDEO"])
def test_a_letter_out_of_sequence_is_none(text: str) -> None:
    assert levels(centred("I. INTRODUCTION", SERIF), line(text, font=ITALIC))[1] == 0


@pytest.mark.parametrize("size", [10.0, 12.0])
@pytest.mark.parametrize(
    "text",
    [
        "Definition 3 (Stability). A policy is stable if",
        "Assumption 2. All boats return before",
        "Lemma A.1. A tide rises",
        "Remark. The tide is not needed",
        "Proof. It follows",
    ],
)
def test_a_theorem_is_no_heading(text: str, size: float) -> None:
    assert levels(bold("Introduction"), bold(text, size)) == [1, 0]


@pytest.mark.parametrize("text", ["A policy is stable if it returns.", f"A {'policy is stable ' * 3}"])
def test_an_article_a_starts_no_appendix(text: str) -> None:
    assert levels(bold("1 Introduction"), bold("2 Method"), bold(text, 10.0)) == [1, 1, 0]
    assert levels(bold("1 Introduction"), bold("2 Method"), bold("A proofs", 10.0)) == [1, 1, 1]


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ([bold("Introduction"), bold("Method")], "2. All boats return."),
        ([bold("Introduction"), bold("Method")], "2. All boats return, and those that do not"),
        ([bold("1 Introduction"), bold("2 Method")], "3. All boats return, and those that do not"),
        ([bold("1 Introduction", 10.0), bold("2 Method", 10.0)], "3 All boats return."),
        ([bold("I. INTRODUCTION", 10.0), bold("II. METHOD", 10.0)], "2. All boats return, and those that do not"),
    ],
    ids=["no numbers", "no numbers, smaller", "smaller", "ends in a stop", "Roman numbers"],
)
def test_a_line_unlike_the_sections_is_none(before: list[TextLine], text: str) -> None:
    assert levels(*before, bold(text, 10.0))[-1] == 0

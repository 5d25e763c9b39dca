"""Tables are read cell by cell, and nothing else on a page is mistaken for one."""

from itertools import pairwise
from time import process_time

import pytest

from invented_pages import Cells, InventedPage
from peercorpus.pdf.shapes import Box

HEADS: Cells = {100: "Model", 200: "BLEU", 300: "Loss"}
OURS: Cells = {100: "Ours", 200: "28.4", 300: "1.25"}
BASE: Cells = {100: "Base", 200: "27.3", 300: "1.31"}


@pytest.fixture
def page() -> InventedPage:
    return InventedPage()


def ruled(page: InventedPage, *body: Cells, heads: Cells = HEADS) -> InventedPage:
    """A table with rules at its top, below its heads and at its bottom."""
    page.rule(712)
    page.rows(700, heads)
    page.rule(695)
    page.rows(683, *body)
    page.rule(683 - 12 * len(body) + 7)
    return page


def test_a_table_between_rules_becomes_pipes(page: InventedPage) -> None:
    page.say("Table 1: What we measured.", 100, 730)
    page.say("Prose follows the table on this page.", 72, 600)
    (table,) = ruled(page, OURS, BASE).tables()
    assert table.markdown.split("\n") == [
        "| Model | BLEU | Loss |",
        "| --- | --- | --- |",
        "| Ours | 28.4 | 1.25 |",
        "| Base | 27.3 | 1.31 |",
    ]
    assert [run.text for run in table.runs if run.text.startswith(("Table", "Prose"))] == []
    assert len(table.runs) == 9
    assert table.start == min(run.start for run in table.runs)


def test_a_row_in_one_run_is_split_at_wide_gaps(page: InventedPage) -> None:
    page.rule(712)
    for number, row in enumerate((HEADS, OURS, BASE)):
        page.spread(row, 700 - 12 * number)
    page.rule(695)
    page.rule(665)
    assert page.cells()[1] == ["Ours", "28.4", "1.25"]


def test_a_pipe_in_a_cell_is_escaped(page: InventedPage) -> None:
    (table,) = ruled(page, OURS | {100: "p(x|y)"}, BASE).tables()
    assert "| p(x\\|y) | 28.4 | 1.25 |" in table.markdown


@pytest.mark.parametrize("said", ["0.93 ± 0.01", "12.3*", "\u03b1 = 0.5", "1e-3", "-0.5 (0.1)", "\u03b2-VAE"])
def test_the_content_of_a_cell_is_kept(page: InventedPage, said: str) -> None:
    assert ruled(page, OURS | {200: said}, BASE).cells()[1] == ["Ours", said, "1.25"]


def test_a_deviation_with_wide_gaps_stays_in_its_cell(page: InventedPage) -> None:
    ruled(page, BASE, OURS | {200: "0.93"})
    page.say("±", 227, 671)
    page.say("0.01", 239, 671)
    assert page.cells()[2] == ["Ours", "0.93 ± 0.01", "1.25"]


@pytest.mark.parametrize(
    ("small", "rise", "said"), [("20", 4, "10^20"), ("*", 4, "10*"), ("0.3", -2, "10 0.3"), ("±0.3", -2, "10 ±0.3")]
)
def test_small_numbers_are_not_glued_to_large_ones(page: InventedPage, small: str, rise: float, said: str) -> None:
    ruled(page, OURS | {200: "10"}, BASE)
    page.say(small, 210, 683 + rise, size=7)
    assert page.cells()[1] == ["Ours", said, "1.25"]


def test_multi_line_headers_are_one_row(page: InventedPage) -> None:
    page.rule(724)
    page.rows(712, {200: "Test", 300: "Test"}, HEADS)
    page.rule(695)
    page.rows(683, OURS, BASE)
    page.rule(664)
    assert page.cells()[0] == ["Model", "Test BLEU", "Test Loss"]


def test_an_empty_cell_stays_empty(page: InventedPage) -> None:
    assert ruled(page, OURS, {100: "Base", 300: "1.31"}, BASE).cells()[2] == ["Base", "", "1.31"]


def test_vertical_lines_separate_close_cells(page: InventedPage) -> None:
    page.rows(700, *({100: a, 123: b, 146: c} for a, b, c in (("a12", "b12", "c12"), ("1234", "5678", "9012"))))
    for height in (710, 696, 684):
        page.rule(height, 98, 170)
    for x in (98, 121.5, 144.5, 170):
        page.upright(x, 684, 710)
    assert page.cells() == [["a12", "b12", "c12"], ["1234", "5678", "9012"]]


def test_rules_drawn_in_pieces_are_one(page: InventedPage) -> None:
    page.rows(700, HEADS, OURS, BASE)
    for height in (711, 696, 672):
        for left, right in pairwise((95, 180, 280, 350)):
            page.rule(height, left, right)
    assert page.cells()[0] == ["Model", "BLEU", "Loss"]


def test_two_tables_side_by_side_are_two(page: InventedPage) -> None:
    ruled(page, OURS, BASE)
    for height in (712, 695, 666):
        page.rule(height, 395, 500)
    page.rows(700, {400: "Seed", 470: "F1"}, {400: "1", 470: "0.5"}, {400: "2", 470: "0.7"})
    assert [table.markdown.split("\n")[0] for table in page.tables()] == ["| Model | BLEU | Loss |", "| Seed | F1 |"]


def test_a_caption_separates_two_tables_of_the_same_width(page: InventedPage) -> None:
    ruled(page, OURS, BASE)
    page.say("Table 2: The same again.", 100, 645)
    page.rule(632)
    page.rows(620, HEADS)
    page.rule(615)
    page.rows(603, BASE)
    page.rule(598)
    assert [table.markdown.count("\n") for table in page.tables()] == [3, 2]


def test_rows_below_the_last_rule_belong_to_the_table(page: InventedPage) -> None:
    ruled(page, OURS)
    page.rows(668, BASE, BASE)
    assert len(page.cells()) == 4


@pytest.mark.parametrize("height", [712.0, 640.0])
def test_a_table_without_rules_is_found_by_its_caption(page: InventedPage, height: float) -> None:
    page.say("This paper compares two systems on one task and reports what it found.", 72, 760)
    page.say("Table 1: What we measured.", 120, height)
    page.rows(695, HEADS, OURS, BASE, BASE)
    page.say("It goes on to say that one of them is better than the other one.", 72, 600)
    assert page.cells()[:2] == [["Model", "BLEU", "Loss"], ["Ours", "28.4", "1.25"]]


def test_a_table_of_short_words_without_rules_needs_no_numbers(page: InventedPage) -> None:
    page.say("This paper compares two systems on one task and reports what it found.", 72, 760)
    page.say("Table 1: What we used.", 120, 712)
    page.rows(695, {100: "Split", 200: "Source", 300: "Used"}, *[{100: "Test", 200: "Books", 300: "no"}] * 3)
    assert page.cells()[1] == ["Test", "Books", "no"]


PROSE = "It goes on to say that one of them is better than"
PROGRAM = ("Algorithm 1 Descent", "Require: a rate", "1: for all t do", "2: x = x - 1", "3: end for")


def framed(page: InventedPage, *rows: Cells, right: float = 350) -> InventedPage:
    """Rows between two rules."""
    page.rule(712, 95, right)
    page.rows(700, *rows)
    page.rule(700 - 12 * len(rows) + 6, 95, right)
    return page


@pytest.mark.parametrize(
    "rows",
    [
        [{100: PROSE}] * 4,
        [{100: line, 250: "a note"} for line in PROGRAM],
        [{100: PROSE}, {160: "x = y + z", 330: "(1)"}, {100: PROSE}],
        [{160: "x = y + z", 330: "(1)"}, {160: "y = z", 330: "(2)"}],
        [{100: f"{number}.", 120: "an item of a list"} for number in range(3)],
        [{100: "Theorem 1. All is well."}],
        [{100: "Title of the paper"}, {150: "Anonymous authors"}],
    ],
)
def test_other_text_between_rules_is_not_a_table(page: InventedPage, rows: list[Cells]) -> None:
    assert framed(page, *rows).tables() == []


def test_prose_in_two_columns_is_not_a_table(page: InventedPage) -> None:
    columns = {
        100: "goes on to say that one of them is better than it",
        360: "is said that the other one is no worse than that",
    }
    assert framed(page, *[columns] * 8, right=610).tables() == []


def test_text_in_columns_below_short_headers_is_a_table(page: InventedPage) -> None:
    said = {
        100: "Ours",
        150: "goes on to say that one of them is better",
        360: "is said that the other one is no worse than",
        580: "2020",
    }
    for height in (712, 695, 616):
        page.rule(height, 95, 610)
    page.rows(700, {100: "Work", 150: "Claim", 360: "Evidence", 580: "Year"})
    page.rows(683, *[said] * 6)
    assert page.cells()[1] == list(said.values())


def test_prose_below_the_rule_of_the_header_is_left_alone(page: InventedPage) -> None:
    page.rule(760)
    page.rows(745, {100: PROSE}, {100: PROSE}, {100: PROSE})
    assert ruled(page, OURS, BASE).cells()[0] == ["Model", "BLEU", "Loss"]


def test_a_sentence_beginning_with_the_word_table_is_not_a_caption(page: InventedPage) -> None:
    page.say("Table 1 shows the formulas.", 100, 720)
    page.rows(700, {100: "x = 1", 200: "y = 2"}, {100: "x = 2", 200: "y = 3"}, {100: "x = 3", 200: "y = 4"})
    assert page.tables() == []


def test_axis_ticks_are_not_a_table(page: InventedPage) -> None:
    framed(page, {100: "0", 200: "1"}, {100: "2", 200: "3"}, {100: "4", 200: "5"})
    page.shapes.strokes += [Box(100 + at, 670, 110 + at, 690) for at in range(50)]
    assert page.tables() == []


@pytest.mark.slow
def test_a_page_full_of_rules_is_processed_quickly(page: InventedPage) -> None:
    for number in range(3_000):
        page.say("a 1", 100 + 37 * number % 400, 50 + 11 * number % 700)
    began = process_time()
    for most in (2_900, 20_000):
        page.shapes.rules = [Box(number % 50, 700 - number % 650, 500, 701 - number % 650) for number in range(most)]
        page.tables()
    assert process_time() - began < 10


def test_many_words_between_rules_are_processed_quickly(page: InventedPage) -> None:
    for number in range(18 * 65):
        height = 780 - number // 65 * 40 - number % 65 * 0.56
        page.spread({50 + 8 * at: "12" if (7 * at + number) % 9 else "words" for at in range(58)}, height - 0.4, 0.5)
        if number % 65 in (0, 1, 64):
            page.rule(height, 45, 560)
    began = process_time()
    page.tables()
    assert process_time() - began < 10


def test_a_page_without_text_has_no_table(page: InventedPage) -> None:
    page.rule(700)
    page.rule(600)
    assert page.tables() == []

"""Which lines of a table form one row, by its rules and spacing."""

import pytest

from invented_pages import Cells, InventedPage

HEADS: Cells = {100: "Model", 200: "BLEU", 300: "Loss"}


@pytest.fixture
def page() -> InventedPage:
    return InventedPage()


def test_the_lines_of_a_long_cell_are_joined(page: InventedPage) -> None:
    first = {100: "Q1", 150: "Which of the two models does better on", 360: "yes"}
    second = {150: "the longer of the two tasks?"}
    third = {100: "Q2", 150: "Are the seeds of all the runs given?", 360: "no"}
    heads = {100: "Id", 150: "Question", 360: "Answer"}
    page.rule(712, 95, 400)
    page.rows(700, heads)
    page.rule(695, 95, 400)
    page.rows(683, first, second, third)
    page.rule(654, 95, 400)
    joined = "Which of the two models does better on the longer of the two tasks?"
    assert page.cells() == [
        ["Id", "Question", "Answer"],
        ["Q1", joined, "yes"],
        ["Q2", "Are the seeds of all the runs given?", "no"],
    ]


def test_where_each_row_is_ruled_the_lines_between_two_rules_are_one_row(page: InventedPage) -> None:
    page.rows(700, HEADS, {100: "All at once", 200: "28.4", 300: "1.25"})
    page.rows(676, {100: "In steps, scaled", 200: "27.3", 300: "1.31"}, {100: "rate"})
    page.rows(652, {100: "In steps,", 200: "27.9", 300: "1.30"})
    page.cut("mo", 165, 652)
    page.say("mentum", 120, 640)
    for height in (711, 696, 684, 660, 636):
        page.rule(height)
    assert page.cells() == [
        ["Model", "BLEU", "Loss"],
        ["All at once", "28.4", "1.25"],
        ["In steps, scaled rate", "27.3", "1.31"],
        ["In steps, momentum", "27.9", "1.30"],
    ]


def test_rows_in_groups_between_rules_stay_rows(page: InventedPage) -> None:
    rows: list[Cells] = [{200: "Trees", 300: "yes"}, {200: "Forests", 300: "no"}]
    page.rows(700, {100: "Group", 200: "Method", 300: "Deep"}, {100: "Old"} | rows[0], rows[1], rows[0])
    page.rows(652, {100: "New"} | rows[1], *rows)
    for height in (711, 696, 660, 624):
        page.rule(height)
    assert [row[1] for row in page.cells()[1:]] == ["Trees", "Forests", "Trees", "Forests", "Trees", "Forests"]


def test_rows_are_recognised_by_larger_gaps_than_lines(page: InventedPage) -> None:
    page.rule(712, 95, 400)
    page.rows(700, {100: "Sign", 160: "Meaning", 320: "First used"})
    page.rule(695, 95, 400)
    page.rows(683, {100: "x", 160: "A picture of the training", 320: "Section 2"}, {160: "data"})
    page.rows(
        655, {100: "y", 160: "The label of the picture,", 320: "Section 2, where"}, {160: "a class", 320: "it is"}
    )
    page.rows(627, {100: "z", 160: "The code of the picture", 320: "Section 3"})
    page.rule(620, 95, 400)
    assert page.cells()[1:] == [
        ["x", "A picture of the training data", "Section 2"],
        ["y", "The label of the picture, a class", "Section 2, where it is"],
        ["z", "The code of the picture", "Section 3"],
    ]


def test_wide_spaces_in_justified_cells_split_nothing(page: InventedPage) -> None:
    page.rule(712, 95, 480)
    page.rows(700, {100: "Work", 170: "Data", 310: "Finding", 430: "Year"})
    page.rule(695, 95, 480)
    page.rows(683, {100: "One", 170: "Twelve", 220: "corpora", 285: "of", 310: "Larger models are bet-", 430: "2020"})
    page.rows(671, {170: "news and web text in five", 310: "ter", 340: "calibrated", 405: "than"})
    page.rows(659, {100: "Two", 170: "Reviews", 310: "The opposite holds", 430: "2021"})
    page.rows(647, {100: "Three", 170: "Speech from calls", 310: "No difference at all", 430: "2022"})
    page.rule(640, 95, 480)
    data, finding = "Twelve corpora of news and web text in five", "Larger models are better calibrated than"
    assert page.cells()[1:] == [
        ["One", data, finding, "2020"],
        ["Two", "Reviews", "The opposite holds", "2021"],
        ["Three", "Speech from calls", "No difference at all", "2022"],
    ]


def test_a_row_of_close_numbers_is_not_prose_between_two_tables(page: InventedPage) -> None:
    lefts = 100, 130, 149, 168
    page.spread(dict(zip((100, 142, 157, 176), ("Tool", "8", "16", "32"), strict=True)), 700, 8)
    rows = ["Saw 0.02 0.05 0.17", "Plane 3.05 9.47 1.22", "Scraper 0.12 0.19 0.35"]
    for number, row in enumerate(rows):
        page.spread(dict(zip(lefts, row.split(), strict=True)), 685 - 11 * number, 8)
    for height in (711, 696, 658):
        page.rule(height, 98, 186)
    assert page.cells()[1:] == [row.split() for row in rows]

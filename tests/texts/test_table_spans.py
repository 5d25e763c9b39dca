"""Cells spanning several columns or rows are placed correctly."""

import pytest

from invented_pages import Cells, InventedPage

HEADS: Cells = {100: "Model", 200: "BLEU", 300: "Loss"}
OURS: Cells = {100: "Ours", 200: "28.4", 300: "1.25"}
BASE: Cells = {100: "Base", 200: "27.3", 300: "1.31"}


@pytest.fixture
def page() -> InventedPage:
    return InventedPage()


def headed(page: InventedPage, *heads: Cells, body: list[Cells], step: float = 12) -> InventedPage:
    """A table with heads of several lines."""
    below = 700 - step * (len(heads) - 1) - 5
    page.rule(712)
    page.rows(700, *heads, step=step)
    page.rule(below)
    page.rows(below - 12, *body)
    page.rule(below - 12 * len(body) - 6)
    return page


def test_a_header_above_a_rule_is_repeated_in_each_column_below_it(page: InventedPage) -> None:
    page.rule(707, 195, 330)
    headed(page, {235: "Both scores"}, HEADS, body=[OURS, BASE])
    page.rule(697, 195, 330)
    assert page.cells()[0] == ["Model", "Both scores BLEU", "Both scores Loss"]


def test_a_header_centred_over_several_columns_is_repeated_in_each(page: InventedPage) -> None:
    heads: Cells = {100: "Model", 160: "Anger", 200: "Fear", 240: "Joy", 280: "Trust"}
    values: Cells = {100: "Ours", 160: "0.73", 200: "0.87", 240: "0.82", 280: "0.81"}
    headed(page, {205: "All classes"}, heads, body=[values, values | {100: "Base"}])
    whole = [f"All classes {name}" for name in ("Anger", "Fear", "Joy", "Trust")]
    assert page.cells()[0] == ["Model", *whole]


def test_headers_side_by_side_divide_the_columns(page: InventedPage) -> None:
    heads: Cells = {100: "Model"} | dict.fromkeys(range(160, 340, 30), "k=1")
    values: Cells = {100: "Ours"} | dict.fromkeys(range(160, 340, 30), "0.7")
    headed(page, {183: "Noisy", 273: "Clear"}, heads, body=[values, values])
    assert page.cells()[0] == ["Model", *["Noisy k=1"] * 3, *["Clear k=1"] * 3]


def test_a_header_wider_than_its_columns_is_repeated_in_each(page: InventedPage) -> None:
    heads: Cells = {100: "Task", 200: "Base", 240: "Ours", 320: "Base", 350: "Ours"}
    values: Cells = {100: "Sum", 200: "4200", 240: "1923", 320: "0.65", 350: "0.75"}
    headed(page, {200: "Steps up to the end", 332: "Loss"}, heads, body=[values, values | {100: "Product"}])
    assert page.cells()[0][1:3] == ["Steps up to the end Base", "Steps up to the end Ours"]


def test_a_two_line_header_of_one_column_stays_there(page: InventedPage) -> None:
    headed(page, {195: "Mean"}, HEADS, body=[OURS, BASE])
    assert page.cells()[0] == ["Model", "Mean BLEU", "Loss"]


def test_headers_between_two_further_rules_continue_those_above(page: InventedPage) -> None:
    page.rows(700, {100: "Model", 200: "Large", 300: "Large"}, {200: "dev", 300: "test"}, OURS, BASE)
    for height in (712, 695, 683, 659):
        page.rule(height)
    assert page.cells()[0] == ["Model", "Large dev", "Large test"]


def test_a_title_in_the_middle_of_a_table_starts_its_row(page: InventedPage) -> None:
    page.rows(700, {171: "On the first task"}, HEADS, OURS, {168: "On the second task"}, HEADS, BASE)
    for height in (712, 695, 671, 659, 635):
        page.rule(height)
    assert [row for row in page.cells() if not row[1]] == [
        ["On the first task", "", ""],
        ["On the second task", "", ""],
    ]


@pytest.mark.parametrize("many", [2, 3, 4])
def test_a_row_header_beside_several_rows_is_in_the_first(page: InventedPage, many: int) -> None:
    rows: list[Cells] = [{200: f"Task {number}", 300: "0.5"} for number in range(1, many + 1)]
    page.rule(712)
    page.rows(700, {100: "Model", 200: "Task", 300: "Loss"})
    page.rule(695)
    for number, name in enumerate(("Ours", "Base")):
        top = 683 - 12 * many * number
        page.rows(top, *rows)
        page.say(name, 100, top - 6 * (many - 1))
    page.rule(683 - 24 * many + 6)
    assert page.cells()[1:] == [
        [name if number == 1 else "", f"Task {number}", "0.5"]
        for name in ("Ours", "Base")
        for number in range(1, many + 1)
    ]


def test_a_two_line_row_header_beside_several_rows_is_complete(page: InventedPage) -> None:
    rows: list[Cells] = [{200: f"Task {number}", 300: "0.5"} for number in range(1, 5)]
    page.rule(712)
    page.rows(700, {100: "Model", 200: "Task", 300: "Loss"})
    page.rule(695)
    page.rows(683, *rows)
    page.rows(671, {100: "Ours with"}, {100: "a prior"})
    page.rule(642)
    assert [row[0] for row in page.cells()[1:]] == ["Ours with a prior", "", "", ""]


def test_row_headers_that_do_not_cover_all_rows_stay_in_place(page: InventedPage) -> None:
    rows: list[Cells] = [{200: f"Task {number}", 300: "0.5"} for number in range(1, 6)]
    page.rule(712)
    page.rows(700, {100: "Model", 200: "Task", 300: "Loss"})
    page.rule(695)
    page.rows(683, *rows)
    page.say("Ours", 100, 671)
    page.rule(630)
    assert [row[0] for row in page.cells()[1:]] == ["", "Ours", "", "", ""]


def test_a_row_header_between_two_rules_has_its_rows_below(page: InventedPage) -> None:
    page.say("Table 2: How much it takes and what it says.", 100, 440)
    page.rule(712)
    page.rows(700, HEADS)
    page.rule(695)
    page.rows(683, *[OURS, BASE | {100: "A longer name"}] * 9)
    assert [len(page.cells()), page.cells()[:2]] == [19, [["Model", "BLEU", "Loss"], ["Ours", "28.4", "1.25"]]]


def test_a_two_line_row_header_between_baselines_is_complete(page: InventedPage) -> None:
    rows: list[Cells] = [{200: f"Task {number}", 300: "0.5"} for number in range(1, 4)]
    page.rows(700, {100: "Model", 200: "Task", 300: "Loss"}, *rows, *rows)
    page.rows(682, {100: "Mo-"}, {100: "Del"})
    page.rows(646, {100: "Ours with"}, {100: "a prior"})
    for height in (712, 696, 622):
        page.rule(height)
    assert [row[0] for row in page.cells()[1:]] == ["Mo-Del", "", "", "Ours with a prior", "", ""]

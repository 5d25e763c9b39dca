"""Tables are read cell by cell, and nothing else on a page is mistaken for one."""

from time import process_time

import pytest

from invented_pages import Cells, InventedPage
from peercorpus.pdf.shapes import Box
from peercorpus.texts.layout.tables.cells import CellRow, CellText, Word
from peercorpus.texts.layout.tables.grid import separate_cells

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


def test_a_row_is_split_at_wide_gaps(page: InventedPage) -> None:
    page.rule(712)
    for number, row in enumerate((HEADS, OURS, BASE)):
        page.spread(row, 700 - 12 * number)
    page.rule(695)
    page.rule(665)
    assert page.cells()[1] == ["Ours", "28.4", "1.25"]


@pytest.mark.parametrize("said", ["0.93 ± 0.01", "12.3*", "\u03b1 = 0.5", "1e-3", "-0.5 (0.1)", "\u03b2-VAE"])
def test_the_content_of_a_cell_is_kept(page: InventedPage, said: str) -> None:
    assert ruled(page, OURS | {200: said}, BASE).cells()[1] == ["Ours", said, "1.25"]


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


def test_rows_below_the_last_rule_belong(page: InventedPage) -> None:
    ruled(page, OURS)
    page.rows(668, BASE, BASE)
    assert len(page.cells()) == 4


@pytest.mark.parametrize("height", [712.0, 640.0])
def test_a_caption_finds_a_ruleless_table(page: InventedPage, height: float) -> None:
    page.say("This paper compares two systems on one task and reports what it found.", 72, 760)
    page.say("Table 1: What we measured.", 120, height)
    page.rows(695, HEADS, OURS, BASE, BASE)
    page.say("It goes on to say that one of them is better than the other one.", 72, 600)
    assert page.cells()[:2] == [["Model", "BLEU", "Loss"], ["Ours", "28.4", "1.25"]]


def test_short_words_make_a_table(page: InventedPage) -> None:
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


BELOW: Cells = {100: "Model", 160: "dev", 200: "test", 260: "dev", 300: "test"}
WIDE_OURS: Cells = {100: "Ours", 160: "28.4", 200: "27.1", 260: "1.25", 300: "1.31"}
WIDE_BASE: Cells = {100: "Base", 160: "27.3", 200: "26.0", 260: "1.38", 300: "1.40"}


def heads(above: Cells, *rules: tuple[float, float]) -> list[str]:
    """The heads of a table whose first line has rules below it, each from one height in points to another."""
    page = InventedPage()
    for height in (724, 695, 664):
        page.rule(height, 95, 350)
    for left, right in rules:
        page.rule(709, left, right)
    page.rows(712, above)
    page.rows(700, BELOW)
    page.rows(683, WIDE_OURS, WIDE_BASE)
    return page.cells()[0]


@pytest.mark.parametrize("rules", [[(155, 325)], [(155, 225), (255, 325)]], ids=["one rule", "a rule each"])
def test_two_headers_are_each_above_their_own_columns(rules: list[tuple[float, float]]) -> None:
    assert heads({180: "BLEU", 280: "Loss"}, *rules) == ["Model", "BLEU dev", "BLEU test", "Loss dev", "Loss test"]


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


def test_lines_between_rules_are_one_row(page: InventedPage) -> None:
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


def headed(page: InventedPage, *heads: Cells, body: list[Cells], step: float = 12) -> InventedPage:
    """A table with heads of several lines."""
    below = 700 - step * (len(heads) - 1) - 5
    page.rule(712)
    page.rows(700, *heads, step=step)
    page.rule(below)
    page.rows(below - 12, *body)
    page.rule(below - 12 * len(body) - 6)
    return page


def test_a_ruled_header_is_repeated_below(page: InventedPage) -> None:
    page.rule(707, 195, 330)
    headed(page, {235: "Both scores"}, HEADS, body=[OURS, BASE])
    page.rule(697, 195, 330)
    assert page.cells()[0] == ["Model", "Both scores BLEU", "Both scores Loss"]


def test_a_wide_header_is_repeated(page: InventedPage) -> None:
    heads: Cells = {100: "Task", 200: "Base", 240: "Ours", 320: "Base", 350: "Ours"}
    values: Cells = {100: "Sum", 200: "4200", 240: "1923", 320: "0.65", 350: "0.75"}
    headed(page, {200: "Steps up to the end", 332: "Loss"}, heads, body=[values, values | {100: "Product"}])
    assert page.cells()[0][1:3] == ["Steps up to the end Base", "Steps up to the end Ours"]


def test_headers_between_two_further_rules_continue_those_above(page: InventedPage) -> None:
    page.rows(700, {100: "Model", 200: "Large", 300: "Large"}, {200: "dev", 300: "test"}, OURS, BASE)
    for height in (712, 695, 683, 659):
        page.rule(height)
    assert page.cells()[0] == ["Model", "Large dev", "Large test"]


def test_a_title_within_starts_its_row(page: InventedPage) -> None:
    page.rows(700, {171: "On the first task"}, HEADS, OURS, {168: "On the second task"}, HEADS, BASE)
    for height in (712, 695, 671, 659, 635):
        page.rule(height)
    assert [row for row in page.cells() if not row[1]] == [
        ["On the first task", "", ""],
        ["On the second task", "", ""],
    ]


@pytest.mark.parametrize("many", [2, 3, 4])
def test_a_row_header_is_in_the_first_row(page: InventedPage, many: int) -> None:
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


def test_a_two_line_row_header_is_complete(page: InventedPage) -> None:
    rows: list[Cells] = [{200: f"Task {number}", 300: "0.5"} for number in range(1, 5)]
    page.rule(712)
    page.rows(700, {100: "Model", 200: "Task", 300: "Loss"})
    page.rule(695)
    page.rows(683, *rows)
    page.rows(671, {100: "Ours with"}, {100: "a prior"})
    page.rule(642)
    assert [row[0] for row in page.cells()[1:]] == ["Ours with a prior", "", "", ""]


def test_a_row_header_between_rules(page: InventedPage) -> None:
    page.say("Table 2: How much it takes and what it says.", 100, 440)
    page.rule(712)
    page.rows(700, HEADS)
    page.rule(695)
    page.rows(683, *[OURS, BASE | {100: "A longer name"}] * 9)
    assert [len(page.cells()), page.cells()[:2]] == [19, [["Model", "BLEU", "Loss"], ["Ours", "28.4", "1.25"]]]


def piece(*words: tuple[str, float, float]) -> CellText:
    texts = [Word(text, left, right, 100.0, 9.0, is_spaced=True) for text, left, right in words]
    return CellText(texts, texts[0].left, texts[-1].right, texts[0].left)


def row(*pieces: CellText) -> CellRow:
    return CellRow(100.0, 9.0, list(pieces))


def texts(*rows: CellRow) -> list[list[str]]:
    return [[cell.text for cell in one.pieces] for one in rows]


NUMBERS = piece(("0.02", 100, 116), ("0.05", 119, 135), ("0.17", 138, 154))


def test_numbers_are_split_below_separate_headers() -> None:
    head = row(piece(("8", 106, 110)), piece(("16", 123, 132)), piece(("32", 142, 151)))
    body = [row(piece(("Kernel", 60, 85)), NUMBERS), row(piece(("Scaling", 60, 88)), NUMBERS)]
    separate_cells([head, *body], 1)

    assert texts(*body) == [["Kernel", "0.02", "0.05", "0.17"], ["Scaling", "0.02", "0.05", "0.17"]]


@pytest.mark.parametrize("at", [130, 60], ids=["no number above", "no head above"])
def test_a_number_within_a_row_header_stays_there(at: int) -> None:
    close = piece(("Net", at, at + 10), ("50", at + 12, at + 20))
    body = [row(piece(("Net", 60, 70), ("18", 72, 80))), row(close)]
    separate_cells([row(piece(("Size", 60, 90)), piece(("Loss", 120, 160))), *body], 1)

    assert texts(*body) == [["Net 18"], ["Net 50"]]

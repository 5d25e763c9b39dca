"""Columns are found by where long lines begin and end; lines keep the content's order unless it jumps around."""

from dataclasses import replace

from invented_lines import line
from peercorpus.pdf.glyphs import read_font
from peercorpus.texts.layout.blocks import TextLine
from peercorpus.texts.layout.columns import find_all_columns, find_columns, reading_order

WIDTH = 600.0
LONG = "a line that is long enough to tell"


def column(left: float, right: float, count: int = 20, name: str = "") -> list[TextLine]:
    return [line(f"{LONG} {name}{number}", 700.0 - 12 * number, left=left, right=right) for number in range(count)]


def test_one_column() -> None:
    assert find_columns(column(100.0, 500.0), WIDTH, 10.0).spans == ((100.0, 500.0),)


def test_two_columns_and_a_line_over_both() -> None:
    found = find_columns(column(50.0, 290.0) + column(310.0, 550.0), WIDTH, 10.0)
    assert found.spans == ((50.0, 290.0), (310.0, 550.0))
    lines = (line(LONG, left=50.0, right=200.0), line(LONG, left=310.0), line(LONG, left=60.0, right=540.0))
    assert [found.number(one) for one in lines] == [0, 1, -1]
    assert found.of(lines[2]) == (50.0, 550.0)


def test_a_page_with_its_right_column_empty_has_two() -> None:
    assert find_columns(column(50.0, 290.0), WIDTH, 10.0).spans == ((50.0, 290.0), (310.0, 550.0))


def test_hanging_entries_determine_the_left_edge() -> None:
    entries = column(60.0, 290.0, 6)[::2] + column(72.0, 290.0, 30)
    assert find_columns([*entries, *column(310.0, 550.0)], WIDTH, 10.0).spans[0] == (60.0, 290.0)


def test_a_page_without_lines_is_one_column() -> None:
    assert find_columns([], WIDTH, 10.0).spans == ((0.0, WIDTH),)


def test_the_order_of_the_content_stays_unless_it_jumps() -> None:
    left, right = column(50.0, 290.0, name="l"), column(310.0, 550.0, name="r")
    columns = find_columns(left + right, WIDTH, 10.0)
    assert reading_order(left + right, columns) == left + right
    title = line("A title over both of the columns", 760.0, left=100.0, right=500.0)
    mixed = [*left[::2], *right[::2], *left[1::2], *right[1::2], title]
    shuffled = sorted(mixed, key=lambda one: one.text[::-1])
    assert reading_order(shuffled, columns) == [title, *left, *right]


def formulas(*ends: tuple[float, float]) -> list[TextLine]:
    """Long lines of formulas, which begin and end anywhere."""
    font = read_font("CMMI10")
    return [replace(line("x" * 30, 700.0 - 20 * at, font=font), left=a, right=b) for at, (a, b) in enumerate(ends)]


def test_formulas_are_ignored_for_column_detection() -> None:
    page = [*column(100.0, 500.0, 3), *formulas(*((120.0, 280.0), (330.0, 480.0)) * 10)]
    assert find_columns(page, WIDTH, 10.0).spans == ((100.0, 500.0),)


def test_a_page_with_little_prose_has_the_columns_of_the_others() -> None:
    little = [*column(140.0, 290.0, 2), *column(320.0, 470.0, 3)]
    pages = [column(100.0, 500.0), column(100.0, 497.0, 30), little, []]
    found = find_all_columns(pages, [WIDTH] * 4, 10.0)
    assert [one.spans for one in found] == [((100.0, 500.0),), *[((100.0, 497.0),)] * 3]


def test_a_page_of_another_width_or_with_lines_over_both_columns_has_its_own() -> None:
    both = column(50.0, 290.0) + column(310.0, 550.0)
    wide, over = column(70.0, 700.0, 4), column(60.0, 540.0, 4)
    found = find_all_columns([both, wide, over], [WIDTH, 800.0, WIDTH], 10.0)
    assert [one.spans for one in found[1:]] == [((70.0, 700.0),), ((60.0, 540.0),)]


def test_short_lines_do_not_make_a_second_column() -> None:
    steps = [*column(100.0, 500.0, 4), *column(100.0, 280.0, 8)]
    assert len(find_columns(steps, WIDTH, 10.0).spans) == 2
    wide = column(100.0, 500.0)
    assert find_all_columns([wide, steps, wide], [WIDTH] * 3, 10.0)[1].spans == ((100.0, 500.0),)
    both = column(100.0, 290.0) + column(310.0, 500.0)
    assert len(find_all_columns([both, steps, both], [WIDTH] * 3, 10.0)[1].spans) == 2
    assert len(find_all_columns([wide, both, wide], [WIDTH] * 3, 10.0)[1].spans) == 2

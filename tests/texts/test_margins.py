"""Line numbers, headers and footers are removed; numbers and lines of the text stay."""

import pytest

from invented_lines import line, run
from peercorpus.pdf.glyphs import TextRun
from peercorpus.texts.layout.margins import LineNumberColumns, remove_headers

HEIGHT = 800.0


def page(numbers: list[str], left: float, words: list[str] | None = None) -> list[TextRun]:
    """A page of text with a number beside each line."""
    texts = words or [f"This is line {number} of a text." for number in numbers]
    rows = zip(numbers, texts, strict=True)
    return [
        one
        for at, (number, text) in enumerate(rows)
        for one in (run(number, left, 700.0 - 12 * at, 6.0), run(text, 100.0, 700.0 - 12 * at))
    ]


@pytest.mark.parametrize("left", [60.0, 500.0], ids=["left", "right"])
@pytest.mark.parametrize(
    "numbers",
    [
        [f"{number:03}" for number in range(54)],
        [str(number) for number in range(1, 13)],
        [str(n) for n in range(95, 110)],
    ],
    ids=["from 000", "from 1", "over 100"],
)
def test_line_numbers_in_the_margin_are_removed(left: float, numbers: list[str]) -> None:
    assert [one.text for one in LineNumberColumns().without(page(numbers, left))] == [
        f"This is line {number} of a text." for number in numbers
    ]


def test_line_numbers_of_a_short_page() -> None:
    rulers = LineNumberColumns()
    rulers.without(page([str(number) for number in range(1, 20)], 60.0))
    assert [one.text for one in rulers.without(page(["20", "21"], 60.0, ["Two lines", "are left."]))] == [
        "Two lines",
        "are left.",
    ]


@pytest.mark.parametrize(
    "numbers", [["1", "2", "3", "4"], ["10", "7", "31", "12", "5", "90"]], ids=["too few", "in no order"]
)
def test_other_numbers_are_kept(numbers: list[str]) -> None:
    runs = page(numbers, 60.0)
    assert LineNumberColumns().without(runs) == runs


def test_numbers_inside_the_text_are_kept() -> None:
    runs = [
        one
        for number in range(1, 9)
        for one in (
            run("row", 60.0, 700.0 - 12 * number),
            run(str(number), 200.0, 700.0 - 12 * number),
            run("end", 300.0, 700.0 - 12 * number),
        )
    ]
    assert LineNumberColumns().without(runs) == runs


def test_headers_and_footers_are_removed() -> None:
    pages = [
        [
            line("Under review as a conference paper", 780.0, page=number),
            line(f"Text of page {number}.", 400.0, page=number),
            line("A note that stands once." if number == 0 else f"{number + 1}", 30.0, page=number),
        ]
        for number in range(5)
    ]
    kept = remove_headers(pages, [HEIGHT] * 5)
    assert [[one.text for one in lines] for lines in kept] == [
        ["Text of page 0.", "A note that stands once."],
        *([f"Text of page {number}."] for number in range(1, 5)),
    ]


def test_a_page_number_has_earlier_positions() -> None:
    rulers = LineNumberColumns()
    found = []
    for index in range(5):
        page_number = run(str(index + 1) if index != 3 else "40", 300.0, 30.0)
        cell = run(str(index + 1), 200.0, 60.0 - index)
        one = rulers.page_number([run("Words.", 100.0, 400.0), cell, page_number], index, HEIGHT)
        found.append(one is page_number if one is not None else None)
    assert found == [None, None, True, None, True]


def left_of_the_first(once: dict[str, float]) -> list[str]:
    """Return what is left of the first page of four, with these lines at these heights."""
    pages = [[line(f"Text of page {number}.", 400.0, page=number)] for number in range(4)]
    pages[0] += [line(text, base) for text, base in once.items()]
    return [one.text for one in remove_headers(pages, [HEIGHT] * 4)[0]]


@pytest.mark.parametrize(
    "text",
    [
        "Submitted to the 9th Conference on Robot Learning (CoRL 2025). Do not distribute.",
        "41st Conference on Uncertainty in Artificial Intelligence (UAI 2025).",
        "© 2025 CC-BY 4.0, I. Marrow.",
        "Preprint. Under review.",
    ],
)
def test_the_publication_notice_is_removed(text: str) -> None:
    assert left_of_the_first({text: 40.0}) == ["Text of page 0."]
    both = {text: 50.0, "Copyright by the authors.": 40.0}
    assert left_of_the_first(both) == ["Text of page 0."]


def test_changing_headers_are_removed_by_their_position() -> None:
    heads = ["Names of authors", "A short title", "Names of authors", "Another title"]
    pages = [
        [line(head, 780.0, page=number), line(f"Text of page {number}.", 400.0, page=number)]
        for number, head in enumerate(heads)
    ]
    assert [len(page) for page in remove_headers(pages, [HEIGHT] * 4)] == [1, 1, 1, 1]


def with_numbers(*numbers: str, base: float = 140.0) -> list[list[str]]:
    """Return what is left of pages with large margins, each with a number below its text."""
    pages = [
        [line(text, at, page=index) for text, at in (("A line of text.", 192.0), ("The last.", 180.0), (number, base))]
        for index, number in enumerate(numbers)
    ]
    return [[one.text for one in page[2:]] for page in remove_headers(pages, [HEIGHT] * len(pages))]


@pytest.mark.parametrize(
    ("numbers", "left"),
    [
        (["1"], [[]]),
        (["1", "2", "3"], [[], [], []]),
        (["17", "18"], [["17"], ["18"]]),
        (["17"], [["17"]]),
        (["3", "3", "2021"], [["3"], ["3"], ["2021"]]),
    ],
    ids=["of one page", "of three", "of two that begin elsewhere", "one that is not counted from 1", "of figures"],
)
def test_consecutive_page_numbers_are_removed(numbers: list[str], left: list[list[str]]) -> None:
    assert with_numbers(*numbers) == left


def test_page_numbers_above_the_foot() -> None:
    pages = [
        [
            line(f"The text of page {number} is told here, in the size of the body.", 600.0, page=number),
            line(str(number + 1), 90.0, left=295.0, right=300.0, page=number),
        ]
        for number in range(4)
    ]

    assert [len(kept) for kept in remove_headers(pages, [HEIGHT] * 4)] == [1, 1, 1, 1]
    assert [len(kept) for kept in remove_headers(pages[:2], [HEIGHT] * 2)] == [1, 1]

"""A list of references without a heading is told by its numbers, which count from one, and by its years."""

import pytest

from invented_lines import BODY, LEFT, ONE_COLUMN, RIGHT, line
from peercorpus.texts.layout.blocks import Block, BlockKind, TextLine
from peercorpus.texts.layout.columns import PageColumns
from peercorpus.texts.layout.paragraphs import Paragraphs
from peercorpus.texts.layout.references import find_unheaded_references

ENTRIES = ("[1] A. One. Herbs,", "2019.", "[2] B. Two. Teas, 2020.", "[3] C. Three. Cups, 2021.")


def page(*texts: str, number: int = 0, left: float = LEFT) -> list[TextLine | Block]:
    return [line(text, 700.0 - 12 * at, left=left, page=number) for at, text in enumerate(texts)]


def begins(*pages: list[TextLine | Block]) -> list[str]:
    return [found.text for found in find_unheaded_references(pages, [ONE_COLUMN] * len(pages))]


def test_numbers_from_one_with_years_are_a_list_of_references() -> None:
    assert begins(page("The end.", *ENTRIES)) == ["[1] A. One. Herbs,"]


def test_the_list_may_go_on_in_another_column_and_on_the_next_page() -> None:
    columns = PageColumns(((LEFT, 250.0), (260.0, RIGHT)))
    lines = [*page(*ENTRIES[:2]), *page(ENTRIES[2], left=260.0)]
    pages = [lines, page(ENTRIES[3], number=1)]
    assert [found.text for found in find_unheaded_references(pages, [columns, ONE_COLUMN])] == ["[1] A. One. Herbs,"]


@pytest.mark.parametrize(
    "texts",
    [
        ENTRIES[:3],
        ("[1] First", "[2] Second", "[3] Third", "[4] Fourth"),
        ("[1] In 2019", "[3] in 2020", "[2] in 2021", "[4] in 2022"),
        ("[1] In 2019", *["it was said,"] * 20, "[2] in 2020", "[3] in 2021"),
    ],
    ids=["two entries", "no years", "another order", "too far apart"],
)
def test_other_numbers_are_none(texts: tuple[str, ...]) -> None:
    assert begins(page(*texts)) == []


def test_numbers_at_several_indents_are_none() -> None:
    lines = [item for at, text in enumerate(ENTRIES) for item in page(text, left=LEFT + 30 * at)]
    assert begins(lines) == []


def test_the_entries_of_such_a_list_are_entries() -> None:
    items = page("The end of the text.", *ENTRIES)
    paragraphs = Paragraphs(BODY, find_unheaded_references([items], [ONE_COLUMN]))
    paragraphs.read(items, ONE_COLUMN)
    kinds = [block.kind for block in paragraphs.blocks]
    assert kinds == [BlockKind.PARAGRAPH, BlockKind.ENTRY, BlockKind.ENTRY, BlockKind.ENTRY]

"""A reference list without a heading is recognised by its numbers, which count from one, and its years."""

import pytest

from invented_lines import BODY, LEFT, ONE_COLUMN, RIGHT, line
from invented_pdfs import typeset
from peercorpus.records.structured_text import StructuredText
from peercorpus.texts.layout.blocks import Block, BlockKind, TextLine
from peercorpus.texts.layout.columns import PageColumns
from peercorpus.texts.layout.paragraphs import Paragraphs
from peercorpus.texts.layout.pdfium_layout import PdfiumLayout
from peercorpus.texts.layout.references import find_unheaded_references

ENTRIES = ("[1] A. One. Herbs,", "2019.", "[2] B. Two. Teas, 2020.", "[3] C. Three. Cups, 2021.")


def page(*texts: str, number: int = 0, left: float = LEFT) -> list[TextLine | Block]:
    return [line(text, 700.0 - 12 * at, left=left, page=number) for at, text in enumerate(texts)]


def begins(*pages: list[TextLine | Block]) -> list[str]:
    return [found.text for found in find_unheaded_references(pages, [ONE_COLUMN] * len(pages))]


def test_numbers_from_one_with_years_are_a_list_of_references() -> None:
    assert begins(page("The end.", *ENTRIES)) == ["[1] A. One. Herbs,"]


def test_the_list_may_continue_in_another_column_and_on_the_next_page() -> None:
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
def test_other_numbers_are_not_references(texts: tuple[str, ...]) -> None:
    assert begins(page(*texts)) == []


def test_numbers_at_several_indents_are_not_references() -> None:
    lines = [item for at, text in enumerate(ENTRIES) for item in page(text, left=LEFT + 30 * at)]
    assert begins(lines) == []


def test_the_entries_of_such_a_list_are_entries() -> None:
    items = page("The end of the text.", *ENTRIES)
    paragraphs = Paragraphs(BODY, find_unheaded_references([items], [ONE_COLUMN]))
    paragraphs.read(items, ONE_COLUMN)
    kinds = [block.kind for block in paragraphs.blocks]
    assert kinds == [BlockKind.PARAGRAPH, BlockKind.ENTRY, BlockKind.ENTRY, BlockKind.ENTRY]


def test_superscript_citations_are_linked_to_entries_with_superscript_labels() -> None:
    page = r"""#set text(size: 10pt, font: "New Computer Modern")
#align(center)[#text(17pt)[Herbs and Teas] \\ A. Kelp,#super[1,2] B. Wrack#super[2]]
= 1 Introduction
#lorem(80) Herbs were weighed,#super[1,2] and teas were poured.#super[3\u{2013}5] Ten#super[th] boats, 10#super[3] cups
and #super[4]He were seen by Smith and others.#super[4] #lorem(80)

= References
#set text(size: 8pt)
#set par(hanging-indent: 10pt, spacing: 5pt, leading: 5pt)
#super[1]A. Kelp and B. Wrack, Sixteen harmonics are enough for all of us and for all of them who read long titles of
papers, Tidal Letters 2, 77 (2009).

#super[2]C. Dune, Kernels, Coasts 19, 1001 (2012).

#super[3]D. Reed, Samples, Journal 3, 2 (2013).

#super[4]E. Smith, Samples, Journal 3, 3 (2013).

#super[5]F. Reed, Samples, Journal 3, 4 (2013).
"""
    converted = PdfiumLayout().convert(typeset(page))
    assert converted.blocks is not None
    text = StructuredText(converted.markdown, converted.blocks)
    assert [entry.number for entry in text.bibliography] == ["1", "2", "3", "4", "5"]
    targets = [text.find_target(mention) for mention in text.mentions]
    assert [target and target.number for target in targets] == ["1", "2", "3", "4", "5", "4"]

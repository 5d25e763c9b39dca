"""The invented paper as printed by a word processor: word by word, with unnumbered headings."""

import pytest

from invented_styles import PAPER
from invented_word import word_like
from peercorpus.texts.engine import SEPARATOR, Converted
from peercorpus.texts.layout.pdfium_layout import PdfiumLayout


@pytest.fixture(scope="module")
def converted() -> Converted:
    return PdfiumLayout().convert(word_like())


def test_every_block_occurs_once_in_order_and_nothing_else(converted: Converted) -> None:
    blocks = [block for page in converted.markdown.split(SEPARATOR) for block in page.strip().split("\n\n")]
    expected = [f"# {PAPER['title']}", ", ".join(name for name, _, _ in PAPER["authors"])]
    expected += ["## Abstract", PAPER["abstract"]]
    for one in PAPER["sections"]:
        if "title" in one:
            expected.append(f"{'#' * (one['level'] + 1)} {one['title']}")
        elif "text" in one:
            expected.append(one["text"].replace("{note}", "<sup>1</sup>"))
        elif "table" in one:
            head, *rows = [f"| {' | '.join(row)} |" for row in one["table"]]
            expected += ["\n".join([head, "| --- | --- | --- | --- |", *rows]), f"Table 1: {one['caption']}"]
        expected += [f"- {item}" for item in one.get("items", ())]
    expected += ["## References", *PAPER["references"]]
    (note,) = (f"<sup>1</sup>{one['note']}" for one in PAPER["sections"] if "note" in one)
    blocks.remove(note)
    assert blocks == expected


def test_no_character_is_unknown(converted: Converted) -> None:
    assert converted.quality is not None
    assert converted.quality.unknown_characters == 0.0

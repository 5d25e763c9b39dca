"""Columns hardly further apart than words are recognised by heads and cells aligned word by word."""

import pytest

from peercorpus.texts.layout.tables.cells import CellRow, CellText, Word
from peercorpus.texts.layout.tables.grid import separate_cells


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


def test_a_long_row_header_is_split_from_the_numbers_after_it() -> None:
    head = row(piece(("8", 106, 110)), piece(("16", 123, 132)), piece(("32", 142, 151)))
    close = piece(("Outer", 60, 78), ("gradient", 80, 97), *((word.text, *word[1:3]) for word in NUMBERS.words))
    body = [row(piece(("Kernel", 60, 85)), NUMBERS), row(close)]
    separate_cells([head, *body], 1)

    assert texts(body[1]) == [["Outer gradient", "0.02", "0.05", "0.17"]]


@pytest.mark.parametrize("at", [130, 60], ids=["no number above", "no head above"])
def test_a_number_within_a_row_header_stays_there(at: int) -> None:
    close = piece(("Net", at, at + 10), ("50", at + 12, at + 20))
    body = [row(piece(("Net", 60, 70), ("18", 72, 80))), row(close)]
    separate_cells([row(piece(("Size", 60, 90)), piece(("Loss", 120, 160))), *body], 1)

    assert texts(*body) == [["Net 18"], ["Net 50"]]


def test_a_number_in_several_runs_stays_whole() -> None:
    heads = [piece(("Tool", 60, 80)), piece(("Loss", 100, 120))]
    whole = [piece(("Plane", 60, 80)), piece(("0", 110, 114), (".", 114, 116), ("2", 116, 120))]
    body = [row(piece(("Saw", 60, 80)), piece(("7", 116, 120))), row(*whole)]
    separate_cells([row(*heads), *body], 1)

    assert texts(body[1]) == [["Plane", "0 . 2"]]


def test_headers_are_split_above_separate_cells() -> None:
    head = row(piece(("Harbour", 60, 90)), piece(("Crossings", 94, 130), ("Range", 133, 155)))
    body = [row(piece((name, 60, 90)), piece(("873", 118, 130)), piece(("2.1", 143, 155))) for name in ("Ebb", "Sea")]
    separate_cells([head, *body], 1)

    assert texts(head) == [["Harbour", "Crossings", "Range"]]


@pytest.mark.parametrize(
    "heads",
    [[piece(("Seconds", 110, 140))], [piece(("8", 106, 110)), piece(("16", 123, 132))], [piece(("8", 90, 160))]],
    ids=["one head", "two heads over three numbers", "a wide head"],
)
def test_numbers_of_one_column_stay_together(heads: list[CellText]) -> None:
    body = [row(NUMBERS), row(NUMBERS)]
    separate_cells([row(*heads), *body], 1)

    assert texts(*body) == [["0.02 0.05 0.17"]] * 2


def test_a_header_over_several_columns_stays_whole_if_a_row_has_fewer_cells() -> None:
    head = row(piece(("Mean", 94, 116), ("error", 119, 140)))
    body = [row(piece(("87", 100, 110)), piece(("2", 125, 130))), row(piece(("all failed", 94, 140)))]
    separate_cells([head, *body], 1)

    assert texts(head) == [["Mean error"]]

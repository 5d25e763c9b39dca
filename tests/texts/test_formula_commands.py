"""`convert --formulas latex`: the same text with commands in its formulas, and blocks that fit it."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostile_texts import find_growth
from peercorpus.corpus.structured_text import StructuredText
from peercorpus.records.blocks import TableCell, TextBlock
from peercorpus.records.documents import PAGE_BREAK, TextHeading
from peercorpus.records.enums import BlockKind
from peercorpus.texts.engine import Converted
from peercorpus.texts.layout.pdfium_layout import PdfiumLayout
from peercorpus.texts.text_json import write_formula_commands

TYPESET = Path(__file__).parent / "typeset"


def made_of(*texts: str, kind: BlockKind = BlockKind.PARAGRAPH, between: str = "\n\n", **more: Any) -> Converted:
    """A text of blocks of one kind."""
    blocks: list[TextBlock] = []
    at = 0
    for number, text in enumerate(texts):
        blocks.append(TextBlock(number, kind, at, at + len(text), **more))
        at += len(text) + len(between)
    return Converted(between.join(texts), 1, sum(map(len, texts)), (), blocks=tuple(blocks))


@pytest.mark.parametrize(
    ("source", "written"),
    [
        ("of $β_i ∈ ℝ^d$ and", r"of $\beta_i \in \mathbb{R}^d$ and"),
        ("$$∑_{i = 1}^n𝐱_i$$ (3)", r"$$\sum_{i = 1}^n\mathbf{x}_i$$ (3)"),
        (r"costs \$5 and \$6, so $σ$", r"costs \$5 and \$6, so $\sigma$"),
        ("`a $σ$` and $σ$", r"`a $σ$` and $\sigma$"),
        ("```\n$σ$\n```", "```\n$σ$\n```"),
        (r"$\frac{σ$ and $σ$", r"$\frac{σ$ and $\sigma$"),
        ("a lone $ and σ", "a lone $ and σ"),
        ("$σ � 1$", r"$\sigma \Box 1$"),
    ],
)
def test_formulas_have_commands_and_nothing_else_changes(source: str, written: str) -> None:
    converted = write_formula_commands(made_of(source))
    assert converted.markdown == written
    assert converted.characters == len(written)


def test_blocks_are_of_the_new_text() -> None:
    source = made_of("First $σ$", "$$ρ$$", "last", between=PAGE_BREAK)
    heading = TextHeading(1, "First $σ$", 1)
    converted = write_formula_commands(Converted(source.markdown, 3, 19, (), (heading,), blocks=source.blocks))
    assert converted.blocks is not None
    texts = [converted.markdown[block.start : block.end] for block in converted.blocks]
    assert texts == [r"First $\sigma$", r"$$\rho$$", "last"]
    assert [one.title for one in converted.headings] == [r"First $\sigma$"]


def test_cells_have_the_formulas_of_markdown() -> None:
    cells = (TableCell(0, 0, 1, 1, True, "$σ$"), TableCell(1, 0, 1, 1, False, "$5 to $6"))
    source = made_of("| $σ$ |\n| --- |\n| \\$5 to \\$6 |", kind=BlockKind.TABLE, cells=cells)
    blocks = write_formula_commands(source).blocks
    assert blocks is not None
    assert [cell.text for cell in blocks[0].cells] == [r"$\sigma$", "$5 to $6"]


def test_text_of_an_engine_without_blocks_is_unchanged() -> None:
    without = Converted("$σ$", 1, 3, ())
    assert write_formula_commands(without) is without
    undivided = made_of("$σ$", kind=BlockKind.UNDIVIDED)
    assert write_formula_commands(undivided) == undivided


@given(st.lists(st.text(st.sampled_from("$σ\\`a{}^_| \n"), max_size=30), min_size=1, max_size=4))
def test_blocks_fit_any_converted_text(texts: list[str]) -> None:
    once = write_formula_commands(made_of(*texts))
    assert once.blocks is not None
    assert len(once.blocks) == len(texts)
    assert StructuredText(once.markdown, once.blocks).is_whole()
    for text, block in zip(texts, once.blocks, strict=True):
        assert write_formula_commands(made_of(text)).markdown == once.markdown[block.start : block.end]


@pytest.mark.parametrize("text", ["$", "`", "$a", "\\", "$σ`"])
def test_a_hostile_text_is_processed_in_linear_time(text: str) -> None:
    def write(size: int) -> Callable[[], object]:
        return partial(write_formula_commands, made_of(text * (size // len(text))))

    assert find_growth(write, [2_000, 50_000], 0.05) is None


@pytest.mark.parametrize("style", ["acm", "ieee"])
def test_no_bare_greek_letter_stays(style: str) -> None:
    converted = write_formula_commands(PdfiumLayout().convert((TYPESET / f"{style}.pdf").read_bytes()))
    assert converted.blocks is not None
    assert StructuredText(converted.markdown, converted.blocks).is_whole()
    displays = [block for block in converted.blocks if block.kind == BlockKind.FORMULA]
    for block in displays:
        assert f"$${block.latex}$$" in converted.markdown[block.start : block.end]
    formulas = re.findall(r"(?<![\\$])\$([^$\n]+)\$", re.sub(r"```.*?```", "", converted.markdown, flags=re.DOTALL))
    assert len(formulas) > 50
    without_words = [re.sub(r"\\text\{[^{}]*\}", "", formula) for formula in formulas]
    assert [formula for formula in without_words if not formula.isascii()] == []
    assert len(displays) >= 28

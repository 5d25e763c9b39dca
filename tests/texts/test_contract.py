"""Every engine fulfils the contract, and the error for one that breaks it states how."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from pypdfium2.version import PYPDFIUM_INFO

from peercorpus.errors import MissingExtraError
from peercorpus.records.blocks import PageBox, TextBlock
from peercorpus.records.documents import TextHeading, TextQuality
from peercorpus.records.enums import BlockKind
from peercorpus.texts import contract
from peercorpus.texts.contract import PAPER, RULED, typeset
from peercorpus.texts.engine import ENGINES, SEPARATOR, Converted, Engine, load_engine
from peercorpus.texts.engines.pdfium_text import PdfiumText
from peercorpus.texts.layout.pdfium_layout import PdfiumLayout

QUICK = [name for name in ENGINES if name not in {"rapidocr", "vision"}]
"""`rapidocr` takes six seconds per page, `vision` needs an endpoint: test_ocr.py and test_vision.py test them."""


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize("check", contract.CHECKS)
def test_every_engine_passes_the_contract(check: Callable[[contract.Make], None], name: str) -> None:
    try:
        engine = load_engine(name)
    except MissingExtraError as missing:
        pytest.skip(str(missing))
    check(type(engine))


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_has_its_name(name: str) -> None:
    try:
        assert load_engine(name).name == name
    except MissingExtraError as missing:
        pytest.skip(str(missing))


def test_the_default_version_is_of_code_and_pdfium() -> None:
    assert load_engine("pdfium-layout").version == PdfiumLayout.version
    assert PdfiumLayout.version.endswith(f"+pypdfium2-{PYPDFIUM_INFO.version}")


def breaking(change: Callable[[Converted], Converted]) -> contract.Make:
    class Breaking(PdfiumText):
        def convert(self, pdf: bytes) -> Converted:
            return change(super().convert(pdf))

    return Breaking


def with_headings(*headings: TextHeading) -> contract.Make:
    return breaking(lambda found: replace(found, headings=headings))


def with_quality(**changed: Any) -> contract.Make:
    quality = replace(TextQuality(0.0, 0, 0, 0, None), **changed)
    return breaking(lambda found: replace(found, quality=quality))


def with_blocks(*blocks: TextBlock) -> contract.Make:
    return breaking(lambda found: replace(found, blocks=blocks))


class Shouting(PdfiumText):
    name = "Shouting Engine"


class Versionless(PdfiumText):
    version = ""


class Counting(PdfiumText):
    made = 0

    def convert(self, pdf: bytes) -> Converted:
        Counting.made += 1
        found = super().convert(pdf)
        return replace(found, problems=(f"read {Counting.made}",))


class Careless(PdfiumText):
    def convert(self, pdf: bytes) -> Converted:
        return super().convert(pdf) if pdf.startswith(b"%PDF") else 1 // 0  # type: ignore[return-value]


class Inventive(PdfiumText):
    def convert(self, pdf: bytes) -> Converted:
        return super().convert(pdf) if pdf in (typeset(PAPER), typeset(RULED)) else Converted("A cat.", 1, 6, ())


def torn(found: Converted) -> Converted:
    return replace(found, markdown=found.markdown.replace("\\---", "\n---\n"))


def backwards(found: Converted) -> Converted:
    return replace(found, markdown=SEPARATOR.join(reversed(found.markdown.split(SEPARATOR))))


@pytest.mark.parametrize(
    ("make", "check", "culprits"),
    [
        (Shouting, contract.check_name_and_version, ["name 'Shouting Engine'"]),
        (Versionless, contract.check_name_and_version, ["version ''"]),
        (breaking(lambda found: replace(found, pages=7)), contract.check_pages, ["3", "7"]),
        (breaking(lambda found: replace(found, markdown="Nothing.")), contract.check_pages, ["1 page", "3"]),
        (breaking(backwards), contract.check_pages, ["'amaranth'", "0", "page 1"]),
        (breaking(torn), contract.check_no_page_holds_the_separator, ["'---'", "3", "2"]),
        (breaking(lambda found: replace(found, characters=1)), contract.check_characters, [" 1."]),
        (
            breaking(lambda found: replace(found, markdown=found.markdown[:-1] + "\ufffd")),
            contract.check_clean_text,
            ["\ufffd"],
        ),
        (with_headings(TextHeading(1, "Nowhere", 1)), contract.check_headings, ["'Nowhere'", "page 1"]),
        (with_headings(TextHeading(1, "2 Method", 9)), contract.check_headings, ["'2 Method'", "page 9"]),
        (with_headings(TextHeading(0, "2 Method", 2)), contract.check_headings, ["'2 Method'", "level 0"]),
        (
            with_headings(TextHeading(1, "2 Method", 2), TextHeading(1, "1 Introduction", 1)),
            contract.check_headings,
            ["'1 Introduction'", "later page"],
        ),
        (with_quality(unknown_characters=0.5), contract.check_quality, ["50.0%", "unknown characters"]),
        (with_quality(figure_characters=5), contract.check_quality, ["figures", "0 characters"]),
        (with_quality(formulas=1, formula_sureness=2.0), contract.check_quality, ["2.0", "[0, 1]"]),
        (breaking(lambda found: replace(found, ocr_pages=(9,))), contract.check_quality, ["[9]"]),
        (with_blocks(TextBlock(0, BlockKind.PARAGRAPH, 3, 9)), contract.check_blocks, ["'On '", "block 0"]),
        (with_blocks(TextBlock(0, BlockKind.PARAGRAPH, 0, 5)), contract.check_blocks, ["The end of the text"]),
        (with_blocks(TextBlock(7, BlockKind.PARAGRAPH, 0, 5)), contract.check_blocks, ["Block 0", "7"]),
        (
            with_blocks(TextBlock(0, BlockKind.PARAGRAPH, 0, 5, (PageBox(9, 0.0, 0.0, 1.0, 1.0),))),
            contract.check_blocks,
            ["Block 0", "page"],
        ),
        (Careless, contract.check_bad_files, ["an empty file", "ZeroDivisionError"]),
        (Inventive, contract.check_bad_files, ["an empty file", "6 characters"]),
        (Counting, contract.check_determinism, ["twice"]),
        (breaking(lambda found: replace(found, problems=["a list"])), contract.check_storing, ["JSON"]),  # type: ignore[arg-type]
    ],
)
def test_the_contract_names_the_violated_check(
    make: Callable[[], Engine], check: Callable[[contract.Make], None], culprits: list[str]
) -> None:
    with pytest.raises(AssertionError) as raised:
        contract.check_engine(make)
    assert check.__name__ in {entry.name for entry in raised.traceback}
    assert [part for part in culprits if part not in str(raised.value)] == []

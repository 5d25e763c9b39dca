"""Every engine keeps the contract, and an engine that breaks it is told how."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from peercorpus.errors import MissingExtraError
from peercorpus.file_records import TextHeading, TextQuality
from peercorpus.texts import contract
from peercorpus.texts.contract_pdfs import PAPER, RULED, typeset
from peercorpus.texts.engine import ENGINES, SEPARATOR, Converted, Engine, load_engine
from peercorpus.texts.pdfium_text import PdfiumText

QUICK = [name for name in ENGINES if name not in {"rapidocr", "vision"}]
"""`rapidocr` takes six seconds for a page, `vision` asks an endpoint: test_ocr.py and test_vision.py check them."""


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize("check", contract.CHECKS)
def test_every_engine_keeps_the_contract(check: Callable[[contract.Make], None], name: str) -> None:
    try:
        engine = load_engine(name)
    except MissingExtraError as missing:
        pytest.skip(str(missing))
    check(type(engine))


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_has_the_name_under_which_it_is_chosen(name: str) -> None:
    try:
        assert load_engine(name).name == name
    except MissingExtraError as missing:
        pytest.skip(str(missing))


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
    ("make", "sentence"),
    [
        (Shouting, "The name 'Shouting Engine' is not lower-case"),
        (Versionless, "The version '' is not 1 to 100"),
        (breaking(lambda found: replace(found, pages=7)), "has 3 pages, the engine counts 7"),
        (breaking(lambda found: replace(found, markdown="Nothing.")), "splits into 1 pages, not 3"),
        (breaking(backwards), "'amaranth' stands 0 times on page 1"),
        (breaking(torn), "A line '---' on a page made 3 pages of 2"),
        (breaking(lambda found: replace(found, characters=1)), "characters, the engine says 1"),
        (breaking(lambda found: replace(found, markdown=found.markdown[:-1] + "\ufffd")), "A clean PDF gave"),
        (with_headings(TextHeading(1, "Nowhere", 1)), "'Nowhere' is not on page 1"),
        (with_headings(TextHeading(1, "2 Method", 9)), "'2 Method' is on page 9"),
        (with_headings(TextHeading(0, "2 Method", 2)), "'2 Method' has level 0"),
        (
            with_headings(TextHeading(1, "2 Method", 2), TextHeading(1, "1 Introduction", 1)),
            "after one of a later page",
        ),
        (with_quality(unknown_characters=0.5), "has 50.0% unknown characters"),
        (with_quality(figure_characters=5), "The figures hold 0 characters"),
        (with_quality(formulas=1, formula_sureness=2.0), "2.0 sure, which is not in [0, 1]"),
        (breaking(lambda found: replace(found, ocr_pages=(9,))), "[9] recognised from their image are not pages"),
        (Careless, "On an empty file it raised ZeroDivisionError"),
        (Inventive, "It read 6 characters in an empty file"),
        (Counting, "read twice gave two different texts"),
        (breaking(lambda found: replace(found, problems=["a list"])), "is not the same after it was written as JSON"),  # type: ignore[arg-type]
    ],
)
def test_an_engine_that_breaks_the_contract_is_told_how(make: Callable[[], Engine], sentence: str) -> None:
    with pytest.raises(AssertionError) as raised:
        contract.check_engine(make)
    assert sentence in str(raised.value)

"""`auto` sends only pages that the default engine reads badly to a heavier engine, and reports it."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from invented_pdfs import typeset
from invented_scans import Reader, scanned
from naming import Naming
from peercorpus.errors import EngineError, MissingExtraError, UnreadablePdfError
from peercorpus.records.documents import TextHeading, TextQuality
from peercorpus.records.enums import BlockKind
from peercorpus.texts.engine import SEPARATOR, Converted, Engine, EngineSettings, load_engine
from peercorpus.texts.engines import auto
from peercorpus.texts.engines.auto import AutoEngine
from peercorpus.texts.engines.rapidocr import OcrEngine
from peercorpus.texts.external_package import join_markdown_pages
from peercorpus.texts.layout.pdfium_layout import PdfiumLayout

PAGE = "The gradient that arrives at the server was computed many updates ago, and that is what momentum does. " * 8
"""Enough words that a page of them does not consist of figures alone."""


class Stand:
    """A heavier engine that returns given pages, and records how many it received."""

    version = "1"

    def __init__(self, name: str, *pages: str, ocr_pages: tuple[int, ...] = ()) -> None:
        self.name, self._pages, self._ocr_pages = name, pages, ocr_pages
        self.sent: list[int] = []

    def convert(self, pdf: bytes) -> Converted:
        self.sent.append(PdfiumLayout().convert(pdf).pages)
        return replace(join_markdown_pages(self._pages), ocr_pages=self._ocr_pages)


def routed(monkeypatch: pytest.MonkeyPatch, heavier: Engine, own: Engine | None = None) -> AutoEngine:
    engines = {"pdfium-layout": own or PdfiumLayout(), heavier.name: heavier}
    monkeypatch.setattr(auto, "load_engine", lambda name, _settings: engines[name])
    return AutoEngine(EngineSettings(heavier=heavier.name))


def test_a_well_read_file_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    pdf, heavier = typeset(PAGE, PAGE), Stand("docling")
    converted = routed(monkeypatch, heavier).convert(pdf)
    assert converted == PdfiumLayout().convert(pdf)
    assert (heavier.sent, converted.heavier_pages) == ([], ())


def test_only_pages_without_text_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    pdf = scanned(typeset(PAGE, PAGE, PAGE, PAGE), leaving=(1, 3, 4))
    heavier = Stand("rapidocr", f"# 2 Recognised\n\n{PAGE}", ocr_pages=(1,))
    converted = routed(monkeypatch, heavier).convert(pdf)
    assert heavier.sent == [1]
    assert converted.markdown.split(SEPARATOR)[1].startswith("# 2 Recognised")
    assert (converted.heavier_pages, converted.ocr_pages) == ((2,), (2,))
    assert converted.problems == ("read by rapidocr (image only; 1 of 4 pages in all): page 2",)
    assert converted.headings == (TextHeading(1, "2 Recognised", 2),)
    assert converted.quality is not None
    assert converted.quality.empty_pages == 0


def test_mostly_bad_files_are_sent_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    pdf = scanned(typeset(PAGE, PAGE, PAGE), leaving=(2,))
    heavier = Stand("docling", PAGE, PAGE, PAGE)
    converted = routed(monkeypatch, heavier).convert(pdf)
    assert (heavier.sent, converted.heavier_pages) == ([3], (1, 2, 3))
    assert Naming("docling", "3 of 3", "page 2") in converted.problems


def test_a_poorer_text_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    own = Stand("pdfium-layout", PAGE, PAGE + 60 * "\ufffd")
    converted = routed(monkeypatch, Stand("docling", "Little."), own).convert(typeset(PAGE, PAGE))
    assert converted.heavier_pages == ()
    assert converted.problems == ("own text, as docling gives less: page 2",)
    assert converted.markdown.split(SEPARATOR)[1].startswith("The gradient")


@pytest.mark.parametrize(("name", "sent"), [("docling", [2]), ("rapidocr", [])])
def test_unsure_formulas_need_a_heavier_engine(monkeypatch: pytest.MonkeyPatch, name: str, sent: Sequence[int]) -> None:
    class Unsure(Stand):
        def convert(self, pdf: bytes) -> Converted:
            return replace(super().convert(pdf), quality=TextQuality(0.0, 0, 0, formulas=9, formula_sureness=0.4))

    heavier = Stand(name, PAGE, PAGE)
    converted = routed(monkeypatch, heavier, Unsure("pdfium-layout", PAGE, PAGE)).convert(typeset(PAGE, PAGE))
    assert heavier.sent == sent
    assert len(converted.heavier_pages) == sum(sent)


def test_our_text_is_kept_if_theirs_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    class Helpless(Stand):
        def convert(self, pdf: bytes) -> Converted:  # noqa: ARG002
            raise UnreadablePdfError("It gave up.")

    pdf = scanned(typeset(PAGE, PAGE), leaving=(1,))
    converted = routed(monkeypatch, Helpless("docling")).convert(pdf)
    assert converted.problems == ("without text: page 2", "docling cannot read it: It gave up.")


def test_an_engine_that_cannot_work_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(Stand):
        def convert(self, pdf: bytes) -> Converted:  # noqa: ARG002
            raise EngineError("No models.")

    with pytest.raises(EngineError, match="No models"):
        routed(monkeypatch, Broken("docling")).convert(scanned(typeset(PAGE)))


def test_a_heavier_engine_is_advised(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_installed(name: str, settings: EngineSettings) -> Engine:
        if name == auto.OCR:
            raise MissingExtraError("rapidocr", "ocr")
        return load_engine(name, settings)

    monkeypatch.setattr(auto, "load_engine", none_installed)
    converted = AutoEngine().convert(scanned(typeset(PAGE, PAGE), leaving=(1,)))
    assert converted.problems[-1] == Naming("heavier engine", "1 of 2", "page 2")
    assert converted.heavier_pages == ()


def test_a_named_heavier_engine_must_be_installed() -> None:
    with pytest.raises(MissingExtraError, match="pip install nemotron-ocr"):
        load_engine("auto", EngineSettings(heavier="nemotron"))


@pytest.mark.parametrize("knows_blocks", [True, False])
def test_pages_of_two_engines_keep_their_blocks(monkeypatch: pytest.MonkeyPatch, knows_blocks: bool) -> None:
    pdf = scanned(typeset(PAGE, PAGE, PAGE), leaving=(1, 3))
    recognised = Stand("rapidocr", "Words that were recognised. " * 40)
    heavier = OcrEngine(Reader(typeset(PAGE))) if knows_blocks else recognised
    converted = routed(monkeypatch, heavier).convert(pdf)
    assert converted.blocks is not None
    at = [converted.markdown[block.start : block.end] for block in converted.blocks]
    assert SEPARATOR.join(at) == converted.markdown
    assert [block.block_id for block in converted.blocks] == [0, 1, 2]
    pages = [[box.page for box in block.boxes] for block in converted.blocks]
    assert pages == [[1], [2] if knows_blocks else [], [3]]
    assert (converted.blocks[1].kind is BlockKind.UNDIVIDED) != knows_blocks

"""Pages without readable text are distinguished from all others, and their recognised text is read normally."""

import re
from collections.abc import Callable
from importlib import metadata
from importlib.util import find_spec

import pytest
import typst

from invented_pdfs import by_hand, lines, typeset
from invented_scans import Reader, scanned
from peercorpus.errors import MissingExtraError
from peercorpus.installation import advise_install
from peercorpus.pdf.shapes import Box, Shapes
from peercorpus.texts import contract
from peercorpus.texts.engine import SEPARATOR, EngineSettings, load_engine
from peercorpus.texts.engines.pdfium_layout import DefaultLayout
from peercorpus.texts.engines.rapidocr import LayoutWithOcr, OcrEngine
from peercorpus.texts.layout.pdfium_layout import PdfiumLayout
from peercorpus.texts.ocr import WordRow, join_lines, to_runs
from peercorpus.texts.page_quality import explain_unreadable, longest_common, words

WIDTH, HEIGHT = 612.0, 792.0
AREA = WIDTH * HEIGHT
PROSE = (
    "The gradient that arrives at the server was computed many updates ago, and the usual remedy divides the rate "
    "by that delay. Training is then stable, but it takes so many more epochs that the synchronous method is often the "
    "faster choice. We take a different view of it: a delayed gradient makes the iterate overshoot in the direction in "
    "which it was already moving, which is what momentum does."
)
PAPER = f"""
#set page(width: 612pt, height: 792pt, margin: 72pt)
#set text(size: 10pt)
#set par(justify: true)
#set heading(numbering: "1")
#align(center, text(17pt)[*Delay Is Momentum in Disguise*])
= Introduction
{PROSE}

{PROSE.replace("gradient", "message").replace("momentum", "inertia")}
= Method
{PROSE.replace("gradient", "sample").replace("server", "learner")}
"""


def paper(source: str = PAPER) -> bytes:
    return bytes(typst.compile(source.encode()))


def shapes(*, image: float = 0.0, strokes: int = 0) -> Shapes:
    return Shapes(images=[Box(0, 0, WIDTH, image * HEIGHT)], strokes=[Box(0, 0, 9, 9)] * strokes)


@pytest.mark.parametrize(
    ("text", "drawn", "why"),
    [
        ("", shapes(image=0.9), "image only"),
        ("Published at Aurora", shapes(image=0.9), "image only"),
        ("", shapes(strokes=900), "image only"),
        ("", shapes(), None),
        ("", shapes(image=0.3, strokes=20), None),
        (PROSE, shapes(image=1.0), None),
        ("\ufffd\ue000" * 10 + PROSE, shapes(), "unknown characters"),
        (
            "".join(chr(97 + (ord(sign) - 97 + 13) % 26) if sign.isalpha() else sign for sign in PROSE.lower() * 2),
            shapes(),
            "no language",
        ),
        ("Nous montrons que le retard du gradient agit comme une inertie, sans autre terme. " * 20, shapes(), None),
        ("0.91 0.87 0.12 ResNet-50 BERT 3.4 " * 40, shapes(), None),
    ],
)
def test_an_unreadable_page_has_a_reason(text: str, drawn: Shapes, why: str | None) -> None:
    assert explain_unreadable(text, drawn, AREA) == why


def line(
    text: str, *, top: float, left: float = 100, size: float = 10, stroke: float = 2.0, letter: float = 4.6
) -> WordRow:
    high = size / 0.82
    right = left + letter * size / 10 * len(text)
    return WordRow(text, left / WIDTH, top / HEIGHT, right / WIDTH, (top + high) / HEIGHT, stroke)


def test_similar_font_sizes_are_merged() -> None:
    body = [line("A line of the body with forty letters.", top=100 + 12 * row, size=10 + row % 2) for row in range(8)]
    title = line("A title set larger", top=50, size=17, stroke=3.4)
    tall = line("A line with a tall sign like x^T in it.", top=220, size=13, letter=3.6)
    bold = line("1 Introduction", top=240, stroke=2.7, letter=5.4)
    runs = to_runs([title, *body, tall, bold], WIDTH, HEIGHT)
    assert [run.size for run in runs[1:]] == [runs[1].size] * 10
    assert runs[0].size > 1.5 * runs[1].size
    assert [run.text for run in runs if run.font.is_bold] == ["1 Introduction"]


def test_boxes_side_by_side_are_one_line() -> None:
    boxes = [line("1", top=100), line("Introduction", top=101, left=112), line("The right column", top=100, left=330)]
    found = join_lines(to_runs(boxes, WIDTH, HEIGHT), 0)
    assert [one.text for one in found] == ["1 Introduction", "The right column"]


def test_only_the_pages_without_text_are_recognised() -> None:
    pdf = typeset(PROSE, PROSE.upper(), PROSE.swapcase())
    engine = LayoutWithOcr(Reader(typeset(PROSE.upper())))
    converted = engine.convert(scanned(pdf, leaving=(1, 3)))
    assert converted.ocr_pages == (2,)
    assert "recognised (image only): page 2" in converted.problems
    assert not any(problem.startswith("without text") for problem in converted.problems)
    assert words(converted.markdown.split(SEPARATOR)[1]) == words(PROSE)
    assert engine.convert(pdf).ocr_pages == ()


def test_a_picture_is_no_page_of_text() -> None:
    pdf = scanned(typeset("Loss Epoch 0 1 2 3"), leaving=())
    converted = LayoutWithOcr(Reader(typeset("Loss Epoch 0 1 2 3"))).convert(pdf)
    assert (converted.ocr_pages, converted.characters) == ((), 0)


def test_ocr_names_missing_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(package: str) -> str:
        raise metadata.PackageNotFoundError(package)

    monkeypatch.setattr(metadata, "version", missing)
    assert type(load_engine("pdfium-layout")) is DefaultLayout
    with pytest.raises(MissingExtraError, match="'rapidocr'.*" + re.escape(advise_install("ocr"))):
        load_engine("pdfium-layout", EngineSettings(ocr="auto"))


needs_rapidocr = pytest.mark.skipif(find_spec("rapidocr") is None, reason="the extra 'ocr' is not installed")


@pytest.mark.slow
@needs_rapidocr
def test_rapidocr_finds_words_in_order() -> None:
    engine = load_engine("pdfium-layout", EngineSettings(ocr="auto"))
    printed = PdfiumLayout().convert(paper())
    converted = engine.convert(scanned(paper()))
    wanted = words(printed.markdown)
    assert longest_common(wanted, words(converted.markdown)) >= 0.95 * len(wanted)
    assert converted.ocr_pages == (1,)
    assert [heading.title for heading in converted.headings] == ["1 Introduction", "2 Method"]
    assert converted.markdown.startswith("# Delay Is Momentum in Disguise")
    assert "rapidocr" in engine.version


@pytest.mark.slow
@needs_rapidocr
def test_reading_every_page_ignores_its_text() -> None:
    converted = load_engine("rapidocr").convert(
        by_hand([lines(*(f"Printed line number {word} of the page" for word in ("one", "two", "three", "four")))])
    )
    assert converted.ocr_pages == (1,)
    assert words(converted.markdown)[:4] == ["printed", "line", "number", "one"]


@pytest.mark.slow
@needs_rapidocr
@pytest.mark.parametrize("check", [contract.check_pages, contract.check_headings, contract.check_bad_files])
def test_rapidocr_passes_the_engine_contract(check: Callable[[contract.Make], None]) -> None:
    check(OcrEngine)

"""Engines whose models are not installed: each against a stand-in for its library, with the library's own names.

The real runs reported in docs/engines.md were made by hand against the installed packages.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from invented_pdfs import typeset
from invented_scans import Reader, scanned
from peercorpus.errors import EngineError, UnreadablePdfError
from peercorpus.pdf.document import extract_pages
from peercorpus.records.documents import TextHeading
from peercorpus.texts.engine import SEPARATOR, Engine, EngineSettings, load_engine
from peercorpus.texts.engines.docling import Docling
from peercorpus.texts.engines.external_package import join_markdown_pages
from peercorpus.texts.engines.ocr import WordRow
from peercorpus.texts.engines.ocr_engines import Nemotron, NemotronOcr
from peercorpus.texts.layout.pdfium_layout import PdfiumLayout
from peercorpus.texts.page_quality import words

PAGE = "The gradient that arrives at the server was computed many updates ago, and that is what momentum does. " * 4
HEAVY = {
    "docling": "docling",
    "nemotron": "nemotron-ocr",
    "rapidocr": "rapidocr",
}
EXTRAS = {"rapidocr": "ocr"}


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Puts a module in place of a library for the duration of the test."""
    monkeypatch.setattr(metadata, "version", lambda _: "9.9")

    def put(name: str, **members: object) -> None:
        parts = name.split(".")
        for length in range(1, len(parts) + 1):
            path = ".".join(parts[:length])
            if path not in sys.modules:
                monkeypatch.setitem(sys.modules, path, ModuleType(path))
        vars(sys.modules[name]).update(members)

    return put


def test_choosing_an_engine_does_not_import_its_library(installed: Callable[..., None]) -> None:
    installed("nothing")
    before = set(sys.modules)
    for name in HEAVY:
        load_engine(name)
    assert not {module.partition(".")[0] for module in set(sys.modules) - before} & {"docling", "torch"}


class ConversionError(RuntimeError):
    """As `docling.exceptions` has it."""


@dataclass
class DoclingStandIn:
    """A stand-in for `DocumentConverter`.

    Attributes:
        pages: Pages of the document it returns, by number.
        fails: Raised instead.
    """

    pages: dict[int, str]
    fails: Exception | None = None
    made_with: dict[str, Any] = field(default_factory=dict)
    sources: list[Any] = field(default_factory=list)

    def __call__(self, **options: object) -> "DoclingStandIn":
        self.made_with.update(options)
        return self

    def convert(self, source: Any) -> SimpleNamespace:
        self.sources.append(source)
        if self.fails:
            raise self.fails
        return SimpleNamespace(document=self, errors=[SimpleNamespace(error_message="table 2 has no cells")])

    def export_to_markdown(
        self, *, page_no: int, image_placeholder: str, escape_html: bool, escape_underscores: bool
    ) -> str:
        assert (image_placeholder, escape_html, escape_underscores) == ("", False, False)
        return self.pages[page_no]


def put_docling(installed: Callable[..., None], stand: DoclingStandIn) -> None:
    pdf = SimpleNamespace(PDF="pdf")
    installed("docling.datamodel.base_models", DocumentStream=SimpleNamespace, InputFormat=pdf)
    installed(
        "docling.datamodel.accelerator_options",
        AcceleratorDevice=SimpleNamespace(AUTO="auto"),
        AcceleratorOptions=SimpleNamespace,
    )
    installed("docling.datamodel.pipeline_options", PdfPipelineOptions=SimpleNamespace)
    installed("docling.document_converter", DocumentConverter=stand, PdfFormatOption=SimpleNamespace)
    installed("docling.exceptions", ConversionError=ConversionError)


def test_docling_gives_each_page_on_its_own(installed: Callable[..., None], tmp_path: Path) -> None:
    stand = DoclingStandIn({1: "# 1 Aims\n\nOne\n\n\n\n", 3: "Three"})
    put_docling(installed, stand)
    engine = load_engine("docling", EngineSettings(models=tmp_path))
    converted = engine.convert(typeset("a", "b", "c"))
    assert converted.markdown.split(SEPARATOR) == ["# 1 Aims\n\nOne", "", "Three"]
    assert converted.problems == ("docling: table 2 has no cells", "without text: page 2")
    assert converted.headings == (TextHeading(1, "1 Aims", 1),)
    options = stand.made_with["format_options"]["pdf"].pipeline_options
    assert (options.artifacts_path, options.do_ocr, options.do_formula_enrichment) == (tmp_path, False, True)
    assert stand.sources[0].stream.getvalue().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("fails", "expected", "message"),
    [
        (
            ConversionError("Conversion failed.\nTrace"),
            UnreadablePdfError,
            "Conversion failed$",
        ),
        (
            FileNotFoundError("no snapshot"),
            EngineError,
            "FileNotFoundError.*docling-tools models download",
        ),
    ],
)
def test_a_docling_failure_is_attributed_to_the_file_or_not(
    installed: Callable[..., None], fails: Exception, expected: type[Exception], message: str
) -> None:
    put_docling(installed, DoclingStandIn({}, fails))
    with pytest.raises(expected, match=message):
        Docling().convert(typeset("a"))


class NemotronStandIn:
    """A stand-in for `NemotronOCRV2`: normalised boxes, whose `lower` is nearer to the upper edge."""

    made_with: dict[str, object]
    lines: list[WordRow]

    def __init__(self, **options: object) -> None:
        type(self).made_with = options

    def __call__(self, images: list[Any], *, merge_level: str) -> list[list[dict[str, object]]]:
        assert merge_level == "sentence"
        assert [image.getvalue()[:4] for image in images] == [b"\x89PNG"]
        return [
            [
                {
                    "text": line.text,
                    "confidence": 0.9,
                    "left": line.left,
                    "right": line.right,
                    "lower": line.top,
                    "upper": line.bottom,
                }
                for line in self.lines
            ]
        ]


def test_boxes_of_nemotron_become_text_through_our_own_layout(installed: Callable[..., None], tmp_path: Path) -> None:
    pdf = typeset(PAGE)
    NemotronStandIn.lines = Reader(pdf).read(None)
    installed("nemotron_ocr.inference.pipeline_v2", NemotronOCRV2=NemotronStandIn)
    converted = load_engine("nemotron", EngineSettings(models=tmp_path)).convert(scanned(pdf))
    assert words(converted.markdown) == words(PdfiumLayout().convert(pdf).markdown)
    assert converted.ocr_pages == (1,)
    assert NemotronStandIn.made_with == {"model_dir": str(tmp_path), "lang": "english"}


def test_a_missing_gpu_for_nemotron_is_not_the_files_fault(installed: Callable[..., None]) -> None:
    def no_gpu(**_: object) -> None:
        raise RuntimeError("Found no NVIDIA driver on your system.")

    installed("nemotron_ocr.inference.pipeline_v2", NemotronOCRV2=no_gpu)
    with pytest.raises(EngineError, match=r"RuntimeError.*CUDA 13"):
        Nemotron(NemotronOcr()).convert(scanned(typeset(PAGE)))


@pytest.mark.parametrize("make", [Docling, Nemotron])
def test_a_broken_file_is_unreadable_to_every_engine(
    installed: Callable[..., None], make: Callable[[], Engine]
) -> None:
    put_docling(installed, DoclingStandIn({}))
    with pytest.raises(UnreadablePdfError, match="damaged"):
        make().convert(b"%PDF-1.7\nbroken")


def test_pictures_and_wide_gaps_are_removed_from_every_engines_text() -> None:
    converted = join_markdown_pages(["One\n\n<!-- image -->\n\n\n\nTwo", ""])
    assert converted.markdown.split(SEPARATOR) == ["One\n\nTwo", ""]
    assert converted.problems == ("without text: page 2",)


def test_selected_pages_become_a_file_in_the_requested_order() -> None:
    part = extract_pages(typeset("Alpha", "Beta", "Gamma"), [3, 1])
    assert PdfiumLayout().convert(part).markdown.split(SEPARATOR) == ["Gamma", "Alpha"]

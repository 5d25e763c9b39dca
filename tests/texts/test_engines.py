"""Engines and their options: the default one on good and bad files, and those whose models are not installed."""

import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from invented_pdfs import HTML, by_hand, encrypted, lines, typeset
from invented_scans import Reader, scanned
from naming import Naming
from peercorpus.errors import EngineError, PdfFault, PeercorpusError, UnreadablePdfError
from peercorpus.execution.requests import BuildRequest
from peercorpus.pdf.document import clean_text
from peercorpus.records.documents import TextHeading
from peercorpus.texts.engine import (
    ENGINES,
    OPTIONS,
    SEPARATOR,
    Engine,
    EngineSettings,
    choose_engine,
    load_engine,
)
from peercorpus.texts.engines.docling import Docling
from peercorpus.texts.engines.nemotron import Nemotron, NemotronOcr
from peercorpus.texts.engines.pdfium_text import PdfiumText
from peercorpus.texts.layout.pdfium_layout import PdfiumLayout
from peercorpus.texts.ocr import WordRow
from peercorpus.texts.page_quality import words


def test_an_unknown_engine_is_named() -> None:
    with pytest.raises(PeercorpusError, match=r"'magic'.* auto, docling, .*, pdfium-text, "):
        load_engine("magic")


@pytest.mark.parametrize(
    ("given", "clean"),
    [
        ("a\r\nb\rc", "a\nb\nc"),
        ("exam\ufffeple", "exam-\nple"),
        ("exam\x02ple", "exam-\nple"),
        ("soft\u00adhyphen", "soft-hyphen"),
        ("e\x0ecient, \x1cnal, \x0brst", "efficient, final, ffrst"),
        ("nul\x00 and \ud800 surrogate", "nul and  surrogate"),
        ("  kept\tinside \n", "kept\tinside"),
        ("∑ → β é", "∑ → β é"),
    ],
)
def test_text_is_plain_characters_and_line_feeds(given: str, clean: str) -> None:
    assert clean_text(given) == clean
    clean_text(given).encode()


@pytest.mark.parametrize(
    ("pdf", "fault", "reason"),
    [
        (b"", PdfFault.NOT_A_PDF, "empty"),
        (HTML, PdfFault.NOT_A_PDF, "not a PDF"),
        (b"%PDF-1.7\n", PdfFault.DAMAGED, "damaged"),
        (encrypted(by_hand([lines("Secret")])), PdfFault.ENCRYPTED, "password"),
    ],
)
def test_an_unreadable_file_is_refused(pdf: bytes, fault: PdfFault, reason: str) -> None:
    with pytest.raises(UnreadablePdfError, match=reason) as raised:
        PdfiumText().convert(pdf)
    assert raised.value.fault is fault


PAGE = "The gradient that arrives at the server was computed many updates ago, and that is what momentum does. " * 4


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
def test_a_docling_failure_is_attributed(
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


def test_boxes_of_nemotron_become_text(installed: Callable[..., None], tmp_path: Path) -> None:
    pdf = typeset(PAGE)
    NemotronStandIn.lines = Reader(pdf).read(None)
    installed("nemotron_ocr.inference.pipeline_v2", NemotronOCRV2=NemotronStandIn)
    converted = load_engine("nemotron", EngineSettings(models=tmp_path)).convert(scanned(pdf))
    assert words(converted.markdown) == words(PdfiumLayout().convert(pdf).markdown)
    assert converted.ocr_pages == (1,)
    assert NemotronStandIn.made_with == {"model_dir": str(tmp_path), "lang": "english"}


def test_a_missing_gpu_is_not_the_files_fault(installed: Callable[..., None]) -> None:
    def no_gpu(**_: object) -> None:
        raise RuntimeError("Found no NVIDIA driver on your system.")

    installed("nemotron_ocr.inference.pipeline_v2", NemotronOCRV2=no_gpu)
    with pytest.raises(EngineError, match=r"RuntimeError.*CUDA 13"):
        Nemotron(NemotronOcr()).convert(scanned(typeset(PAGE)))


@pytest.mark.parametrize("make", [Docling, Nemotron])
def test_every_engine_refuses_a_broken_file(installed: Callable[..., None], make: Callable[[], Engine]) -> None:
    put_docling(installed, DoclingStandIn({}))
    with pytest.raises(UnreadablePdfError, match="damaged"):
        make().convert(b"%PDF-1.7\nbroken")


SET: dict[str, Any] = {
    "ocr": "auto",
    "heavier": "docling",
    "models": Path("models"),
    "engine_url": "http://127.0.0.1:9/v1",
    "engine_model": "m",
    "max_pages": 1_000,
}
ENDPOINT = {name: SET[name] for name in ("engine_url", "engine_model")}


def takes(engine: str) -> Collection[str]:
    return getattr(ENGINES[engine], "takes", ())


@pytest.mark.parametrize(
    ("engine", "option"),
    [(name, option) for name in ENGINES for option in OPTIONS if option not in takes(name)],
)
def test_an_option_not_taken_is_refused(engine: str, option: str) -> None:
    options = BuildRequest(engine=engine, **({} if engine != "vision" else ENDPOINT) | {option: SET[option]})
    with pytest.raises(EngineError) as refused:
        choose_engine(options)
    flag = "--" + option.replace("_", "-")
    assert str(refused.value) == Naming(f"'{engine}'", flag)
    assert any(f"'{name}'" in str(refused.value) for name in ENGINES if option in takes(name))
    assert str(refused.value).count(".") == 1


def test_options_reach_the_engine() -> None:
    chosen = choose_engine(BuildRequest(engine="vision", max_pages=7, **ENDPOINT))
    assert chosen.settings.max_pages == 7
    assert choose_engine(BuildRequest(engine="vision", **ENDPOINT)).settings.max_pages == 1_000
    assert (chosen.engine.name, chosen.is_heavy) == ("vision", False)


@pytest.mark.parametrize("heavier", ["auto", "pdfium-text", "pdfium-layout"])
def test_a_heavier_engine_reads_more(heavier: str) -> None:
    with pytest.raises(EngineError, match=f"'{heavier}'.*--heavier"):
        choose_engine(BuildRequest(engine="auto", heavier=heavier))

"""Measures speed and quality of PDF engines side by side: ours, pdfium's raw text, and the libraries installed beside.

Every engine reads the same files in one process on one core; CPU time, the best of some rounds. Quality is measured by
the named scorer, if any; neither papers nor scorer are in the repository.
"""

import importlib.util
import json
import os
import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any

from apart import own_peak_mb
from peercorpus.texts.engines.pdfium_text import PdfiumText
from peercorpus.texts.layout.pdfium_layout import PdfiumLayout
from tabling import timed

BENCH = "PEERCORPUS_PDF_BENCH"
"""The variable of the environment that names a folder with `pdf/` and, for quality, `truth/`."""
SCORER = "PEERCORPUS_PDF_SCORER"
"""The variable that names the scorer's file; it has `score(markdown, truth)` and `MEASURES`."""
ROUNDS = 2
LABELS = {
    "rougeL": "ROUGE-L",
    "h_rec": "headings recall",
    "h_prec": "headings precision",
    "h_f1": "headings F1",
    "h_level": "levels",
    "refs": "references",
    "caps": "captions",
    "notes": "footnotes",
    "tbl": "cells",
    "tblp": "cells precision",
    "urls": "URLs",
    "greek": "Greek",
    "equal": "formulas equal",
    "number": "own number",
    "sure": "sure and equal",
    "inline": "in text",
    "figure": "figure words",
    "lines": "line numbers",
    "header": "headers",
    "pageno": "page numbers",
    "hyph": "hyphens",
    "wrongjoin": "wrong joins",
    "lig": "ligatures",
    "dbl": "doubled words",
}
"""What the measures of scorers are called in tables, where their own names are short."""

Reader = Callable[[Path], str]


def _pdfium_layout(path: Path) -> str:
    return PdfiumLayout().convert(path.read_bytes()).markdown


def _pdfium_text(path: Path) -> str:
    return PdfiumText().convert(path.read_bytes()).markdown


def _raw_pdfium(path: Path) -> str:
    import pypdfium2 as pdfium

    with pdfium.PdfDocument(path) as document:
        return "\n".join(document[index].get_textpage().get_text_range() for index in range(len(document)))


def _liteparse(path: Path) -> str:
    from liteparse import LiteParse

    options = {"ocr_enabled": False, "output_format": "markdown", "image_mode": "off", "quiet": True}
    return "\n\n".join(page.markdown for page in LiteParse(**options).parse(str(path)).pages)


def _pdf_inspector(path: Path) -> str:
    import pdf_inspector

    return "\n\n".join(page.markdown for page in pdf_inspector.extract_pages_markdown(str(path)).pages)


def _unpdf(path: Path) -> str:
    import unpdf

    return str(unpdf.to_markdown(str(path)))


def _pdf_oxide(path: Path) -> str:
    import pdf_oxide

    document = pdf_oxide.PdfDocument(str(path))
    return "\n\n".join(document.to_markdown(index) for index in range(document.page_count()))


def _pymupdf4llm(path: Path) -> str:
    import pymupdf4llm

    return str(pymupdf4llm.to_markdown(str(path), show_progress=False))


ENGINES: Mapping[str, tuple[str, Reader]] = {
    "raw pdfium text": ("pypdfium2", _raw_pdfium),
    "`pdfium-layout`": ("pypdfium2", _pdfium_layout),
    "`pdfium-text`": ("pypdfium2", _pdfium_text),
    "liteparse": ("liteparse", _liteparse),
    "pdf-inspector": ("pdf_inspector", _pdf_inspector),
    "unpdf": ("unpdf", _unpdf),
    "pdf_oxide": ("pdf_oxide", _pdf_oxide),
    "pymupdf4llm": ("pymupdf4llm", _pymupdf4llm),
}


def _all(reader: Reader, paths: Sequence[Path]) -> dict[str, str]:
    return {path.stem: reader(path) for path in paths}


def _measure(name: str, paths: Sequence[Path]) -> tuple[float, float, dict[str, str]]:
    """Seconds of CPU time, the peak in MB, and what was read; in a separate process."""
    reader = ENGINES[name][1]
    texts: dict[str, str] = {}

    def work() -> None:
        texts.update(_all(reader, paths))

    rounds = 1 if name == "pymupdf4llm" else ROUNDS
    seconds = min(timed(work) for _ in range(rounds))
    return seconds, own_peak_mb(), texts


def _scorer() -> ModuleType | None:
    path = os.environ.get(SCORER)
    spec = importlib.util.spec_from_file_location("scorer", path) if path else None
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _medians(scorer: ModuleType, texts: Mapping[str, str], truth: Path) -> list[str]:
    rows: list[dict[str, Any]] = [
        scorer.score(text, json.loads((truth / f"{stem}.json").read_text(encoding="utf-8")))
        for stem, text in texts.items()
    ]
    known = ([row[measure] for row in rows if row[measure] is not None] for measure in scorer.MEASURES)
    return [f"{statistics.median(values):.3f}" if values else "" for values in known]


def measure_engines() -> None:
    """Print one table: pages a second, of raw text, peak memory, and the median of each measure of quality."""
    from pypdfium2 import PdfDocument

    folder = os.environ.get(BENCH)
    if folder is None:
        print(f"\nNo papers: {BENCH} names no folder.")
        return
    paths = sorted((Path(folder) / "pdf").glob("*.pdf"))
    pages = sum(len(PdfDocument(path)) for path in paths)
    scorer, truth = _scorer(), Path(folder) / "truth"
    measures = list(scorer.MEASURES) if scorer else []
    print(f"\n{len(paths)} papers, {pages} pages\n")
    heads = [LABELS.get(measure, measure) for measure in measures]
    print(f"| engine | pages/s | of raw | peak MB | {' | '.join(heads)} |\n|---|{'---:|' * (3 + len(measures))}")
    raw_s = None
    for name, (module, _) in ENGINES.items():
        if importlib.util.find_spec(module) is None:
            continue
        with get_context("spawn").Pool(1) as pool:
            seconds, peak_mb, texts = pool.apply(partial(_measure, name), (paths,))
        raw_s = raw_s or seconds
        quality = _medians(scorer, texts, truth) if scorer else []
        cells = [f"{pages / seconds:,.0f}", f"{raw_s / seconds:.2f}", f"{peak_mb:,.0f}", *quality]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)

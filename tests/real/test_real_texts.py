"""Recorded papers as Markdown, scored against ground truth made from their LaTeX sources.

The scorer is part of the recorded data, not of this project; it documents what it measures. The minimum required
is what the project promises, not what it achieves today.
"""

import importlib.util
import json
import statistics
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from peercorpus.texts.layout.pdfium_layout import PdfiumLayout

SHARED = Path(__file__).parents[3] / "shared"
BENCH, SCORER = SHARED / "data" / "pdf-bench", SHARED / "tools" / "score_markdown.py"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.real,
    pytest.mark.skipif(not (BENCH.is_dir() and SCORER.is_file()), reason="the recorded PDFs are not in ../shared"),
]

AT_LEAST = {
    "order": 0.998,
    "rougeL": 0.93,
    "h_f1": 0.96,
    "h_level": 0.98,
    "refs": 1.0,
    "caps": 1.0,
    "notes": 1.0,
    "tbl": 0.92,
    "urls": 0.95,
}
AT_MOST = {
    "lines": 0.005,
    "header": 0.0,
    "pageno": 0.0,
    "hyph": 0.0,
    "wrongjoin": 0.2,
    "lig": 0.0,
    "junk": 0.0,
    "dbl": 0.0,
}


def _scorer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("score_markdown", SCORER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def medians() -> dict[str, float]:
    """The median of each measure over the papers that have it."""
    scorer, engine = _scorer(), PdfiumLayout()
    rows: list[dict[str, Any]] = []
    for path in sorted((BENCH / "truth").glob("*.json")):
        markdown = engine.convert((BENCH / "pdf" / f"{path.stem}.pdf").read_bytes()).markdown
        rows.append(scorer.score(markdown, json.loads(path.read_text())))
    assert len(rows) == 37
    return {name: statistics.median(row[name] for row in rows if row[name] is not None) for name in rows[0]}


@pytest.mark.parametrize("measure", AT_LEAST)
def test_the_median_has_a_minimum(medians: dict[str, float], measure: str) -> None:
    assert round(medians[measure], 3) >= AT_LEAST[measure]


@pytest.mark.parametrize("measure", AT_MOST)
def test_the_median_has_a_maximum(medians: dict[str, float], measure: str) -> None:
    assert round(medians[measure], 3) <= AT_MOST[measure]

"""Display formulas of a PDF made by TeX, from glyphs to LaTeX: `tex/formulas.tex` is the source.

Every line of `tex/formulas.txt` was compared with its source, token by token.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from peercorpus.latex.maths import read_formula, write_with_commands
from peercorpus.pdf.document import open_pdf
from peercorpus.texts.layout.formulas.nodes import nodes_of, read_signs
from peercorpus.texts.layout.pdfium_layout import PdfiumLayout, open_pages

FOLDER = Path(__file__).parent / "tex"
EXPECTED = (FOLDER / "formulas.txt").read_text(encoding="utf-8").splitlines()
DISPLAY = re.compile(r"^\$\$(.+)\$\$(?: \((\d+)\))?$", re.MULTILINE)


@pytest.fixture(scope="module")
def displays() -> list[tuple[str, str]]:
    """The display formulas of the PDF and their numbers; an empty string for one without a number."""
    markdown = PdfiumLayout().convert((FOLDER / "formulas.pdf").read_bytes()).markdown
    return [(match[1], match[2] or "") for match in DISPLAY.finditer(markdown)]


def test_every_formula_is_read_as_it_was_written(displays: list[tuple[str, str]]) -> None:
    assert [signs for signs, _ in displays] == EXPECTED


def test_every_other_formula_has_its_number(displays: list[tuple[str, str]]) -> None:
    assert [number for _, number in displays] == [
        str(index // 2 + 1) if index % 2 == 0 else "" for index in range(len(EXPECTED))
    ]


def test_a_runs_signs_are_its_nodes() -> None:
    with open_pdf((FOLDER / "formulas.pdf").read_bytes()) as document:
        runs = [run for page in open_pages(document) if page for run in page[1].runs]
    assert [read_signs(run) for run in runs] == ["".join(node.latex for node in nodes_of(run)) for run in runs]
    assert {"∑", "α"} <= set(map(read_signs, runs))


def test_latex_has_commands_only_and_is_balanced() -> None:
    for signs in EXPECTED:
        latex = write_with_commands(signs)
        assert latex.isascii(), latex
        assert read_formula(latex).tag is None


def test_latex_compiles(tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    displays = "\n".join(rf"\[{write_with_commands(signs)}\]" for signs in EXPECTED)
    head = r"\documentclass{article}\usepackage{amsmath,amssymb}\begin{document}"
    (tmp_path / "all.tex").write_text(f"{head}\n{displays}\n\\end{{document}}\n")
    command = ["pdflatex", "-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stdout.decode(errors="replace")[-2000:]

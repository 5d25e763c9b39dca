"""`peercorpus publish --latex`: the column `latex` of the configuration `texts`."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from commands import Run
from invented_tables import ICLR, invented, paper, review, text, version
from peercorpus.records.enums import Grade
from peercorpus.workspace.raw_store import RawKind, RawObject

pytestmark = pytest.mark.slow

MARKDOWN = "# On herbs\n\nAbout 5% of $≤$; write to ada\\@kites.example."


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace of one paper with a text."""
    records = [paper("f1"), review("f1"), version("f1", "a" * 64, Grade.EXACT), text("a" * 64, MARKDOWN)]
    with invented(tmp_path / "corpus", {ICLR: records}) as workspace:
        workspace.raw.add([RawObject(RawKind.NOTE, "f1", 2, ICLR, "f1", "f1", 1, 1, "invented", b"{}")])
    monkeypatch.setattr("peercorpus.pipeline.build.require_built", lambda *_, **__: None)
    return tmp_path / "corpus"


def texts_of(release: Path) -> list[dict[str, Any]]:
    return [row for path in (release / "data" / "texts").glob("*.parquet") for row in pq.read_table(path).to_pylist()]


def test_texts_are_latex_on_request(corpus: Path, run: Run) -> None:
    release = corpus.parent / "release"
    asked = ("publish", "--workspace", corpus, "--splits", "none", "--out", release)
    assert run(*asked).code == 0
    assert [row["latex"] for row in texts_of(release)] == [None]
    assert run(*asked, "--latex").code == 0
    (row,) = texts_of(release)
    assert "About 5\\% of $\\leq$; write to [e-mail].\n\\end{document}\n" in row["latex"]
    assert row["markdown"] == MARKDOWN
    assert run(*asked).code == 0
    assert [row["latex"] for row in texts_of(release)] == [None], "a release with LaTeX stands where none was asked for"

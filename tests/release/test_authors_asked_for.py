"""`peercorpus publish` over a release that differs only in whether it names the authors."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from commands import Run
from invented_tables import ICLR, invented, paper, review
from peercorpus.workspace.raw_store import RawKind, RawObject

ADA = "Ada Example"


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace of one paper that names its author."""
    with invented(tmp_path / "corpus", {ICLR: [paper("f1", authors=(ADA,)), review("f1")]}) as workspace:
        workspace.raw.add([RawObject(RawKind.NOTE, "f1", 2, ICLR, "f1", "f1", 1, 1, "invented", b"{}")])
    monkeypatch.setattr("peercorpus.pipeline.build.require_built", lambda *_, **__: None)
    return tmp_path / "corpus"


def named(release: Path) -> list[str]:
    """Return the authors named in a release."""
    rows: list[dict[str, Any]] = [row for path in release.rglob("*.parquet") for row in pq.read_table(path).to_pylist()]
    return sorted({name for row in rows for name in row.get("authors") or ()})


@pytest.mark.parametrize("is_dated", [False, True])
def test_a_release_with_authors_is_not_kept_if_none_are_requested(corpus: Path, run: Run, *, is_dated: bool) -> None:
    out = () if is_dated else ("--out", corpus.parent / "release")
    asked = ("publish", "--workspace", corpus, "--splits", "none", *out)
    made: list[list[str]] = []
    for options in ([], ["--no-authors"], ["--no-authors"], []):
        assert run(*asked, *options).code == 0
        releases = sorted((corpus / "releases").glob("2*")) if is_dated else [corpus.parent / "release"]
        made.append(named(releases[-1]))
    assert made == [[ADA], [], [], [ADA]], "a release names authors who were not to be named, or the other way round"

"""A workspace with a venue that is not built is never read as if it were whole."""

import json
import shutil
from pathlib import Path

import pytest

import peercorpus
from commands import assert_refused, run_command
from peercorpus.errors import TableError
from raw_forums import PAPER, V


@pytest.fixture
def corpus(demo_folder: Path, tmp_path: Path) -> Path:
    """A built workspace into which the submission of another venue was imported."""
    folder = shutil.copytree(demo_folder / "corpus", tmp_path / "corpus")
    (tmp_path / "notes.json").write_text(json.dumps([PAPER]))
    assert run_command("import", tmp_path / "notes.json", "-w", folder).code == 0
    return folder


@pytest.mark.parametrize(
    "command",
    [("sql", "select 1"), ("table1",), ("report",), ("explore", "--no-browser"), ("mcp",), ("publish",)],
    ids=" ".join,
)
def test_a_venue_that_is_not_built_is_named(corpus: Path, command: tuple[str, ...]) -> None:
    assert_refused(run_command(*command, "-w", corpus), V, "run 'peercorpus build'")


def test_named_venues_are_read_without_the_others(corpus: Path) -> None:
    ended = run_command("table1", "-w", corpus, "--where", "venue=JLE", "--json")
    assert (ended.code, json.loads(ended.out)["row"]["papers"]) == (0, 2)


def test_python_says_the_same(corpus: Path) -> None:
    opened = peercorpus.open(corpus)
    with pytest.raises(TableError, match=V):
        opened.sql("select 1")
    with pytest.raises(TableError, match=V):
        opened.statistics("papers_and_reviews")
    assert opened.statistics("papers_and_reviews", where="venue=JLE").height == 1

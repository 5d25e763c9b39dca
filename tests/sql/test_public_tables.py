"""Public tables are not shown after a take-down: from SQL in Python, or through any tool of the MCP server."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from peercorpus.corpus.takedown import read_list
from peercorpus.errors import PeercorpusError
from peercorpus.mcp_server.tools import CorpusTools
from peercorpus.sql import public_tables
from peercorpus.sql.public_tables import PublicSql, PublicTables
from peercorpus.sql.query import Database
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import open_workspace


class CountingDatabase:
    """Stands in for the tables: counts the statements that reach it."""

    names = ("papers_full", "reviews")

    def __init__(self) -> None:
        self.asked = 0

    def frame(self, *_: Any, **__: Any) -> None:
        self.asked += 1

    def ask(self, *_: Any, **__: Any) -> None:
        self.asked += 1


def opened(folder: Path) -> tuple[PublicTables, CountingDatabase]:
    counting = CountingDatabase()
    return PublicTables("0" * 64, cast(Database, counting), workspace=folder), counting


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with open_workspace(tmp_path / "w", create=True) as workspace:
        workspace.raw.add([RawObject(RawKind.NOTE, "f1", 2, "V", "f1", "f1", 1, 1, "invented", b"{}")])
    return tmp_path / "w"


def test_a_changed_list_stops_tables_made_before_it(folder: Path) -> None:
    tables, _ = opened(folder)
    tables.check()
    (folder / "takedown.txt").write_text("f1\n")
    with pytest.raises(PeercorpusError, match="take-down list has changed"):
        tables.check()
    replace(tables, taken_down=("f1",)).check()
    (folder / "takedown.txt").unlink()
    with pytest.raises(PeercorpusError, match="take-down list has changed"):
        replace(tables, taken_down=("f1",)).check()


ASKED: dict[str, tuple[Any, ...]] = {
    "describe_corpus": (),
    "search_papers": (),
    "search_criticisms": (),
    "read_paper": ("f1",),
    "read_reviews": ("f1",),
    "read_posts": ("f1",),
    "read_conversation": ("f1/R1",),
    "read_text": ("f1",),
    "read_scores": ("f1",),
    "statistics": (),
    "query_sql": ("SELECT 1",),
}


def test_no_tool_answers_after_a_takedown(folder: Path) -> None:
    tables, counting = opened(folder)
    tools: list[Callable[..., Any]] = CorpusTools(tables).every()
    assert {tool.__name__ for tool in tools} == set(ASKED)
    (folder / "takedown.txt").write_text("f1\n")
    for tool in tools:
        with pytest.raises(PeercorpusError, match="take-down list has changed"):
            tool(*ASKED[tool.__name__])
    assert counting.asked == 0


def test_tables_reopen_after_a_takedown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lists: list[tuple[str, ...]] = []

    @contextmanager
    def open_tables(where: Path) -> Iterator[PublicTables]:
        tables, _ = opened(where)
        lists.append(tuple(read_list(where)))
        yield tables

    monkeypatch.setattr(public_tables, "open_public_tables", open_tables)
    monkeypatch.setattr(public_tables, "require_engine", lambda: None)
    sql = PublicSql(folder)
    for _ in range(2):
        sql.frame("SELECT 1", 1)
    (folder / "takedown.txt").write_text("f1\n")
    for _ in range(2):
        sql.frame("SELECT 1", 1)
    (folder / "takedown.txt").write_text("f2\n")
    sql.frame("SELECT 1", 1)
    assert lists == [(), ("f1",), ("f2",)]

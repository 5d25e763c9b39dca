"""Query the tables of a corpus: each query runs in its own process, which is killed at the time limit."""

import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa

from peercorpus.errors import MissingExtraError, PeercorpusError
from peercorpus.execution.requests import STATEMENT_TIMEOUT_S
from peercorpus.sql.worker import STATEMENT_CHARS, Reply, Request

if TYPE_CHECKING:
    import polars as pl

TIME_LIMIT_S = 20.0
"""Seconds after which a query is stopped."""
MAX_TIME_LIMIT_S = 86_400
"""Maximum time limit of a query; our choice."""
MOST_OFFSET = 1_000_000
"""Maximum number of rows to skip."""
ALLOCATORS = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2"}
"""Environment of the process: Arrow's own allocator and the C library's reserve 1 GiB and 64 MiB a thread unused, which
would count as memory of a query because the address space is limited."""


def require_engine() -> None:
    """Check that DuckDB is installed.

    Raises:
        MissingExtraError: It is not.
    """
    if find_spec("duckdb") is None:
        raise MissingExtraError("duckdb", "web")


@dataclass(frozen=True, slots=True)
class Database:
    """Tables that can be queried in SQL; one query runs at a time.

    Attributes:
        tables: The Parquet files of each table with rows.
        empty: The Arrow schema of each table without rows.
        time_limit_s: Seconds after which a query is stopped.
    """

    tables: dict[str, list[Path]]
    empty: dict[str, pa.Schema] = field(default_factory=dict)
    time_limit_s: float = TIME_LIMIT_S
    _turn: threading.Lock = field(default_factory=threading.Lock)

    @property
    def names(self) -> list[str]:
        """The names of all tables."""
        return [*self.tables, *self.empty]

    def ask(
        self,
        sql: str,
        parameters: Sequence[str | int | float | bool | None] = (),
        *,
        is_checked: bool = True,
        offset: int = 0,
        limit: int = 100,
        cell_chars: int = 2_000,
    ) -> Reply:
        """Run a statement.

        Args:
            sql: One SELECT.
            parameters: Values of its placeholders.
            is_checked: Whether it is untrusted and must only select from the tables.
            offset: Rows to skip.
            limit: Maximum number of rows to return.
            cell_chars: Maximum number of characters of a text.

        Raises:
            PeercorpusError: It is refused, fails, or exceeds its limits of time or memory.
        """
        return self._run(
            sql,
            time_limit_s=self.time_limit_s,
            parameters=list(parameters),
            is_checked=is_checked,
            offset=min(offset, MOST_OFFSET),
            limit=limit,
            cell_chars=cell_chars,
        )

    def frame(self, sql: str, *, time_limit_s: float = STATEMENT_TIMEOUT_S) -> "pl.DataFrame":
        """Run one SELECT and return its whole result.

        DuckDB's 128-bit integers, such as sums, become Int64 if they fit, and intervals become Duration. Columns with
        equal names get numbers: `rating`, `rating_1`.

        Raises:
            PeercorpusError: It is refused, fails, exceeds its limits of time or memory, or a column has a type that
                Polars does not know.
        """
        from peercorpus.sql.frames import read_frame

        if not 0 < time_limit_s <= MAX_TIME_LIMIT_S:
            raise PeercorpusError(
                f"The time limit must be above 0 and at most {MAX_TIME_LIMIT_S} s, got {time_limit_s} s."
            )
        with TemporaryDirectory(prefix="peercorpus-sql-") as folder:
            file = Path(folder) / "result.arrow"
            self._run(sql, time_limit_s=time_limit_s, arrow_file=str(file))
            return read_frame(file)

    def _run(self, sql: str, **limits: Any) -> Reply:  # noqa: ANN401 -- the other fields of a request
        if len(sql) > STATEMENT_CHARS:
            raise PeercorpusError(f"A statement has at most {STATEMENT_CHARS:,} characters, got {len(sql):,}.")
        if "\0" in sql:
            raise PeercorpusError("The statement has a character of code 0; leave it out.")
        tables = {name: [str(path.absolute()) for path in paths] for name, paths in self.tables.items()}
        schemas = {name: schema.serialize().to_pybytes() for name, schema in self.empty.items()}
        request = Request(tables, schemas, sql, **limits)
        try:
            content = msgspec.json.encode(request)
        except UnicodeEncodeError:
            raise PeercorpusError("The question has half a character (a lone surrogate); leave it out.") from None
        with self._turn:
            return _run(content, request.time_limit_s)


def _run(content: bytes, time_limit_s: float) -> Reply:
    command = [sys.executable, "-P", "-m", "peercorpus.sql.worker"]
    environment = os.environ | ALLOCATORS
    try:
        ended = subprocess.run(
            command, input=content, capture_output=True, timeout=time_limit_s, check=False, env=environment
        )
    except subprocess.TimeoutExpired:
        raise PeercorpusError(
            f"The query was stopped after {time_limit_s:g} seconds; select fewer rows, or add conditions."
        ) from None
    try:
        reply = msgspec.json.decode(ended.stdout, type=Reply)
    except msgspec.DecodeError:
        raise PeercorpusError(
            "The query exceeded its memory limit, or its process died; select fewer rows or columns."
        ) from None
    if reply.refusal is not None:
        raise PeercorpusError(reply.refusal)
    return reply

"""Run one query in its own process: a request as JSON on standard input, a reply as JSON on standard output.

DuckDB's own limits do not cover every function, so the process itself is limited in memory and processor time, and its
parent kills it at the time limit. Files other than those of the tables cannot be opened. Whatever the syntax tree of a
statement does not show to be harmless is refused: other kinds of statements, files, system tables, table functions.
"""

import json
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from itertools import chain, islice
from math import ceil
from typing import Any

import msgspec

from peercorpus.errors import PeercorpusError

ADDRESS_SPACE_BYTES = 2 << 30
"""Limit of the process's address space."""
CPU_PER_SECOND = 3
"""Limit of processor time per second of the time limit, in case the parent has died."""
MOST_RESULT_BYTES = 1 << 30
"""Largest result written as Arrow."""
_ENGINE_MEMORY = "1GB"
_MOST_COLUMNS = 200
_MOST_IN_LIST = 200
"""Maximum number of elements of a list in a cell; further ones are left out."""
_SAID_IN_FULL = frozenset({"BinderException", "CatalogException", "ParserException", "SyntaxException"})
"""Errors that quote only the statement; others may quote the tables' content."""
_MESSAGE_CHARS = 300
_NAME_CHARS = 200
_BATCH_ROWS = 2_048
STATEMENT_CHARS = 20_000
"""Maximum number of characters in a statement."""
_NODES = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"})
_SOURCES = frozenset({"BASE_TABLE", "SUBQUERY", "JOIN", "TABLE_FUNCTION", "EMPTY", "EXPRESSION_LIST"})
_MODIFIERS = frozenset({"ORDER_MODIFIER", "LIMIT_MODIFIER", "LIMIT_PERCENT_MODIFIER", "DISTINCT_MODIFIER"})
_ORDERS = frozenset({"ORDER_DEFAULT", "ASCENDING", "DESCENDING"})
_ALLOWED = _NODES | _SOURCES | _MODIFIERS | _ORDERS
"""Parts of a tree other than expressions; only these have no `class`."""
_TABLE_FUNCTIONS = frozenset({"range", "generate_series", "unnest"})
_REFUSED_FUNCTIONS = frozenset({"current_setting", "getenv", "write_log"})
"""Functions that reveal data about this machine, or write."""
_CTE_NAME = re.compile(r"(?!duckdb_|pragma_|sqlite_|pg_)[a-z_][a-z0-9_]*")
"""Matches a name that cannot refer to a file or a system table."""


class Request(msgspec.Struct, frozen=True):
    """The request to the process.

    Attributes:
        schemas: The Arrow schema, as IPC, of each table without rows.
        parameters: Values of its placeholders.
        is_checked: Whether it is untrusted and must be a plain SELECT from these tables.
        limit: Maximum number of rows to return.
        cell_chars: Maximum number of characters of a text; the rest is cut off and counted.
        time_limit_s: Seconds after which its parent stops the process.
        arrow_file: Path for writing the whole result as an Arrow IPC file; offset and limits of rows and cells then do
            not apply. None returns the rows in the reply.
    """

    tables: dict[str, list[str]]
    schemas: dict[str, bytes]
    sql: str
    time_limit_s: float = 20.0
    parameters: list[str | int | float | bool | None] = []
    is_checked: bool = True
    offset: int = 0
    limit: int = 0
    cell_chars: int = 0
    arrow_file: str | None = None


class Reply(msgspec.Struct, frozen=True):
    """The reply of the process.

    Attributes:
        refusal: One sentence if the query was refused or failed; None otherwise.
    """

    columns: list[str] = []
    rows: list[list[Any]] = []
    refusal: str | None = None

    def named(self) -> list[dict[str, Any]]:
        """Return each row as a mapping by column."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def check_select(tree: dict[str, Any], tables: Collection[str]) -> None:
    """Check the tree of the whole text that DuckDB's `json_serialize_sql` returns; names of tables are in lower case.

    Raises:
        PeercorpusError: It is not exactly one SELECT, or reads anything else.
    """
    if tree.get("error"):
        if tree.get("error_type") == "parser":
            raise PeercorpusError(f"This is not valid SQL ({tree.get('error_message')}).")
        raise PeercorpusError("Only statements that begin with SELECT, WITH, FROM or VALUES can be run.")
    statements = tree["statements"]
    if len(statements) != 1:
        raise PeercorpusError(f"Exactly one statement can be run, got {len(statements)}.")
    parts = list(_walk(statements))
    names = {key.lower() for part in parts for key in _cte_names(part)}
    unfit = sorted(name for name in names if not _CTE_NAME.fullmatch(name))
    if unfit:
        raise PeercorpusError(
            "The name of a WITH query must consist of letters, digits and underscores; choose another."
        )
    for part in parts:
        _check_part(part, {*tables, *names})


def _walk(tree: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 -- any JSON value
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)


def _kind(part: dict[str, Any]) -> str | None:
    """Return the kind of a part of the tree; None for expressions, which have a class."""
    kind = part.get("type")
    return kind if isinstance(kind, str) and "class" not in part else None


def _cte_names(part: dict[str, Any]) -> Iterator[str]:
    ctes = part.get("cte_map")
    if isinstance(ctes, dict):
        yield from (str(entry["key"]) for entry in ctes.get("map", ()))
    if _kind(part) in {"RECURSIVE_CTE_NODE", "CTE_NODE"}:
        yield str(part.get("cte_name", ""))


def _check_part(part: dict[str, Any], names: Collection[str]) -> None:
    kind = _kind(part)
    if kind == "SHOW_REF":
        raise PeercorpusError(
            "SHOW and DESCRIBE cannot be run; 'peercorpus sql' without a statement lists the tables, and --table NAME"
            " the columns of one."
        )
    if kind is not None and kind not in _ALLOWED:
        raise PeercorpusError(f"A query can only select from the tables of the corpus; it has a part '{kind}'.")
    if kind == "BASE_TABLE":
        path = [str(step).lower() for step in part["qualified_name"]["path"]]
        if len(path) != 1 or path[0] not in names or "at_clause" in part:
            raise PeercorpusError(f"There is no table '{'.'.join(path)[:100]}'; there are: {', '.join(sorted(names))}.")
    function = str(part.get("function_name", "")).lower()
    if kind == "TABLE_FUNCTION":
        called = str(part["function"].get("function_name", "")).lower()
        if called not in _TABLE_FUNCTIONS:
            raise PeercorpusError(f"The table function '{called[:100]}' cannot be called.")
    if function in _REFUSED_FUNCTIONS:
        raise PeercorpusError(f"The function '{function}' cannot be called.")


def limit_process(time_limit_s: float) -> None:
    """Limit the memory of this process, and its processor time in proportion to the time limit."""
    if sys.platform == "win32":
        return
    import resource  # not on Windows

    cpu_s = ceil(time_limit_s * CPU_PER_SECOND)
    for kind, limit in ((resource.RLIMIT_AS, ADDRESS_SPACE_BYTES), (resource.RLIMIT_CPU, cpu_s)):
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _connect(tables: Mapping[str, Sequence[str]], schemas: Mapping[str, bytes]) -> Any:  # noqa: ANN401 -- duckdb has no types
    import duckdb
    import pyarrow as pa

    connection = duckdb.connect(
        config={
            "memory_limit": _ENGINE_MEMORY,
            "threads": 2,
            "temp_directory": "",
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "python_enable_replacements": False,
        }
    )
    connection.execute("SET TimeZone = 'UTC'")
    for name, paths in tables.items():
        listed = ", ".join(map(_quote, paths))
        connection.execute(f'CREATE VIEW "{name}" AS SELECT * FROM read_parquet([{listed}])')
    for name, schema in schemas.items():
        # `empty_table` would import pandas, which takes longer than most queries.
        empty = pa.RecordBatchReader.from_batches(pa.ipc.read_schema(pa.py_buffer(schema)), []).read_all()
        connection.from_arrow(empty).create(name)
    every = ", ".join(_quote(path) for paths in tables.values() for path in paths)
    connection.execute(f"SET allowed_paths = [{every}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def shorten(value: Any, chars: int) -> Any:  # noqa: ANN401 -- any value of a cell
    """Return a value as JSON, with long texts and lists truncated; a truncated text states how much is missing.

    >>> shorten({"a": ["abcdef", b"123", None, 1.5]}, 4)
    {'a': ['abcd…[2 more characters]', '<3 bytes>', None, 1.5]}
    """
    if isinstance(value, str):
        more = len(value) - chars
        return value if more <= 0 else f"{value[:chars]}…[{more} more characters]"
    if isinstance(value, bytes | bytearray):
        return f"<{len(value)} bytes>"
    if isinstance(value, Mapping):
        pairs = islice(value.items(), _MOST_IN_LIST)
        return {
            str(shorten(key if isinstance(key, str) else str(key), chars)): shorten(one, chars) for key, one in pairs
        }
    if isinstance(value, list | tuple | set):
        return [shorten(one, chars) for one in islice(value, _MOST_IN_LIST)]
    if isinstance(value, datetime | date):
        return value.isoformat()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        # JSON has neither NaN nor infinity.
        return value if value - value == 0 else str(value)
    return shorten(str(value), chars)


def answer(request: Request) -> Reply:
    """Run the query of a request.

    Raises:
        PeercorpusError: The statement is refused.
    """
    connection = _connect(request.tables, request.schemas)
    if request.is_checked:
        serialise = "SELECT json_serialize_sql(?::VARCHAR, skip_null := true, skip_empty := true, skip_default := true)"
        ((tree,),) = connection.execute(serialise, [request.sql]).fetchall()
        check_select(json.loads(tree), {*request.tables, *request.schemas})
    result = connection.sql(request.sql, params=list(request.parameters) or None)
    reader = result.to_arrow_reader(_BATCH_ROWS)
    columns = [str(shorten(name, _NAME_CHARS)) for name in reader.schema.names]
    if len(columns) > _MOST_COLUMNS:
        raise PeercorpusError(f"A query can select at most {_MOST_COLUMNS} columns, got {len(columns)}.")
    if request.arrow_file is not None:
        _write_arrow(reader, request.arrow_file)
        return Reply(columns)
    rows = islice(_read_rows(reader), request.offset, request.offset + request.limit)
    return Reply(columns, [[shorten(cell, request.cell_chars) for cell in row] for row in rows])


def _read_rows(batches: Iterable[Any]) -> Iterator[list[Any]]:
    """Yield rows through Arrow, because DuckDB's own conversion of times needs another package."""
    for batch in batches:
        for row in range(batch.num_rows):
            yield [column[row].as_py() for column in batch.columns]


def _write_arrow(reader: Any, path: str) -> None:  # noqa: ANN401 -- pyarrow has no types
    """Write the whole result as an Arrow IPC file.

    Raises:
        PeercorpusError: It is larger than `MOST_RESULT_BYTES`.
    """
    import pyarrow as pa

    size_bytes = 0
    with pa.OSFile(path, "wb") as file, pa.ipc.new_file(file, reader.schema) as writer:
        for batch in reader:
            size_bytes += batch.nbytes
            if size_bytes > MOST_RESULT_BYTES:
                raise PeercorpusError(
                    f"The result is larger than {MOST_RESULT_BYTES >> 20:,} MiB; select fewer rows or columns."
                )
            writer.write_batch(batch)


def explain(error: Exception, files: Iterable[str] = ()) -> str:
    """Return why a query failed, without any content of the tables, but with the file of theirs that is damaged."""
    if isinstance(error, PeercorpusError):
        return str(error)
    name = type(error).__name__
    if isinstance(error, MemoryError) or name == "OutOfMemoryException":
        return "The query exceeded its memory limit; select fewer rows or columns."
    if name in _SAID_IN_FULL:
        message = " ".join(re.sub(r"(?<!\n)\n++LINE \d+:.*", "", str(error), flags=re.DOTALL).split())
        return f"The query cannot be run ({message[:_MESSAGE_CHARS]})."
    if isinstance(error, RecursionError):
        return "The query is nested too deeply; simplify it."
    damaged = next((path for path in files if path in str(error)), None)
    if damaged is not None:
        return f"'{damaged}' is missing or damaged ({name}); take an intact copy."
    return f"The query failed while running ({name}); check casts and the values passed to functions."


def main() -> None:
    """Run the request from standard input."""
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=Request)
    limit_process(request.time_limit_s)
    try:
        reply = answer(request)
        content = msgspec.json.encode(reply)
    except Exception as error:  # noqa: BLE001 -- includes duckdb's own errors, all reported to the caller
        content = msgspec.json.encode(Reply(refusal=explain(error, chain.from_iterable(request.tables.values()))))
    sys.stdout.buffer.write(content)


if __name__ == "__main__":
    main()

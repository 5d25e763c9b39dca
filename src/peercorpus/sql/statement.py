"""Check by its syntax tree that an SQL statement only reads permitted tables.

Everything that is not known to be harmless is refused: other kinds of statements, files, system tables, table
functions.
"""

import re
from collections.abc import Collection, Iterator
from typing import Any

from peercorpus.errors import PeercorpusError

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


def check_select(tree: dict[str, Any], tables: Collection[str]) -> None:
    """Check the tree returned by DuckDB's `json_serialize_sql`.

    Args:
        tree: The tree of the whole text.
        tables: Names of permitted tables, in lower case.

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

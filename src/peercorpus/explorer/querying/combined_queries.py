"""Combine queries."""

from collections.abc import Sequence

from tantivy import Occur, Query


def require_all(queries: Sequence[Query]) -> Query:
    """Return the query for documents that all of these find; there is at least one."""
    return queries[0] if len(queries) == 1 else Query.boolean_query([(Occur.Must, query) for query in queries])


def require_any(queries: Sequence[Query]) -> Query:
    """Return the query for documents that any of these finds."""
    if not queries:
        return Query.empty_query()
    return queries[0] if len(queries) == 1 else Query.boolean_query([(Occur.Should, query) for query in queries])

"""Query `raw.db` about venues: one by one, or once for many small venues together."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from typing import Any

ASKED = "WITH asked (venue_id) AS (SELECT value FROM json_each(?))"
"""Start of every query: the venues in question."""

GROUP_OBJECTS = 4_000
"""Maximum versions of objects of venues that are queried together; our choice, some megabytes of results."""

Row = tuple[Any, ...]


class RawQuestions:
    """Queries about venues, on the connection of a `RawStore`."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._db = database
        self._groups: Mapping[str, tuple[str, ...]] = {}
        self._asked: tuple[str, ...] = ()
        self._answers: dict[Row, Mapping[str, list[Row]]] = {}

    @contextmanager
    def reading_through(self, venue_ids: Iterable[str]) -> Iterator[None]:
        """Query many small venues together in the context, in which callers query them one after another in this order.

        Rows stored meanwhile may or may not be in the results.
        """
        self._groups = {venue_id: group for group in self._form_groups(venue_ids) for venue_id in group}
        try:
            yield
        finally:
            self._groups, self._asked, self._answers = {}, (), {}

    def _form_groups(self, venue_ids: Iterable[str]) -> Iterator[tuple[str, ...]]:
        """Yield the venues in groups of at most `GROUP_OBJECTS`; a larger venue forms its own group."""
        sql = "SELECT venue_id, count(*) FROM objects INDEXED BY objects_by_forum GROUP BY venue_id"
        numbers: dict[str, int] = dict(self._db.execute(sql))
        group: list[str] = []
        held = 0
        for venue_id in venue_ids:
            number = 1 + numbers.get(venue_id, 0)
            if group and held + number > GROUP_OBJECTS:
                yield tuple(group)
                group, held = [], 0
            group.append(venue_id)
            held += number
        if group:
            yield tuple(group)

    def rows(self, sql: str, venue_id: str, *values: object, is_short: bool = False) -> Iterator[Row]:
        """Return the rows of a query for one venue, without their first column.

        Args:
            sql: The query after `ASKED`; its first column is the venue. Rows of one venue keep the order of the result.
            venue_id: The venue.
            values: Parameters of the query, after the venues.
            is_short: Whether the result is small however large a venue is, so that it is cached even for a large venue.
        """
        group = self._groups.get(venue_id, ())
        if not group or (len(group) == 1 and not is_short):
            group = (venue_id,)
            return (row[1:] for row in self._ask(sql, group, values))
        if group != self._asked:
            self._asked, self._answers = group, {}
        question = (sql, *values)
        answers = self._answers.get(question)
        if answers is None:
            found: defaultdict[str, list[Row]] = defaultdict(list)
            for held_id, rows in groupby(self._ask(sql, group, values), key=itemgetter(0)):
                found[held_id] += (row[1:] for row in rows)
            answers = self._answers[question] = found
        return iter(answers.get(venue_id, ()))

    def _ask(self, sql: str, venue_ids: tuple[str, ...], values: tuple[object, ...]) -> Iterator[Row]:
        return self._db.cursor().execute(f"{ASKED} {sql}", (json.dumps(venue_ids), *values))

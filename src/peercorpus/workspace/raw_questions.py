"""Ask `raw.db` about venues: one by one, or each question once for many small venues together."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from typing import Any

ASKED = "WITH asked (venue_id) AS (SELECT value FROM json_each(?))"
"""Beginning of every question: the venues that are asked about."""

GROUP_OBJECTS = 4_000
"""Versions of objects of the venues that are asked about together; our choice, some megabytes of answers."""

Row = tuple[Any, ...]


class RawQuestions:
    """Answers about venues, on the connection of a `RawStore`."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._db = database
        self._groups: Mapping[str, tuple[str, ...]] = {}
        self._asked: tuple[str, ...] = ()
        self._answers: dict[Row, Mapping[str, list[Row]]] = {}

    @contextmanager
    def reading_through(self, venue_ids: Iterable[str]) -> Iterator[None]:
        """Ask about many small venues together inside, where one after the other is asked about in this order.

        What is stored meanwhile may be in an answer or not.
        """
        self._groups = {venue_id: group for group in self._form_groups(venue_ids) for venue_id in group}
        try:
            yield
        finally:
            self._groups, self._asked, self._answers = {}, (), {}

    def _form_groups(self, venue_ids: Iterable[str]) -> Iterator[tuple[str, ...]]:
        """Yield the venues in groups of at most `GROUP_OBJECTS`; a larger venue is a group of its own."""
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
        """Return the rows of a question for one venue, without their first column.

        Args:
            sql: Goes on after `ASKED`; the first column is the venue. Rows of one venue are in the order of all.
            venue_id: The venue.
            values: Values of the question, after the venues.
            is_short: Whether the answer is short however large a venue is, so that it is kept of one as well.
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

"""Works: submissions that links join, and what became of the same work at each try."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from statistics import fmean
from typing import Any

import msgspec

from peercorpus.chosen import chosen_score, unified_rating
from peercorpus.file_records import Link
from peercorpus.kinds import Aspect
from peercorpus.records import Score
from peercorpus.tables import Tables

REVIEW_COLUMNS = ("forum_id", "scores", "readers_public", "deleted")
PAPER_COLUMNS = ("forum_id", "conference", "year", "created_at", "status", "decision")


@dataclass(frozen=True, slots=True)
class Try:
    """One submission of a work that was submitted more than once.

    Attributes:
        work_id: The smallest forum id of the work's submissions.
        try_number: Which of them it is, from 1, in the order in which they were created; None where one of them has no
            date.
        tries: How many there are.
        status: None where the decision is not public.
        decision: The verdict, verbatim.
        ratings: Overall recommendations of its public reviews as they stand now, on the venue's own scale.
        unified: The same on Re²'s scale of 1 to 10, one for each of `ratings`; None where the form's words do not tell.
        mean_unified: The mean of those that are known; None where none is.
    """

    work_id: str
    try_number: int | None
    tries: int
    forum_id: str
    venue_id: str
    conference: str
    year: int | None
    created_at: datetime | None
    status: str | None
    decision: str | None
    ratings: tuple[float, ...]
    unified: tuple[float | None, ...]
    mean_unified: float | None


def read_links(tables: Tables) -> list[Link]:
    """Every link of a workspace, by venue, then by forum."""
    return [link for venue_id in tables.venues("8-links") for link in tables.read(Link, venue_id)]


def works_of(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The work of every forum that a link names: what links join, directly or through others, is one.

    >>> works_of([("c", "b"), ("e", "d"), ("a", "c")])
    {'c': 'a', 'b': 'a', 'e': 'd', 'd': 'd', 'a': 'a'}
    """
    above: dict[str, str] = {}

    def top(forum_id: str) -> str:
        while above.setdefault(forum_id, forum_id) != forum_id:
            above[forum_id] = forum_id = above[above[forum_id]]
        return forum_id

    for one, other in pairs:
        first, second = sorted((top(one), top(other)))
        above[second] = first
    return {forum_id: top(forum_id) for forum_id in [*above]}


def a_try(submission: Mapping[str, Any], ratings: Iterable[tuple[float | None, float | None]]) -> Try:
    """A submission as a work of its own.

    Args:
        submission: Its columns of the same names.
        ratings: Of each of its reviews, on the venue's own scale and on Re²'s; reviews without a rating do not count.
    """
    rated = [(rating, unified) for rating, unified in ratings if rating is not None]
    known = [unified for _, unified in rated if unified is not None]
    return Try(
        submission["forum_id"],
        1,
        1,
        submission["forum_id"],
        submission["venue_id"],
        submission["conference"],
        submission["year"],
        submission["created_at"],
        submission["status"],
        submission["decision"],
        tuple(float(rating) for rating, _ in rated),
        tuple(unified for _, unified in rated),
        fmean(known) if known else None,
    )


def numbered(submissions: Iterable[Try], works: Mapping[str, str]) -> list[Try]:
    """The tries of every work of which there are two or more, by work, and in their order.

    Args:
        submissions: Each as a work of its own.
        works: The work of each that a link names; its id may be that of a submission that is not among them.
    """
    members: dict[str, list[Try]] = defaultdict(list)
    for one in submissions:
        if one.forum_id in works:
            members[works[one.forum_id]].append(one)
    tries = [one for group in members.values() if len(group) > 1 for one in _in_order(group)]
    return sorted(tries, key=lambda one: one.work_id)


def _in_order(group: Sequence[Try]) -> Iterator[Try]:
    work_id = min(one.forum_id for one in group)
    ordered = sorted(group, key=lambda one: one.forum_id)
    is_dated = all(one.created_at is not None for one in group)
    if is_dated:
        ordered.sort(key=lambda one: one.created_at or datetime.max.replace(tzinfo=UTC))
    for number, one in enumerate(ordered, 1):
        yield replace(one, work_id=work_id, try_number=number if is_dated else None, tries=len(group))


def read_tries(tables: Tables) -> list[Try]:
    """The tries of every work of a workspace; only public reviews count."""
    links = read_links(tables)
    works = works_of((link.earlier_id, link.forum_id) for link in links)
    venue_ids = sorted({one for link in links for one in (link.venue_id, link.earlier_venue_id)})
    return numbered((one for venue_id in venue_ids for one in _tries_at(tables, venue_id, works)), works)


def _tries_at(tables: Tables, venue_id: str, works: Mapping[str, str]) -> Iterator[Try]:
    ratings: dict[str, list[tuple[float | None, float | None]]] = defaultdict(list)
    for row in _rows(tables, "2-reviews", venue_id, REVIEW_COLUMNS):
        if row["forum_id"] in works and row["readers_public"] and not row["deleted"]:
            scores = msgspec.convert(row["scores"], list[Score])
            rating = chosen_score(scores, Aspect.RECOMMENDATION, "rating")
            ratings[row["forum_id"]].append((rating.value if rating else None, unified_rating(scores)))
    for row in _rows(tables, "1-papers", venue_id, PAPER_COLUMNS):
        if row["forum_id"] in works:
            yield a_try(row | {"venue_id": venue_id}, ratings[row["forum_id"]])


def _rows(tables: Tables, name: str, venue_id: str, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    for batch in tables.batches(name, venue_id, columns):
        yield from batch.to_pylist()

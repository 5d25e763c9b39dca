"""Group linked submissions into works, and number the submissions of each work by date.

A work is a set of submissions of the same paper, directly or indirectly linked. Each of its submissions is an attempt.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from statistics import fmean
from typing import Any

import msgspec

from peercorpus.records.enums import Aspect
from peercorpus.records.papers import Link
from peercorpus.records.scores import Score, choose_score, unified_rating
from peercorpus.workspace.delta_tables import Tables

_REVIEW_COLUMNS = ("forum_id", "scores", "readers_public", "deleted")
_PAPER_COLUMNS = ("forum_id", "conference", "year", "created_at", "status", "decision")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One submission of a work that was submitted more than once.

    Attributes:
        work_id: The smallest forum id among the work's submissions.
        try_number: Position among the work's submissions by date of creation, from 1; None if one of them has no date.
        tries: Number of the work's submissions.
        status: None if the decision is not public.
        decision: The decision, verbatim.
        ratings: Current overall recommendations of its public reviews, on the venue's own scale.
        unified: Each of `ratings` on Re²'s scale of 1 to 10; None if the wording of the form does not determine it.
        mean_unified: Mean of the known values of `unified`; None if there are none.
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
    """Return every link of a workspace, sorted by venue and forum."""
    return [link for venue_id in tables.venues("8-links") for link in tables.read(Link, venue_id)]


def name_other(link: Link, forum_id: str) -> tuple[str, str]:
    """Return the id and the venue of the paper at the other end of a link."""
    is_later = link.forum_id == forum_id
    return (link.earlier_id, link.earlier_venue_id) if is_later else (link.forum_id, link.venue_id)


def group_into_works(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Map every forum that a link names to its work: the smallest forum id it is connected with.

    >>> group_into_works([("c", "b"), ("e", "d"), ("a", "c")])
    {'c': 'a', 'b': 'a', 'e': 'd', 'd': 'd', 'a': 'a'}
    """
    parents: dict[str, str] = {}  # union-find, with the smallest id as root

    def root(forum_id: str) -> str:
        while parents.setdefault(forum_id, forum_id) != forum_id:
            parents[forum_id] = forum_id = parents[parents[forum_id]]
        return forum_id

    for left, right in pairs:
        smaller, larger = sorted((root(left), root(right)))
        parents[larger] = smaller
    return {forum_id: root(forum_id) for forum_id in [*parents]}


def make_attempt(submission: Mapping[str, Any], ratings: Iterable[tuple[float | None, float | None]]) -> Attempt:
    """Return a submission as the only attempt of its work.

    Args:
        submission: Its columns, named as the fields of `Attempt`.
        ratings: The rating of each of its reviews on the venue's own scale and on Re²'s; a review whose first value is
            None is left out.
    """
    rated = [(rating, unified) for rating, unified in ratings if rating is not None]
    unified_ratings = [unified for _, unified in rated if unified is not None]
    return Attempt(
        work_id=submission["forum_id"],
        try_number=1,
        tries=1,
        forum_id=submission["forum_id"],
        venue_id=submission["venue_id"],
        conference=submission["conference"],
        year=submission["year"],
        created_at=submission["created_at"],
        status=submission["status"],
        decision=submission["decision"],
        ratings=tuple(float(rating) for rating, _ in rated),
        unified=tuple(unified for _, unified in rated),
        mean_unified=fmean(unified_ratings) if unified_ratings else None,
    )


def number_attempts(submissions: Iterable[Attempt], works: Mapping[str, str]) -> list[Attempt]:
    """Return the attempts of every work with two or more submissions, sorted by work and number.

    Submissions are each the only attempt of its work (`make_attempt`); a work's id may be that of another submission.
    """
    members: dict[str, list[Attempt]] = defaultdict(list)
    for submission in submissions:
        if submission.forum_id in works:
            members[works[submission.forum_id]].append(submission)
    attempts = [attempt for group in members.values() if len(group) > 1 for attempt in _number_in_order(group)]
    return sorted(attempts, key=lambda attempt: attempt.work_id)


def _number_in_order(group: Sequence[Attempt]) -> Iterator[Attempt]:
    work_id = min(attempt.forum_id for attempt in group)
    ordered = sorted(group, key=lambda attempt: attempt.forum_id)
    is_dated = all(attempt.created_at is not None for attempt in group)
    if is_dated:
        ordered.sort(key=lambda attempt: attempt.created_at or datetime.max.replace(tzinfo=UTC))
    for number, attempt in enumerate(ordered, 1):
        yield replace(attempt, work_id=work_id, try_number=number if is_dated else None, tries=len(group))


def read_attempts(tables: Tables) -> list[Attempt]:
    """Return the attempts of every work of a workspace, with the ratings of public reviews only."""
    links = read_links(tables)
    works = group_into_works((link.earlier_id, link.forum_id) for link in links)
    venue_ids = sorted({venue_id for link in links for venue_id in (link.venue_id, link.earlier_venue_id)})
    submissions = (attempt for venue_id in venue_ids for attempt in _read_attempts_at(tables, venue_id, works))
    return number_attempts(submissions, works)


def _read_attempts_at(tables: Tables, venue_id: str, works: Mapping[str, str]) -> Iterator[Attempt]:
    ratings: dict[str, list[tuple[float | None, float | None]]] = defaultdict(list)
    for row in _read_rows(tables, "2-reviews", venue_id, _REVIEW_COLUMNS):
        if row["forum_id"] in works and row["readers_public"] and not row["deleted"]:
            scores = msgspec.convert(row["scores"], list[Score])
            rating = choose_score(scores, Aspect.RECOMMENDATION, "rating")
            ratings[row["forum_id"]].append((rating.value if rating else None, unified_rating(scores)))
    for row in _read_rows(tables, "1-papers", venue_id, _PAPER_COLUMNS):
        if row["forum_id"] in works:
            yield make_attempt(row | {"venue_id": venue_id}, ratings[row["forum_id"]])


def _read_rows(tables: Tables, name: str, venue_id: str, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    for batch in tables.batches(name, venue_id, columns):
        yield from batch.to_pylist()

"""What a venue's tables hold and what they lack: papers without reviews, reviews without a rating, dangling replies."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from peercorpus.harvest.inventory import EXAMPLES, Named
from peercorpus.kinds import Aspect, Grade, Reason, Status
from peercorpus.tables import Tables

NORMALISE = "normalise"
"""The stage that sets notes aside."""

ODD_TITLE = re.compile(r"<[A-Za-z/!][^<>]*>|\.\.[/\\]|^/|^[A-Za-z]:\\|^\s*$")
"""Markup, a path, or nothing."""

UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and those that turn the direction of writing."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """What was read of a venue's notes.

    Attributes:
        papers: By status.
        without_reviews: Papers with no review that is public and not deleted, by status.
        reviews: Public and not deleted.
        without_rating: Those of them with no recommendation that is a number.
        dangling_replies: Replies to a note that is not held, or deleted.
        deleted: Notes that OpenReview marks as deleted.
        not_public: Notes that not everyone may read, which the account was shown.
        listed_twice: Titles of papers that stand in the record more than once.
        odd_titles: Titles that are markup, a path or nothing, or hold control characters.
    """

    papers: Mapping[Status, int]
    without_reviews: Mapping[Status, int]
    reviews: int
    without_rating: int
    dangling_replies: int
    deleted: int
    not_public: int
    listed_twice: Named
    odd_titles: Named


@dataclass(frozen=True, slots=True)
class PdfCoverage:
    """What is known of a venue's PDFs.

    Attributes:
        known: PDFs that submissions and their edits name.
        here: Those whose file is in the workspace.
        never_asked: Those whose file was never asked for.
        papers: Those that have a PDF.
        grades: Papers by how sure it is which version the reviewers read.
        without_deadline: Papers with a PDF of which no deadline is known.
    """

    papers: int
    known: int
    here: int
    never_asked: int
    grades: Mapping[Grade, int]
    without_deadline: int


@dataclass(frozen=True, slots=True)
class _Reviews:
    forums: frozenset[str]
    count: int
    without_rating: int


@dataclass(frozen=True, slots=True)
class _Posts:
    dangling: int
    deleted: int
    not_public: int


def _rows(tables: Tables, name: str, venue_id: str, columns: list[str]) -> Iterator[tuple[Any, ...]]:
    for batch in tables.batches(name, venue_id, columns):
        yield from zip(*(batch.column(column).to_pylist() for column in columns), strict=True)


def read_statuses(tables: Tables, venue_id: str) -> dict[str, Status]:
    """What became of each paper, by forum."""
    return {
        forum_id: Status(status) for forum_id, status in _rows(tables, "1-papers", venue_id, ["forum_id", "status"])
    }


def read_coverage(tables: Tables, venue_id: str, statuses: Mapping[str, Status]) -> Coverage:
    """Count what was read of a venue's notes.

    Args:
        tables: Of the workspace.
        venue_id: The venue.
        statuses: Of its papers, by forum.
    """
    reviews, posts = _read_reviews(tables, venue_id), _read_posts(tables, venue_id)
    bare = Counter(status for forum_id, status in statuses.items() if forum_id not in reviews.forums)
    aside = tables.set_aside_counts(venue_id, NORMALISE)
    twice, odd = _read_titles(tables, venue_id)
    return Coverage(
        papers=dict(sorted(Counter(statuses.values()).items())),
        without_reviews=dict(sorted(bare.items())),
        reviews=reviews.count,
        without_rating=reviews.without_rating,
        dangling_replies=posts.dangling,
        deleted=posts.deleted + aside.get(Reason.DELETED, 0),
        not_public=posts.not_public + aside.get(Reason.NOT_PUBLIC, 0),
        listed_twice=twice,
        odd_titles=odd,
    )


def _read_reviews(tables: Tables, venue_id: str) -> _Reviews:
    forums: set[str] = set()
    count = without_rating = 0
    columns = ["forum_id", "readers_public", "deleted", "scores"]
    for forum_id, is_public, is_deleted, scores in _rows(tables, "2-reviews", venue_id, columns):
        if is_public and not is_deleted:
            forums.add(forum_id)
            count += 1
            without_rating += not any(map(_is_rating, scores))
    return _Reviews(frozenset(forums), count, without_rating)


def _is_rating(score: Mapping[str, Any]) -> bool:
    return score["aspect"] == Aspect.RECOMMENDATION and score["value"] is not None


def _read_posts(tables: Tables, venue_id: str) -> _Posts:
    """Count a forum at a time; the posts of one lie together."""
    dangling = deleted = not_public = 0
    rows = _rows(tables, "3-posts", venue_id, ["forum_id", "post_id", "reply_to", "deleted", "readers_public"])
    for _, group in groupby(rows, key=itemgetter(0)):
        posts = list(group)
        held = {post_id for _, post_id, _, is_deleted, _ in posts if not is_deleted}
        answered = (reply_to for _, _, reply_to, is_deleted, _ in posts if not is_deleted and reply_to is not None)
        dangling += sum(reply_to not in held for reply_to in answered)
        deleted += len(posts) - len(held)
        not_public += sum(not is_public for *_, is_public in posts)
    return _Posts(dangling, deleted, not_public)


def _read_titles(tables: Tables, venue_id: str) -> tuple[Named, Named]:
    """Papers that share title and number (where none is known, authors) with another, and titles that are odd."""
    papers: Counter[tuple[str, object]] = Counter()
    odd: list[str] = []
    for title, number, authors in _rows(tables, "1-papers", venue_id, ["title", "number", "authors"]):
        if title is None:
            continue
        papers[" ".join(title.split()).casefold(), tuple(authors) if number is None else number] += 1
        if ODD_TITLE.search(title) or UNPRINTABLE.search(title):
            odd.append(title)
    twice = [title for (title, _), count in papers.items() for _ in range(count - 1)]
    return Named(len(twice), sorted(set(twice))[:EXAMPLES]), Named(len(odd), sorted(odd)[:EXAMPLES])


def read_pdf_coverage(tables: Tables, venue_id: str, asked: frozenset[str]) -> PdfCoverage:
    """Count what is known of a venue's PDFs.

    Args:
        tables: Of the workspace.
        venue_id: The venue.
        asked: Paths of files that were asked for and not had.
    """
    grades: Counter[Grade] = Counter()
    papers: set[str] = set()
    undated: set[str] = set()
    known = here = never_asked = 0
    columns = ["forum_id", "path", "sha256", "grade", "evidence"]
    for forum_id, path, sha256, grade, evidence in _rows(tables, "4-versions", venue_id, columns):
        if not path.startswith("/"):
            # The text of a published dataset, which is no PDF.
            continue
        papers.add(forum_id)
        known += 1
        here += sha256 is not None
        never_asked += sha256 is None and path not in asked
        if grade is not None:
            grades[Grade(grade)] += 1
        if evidence["deadline"] is None:
            undated.add(forum_id)
    in_order = {grade: grades[grade] for grade in Grade if grades[grade]}
    return PdfCoverage(len(papers), known, here, never_asked, in_order, len(undated))

"""Common form of the statements of other layouts' records about a paper; missing statements are None."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from peercorpus.records.enums import PostKind, Role, Status

Row = dict[str, Any]
"""A row of a table, or a JSON object: values by name."""


class DamagedRow(Row):
    """A row without values, in place of one that cannot be read.

    Attributes:
        reason: Why it cannot be read, in the same words for all rows with this damage.
        name: Which row it is, with the details of its damage.
    """

    def __init__(self, reason: str, name: str) -> None:
        """Set the attributes."""
        super().__init__()
        self.reason, self.name = reason, name


FORUM_ID = re.compile(r"(?=[\w-]*[A-Za-z])[A-Za-z0-9_-]{8,14}")
"""Matches an id with the length and characters of OpenReview's."""

FORUM_URL = re.compile(r"(?<![\w-])openreview\.net/(?:forum|pdf)\?(?:[^#\s]{0,500}?&)?id=(?P<id>[\w-]+)")
OUTSIDE_AN_ID = re.compile(r"[^\w-]+")


class LayoutBody(msgspec.Struct, frozen=True):
    """The body of a record in `raw.db`: the content of the files on one paper, verbatim.

    Attributes:
        conference_year_track: Where the paper was submitted, as named in the files or their folder.
        parts: The content of each file, or each row of a table, on the paper.
    """

    paper_id: str
    parts: dict[str, Any]
    conference_year_track: str | None = None


@dataclass(frozen=True, slots=True)
class StatedReview:
    """One review.

    Attributes:
        answers: Scores and texts by their names in the layout.
        scores: Names of the answers that the layout itself treats as scores.
        extra: Values that are neither score nor text.
        unrated: Names of the answers whose number stands for "no rating" in the layout.
    """

    answers: Mapping[str, Any]
    review_id: str | None = None
    reviewer: str | None = None
    response: str | None = None
    scores: frozenset[str] = frozenset()
    extra: Mapping[str, Any] = field(default_factory=dict)
    unrated: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class StatedPost:
    """A post that is not a review."""

    kind: PostKind
    role: Role
    signature: str
    title: str | None
    text: str


@dataclass(frozen=True, slots=True)
class StatedPaper:
    """One paper with its reviews.

    Attributes:
        status: Its outcome, if the layout states it by more than a decision's wording.
        extra: Values in no other attribute, without those that describe the authors as persons.
    """

    title: str | None = None
    abstract: str | None = None
    authors: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    tldr: str | None = None
    primary_area: str | None = None
    year: int | None = None
    decision: str | None = None
    decision_comment: str | None = None
    status: Status | None = None
    text: str | None = None
    reviews: tuple[StatedReview, ...] = ()
    posts: tuple[StatedPost, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)


def are_forum_ids(stated: Iterable[object]) -> bool:
    """Return whether most of the ids of a table are OpenReview's, nearly all of which contain a capital letter.

    Other ids are numbers, digests, names of files, or ids of other services.

    >>> are_forum_ids(["B1ckMDqlg", "ryxz8cvydh"]), are_forum_ids(["paper1764"]), are_forum_ids(["9a79208392", 316])
    (True, False, False)
    """
    ids = [str(one).strip() for one in stated if one is not None]
    return 2 * sum(bool(FORUM_ID.fullmatch(one)) and one != one.lower() for one in ids) >= max(len(ids), 1)


def make_paper_id(stated: object, label: str, *, is_forum: bool = False) -> str:
    """Return the forum id that a value states, or an id made from it that no forum has.

    Args:
        stated: A link to a forum, or an id.
        label: Label that distinguishes the table from others.
        is_forum: Whether ids in the right format are OpenReview's.

    >>> make_paper_id("https://openreview.net/forum?id=B1ckMDqlg", ""), make_paper_id(316, "iclr_2017")
    ('B1ckMDqlg', 'iclr_2017-316')
    >>> make_paper_id("paper1764", "ijcai2024"), make_paper_id("B1ckMDqlg", "iclr2017", is_forum=True)
    ('ijcai2024-paper1764', 'B1ckMDqlg')
    """
    text = str(stated).strip()
    url = FORUM_URL.search(text)
    if url:
        return url["id"]
    if is_forum and FORUM_ID.fullmatch(text):
        return text
    return OUTSIDE_AN_ID.sub("_", f"{label}-{text}" if label else text).strip("_")


def as_text(value: object) -> str | None:
    """Return a text, or None if a value is missing or empty ("", "null", "nan")."""
    return value if isinstance(value, str) and value.strip().lower() not in {"", "null", "none", "nan"} else None


def is_stated(value: object) -> bool:
    """Return whether a cell has a value: not None, NaN or an empty text."""
    return value is not None and value == value and (not isinstance(value, str) or as_text(value) is not None)

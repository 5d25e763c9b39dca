"""What a record of another layout states of a paper, in terms that all layouts share; what is not stated is None."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from peercorpus.records.enums import PostKind, Role, Status

Row = dict[str, Any]
"""A row of a table, or a JSON object: values by name."""

FORUM_ID = re.compile(r"(?=[\w-]*[A-Za-z])[A-Za-z0-9_-]{8,14}")
"""An id of the length and with the characters of OpenReview's."""

FORUM_URL = re.compile(r"(?<![\w-])openreview\.net/(?:forum|pdf)\?(?:[^#\s]{0,500}?&)?id=(?P<id>[\w-]+)")
OUTSIDE_AN_ID = re.compile(r"[^\w-]+")


class LayoutBody(msgspec.Struct, frozen=True):
    """The body of a record in `raw.db`: what the files have of one paper, verbatim.

    Attributes:
        conference_year_track: Where the paper was submitted, as the files or their folder name it.
        parts: What each file, or each row of a table, has of the paper.
    """

    paper_id: str
    parts: dict[str, Any]
    conference_year_track: str | None = None


@dataclass(frozen=True, slots=True)
class StatedReview:
    """One review.

    Attributes:
        answers: Scores and texts by the names that the layout gives them.
        scores: Names of the answers that the layout itself keeps as scores.
        extra: What is neither score nor text.
    """

    answers: Mapping[str, Any]
    review_id: str | None = None
    reviewer: str | None = None
    response: str | None = None
    scores: frozenset[str] = frozenset()
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StatedPost:
    """A post that is no review."""

    kind: PostKind
    role: Role
    signature: str
    title: str | None
    text: str


@dataclass(frozen=True, slots=True)
class StatedPaper:
    """One paper with its reviews.

    Attributes:
        status: What became of it, where the layout states it by more than a decision's wording.
        extra: What no other attribute holds, without what describes the authors as persons.
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
    """Return whether most of the ids of a table are OpenReview's, which nearly all hold a capital letter.

    Others are numbers, digests, names of files, or ids of other services.

    >>> are_forum_ids(["B1ckMDqlg", "ryxz8cvydh"]), are_forum_ids(["paper1764"]), are_forum_ids(["9a79208392", 316])
    (True, False, False)
    """
    ids = [str(one).strip() for one in stated if one is not None]
    return 2 * sum(bool(FORUM_ID.fullmatch(one)) and one != one.lower() for one in ids) >= max(len(ids), 1)


def make_paper_id(stated: object, label: str, *, is_forum: bool = False) -> str:
    """Return the forum id that a value states, or an id made of it that no forum has.

    Args:
        stated: A link to a forum, or an id.
        label: What tells the table from others.
        is_forum: Whether ids of the right shape are OpenReview's.

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
    """Return a text, or None where a value is none or says nothing ("", "null", "nan")."""
    return value if isinstance(value, str) and value.strip().lower() not in {"", "null", "none", "nan"} else None


def is_stated(value: object) -> bool:
    """Return whether a cell holds anything: no None, no NaN, no empty text."""
    return value is not None and value == value and (not isinstance(value, str) or as_text(value) is not None)

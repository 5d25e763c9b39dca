"""Published datasets: the ids, sources and members of their records."""

import re
from enum import StrEnum
from typing import Any

import msgspec


class Dataset(StrEnum):
    """The kind of a published record; its id begins with this value and a colon."""

    REVIEWBENCH = "reviewbench"
    """A paper with its reviews, its text and the authors' responses."""
    RE2_REVIEWS = "re2-reviews"
    """A paper with its reviews."""
    RE2_REBUTTAL = "re2-rebuttal"
    """The conversation with one reviewer of a paper."""
    RE2_TEXT = "re2-text"
    """The text of a paper."""
    PEERREAD = "peerread"
    """A paper of PeerRead with its reviews and its parsed text."""
    NLPEER = "nlpeer"
    """A paper of NLPeer with its reviews and its text."""
    PAPER_LIST = "paper-list"
    """A paper in a list, with ratings or a decision."""
    REVIEW_TABLE = "review-table"
    """The rows of a table of reviews that belong to one paper."""
    TEXT_FOLDER = "text-folder"
    """A paper in a table of decisions, with its text from a folder."""

    @property
    def prefix(self) -> str:
        """Return the prefix of the ids of its records."""
        return f"{self.value}:"


TEST = "test"
STATED_SPLITS = {
    Dataset.RE2_REVIEWS: ("review", re.compile(r"(?:.*/)?REVIEWS_(train|test)\b[^/]*")),
    Dataset.RE2_REBUTTAL: ("rebuttal", re.compile(r"(?:.*/)?REBUTTAL_(train|test)\b[^/]*")),
}
"""Dataset whose files state splits → the task, and the pattern of its records' sources: file and position."""
WITH_SPLITS = frozenset(STATED_SPLITS)
"""Datasets whose files state the split of a paper."""


def find_stated_split(dataset: Dataset, source: str) -> tuple[str, str] | None:
    """Return the task and the split that the name of a record's file states; None if it states none.

    >>> find_stated_split(Dataset.RE2_REVIEWS, "hf:a/b@0/REVIEWS_test.json, record 7")
    ('review', 'test')
    >>> find_stated_split(Dataset.RE2_REVIEWS, "reviews.json, record 7")
    """
    task, pattern = STATED_SPLITS.get(dataset, ("", None))
    match = pattern.fullmatch(source) if pattern else None
    return (task, match[1]) if match else None


def parse_dataset(record_id: str) -> Dataset:
    """Return the dataset that a record belongs to, according to the prefix of its id.

    Raises:
        ValueError: No dataset has this prefix.

    >>> parse_dataset("re2-reviews:m97Cdr9IOZJ")
    <Dataset.RE2_REVIEWS: 're2-reviews'>
    """
    return Dataset(record_id.partition(":")[0])


def drop_number(record_id: str) -> str:
    """Return the id of a record without the number that distinguishes a second record with that id.

    >>> drop_number("re2-rebuttal:k1/R#2")
    're2-rebuttal:k1/R'
    """
    return re.sub(r"#\d+$", "", record_id)


def non_empty(text: str | None) -> str | None:
    """Return the text, or None if it is blank or "null", as datasets write for a missing text.

    >>> non_empty("null"), non_empty(" "), non_empty("None of these.")
    (None, None, 'None of these.')
    """
    return None if text is None or text.strip().lower() in {"", "null"} else text


def undeclared_members(body: bytes, kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the members of a record that its type does not declare."""
    members = msgspec.json.decode(body, type=dict[str, Any])
    return {name: value for name, value in members.items() if name not in kind.__struct_fields__}

"""Record types of the published datasets ReviewBench and Re², and their recognition and decoding."""

import re
from enum import StrEnum
from typing import Annotated, Any

import msgspec

Id = Annotated[str, msgspec.Meta(min_length=1)]
Answers = dict[str, Any]


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


class ReviewBenchRow(msgspec.Struct, frozen=True):
    """A row of ReviewBench; texts that the paper lacks are None or empty."""

    forum_id: Id
    conference: str | None = None
    year: int | None = None
    track: str | None = None
    venue_id: str | None = None
    paper_number: int | None = None
    title: str | None = None
    abstract: str | None = None
    authors: list[str | None] | None = None
    keywords: list[str | None] | None = None
    tldr: str | None = None
    primary_area: str | None = None
    venue: str | None = None
    decision: str | None = None
    decision_comment: str | None = None
    author_rebuttal: str | None = None
    num_reviews: int | None = None
    reviews_json: str | None = None
    markdown: str | None = None
    markdown_chars: int | None = None

    @property
    def reviews(self) -> list[Answers]:
        """Decode the reviews, one flat object each.

        Raises:
            msgspec.DecodeError: `reviews_json` is not a list of objects.
        """
        return msgspec.json.decode(self.reviews_json, type=list[Answers]) if self.reviews_json else []


class Re2Scores(msgspec.Struct, frozen=True):
    r"""The scores that a reviewer gave at one time.

    Attributes:
        aspect_score: One aspect per line ("soundness: 3 good\npresentation: 4 excellent\n").
    """

    rating: str | float | None = None
    confidence: str | float | None = None
    aspect_score: str | None = None


class Re2Review(msgspec.Struct, frozen=True):
    """One review of Re².

    Attributes:
        initial_score: Scores before the rebuttal.
        final_score: Scores after the rebuttal.
    """

    reviewer_id: str | None = None
    review_title: str | None = None
    review_content: str | None = None
    initial_score: Re2Scores | None = None
    final_score: Re2Scores | None = None


class Re2Paper(msgspec.Struct, frozen=True):
    """A record of `REVIEWS_*.json`.

    Attributes:
        paper_id: Forum id on OpenReview.
        conference_year_track: Where the paper was submitted ("NeurIPS 2022 Conference").
        reviews: Reviews as received; decoded as `Re2Review` later.
    """

    paper_id: Id
    conference_year_track: str | None = None
    reviews: list[Answers] = []
    metareview: str | None = None
    decision: str | None = None


class Re2Message(msgspec.Struct, frozen=True):
    """One message: of the reviewer (`assistant`) or the authors (`user`), or an instruction (`system`)."""

    role: str
    content: str | None = None


class Re2Rebuttal(msgspec.Struct, frozen=True):
    """A record of `REBUTTAL_*.json`.

    Attributes:
        messages: All messages; those before the reviewer's first one contain the instruction and the paper for a
            language model.
    """

    paper_id: Id
    messages: list[Re2Message]
    conference_year_track: str | None = None
    reviewer_id: str | None = None


class Re2Text(msgspec.Struct, frozen=True):
    """A manuscript of the folder `papers`; the import makes a record from each.

    Attributes:
        path: Path of the file below the folder.
    """

    paper_id: Id
    path: str
    markdown: str
    conference_year_track: str | None = None


LAYOUTS = (Dataset.PEERREAD, Dataset.NLPEER, Dataset.TEXT_FOLDER, Dataset.REVIEW_TABLE, Dataset.PAPER_LIST)
"""Layouts of other datasets (`records/layouts/`), those with reviews and texts before those with only ratings."""

DATASETS_WITH_TEXT = (Dataset.REVIEWBENCH, Dataset.RE2_TEXT, Dataset.PEERREAD, Dataset.NLPEER, Dataset.TEXT_FOLDER)
"""Datasets whose records may contain the text of a paper."""
REVIEWBENCH_COLUMNS = ReviewBenchRow.__struct_fields__
"""Column names by which a Parquet file is recognised as ReviewBench."""


TEST = "test"
_STATED = {
    Dataset.RE2_REVIEWS: ("review", re.compile(r"(?:.*/)?REVIEWS_(train|test)\b[^/]*")),
    Dataset.RE2_REBUTTAL: ("rebuttal", re.compile(r"(?:.*/)?REBUTTAL_(train|test)\b[^/]*")),
}
"""Dataset whose files state splits → the task, and the pattern of its records' sources: file and position."""
WITH_SPLITS = frozenset(_STATED)
"""Datasets whose files state the split of a paper."""


def find_stated_split(dataset: Dataset, source: str) -> tuple[str, str] | None:
    """Return the task and the split that the name of a record's file states; None if it states none.

    >>> find_stated_split(Dataset.RE2_REVIEWS, "hf:a/b@0/REVIEWS_test.json, record 7")
    ('review', 'test')
    >>> find_stated_split(Dataset.RE2_REVIEWS, "reviews.json, record 7")
    """
    task, pattern = _STATED.get(dataset, ("", None))
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


def undeclared_members(body: bytes, kind: type[msgspec.Struct]) -> Answers:
    """Return the members of a record that its type does not declare."""
    declared_names = kind.__struct_fields__
    return {
        name: value for name, value in msgspec.json.decode(body, type=Answers).items() if name not in declared_names
    }

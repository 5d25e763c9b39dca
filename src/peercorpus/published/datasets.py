"""The records of ReviewBench and Re² as they were published, read strictly; a field that is absent is None.

ReviewBench: the twenty columns and the fields of `reviews_json` are those of its dataset card (Samarth0710/reviewbench,
README.md at 7d1b399); that `reviewer` is the anonymous name and `rebuttal` the authors' words to that review is read
from the names alone. Re²: every field of a review record, and of a rebuttal record all but `final_score` (which is
described and not shown), stands in the example of its dataset card (Daoze/ReviewRebuttal, README.md); that "null" means
an absent text is seen there in `review_title` only. The path of a manuscript is that of two programs that read the
dataset (ulab-uiuc/DRPG-RebuttalAgent, Zhitao-He/RebuttalAgent). None of it was compared with the data itself.
"""

from enum import StrEnum
from typing import Annotated, Any

import msgspec

Id = Annotated[str, msgspec.Meta(min_length=1)]
Answers = dict[str, Any]


class Dataset(StrEnum):
    """What a published record is of: its id begins so, with a colon behind."""

    REVIEWBENCH = "reviewbench"
    """A paper with its reviews, its text and the authors' responses."""
    RE2_REVIEWS = "re2-reviews"
    """A paper with its reviews."""
    RE2_REBUTTAL = "re2-rebuttal"
    """The conversation with one reviewer of a paper."""
    RE2_TEXT = "re2-text"
    """The text of a paper."""

    @property
    def prefix(self) -> str:
        """How the ids of its records begin."""
        return f"{self.value}:"


class ReviewBenchRow(msgspec.Struct, frozen=True):
    """A row of ReviewBench; a text that the paper has not is None or empty."""

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
        """Its reviews, one flat object each.

        Raises:
            msgspec.DecodeError: They are no list of objects.
        """
        return msgspec.json.decode(self.reviews_json, type=list[Answers]) if self.reviews_json else []


class Re2Scores(msgspec.Struct, frozen=True):
    r"""What a reviewer gave at one time.

    Attributes:
        aspect_score: One aspect a line ("soundness: 3 good\npresentation: 4 excellent\n").
    """

    rating: str | float | None = None
    confidence: str | float | None = None
    aspect_score: str | None = None


class Re2Review(msgspec.Struct, frozen=True):
    """One review of Re².

    Attributes:
        initial_score: Before the rebuttal.
        final_score: After it.
    """

    reviewer_id: str | None = None
    review_title: str | None = None
    review_content: str | None = None
    initial_score: Re2Scores | None = None
    final_score: Re2Scores | None = None


class Re2Paper(msgspec.Struct, frozen=True):
    """A record of `REVIEWS_*.json`.

    Attributes:
        paper_id: The forum on OpenReview.
        conference_year_track: Where it was submitted ("NeurIPS 2022 Conference").
        reviews: As received; `Re2Review` reads them.
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
        messages: The first ones, up to the first of the reviewer, give a language model the instruction and the paper.
    """

    paper_id: Id
    messages: list[Re2Message]
    conference_year_track: str | None = None
    reviewer_id: str | None = None


class Re2Text(msgspec.Struct, frozen=True):
    """A manuscript of the folder `papers`, made a record when it is imported.

    Attributes:
        path: Its path below the folder.
    """

    paper_id: Id
    path: str
    markdown: str
    conference_year_track: str | None = None


HOLD_TEXT = (Dataset.REVIEWBENCH, Dataset.RE2_TEXT)
"""The datasets whose records may hold the text of a paper."""
REVIEWBENCH_COLUMNS = ReviewBenchRow.__struct_fields__


def dataset_of(record_id: str) -> Dataset:
    """Which dataset a record is of.

    >>> dataset_of("re2-reviews:m97Cdr9IOZJ")
    <Dataset.RE2_REVIEWS: 're2-reviews'>
    """
    return Dataset(record_id.partition(":")[0])


def stated(text: str | None) -> str | None:
    """A text, or None where the dataset has only what it writes for nothing.

    >>> stated("null"), stated(" "), stated("None of these.")
    (None, None, 'None of these.')
    """
    return None if text is None or text.strip().lower() in {"", "null"} else text


def unread(body: bytes, kind: type[msgspec.Struct]) -> Answers:
    """The members of a record that its type does not name."""
    known = kind.__struct_fields__
    return {name: value for name, value in msgspec.json.decode(body, type=Answers).items() if name not in known}


def read_text(record_id: str, body: bytes) -> str | None:
    """The text of a paper that a record holds; None where it holds none.

    Raises:
        msgspec.DecodeError: The record does not hold what its dataset says it holds.
    """
    if dataset_of(record_id) is Dataset.REVIEWBENCH:
        return stated(msgspec.json.decode(body, type=ReviewBenchRow).markdown)
    return stated(msgspec.json.decode(body, type=Re2Text).markdown)

"""What statistics are made of: a few narrow columns of a corpus, each read when it is first asked for.

All frames are of what everyone may read, and of nothing that is deleted or was taken down.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

TIME = pl.Datetime("us", "UTC")
Schema = Mapping[str, Any]

PAPERS: Schema = {
    "forum_id": pl.String,
    "venue_id": pl.String,
    "conference": pl.String,
    "year": pl.Int64,
    "track": pl.String,
    "status": pl.String,
    "keywords": pl.List(pl.String),
    "created_at": TIME,
    "grade": pl.String,
}
"""`status`: null where the decision is not public. `grade`: null where no PDF is known."""
REVIEWS: Schema = {
    "review_id": pl.String,
    "forum_id": pl.String,
    "rating_initial": pl.Float64,
    "rating_final": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "confidence": pl.Float64,
}
"""`rating_…`: the overall recommendation as first given and as it stands now, on the scale from `low` to `high`; null
where that is not known. `confidence`: as it stands now, or as first given where only that is known."""
RATING = pl.coalesce("rating_final", "rating_initial")
"""Of a review, the same: what counts where no time is named (`chosen.chosen_score`)."""
PAPER_TOKENS: Schema = {"forum_id": pl.String, "tokens": pl.Int64}
"""Of the text the reviewers read, where it is held."""
REVIEW_TOKENS: Schema = {"review_id": pl.String, "forum_id": pl.String, "tokens": pl.Int64}
TALKS: Schema = {"conversation_id": pl.String, "forum_id": pl.String, "responses": pl.Int64}
"""`responses`: of the authors to all reviewers, beside it."""
TURNS: Schema = {
    "conversation_id": pl.String,
    "forum_id": pl.String,
    "place": pl.Int64,
    "role": pl.String,
    "created_at": TIME,
}
"""`place`: from 0 within its conversation."""
FILES: Schema = {"forum_id": pl.String, "pdfs": pl.Int64, "pdfs_here": pl.Int64}
"""PDFs that are known of a paper, and those of them that were fetched."""
SET_ASIDE: Schema = {
    "forum_id": pl.String,
    "venue_id": pl.String,
    "stage": pl.String,
    "reason": pl.String,
    "rows": pl.Int64,
}


def joined(parts: Iterable[pl.DataFrame], schema: Schema) -> pl.DataFrame:
    """Frames of one kind, one below the other, with exactly these columns."""
    typed = [pl.col(name).cast(kind) for name, kind in schema.items()]
    return pl.concat([pl.DataFrame(schema=dict(schema)), *(part.select(typed) for part in parts)])


class Source(ABC):
    """A corpus, read column by column.

    Attributes:
        name: What it is called on the page.
        tokens: What a token is, in words that end a sentence.
    """

    name: str
    tokens: str

    @property
    @abstractmethod
    def papers(self) -> pl.DataFrame:
        """One row a paper; see `PAPERS`."""

    @property
    @abstractmethod
    def reviews(self) -> pl.DataFrame:
        """One row a review; see `REVIEWS`."""

    @property
    @abstractmethod
    def paper_tokens(self) -> pl.DataFrame:
        """One row a paper whose text is held; see `PAPER_TOKENS`."""

    @property
    @abstractmethod
    def review_tokens(self) -> pl.DataFrame:
        """One row a review; see `REVIEW_TOKENS`."""

    @property
    @abstractmethod
    def talks(self) -> pl.DataFrame:
        """One row a conversation; see `TALKS`."""

    @property
    @abstractmethod
    def turns(self) -> pl.DataFrame:
        """One row a turn; see `TURNS`."""

    @property
    @abstractmethod
    def files(self) -> pl.DataFrame:
        """One row a paper of which a PDF is known; see `FILES`."""

    @property
    @abstractmethod
    def set_aside(self) -> pl.DataFrame | None:
        """Rows set aside; see `SET_ASIDE`. None where the source does not hold them."""

    @property
    @abstractmethod
    def listed(self) -> Mapping[str, bool | None] | None:
        """Of every venue whether its listings were read to their end (None: it was imported); None: not held."""

"""A source of statistics made of a few given rows."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl

from peercorpus.report import source as columns
from peercorpus.report.source import CorpusSource, Schema, TextKind

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
Rows = list[dict[str, Any]]


def frame(schema: Schema, rows: Rows) -> pl.DataFrame:
    return pl.DataFrame([dict.fromkeys(schema) | row for row in rows], schema=dict(schema))


def paper(forum_id: str, conference: str = "iclr", year: int | None = 2024, **other: Any) -> dict[str, Any]:
    row = {"forum_id": forum_id, "venue_id": f"{conference}/{year}", "conference": conference, "year": year}
    return row | {"track": "main", "status": "accepted", "keywords": [], "grade": "exact"} | other


def review(forum_id: str, first: float | None, last: float | None, **other: Any) -> dict[str, Any]:
    row = {"review_id": f"{forum_id}-{other.pop('place', 0)}", "forum_id": forum_id}
    return (
        row
        | {"rating_initial": first, "rating_final": last, "low": 1.0, "high": 11.0, "higher_is_better": True}
        | other
    )


def talk(talk_id: str, roles: str, hours: tuple[float | None, ...] = ()) -> Rows:
    """The turns of a conversation of the paper that its id begins with: `r` a reviewer's, `a` the authors'."""
    names = {"r": "reviewer", "a": "author", "c": "area_chair"}
    times = hours or tuple(range(len(roles)))
    return [
        {
            "conversation_id": talk_id,
            "forum_id": talk_id.partition("/")[0],
            "place": place,
            "role": names[role],
            "created_at": None if after is None else NOON + timedelta(hours=after),
        }
        for place, (role, after) in enumerate(zip(roles, times, strict=True))
    ]


class Given(CorpusSource):
    """Rows by the name of their frame; the conversations are those that have turns."""

    name, tokens, unit = "given", "a token is a word", "words"

    def __init__(self, responses: Mapping[str, int] | None = None, **rows: Any) -> None:
        self._rows, self._responses = rows, responses or {}

    def _frame(self, name: str) -> pl.DataFrame:
        schema: Schema = getattr(columns, name.upper())
        return frame(schema, self._rows.get(name, []))

    @property
    def papers(self) -> pl.DataFrame:
        return self._frame("papers")

    @property
    def reviews(self) -> pl.DataFrame:
        return self._frame("reviews")

    @property
    def review_times(self) -> pl.DataFrame:
        return self._frame("review_times")

    @property
    def paper_tokens(self) -> pl.DataFrame:
        return self._frame("paper_tokens")

    @property
    def review_tokens(self) -> pl.DataFrame:
        return self._frame("review_tokens")

    @property
    def talks(self) -> pl.DataFrame:
        ids = self.turns.select("conversation_id", "forum_id").unique(maintain_order=True)
        counts = [self._responses.get(one, 0) for one in ids["conversation_id"]]
        return ids.with_columns(pl.Series("responses", counts, pl.Int64))

    @property
    def turns(self) -> pl.DataFrame:
        return self._frame("turns")

    @property
    def meta_reviews(self) -> pl.DataFrame:
        return self._frame("meta_reviews")

    def texts(self, kind: TextKind) -> Iterator[pl.DataFrame]:
        yield frame(columns.TEXTS, self._rows.get("texts", {}).get(kind, []))

    @property
    def point_venues(self) -> Sequence[str] | None:
        split: Sequence[str] | None = self._rows.get("point_venues")
        return split

    def points(self) -> Iterator[pl.DataFrame]:
        yield self._frame("points")

    @property
    def files(self) -> pl.DataFrame:
        return self._frame("files")

    @property
    def set_aside(self) -> pl.DataFrame | None:
        return self._frame("set_aside") if "set_aside" in self._rows else None

    @property
    def listed(self) -> Mapping[str, bool | None] | None:
        listed: Mapping[str, bool | None] | None = self._rows.get("listed")
        return listed

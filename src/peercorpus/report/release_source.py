"""A release as a source of statistics: what it publishes, and nothing of how it was made."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import polars as pl
import pyarrow as pa

from peercorpus.errors import PeercorpusError
from peercorpus.publish.opened import Release, open_release
from peercorpus.report import columns
from peercorpus.report.source import (
    FILES,
    PAPER_TOKENS,
    PAPERS,
    REVIEW_TOKENS,
    REVIEWS,
    TALKS,
    TURNS,
    Schema,
    Source,
    joined,
)
from peercorpus.report.tokens import Tokens

Reading = Callable[[pl.DataFrame], pl.DataFrame]


class ReleaseSource(Source):
    """What a release holds."""

    def __init__(self, folder: Path, counting: Tokens) -> None:
        self.name, self.tokens = folder.resolve().name, counting.says
        self._counting, self._release = counting, open_release(folder)

    def _read(self, config: str, wanted: Sequence[str], schema: Schema, reading: Reading) -> pl.DataFrame:
        return joined(map(reading, _batches(self._release, config, wanted, columns.BATCH_ROWS)), schema)

    @cached_property
    def _versions(self) -> pl.DataFrame:
        schema = {"forum_id": pl.String, "grade": pl.String, "path": pl.String, "sha256": pl.String}
        return self._read("versions", list(schema), schema, lambda rows: rows)

    @cached_property
    def papers(self) -> pl.DataFrame:
        """See `Source`."""
        names = [name for name in PAPERS if name != "grade"]
        told = self._read("papers_full", names, {name: PAPERS[name] for name in names}, lambda rows: rows)
        return told.join(columns.grades(self._versions), on="forum_id", how="left", maintain_order="left")

    @cached_property
    def reviews(self) -> pl.DataFrame:
        """See `Source`."""
        wanted = ["review_id", "forum_id", "revised", *columns.OF_SCORES]
        return self._read("reviews", wanted, REVIEWS, columns.overall_scores)

    @cached_property
    def paper_tokens(self) -> pl.DataFrame:
        """See `Source`."""
        parts = _batches(self._release, "papers_full", ["forum_id", "markdown"], columns.TEXT_ROWS)
        held = (rows.filter(pl.col("markdown").str.len_bytes() > 0) for rows in parts)
        return joined(self._counting.counted(held, "markdown"), PAPER_TOKENS)

    @cached_property
    def review_tokens(self) -> pl.DataFrame:
        """See `Source`."""
        every = _batches(self._release, "reviews", ["review_id", "forum_id", columns.OF_SECTIONS], columns.BATCH_ROWS)
        return joined(columns.review_tokens(every, self._counting), REVIEW_TOKENS)

    @cached_property
    def talks(self) -> pl.DataFrame:
        """See `Source`."""
        return self._read("conversations", ["conversation_id", "forum_id", columns.OF_CONTEXT], TALKS, columns.talks)

    @cached_property
    def turns(self) -> pl.DataFrame:
        """See `Source`."""
        wanted = ["conversation_id", "forum_id", *columns.OF_TURNS]
        return self._read("conversations", wanted, TURNS, columns.turns)

    @cached_property
    def files(self) -> pl.DataFrame:
        """See `Source`."""
        return joined([columns.files(self._versions)], FILES)

    @property
    def set_aside(self) -> pl.DataFrame | None:
        """A release does not say it."""
        return None

    @property
    def listed(self) -> Mapping[str, bool | None] | None:
        """A release does not say it."""
        return None


def _batches(release: Release, config: str, wanted: Sequence[str], rows: int) -> Iterator[pl.DataFrame]:
    for path in (shard.path for shard in release.shards(config)):
        try:
            yield from columns.read_columns([path], wanted, rows)
        except (pa.ArrowException, OSError, pl.exceptions.PolarsError) as error:
            detail = str(error).partition("\n")[0]
            raise PeercorpusError(
                f"'{path}' of the release cannot be read ({detail}); take an intact copy, or publish it again."
            ) from None

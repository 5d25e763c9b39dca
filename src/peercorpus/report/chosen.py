"""The part of a source that belongs to the papers which conditions choose."""

from collections.abc import Mapping, Sequence
from functools import cached_property

import polars as pl

from peercorpus.kinds import Role
from peercorpus.report.source import RATING, Source
from peercorpus.where import FIELDS, Condition, matching


def with_values(source: Source, wanted: set[str]) -> pl.DataFrame:
    """The papers, with those columns that conditions ask for and that other tables tell (`where.FIELDS`)."""
    papers = source.papers
    if wanted & {"reviews", "rating", "confidence", "score_changed"}:
        is_changed = pl.col("rating_initial") != pl.col("rating_final")
        told = source.reviews.group_by("forum_id").agg(
            reviews=pl.len(),
            rating=RATING.mean(),
            confidence=pl.col("confidence").mean(),
            score_changed=pl.when(is_changed.is_not_null().any()).then(is_changed.any()),
        )
        papers = papers.join(told, on="forum_id", how="left").with_columns(pl.col("reviews").fill_null(0))
    if "has_rebuttal" in wanted:
        answered = source.turns.filter(role=Role.AUTHOR.value).select("forum_id")
        to_all = source.talks.filter(pl.col("responses") > 0).select("forum_id")
        found = pl.concat([answered, to_all])["forum_id"].unique()
        papers = papers.with_columns(has_rebuttal=pl.col("forum_id").is_in(found.implode()))
    return papers


class Chosen(Source):
    """What belongs to the papers that meet conditions."""

    def __init__(self, whole: Source, conditions: Sequence[Condition]) -> None:
        self.name, self.tokens, self.conditions = whole.name, whole.tokens, tuple(conditions)
        self._whole = whole

    @cached_property
    def _forums(self) -> pl.DataFrame:
        wanted = {FIELDS[condition.name].column for condition in self.conditions}
        return with_values(self._whole, wanted).filter(matching(self.conditions)).select("forum_id")

    def _of(self, rows: pl.DataFrame) -> pl.DataFrame:
        if not self.conditions:
            return rows
        return rows.join(self._forums, on="forum_id", how="semi", maintain_order="left")

    @property
    def every(self) -> int:
        """How many papers there are, chosen or not."""
        return self._whole.papers.height

    @cached_property
    def papers(self) -> pl.DataFrame:
        """See `Source`."""
        return self._of(self._whole.papers)

    @cached_property
    def reviews(self) -> pl.DataFrame:
        """See `Source`."""
        return self._of(self._whole.reviews)

    @cached_property
    def paper_tokens(self) -> pl.DataFrame:
        """See `Source`."""
        return self._of(self._whole.paper_tokens)

    @cached_property
    def review_tokens(self) -> pl.DataFrame:
        """See `Source`."""
        return self._of(self._whole.review_tokens)

    @cached_property
    def talks(self) -> pl.DataFrame:
        """See `Source`."""
        return self._of(self._whole.talks)

    @cached_property
    def turns(self) -> pl.DataFrame:
        """See `Source`."""
        return self._of(self._whole.turns)

    @cached_property
    def files(self) -> pl.DataFrame:
        """See `Source`."""
        return self._of(self._whole.files)

    @cached_property
    def set_aside(self) -> pl.DataFrame | None:
        """See `Source`; rows that name no chosen paper are not among them."""
        rows = self._whole.set_aside
        return None if rows is None else self._of(rows)

    @cached_property
    def listed(self) -> Mapping[str, bool | None] | None:
        """See `Source`; of the venues of the chosen papers."""
        listed, held = self._whole.listed, set(self.papers["venue_id"])
        return None if listed is None else {venue: whole for venue, whole in listed.items() if venue in held}

"""Count the quantities of Table 1 in the Re² paper from the frames of a workspace or a release."""

import polars as pl

from peercorpus.records.enums import Role
from peercorpus.release.table1 import DatasetCounts, DatasetRow, PaperFacts, make_row
from peercorpus.report.source import RATING, CorpusSource


def dataset_row(source: CorpusSource, name: str | None = None) -> DatasetRow:
    """Return a corpus's row in the form of Re²'s Table 1; the name defaults to that of the source."""
    counts = DatasetCounts()
    for row in _join_facts(source).iter_rows(named=True):
        counts.add(PaperFacts(**row))
    return make_row(name or source.name, counts, source.own_rows)


def _join_facts(source: CorpusSource) -> pl.DataFrame:
    """Return the fields of `PaperFacts` for each paper."""
    is_changed = pl.col("rating_initial") != pl.col("rating_final")
    worded = source.review_tokens.filter(pl.col("tokens") > 0).group_by("forum_id").agg(worded=pl.len())
    reviews = source.reviews.group_by("forum_id").agg(
        reviews=pl.len(),
        rated=RATING.count(),
        with_aspects=(pl.col("aspect_scores") > 0).sum(),
        compared=is_changed.count(),
        changed=is_changed.sum(),
    )
    spoken = source.turns.filter(role=Role.AUTHOR.value).select("conversation_id", "forum_id").unique()
    rebuttals = spoken.group_by("forum_id").agg(rebuttals=pl.len())
    papers = source.papers.select("forum_id", "venue_id", "conference", "year", "status")
    for counts in (worded, reviews, rebuttals):
        papers = papers.join(counts, on="forum_id", how="left", maintain_order="left")
    texts = source.paper_tokens.filter(pl.col("tokens") > 0).select("forum_id", "grade", has_text=pl.lit(value=True))
    papers = papers.join(texts, on="forum_id", how="left", maintain_order="left")
    return papers.with_columns(
        pl.col("worded", "reviews", "rated", "with_aspects", "compared", "changed", "rebuttals").fill_null(0),
        pl.col("has_text").fill_null(value=False),
        has_meta_review=pl.col("forum_id").is_in(source.meta_reviews["forum_id"].implode()),
    ).drop("forum_id")

"""Narrow columns out of Parquet files and records, and what is read off them: scores, lengths, turns."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import tee

import polars as pl
import pyarrow as pa

from peercorpus.kinds import Aspect, Grade, Phase
from peercorpus.parquet import open_parquet
from peercorpus.report.tokens import Tokens
from peercorpus.store import Place

BATCH_ROWS = 1_000
TEXT_ROWS = 64
"""Papers whose texts are held at once."""
ITEM = "list.element"
OF_SCORES = [f"scores.{ITEM}.{name}" for name in ("aspect", "field", "value", "low", "high", "phase")]
OF_TURNS = [f"turns.{ITEM}.role", f"turns.{ITEM}.created_at", f"turns.{ITEM}.post_ids.{ITEM}"]
OF_CONTEXT = f"context.{ITEM}.post_id"
OF_SECTIONS = f"sections.{ITEM}.text"
PREFERRED = {Aspect.RECOMMENDATION: "rating", Aspect.CONFIDENCE: "confidence"}
"""Where a form asks twice, the score under this name counts, else the first."""
GRADES = [grade.value for grade in Grade]


def read_columns(paths: Iterable[Place], columns: Sequence[str], rows: int = BATCH_ROWS) -> Iterator[pl.DataFrame]:
    """These columns of Parquet files, so many rows at a time; a dotted name reads one leaf of a nested column."""
    for path in paths:
        with open_parquet(path) as file:
            for batch in file.iter_batches(rows, columns=list(columns)):
                yield from_batch(batch)


def from_batch(batch: pa.RecordBatch | pa.Table) -> pl.DataFrame:
    """An Arrow batch as a frame."""
    table = batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


def _exploded(rows: pl.DataFrame, column: str, keys: Sequence[str]) -> pl.DataFrame:
    """One row an item of a list of structs, in its order, beside these columns."""
    held = rows.select(*keys, column).filter(pl.col(column).list.len() > 0)
    return held.explode(column).unnest(column)


def _given(name: str, phase: Phase) -> pl.Expr:
    return pl.col(name).filter(pl.col("phase") == phase.value).first()


def _now(name: str) -> pl.Expr:
    return pl.coalesce(_given(name, Phase.FINAL), _given(name, Phase.INITIAL))


def overall_scores(rows: pl.DataFrame) -> pl.DataFrame:
    """Recommendation and confidence of each review, in the columns of `source.REVIEWS`; see `chosen.first_and_last`.

    Args:
        rows: `review_id`, `forum_id`, `revised` and `scores`.
    """
    scores = _exploded(rows, "scores", ["review_id", "revised"]).with_row_index("place")
    found = rows.select("review_id", "forum_id")
    for aspect, field in PREFERRED.items():
        of_aspect = scores.filter(aspect=aspect.value).with_columns(other=pl.col("field").str.to_lowercase() != field)
        told = (
            of_aspect.sort("other", "place")
            .group_by("review_id", "revised")
            .agg(
                first=_given("value", Phase.INITIAL),
                last=_given("value", Phase.FINAL),
                low=_now("low"),
                high=_now("high"),
            )
            .with_columns(pl.when(pl.col("revised").eq(False)).then("last").alias("unrevised"))
            .with_columns(first=pl.coalesce("first", "unrevised"))
        )
        if aspect is Aspect.RECOMMENDATION:
            named = told.select("review_id", "low", "high", rating_initial="first", rating_final="last")
        else:
            named = told.select("review_id", confidence=pl.coalesce("last", "first"))
        found = found.join(named, on="review_id", how="left", maintain_order="left")
    return found


def review_tokens(parts: Iterable[pl.DataFrame], tokens: Tokens) -> Iterator[pl.DataFrame]:
    """Tokens of all sections of each review, as they stand now; `parts`: `review_id`, `forum_id`, `sections`."""
    sent, held = tee(parts)
    texts = (_exploded(rows, "sections", ["review_id"]) for rows in sent)
    for counted, rows in zip(tokens.counted(texts, "text"), held, strict=True):
        sums = counted.group_by("review_id").agg(pl.col("tokens").sum())
        found = rows.select("review_id", "forum_id").join(sums, on="review_id", how="left", maintain_order="left")
        yield found.with_columns(pl.col("tokens").fill_null(0))


def turns(rows: pl.DataFrame) -> pl.DataFrame:
    """One row a turn, in the columns of `source.TURNS`; `rows`: `conversation_id`, `forum_id`, `turns`."""
    held = _exploded(rows, "turns", ["conversation_id", "forum_id"])
    return held.with_columns(place=pl.int_range(pl.len()).over("conversation_id"))


def talks(rows: pl.DataFrame) -> pl.DataFrame:
    """One row a conversation; `rows`: `conversation_id`, `forum_id` and `context`, where all may read it."""
    return rows.select("conversation_id", "forum_id", responses=pl.col("context").list.len().cast(pl.Int64))


def grades(versions: pl.DataFrame) -> pl.DataFrame:
    """The best grade of each paper; `versions`: `forum_id`, `grade`."""
    graded = versions.filter(pl.col("grade").is_not_null())
    ranked = graded.with_columns(rank=pl.col("grade").replace_strict(GRADES, range(len(GRADES)), return_dtype=pl.Int64))
    return ranked.sort("rank", maintain_order=True).unique("forum_id", keep="first").select("forum_id", "grade")


def files(versions: pl.DataFrame) -> pl.DataFrame:
    """PDFs known and fetched of each paper; `versions`: `forum_id`, `path`, `sha256`."""
    pdfs = versions.filter(pl.col("path").str.starts_with("/"))
    here = pl.col("sha256").is_not_null().sum().cast(pl.Int64)
    return pdfs.group_by("forum_id").agg(pdfs=pl.len().cast(pl.Int64), pdfs_here=here)

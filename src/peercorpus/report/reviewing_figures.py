"""Draw reviewing load, lateness and responses, with a row for each conference and subject area."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from peercorpus.records.enums import Role
from peercorpus.report.corpus_statistics import Statistic, compute_share, nothing, percent
from peercorpus.report.figure_style import (
    BAR_STYLE,
    GREEN,
    INK,
    ORANGE,
    PAPER,
    SKY,
    grid,
    label_bars,
    name,
    name_rows,
    new_figure,
    rows_height,
    whole_percent,
)
from peercorpus.report.source import CorpusSource
from peercorpus.wording.counted_nouns import plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


NO_AREA = "no area named"
_DAY_US = 86_400_000_000
_GROUP = ["conference", "area"]


def _read_areas(source: CorpusSource) -> pl.DataFrame:
    """Return conference and area of each paper; papers without an area share one row."""
    area = pl.col("primary_area").str.strip_chars()
    named = pl.when(area.str.len_chars() > 0).then(area).otherwise(pl.lit(NO_AREA))
    return source.papers.select("forum_id", "conference", area=named)


def _order(table: pl.DataFrame, areas: pl.DataFrame) -> pl.DataFrame:
    """Sort rows by the number of papers of their area, the largest first; those without an area come last."""
    sizes = areas.group_by(_GROUP).agg(papers=pl.len().cast(pl.Int64))
    sized = table if "papers" in table.columns else table.join(sizes, on=_GROUP)
    ordered = sized.with_columns(_last=pl.col("area") == NO_AREA).sort(
        ["_last", "papers", *_GROUP], descending=[False, True, False, False]
    )
    return ordered.drop("_last")


def _unnamed(areas: pl.DataFrame) -> dict[str, int]:
    return {"papers that name no area": areas.filter(area=NO_AREA).height}


def review_load(source: CorpusSource) -> Statistic:
    """Count the public reviews that papers of each area have."""
    how = (
        "Public reviews of each paper, by the subject area stated in the submission. The number of reviews per person"
        " is unknown because reviewers are anonymous."
    )
    areas = _read_areas(source)
    per_paper = source.reviews.group_by("forum_id").agg(reviews=pl.len().cast(pl.Int64))
    papers = areas.join(per_paper, on="forum_id", how="left").with_columns(pl.col("reviews").fill_null(0))
    reviews = pl.col("reviews")
    table = papers.group_by(_GROUP).agg(
        papers=pl.len().cast(pl.Int64),
        reviews=reviews.sum(),
        reviews_per_paper=reviews.mean(),
        fewest=reviews.min(),
        most=reviews.max(),
        without_review=reviews.eq(0).sum().cast(pl.Int64),
    )
    table = _order(table, areas)
    if not papers["reviews"].sum():
        return nothing(table, "paper", "No paper of this selection has a public review.", how)
    bare = int(table["without_review"].sum())
    fewest, most = table["fewest"].min(), table["most"].max()
    says = (
        f"A paper has {table['reviews'].sum() / papers.height:.1f} reviews on average, between {fewest!r} and {most!r};"
        f" {plural(bare, 'paper')} without any."
    )
    return Statistic(table=table, n=papers.height, of="paper", says=says, how=how, unknown=_unnamed(areas))


def late_reviews(source: CorpusSource) -> Statistic:
    """Count the reviews that were first posted after they were due, by area."""
    how = (
        "A review is late if it was first posted after the review deadline in the workspace's venues.toml, else after"
        " the due date of its paper's review invitation or, without one, of the venue's."
    )
    areas = _read_areas(source)
    reviews = source.review_times.join(areas, on="forum_id")
    dated = reviews.filter(pl.col("created_at").is_not_null() & pl.col("due_at").is_not_null())
    days = (pl.col("created_at") - pl.col("due_at")).dt.total_microseconds() / _DAY_US
    late = dated.with_columns(days=days).with_columns(is_late=pl.col("days") > 0)
    table = late.group_by(_GROUP).agg(
        reviews=pl.len().cast(pl.Int64),
        late=pl.col("is_late").sum().cast(pl.Int64),
        share_late=pl.col("is_late").mean(),
        median_days_late=pl.col("days").filter(pl.col("is_late")).median(),
    )
    table = _order(table, areas).drop("papers")
    unknown = {
        "no due date of the reviews is known": reviews["due_at"].null_count(),
        "no time of posting": reviews.filter(pl.col("due_at").is_not_null())["created_at"].null_count(),
    }
    if dated.is_empty():
        why = "No review of this selection has a due date; state review_deadline in the workspace's venues.toml."
        return nothing(table, "review", why, how, unknown)
    number = int(late["is_late"].sum())
    middle = late.filter("is_late")["days"].median()
    after = f", the median one by {middle:.1f} days" if isinstance(middle, float) else ""
    says = f"{number:,} of {plural(late.height, 'review')} came after the due date{after}."
    return Statistic(table=table, n=dated.height, of="review", says=says, how=how, unknown=unknown)


def responses_by_area(source: CorpusSource) -> Statistic:
    """Count the conversations that the authors answered and those to which the reviewer came back, by area."""
    how = (
        "Conversations with one reviewer each. The authors answered if a turn of theirs is in it, or a response to all"
        " reviewers concerns it; the reviewer came back if they posted anything after the authors did."
        " A mere change of scores is not a post."
    )
    areas = _read_areas(source)
    is_author = pl.col("role") == Role.AUTHOR.value
    is_reviewer = pl.col("role") == Role.REVIEWER.value
    first = pl.col("place").filter(is_author).min()
    per_talk = (
        source.turns.filter(pl.col("is_posted").fill_null(value=True))
        .group_by("conversation_id")
        .agg(spoke=is_author.any(), returned=(is_reviewer & (pl.col("place") > first)).any().fill_null(value=False))
    )
    talks = source.talks.join(per_talk, on="conversation_id", how="left").join(areas, on="forum_id")
    talks = talks.with_columns(
        answered=pl.col("spoke").fill_null(value=False) | (pl.col("responses") > 0),
        returned=pl.col("returned").fill_null(value=False),
    )
    table = talks.group_by(_GROUP).agg(
        conversations=pl.len().cast(pl.Int64),
        answered=pl.col("answered").sum().cast(pl.Int64),
        share_answered=pl.col("answered").mean(),
        returned=pl.col("returned").sum().cast(pl.Int64),
        share_returned=pl.col("returned").mean(),
    )
    table = _order(table, areas).drop("papers")
    if talks.is_empty():
        return nothing(table, "conversation", "No conversation is in this selection.", how)
    answered, returned = int(talks["answered"].sum()), int(talks["returned"].sum())
    says = (
        f"The authors answered in {percent(compute_share(answered, talks.height))} of the conversations, and the"
        f" reviewer came back in {percent(compute_share(returned, talks.height))}."
    )
    return Statistic(table=table, n=talks.height, of="conversation", says=says, how=how)


AREAS = 20
"""Maximum number of rows in a figure; the table has all."""


def _label_rows(axes: "Axes", rows: Sequence[Mapping[str, Any]], of: str, *, shown: bool = True) -> None:
    conferences = {row["conference"] for row in rows}
    labels = [row["area"] if len(conferences) == 1 else f"{row['conference']}: {row['area']}" for row in rows]
    name_rows(axes, [f"{name(label)}  (n = {row[of]:,})" for label, row in zip(labels, rows, strict=True)], shown=shown)


def _draw_shares(axes: "Axes", shares: Sequence[float], colour: str, hatch: str = "") -> None:
    axes.barh(range(len(shares)), shares, color=colour, hatch=hatch, **BAR_STYLE)
    label_bars(axes, shares, map(percent, shares))
    axes.set_xlim(0, 1.25)
    axes.set_xticks([0, 0.5, 1])
    axes.xaxis.set_major_formatter(whole_percent)
    grid(axes)


def draw_review_load(statistic: Statistic) -> "Figure":
    """Draw the mean number of reviews of a paper in each area, with a line from the fewest to the most."""
    rows = statistic.table.head(AREAS).to_dicts()
    figure = new_figure(rows_height(len(rows)))
    axes = figure.subplots()
    axes.barh(range(len(rows)), [row["reviews_per_paper"] for row in rows], color=SKY, **BAR_STYLE)
    for place, row in enumerate(rows):
        axes.plot([row["fewest"], row["most"]], [place, place], color=INK, linewidth=1.2)
        end = max(row["most"], row["reviews_per_paper"])
        text = f"{row['reviews_per_paper']:.1f}"
        axes.annotate(text, (end, place), (4, 0), textcoords="offset points", va="center", fontsize=7.5)
    axes.set_xlim(0, 1.15 * max(row["most"] for row in rows))
    axes.set_xlabel("reviews of a paper")
    _label_rows(axes, rows, "papers")
    grid(axes)
    return figure


def draw_late_reviews(statistic: Statistic) -> "Figure":
    """Draw the share of reviews in each area that were posted after they were due."""
    rows = statistic.table.head(AREAS).to_dicts()
    figure = new_figure(rows_height(len(rows)))
    axes = figure.subplots()
    _draw_shares(axes, [row["share_late"] for row in rows], ORANGE, "////")
    axes.set_xlabel("share of the reviews posted after the due date")
    _label_rows(axes, rows, "reviews")
    return figure


def draw_responses_by_area(statistic: Statistic) -> "Figure":
    """Draw the shares of conversations in each area that authors answered and to which the reviewer came back."""
    rows = statistic.table.head(AREAS).to_dicts()
    figure = new_figure(rows_height(len(rows)))
    left, right = figure.subplots(1, 2)
    _draw_shares(left, [row["share_answered"] for row in rows], GREEN)
    _draw_shares(right, [row["share_returned"] for row in rows], PAPER, "////")
    left.set_title("Authors answered")
    right.set_title("Reviewer came back")
    for axes in (left, right):
        axes.set_xlabel("share of the conversations")
    _label_rows(left, rows, "conversations")
    _label_rows(right, rows, "conversations", shown=False)
    return figure

"""Draw reviewing load, lateness and responses, with a row for each conference and subject area."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from peercorpus.report.corpus_statistics import Statistic, percent
from peercorpus.report.figure_style import (
    GREEN,
    INK,
    ORANGE,
    PAPER,
    SKY,
    grid,
    name,
    name_rows,
    new_figure,
    rows_height,
    whole_percent,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AREAS = 20
"""Maximum number of rows in a figure; the table has all."""
_BAR_STYLE: dict[str, Any] = {"edgecolor": INK, "linewidth": 0.6, "height": 0.62}


def _label_rows(axes: "Axes", rows: Sequence[Mapping[str, Any]], of: str, *, shown: bool = True) -> None:
    conferences = {row["conference"] for row in rows}
    labels = [row["area"] if len(conferences) == 1 else f"{row['conference']}: {row['area']}" for row in rows]
    name_rows(axes, [f"{name(label)}  (n = {row[of]:,})" for label, row in zip(labels, rows, strict=True)], shown=shown)


def _draw_shares(axes: "Axes", shares: Sequence[float], colour: str, hatch: str = "") -> None:
    axes.barh(range(len(shares)), shares, color=colour, hatch=hatch, **_BAR_STYLE)
    for row, share in enumerate(shares):
        axes.annotate(percent(share), (share, row), (3, 0), textcoords="offset points", va="center", fontsize=7.5)
    axes.set_xlim(0, 1.25)
    axes.set_xticks([0, 0.5, 1])
    axes.xaxis.set_major_formatter(whole_percent)
    grid(axes)


def draw_review_load(statistic: Statistic) -> "Figure":
    """Draw the mean number of reviews of a paper in each area, with a line from the fewest to the most."""
    rows = statistic.table.head(AREAS).to_dicts()
    figure = new_figure(rows_height(len(rows)))
    axes = figure.subplots()
    axes.barh(range(len(rows)), [row["reviews_per_paper"] for row in rows], color=SKY, **_BAR_STYLE)
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

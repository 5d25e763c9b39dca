"""Draw the figures of points: which have an answer, which scores were raised, and how long an answer takes."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from peercorpus.report.corpus_statistics import TOP, Statistic, percent
from peercorpus.report.figure_style import (
    BAR_STYLE,
    BLUE,
    INK,
    ORANGE,
    PAPER,
    SKY,
    SOFT,
    VERMILION,
    draw_delay,
    grid,
    label_bars,
    name,
    name_rows,
    new_figure,
    rows_height,
    whole_percent,
)
from peercorpus.report.point_statistics import ALL, SIDES, SURE, format_days

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_Row = Mapping[str, Any]
_AXIS_START_DAYS = 0.1
_AXIS_END_DAYS = 60.0
"""Minimum end of the axis of delays, in days."""
_TICKS_DAYS = (0.1, 0.3, 1, 3, 10, 30, 100, 300)


def _rows_by(statistic: Statistic, by: str) -> Sequence[_Row]:
    """Return the non-empty rows of one kind; for conferences, the ten with the most papers."""
    rows = statistic.table.filter(pl.col("by") == by, pl.col("points") > 0).to_dicts()
    return rows[:TOP] if by == "conference" else rows


def _name_row(row: _Row) -> str:
    label = name(row["name"]) if row["by"] == "conference" else _to_words(row["name"])
    return f"{label}  (n = {row['points']:,})"


def _to_words(value: str) -> str:
    return value.replace("_", " ")


def draw_points_answered(statistic: Statistic) -> "Figure":
    """Draw the share of points that have an answer, by kind, aspect and conference."""
    kinds, aspects, conferences = (_rows_by(statistic, by) for by in ("kind", "aspect", "conference"))
    most = len(kinds) + len(aspects) + 2  # Two rows for the axis and the title between kinds and aspects.
    figure = new_figure(rows_height(max(most, len(conferences)), 1.3))
    places = figure.subplot_mosaic(
        [["kind", "conference"], ["aspect", "conference"]], height_ratios=[len(kinds) + 1, len(aspects) + 1]
    )
    for by, title, rows in (
        ("kind", "By kind", kinds),
        ("aspect", "By aspect", aspects),
        ("conference", "By conference", conferences),
    ):
        _draw_shares(places[by], rows)
        places[by].set_title(title)
    _fill_up(places["conference"], max(most, len(conferences)))
    for by in ("aspect", "conference"):
        places[by].set_xlabel("share of points with an answer")
    handles, labels = places["kind"].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, handlelength=2.2, handleheight=1.1)
    return figure


def _fill_up(axes: "Axes", rows: int) -> None:
    """Make room for a number of rows, so that rows of adjacent axes have the same height."""
    axes.set_ylim(rows - 0.4, -0.6)


def _draw_shares(axes: "Axes", rows: Sequence[_Row]) -> None:
    """Draw a bar for each row: answers above a confidence on the left, all others hatched to their right."""
    sure = [row["share_answered_at_0.5"] for row in rows]
    shares = [row["share_answered"] for row in rows]
    less = [share - first for share, first in zip(shares, sure, strict=True)]
    axes.barh(range(len(rows)), sure, color=SKY, label=f"answer of confidence {SURE} or more", **BAR_STYLE)
    axes.barh(
        range(len(rows)), less, left=sure, color=PAPER, hatch="////", label="answer of lower confidence", **BAR_STYLE
    )
    label_bars(axes, shares, map(percent, shares))
    name_rows(axes, [_name_row(row) for row in rows])
    axes.set_xlim(0, 1.22)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    axes.xaxis.set_major_formatter(whole_percent)
    grid(axes)


def draw_answers_and_scores(statistic: Statistic) -> "Figure":
    """Draw the share of reviews that raised their recommendation with and without an answer, and the difference."""
    rows = [row for row in statistic.table.to_dicts() if row["reviews_answered"] or row["reviews_not_answered"]]
    figure = new_figure(rows_height(len(rows), 1.4, 0.4))
    left, right = figure.subplots(1, 2, width_ratios=[1.3, 1])
    for y, row in enumerate(rows):
        _draw_raised(left, row, "answered", y - 0.16, BLUE)
        _draw_raised(left, row, "not_answered", y + 0.16, PAPER)
        _draw_difference(right, row, y)
    for colour, label in ((BLUE, "a point has an answer"), (PAPER, "no point has one")):
        left.plot([], [], "o", color=colour, label=label, **_POINT_STYLE)
    left.set_xlim(-0.01, 1.05 * max(row[f"high_{side}"] or 0 for row in rows for side in SIDES))
    left.xaxis.set_major_formatter(whole_percent)
    left.set_xlabel("share of reviews that raised\nthe recommendation, with 95 % interval")
    right.axvline(0, color=SOFT, linewidth=0.8)
    right.xaxis.set_major_formatter(_format_difference)
    right.set_xlabel("share with minus share without, in\npercentage points, with 95 % interval")
    name_rows(left, [_name_reviews(row) for row in rows])
    name_rows(right, ["" for _ in rows], shown=False)
    left.set_title("Raised, with and without an answer")
    right.set_title("Difference")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    grid(left)
    grid(right)
    return figure


_POINT_STYLE: dict[str, Any] = {"markeredgecolor": INK, "markeredgewidth": 0.7, "markersize": 5, "linestyle": "none"}


def _name_reviews(row: _Row) -> str:
    label = "all points" if row["aspect"] == ALL else _to_words(row["aspect"])
    return f"{label}\nn = {row['reviews_answered']:,} with, {row['reviews_not_answered']:,} without"


def _draw_raised(axes: "Axes", row: _Row, side: str, y: float, colour: str) -> None:
    if row[f"share_{side}"] is None:
        return
    axes.plot([row[f"low_{side}"], row[f"high_{side}"]], [y, y], color=INK, linewidth=0.9)
    axes.plot(row[f"share_{side}"], y, "o", color=colour, zorder=3, **_POINT_STYLE)


def _draw_difference(axes: "Axes", row: _Row, y: int) -> None:
    if row["difference"] is None:
        axes.text(0, y, " nothing to compare", va="center", fontsize=7, color=SOFT)
        return
    axes.plot([row["difference_low"], row["difference_high"]], [y, y], color=INK, linewidth=0.9)
    axes.plot(row["difference"], y, "D", color=VERMILION, **_POINT_STYLE | {"markersize": 4})


def _format_difference(value: float, _: object = None) -> str:
    """Format a difference of shares in percentage points.

    >>> _format_difference(0.1), _format_difference(-0.05), _format_difference(0.0)
    ('+10', '−5', '0')
    """
    rounded = round(100 * value, 6)
    return f"{rounded:+.10g}".replace("-", "\N{MINUS SIGN}") if rounded else "0"


def draw_point_delays(statistic: Statistic) -> "Figure":
    """Draw the days to the first answer to a point on a logarithmic axis, by conference and by aspect."""
    sides = [[*_rows_by(statistic, ALL), *_rows_by(statistic, "conference")], _rows_by(statistic, "aspect")]
    figure = new_figure(rows_height(max(map(len, sides)), 1.2, 0.27))
    ends = [row["p90_days"] for rows in sides for row in rows]
    parts = figure.subplots(1, 2, sharex=True)
    titles = ("By conference", "By aspect")
    for axes, rows, title, colour in zip(parts, sides, titles, (SKY, ORANGE), strict=True):
        for y, row in enumerate(rows):
            _draw_delay(axes, row, y, colour)
        name_rows(axes, [_name_row(row) for row in rows])
        _fill_up(axes, max(map(len, sides)))
        axes.set_title(title)
        axes.set_xscale("log")
        axes.set_xticks(_TICKS_DAYS, [f"{days:g}" for days in _TICKS_DAYS])
        axes.set_xlim(_AXIS_START_DAYS * 0.8, max(_AXIS_END_DAYS, *ends) * 1.2)
        axes.minorticks_off()
        axes.set_xlabel("days to the first answer")
        grid(axes)
    return figure


def _draw_delay(axes: "Axes", row: _Row, y: int, colour: str) -> None:
    ends = ("p10_days", "lower_quartile_days", "median_days", "upper_quartile_days", "p90_days")
    draw_delay(axes, [row[end] for end in ends], y, colour, _AXIS_START_DAYS, format_days(row["median_days"]))

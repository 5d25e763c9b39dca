"""Draw the figures of distributions: scores, their changes, agreement and delays."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from peercorpus.report.corpus_statistics import Statistic, percent
from peercorpus.report.figure_style import (
    BAR_STYLE,
    BLUE,
    FAINT,
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
    whole_numbers,
    whole_percent,
)
from peercorpus.report.model_statistics import BEFORE
from peercorpus.report.review_statistics import GRID, WAYS, duration_label, name_population
from peercorpus.report.source import TextKind

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_Row = Mapping[str, Any]
_GRID_STEP = GRID[1] - GRID[0]
_AXIS_START_H = 0.1
_AXIS_END_H = 24 * 60.0
"""Minimum end of the axis of delays, in hours."""
_TICKS_H = ((1, "1 h"), (6, "6 h"), (24, "1 day"), (72, "3 days"), (168, "1 week"), (672, "4 weeks"))


def _draw_box(axes: "Axes", row: _Row, y: float, half: float, prefix: str = "", colour: str = PAPER) -> None:
    """Draw a horizontal box from quartile to quartile, with median, mean and whiskers."""
    from matplotlib.patches import Rectangle

    ends = ("whisker_low", "lower_quartile", "median", "upper_quartile", "whisker_high", "mean")
    low, first, middle, third, high, mean = (row[prefix + end] for end in ends)
    axes.plot([low, first], [y, y], color=INK, linewidth=0.8)
    axes.plot([third, high], [y, y], color=INK, linewidth=0.8)
    axes.add_patch(
        Rectangle((first, y - half), third - first, 2 * half, facecolor=colour, edgecolor=INK, linewidth=0.8, zorder=3)
    )
    axes.plot([middle, middle], [y - half, y + half], color=INK, linewidth=2, zorder=4, solid_capstyle="butt")
    axes.plot(mean, y, marker="D", color=PAPER, markeredgecolor=INK, markersize=3, markeredgewidth=0.7, zorder=5)


def _draw_violin(axes: "Axes", row: _Row, y: int) -> None:
    # The grid points just outside the scores are moved to the ends, so that the shape ends with the scores.
    inside = [
        index for index in range(len(GRID)) if row["least"] - _GRID_STEP < GRID[index] < row["greatest"] + _GRID_STEP
    ]
    most = max(row["density"][index] for index in inside)
    half = [0.42 * row["density"][index] / most for index in inside]
    places = [min(max(GRID[index], row["least"]), row["greatest"]) for index in inside]
    axes.fill_between(
        places,
        [y - width for width in half],
        [y + width for width in half],
        facecolor=SKY,
        alpha=0.55,
        edgecolor=BLUE,
        linewidth=0.8,
    )


def draw_score_violins(statistic: Statistic) -> "Figure":
    """Draw a violin with a box for each conference."""
    table = statistic.table.filter(statistic.table["reviews"] > 0)
    figure = new_figure(rows_height(table.height, 0.9, 0.4))
    axes = figure.subplots()
    labels = []
    for y, row in enumerate(table.iter_rows(named=True)):
        if row["density"] is not None:
            _draw_violin(axes, row, y)
        _draw_box(axes, row, y, 0.08)
        labels.append(f"{name(row['conference'])}\nn = {row['reviews']:,}")
    name_rows(axes, labels)
    axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel("recommendation, as a share of the form's scale (0: lowest answer, 1: highest)")
    grid(axes)
    return figure


def draw_score_changes(statistic: Statistic) -> "Figure":
    """Draw the number of reviews by the change of their score, and the share of papers accepted."""
    table = statistic.table
    figure = new_figure(rows_height(table.height, 0.95, 0.3))
    left, right = figure.subplots(1, 2, width_ratios=[1.1, 1])
    styles = [_choose_style(change) for change in table["change"]]
    colours = [colour for colour, _ in styles]
    reviews = table["reviews"].to_list()
    bars = left.barh(range(len(reviews)), reviews, color=colours, **BAR_STYLE)
    for bar, (_, hatch) in zip(bars, styles, strict=True):
        bar.set_hatch(hatch)
    label_bars(left, reviews, [f"{n:,}  ({percent(n / statistic.n)})" if n else "0" for n in reviews])
    left.set_xlim(0, 1.6 * max(reviews))
    whole_numbers(left, "x", 4)
    left.set_xlabel("reviews")
    left.set_ylabel("change of the score,\nin % of the form's scale")
    for row, counts in enumerate(table.iter_rows(named=True)):
        _draw_acceptance(right, row, counts)
    right.set_xlim(-0.02, 1.02)
    right.xaxis.set_major_formatter(whole_percent)
    right.set_xlabel("share accepted, of the papers decided,\nwith 95 % interval")
    name_rows(left, table["change"].to_list())
    name_rows(right, table["change"].to_list(), shown=False)
    grid(left)
    grid(right)
    return figure


def _choose_style(change: str) -> tuple[str, str]:
    """Return colour and hatch of the bar of one class of changes."""
    if change == "unchanged":
        return PAPER, ""
    return (ORANGE, "xxxx") if change.startswith("lowered") else (SKY, "////")


def _draw_acceptance(axes: "Axes", row: int, counts: _Row) -> None:
    decided = counts["accepted"] + counts["rejected"]
    if not decided:
        axes.text(0.02, row, "none decided", va="center", fontsize=7, color=SOFT)
        return
    axes.plot([counts["interval_low"], counts["interval_high"]], [row, row], color=INK, linewidth=0.9)
    share = counts["share_accepted"]
    axes.plot(share, row, marker="o", color=VERMILION, markeredgecolor=INK, markeredgewidth=0.5, markersize=5)
    text = f"{percent(share)} of {decided:,}"
    axes.annotate(
        text, (share, row), (0, -5), textcoords="offset points", va="top", ha=_choose_alignment(share), fontsize=7
    )


def _choose_alignment(share: float) -> str:
    if share > 0.85:
        return "right"
    return "left" if share < 0.15 else "center"


def draw_agreement(statistic: Statistic) -> "Figure":
    """Draw α before and after the discussion, and the spread of the scores within a paper."""
    table = statistic.table
    figure = new_figure(rows_height(table.height, 1.3, 0.32))
    left, right = figure.subplots(1, 2)
    rows = list(table.iter_rows(named=True))
    columns = ("alpha", "alpha_before", "alpha_after")
    alphas = [row[column] for row in rows for column in columns if row[column] is not None]
    for y, row in enumerate(rows):
        before = row["alpha_before"]
        after = row["alpha_after"]
        if before is not None and after is not None:
            left.plot([before, after], [y, y], color=FAINT, linewidth=2, zorder=1)
        _draw_point(left, before, y, "o", PAPER, "before (first given)")
        _draw_point(left, after, y, "o", BLUE, "after, same reviews")
        _draw_point(left, row["alpha"], y, "D", ORANGE, "all current scores")
        _draw_box(right, row, y, 0.2, "spread_", SKY)
    left.axvline(0, color=SOFT, linewidth=0.6, linestyle="--")
    left.set_xlim(min(-0.1, *alphas) - 0.05 if alphas else -0.1, max(1.0, *alphas) + 0.05 if alphas else 1.05)
    left.set_xlabel("Krippendorff's α\n(1: agreement, 0: as by chance)")
    right.set_xlim(-0.02, 1.02)
    right.xaxis.set_major_formatter(whole_percent)
    right.set_xlabel("highest minus lowest score of a paper,\nin per cent of the form's scale")
    places = [name_population(row | {"conference": name(row["conference"])}) for row in rows]
    scales = [f", {row['low']:g} to {row['high']:g}" for row in rows]
    shown = [at + scale if places.count(at) > 1 else at for at, scale in zip(places, scales, strict=True)]
    name_rows(left, [f"{at}\nn = {row['scores']:,}" for at, row in zip(shown, rows, strict=True)])
    name_rows(right, ["" for _ in rows], shown=False)
    handles, labels = left.get_legend_handles_labels()
    unique = dict(zip(labels, handles, strict=True))
    figure.legend(unique.values(), unique.keys(), loc="outside lower center", ncols=3)
    grid(left)
    grid(right)
    return figure


def _draw_point(axes: "Axes", alpha: float | None, y: int, marker: str, colour: str, label: str) -> None:
    if alpha is None:
        return
    size = 5 if marker == "o" else 4
    style: dict[str, Any] = {"markeredgecolor": INK, "markeredgewidth": 0.7, "markersize": size, "linestyle": "none"}
    axes.plot([alpha], [y], marker=marker, color=colour, label=label, zorder=3, **style)


def draw_delays(statistic: Statistic) -> "Figure":
    """Draw the time to an answer on a logarithmic axis, by who answers and by conference."""
    order = statistic.table["conference"].unique(maintain_order=True).to_list()
    figure = new_figure(rows_height(len(order), 1.05, 0.26))
    parts = figure.subplots(1, 2, sharex=True)
    for axes, who, colour in zip(parts, WAYS, (SKY, ORANGE), strict=True):
        rows = statistic.table.filter(who_answers=who).to_dicts()
        for y, row in enumerate(rows):
            _draw_delay(axes, row, y, colour)
        axes.set_title(f"Until the {who} answer  (n = {rows[0]['answers'] if rows else 0:,})")
        axes.set_xlabel("time to the answer (logarithmic axis)")
        axes.set_xscale("log")
        ends = [row["p90_h"] for row in rows if row["answers"]]
        axes.set_xlim(_AXIS_START_H * 0.8, max(_AXIS_END_H, *ends) * 1.2 if ends else _AXIS_END_H)
        axes.set_xticks([hours for hours, _ in _TICKS_H], [text for _, text in _TICKS_H], rotation=40, ha="right")
        axes.minorticks_off()
        labels = ["all conferences" if conference is None else name(conference) for conference in order]
        name_rows(axes, labels, shown=who == next(iter(WAYS)))
        grid(axes)
    return figure


def _draw_delay(axes: "Axes", row: _Row, y: int, colour: str) -> None:
    if not row["answers"]:
        axes.text(_AXIS_START_H, y, "none", va="center", fontsize=7, color=SOFT)
        return
    ends = ("p10_h", "lower_quartile_h", "median_h", "upper_quartile_h", "p90_h")
    draw_delay(axes, [row[end] for end in ends], y, colour, _AXIS_START_H, duration_label(row["median_h"]))


POPULATIONS = 40
"""Maximum number of conference-years in a figure; the table has all."""
_KIND_STYLES: Mapping[str, tuple[str, str]] = {
    TextKind.REVIEWS.value: ("o", BLUE),
    TextKind.REPLIES.value: ("s", ORANGE),
    TextKind.META_REVIEWS.value: ("D", VERMILION),
}
"""Marker and colour of each kind of text."""


def keep_largest_populations(statistic: Statistic) -> Statistic:
    """Return the conference-years with the most scores; `n` counts their scores."""
    places = statistic.table.with_row_index("place").top_k(POPULATIONS, by="scores").sort("place")
    return replace(statistic, table=places.drop("place"), n=int(places["scores"].sum()))


def keep_populations(statistic: Statistic) -> Statistic:
    """Return the populations shown in the figure; `n` counts their texts."""
    table = statistic.table.filter(statistic.table["left_out"].is_null())
    rows = table.select("conference", "year", "written").unique(maintain_order=True).head(POPULATIONS)
    table = table.join(rows, on=rows.columns, how="semi", nulls_equal=True, maintain_order="left")
    return replace(statistic, table=table, n=int(table["texts"].sum()))


def draw_model_written(statistic: Statistic) -> "Figure":
    """Draw a row for each conference and year, with a point and its interval for each kind of text."""
    table = statistic.table
    rows = table.select("conference", "year", "written").unique(maintain_order=True).rows()
    figure = new_figure(rows_height(len(rows), 1.25, 0.3))
    axes = figure.subplots()
    axes.axvline(0, color=SOFT, linewidth=0.8)
    kinds = [kind for kind in _KIND_STYLES if kind in set(table["of"])]
    for row in table.iter_rows(named=True):
        key = (row["conference"], row["year"], row["written"])
        place = 0.22 * (kinds.index(row["of"]) - (len(kinds) - 1) / 2)
        _draw_population(axes, row, rows.index(key) + place)
    for kind in kinds:
        marker, colour = _KIND_STYLES[kind]
        axes.plot([], [], marker, color=colour, markersize=4.5, label=kind)
    axes.plot([], [], "o", color=SOFT, markerfacecolor=PAPER, markersize=4.5, label=f"{BEFORE}: the control, near 0")
    labels = [f"{name(conference)} {year}" for conference, year, _ in rows]
    words = [f"{label}, control" if key[2] == BEFORE else label for label, key in zip(labels, rows, strict=True)]
    name_rows(axes, words)
    axes.xaxis.set_major_formatter(whole_percent)
    is_estimated = table["share"].is_not_null().any()
    axes.set_xlabel(
        f"share of texts written by a model{': reviews as estimated, others' if is_estimated else ','} at least"
    )
    grid(axes)
    figure.legend(loc="outside lower center", ncols=4)
    return figure


def _draw_population(axes: "Axes", row: _Row, y: float) -> None:
    prefix = "at_least" if row["share"] is None else "share"
    marker, colour = _KIND_STYLES[row["of"]]
    axes.plot([row[f"{prefix}_low"], row[f"{prefix}_high"]], [y, y], color=colour, linewidth=1.4)
    axes.plot(
        row[prefix],
        y,
        marker=marker,
        color=colour,
        markerfacecolor=PAPER if row["written"] == BEFORE else colour,
        markersize=4.5,
        linestyle="none",
    )

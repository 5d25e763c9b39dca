"""Figures of distributions: scores, their change, agreement and delays; each draws one table and adds no number."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from peercorpus.report.discussion import WAYS, duration
from peercorpus.report.scores import GRID
from peercorpus.report.statistic import Statistic, percent
from peercorpus.report.style import (
    BLUE,
    FAINT,
    INK,
    ORANGE,
    PAPER,
    SKY,
    SOFT,
    VERMILION,
    grid,
    name,
    name_rows,
    new_figure,
    rows_height,
    whole_numbers,
    whole_percent,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = Mapping[str, Any]
STEP = GRID[1] - GRID[0]
SOON, LATE = 0.1, 24 * 60.0
"""Hours at which the axis of delays begins and ends at least."""
MOMENTS = ((1, "1 h"), (6, "6 h"), (24, "1 day"), (72, "3 days"), (168, "1 week"), (672, "4 weeks"))


def _box(axes: "Axes", row: Row, place: float, half: float, prefix: str = "", colour: str = PAPER) -> None:
    """A box that lies, from quartile to quartile, with median, mean and whiskers."""
    from matplotlib.patches import Rectangle

    ends = ("whisker_low", "lower_quartile", "median", "upper_quartile", "whisker_high", "mean")
    low, first, middle, third, high, mean = (row[prefix + one] for one in ends)
    axes.plot([low, first], [place, place], color=INK, linewidth=0.8)
    axes.plot([third, high], [place, place], color=INK, linewidth=0.8)
    axes.add_patch(
        Rectangle(
            (first, place - half), third - first, 2 * half, facecolor=colour, edgecolor=INK, linewidth=0.8, zorder=3
        )
    )
    axes.plot([middle, middle], [place - half, place + half], color=INK, linewidth=2, zorder=4, solid_capstyle="butt")
    axes.plot(mean, place, marker="D", color=PAPER, markeredgecolor=INK, markersize=3, markeredgewidth=0.7, zorder=5)


def _violin(axes: "Axes", row: Row, place: int) -> None:
    # Neighbours of the ends are moved there, so that the shape begins and ends with the scores.
    inside = [at for at in range(len(GRID)) if row["least"] - STEP < GRID[at] < row["greatest"] + STEP]
    most = max(row["density"][at] for at in inside)
    half = [0.42 * row["density"][at] / most for at in inside]
    places = [min(max(GRID[at], row["least"]), row["greatest"]) for at in inside]
    axes.fill_between(
        places,
        [place - one for one in half],
        [place + one for one in half],
        facecolor=SKY,
        alpha=0.55,
        edgecolor=BLUE,
        linewidth=0.8,
    )


def score_violins(statistic: Statistic) -> "Figure":
    """A violin with a box for each conference."""
    table = statistic.table.filter(statistic.table["reviews"] > 0)
    figure = new_figure(rows_height(table.height, 0.9, 0.4))
    axes = figure.subplots()
    labels = []
    for place, row in enumerate(table.iter_rows(named=True)):
        if row["density"] is not None:
            _violin(axes, row, place)
        _box(axes, row, place, 0.08)
        labels.append(f"{name(row['conference'])}\nn = {row['reviews']:,}")
    name_rows(axes, labels)
    axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel("recommendation, as a share of the form's scale (0: lowest answer, 1: highest)")
    grid(axes)
    return figure


def score_changes(statistic: Statistic) -> "Figure":
    """Reviews by their change, and the share of papers accepted."""
    table = statistic.table
    figure = new_figure(rows_height(table.height, 0.95, 0.3))
    left, right = figure.subplots(1, 2, width_ratios=[1.1, 1])
    hatches = ["xxxx" if one.startswith("lower") else "" if one == "unchanged" else "////" for one in table["change"]]
    colours = [ORANGE if one.startswith("lower") else PAPER if one == "unchanged" else SKY for one in table["change"]]
    reviews = table["reviews"].to_list()
    bars = left.barh(range(len(reviews)), reviews, color=colours, edgecolor=INK, linewidth=0.6, height=0.62)
    for row, (bar, hatch, count) in enumerate(zip(bars, hatches, reviews, strict=True)):
        bar.set_hatch(hatch)
        text = f"{count:,}  ({percent(count / statistic.n)})" if count else "0"
        left.annotate(text, (count, row), (3, 0), textcoords="offset points", va="center", fontsize=7.5)
    left.set_xlim(0, 1.6 * max(reviews))
    whole_numbers(left, "x", 4)
    left.set_title("Reviews by change of the score")
    for row, told in enumerate(table.iter_rows(named=True)):
        _accepted(right, row, told)
    right.set_xlim(-0.02, 1.02)
    right.xaxis.set_major_formatter(whole_percent)
    right.set_title("Accepted, of those decided")
    name_rows(left, table["change"].to_list())
    name_rows(right, table["change"].to_list(), shown=False)
    grid(left)
    grid(right)
    return figure


def _accepted(axes: "Axes", row: int, told: Row) -> None:
    decided = told["accepted"] + told["rejected"]
    if not decided:
        axes.text(0.02, row, "none decided", va="center", fontsize=7, color=SOFT)
        return
    axes.plot([told["interval_low"], told["interval_high"]], [row, row], color=INK, linewidth=0.9)
    share = told["share_accepted"]
    axes.plot(share, row, marker="o", color=VERMILION, markeredgecolor=INK, markeredgewidth=0.5, markersize=5)
    text = f"{percent(share)} of {decided:,}"
    axes.annotate(text, (share, row), (0, -5), textcoords="offset points", va="top", ha=_side(share), fontsize=7)


def _side(share: float) -> str:
    return "right" if share > 0.85 else "left" if share < 0.15 else "center"


def agreement(statistic: Statistic) -> "Figure":
    """α before and after the discussion, and how far the scores of a paper lie apart."""
    table = statistic.table.filter(statistic.table["papers"] > 0)
    figure = new_figure(rows_height(table.height, 1.3, 0.32))
    left, right = figure.subplots(1, 2)
    rows = list(table.iter_rows(named=True))
    known = [row[one] for row in rows for one in ("alpha", "alpha_before", "alpha_after") if row[one] is not None]
    for place, row in enumerate(rows):
        before, after = row["alpha_before"], row["alpha_after"]
        if before is not None and after is not None:
            left.plot([before, after], [place, place], color=FAINT, linewidth=2, zorder=1)
        _point(left, before, place, "o", PAPER, "before (first given)")
        _point(left, after, place, "o", BLUE, "after, same reviews")
        _point(left, row["alpha"], place, "D", ORANGE, "all scores, as they stand")
        _box(right, row, place, 0.2, "spread_", SKY)
    left.axvline(0, color=SOFT, linewidth=0.6, linestyle="--")
    left.set_xlim(min(-0.1, *known) - 0.05 if known else -0.1, max(1.0, *known) + 0.05 if known else 1.05)
    left.set_title("Krippendorff's α")
    right.set_xlim(-0.02, 1.02)
    right.set_title("Spread within a paper")
    right.xaxis.set_major_formatter(whole_percent)
    right.set_xlabel("of the scale, greatest less least score")
    name_rows(left, [f"{name(row['conference'])}\n{row['papers']:,} papers" for row in rows])
    name_rows(right, ["" for _ in rows], shown=False)
    handles, labels = left.get_legend_handles_labels()
    unique = dict(zip(labels, handles, strict=True))
    figure.legend(unique.values(), unique.keys(), loc="outside lower center", ncols=3)
    grid(left)
    grid(right)
    return figure


def _point(axes: "Axes", at: float | None, place: int, marker: str, colour: str, label: str) -> None:
    if at is None:
        return
    size = 5 if marker == "o" else 4
    looks: dict[str, Any] = {"markeredgecolor": INK, "markeredgewidth": 0.7, "markersize": size, "linestyle": "none"}
    axes.plot([at], [place], marker=marker, color=colour, label=label, zorder=3, **looks)


def delays(statistic: Statistic) -> "Figure":
    """The time to an answer, by who answers and by conference, on an axis of orders of magnitude."""
    order = statistic.table["conference"].unique(maintain_order=True).to_list()
    figure = new_figure(rows_height(len(order), 1.05, 0.26))
    parts = figure.subplots(1, 2, sharex=True)
    for axes, who, colour in zip(parts, WAYS, (SKY, ORANGE), strict=True):
        rows = statistic.table.filter(who_answers=who).to_dicts()
        for place, row in enumerate(rows):
            _delay(axes, row, place, colour)
        axes.set_title(f"Until the {who} answer")
        axes.set_xscale("log")
        ends = [row["p90_h"] for row in rows if row["answers"]]
        axes.set_xlim(SOON * 0.8, max(LATE, *ends) * 1.2 if ends else LATE)
        axes.set_xticks([at for at, _ in MOMENTS], [text for _, text in MOMENTS], rotation=40, ha="right")
        axes.minorticks_off()
        _name(axes, order, shown=who == next(iter(WAYS)))
        grid(axes)
    return figure


def _name(axes: "Axes", order: Sequence[str | None], *, shown: bool) -> None:
    name_rows(axes, ["all conferences" if one is None else name(one) for one in order], shown=shown)


def _delay(axes: "Axes", row: Row, place: int, colour: str) -> None:
    if not row["answers"]:
        axes.text(SOON, place, "none", va="center", fontsize=7, color=SOFT)
        return
    ends = ("p10_h", "lower_quartile_h", "median_h", "upper_quartile_h", "p90_h")
    low, first, middle, third, high = (max(SOON, row[one]) for one in ends)
    axes.plot([low, high], [place, place], color=INK, linewidth=0.8)
    axes.barh(place, third - first, left=first, height=0.5, color=colour, edgecolor=INK, linewidth=0.7, zorder=3)
    axes.plot([middle, middle], [place - 0.25, place + 0.25], color=INK, linewidth=2, zorder=4)
    axes.annotate(
        duration(row["median_h"]), (SOON, place), (2, 0), textcoords="offset points", va="center", fontsize=7, color=INK
    )

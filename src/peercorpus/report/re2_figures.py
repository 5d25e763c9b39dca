"""Draw the violins of Re² (Fig. 2 f and Fig. 3): upright, with a box inside, on the scale of 1 to 10."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from peercorpus.report.corpus_statistics import Statistic
from peercorpus.report.figure_style import BLUE, INK, ORANGE, PAPER, SKY, SOFT, VERMILION, grid, name, new_figure
from peercorpus.report.re2_statistics import grid_between

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_Row = Mapping[str, Any]
_HALF_WIDTH = 0.42
"""Half the width of the widest violin, with neighbours 1 apart."""
_LABEL_GAP = 0.62
"""Minimum distance between two labels of Fig. 3, in points of the scale."""
_AXIS_LABEL = "review score, on 1 to 10"


def draw_violins(statistic: Statistic) -> "Figure":
    """Draw an upright violin with a box inside for each conference."""
    rows = list(statistic.table.filter(pl.col("reviews") > 0).iter_rows(named=True))
    figure = new_figure(3.6)
    axes = figure.subplots()
    most = _find_highest_density(rows)
    for x, row in enumerate(rows):
        _draw_contour(axes, row, x, most)
        _draw_box(axes, row, x, 0.07)
    labels = [f"{name(row['conference'])}\nn = {row['reviews']:,}" for row in rows]
    axes.set_xticks(range(len(rows)), labels, rotation=35, ha="right", rotation_mode="anchor")
    axes.set_xlim(-0.6, max(len(rows), 3) - 0.4)
    _name_scale(axes)
    return figure


def draw_violin_details(statistic: Statistic) -> "Figure":
    """Draw a violin for each conference, with the names and values of its parts."""
    rows = list(statistic.table.filter(pl.col("reviews") > 0).iter_rows(named=True))
    figure = new_figure(3.9)
    places = figure.subplots(1, len(rows), sharey=True, squeeze=False).flat
    for axes, row in zip(places, rows, strict=True):
        _draw_contour(axes, row, 0, _find_highest_density([row]))
        _draw_box(axes, row, 0, 0.09)
        _label_parts(axes, row)
        axes.set_title(f"{name(row['conference'])}  (n = {row['reviews']:,})")
        axes.set_xticks([])
        axes.set_xlim(-0.55, 1.75)
        _name_scale(axes)
    return figure


def _find_highest_density(rows: Sequence[_Row]) -> float:
    """Return the greatest density of all violins: with one common scale of width, their areas are equal."""
    return max((max(row["density"]) for row in rows if row["density"]), default=1.0)


def _draw_contour(axes: "Axes", row: _Row, x: float, most: float) -> None:
    if not row["density"]:
        return  # All scores are equal: there is only the box, which is a line.
    half = [_HALF_WIDTH * height / most for height in row["density"]]
    axes.fill_betweenx(
        grid_between(row["tail_low"], row["tail_high"]),
        [x - width for width in half],
        [x + width for width in half],
        facecolor=SKY,
        alpha=0.55,
        edgecolor=BLUE,
        linewidth=0.8,
    )


def _draw_box(axes: "Axes", row: _Row, x: float, half: float) -> None:
    """Draw the box upright, with whiskers and the median as a bold line."""
    from matplotlib.patches import Rectangle

    low, first, middle, third, high = (row[end] for end in _BOX_ENDS)
    for start, end in ((low, first), (third, high)):
        axes.plot([x, x], [start, end], color=INK, linewidth=0.9, zorder=3)
    for end in (low, high):
        axes.plot([x - half / 2, x + half / 2], [end, end], color=INK, linewidth=0.9, zorder=3)
    axes.add_patch(
        Rectangle((x - half, first), 2 * half, third - first, facecolor=ORANGE, edgecolor=INK, linewidth=0.8, zorder=4)
    )
    bold = {"color": INK, "linewidth": 2.6, "zorder": 5, "solid_capstyle": "butt"}
    axes.plot([x - half, x + half], [middle, middle], **bold)  # type: ignore[arg-type] # Matplotlib's style arguments


_BOX_ENDS = ("whisker_low", "lower_quartile", "median", "upper_quartile", "whisker_high")


def _name_scale(axes: "Axes") -> None:
    axes.set_yticks(range(1, 11))
    axes.set_ylabel(_AXIS_LABEL)
    axes.label_outer()
    grid(axes, "y")


def _label_parts(axes: "Axes", row: _Row) -> None:
    """Write the name and value of each part to the right of a violin, with a line to it."""
    parts = [
        (row["whisker_low"], f"lower whisker {row['whisker_low']:.4g}", INK),
        (row["lower_quartile"], f"Q1 {row['lower_quartile']:.4g}", INK),
        (row["median"], f"median {row['median']:.4g}", VERMILION),
        (row["upper_quartile"], f"Q3 {row['upper_quartile']:.4g}", INK),
        (row["whisker_high"], f"upper whisker {row['whisker_high']:.4g}", INK),
    ]
    parts.append(((row["lower_quartile"] + row["upper_quartile"]) / 2, f"IQR {row['iqr']:.4g}", SOFT))
    if row["density"]:
        parts += [(row[end], "tail, beyond the data", SOFT) for end in ("tail_low", "tail_high")]
    parts.sort(key=lambda part: part[0])
    places = spread([place for place, _, _ in parts], _LABEL_GAP)
    for (place, text, colour), y in zip(parts, places, strict=True):
        start = 0.02 if text.startswith(("tail", "lower w", "upper w")) else 0.09
        axes.plot([start, 0.5, 0.58], [place, y, y], color=SOFT, linewidth=0.5, zorder=2)
        axes.text(0.61, y, text, va="center", fontsize=7, color=colour, bbox={"facecolor": PAPER, **_NO_EDGE})


_NO_EDGE: dict[str, Any] = {"edgecolor": "none", "pad": 0.4}


def spread(places: Sequence[float], gap: float) -> list[float]:
    """Return ascending places moved apart as little as possible, so that neighbours are at least `gap` apart.

    >>> spread([1, 5, 5, 9], 1)
    [1.0, 4.5, 5.5, 9.0]
    """
    groups: list[list[float]] = []
    for place in places:
        groups.append([float(place)])
        while len(groups) > 1 and _end(groups[-2], gap) + gap > _start(groups[-1], gap):
            last = groups.pop()
            groups[-1] += last
    return [_start(group, gap) + gap * index for group in groups for index in range(len(group))]


def _start(group: Sequence[float], gap: float) -> float:
    """Return the start of a group of labels centred on the mean of its places."""
    return sum(group) / len(group) - gap * (len(group) - 1) / 2


def _end(group: Sequence[float], gap: float) -> float:
    return _start(group, gap) + gap * (len(group) - 1)

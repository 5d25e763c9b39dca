"""Draw the violins of Re² (Fig. 2 f and Fig. 3): upright, with a box inside, on the scale of 1 to 10."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from peercorpus.report.corpus_statistics import TOP, Statistic, largest, nothing, quartiles
from peercorpus.report.figure_style import BLUE, INK, ORANGE, PAPER, SKY, SOFT, VERMILION, grid, name, new_figure
from peercorpus.report.review_statistics import gaussian_density, scott_bandwidth
from peercorpus.report.source import CorpusSource
from peercorpus.wording.counted_nouns import plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


GRID_POINTS = 100
"""Points at which a density is computed; seaborn's default `gridsize`."""
CUT = 2.0
"""Bandwidths by which a violin extends beyond the lowest and highest score; seaborn's default `cut`."""
DETAILED = 3
"""Number of conferences in Fig. 3 if none is named."""
BOX = ("whisker_low", "lower_quartile", "median", "upper_quartile", "whisker_high")
_SCHEMA: dict[str, Any] = {
    "conference": pl.String,
    "papers": pl.Int64,
    "reviews": pl.Int64,
    "not_known": pl.Int64,
    **dict.fromkeys(("least", *BOX, "greatest", "iqr", "bandwidth", "tail_low", "tail_high"), pl.Float64),
    "peaks": pl.Int64,
    "density": pl.List(pl.Float64),
}
"""`density` is given at `GRID_POINTS` equidistant points from `tail_low` to `tail_high`; null if all scores are
equal."""
_HOW = (
    "Current overall recommendations on Re²'s scale of 1 to 10, if the wording of a form shows which of its answers"
    " mean acceptance, or as Re² states them. Re², Appendix A: Gaussian kernel (eq. 1 and 2) with Scott's bandwidth,"
    " seaborn's default, and tails of 2 bandwidths beyond the data; equal areas; box from Q1 to Q3 with the median in"
    " bold; whiskers to max(min(X), Q1 - 1.5 IQR) and min(max(X), Q3 + 1.5 IQR) (eq. 3 and 4)."
)
_MISSING = "its place on the scale of 1 to 10 is not known"
_NONE = (
    "No review of this selection has a place on Re²'s scale of 1 to 10: no form shows by its wording which of its"
    " answers mean acceptance, and no record of Re² states it."
)


def measure_box(values: pl.Series) -> Mapping[str, float]:
    """Return quartiles, IQR and the whiskers of Re²'s equations 3 and 4, which need not be actual scores."""
    low, middle, high = quartiles(values)
    iqr = high - low
    least, greatest = (float(str(end)) for end in (values.min(), values.max()))
    return {
        "least": least,
        "whisker_low": max(least, low - 1.5 * iqr),
        "lower_quartile": low,
        "median": middle,
        "upper_quartile": high,
        "whisker_high": min(greatest, high + 1.5 * iqr),
        "greatest": greatest,
        "iqr": iqr,
    }


def grid_between(low: float, high: float) -> list[float]:
    """Return `GRID_POINTS` equidistant points, including both ends."""
    step = (high - low) / (GRID_POINTS - 1)
    return [low + step * index for index in range(GRID_POINTS)]


def count_peaks(heights: Sequence[float]) -> int:
    """Return the number of points that are higher than the previous one and not lower than the next.

    >>> count_peaks([0, 1, 3, 3, 1, 2, 0])
    2
    """
    return sum(a < b >= c for a, b, c in zip(heights, heights[1:], heights[2:], strict=False))


def measure_shape(values: pl.Series) -> Mapping[str, object]:
    """Return the contour of a violin: bandwidth, ends, density and its peaks; nothing if all values are equal."""
    width = scott_bandwidth(values)
    if width is None:
        return {}
    least, greatest = (float(str(end)) for end in (values.min(), values.max()))
    low, high = least - CUT * width, greatest + CUT * width
    heights = gaussian_density(values, width, grid_between(low, high))
    peaks = count_peaks(heights)
    return {"bandwidth": width, "tail_low": low, "tail_high": high, "peaks": peaks, "density": heights}


def _measure_violins(source: CorpusSource, conferences: Sequence[str]) -> tuple[pl.DataFrame, dict[str, int]]:
    """Return a row for each conference, and the number of reviews that could not be placed, by reason."""
    papers = source.papers.select("forum_id", "conference")
    reviews = source.reviews.select("forum_id", "unified").join(papers, on="forum_id", maintain_order="left")
    rows: list[dict[str, object]] = []
    for conference in conferences:
        every = reviews.filter(conference=conference)["unified"]
        values = every.drop_nulls()
        row: dict[str, object] = {
            "conference": conference,
            "papers": papers.filter(conference=conference).height,
            "reviews": values.len(),
            "not_known": every.null_count(),
        }
        if not values.is_empty():
            row |= {**measure_box(values), **measure_shape(values)}
        rows.append(row)
    table = pl.DataFrame(rows, schema=_SCHEMA)
    return table, {_MISSING: int(table["not_known"].sum())}


def _describe(table: pl.DataFrame) -> str:
    scored = table.filter(pl.col("reviews") > 0).sort("median", "conference")
    low, high = scored.row(0, named=True), scored.row(-1, named=True)
    if low["median"] == high["median"]:
        return f"The median score of {plural(scored.height, 'conference')} is {low['median']:g}."
    says = (
        f"The median scores of {plural(scored.height, 'conference')} lie between {low['median']:g}"
        f" ({low['conference']}) and {high['median']:g} ({high['conference']})."
    )
    shaped = scored.drop_nulls("peaks").sort("peaks", "conference")
    if shaped.height < 2:
        return says
    fewest, most = shaped.row(0, named=True), shaped.row(-1, named=True)
    return (
        f"{says} Fewest peaks: {fewest['conference']} ({fewest['peaks']});"
        f" most: {most['conference']} ({most['peaks']})."
    )


def score_violins(source: CorpusSource) -> Statistic:
    """Describe the unified scores of the ten conferences with the most papers (Re², Fig. 2 f)."""
    return _make_statistic(*_measure_violins(source, largest(source.papers)[:TOP]))


def violin_details(source: CorpusSource) -> Statistic:
    """Describe the unified scores of the three conferences with the most papers in full (Re², Fig. 3).

    Only conferences with a score on the scale are shown.
    """
    scored = source.reviews.drop_nulls("unified").join(source.papers, on="forum_id")["conference"].unique()
    chosen = [name for name in largest(source.papers) if name in scored][:DETAILED]
    return _make_statistic(*_measure_violins(source, chosen))


def _make_statistic(table: pl.DataFrame, missing: Mapping[str, int]) -> Statistic:
    n = int(table["reviews"].sum())
    if not n:
        return nothing(table, "review", _NONE, _HOW, missing)
    return Statistic(table=table, n=n, of="review", says=_describe(table), how=_HOW, unknown=missing)


_Row = Mapping[str, Any]
_HALF_WIDTH = 0.42
"""Half the width of the widest violin, with neighbours 1 apart."""
_LABEL_GAP = 0.62
"""Minimum distance between two labels of Fig. 3, in points of the scale."""


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

    low, first, middle, third, high = (row[end] for end in BOX)
    for start, end in ((low, first), (third, high)):
        axes.plot([x, x], [start, end], color=INK, linewidth=0.9, zorder=3)
    for end in (low, high):
        axes.plot([x - half / 2, x + half / 2], [end, end], color=INK, linewidth=0.9, zorder=3)
    axes.add_patch(
        Rectangle((x - half, first), 2 * half, third - first, facecolor=ORANGE, edgecolor=INK, linewidth=0.8, zorder=4)
    )
    bold = {"color": INK, "linewidth": 2.6, "zorder": 5, "solid_capstyle": "butt"}
    axes.plot([x - half, x + half], [middle, middle], **bold)  # type: ignore[arg-type] # Matplotlib's style arguments


def _name_scale(axes: "Axes") -> None:
    axes.set_yticks(range(1, 11))
    axes.set_ylabel("review score, on 1 to 10")
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

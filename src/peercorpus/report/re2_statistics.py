"""Compute the violins of Re² (arXiv:2505.07920, Fig. 2 f and Fig. 3) as its Appendix A defines them.

Scores are on Re²'s scale of 1 to 10, where 6 and above mean acceptance. They are placed by the wording of a venue's
form, or else as Re² itself states them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from peercorpus.records.counted_nouns import plural
from peercorpus.report.corpus_statistics import TOP, Statistic, largest, nothing, quartiles
from peercorpus.report.review_statistics import gaussian_density, scott_bandwidth
from peercorpus.report.source import CorpusSource

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

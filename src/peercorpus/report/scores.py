"""The scores that reviewers gave: how they spread, how they changed, and how far reviewers agree."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from peercorpus.metrics.krippendorff import alpha
from peercorpus.metrics.shares import wilson
from peercorpus.report.source import Source
from peercorpus.report.statistic import (
    TOP,
    VERDICTS,
    Statistic,
    counted,
    largest,
    nothing,
    percent,
    quartiles,
)

GRID = [step / 100 for step in range(101)]
"""Where densities are given."""
UNIT = (pl.col("high") != pl.col("low")) & pl.col("low").is_not_null() & pl.col("high").is_not_null()
ON_UNIT = "Scores are put on [0, 1] of the scale that the form offers, as venues have different ones."
TINY = 1e-9
CLASSES: Sequence[tuple[str, float, float]] = (
    ("lowered by more than 15 %", -math.inf, -0.15 - TINY),
    ("lowered by up to 15 %", -0.15 - TINY, -TINY),
    ("unchanged", -TINY, TINY),
    ("raised by up to 15 %", TINY, 0.15 + TINY),
    ("raised by 15 to 30 %", 0.15 + TINY, 0.3 + TINY),
    ("raised by more than 30 %", 0.3 + TINY, math.inf),
)
"""Changes in shares of the scale: above the first bound, to the second."""


def on_unit(source: Source) -> pl.DataFrame:
    """Each review's conference, and its recommendation on [0, 1] as first given and as it stands now."""
    papers = source.papers.select("forum_id", "conference", "status")
    units = {
        name: pl.when(UNIT).then((pl.col(f"rating_{name}") - pl.col("low")) / (pl.col("high") - pl.col("low")))
        for name in ("initial", "final")
    }
    return source.reviews.join(papers, on="forum_id", maintain_order="left").with_columns(**units)


def density(values: pl.Series) -> tuple[float, list[float]] | None:
    """The bandwidth (Scott's rule) and a Gaussian kernel's density at each place of `GRID`; None where values are one.

    Scott's rule for one dimension: n ** (-1/5) times the standard deviation (n - 1), as in SciPy and Matplotlib.
    """
    deviation = float(str(values.std() or 0.0))
    if deviation < TINY:
        return None
    n, width = values.len(), deviation * values.len() ** -0.2
    counts = values.value_counts(sort=False).sort(values.name).rows()
    scale = n * width * math.sqrt(2 * math.pi)
    heights = [sum(m * math.exp(-(((at - x) / width) ** 2) / 2) for x, m in counts) / scale for at in GRID]
    return width, heights


def box(values: pl.Series) -> Mapping[str, float]:
    """Mean, quartiles and whiskers: these end at the furthest value within 1.5 interquartile ranges of the box."""
    low, middle, high = quartiles(values)
    reach = 1.5 * (high - low)
    inside = values.filter((values >= low - reach - TINY) & (values <= high + reach + TINY))
    ends = {"whisker_low": min(inside.min(), low), "whisker_high": max(inside.max(), high)}  # type: ignore[type-var]
    told = {"mean": values.mean(), "lower_quartile": low, "median": middle, "upper_quartile": high, **ends}
    return {name: float(str(value)) for name, value in told.items()}


BOX = ("mean", "lower_quartile", "median", "upper_quartile", "whisker_low", "whisker_high")
VIOLINS: dict[str, Any] = {
    "conference": pl.String,
    "reviews": pl.Int64,
    "not_known": pl.Int64,
} | dict.fromkeys(BOX, pl.Float64)
SPREADS: dict[str, Any] = {
    "least": pl.Float64,
    "greatest": pl.Float64,
    "bandwidth": pl.Float64,
    "density": pl.List(pl.Float64),
}


def score_violins(source: Source) -> Statistic:
    """Recommendations of the ten largest conferences on [0, 1]: density and box (Re², Fig. 2 f)."""
    how = (
        f"Overall recommendations as they stand now. {ON_UNIT} Gaussian kernel, bandwidth by Scott's rule, cut at the"
        " least and the greatest score; box from quartile to quartile with the median; whiskers to the furthest score"
        " within 1.5 interquartile ranges of the box (Tukey's)."
    )
    scores, rows, unknown = on_unit(source), [], 0
    for conference in largest(source.papers)[:TOP]:
        every = scores.filter(conference=conference)["final"]
        values = every.drop_nulls()
        row: dict[str, object] = {"conference": conference, "reviews": values.len(), "not_known": every.null_count()}
        unknown += every.null_count()
        if not values.is_empty():
            width, heights = density(values) or (None, None)
            ends = {"least": values.min(), "greatest": values.max()}
            row |= {**box(values), **ends, "bandwidth": width, "density": heights}
        rows.append(row)
    table = pl.DataFrame(rows, schema=VIOLINS | SPREADS)
    n, missing = int(table["reviews"].sum()), {"no number, or its scale is not known": unknown}
    if not n:
        return nothing(table, "reviews", "No review of this selection has a score on a known scale.", how, missing)
    known = table.filter(pl.col("reviews") > 0).sort("median", "conference")
    low, high = known.row(0, named=True), known.row(-1, named=True)
    says = f"The median recommendation is {high['median']:.2f} of the scale at {high['conference']}"
    says += "." if known.height == 1 else f", the highest, and {low['median']:.2f} at {low['conference']}, the lowest."
    return Statistic(table, n, "reviews", says, how, missing)


def _classes(changes: str) -> pl.Expr:
    chain = pl.lit(None, pl.String)
    for name, above, upto in CLASSES:
        chain = pl.when((pl.col(changes) > above) & (pl.col(changes) <= upto)).then(pl.lit(name)).otherwise(chain)
    return chain


def score_changes(source: Source) -> Statistic:
    """How recommendations changed after the rebuttal, and what became of the papers."""
    how = (
        f"The overall recommendation as first given and as it stands now, where both are known. {ON_UNIT} A paper's"
        " change is the mean of its reviews'; the share is that of accepted papers among those accepted or rejected,"
        " with its 95 % interval (Wilson's)."
    )
    scores = on_unit(source).with_columns(change=pl.col("final") - pl.col("initial"))
    known = scores.drop_nulls("change")
    standing = scores["final"].drop_nulls().len()
    missing = {
        "the first score is not known": standing - known.height,
        "no number, or its scale is not known": scores.height - standing,
    }
    reviews = known.group_by(change=_classes("change")).agg(reviews=pl.len().cast(pl.Int64))
    means = known.group_by("forum_id", "status").agg(pl.col("change").mean())
    papers = means.group_by(change=_classes("change")).agg(papers=pl.len().cast(pl.Int64), **VERDICTS)
    every = pl.DataFrame({"change": [name for name, _, _ in CLASSES]})
    table = every.join(reviews, on="change", how="left", maintain_order="left").join(
        papers, on="change", how="left", maintain_order="left"
    )
    counts = ["reviews", "papers", "accepted", "rejected"]
    table = _with_shares(table.with_columns(pl.col(*counts).fill_null(0)))
    if known.is_empty():
        why = "Of no review of this selection both the first score and the last are known."
        return nothing(table, "reviews", why, how, missing)
    return Statistic(table, known.height, "reviews", _changes_say(table, known.height), how, missing)


def _with_shares(table: pl.DataFrame) -> pl.DataFrame:
    """With the share of accepted papers and its interval."""
    shares = []
    for row in table.iter_rows(named=True):
        decided = row["accepted"] + row["rejected"]
        bounds = wilson(row["accepted"], decided)
        shares.append((row["accepted"] / decided, *bounds) if bounds else (None, None, None))
    names = ("share_accepted", "interval_low", "interval_high")
    return table.hstack(pl.DataFrame(shares, schema=dict.fromkeys(names, pl.Float64), orient="row"))


def _changes_say(table: pl.DataFrame, n: int) -> str:
    way = (
        table.with_columns(way=pl.col("change").str.split(" ").list.first())
        .group_by("way")
        .agg(pl.col("reviews", "papers", "accepted", "rejected").sum())
    )
    held = {row["way"]: row for row in way.iter_rows(named=True)}
    raised, same, lowered = held["raised"], held["unchanged"], held["lowered"]
    says = (
        f"Of {counted(n, 'reviews')}, {percent(raised['reviews'] / n)} raised their recommendation,"
        f" {percent(lowered['reviews'] / n)} lowered it and {percent(same['reviews'] / n)} left it."
    )
    shares = [
        f"{percent(one['accepted'] / (one['accepted'] + one['rejected']))} where {words}"
        for one, words in ((raised, "their mean rose"), (same, "it stayed"), (lowered, "it fell"))
        if one["accepted"] + one["rejected"]
    ]
    return f"{says} Accepted of the papers decided: {', '.join(shares)}." if shares else says


AGREEMENT = {
    "conference": pl.String,
    "papers": pl.Int64,
    "scores": pl.Int64,
    "alpha": pl.Float64,
    "papers_before_and_after": pl.Int64,
    "alpha_before": pl.Float64,
    "alpha_after": pl.Float64,
} | {f"spread_{name}": pl.Float64 for name in BOX}


def agreement(source: Source) -> Statistic:
    """How far the reviewers of one paper agree, and whether the discussion brings them together."""
    how = (
        "Krippendorff's α for intervals (1: they agree wholly; 0: as by chance) over the recommendations of papers with"
        " two or more, as they stand now; before and after: of the reviews of which both are known. The spread of a"
        f" paper is its greatest score less its least. {ON_UNIT}"
    )
    scores = on_unit(source)
    known = scores.drop_nulls("final")
    shared = known.filter(pl.len().over("forum_id") > 1)
    alone = known.height - shared.height
    missing = {
        "no number, or its scale is not known": scores.height - known.height,
        "the only score of its paper": alone,
    }
    order = largest(source.papers)[:TOP]
    rows = [_agreement_of(conference, shared.filter(conference=conference)) for conference in order]
    table = pl.DataFrame(rows, schema=AGREEMENT)
    n = int(table["scores"].sum())
    if not n:
        why = "No paper of this selection has two scores on a known scale."
        return nothing(table, "scores", why, how, missing)
    return Statistic(table, n, "scores", _agreement_says(table), how, missing)


def _agreement_of(conference: str, shared: pl.DataFrame) -> dict[str, object]:
    row: dict[str, object] = {
        "conference": conference,
        "papers": shared["forum_id"].n_unique(),
        "scores": shared.height,
        "alpha": alpha(shared.select(unit="forum_id", value="final")),
    }
    both = shared.drop_nulls("initial").filter(pl.len().over("forum_id") > 1)
    row |= {
        "papers_before_and_after": both["forum_id"].n_unique(),
        "alpha_before": alpha(both.select(unit="forum_id", value="initial")),
        "alpha_after": alpha(both.select(unit="forum_id", value="final")),
    }
    if not shared.is_empty():
        apart = pl.col("final").max() - pl.col("final").min()
        spreads = shared.group_by("forum_id", maintain_order=True).agg(spread=apart)["spread"]
        row |= {f"spread_{name}": value for name, value in box(spreads).items()}
    return row


def _agreement_says(table: pl.DataFrame) -> str:
    told = table.drop_nulls("spread_median").sort("papers", descending=True, maintain_order=True).row(0, named=True)
    value = "not defined, as all scores are equal" if told["alpha"] is None else f"{told['alpha']:.2f}"
    says = (
        f"At {told['conference']} α is {value}; the scores of a paper there typically lie"
        f" {percent(told['spread_median'])} of the scale apart."
    )
    both = table.drop_nulls(["alpha_before", "alpha_after"])
    if both.height:
        rose = both.filter(pl.col("alpha_after") > pl.col("alpha_before")).height
        says += f" After the discussion reviewers agree more at {rose:,} of {counted(both.height, 'conferences')}."
    return says

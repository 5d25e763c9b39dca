"""Compute the statistics of reviews and conversations: scores, their changes, agreement, turns, delays.

Scores of different venues are compared on [0, 1]: the share of the form's scale between its lowest and highest answer.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from peercorpus.metrics.intervals.papers import wilson_interval
from peercorpus.metrics.prediction import alpha
from peercorpus.records.enums import Role
from peercorpus.report.corpus_statistics import (
    TOP,
    VERDICTS,
    Statistic,
    largest,
    nothing,
    percent,
    percent_or_count,
    quartiles,
)
from peercorpus.report.source import CorpusSource, one_per_rater, units_of_ratings
from peercorpus.wording.counted_nouns import plural

GRID = [step / 100 for step in range(101)]
"""Scores at which densities are computed."""
_ON_UNIT = (
    "Scores are mapped to [0, 1] on the form's scale, 1 being its best answer, because scales differ between venues."
)
TOLERANCE = 1e-9
"""Smaller differences of scores are rounding errors."""
_CHANGE_CLASSES: Sequence[tuple[str, float, float]] = (
    ("lowered by more than 15 %", -math.inf, -0.15 - TOLERANCE),
    ("lowered by up to 15 %", -0.15 - TOLERANCE, -TOLERANCE),
    ("unchanged", -TOLERANCE, TOLERANCE),
    ("raised by up to 15 %", TOLERANCE, 0.15 + TOLERANCE),
    ("raised by 15 to 30 %", 0.15 + TOLERANCE, 0.3 + TOLERANCE),
    ("raised by more than 30 %", 0.3 + TOLERANCE, math.inf),
)
"""Classes of changes, as shares of the scale: above the first bound, up to the second."""


def on_unit(source: CorpusSource) -> pl.DataFrame:
    """Return the reviews with conference, status, and the first and current recommendation on [0, 1]."""
    papers = source.papers.select("forum_id", "conference", "year", "status")
    joined = source.reviews.join(papers, on="forum_id", maintain_order="left")
    return joined.with_columns(**units_of_ratings())


def scott_bandwidth(values: pl.Series) -> float | None:
    """Return the bandwidth by Scott's rule for one dimension; None if all values are equal.

    It is n ** (-1/5) times the sample standard deviation, as in SciPy, Matplotlib and seaborn.
    """
    deviation = float(str(values.std() or 0.0))
    return None if deviation < TOLERANCE else deviation * values.len() ** -0.2


def gaussian_density(values: pl.Series, width: float, points: Sequence[float]) -> list[float]:
    """Return the density of values at some points, estimated with a Gaussian kernel of a given bandwidth."""
    counts = values.value_counts(sort=False).sort(values.name).rows()
    scale = values.len() * width * math.sqrt(2 * math.pi)
    return [
        sum(count * math.exp(-(((point - value) / width) ** 2) / 2) for value, count in counts) / scale
        for point in points
    ]


def density(values: pl.Series) -> tuple[float, list[float]] | None:
    """Return the bandwidth by Scott's rule, and the density at each point of `GRID`; None if all values are equal."""
    width = scott_bandwidth(values)
    return None if width is None else (width, gaussian_density(values, width, GRID))


def box(values: pl.Series) -> Mapping[str, float]:
    """Return mean, quartiles and Tukey's whiskers: the furthest values within 1.5 interquartile ranges of the box."""
    low, middle, high = quartiles(values)
    reach = 1.5 * (high - low)
    inside = values.filter((values >= low - reach - TOLERANCE) & (values <= high + reach + TOLERANCE))
    ends = {"whisker_low": min(inside.min(), low), "whisker_high": max(inside.max(), high)}  # type: ignore[type-var]
    numbers = {"mean": values.mean(), "lower_quartile": low, "median": middle, "upper_quartile": high, **ends}
    return {name: float(str(value)) for name, value in numbers.items()}


BOX = ("mean", "lower_quartile", "median", "upper_quartile", "whisker_low", "whisker_high")
_VIOLIN_SCHEMA: dict[str, Any] = {
    "conference": pl.String,
    "reviews": pl.Int64,
    "not_known": pl.Int64,
} | dict.fromkeys(BOX, pl.Float64)
_DENSITY_SCHEMA: dict[str, Any] = {
    "least": pl.Float64,
    "greatest": pl.Float64,
    "bandwidth": pl.Float64,
    "density": pl.List(pl.Float64),
}


def score_violins(source: CorpusSource) -> Statistic:
    """Describe the recommendations of the ten largest conferences by density and box (Re², Fig. 2 f)."""
    how = (
        f"Current overall recommendations. {_ON_UNIT} Gaussian kernel, bandwidth by Scott's rule, cut at the lowest"
        " and highest score; box from quartile to quartile with the median; whiskers to the furthest score"
        " within 1.5 interquartile ranges of the box (Tukey's)."
    )
    scores = on_unit(source)
    rows = []
    unknown = 0
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
    table = pl.DataFrame(rows, schema=_VIOLIN_SCHEMA | _DENSITY_SCHEMA)
    n = int(table["reviews"].sum())
    missing = {"no number, or its scale is not known": unknown}
    if not n:
        return nothing(table, "review", "No review of this selection has a score on a known scale.", how, missing)
    scored = table.filter(pl.col("reviews") > 0).sort("median", "conference")
    return Statistic(table=table, n=n, of="review", says=_describe_medians(scored), how=how, unknown=missing)


def _describe_medians(scored: pl.DataFrame) -> str:
    """Return the highest and the lowest median of conferences, which are sorted by it."""
    low, high = scored.row(0, named=True), scored.row(-1, named=True)
    says = f"The median recommendation is {high['median']:.2f} of the scale at"
    if scored.height == 1:
        return f"{says} {high['conference']}."
    if high["median"] - low["median"] < TOLERANCE:
        return f"{says} each of {plural(scored.height, 'conference')}."
    return f"{says} {high['conference']}, the highest, and {low['median']:.2f} at {low['conference']}, the lowest."


def _classify(changes: str) -> pl.Expr:
    chain = pl.lit(None, pl.String)
    for name, above, upto in _CHANGE_CLASSES:
        chain = pl.when((pl.col(changes) > above) & (pl.col(changes) <= upto)).then(pl.lit(name)).otherwise(chain)
    return chain


def score_changes(source: CorpusSource) -> Statistic:
    """Count reviews by the change of their recommendation, and papers by the mean change and the decision."""
    how = (
        f"The first and the current overall recommendation, if both are known. {_ON_UNIT} A paper's change is the"
        " mean over its reviews; the share is that of accepted papers among those accepted or rejected,"
        " with its 95 % interval (Wilson's)."
    )
    scores = on_unit(source).with_columns(change=pl.col("final") - pl.col("initial"))
    changed = scores.drop_nulls("change")
    standing = scores["final"].drop_nulls().len()
    missing = {
        "the first score is not known, or someone else changed it": standing - changed.height,
        "no number, or its scale is not known": scores.height - standing,
    }
    reviews = changed.group_by(change=_classify("change")).agg(reviews=pl.len().cast(pl.Int64))
    means = changed.group_by("forum_id", "status").agg(pl.col("change").mean())
    papers = means.group_by(change=_classify("change")).agg(papers=pl.len().cast(pl.Int64), **VERDICTS)
    every = pl.DataFrame({"change": [name for name, _, _ in _CHANGE_CLASSES]})
    table = every.join(reviews, on="change", how="left", maintain_order="left").join(
        papers, on="change", how="left", maintain_order="left"
    )
    counts = ["reviews", "papers", "accepted", "rejected"]
    table = _add_shares(table.with_columns(pl.col(*counts).fill_null(0)))
    if changed.is_empty():
        why = "No review of this selection has both a known first and a known last score."
        return nothing(table, "review", why, how, missing)
    return Statistic(
        table=table,
        n=changed.height,
        of="review",
        says=_describe_changes(table, changed.height),
        how=how,
        unknown=missing,
    )


def _add_shares(table: pl.DataFrame) -> pl.DataFrame:
    """Add the share of accepted papers and its 95 % interval (Wilson's)."""
    shares = []
    for row in table.iter_rows(named=True):
        decided = row["accepted"] + row["rejected"]
        bounds = wilson_interval(row["accepted"], decided)
        shares.append((row["accepted"] / decided, *bounds) if bounds else (None, None, None))
    names = ("share_accepted", "interval_low", "interval_high")
    return table.hstack(pl.DataFrame(shares, schema=dict.fromkeys(names, pl.Float64), orient="row"))


def _describe_changes(table: pl.DataFrame, n: int) -> str:
    way = (
        table.with_columns(way=pl.col("change").str.split(" ").list.first())
        .group_by("way")
        .agg(pl.col("reviews", "papers", "accepted", "rejected").sum())
    )
    by_way = {row["way"]: row for row in way.iter_rows(named=True)}
    raised = by_way["raised"]
    same = by_way["unchanged"]
    lowered = by_way["lowered"]
    says = (
        f"Of {plural(n, 'review')}, {percent(raised['reviews'] / n)} raised their recommendation,"
        f" {percent(lowered['reviews'] / n)} lowered it and {percent(same['reviews'] / n)} kept it."
    )
    shares = [
        f"{percent_or_count(counts['accepted'], counts['accepted'] + counts['rejected'])} where {words}"
        for counts, words in ((raised, "their mean rose"), (same, "it stayed"), (lowered, "it fell"))
        if counts["accepted"] + counts["rejected"]
    ]
    return f"{says} Accepted of the decided papers: {', '.join(shares)}." if shares else says


POPULATION = ("conference", "year", "low", "high", "higher_is_better")
"""Columns of reviews whose scores may be compared: those of one conference and year on one scale."""
_AGREEMENT_SCHEMA = {
    "conference": pl.String,
    "year": pl.Int64,
    "low": pl.Float64,
    "high": pl.Float64,
    "higher_is_better": pl.Boolean,
    "papers": pl.Int64,
    "scores": pl.Int64,
    "alpha": pl.Float64,
    "papers_before_and_after": pl.Int64,
    "alpha_before": pl.Float64,
    "alpha_after": pl.Float64,
} | {f"spread_{name}": pl.Float64 for name in BOX}


def agreement(source: CorpusSource) -> Statistic:
    """Measure the agreement of a paper's reviewers (Krippendorff's α), before and after the discussion."""
    how = (
        "Krippendorff's α for interval data (1: full agreement; 0: as by chance) over the current recommendations of"
        " papers with two or more, for each conference, year and scale; before and after: over the reviews with both"
        " known. Of two reviews by one reviewer the later counts. The spread of a paper is its highest score minus its"
        f" lowest. {_ON_UNIT}"
    )
    scores = on_unit(source)
    given = scores.drop_nulls("final")
    scored = one_per_rater(given)
    shared = scored.filter(pl.len().over("forum_id", *POPULATION[2:]) > 1)
    missing = {
        "no number, or its scale is not known": scores.height - given.height,
        "another review by the same reviewer": given.height - scored.height,
        "the only score of its paper": scored.height - shared.height,
    }
    populations = shared.sort(*POPULATION, nulls_last=True).partition_by(*POPULATION, maintain_order=True)
    order = {conference: place for place, conference in enumerate(largest(source.papers)[:TOP])}
    chosen = [rows for rows in populations if rows["conference"][0] in order]
    chosen.sort(key=lambda rows: order[rows["conference"][0]])
    table = pl.DataFrame([_make_agreement_row(rows) for rows in chosen], schema=_AGREEMENT_SCHEMA)
    n = int(table["scores"].sum())
    if not n:
        why = "No paper of this selection has two scores on a known scale."
        return nothing(table, "score", why, how, missing)
    return Statistic(table=table, n=n, of="score", says=_describe_agreement(table), how=how, unknown=missing)


def _make_agreement_row(shared: pl.DataFrame) -> dict[str, object]:
    """Return the row of the scores of one population, of papers with two or more."""
    both = shared.drop_nulls("initial").filter(pl.len().over("forum_id") > 1)
    spreads = shared.group_by("forum_id", maintain_order=True).agg(spread=pl.col("final").max() - pl.col("final").min())
    return {
        **{name: shared[name][0] for name in POPULATION},
        "papers": shared["forum_id"].n_unique(),
        "scores": shared.height,
        "alpha": alpha(shared.select(unit="forum_id", value="final")),
        "papers_before_and_after": both["forum_id"].n_unique(),
        "alpha_before": alpha(both.select(unit="forum_id", value="initial")),
        "alpha_after": alpha(both.select(unit="forum_id", value="final")),
        **{f"spread_{name}": value for name, value in box(spreads["spread"]).items()},
    }


def name_population(row: Mapping[str, Any]) -> str:
    """Return the conference and year of a row."""
    return row["conference"] if row["year"] is None else f"{row['conference']} {row['year']}"


def _describe_agreement(table: pl.DataFrame) -> str:
    largest_row = table.sort("papers", descending=True, maintain_order=True).row(0, named=True)
    value = (
        "not defined because all scores are equal" if largest_row["alpha"] is None else f"{largest_row['alpha']:.2f}"
    )
    says = (
        f"At {name_population(largest_row)} α is {value}; the scores of a paper there typically lie"
        f" {percent(largest_row['spread_median'])} of the scale apart."
    )
    both = table.drop_nulls(["alpha_before", "alpha_after"])
    if both.height:
        rose = both.filter(pl.col("alpha_after") > pl.col("alpha_before")).height
        says += f" After the discussion reviewers agree more at {rose:,} of {plural(both.height, 'conference-year')}."
    return says


MOST_TURNS = 10
"""Conversations with this many turns or more share one bar."""
_HOUR_US = 3_600_000_000
WAYS = {"authors": (Role.AUTHOR, Role.REVIEWER), "reviewers": (Role.REVIEWER, Role.AUTHOR)}
"""For each side that answers, the role of the answer and the role before it."""
_DELAY_SCHEMA = {
    "who_answers": pl.String,
    "conference": pl.String,
    "answers": pl.Int64,
    "p10_h": pl.Float64,
    "lower_quartile_h": pl.Float64,
    "median_h": pl.Float64,
    "upper_quartile_h": pl.Float64,
    "p90_h": pl.Float64,
}
"""Delays are in hours; a row with a null conference covers all conferences."""


def turns(source: CorpusSource) -> Statistic:
    """Count conversations by their number of turns, and those in which the authors answered."""
    how = (
        "A turn is everything one side says before another speaks, including consecutive posts. The review is the"
        " first turn; a mere change of scores is a turn too. Answered: the authors have a turn."
    )
    is_author = pl.col("role") == Role.AUTHOR.value
    per_talk = source.turns.group_by("conversation_id").agg(
        turns=pl.len().cast(pl.Int64), answered=is_author.any().cast(pl.Int64)
    )
    talks = source.talks.select("conversation_id").join(per_talk, on="conversation_id")
    bar = pl.col("turns").clip(upper_bound=MOST_TURNS)
    counts = talks.group_by(turns=bar).agg(
        conversations=pl.len().cast(pl.Int64), answered=pl.col("answered").sum().cast(pl.Int64)
    )
    most = int(counts["turns"].max() or 0)  # type: ignore[arg-type]
    every = pl.DataFrame({"turns": range(1, most + 1)}, schema={"turns": pl.Int64})
    table = every.join(counts, on="turns", how="left", maintain_order="left").fill_null(0)
    if talks.is_empty():
        return nothing(table, "conversation", "No conversation is in this selection.", how)
    _, middle, _ = quartiles(talks["turns"])
    answered = int(talks["answered"].sum())
    longer = talks.filter(pl.col("turns") > 2).height
    says = (
        f"The median conversation has {middle:g} {'turn' if middle == 1 else 'turns'}; the authors answer in"
        f" {percent(answered / talks.height)}, and {percent(longer / talks.height)} go on after that, with three"
        " turns or more."
    )
    return Statistic(table=table, n=talks.height, of="conversation", says=says, how=how, facts={"median": middle})


def delays(source: CorpusSource) -> Statistic:
    """Measure the time that authors and reviewers take to answer, in hours."""
    how = (
        "The time from the first post of a turn to the first post of the next one in the same conversation, if"
        " authors follow a reviewer or a reviewer follows the authors; a mere change of scores is no post. Venues open"
        " and close the discussion on certain days, so delays do not depend on people alone."
    )
    posted = source.turns.filter(pl.col("is_posted").fill_null(value=True))
    follows = posted.sort("conversation_id", "place").with_columns(
        before=pl.col("role").shift().over("conversation_id"),
        hours=(pl.col("created_at") - pl.col("created_at").shift().over("conversation_id")).dt.total_microseconds()
        / _HOUR_US,
    )
    follows = follows.join(source.papers.select("forum_id", "conference"), on="forum_id")
    order: list[str | None] = [None, *largest(source.papers)[:TOP]]
    rows = []
    n = 0
    undated = 0
    early = 0
    for name, (speaker, other) in WAYS.items():
        every = follows.filter((pl.col("role") == speaker.value) & (pl.col("before") == other.value))
        dated = every.filter(pl.col("hours") >= 0)
        n += dated.height
        undated += every["hours"].null_count()
        early += every.filter(pl.col("hours") < 0).height
        for conference in order:
            hours = (dated if conference is None else dated.filter(conference=conference))["hours"]
            # Without answers the quantiles are None.
            quantiles = [hours.quantile(share, interpolation="linear") for share in (0.1, 0.25, 0.5, 0.75, 0.9)]
            rows.append((name, conference, hours.len(), *quantiles))
    table = pl.DataFrame(rows, schema=_DELAY_SCHEMA, orient="row")
    missing = {"a time is missing": undated, "dated before the post it answers": early}
    if not n:
        why = "No answer of this selection has known times for both turns."
        return nothing(table, "answer", why, how, missing)
    return Statistic(table=table, n=n, of="answer", says=_describe_delays(table), how=how, unknown=missing)


def duration_label(hours: float) -> str:
    """Format a duration in minutes, hours or days.

    >>> duration_label(0.5), duration_label(30.0), duration_label(240.0), duration_label(1.0)
    ('30 minutes', '30 hours', '10 days', '60 minutes')
    """
    if hours < 2:
        return plural(round(60 * hours), "minute")
    return plural(round(hours), "hour") if hours < 48 else plural(round(hours / 24), "day")


def _describe_delays(table: pl.DataFrame) -> str:
    parts = [
        f"{row['who_answers']} take {duration_label(row['median_h'])} at the median (half of the"
        f" {plural(row['answers'], 'answer')} come after {duration_label(row['lower_quartile_h'])} to"
        f" {duration_label(row['upper_quartile_h'])})"
        for row in table.filter(pl.col("conference").is_null()).iter_rows(named=True)
        if row["answers"]
    ]
    says = "; ".join(parts)
    return f"{says[0].upper()}{says[1:]}."

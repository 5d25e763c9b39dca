"""Compute the statistics of points that ask for an answer: which have one, when it came, which scores were raised.

The results are associations, not causes. An unknown aspect or answer is counted as unknown.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from peercorpus.metrics.intervals.papers import Bounds, Sums, bound_share, subtract_bounds
from peercorpus.records.points import CRITICAL_KINDS, PointAspect, PointKind
from peercorpus.report.corpus_statistics import (
    Statistic,
    compute_share,
    largest,
    nothing,
    percent,
    sort_by_value,
)
from peercorpus.report.review_statistics import TOLERANCE, on_unit
from peercorpus.report.source import CorpusSource
from peercorpus.wording.counted_nouns import plural

SURE = 0.5
"""Confidence from which answers are counted separately, as measured in docs/points.md."""
ALL = "all"
NOT_KNOWN = "not known"
KINDS = [kind.value for kind in PointKind if kind in CRITICAL_KINDS]
ASPECTS = [*(aspect.value for aspect in PointAspect), NOT_KNOWN]
FEWEST_NAMED = 30
"""Fewest points in a row, or reviews on either side, for the text to name it."""
_NAMED_VENUES = 12
"""Maximum number of venues named in the text; `numbers.json` lists all."""
_WHICH = (
    "Points of public reviews that ask for an answer (weaknesses, questions, suggestions, minor remarks, limitations),"
    " as 'peercorpus build --points' splits reviews and finds answers (docs/points.md)."
)
_UNLINKED = "a published record has the authors' words without their posts"
_ANSWER_SCHEMA: Mapping[str, Any] = {
    "by": pl.String,
    "name": pl.String,
    "points": pl.Int64,
    "answered": pl.Int64,
    "share_answered": pl.Float64,
    "answered_at_0.5": pl.Int64,
    "share_answered_at_0.5": pl.Float64,
    "not_known": pl.Int64,
}
"""`by` is the column that the rows split the points by; `not_known` counts points for which it is unknown whether they
have an answer, and which the other columns do not count."""


def _explain_nothing(source: CorpusSource) -> str:
    if source.point_venues is None:
        return "This release does not contain points; 'peercorpus publish --points' writes them."
    if not source.point_venues:
        return "No venue of this selection has points; 'peercorpus build --points' makes them."
    return "No point of this selection asks for an answer and is known to have one or none."


def _describe_venues(source: CorpusSource) -> str:
    """Return a sentence naming the venues with points; empty if all venues with reviews have them."""
    split = source.point_venues or ()
    by_venue = source.reviews.join(source.papers.select("forum_id", "venue_id"), on="forum_id")
    others = by_venue.filter(~pl.col("venue_id").is_in(split))["venue_id"]
    if others.is_empty():
        return ""
    rest = len(split) - _NAMED_VENUES
    named = ", ".join(split[:_NAMED_VENUES]) + (f" and {rest:,} more (numbers.json)" if rest > 0 else "")
    return (
        f" Covered: {len(split):,} of {plural(len(split) + others.n_unique(), 'venue')} with reviews, {named}."
        f" Reviews of the others, which are not split into points: {others.len():,}."
    )


def _with_conference(source: CorpusSource) -> Iterator[pl.DataFrame]:
    papers = source.papers.select("forum_id", "conference")
    return (
        rows.join(papers, on="forum_id").with_columns(pl.col("aspect").fill_null(NOT_KNOWN)) for rows in source.points()
    )


def _split(
    rows: pl.DataFrame, orders: Mapping[str, Sequence[str]], number: Callable[[pl.DataFrame], dict[str, object]]
) -> Iterator[dict[str, object]]:
    """Yield a row for all points, and one for each value of some columns, in a given order."""
    yield {"by": ALL, "name": ALL, **number(rows)}
    for by, order in orders.items():
        present = sort_by_value(rows.select(by).unique().drop_nulls(), by, order)[by]
        for value in present:
            yield {"by": by, "name": value, **number(rows.filter(pl.col(by) == value))}


def points_answered(source: CorpusSource) -> Statistic:
    """Count the points that ask for an answer and those that have one, by kind, aspect and conference."""
    how = (
        f"{_WHICH} An answer is a passage of a public post of the authors. Its confidence is the share of such"
        " answers that people judged correct; an answer found by a model has none."
    )
    parts = [rows.group_by("kind", "aspect", "conference").agg(**_COUNTS) for rows in _with_conference(source)]
    schema = dict.fromkeys(("kind", "aspect", "conference"), pl.String) | dict.fromkeys(_COUNTS, pl.Int64)
    sums = pl.concat([pl.DataFrame(schema=schema), *parts])
    orders = {"kind": KINDS, "aspect": ASPECTS, "conference": largest(source.papers)}
    table = pl.DataFrame([*_split(sums, orders, _count_answers)], schema=dict(_ANSWER_SCHEMA))
    first = table.row(0, named=True)
    missing = {_UNLINKED: first["not_known"]}
    if not first["points"]:
        return nothing(table, "point", _explain_nothing(source), how, missing)
    says = _describe_answers(table) + _describe_venues(source)
    return Statistic(table=table, n=first["points"], of="point", says=says, how=how, unknown=missing)


_NUMBER = pl.col("points").cast(pl.Int64)
_COUNTS = {
    "points": _NUMBER.filter(pl.col("answered").is_not_null()).sum(),
    "answered": _NUMBER.filter("answered").sum(),
    "sure": _NUMBER.filter(pl.col("answered") & (pl.col("confidence") >= SURE)).sum(),
    "not_known": _NUMBER.filter(pl.col("answered").is_null()).sum(),
}


def _count_answers(rows: pl.DataFrame) -> dict[str, object]:
    points, answered, sure, not_known = (int(rows[name].sum()) for name in _COUNTS)
    return {
        "points": points,
        "answered": answered,
        "share_answered": compute_share(answered, points),
        "answered_at_0.5": sure,
        "share_answered_at_0.5": compute_share(sure, points),
        "not_known": not_known,
    }


def _describe_answers(table: pl.DataFrame) -> str:
    first = table.row(0, named=True)
    says = (
        f"Of {plural(first['points'], 'point')} that ask for an answer, {percent(first['share_answered'])} have one,"
        f" {percent(first['share_answered_at_0.5'])} one of confidence {SURE} or more."
    )
    known = table.filter((pl.col("points") >= FEWEST_NAMED) & (pl.col("name") != NOT_KNOWN))
    for by in ("aspect", "conference"):
        ranked = known.filter(by=by).sort("share_answered", "name", descending=[True, False])
        if ranked.height > 1:
            ends = ranked.select("name", "share_answered").rows()
            (most, high), (least, low) = ends[0], ends[-1]
            if by == "aspect":
                most, least = _to_words(most), _to_words(least)
            says += f" The {by} with the largest share is {most} ({percent(high)}),"
            says += f" with the smallest {least} ({percent(low)})."
    return says


def _to_words(name: str) -> str:
    return name.replace("_", " ")


SIDES = ("answered", "not_answered")
_SCORE_SCHEMA: Mapping[str, Any] = (
    {"aspect": pl.String}
    | {
        f"{column}_{side}": kind
        for side in SIDES
        for column, kind in {
            "reviews": pl.Int64,
            "raised": pl.Int64,
            "share": pl.Float64,
            "low": pl.Float64,
            "high": pl.Float64,
        }.items()
    }
    | dict.fromkeys(("difference", "difference_low", "difference_high"), pl.Float64)
    | dict.fromkeys(("change_not_known", "answer_not_known"), pl.Int64)
)
"""A row counts the reviews with a point of the aspect, with an answer to one of them and without. `change_not_known`
counts reviews for which it is unknown whether the recommendation was raised, `answer_not_known` those for which only
the answer is unknown; the other columns do not count them."""


def answers_and_scores(source: CorpusSource) -> Statistic:
    """Compare how many reviews raised their recommendation with and without an answer to a point, by aspect."""
    how = (
        f"{_WHICH} For each aspect, reviews with a point about it: those in which at least one has an answer, and"
        " those in which none has. Raised: the current overall recommendation is better than the first one, if both"
        " are known. Intervals are 95 % and allow for correlated reviews of one paper; that of the difference"
        " combines both (Zou and Donner). An association, not a cause: answers, reviewers who come back and"
        " scores that rise have common causes."
    )
    reviews = _list_reviews(source)
    names = [ALL, *sort_by_value(reviews.select("aspect").unique(), "aspect", ASPECTS)["aspect"]]
    rows = [_compare(name, reviews.filter(aspect=name)) for name in dict.fromkeys(names)]
    table = pl.DataFrame(rows, schema=dict(_SCORE_SCHEMA))
    first = table.row(0, named=True)
    n = first["reviews_answered"] + first["reviews_not_answered"]
    missing = _count_missing(reviews.filter(aspect=ALL))
    if not n:
        why = _explain_nothing(source) if reviews.is_empty() else _NO_CHANGE
        return nothing(table, "review", why, how, missing)
    says = _describe_scores(table) + _describe_venues(source)
    return Statistic(table=table, n=n, of="review", says=says, how=how, unknown=missing)


_NO_CHANGE = "No review of this selection with points has both a known first and a known last score."


def _list_reviews(source: CorpusSource) -> pl.DataFrame:
    """Return a row for each review and aspect of its points, and one for all of them.

    `answered` states whether a point has an answer, `change` how the recommendation changed, and `is_scored` whether
    the current one is known.
    """
    is_answered = pl.col("answered")
    any_answered = pl.when(is_answered.fill_null(value=False).any()).then(pl.lit(value=True))
    none_answered = pl.when(is_answered.is_not_null().all()).then(pl.lit(value=False))
    empty = pl.DataFrame(
        schema={"review_id": pl.String, "forum_id": pl.String, "aspect": pl.String, "answered": pl.Boolean}
    )
    parts = [empty]
    for rows in _with_conference(source):
        by_aspect = pl.concat([rows.with_columns(aspect=pl.lit(ALL)), rows])
        parts.append(
            by_aspect.group_by("review_id", "forum_id", "aspect").agg(answered=pl.coalesce(any_answered, none_answered))
        )
    scores = on_unit(source).select("review_id", change=pl.col("final") - pl.col("initial"), is_scored=_IS_SCORED)
    return pl.concat(parts).join(scores, on="review_id").sort("review_id", "aspect")


_IS_SCORED = pl.col("final").is_not_null()


def _count_missing(reviews: pl.DataFrame) -> dict[str, int]:
    unscored = reviews.filter(~pl.col("is_scored")).height
    unchanged = reviews.filter(pl.col("change").is_null()).height
    unlinked = reviews.filter(pl.col("change").is_not_null() & pl.col("answered").is_null()).height
    return {
        "the first score is not known, or someone else changed it": unchanged - unscored,
        "no number, or its scale is not known": unscored,
        _UNLINKED: unlinked,
    }


def _compare(aspect: str, reviews: pl.DataFrame) -> dict[str, object]:
    known = reviews.drop_nulls("change").with_columns(raised=pl.col("change") > TOLERANCE)
    row: dict[str, object] = {
        "aspect": aspect,
        "change_not_known": reviews.height - known.height,
        "answer_not_known": known["answered"].null_count(),
    }
    sides = []
    for side, answered in zip(SIDES, (True, False), strict=True):
        of_side = known.filter(answered=answered)
        raised = int(of_side["raised"].sum())
        share, bounds = compute_share(raised, of_side.height), bound_share(_sum_by_paper(of_side))
        low, high = bounds or (None, None)
        numbers = {"reviews": of_side.height, "raised": raised, "share": share, "low": low, "high": high}
        row |= {f"{name}_{side}": value for name, value in numbers.items()}
        sides.append((share, bounds))
    return row | _subtract(*sides)


def _sum_by_paper(reviews: pl.DataFrame) -> Sums:
    sums = reviews.group_by("forum_id", maintain_order=True).agg(pl.col("raised").sum(), of=pl.len())
    return sums.select("raised", "of").rows()


_Side = tuple[float | None, Bounds | None]


def _subtract(answered: _Side, not_answered: _Side) -> dict[str, object]:
    """Return the share with an answer minus the share without; empty if either has no review."""
    (first, first_bounds), (second, second_bounds) = answered, not_answered
    if first is None or second is None or first_bounds is None or second_bounds is None:
        return {}
    low, high = subtract_bounds(first, first_bounds, second, second_bounds)
    return {"difference": first - second, "difference_low": low, "difference_high": high}


def _describe_scores(table: pl.DataFrame) -> str:
    first = table.row(0, named=True)
    parts = [
        f"{percent(first[f'share_{side}'])} of the {plural(first[f'reviews_{side}'], 'review')} {words}"
        for side, words in zip(SIDES, ("with an answered point", "without one"), strict=True)
        if first[f"reviews_{side}"]
    ]
    says = f"The recommendation was raised in {' and in '.join(parts)}."
    is_many = pl.min_horizontal(f"reviews_{side}" for side in SIDES) >= FEWEST_NAMED
    by_aspect = table.filter(~pl.col("aspect").is_in([ALL, NOT_KNOWN]), is_many).drop_nulls("difference")
    for side, is_there in (("above", pl.col("difference_low") > 0), ("below", pl.col("difference_high") < 0)):
        names = [_to_words(name) for name in by_aspect.filter(is_there)["aspect"]]
        if names:
            says += f" The interval of the difference lies {side} 0 for points about {', '.join(names)}."
    return f"{says} This is an association, not a cause."


_SHARES = {"p10": 0.1, "lower_quartile": 0.25, "median": 0.5, "upper_quartile": 0.75, "p90": 0.9}
_DELAY_SCHEMA: Mapping[str, Any] = {"by": pl.String, "name": pl.String, "points": pl.Int64} | {
    f"{name}_days": pl.Float64 for name in _SHARES
}


def point_delays(source: CorpusSource) -> Statistic:
    """Measure how many days pass from a review to the first answer to a point, by conference and aspect."""
    how = (
        f"{_WHICH} The time from the review to the first public post that answers the point. Venues open and close the"
        " discussion on certain days, so this time does not depend on the authors alone."
    )
    columns = ["aspect", "conference", "days", "points"]
    answered = [rows.filter("answered").select(columns) for rows in _with_conference(source)]
    schema = {"aspect": pl.String, "conference": pl.String, "days": pl.Float64, "points": pl.Int64}
    every = pl.concat([pl.DataFrame(schema=schema), *answered])
    early = pl.col("days") < 0
    missing = {
        "a time is missing": int(every.filter(pl.col("days").is_null())["points"].sum()),
        "dated before the review": int(every.filter(early)["points"].sum()),
    }
    dated = every.filter(~early)
    orders = {"conference": largest(source.papers), "aspect": ASPECTS}
    table = pl.DataFrame([*_split(dated, orders, _measure_days)], schema=dict(_DELAY_SCHEMA))
    n = int(dated["points"].sum())
    if not n:
        why = _NO_TIMES if source.point_venues else _explain_nothing(source)
        return nothing(table, "point", why, how, missing)
    first = table.row(0, named=True)
    says = (
        f"The first answer to a point comes {format_days(first['median_days'])} after the review at the median; half of"
        f" them come after {format_days(first['lower_quartile_days'])} to {format_days(first['upper_quartile_days'])}."
    )
    return Statistic(
        table=table,
        n=n,
        of="point",
        says=says + _describe_venues(source),
        how=how,
        unknown=missing,
        facts={"median": first["median_days"]},
    )


_NO_TIMES = "No answer of this selection has both a known time and a known time of its review."


def _measure_days(rows: pl.DataFrame) -> dict[str, object]:
    days = rows.select(pl.col("days").repeat_by("points").explode())["days"] if rows.height else rows["days"]
    quantiles = {f"{name}_days": days.quantile(share, interpolation="linear") for name, share in _SHARES.items()}
    return {"points": days.len(), **quantiles}


def format_days(days: float) -> str:
    """Format a duration in days.

    >>> format_days(1.0), format_days(9.96), format_days(0.25)
    ('1 day', '10 days', '0.2 days')
    """
    return "1 day" if f"{days:.1f}" == "1.0" else f"{days:.1f}".removesuffix(".0") + " days"

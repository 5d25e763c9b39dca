"""The discussion: how many turns a conversation has, and how long an answer takes."""

import polars as pl

from peercorpus.kinds import Role
from peercorpus.report.source import Source
from peercorpus.report.statistic import TOP, Statistic, counted, largest, nothing, percent, quartiles

MOST_TURNS = 10
"""Conversations with so many turns or more are one bar."""
HOUR_US = 3_600_000_000
WAYS = {"authors": (Role.AUTHOR, Role.REVIEWER), "reviewers": (Role.REVIEWER, Role.AUTHOR)}
"""Who answers, and whom."""
DELAYS = {
    "who_answers": pl.String,
    "conference": pl.String,
    "answers": pl.Int64,
    "p10_h": pl.Float64,
    "lower_quartile_h": pl.Float64,
    "median_h": pl.Float64,
    "upper_quartile_h": pl.Float64,
    "p90_h": pl.Float64,
}
"""In hours; the rows without a conference are of all."""


def turns(source: Source) -> Statistic:
    """How many turns the conversation with one reviewer has."""
    how = (
        "A turn is what one side says before another speaks; consecutive posts of one speaker are one. The review is"
        " the first; a change of scores alone is one as well. Answered: the authors have a turn."
    )
    is_author = pl.col("role") == Role.AUTHOR.value
    per_talk = source.turns.group_by("conversation_id").agg(
        turns=pl.len().cast(pl.Int64), answered=is_author.any().cast(pl.Int64)
    )
    talks = source.talks.select("conversation_id").join(per_talk, on="conversation_id")
    place = pl.col("turns").clip(upper_bound=MOST_TURNS)
    counts = talks.group_by(turns=place).agg(
        conversations=pl.len().cast(pl.Int64), answered=pl.col("answered").sum().cast(pl.Int64)
    )
    most = int(counts["turns"].max() or 0)  # type: ignore[arg-type]
    every = pl.DataFrame({"turns": range(1, most + 1)}, schema={"turns": pl.Int64})
    table = every.join(counts, on="turns", how="left", maintain_order="left").fill_null(0)
    if talks.is_empty():
        return nothing(table, "conversations", "No conversation is in this selection.", how)
    _, middle, _ = quartiles(talks["turns"])
    answered, alone = int(talks["answered"].sum()), talks.filter(pl.col("turns") > 2).height
    says = (
        f"The middle conversation has {middle:g} {'turn' if middle == 1 else 'turns'}; the authors answer in"
        f" {percent(answered / talks.height)}, and {percent(alone / talks.height)} go on after that, with three"
        " turns or more."
    )
    return Statistic(table, talks.height, "conversations", says, how, facts={"median": middle})


def delays(source: Source) -> Statistic:
    """How long authors and reviewers take to answer."""
    how = (
        "The time from the first post of a turn to the first post of the next one in the same conversation, where"
        " authors follow a reviewer or a reviewer follows the authors. Venues open and close the discussion on certain"
        " days, so a delay is not only a person's."
    )
    follows = source.turns.sort("conversation_id", "place").with_columns(
        before=pl.col("role").shift().over("conversation_id"),
        hours=(pl.col("created_at") - pl.col("created_at").shift().over("conversation_id")).dt.total_microseconds()
        / HOUR_US,
    )
    follows = follows.join(source.papers.select("forum_id", "conference"), on="forum_id")
    order: list[str | None] = [None, *largest(source.papers)[:TOP]]
    rows, n, undated, early = [], 0, 0, 0
    for name, (speaker, other) in WAYS.items():
        every = follows.filter((pl.col("role") == speaker.value) & (pl.col("before") == other.value))
        known = every.filter(pl.col("hours") >= 0)
        n, undated = n + known.height, undated + every["hours"].null_count()
        early += every.filter(pl.col("hours") < 0).height
        for conference in order:
            hours = (known if conference is None else known.filter(conference=conference))["hours"]
            rows.append(_delay_row(name, conference, hours))
    table = pl.DataFrame(rows, schema=DELAYS, orient="row")
    missing = {"a time is missing": undated, "dated before what it answers": early}
    if not n:
        why = "No answer of this selection has the times of both turns."
        return nothing(table, "answers", why, how, missing)
    return Statistic(table, n, "answers", _delays_say(table), how, missing)


def _delay_row(name: str, conference: str | None, hours: pl.Series) -> tuple[object, ...]:
    if hours.is_empty():
        return (name, conference, 0, *(None,) * 5)
    found = [hours.quantile(at, interpolation="linear") for at in (0.1, 0.25, 0.5, 0.75, 0.9)]
    return (name, conference, hours.len(), *found)


def duration(hours: float) -> str:
    """A time as people say it.

    >>> duration(0.5), duration(30.0), duration(240.0), duration(1.0)
    ('30 minutes', '30 hours', '10 days', '60 minutes')
    """
    if hours < 2:
        return counted(round(60 * hours), "minutes")
    return counted(round(hours), "hours") if hours < 48 else counted(round(hours / 24), "days")


def _delays_say(table: pl.DataFrame) -> str:
    parts = [
        f"{row['who_answers']} take {duration(row['median_h'])} at the median (half of the"
        f" {counted(row['answers'], 'answers')} come after {duration(row['lower_quartile_h'])} to"
        f" {duration(row['upper_quartile_h'])})"
        for row in table.filter(pl.col("conference").is_null()).iter_rows(named=True)
        if row["answers"]
    ]
    says = "; ".join(parts)
    return f"{says[0].upper()}{says[1:]}."

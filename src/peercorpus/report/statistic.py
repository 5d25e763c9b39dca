"""What every statistic is: a table of numbers, of how many things it is, what is not known, and what it shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from peercorpus.kinds import Status

TOP = 10
"""Conferences, and keywords, that a figure names."""
VERDICTS = {
    one.value: pl.col("status").eq(one.value).sum().cast(pl.Int64) for one in (Status.ACCEPTED, Status.REJECTED)
}
"""How many of some papers were accepted, and how many rejected."""


@dataclass(frozen=True, slots=True)
class Statistic:
    """One table of statistics; a figure draws it and adds nothing.

    Attributes:
        n: How many things it is of.
        of: What they are, in the plural.
        unknown: Those that are not in it, by why.
        says: What it shows, in plain words.
        how: How it was computed, in words.
        facts: Further numbers that the figure shows, such as a median.
        why: Why there is nothing to draw; empty where there is.
    """

    table: pl.DataFrame
    n: int
    of: str
    says: str
    how: str
    unknown: Mapping[str, int] = field(default_factory=dict)
    facts: Mapping[str, float] = field(default_factory=dict)
    why: str = ""

    @property
    def shown(self) -> str:
        """What is in it and what is not: "n = 12 papers; not known: 3 (no decision)"."""
        missing = [f"{count:,} ({why})" for why, count in self.unknown.items() if count]
        return f"n = {counted(self.n, self.of)}" + (f"; not known: {', '.join(missing)}" if missing else "")


def nothing(table: pl.DataFrame, of: str, why: str, how: str, unknown: Mapping[str, int] | None = None) -> Statistic:
    """A statistic of nothing, and why it is that."""
    return Statistic(table.clear(), 0, of, why, how, unknown or {}, why=why)


def counted(number: int, things: str) -> str:
    """A number of things, whose plural is the singular and an s.

    >>> counted(1, "papers"), counted(1200, "reviews")
    ('1 paper', '1,200 reviews')
    """
    return f"{number:,} {things.removesuffix('s') if number == 1 else things}"


def percent(share: float | None) -> str:
    """A share in whole percent; what is neither none nor all is never called so.

    >>> percent(0.004), percent(0.996), percent(1.0), percent(None)
    ('below 1 %', 'above 99 %', '100 %', 'not known')
    """
    if share is None:
        return "not known"
    rounded = round(100 * share)
    if share > 0 and rounded == 0:
        return "below 1 %"
    return "above 99 %" if share < 1 and rounded == 100 else f"{rounded} %"


def share_of(part: int, whole: int) -> float | None:
    """A share; None of nothing."""
    return part / whole if whole else None


def largest(papers: pl.DataFrame) -> list[str]:
    """All conferences, the one with the most papers first; of equals in alphabetical order."""
    counts = papers.group_by("conference").len().sort(["len", "conference"], descending=[True, False])
    return counts["conference"].to_list()


def in_order(table: pl.DataFrame, column: str, order: Sequence[str]) -> pl.DataFrame:
    """The rows in a given order of what stands in a column; what is not in it comes last."""
    places = pl.DataFrame({column: list(order), "_place": range(len(order))}, schema_overrides={column: pl.String})
    placed = table.join(places, on=column, how="left", maintain_order="left")
    return placed.sort("_place", nulls_last=True, maintain_order=True).drop("_place")


def quartiles(values: pl.Series) -> tuple[float, float, float]:
    """Lower quartile, median and upper quartile, interpolated between neighbours; of at least one value."""
    found = [values.quantile(at, interpolation="linear") for at in (0.25, 0.5, 0.75)]
    low, middle, high = (float(one) for one in found if one is not None)
    return low, middle, high

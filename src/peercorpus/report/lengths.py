"""How long papers and reviews are, in tokens."""

import math

import polars as pl

from peercorpus.report.source import Source
from peercorpus.report.statistic import Statistic, nothing, quartiles

BINS = 30
"""About as many below the open one, which holds the longest hundredth."""
ROUND = (1.0, 2.0, 2.5, 5.0, 10.0)


def bin_width(reach: float) -> int:
    """A round width with which some thirty bins reach so far.

    >>> bin_width(30), bin_width(24_000), bin_width(0)
    (1, 1000, 1)
    """
    if reach <= BINS:
        return 1
    power: float = 10.0 ** math.floor(math.log10(reach / BINS))
    return math.ceil(next(step * power for step in ROUND if step * power * BINS >= reach))


def histogram(values: pl.Series, of: str) -> pl.DataFrame:
    """How many values lie from each bound to below the next; the last bin is open (`to` is null).

    Args:
        values: Whole numbers.
        of: The name of the column with their number.
    """
    reach = float(values.quantile(0.99, interpolation="higher") or 0)
    width = bin_width(reach)
    bins = int(reach // width) + 1
    place = (values // width).clip(upper_bound=bins)
    counts = pl.DataFrame({"place": place}).group_by("place").agg(pl.len().cast(pl.Int64).alias(of))
    every = pl.DataFrame({"place": range(bins + 1)}, schema={"place": pl.Int64})
    table = every.join(counts, on="place", how="left", maintain_order="left").with_columns(pl.col(of).fill_null(0))
    is_last = pl.col("place") == bins
    low, high = pl.col("place") * width, (pl.col("place") + 1) * width
    bounds = table.select(low.alias("from"), pl.when(~is_last).then(high).alias("to"), pl.col(of))
    return bounds if bounds[of][-1] else bounds.head(-1)


def _length(tokens: pl.Series, every: int, of: str, absent: str, how: str) -> Statistic:
    unknown = {absent: every - tokens.len()}
    empty = pl.DataFrame(schema={"from": pl.Int64, "to": pl.Int64, of: pl.Int64})
    if tokens.is_empty():
        why = f"No {of.removesuffix('s')} of this selection has a text to measure."
        return nothing(empty, of, why, how, unknown)
    low, middle, high = quartiles(tokens)
    least, most = int(str(tokens.min())), int(str(tokens.max()))
    says = (
        f"The middle one of the {of} has {middle:,.0f} tokens; half of them have between {low:,.0f} and {high:,.0f},"
        f" the shortest {least:,} and the longest {most:,}."
    )
    facts = {"least": least, "lower quartile": low, "median": middle, "upper quartile": high, "greatest": most}
    return Statistic(histogram(tokens, of), tokens.len(), of, says, how, unknown, facts)


def paper_length(source: Source) -> Statistic:
    """Tokens of the text of each paper that the reviewers read (Re², Fig. 2 a)."""
    how = f"The Markdown of the version that the reviewers read, where that is known; {source.tokens}."
    tokens = source.paper_tokens["tokens"]
    return _length(tokens, source.papers.height, "papers", "the text the reviewers read is not held", how)


def review_length(source: Source) -> Statistic:
    """Tokens of each review (Re², Fig. 2 b)."""
    how = f"All texts of the review's form as they stand now, scores left out; {source.tokens}."
    every = source.review_tokens["tokens"]
    return _length(every.filter(every > 0), every.len(), "reviews", "no text", how)

"""Compute the statistics of papers: counts, rebuttals, keywords, grades, completeness, lengths.

Each function returns a `Statistic`: a table, a description in words, and the number of unknown values. "Re², Fig. 2"
    names the figure of the Re² paper that a statistic corresponds to.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from peercorpus.records.enums import PUBLISHABLE_GRADES, Grade, Role, Status
from peercorpus.report.source import RATING, CorpusSource
from peercorpus.wording.counted_nouns import in_plural, plural, verb

TOP = 10
"""Number of conferences and keywords in a figure."""
FEWEST_COMPARED = 5
"""Minimum number of papers of each share that a sentence compares; fewer show no difference."""
VERDICTS = {
    status.value: pl.col("status").eq(status.value).sum().cast(pl.Int64)
    for status in (Status.ACCEPTED, Status.REJECTED)
}
"""Aggregations: the number of accepted and of rejected papers."""


@dataclass(frozen=True, slots=True)
class Statistic:
    """A table of statistics with all contents of its figure.

    Attributes:
        n: Number of counted items.
        of: Kind of the items, as a noun in the singular.
        says: Description of the result, in plain words.
        how: Description of the method.
        unknown: Number of items that could not be counted, by reason.
        facts: Further numbers in the figure, such as a median.
        why: Reason why there is nothing to draw; empty otherwise.
        unit: Unit of the values whose distribution is in the table, in the plural; empty if there is none.
    """

    table: pl.DataFrame
    n: int
    of: str
    says: str
    how: str
    unknown: Mapping[str, int] = field(default_factory=dict)
    facts: Mapping[str, float] = field(default_factory=dict)
    why: str = ""
    unit: str = ""

    @property
    def shown(self) -> str:
        """Numbers of counted and unknown items, as in "n = 12 papers; not known: 3 (no decision)"."""
        missing = [f"{count:,} ({why})" for why, count in self.unknown.items() if count]
        return f"n = {plural(self.n, self.of)}" + (f"; not known: {', '.join(missing)}" if missing else "")


def nothing(table: pl.DataFrame, of: str, why: str, how: str, unknown: Mapping[str, int] | None = None) -> Statistic:
    """Return a statistic without rows, with the reason."""
    return Statistic(table=table.clear(), n=0, of=of, says=why, how=how, unknown=unknown or {}, why=why)


def percent_or_count(part: int, whole: int) -> str:
    """Format a share as `percent` does, but as a count if the whole is smaller than `FEWEST_COMPARED`.

    >>> percent_or_count(6, 8), percent_or_count(2, 3)
    ('75 %', '2 of 3')
    """
    return percent(part / whole) if whole >= FEWEST_COMPARED else f"{part:,} of {whole:,}"


def percent(share: float | None) -> str:
    """Format a share in whole per cent; only exactly 0 and 1 become "0 %" and "100 %".

    >>> percent(0.004), percent(0.996), percent(1.0), percent(None)
    ('below 1 %', 'above 99 %', '100 %', 'not known')
    """
    if share is None:
        return "not known"
    rounded = round(100 * share)
    if share > 0 and rounded == 0:
        return "below 1 %"
    return "above 99 %" if share < 1 and rounded == 100 else f"{rounded} %"


def compute_share(part: int, whole: int) -> float | None:
    """Return a share, or None if the whole is 0."""
    return part / whole if whole else None


def largest(papers: pl.DataFrame) -> list[str]:
    """Return all conferences by number of papers, the largest first; ties are in alphabetical order."""
    counts = papers.group_by("conference").len().sort(["len", "conference"], descending=[True, False])
    return counts["conference"].to_list()


def sort_by_value(table: pl.DataFrame, column: str, order: Sequence[str]) -> pl.DataFrame:
    """Sort rows by the position of a column's value in `order`; other values come last."""
    places = pl.DataFrame({column: list(order), "_place": range(len(order))}, schema_overrides={column: pl.String})
    placed = table.join(places, on=column, how="left", maintain_order="left")
    return placed.sort("_place", nulls_last=True, maintain_order=True).drop("_place")


def quartiles(values: pl.Series) -> tuple[float, float, float]:
    """Return lower quartile, median and upper quartile of at least one value, interpolated linearly."""
    quantiles = [values.quantile(share, interpolation="linear") for share in (0.25, 0.5, 0.75)]
    low, middle, high = (float(value) for value in quantiles if value is not None)
    return low, middle, high


_NO_PAPERS = "No paper is in this selection."


def papers_and_reviews(source: CorpusSource) -> Statistic:
    """Count the papers and reviews of each conference (Re², Fig. 2 c)."""
    how = "Papers of all years and tracks of a conference family, and their public reviews."
    per_paper = source.reviews.group_by("forum_id").agg(reviews=pl.len().cast(pl.Int64))
    papers = source.papers.join(per_paper, on="forum_id", how="left")
    reviews = pl.col("reviews")
    table = papers.group_by("conference").agg(
        papers=pl.len().cast(pl.Int64),
        reviews=reviews.sum().cast(pl.Int64),
        papers_without_reviews=reviews.is_null().sum().cast(pl.Int64),
    )
    table = sort_by_value(table, "conference", largest(papers))
    if papers.is_empty():
        return nothing(table, "paper", _NO_PAPERS, how)
    written = int(table["reviews"].sum())
    bare = int(table["papers_without_reviews"].sum())
    says = (
        f"{plural(papers.height, 'paper')} of {plural(table.height, 'conference')}"
        f" {verb(papers.height, 'has', 'have')} {plural(written, 'review')}, {written / papers.height:.1f} a paper"
        f"{_describe_largest(table)}."
        f" {'All have a review.' if not bare else f'Without any public review: {bare:,}.'}"
    )
    return Statistic(table=table, n=papers.height, of="paper", says=says, how=how, facts={"reviews": written})


def _describe_largest(table: pl.DataFrame) -> str:
    """Return which conference has the most papers, after a semicolon; nothing if no other has fewer."""
    most = int(str(table["papers"].max()))
    if table.filter(papers=most).height > 1 or table.height == 1:
        return ""
    return f"; {table['conference'][0]} has the most papers ({most:,})"


def rebuttals(source: CorpusSource) -> Statistic:
    """Count rebuttals by conference and year (Re², Fig. 2 d)."""
    how = (
        "A rebuttal is a conversation with one reviewer in which the authors speak; a response to all reviewers is"
        " counted apart, once a paper. A year is the one that the venue names."
    )
    papers = source.papers.select("forum_id", "conference", "year")
    spoken = source.turns.filter(role=Role.AUTHOR.value).select("conversation_id").unique()
    talks = source.talks.join(spoken.with_columns(rebuttals=pl.lit(1)), on="conversation_id", how="left")
    per_paper = talks.group_by("forum_id").agg(
        conversations=pl.len(), rebuttals=pl.col("rebuttals").sum(), to_all=(pl.col("responses") > 0).any()
    )
    sums = (pl.col(name).sum().cast(pl.Int64) for name in ("conversations", "rebuttals"))
    table = (
        papers.join(per_paper, on="forum_id", how="left")
        .group_by("conference", "year")
        .agg(pl.len().cast(pl.Int64).alias("papers"), *sums, responses_to_all=pl.col("to_all").sum().cast(pl.Int64))
        .sort("year", nulls_last=True)
    )
    table = sort_by_value(table, "conference", largest(papers))
    every = int(table["conversations"].sum())
    answered = int(table["rebuttals"].sum())
    if not every:
        return nothing(table, "rebuttal", "No conversation is in this selection.", how)
    says = (
        f"The authors answer in {percent(compute_share(answered, every))} of {plural(every, 'conversation')}:"
        f" {plural(answered, 'rebuttal')}. Papers with a response to all reviewers:"
        f" {int(table['responses_to_all'].sum()):,}."
    )
    return Statistic(table=table, n=answered, of="rebuttal", says=says, how=how, facts={"conversations": every})


def keywords(source: CorpusSource) -> Statistic:
    """Count submissions and the share accepted for the ten most frequent keywords (Re², Fig. 2 e)."""
    how = (
        "Keywords as the authors wrote them, without regard to capitals and spacing, each once a paper. The share is"
        " that of accepted papers among those accepted or rejected; withdrawn and undecided papers are not in it."
    )
    word = pl.col("keywords").str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()
    rows = source.papers.select("forum_id", "status", "keywords").explode("keywords").with_columns(keyword=word)
    rows = rows.filter(pl.col("keyword").str.len_chars() > 0).unique(["forum_id", "keyword"])
    named = rows["forum_id"].n_unique()
    share = pl.when(pl.col("decided") > 0).then(pl.col("accepted") / pl.col("decided"))
    counts = rows.group_by("keyword").agg(pl.len().cast(pl.Int64).alias("submissions"), **VERDICTS)
    table = (
        counts.sort(["submissions", "keyword"], descending=[True, False])
        .head(TOP)
        .with_columns(decided=pl.col("accepted") + pl.col("rejected"))
        .with_columns(share_accepted=share)
    )
    n = rows.join(table, on="keyword", how="semi")["forum_id"].n_unique()
    unknown = {"no keywords": source.papers.height - named}
    if table.is_empty():
        why = "No paper of this selection has keywords: the files of Re² hold none, those of ReviewBench do."
        return nothing(table, "paper", why, how, unknown)
    says = _describe_frequency(counts) + _describe_acceptance(table)
    if named > n:
        says += f" {plural(named - n, 'paper')} {verb(named - n, 'has', 'have')} only other keywords."
    return Statistic(table=table, n=n, of="paper", says=says, how=how, unknown=unknown)


_NAMED_KEYWORDS = 3
"""Maximum number of equally frequent keywords that a sentence names."""


def _describe_frequency(counts: pl.DataFrame) -> str:
    """Return which keywords are the most frequent; if many are, only how many."""
    most = int(str(counts["submissions"].max()))
    names = [f"“{keyword}”" for keyword in counts.filter(submissions=most)["keyword"].sort()]
    papers = plural(most, "paper")
    if len(names) == 1:
        return f"The most frequent keyword is {names[0]} ({papers})."
    if len(names) == counts.height:
        return f"No keyword is more frequent than another: each of {plural(len(names), 'keyword')} is in {papers}."
    if len(names) <= _NAMED_KEYWORDS:
        return f"The most frequent keywords are {', '.join(names[:-1])} and {names[-1]} ({papers} each)."
    return f"The most frequent keywords are {len(names):,} that are in {papers} each."


def _describe_acceptance(table: pl.DataFrame) -> str:
    """Return the keywords with the largest and smallest share accepted; nothing if too few papers show a difference."""
    known = table.filter(pl.col("decided") >= FEWEST_COMPARED).sort("share_accepted", "keyword")
    if known.height < 2 or known["share_accepted"][0] == known["share_accepted"][-1]:
        return ""
    low, high = known.row(0, named=True), known.row(-1, named=True)
    return (
        f" Of those shown, papers on “{high['keyword']}” are accepted most often ({percent(high['share_accepted'])} of"
        f" {high['decided']:,}), on “{low['keyword']}” least ({percent(low['share_accepted'])} of"
        f" {low['decided']:,})."
    )


_NO_PDF = "no PDF known"
_NOT_PUBLIC = "not public"
STATUSES = [*(status.value for status in Status), _NOT_PUBLIC]
GRADES = [*(grade.value for grade in Grade), _NO_PDF]


def grades(source: CorpusSource) -> Statistic:
    """Count papers by status and by how certain it is which PDF the reviewers read."""
    how = (
        "The grade of each paper's version that the reviewers read, best first; exact, exact_attachment, unrevised and"
        " only_before_review are published as initial by default. A status counts as not public if it is known only"
        " from posts that are not public."
    )
    status = pl.col("status").fill_null(_NOT_PUBLIC)
    grade = pl.col("grade").fill_null(_NO_PDF)
    table = (
        source.papers.group_by(status=status, grade=grade)
        .agg(papers=pl.len().cast(pl.Int64))
        .sort(
            pl.col("status").replace_strict(STATUSES, range(len(STATUSES)), return_dtype=pl.Int64),
            pl.col("grade").replace_strict(GRADES, range(len(GRADES)), return_dtype=pl.Int64),
        )
    )
    n = source.papers.height
    if not n:
        return nothing(table, "paper", _NO_PAPERS, how)
    publishable = [grade.value for grade in PUBLISHABLE_GRADES]
    sure = table.filter(pl.col("grade").is_in(publishable))
    says = f"The version that the reviewers read is known for {percent(int(sure['papers'].sum()) / n)} of the papers"
    shares = []
    for decision in (Status.ACCEPTED, Status.REJECTED):
        every = int(table.filter(status=decision.value)["papers"].sum())
        if every:
            known = int(sure.filter(status=decision.value)["papers"].sum())
            shares.append(f"{percent(known / every)} of the {decision.value} ones")
    return Statistic(
        table=table, n=n, of="paper", says=says + (f", {' and '.join(shares)}." if shares else "."), how=how
    )


def set_aside(source: CorpusSource) -> Statistic:
    """Count the rows that stages set aside, by stage and reason."""
    how = "Every row that a stage could not use, by the stage and its reason; none is ever dropped."
    empty = pl.DataFrame(schema={"stage": pl.String, "reason": pl.String, "rows": pl.Int64})
    rows = source.set_aside
    if rows is None:
        return nothing(empty, "row", "A release does not include rows that were set aside; the workspace does.", how)
    table = rows.group_by("stage", "reason").agg(pl.col("rows").sum())
    table = table.sort(["rows", "stage", "reason"], descending=[True, False, False])
    n = int(table["rows"].sum())
    if not n:
        return nothing(empty, "row", "No row of this selection was set aside.", how)
    says = f"{plural(n, 'row')} {verb(n, 'was', 'were')} set aside for {_describe_reasons(table)}."
    return Statistic(table=table, n=n, of="row", says=says, how=how)


def _describe_reasons(table: pl.DataFrame) -> str:
    """Return the number of reasons, with the most frequent one if there is one; the only one by its name."""
    first, *others = table.iter_rows(named=True)
    stage, reason = (first[name].replace("_", " ") for name in ("stage", "reason"))
    if not others:
        return f"one reason: “{reason}” (“{stage}”)"
    reasons = plural(table["reason"].n_unique(), "reason")
    if others[0]["rows"] == first["rows"]:
        return reasons
    share = percent(first["rows"] / int(table["rows"].sum()))
    return f"{reasons}, most often for “{reason}” (“{stage}”: {share})"


def completeness(source: CorpusSource) -> Statistic:
    """Count what the corpus has of each venue: reviews, ratings, PDFs, texts, complete listings."""
    how = (
        "Per venue: papers with a public review, reviews whose recommendation is a number, known PDFs that were"
        " fetched, and papers with a text. Listed to the end: whether OpenReview's listings were read completely"
        " (empty: imported, or a release, which does not record it)."
    )
    reviews = source.reviews.group_by("forum_id").agg(
        reviews=pl.len().cast(pl.Int64), reviews_with_rating=RATING.count().cast(pl.Int64)
    )
    texts = source.paper_tokens.select("forum_id", papers_with_text=pl.lit(1, pl.Int64))
    papers = source.papers.select("forum_id", "venue_id")
    for counts in (reviews, texts, source.files):
        papers = papers.join(counts, on="forum_id", how="left")
    sums = [pl.col(name).sum() for name in ("reviews", "reviews_with_rating", "pdfs", "pdfs_here", "papers_with_text")]
    table = papers.group_by("venue_id").agg(
        pl.len().cast(pl.Int64).alias("papers"),
        pl.col("reviews").count().cast(pl.Int64).alias("papers_reviewed"),
        *sums,
    )
    listed = [(source.listed or {}).get(venue_id) for venue_id in table["venue_id"]]
    table = table.with_columns(pl.Series("listed_to_the_end", listed, pl.Boolean))
    table = table.sort(["papers", "venue_id"], descending=[True, False])
    if table.is_empty():
        return nothing(table, "paper", _NO_PAPERS, how)
    sum_of = {name: int(table[name].sum()) for name in table.columns if table.schema[name].is_integer()}
    partly = table.filter(pl.col("listed_to_the_end").eq(False)).height
    reviewed = percent(sum_of["papers_reviewed"] / sum_of["papers"])
    says = (
        f"Of {plural(sum_of['papers'], 'paper')}, {reviewed} {verb(sum_of['papers'], 'has', 'have')} a public review;"
        f" {percent(compute_share(sum_of['pdfs_here'], sum_of['pdfs']))} of the known PDFs were fetched."
    )
    if partly:
        says += f" The listings of {plural(partly, 'venue')} were not read to the end."
    return Statistic(table=table, n=sum_of["papers"], of="paper", says=says, how=how)


_BINS = 30
"""Target number of bins below the open bin with the longest 1 % of the texts."""
_ROUND_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


def bin_width(reach: float) -> int:
    """Return the smallest round width for which 30 bins cover values up to `reach`.

    >>> bin_width(30), bin_width(24_000), bin_width(0)
    (1, 1000, 1)
    """
    if reach <= _BINS:
        return 1
    power: float = 10.0 ** math.floor(math.log10(reach / _BINS))
    return math.ceil(next(step * power for step in _ROUND_STEPS if step * power * _BINS >= reach))


def count_bins(values: pl.Series, of: str) -> pl.DataFrame:
    """Count whole numbers in bins of equal width, from `from` to below `to`, in the column `of`.

    The last bin may be open (`to` is null).
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


def _measure_lengths(tokens: pl.Series, every: int, of: str, absent: str, how: str, unit: str) -> Statistic:
    unknown = {absent: every - tokens.len()}
    empty = pl.DataFrame(schema={"from": pl.Int64, "to": pl.Int64, in_plural(of): pl.Int64})
    if tokens.is_empty():
        why = f"No {of} of this selection has a text to measure."
        return nothing(empty, of, why, how, unknown)
    low, middle, high = quartiles(tokens)
    least = int(str(tokens.min()))
    most = int(str(tokens.max()))
    says = (
        f"The median of the {in_plural(of)} is {middle:,.0f} {unit}; half of them have between {low:,.0f} and"
        f" {high:,.0f}, the shortest {least:,} and the longest {most:,}."
    )
    facts = {"least": least, "lower quartile": low, "median": middle, "upper quartile": high, "greatest": most}
    return Statistic(
        table=count_bins(tokens, in_plural(of)),
        n=tokens.len(),
        of=of,
        says=says,
        how=how,
        unknown=unknown,
        facts=facts,
        unit=unit,
    )


def paper_length(source: CorpusSource) -> Statistic:
    """Measure the papers, in tokens of their best text (Re², Fig. 2 a)."""
    how = f"The best text of each paper: the version that the reviewers read, if known; {source.tokens}."
    tokens = source.paper_tokens["tokens"]
    return _measure_lengths(
        tokens, source.papers.height, "paper", "no text of the paper is available", how, source.unit
    )


def review_length(source: CorpusSource) -> Statistic:
    """Measure the reviews, in tokens (Re², Fig. 2 b)."""
    how = f"The current texts of all fields of the review's form, without scores; {source.tokens}."
    every = source.review_tokens["tokens"]
    return _measure_lengths(every.filter(every > 0), every.len(), "review", "no text", how, source.unit)

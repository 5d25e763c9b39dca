"""What is held and how sure it is: grades of versions, rows set aside, and how complete each venue is."""

import polars as pl

from peercorpus.kinds import PUBLISHABLE_GRADES, Grade, Status
from peercorpus.report.counts import NO_PAPERS
from peercorpus.report.source import RATING, Source
from peercorpus.report.statistic import Statistic, counted, nothing, percent, share_of

NO_PDF, NOT_PUBLIC = "no PDF known", "not public"
STATUSES = [*(status.value for status in Status), NOT_PUBLIC]
GRADES = [*(grade.value for grade in Grade), NO_PDF]


def grades(source: Source) -> Statistic:
    """How sure it is which PDF the reviewers read, by what became of the paper."""
    how = (
        "The grade of each paper's version that the reviewers read, best first; exact, exact_attachment and unrevised"
        " are published as initial by default. A status that is not public is told by posts alone that not everyone may"
        " read."
    )
    status, grade = pl.col("status").fill_null(NOT_PUBLIC), pl.col("grade").fill_null(NO_PDF)
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
        return nothing(table, "papers", NO_PAPERS, how)
    publishable = [one.value for one in PUBLISHABLE_GRADES]
    sure = table.filter(pl.col("grade").is_in(publishable))
    says = f"The version that the reviewers read is known for {percent(int(sure['papers'].sum()) / n)} of the papers"
    told = []
    for one in (Status.ACCEPTED, Status.REJECTED):
        every = int(table.filter(status=one.value)["papers"].sum())
        if every:
            held = int(sure.filter(status=one.value)["papers"].sum())
            told.append(f"{percent(held / every)} of the {one.value} ones")
    return Statistic(table, n, "papers", says + (f", {' and '.join(told)}." if told else "."), how)


def set_aside(source: Source) -> Statistic:
    """What left the stages, and why."""
    how = "Every row that a stage could not use, by the stage and its reason; none is ever dropped."
    empty = pl.DataFrame(schema={"stage": pl.String, "reason": pl.String, "rows": pl.Int64})
    rows = source.set_aside
    if rows is None:
        return nothing(empty, "rows", "A release does not hold what was set aside; the workspace does.", how)
    table = rows.group_by("stage", "reason").agg(pl.col("rows").sum())
    table = table.sort(["rows", "stage", "reason"], descending=[True, False, False])
    n = int(table["rows"].sum())
    if not n:
        return nothing(empty, "rows", "Nothing that belongs to this selection was set aside.", how)
    first = table.row(0, named=True)
    reason = first["reason"].replace("_", " ")
    says = (
        f"{counted(n, 'rows')} were set aside for {counted(table['reason'].n_unique(), 'reasons')}, most often for"
        f" “{reason}” (“{first['stage'].replace('_', ' ')}”: {percent(first['rows'] / n)})."
    )
    return Statistic(table, n, "rows", says, how)


def completeness(source: Source) -> Statistic:
    """What is held of each venue, and what is missing."""
    how = (
        "Per venue: papers with a public review, reviews whose recommendation is a number, PDFs known that were"
        " fetched, and papers of which the text that the reviewers read is held. Listed to the end: whether"
        " OpenReview's listings were read whole (empty: imported, or a release, which does not say it)."
    )
    reviews = source.reviews.group_by("forum_id").agg(
        reviews=pl.len().cast(pl.Int64), reviews_with_rating=RATING.count().cast(pl.Int64)
    )
    texts = source.paper_tokens.select("forum_id", papers_with_text=pl.lit(1, pl.Int64))
    papers = source.papers.select("forum_id", "venue_id")
    for told in (reviews, texts, source.files):
        papers = papers.join(told, on="forum_id", how="left")
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
        return nothing(table, "papers", NO_PAPERS, how)
    sum_of = {name: int(table[name].sum()) for name in table.columns if table.schema[name].is_integer()}
    partly = table.filter(pl.col("listed_to_the_end").eq(False)).height
    reviewed = percent(sum_of["papers_reviewed"] / sum_of["papers"])
    says = (
        f"Of {counted(sum_of['papers'], 'papers')}, {reviewed} have a public review;"
        f" {percent(share_of(sum_of['pdfs_here'], sum_of['pdfs']))} of the PDFs known were fetched."
    )
    if partly:
        says += f" The listings of {counted(partly, 'venues')} were not read to the end."
    return Statistic(table, sum_of["papers"], "papers", says, how)

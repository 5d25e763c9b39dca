"""How much there is: papers, reviews and rebuttals by conference, and the keywords of most papers."""

import polars as pl

from peercorpus.kinds import Role
from peercorpus.report.source import Source
from peercorpus.report.statistic import TOP, VERDICTS, Statistic, counted, in_order, largest, nothing, percent, share_of

NO_PAPERS = "No paper is in this selection."


def papers_and_reviews(source: Source) -> Statistic:
    """Papers and reviews of each conference (Re², Fig. 2 c)."""
    how = "Papers of all years and tracks of a conference family, and their public reviews."
    per_paper = source.reviews.group_by("forum_id").agg(reviews=pl.len().cast(pl.Int64))
    papers = source.papers.join(per_paper, on="forum_id", how="left")
    reviews = pl.col("reviews")
    table = papers.group_by("conference").agg(
        papers=pl.len().cast(pl.Int64),
        reviews=reviews.sum().cast(pl.Int64),
        papers_without_reviews=reviews.is_null().sum().cast(pl.Int64),
    )
    table = in_order(table, "conference", largest(papers))
    if papers.is_empty():
        return nothing(table, "papers", NO_PAPERS, how)
    written, bare = int(table["reviews"].sum()), int(table["papers_without_reviews"].sum())
    first = table.row(0, named=True)
    says = (
        f"{counted(papers.height, 'papers')} of {counted(table.height, 'conferences')} have"
        f" {counted(written, 'reviews')}, {written / papers.height:.1f} a paper;"
        f" {first['conference']} has the most papers ({first['papers']:,})."
        f" {'All have a review.' if not bare else f'Without any public review: {bare:,}.'}"
    )
    return Statistic(table, papers.height, "papers", says, how, facts={"reviews": written})


def rebuttals(source: Source) -> Statistic:
    """Rebuttals by conference and year (Re², Fig. 2 d)."""
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
    table = in_order(table, "conference", largest(papers))
    every, answered = int(table["conversations"].sum()), int(table["rebuttals"].sum())
    if not every:
        return nothing(table, "conversations", "No conversation is in this selection.", how)
    says = (
        f"The authors answer in {percent(share_of(answered, every))} of {counted(every, 'conversations')}:"
        f" {counted(answered, 'rebuttals')}. Papers with a response to all reviewers:"
        f" {int(table['responses_to_all'].sum()):,}."
    )
    return Statistic(table, every, "conversations", says, how, facts={"rebuttals": answered})


def keywords(source: Source) -> Statistic:
    """Submissions and acceptance share of the ten most frequent keywords (Re², Fig. 2 e)."""
    how = (
        "Keywords as the authors wrote them, without regard to capitals and spacing, each once a paper. The share is"
        " that of accepted papers among those accepted or rejected; withdrawn and undecided papers are not in it."
    )
    word = pl.col("keywords").str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()
    rows = source.papers.select("forum_id", "status", "keywords").explode("keywords").with_columns(keyword=word)
    rows = rows.filter(pl.col("keyword").str.len_chars() > 0).unique(["forum_id", "keyword"])
    named = rows["forum_id"].n_unique()
    share = pl.when(pl.col("decided") > 0).then(pl.col("accepted") / pl.col("decided"))
    table = (
        rows.group_by("keyword")
        .agg(pl.len().cast(pl.Int64).alias("submissions"), **VERDICTS)
        .sort(["submissions", "keyword"], descending=[True, False])
        .head(TOP)
        .with_columns(decided=pl.col("accepted") + pl.col("rejected"))
        .with_columns(share_accepted=share)
    )
    unknown = {"no keywords": source.papers.height - named}
    if table.is_empty():
        return nothing(table, "papers", "No paper of this selection has keywords.", how, unknown)
    first = table.row(0, named=True)
    says = f"The most frequent keyword is “{first['keyword']}” ({counted(first['submissions'], 'papers')})."
    known = table.filter(pl.col("share_accepted").is_not_null()).sort("share_accepted", "keyword")
    if known.height > 1:
        low, high = known.row(0, named=True), known.row(-1, named=True)
        says += (
            f" Of those shown, papers on “{high['keyword']}” are accepted most often"
            f" ({percent(high['share_accepted'])}), on “{low['keyword']}” least ({percent(low['share_accepted'])})."
        )
    return Statistic(table, named, "papers", says, how, unknown)

"""Make the row of a corpus in Table 1 of the Re² paper (arXiv:2505.07920), to go with the sixteen printed rows.

Everything is counted paper by paper; a cell says yes if the count behind it is above 0. The counts are made while a
release is written, and by `report.dataset_row` from a workspace or a release.
"""

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

import msgspec

from peercorpus.corpus.forums import Forum
from peercorpus.records.enums import PUBLISHABLE_GRADES, Aspect, ConversationKind, Grade, Role, Status
from peercorpus.records.reviews import Review, select_own
from peercorpus.records.scores import choose_first_and_last, choose_own_first_and_last
from peercorpus.release.card.markdown import escape, markdown_table
from peercorpus.release.rows import ForumRows
from peercorpus.venues.catalogue import VenueRow
from peercorpus.venues.rules import warn_of_pooling

DETAIL_ASPECTS = tuple(
    aspect.value for aspect in Aspect if aspect not in {Aspect.RECOMMENDATION, Aspect.CONFIDENCE, Aspect.OTHER}
)
"""Aspects of a paper that a reviewer scores in addition to the recommendation: soundness, clarity and the like."""
VERDICTS = frozenset({Status.ACCEPTED.value, Status.REJECTED.value})
_INITIAL = frozenset({*PUBLISHABLE_GRADES, Grade.STATED})
DECIDED = VERDICTS | {Status.DESK_REJECTED.value}
TASKS = {
    "AP": "acceptance prediction: papers with a text, accepted or rejected",
    "SP": "score prediction: papers with a text and a review with a score",
    "RA": "review analysis: reviews labelled by annotators; peercorpus has no such labels",
    "RG": "review generation: papers with a text and a review in words",
    "MG": "meta-review generation: papers with a meta-review and a review in words",
}
"""The tasks of Re²'s table, each with the quantity counted for it."""
HAS = ("reviews", "aspect_scores", "rebuttals", "score_changes", "meta_reviews", "decisions")
"""Subjects of the table's columns, in order."""
_HEADER = (
    *("dataset", "data source", "tasks", "reviews", "aspect scores", "rebuttal", "score changes", "meta-reviews"),
    *("final decision", "papers", "review comments", "rebuttals"),
)
_MAX_CONFERENCES = 8
"""Maximum number of conferences named in a data source; of more, the number is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperFacts:
    """Public facts about one paper.

    Attributes:
        status: Its outcome; None if the decision is not public.
        grade: How certain it is that its text is the initial submission, as in `Grade`; None if it has no text, or only
            that of a later version.
        has_meta_review: Whether it has a meta-review, or a comment with its decision.
        reviews: Number of reviews; `worded` of them have a text, `rated` an overall recommendation as a number,
            `with_aspects` a score for an aspect of `DETAIL_ASPECTS`.
        compared: Reviews whose first and current recommendation are both known; `changed` counts those where they
            differ.
        rebuttals: Conversations with a reviewer in which the authors speak.
    """

    venue_id: str
    conference: str | None
    year: int | None
    status: str | None
    has_text: bool
    grade: str | None
    has_meta_review: bool
    reviews: int = 0
    worded: int = 0
    rated: int = 0
    with_aspects: int = 0
    compared: int = 0
    changed: int = 0
    rebuttals: int = 0


@dataclass(slots=True)
class DatasetCounts:
    """Counts of a dataset, as papers are added.

    Attributes:
        years: Years of the papers of each conference; None for papers without one.
        counts: By the names of `HAS`: reviews with a text, reviews with aspect scores, rebuttals, reviews whose
            recommendation changed, papers with a meta-review, papers with a decision.
        tasks: Papers that each task of `TASKS` can use.
        reviews: All reviews, including those without a text.
        compared: Reviews for which it is known whether the recommendation changed.
        texts: Papers with a text; `initial_texts` counts those known or stated to be the initial submission.
    """

    years: dict[str, set[int | None]] = field(default_factory=lambda: defaultdict(set))
    venue_ids: set[str] = field(default_factory=set)
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(HAS, 0))
    tasks: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TASKS, 0))
    papers: int = 0
    reviews: int = 0
    compared: int = 0
    texts: int = 0
    initial_texts: int = 0

    def add(self, paper: PaperFacts) -> None:
        """Add one paper."""
        self.papers += 1
        self.reviews += paper.reviews
        self.compared += paper.compared
        self.texts += paper.has_text
        self.initial_texts += paper.has_text and paper.grade in _INITIAL
        self.years[paper.conference or "none named"].add(paper.year)
        self.venue_ids.add(paper.venue_id)
        found = {
            "reviews": paper.worded,
            "aspect_scores": paper.with_aspects,
            "rebuttals": paper.rebuttals,
            "score_changes": paper.changed,
            "meta_reviews": int(paper.has_meta_review),
            "decisions": int(paper.status in DECIDED),
        }
        for name, count in found.items():
            self.counts[name] += count
        self.tasks["AP"] += paper.has_text and paper.status in VERDICTS
        self.tasks["SP"] += paper.has_text and paper.rated > 0
        self.tasks["RG"] += paper.has_text and paper.worded > 0
        self.tasks["MG"] += paper.has_meta_review and paper.worded > 0

    def count(self, forum: Forum, rows: ForumRows) -> None:
        """Add one forum with the rows that a release publishes of it."""
        shown = {review["review_id"] for review in rows.reviews}
        reviews = [review for review in forum.reviews if review.review_id in shown]
        talks = [talk for talk in rows.conversations if talk["kind"] == ConversationKind.REVIEW]
        both = [pair for pair in map(_read_own_ratings, reviews) if pair is not None]
        self.add(
            PaperFacts(
                venue_id=rows.paper["venue_id"],
                conference=rows.paper["conference"],
                year=rows.paper["year"],
                status=rows.paper["status"],
                has_text=bool(rows.paper["markdown"]),
                grade=rows.paper["grade"],
                has_meta_review=bool(rows.meta_reviews or rows.paper["decision_comment"]),
                reviews=len(reviews),
                worded=sum(any(section.text.strip() for section in select_own(review.sections)) for review in reviews),
                rated=sum(map(_is_rated, reviews)),
                with_aspects=sum(map(_has_aspects, reviews)),
                compared=len(both),
                changed=sum(first != last for first, last in both),
                rebuttals=sum(any(turn["role"] == Role.AUTHOR for turn in talk["turns"]) for talk in talks),
            )
        )


def _is_rated(review: Review) -> bool:
    scores = choose_first_and_last(review.scores, Aspect.RECOMMENDATION, "rating")
    return any(score is not None and score.value is not None for score in scores)


def _read_own_ratings(review: Review) -> tuple[float, float] | None:
    """Return the first and the current recommendation; None if one is unknown, or not the reviewer gave the current
    one.
    """
    first, last = choose_own_first_and_last(review.scores, Aspect.RECOMMENDATION, "rating") or (None, None)
    if first is None or last is None or first.value is None or last.value is None:
        return None
    return first.value, last.value


def _has_aspects(review: Review) -> bool:
    answered = (score for score in review.scores if score.value is not None or score.rank is not None)
    return any(score.aspect.value in DETAIL_ASPECTS for score in answered)


class DatasetRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One row of the table, printed or counted.

    Attributes:
        name: Name of the dataset.
        citation: Re²'s citation for it; empty for Re² and for counted rows.
        source: Conferences and years.
        tasks: Tasks that it supports, by their names in `TASKS`.
        has: Its contents, by their names in `HAS`.
        papers: Number of papers; None if Re² does not print it, as for the next two.
        review_comments: Number of reviews.
        rebuttal_count: Number of rebuttals.
        counts: The counts that decided `has`; empty for a printed row.
        task_papers: Papers that each task can use; empty for a printed row.
        compared: Reviews for which it is known whether the recommendation changed; None for a printed row.
        texts: Papers with a text; None for a printed row.
        initial_texts: Papers whose text is known or stated to be the initial submission; None for a printed row.
        pooled: Warning that venues with different rules are counted together; empty if there is none.
    """

    name: str
    source: str
    tasks: tuple[str, ...]
    has: tuple[str, ...]
    citation: str = ""
    papers: int | None = None
    review_comments: int | None = None
    rebuttal_count: int | None = None
    counts: Mapping[str, int] = {}
    task_papers: Mapping[str, int] = {}
    compared: int | None = None
    texts: int | None = None
    initial_texts: int | None = None
    pooled: str = ""


def make_row(
    name: str, counted: DatasetCounts, own_rows: Mapping[str, VenueRow | None] = MappingProxyType({})
) -> DatasetRow:
    """Return the row of a dataset that was counted; `own_rows` as for `rules.warn_of_pooling`."""
    return DatasetRow(
        name=name,
        source=describe_source(counted.years),
        tasks=tuple(task for task, papers in counted.tasks.items() if papers),
        has=tuple(what for what, count in counted.counts.items() if count),
        papers=counted.papers,
        review_comments=counted.reviews,
        rebuttal_count=counted.counts["rebuttals"],
        counts=dict(counted.counts),
        task_papers=dict(counted.tasks),
        compared=counted.compared,
        texts=counted.texts,
        initial_texts=counted.initial_texts,
        pooled=warn_of_pooling(counted.venue_ids, own_rows),
    )


def describe_source(years: Mapping[str, Iterable[int | None]]) -> str:
    """Return conferences with their years or, if there are more than eight, their number and the years of all.

    >>> describe_source({"icml": [2025], "iclr": [2020, 2021, 2022, 2024, None]})
    'iclr 2020-2022 2024, icml 2025'
    >>> describe_source({f"c{n}": [2017 + n] for n in range(9)})
    '9 conferences 2017-2025'
    """
    if len(years) > _MAX_CONFERENCES:
        of_all = {year for of_one in years.values() for year in of_one}
        return f"{len(years)} conferences{_join_years(of_all)}"
    return ", ".join(f"{name}{_join_years(of_one)}" for name, of_one in sorted(years.items()))


def _join_years(years: Iterable[int | None]) -> str:
    """Return years with consecutive years shortened to ranges; empty if none is known."""
    runs: list[list[int]] = []
    for year in sorted({year for year in years if year is not None}):
        if runs and year == runs[-1][-1] + 1:
            runs[-1].append(year)
        else:
            runs.append([year])
    return "".join(f" {run[0]}" if len(run) == 1 else f" {run[0]}-{run[-1]}" for run in runs)


@cache
def printed_rows() -> tuple[DatasetRow, ...]:
    """Return the rows that Re² prints, in their order."""
    table = tomllib.loads(files("peercorpus.release").joinpath("table1.toml").read_text(encoding="utf-8"))
    return msgspec.convert(tuple(table["row"]), tuple[DatasetRow, ...])


def table_markdown(row: DatasetRow) -> str:
    """Return a row above the printed ones, as a Markdown table."""
    lines = [_format_row(each) for each in (row, *printed_rows())]
    return markdown_table(_HEADER, lines, text_columns=9)


def table_json(row: DatasetRow) -> str:
    """Return a row with its counts, and the printed rows, as JSON."""
    table = {"row": row, "printed": printed_rows(), "tasks": TASKS}
    return msgspec.json.format(msgspec.json.encode(table), indent=1).decode()


def _format_row(row: DatasetRow) -> Sequence[Any]:
    numbers = (row.papers, row.review_comments, row.rebuttal_count)
    name = f"{row.name} ({row.citation})" if row.citation else row.name
    # The names in a counted row are untrusted, except for the commas between them; those of printed rows are ours.
    source = ", ".join(map(escape, row.source.split(", "))) if row.counts else row.source
    names = (escape(name) if row.counts else name, source)
    return (
        *names,
        ", ".join(row.tasks) or "none",
        *(_format_cell(row, what) for what in HAS),
        *("not printed" if number is None else number for number in numbers),
    )


def _format_cell(row: DatasetRow, what: str) -> str:
    answer = "yes" if what in row.has else "no"
    return f"{answer} ({row.counts[what]:,})" if row.counts else answer


def explain_row(row: DatasetRow) -> str:
    """Explain the counts in the cells of a counted row."""
    tasks = ", ".join(f"{task} {papers:,}" for task, papers in row.task_papers.items())
    explained = (
        "In brackets: reviews with a text, reviews with a score for soundness, clarity or the like, conversations in"
        " which the authors answer a reviewer, reviews whose recommendation changed (both the first and the current"
        f" value are known for {row.compared or 0:,}), papers with a meta-review or a comment with the decision, and"
        f" papers with a decision. Papers that a task can use: {tasks}; RA needs labels by annotators, which"
        f" peercorpus does not have. Texts: {row.texts or 0:,}, of which {row.initial_texts or 0:,} are known to be"
        " the initial submission, or stated to be by the dataset that they come from."
    )
    return f"{explained} {row.pooled}".rstrip()

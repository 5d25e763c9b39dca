"""Rank papers in pairs within a venue and year: which was rated higher, or accepted, by answers and by people.

No scale is needed: only the order of two papers at one venue counts. The ceiling is one reviewer's order against that
of the mean of the other reviewers.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from heapq import nsmallest
from itertools import groupby

import numpy as np
import numpy.typing as npt

from peercorpus.benchmark.arms import group_by_protocol, name_runs
from peercorpus.benchmark.cases import AskedScore, BenchTask
from peercorpus.benchmark.estimates import Estimate
from peercorpus.benchmark.logs import Protocol, TaskRun, read_samples
from peercorpus.benchmark.outcomes import CaseOutcome, DecisionRecord, Scored, ScoresRecord
from peercorpus.benchmark.solvers import read_asked
from peercorpus.benchmark.tables import Table, Tables
from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics.intervals.bootstrap import bootstrap
from peercorpus.records.enums import Aspect
from peercorpus.venues.rules import warn_of_pooling

SCORED = {BenchTask.ACCEPTANCE: Scored.DECISION, BenchTask.SCORES: Scored.NUMBERS}
"""The tasks whose answers order papers, with the scorer that records them."""
PEOPLE = "one reviewer against the mean of the others"
Group = tuple[str | float, ...]
"""Attributes that two papers must share to be a pair: the venue, and for ratings the form's field with its scale."""
Matrix = npt.NDArray[np.float32]
MOST_PAPERS = 1_000
"""Most papers of one venue and year that are paired, those with the smallest hashes, so that memory is bounded."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """A predicted number for a paper, and the true number that orders the papers of the group."""

    forum_id: str
    group: Group
    said: float
    gold: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """Quality of the pairwise order of the papers of one venue and year.

    Attributes:
        concordance: Share of pairs in the right order, with ties counted half.
        pairs: Number of pairs of papers that people order.
        even: Number of pairs of papers that people do not order, which do not count.
        groups: Number of venues and years with a pair.
        tied: Share of the pairs in which the answers are the same for both papers.
        left_out: Number of answers without a score, which do not count.
        not_drawn: Number of papers beyond `MOST_PAPERS` of a venue, which do not count.
        says: Source of the order, if it is not the obvious one; otherwise empty.
    """

    name: str
    concordance: Estimate
    pairs: int
    even: int
    groups: int
    tied: float
    left_out: int = 0
    not_drawn: int = 0
    says: str = ""


@dataclass(frozen=True, slots=True)
class Ranked:
    """The rankings of one protocol: models, then baselines, best first, and the ceiling last.

    Attributes:
        pooled: Warning that the papers are of venues with different rules; empty if there is none.
    """

    protocol: Protocol
    rankings: tuple[Ranking, ...]
    pooled: str = ""


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The pairs of the papers of one group, as square matrices without a diagonal.

    Attributes:
        right: Share of the opinions on two papers whose order is right, of all opinions on them.
        ordered: Share of the opinions on two papers that people order.
        tied: Share of these whose opinions are the same.
    """

    forum_ids: list[str]
    right: Matrix
    ordered: Matrix
    tied: Matrix


def _draw(opinions: Iterable[Opinion]) -> list[Opinion]:
    """Return the opinions on at most `MOST_PAPERS` papers."""
    known = list(opinions)
    forum_ids = {opinion.forum_id for opinion in known}
    drawn = set(nsmallest(MOST_PAPERS, forum_ids, key=lambda forum_id: sha256(forum_id.encode()).digest()))
    return [opinion for opinion in known if opinion.forum_id in drawn]


def _find_order(numbers: Iterable[float]) -> Matrix:
    """Return, for each pair of numbers, 1 if the first is greater, -1 if it is less, otherwise 0."""
    column = np.fromiter(numbers, np.float32)
    return np.sign(np.subtract.outer(column, column))


def _pair_up(opinions: Sequence[Opinion]) -> _Pairs:
    forum_ids = sorted({opinion.forum_id for opinion in opinions})
    rows = {forum_id: row for row, forum_id in enumerate(forum_ids)}
    weights = np.zeros((len(forum_ids), len(opinions)), np.float32)
    for column, opinion in enumerate(opinions):
        weights[rows[opinion.forum_id], column] = 1
    weights /= weights.sum(axis=1, keepdims=True)
    said = _find_order(opinion.said for opinion in opinions)
    gold = _find_order(opinion.gold for opinion in opinions)
    ordered = (gold != 0).astype(np.float32)
    right, tied = ordered * (said == gold), ordered * (said == 0)
    by_paper = [weights @ matrix @ weights.T for matrix in (right + tied / 2, ordered, tied)]
    for matrix in by_paper:
        np.fill_diagonal(matrix, 0)
    return _Pairs(forum_ids, *by_paper)


def rank(name: str, opinions: Iterable[Opinion], left_out: int = 0, says: str = "") -> Ranking | None:
    """Return the quality of an order of papers, or None if people order no two of them.

    The interval resamples papers; a paper drawn twice does not form a pair with itself.
    """
    ordered = sorted(opinions, key=lambda opinion: str(opinion.group))
    by_group = groupby(ordered, key=lambda opinion: opinion.group)
    groups = [_pair_up(_draw(of_group)) for _, of_group in by_group]
    places = {name: (index, row) for index, pairs in enumerate(groups) for row, name in enumerate(pairs.forum_ids)}

    def share(chosen: Sequence[tuple[int, int]]) -> float:
        right = comparable = 0.0
        counts = [np.zeros(len(pairs.forum_ids), np.float32) for pairs in groups]
        for index, row in chosen:
            counts[index][row] += 1
        for pairs, drawn in zip(groups, counts, strict=True):
            right += float(drawn @ pairs.right @ drawn)
            comparable += float(drawn @ pairs.ordered @ drawn)
        if not comparable:
            raise UndefinedMetricError("The order of papers is undefined without two that people order.")
        return right / comparable

    try:
        value = share([*places.values()])
    except UndefinedMetricError:
        return None
    estimate = Estimate(value, len(places))
    try:
        interval = bootstrap(places, share)
        estimate = Estimate(value, len(places), (interval.low, interval.high), interval.undefined)
    except UndefinedMetricError:
        pass
    number_of_pairs = [int(np.count_nonzero(pairs.ordered)) // 2 for pairs in groups]
    return Ranking(
        name=name,
        concordance=estimate,
        pairs=sum(number_of_pairs),
        even=sum(len(pairs.forum_ids) * (len(pairs.forum_ids) - 1) // 2 for pairs in groups) - sum(number_of_pairs),
        groups=sum(number > 0 for number in number_of_pairs),
        tied=float(sum(pairs.tied.sum() for pairs in groups) / sum(pairs.ordered.sum() for pairs in groups)),
        left_out=left_out,
        not_drawn=len({opinion.forum_id for opinion in ordered}) - len(places),
        says=says,
    )


def list_human_opinions(forum_id: str, venue_id: str, asked: Iterable[AskedScore]) -> Iterator[Opinion]:
    """Yield each reviewer's recommendation on a paper with the mean of the others'; nothing if there is only one."""
    rating = next((score for score in asked if score.aspect is Aspect.RECOMMENDATION), None)
    values = () if rating is None else rating.values
    for index, value in enumerate(values if len(values) > 1 else ()):
        assert rating is not None
        others = [*values[:index], *values[index + 1 :]]
        group = (venue_id, rating.field, rating.low, rating.high)
        yield Opinion(forum_id, group, value, sum(others) / len(others))


def _list_opinions(outcomes: Sequence[CaseOutcome], venues: dict[str, str], *, by_probability: bool) -> list[Opinion]:
    opinions = []
    for outcome in outcomes:
        venue_id, record = venues[outcome.forum_id], outcome.found
        if isinstance(record, DecisionRecord):
            said = record.probability if by_probability and record.probability is not None else float(record.said)
            opinions.append(Opinion(outcome.forum_id, (venue_id,), said, float(record.accepted)))
        elif isinstance(record, ScoresRecord):
            rating = next((score for score in record.fields if score.aspect == Aspect.RECOMMENDATION), None)
            if rating is not None:
                group = (venue_id, rating.field, rating.low, rating.high)
                opinions.append(Opinion(outcome.forum_id, group, rating.said, rating.gold))
    return opinions


def _rank_run(run: TaskRun, name: str, venues: dict[str, str]) -> Ranking | None:
    outcomes = run.outcomes[SCORED[run.protocol.task]]
    scored = [outcome for outcome in outcomes if outcome.unscored is None]
    records = [outcome.found for outcome in scored if isinstance(outcome.found, DecisionRecord)]
    by_probability = all(record.probability is not None for record in records)
    name = f"{name} (baseline)" if run.is_baseline else name
    says = "" if by_probability else "by its decisions, as not every answer states a probability"
    opinions = _list_opinions(scored, venues, by_probability=by_probability)
    return rank(name, opinions, len(outcomes) - len(scored), says)


def _rank_protocol(protocol: Protocol, runs: Sequence[TaskRun]) -> Ranked:
    venues, people = dict[str, str](), list[Opinion]()
    for sample in read_samples(runs[0].path):
        forum_id, venue_id = str(sample.metadata["forum_id"]), str(sample.metadata["venue_id"])
        venues[forum_id] = venue_id
        if protocol.task is BenchTask.SCORES:
            people += list_human_opinions(forum_id, venue_id, read_asked(sample.metadata))
    named = zip(runs, name_runs(runs), strict=True)
    ranked = ((run.is_baseline, _rank_run(run, name, venues)) for run, name in named)
    rows = [(is_baseline, -row.concordance.value, row.name, row) for is_baseline, row in ranked if row is not None]
    ceiling = rank(PEOPLE, people)
    ranked_last = [] if ceiling is None else [ceiling]
    return Ranked(protocol, (*(row for *_, row in sorted(rows)), *ranked_last), warn_of_pooling(venues.values()))


def rank_runs(runs: Iterable[TaskRun]) -> list[Ranked]:
    """Return the rankings of each protocol of `acceptance` and `scores`; a baseline is in each one of its cases.

    The last of several runs of one model and protocol counts; interrupted runs do not.

    Args:
        runs: Runs, oldest first.
    """
    latest = {(run.protocol, *run.identity): run for run in runs if run.protocol.task in SCORED and not run.missing}
    grouped = sorted(group_by_protocol([*latest.values()]), key=lambda group: group[0])
    return [_rank_protocol(protocol, of_protocol) for protocol, of_protocol in grouped]


ORDERS = {
    BenchTask.ACCEPTANCE: "the one that was accepted above the one that was not",
    BenchTask.SCORES: "the one with the higher mean recommendation above the other",
}
"""The right order of two papers, by task."""
HEAD = ("ranked by", "in the right order", "pairs", "papers", "venues", "tied", "no order", "unscored", "not drawn")


def _make_table(table: Ranked) -> Table:
    protocol = table.protocol
    return Table(
        title=f"{protocol.task}, in pairs",
        above=[
            f"Share of pairs of papers of one venue and year in the right order ({ORDERS[protocol.task]}), ties"
            " counting half, with 95 % intervals over papers, * where some draws have no pair. Not counted are pairs"
            " that people do not order, answers without a score, and papers of large venues that were not drawn.",
            f"Split '{protocol.split}', release {protocol.release[:12]}, cases {protocol.cases[:12]}, prompts"
            f" {protocol.prompts}, {protocol.paper}.",
            *([table.pooled] if table.pooled else []),
            *([] if table.rankings else ["No two papers of one venue have an order."]),
        ],
        head=HEAD,
        rows=[_format_row(ranking) for ranking in table.rankings],
        below=[f"{ranking.name}: {ranking.says}" for ranking in table.rankings if ranking.says],
    )


def _format_row(ranking: Ranking) -> list[str]:
    share = ranking.concordance
    bounds = "" if share.bounds is None else f" [{share.bounds[0]:.3f}, {share.bounds[1]:.3f}]"
    return [
        ranking.name,
        f"{share.value:.3f}{bounds}{'*' if share.undefined else ''}",
        f"{ranking.pairs:,}",
        f"{share.papers:,}",
        f"{ranking.groups:,}",
        f"{ranking.tied:.1%}",
        f"{ranking.even:,}",
        f"{ranking.left_out:,}",
        f"{ranking.not_drawn:,}",
    ]


COLUMNS = (
    *("task", "name", "value", "low", "high", "pairs", "papers", "venues", "tied", "without_order", "unscored"),
    *("not_drawn", "draws_without_it", "says", "split", "profile", "release", "cases", "prompts", "paper"),
)


def lay_out(ranked: Sequence[Ranked]) -> Tables:
    """Return the rankings as tables, and their numbers one ranking per line."""
    return Tables("Papers in pairs", [*map(_make_table, ranked)], COLUMNS, [*_list_numbers(ranked)])


def _list_numbers(tables: Sequence[Ranked]) -> Iterator[tuple[object, ...]]:
    for table in tables:
        protocol = table.protocol
        of_data = protocol.split, protocol.profile, protocol.release, protocol.cases
        for ranking in table.rankings:
            share = ranking.concordance
            low, high = share.bounds or (None, None)
            yield (
                *(protocol.task, ranking.name, share.value, low, high, ranking.pairs, share.papers),
                *(ranking.groups, ranking.tied, ranking.even, ranking.left_out, ranking.not_drawn, share.undefined),
                *(ranking.says, *of_data, protocol.prompts, protocol.paper),
            )

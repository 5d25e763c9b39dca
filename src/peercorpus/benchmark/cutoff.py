"""Split results at the end of a model's training data: papers that it may have seen, and later ones."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from pathlib import Path

from peercorpus.benchmark.arms import compare_column
from peercorpus.benchmark.baselines.baseline import REFERENCES
from peercorpus.benchmark.estimates import (
    DROPPED,
    UNINFORMED,
    Column,
    Estimate,
    cell,
    concerns_group,
    name_measurer,
    treat_failures,
)
from peercorpus.benchmark.logs import Protocol, TaskRun
from peercorpus.benchmark.measures import Measure
from peercorpus.errors import PeercorpusError
from peercorpus.metrics.intervals.papers import subtract_bounds
from peercorpus.records.enums import Status
from peercorpus.release.folder import Release, open_release
from peercorpus.release.splits import Split


class Period(StrEnum):
    """When a paper became available, relative to the cutoff."""

    BEFORE = "before"
    AFTER = "after"
    BETWEEN = "between"
    UNKNOWN = "unknown"


SAYS = {
    Period.BEFORE: "decided by that day or, without a decision, last reviewed by it",
    Period.AFTER: "submitted later",
    Period.BETWEEN: "submitted by that day, but decided or reviewed after it",
    Period.UNKNOWN: "a date needed to decide is missing",
}
"""Description of the papers of each period."""


@dataclass(frozen=True, slots=True)
class PaperDates:
    """When the forum of a paper began, and when everything that is asked about existed.

    Attributes:
        submitted_at: When the submission was created, by OpenReview's clock; None if unknown.
        closed_at: When the decision was posted or, if there was none, the last review; None if unknown.
    """

    submitted_at: datetime | None
    closed_at: datetime | None

    def place(self, cutoff: date) -> Period:
        """Return the period of the paper; the day of the cutoff, in UTC, still counts as before it."""
        begins, ends = self.submitted_at, self.closed_at
        if begins is not None and ends is not None and ends < begins:
            return Period.UNKNOWN
        if begins is not None and begins.date() > cutoff:
            return Period.AFTER
        if ends is not None and ends.date() <= cutoff:
            return Period.BEFORE
        return Period.UNKNOWN if begins is None or ends is None else Period.BETWEEN


@dataclass(frozen=True, slots=True)
class Cutoff:
    """The end of a model's training data, as the user states it.

    Attributes:
        day: The last day, in UTC.
        release: Folder of the release from which papers are dated; None for the one named in the logs.
    """

    day: date
    release: Path | None = None


@dataclass(frozen=True, slots=True)
class CutoffRow:
    """One measure of one run, before and after the cutoff.

    Attributes:
        name: The run, as in the table.
        failures: Treatment of answers without a score.
        cells: The number of each period; None if it is undefined or was not measured in this run.
        change: After minus before; None if one of the two has no number.
        beyond: The change minus that of the reference, on the same papers; also None for baselines.
    """

    name: str
    is_baseline: bool
    failures: str
    measure: Measure
    cells: Mapping[Period, Estimate | None]
    change: Estimate | None
    beyond: Estimate | None


@dataclass(frozen=True, slots=True)
class CutoffTable:
    """One table of runs, split at a cutoff.

    Attributes:
        papers: Number of papers by period.
        reference: Name of the baseline whose change is subtracted; None if none has answered, or if it learnt from
            these papers.
        rows: Rows by measure, then in the order of the runs.
    """

    day: date
    papers: Mapping[Period, int]
    reference: str | None
    rows: tuple[CutoffRow, ...]


def _find_release(cutoff: Cutoff, protocol: Protocol, runs: Iterable[TaskRun]) -> Release:
    """Return the release of some runs.

    Raises:
        PeercorpusError: It is not at the named location.
    """
    folders = dict.fromkeys(filter(None, [cutoff.release, *(run.release for run in runs)]))
    for folder in folders:
        try:
            release = open_release(folder, is_whole=False)
        except PeercorpusError:
            continue
        if release.sha256 == protocol.release:
            return release
    places = ", ".join(f"'{folder}'" for folder in folders) or "any known place"
    raise PeercorpusError(
        f"The papers of '{protocol.task}' cannot be dated: the release {protocol.release[:12]} of the logs is not in"
        f" {places}; name its folder with --release."
    )


def read_dates(release: Release) -> dict[str, PaperDates]:
    """Return the dates of each paper of a release.

    Raises:
        PeercorpusError: A file of it cannot be read.
    """
    reviewed: dict[str, list[datetime | None]] = {}
    for review in release.rows("reviews", None, ["forum_id", "created_at"]):
        reviewed.setdefault(review["forum_id"], []).append(review["created_at"])
    dates = {}
    for paper in release.rows("papers_full", None, ["forum_id", "created_at", "decided_at", "status"]):
        closed_at = paper["decided_at"]
        if closed_at is None and paper["status"] not in {Status.ACCEPTED, Status.REJECTED}:
            closed_at = _find_last(reviewed.get(paper["forum_id"], []))
        dates[paper["forum_id"]] = PaperDates(paper["created_at"], closed_at)
    return dates


def _find_last(times: Sequence[datetime | None]) -> datetime | None:
    known = [time for time in times if time is not None]
    return max(known, default=None) if len(known) == len(times) else None


def read_periods(cutoff: Cutoff, protocol: Protocol, runs: Sequence[TaskRun]) -> dict[str, Period]:
    """Return the period of each paper in some runs of one protocol.

    Raises:
        PeercorpusError: Their release is missing, or cannot be read.
    """
    dates = read_dates(_find_release(cutoff, protocol, runs))
    nothing = PaperDates(None, None)
    return {forum_id: dates.get(forum_id, nothing).place(cutoff.day) for forum_id in _list_papers(runs)}


def _list_papers(runs: Iterable[TaskRun]) -> set[str]:
    return {outcome.forum_id for run in runs for outcomes in run.outcomes.values() for outcome in outcomes}


def split_at_cutoff(
    named: Sequence[tuple[str, TaskRun]],
    columns: Sequence[Column],
    group: str,
    periods: Mapping[str, Period],
    day: date,
) -> CutoffTable:
    """Return the numbers of some runs before and after a cutoff.

    Args:
        named: The runs of one table with their names.
        columns: The measures of the table.
        group: Subject of the table, such as an aspect.
        periods: The period of each paper.
        day: The cutoff.
    """
    runs = [run for _, run in named]
    reference = _find_reference(runs)
    rows = [
        _make_row(name, run, column, group, periods, reference)
        for column in columns
        if column.measure.higher_is_better is not None
        for name, run in named
        if column.scored in run.outcomes and name_measurer(column.scored, run, column.measure) == column.by
    ]
    counts = Counter(periods[forum_id] for forum_id in _list_papers(runs))
    return CutoffTable(day, counts, None if reference is None else reference.name, tuple(rows))


def _find_reference(runs: Sequence[TaskRun]) -> TaskRun | None:
    by_name = {run.name: run for run in runs if run.is_baseline and run.protocol.split != Split.TRAIN}
    return by_name.get(REFERENCES[runs[0].protocol.task])


def _make_row(
    name: str,
    run: TaskRun,
    column: Column,
    group: str,
    periods: Mapping[str, Period],
    reference: TaskRun | None,
) -> CutoffRow:
    failures = DROPPED if run.is_ceiling else UNINFORMED
    treated = treat_failures(run.outcomes[column.scored], failures)
    counted = [outcome for outcome in treated if concerns_group(outcome, group)]
    cells = {
        period: cell(column.measure, [one for one in counted if periods[one.forum_id] is period]) for period in Period
    }
    beyond = None
    if reference is not None and not run.is_baseline:
        beyond = _compare_changes(run, reference, column, periods)
    return CutoffRow(
        name=name,
        is_baseline=run.is_baseline,
        failures=failures,
        measure=column.measure,
        cells=cells,
        change=_subtract(cells[Period.AFTER], cells[Period.BEFORE]),
        beyond=beyond,
    )


def _compare_changes(
    run: TaskRun, reference: TaskRun, column: Column, periods: Mapping[str, Period]
) -> Estimate | None:
    """Return how much more a run changes at the cutoff than the reference does on the same papers."""
    after, before = (
        compare_column(column, run, reference, {paper for paper in periods if periods[paper] is period})
        for period in (Period.AFTER, Period.BEFORE)
    )
    return None if after is None or before is None else _subtract(after[0], before[0])


def _subtract(after: Estimate | None, before: Estimate | None) -> Estimate | None:
    """Return the difference of two numbers of different papers, with an interval if both have one."""
    if after is None or before is None:
        return None
    bounds = None
    if after.bounds is not None and before.bounds is not None:
        bounds = subtract_bounds(after.value, after.bounds, before.value, before.bounds)
    return Estimate(after.value - before.value, min(after.papers, before.papers), bounds)

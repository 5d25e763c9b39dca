"""Run the stage that inspects every fetched PDF for dates and signs of its version.

Files already inspected by the current inspector are skipped; results are committed in batches, so a killed run can
continue.
"""

import logging
from collections.abc import Sequence
from functools import partial

from peercorpus.execution.executor import (
    FILE_MISSING,
    TRANSIENT_REASONS,
    Executor,
    Failure,
    failure_reason,
    in_batches,
    report_progress,
)
from peercorpus.execution.stage import Balance, Options, ProgressCallback, Stage
from peercorpus.records.documents import Inspection
from peercorpus.versions.inspect_pdf import INSPECTOR, InspectionJob, PdfFindings, look_into_file
from peercorpus.workspace.delta_tables import Replacement, Tables
from peercorpus.workspace.workspace import Workspace

NAME = "inspect_files"
TABLE = "0-inspections"
COLUMNS = ("sha256", "forum_id", "inspector")
"""Columns that decide whether a row of an earlier run is kept: file, forum and inspector must match."""
BATCH_FILES = 256
"""Files per commit, and so the most inspections that a killed run loses."""

Outcome = tuple[InspectionJob, PdfFindings | Failure]

logger = logging.getLogger(__name__)


def _find_files(workspace: Workspace, venue_id: str) -> dict[str, str]:
    """Return the sha256 of each file fetched for a venue, with the first forum that has it."""
    first_forums: dict[str, str] = {}
    for stored in workspace.raw.state.files(venue_id):
        if stored.sha256 is not None:
            first_forums.setdefault(stored.sha256, stored.forum_id)
    return first_forums


def _build_inspection(job: InspectionJob, looked: PdfFindings, venue_id: str, forum_id: str) -> Inspection:
    return Inspection(
        sha256=job.sha256,
        forum_id=forum_id,
        venue_id=venue_id,
        pages=looked.pages,
        made_at=looked.made_at,
        changed_at=looked.changed_at,
        producer=looked.producer,
        signs=looked.signs,
        problems=looked.problems,
        inspector=INSPECTOR,
    )


def _commit(
    tables: Tables, venue_id: str, batch: list[Outcome], first_forums: dict[str, str], left: Replacement
) -> None:
    inspections = []
    for job, result in batch:
        if isinstance(result, Failure):
            left.set_aside(job.sha256, first_forums[job.sha256], *failure_reason(result))
        else:
            inspections.append(_build_inspection(job, result, venue_id, first_forums[job.sha256]))
    if inspections:
        tables.append(TABLE, venue_id, NAME, inspections)
    logger.debug(
        "%s %s: %d files inspected, %d set aside", NAME, venue_id, len(inspections), len(batch) - len(inspections)
    )


def inspect_files(
    spread: Executor, workspace: Workspace, venue_id: str, options: Options, key: str, report: ProgressCallback
) -> None:
    """Inspect the files of a venue that have not been inspected yet."""
    tables = workspace.tables
    files = workspace.files
    first_forums = _find_files(workspace, venue_id)
    fit = {(sha256, forum_id, INSPECTOR) for sha256, forum_id in first_forums.items()}
    kept = {row[0] for row in tables.sift(Inspection, venue_id, NAME, COLUMNS, fit, key)}
    missing = [InspectionJob(sha256, files.path(sha256)) for sha256 in first_forums if sha256 not in kept]
    absent = {job.sha256 for job in missing if not files.has(job.sha256)}
    present = [job for job in missing if job.sha256 not in absent]
    logger.info("%s %s: %d files, %d to inspect", NAME, venue_id, len(first_forums), len(present))
    with tables.replacing((), venue_id, NAME, key) as left:
        for sha256 in sorted(absent):
            left.set_aside(sha256, first_forums[sha256], *FILE_MISSING)
        # In order, so that the table does not depend on the number of processes.
        outcomes = spread(
            look_into_file, present, timeout_s=options.pdf_timeout_s, workers=options.workers, in_order=True
        )
        for batch in in_batches(report_progress(outcomes, len(present), report), BATCH_FILES):
            _commit(tables, venue_id, batch, first_forums, left)
    tables.finish(TABLE, venue_id, NAME, key)


def balance(workspace: Workspace, venue_id: str) -> Sequence[Balance]:
    """Return the balance: files fetched for the venue = inspections + files set aside."""
    tables = workspace.tables
    files = len(_find_files(workspace, venue_id))
    left = tables.set_aside_counts(venue_id, NAME)
    return [
        Balance(
            stage=NAME,
            venue_id=venue_id,
            unit="files",
            rows_in=files,
            rows_out=tables.count(TABLE, venue_id),
            set_aside=left,
        )
    ]


def stage(spread: Executor) -> Stage[Workspace]:
    """Return the stage, with the executor that distributes its work."""
    return Stage(
        name=NAME,
        doing="inspecting PDFs",
        version=2,
        reads_raw=("file",),
        reads=(),
        writes=(TABLE,),
        options=(),
        run=partial(inspect_files, spread),
        balance=balance,
        passing=TRANSIENT_REASONS,
        made_with=lambda _: INSPECTOR,
    )

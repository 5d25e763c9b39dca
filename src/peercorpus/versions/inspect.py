"""The stage that looks into every file of a venue: each in a process that may die, committed in batches.

What is left to do is found by comparing ids, so a killed run continues where it was.
"""

import logging
from collections.abc import Sequence
from functools import partial

from peercorpus.file_records import Inspection
from peercorpus.per_file import NOT_HERE, PASSING, in_batches, reported, why_failed
from peercorpus.spread import Failure, Spread
from peercorpus.stage import Balance, Options, Report, Stage
from peercorpus.tables import Replacement, Tables
from peercorpus.versions.look import INSPECTOR, Job, Looked, look_into_file
from peercorpus.workspace import Workspace

NAME = "inspect_files"
TABLE = "0-inspections"
COLUMNS = ("sha256", "forum_id", "inspector")
"""What a row must fit to be kept: a file, its forum and this inspector."""
BATCH_FILES = 256
"""Files looked into before what was found is committed: what a kill can cost."""

Outcome = tuple[Job, Looked | Failure]

logger = logging.getLogger(__name__)


def _wanted(workspace: Workspace, venue_id: str) -> dict[str, str]:
    """The files fetched for a venue, each with the first forum, by its id, that has it."""
    wanted: dict[str, str] = {}
    for stored in workspace.raw.files(venue_id):
        if stored.sha256 is not None:
            wanted.setdefault(stored.sha256, stored.forum_id)
    return wanted


def _inspection(job: Job, looked: Looked, venue_id: str, forum_id: str) -> Inspection:
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


def _commit(tables: Tables, venue_id: str, batch: list[Outcome], wanted: dict[str, str], left: Replacement) -> None:
    found = []
    for job, result in batch:
        if isinstance(result, Failure):
            left.set_aside(job.sha256, wanted[job.sha256], *why_failed(result))
        else:
            found.append(_inspection(job, result, venue_id, wanted[job.sha256]))
    if found:
        tables.append(TABLE, venue_id, NAME, found)
    logger.debug("%s %s: %d files looked into, %d set aside", NAME, venue_id, len(found), len(batch) - len(found))


def inspect_files(
    spread: Spread, workspace: Workspace, venue_id: str, options: Options, key: str, report: Report
) -> None:
    """Look into the files of a venue that have not been looked into yet."""
    tables, files = workspace.tables, workspace.files
    wanted = _wanted(workspace, venue_id)
    fit = {(sha256, forum_id, INSPECTOR) for sha256, forum_id in wanted.items()}
    kept = {row[0] for row in tables.sift(Inspection, venue_id, NAME, COLUMNS, fit, key)}
    missing = [Job(sha256, files.path(sha256)) for sha256 in wanted if sha256 not in kept]
    absent = {job.sha256 for job in missing if not files.has(job.sha256)}
    present = [job for job in missing if job.sha256 not in absent]
    logger.info("%s %s: %d files, %d to look into", NAME, venue_id, len(wanted), len(present))
    with tables.replacing((), venue_id, NAME, key) as left:
        for sha256 in sorted(absent):
            left.set_aside(sha256, wanted[sha256], *NOT_HERE)
        outcomes = spread(look_into_file, present, timeout_s=options.pdf_timeout_s, workers=options.workers)
        for batch in in_batches(reported(outcomes, len(present), report), BATCH_FILES):
            _commit(tables, venue_id, batch, wanted, left)
    tables.finish(TABLE, venue_id, NAME, key)


def balance(workspace: Workspace, venue_id: str) -> Sequence[Balance]:
    """Files fetched for the venue = inspections + files set aside."""
    tables, files = workspace.tables, len(_wanted(workspace, venue_id))
    left = tables.set_aside_counts(venue_id, NAME)
    return [Balance(NAME, venue_id, "files", files, tables.count(TABLE, venue_id), left)]


def stage(spread: Spread) -> Stage[Workspace]:
    """The stage, with the executor that spreads its work."""
    return Stage(
        name=NAME,
        version=2,
        reads_raw=("file",),
        reads=(),
        writes=(TABLE,),
        options=(),
        run=partial(inspect_files, spread),
        balance=balance,
        passing=PASSING,
        made_with=lambda _: INSPECTOR,
    )

"""Run the stage that inspects every fetched PDF for dates and signs of its version.

Files already inspected by the current inspector are skipped; results are committed in batches, so a killed run can
continue.
"""

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from functools import partial

from pypdfium2 import PdfDocument
from pypdfium2.version import PYPDFIUM_INFO

from peercorpus.errors import UnreadablePdfError
from peercorpus.execution.executor import (
    FILE_MISSING,
    TRANSIENT_REASONS,
    Executor,
    Failure,
    failure_reason,
    in_batches,
    report_progress,
)
from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import Balance, ProgressCallback, Stage
from peercorpus.pdf.document import metadata_value, open_pdf, page_text
from peercorpus.pdf.repair import read_or_repair
from peercorpus.records.documents import Inspection, VersionSign
from peercorpus.versions.version_signs import DIGEST, EMAIL, FRONT_PAGES, QUOTE_CHARACTERS, ends_the_text, read_signs
from peercorpus.workspace.delta_tables import Replacement, Tables
from peercorpus.workspace.object_store import Location, read_pdf
from peercorpus.workspace.workspace import Workspace

OWN_VERSION = "1"
INSPECTOR = f"{OWN_VERSION}+{DIGEST[:12]}+pypdfium2-{PYPDFIUM_INFO.version}"
"""Names everything other than the file that an inspection depends on: own version, rules and PDF library."""

_MAX_PAGES = 40
"""Maximum number of pages inspected; no venue allows more pages before the references."""

DATE = re.compile(
    r"(?:D:)?(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})?(?:Z|(?P<sign>[+-])(?P<hours>\d{2})'?(?P<minutes>\d{2})?)?"
)


@dataclass(frozen=True, slots=True)
class InspectionJob:
    """One file to inspect, in a form small enough to send to another process."""

    sha256: str
    path: Location


@dataclass(frozen=True, slots=True)
class PdfFindings:
    """The findings in one file; its fields are those of `Inspection`."""

    pages: int
    made_at: datetime | None
    changed_at: datetime | None
    producer: str | None
    signs: tuple[VersionSign, ...]
    problems: tuple[str, ...]


def read_date(stated_date: str) -> datetime | None:
    """Return a date of a PDF's metadata in UTC, even if it has no zone; None if it is not a valid date.

    Source: ISO 32000-1, 7.9.4.

    >>> read_date("D:20210429164919-05'00'").isoformat()
    '2021-04-29T21:49:19+00:00'
    >>> read_date("D:20211342") is read_date("yesterday") is None
    True
    """
    match = DATE.match(stated_date)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    offset = timedelta(hours=int(match["hours"] or 0), minutes=int(match["minutes"] or 0))
    try:
        zone = timezone(-offset if match["sign"] == "-" else offset)
        return datetime(year, month, day, hour, minute, second, tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _read_metadata_date(document: PdfDocument, key: str, problems: list[str]) -> datetime | None:
    text = metadata_value(document, key)
    date = read_date(text) if text else None
    if text and date is None:
        problems.append(f"{key} is not a time")
    return date


def _read_pages(document: PdfDocument, problems: list[str]) -> Iterator[tuple[int, str]]:
    """Yield the number and text of each page, up to the one after the page where the references begin."""
    last = min(len(document), _MAX_PAGES)
    for number in range(1, len(document) + 1):
        if number > last:
            return
        text = page_text(document, number - 1)
        if not text:
            problems.append(f"{'cannot be read' if text is None else 'without text'}: page {number}")
            continue
        yield number, text
        if number >= FRONT_PAGES and ends_the_text(text):
            last = min(last, number + 1)


def inspect_file(pdf: bytes) -> PdfFindings:
    """Read the signs and dates of one file; a damaged file is repaired first.

    Raises:
        UnreadablePdfError: The file is broken or encrypted, is not a PDF, or has no pages.
    """
    findings, repairs = read_or_repair(_inspect, pdf)
    return replace(findings, problems=(*repairs, *findings.problems)) if repairs else findings


def _inspect(pdf: bytes) -> PdfFindings:
    problems: list[str] = []
    with open_pdf(pdf) as document:
        if len(document) == 0:
            raise UnreadablePdfError("The PDF has no page that can be read.")
        signs = read_signs(list(_read_pages(document, problems)))
        producer = metadata_value(document, "Producer")
        return PdfFindings(
            pages=len(document),
            made_at=_read_metadata_date(document, "CreationDate", problems),
            changed_at=_read_metadata_date(document, "ModDate", problems),
            producer=EMAIL.sub("[e-mail]", producer)[:QUOTE_CHARACTERS] if producer else None,
            signs=signs,
            problems=tuple(problems),
        )


def look_into_file(job: InspectionJob) -> PdfFindings:
    """Fetch and inspect one file; callable in any process.

    Raises:
        UnreadablePdfError: The file is missing or altered, or cannot be read.
        StoreError: The object store does not respond.
    """
    pdf = read_pdf(job.path, job.sha256)
    return inspect_file(pdf)


NAME = "inspect_files"
TABLE = "0-inspections"
COLUMNS = ("sha256", "forum_id", "inspector")
"""Columns that decide whether a row of an earlier run is kept: file, forum and inspector must match."""
BATCH_FILES = 256
"""Files per commit, and so the most inspections that a killed run loses."""

Outcome = tuple[InspectionJob, PdfFindings | Failure]

logger = logging.getLogger(__name__)


def _find_files(workspace: Workspace, venue_id: str) -> dict[str, str]:
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
    spread: Executor, workspace: Workspace, venue_id: str, options: BuildRequest, key: str, report: ProgressCallback
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
    return [Balance(NAME, venue_id, "files", rows_in=files, rows_out=tables.count(TABLE, venue_id), set_aside=left)]


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

"""Inspect one PDF for its dates and the signs of its version, in a worker process."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone

from pypdfium2 import PdfDocument
from pypdfium2.version import PYPDFIUM_INFO

from peercorpus.errors import UnreadablePdfError
from peercorpus.pdf.document import metadata_value, open_pdf, page_text
from peercorpus.pdf.repair import read_or_repair
from peercorpus.records.documents import VersionSign
from peercorpus.versions.version_signs import DIGEST, EMAIL, FRONT_PAGES, QUOTE_CHARACTERS, ends_the_text, read_signs
from peercorpus.workspace.object_store import Location, read_pdf

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

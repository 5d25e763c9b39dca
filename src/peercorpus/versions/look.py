"""What one file tells of its version: opened, its first pages and its own dates read, in whatever process.

A worker process imports this module; it therefore imports nothing heavy but what opens PDFs.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone

from pypdfium2 import PdfDocument
from pypdfium2.version import PYPDFIUM_INFO

from peercorpus.errors import PdfFault, UnreadablePdfError
from peercorpus.file_records import Sign
from peercorpus.pdf import open_pdf, page_text, read_or_repair, stated
from peercorpus.store import Place, read_file
from peercorpus.versions.signs import DIGEST, EMAIL, FRONT_PAGES, WORDS, ends_the_text, read_signs

OWN_VERSION = "1"
INSPECTOR = f"{OWN_VERSION}+{DIGEST[:12]}+pypdfium2-{PYPDFIUM_INFO.version}"
"""Changes whenever the same file would give another inspection."""

MOST_PAGES = 40
"""Pages looked at; no venue lets the text before the references be longer."""

DATE = re.compile(
    r"(?:D:)?(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})?(?:Z|(?P<sign>[+-])(?P<hours>\d{2})'?(?P<minutes>\d{2})?)?"
)


@dataclass(frozen=True, slots=True)
class Job:
    """One file to look into; small enough to send to another process."""

    sha256: str
    path: Place


@dataclass(frozen=True, slots=True)
class Looked:
    """What was found in one file; the fields are those of `Inspection`."""

    pages: int
    made_at: datetime | None
    changed_at: datetime | None
    producer: str | None
    signs: tuple[Sign, ...]
    problems: tuple[str, ...]


def read_date(stated_date: str) -> datetime | None:
    """A date of a PDF's metadata; one without a zone is taken for UTC; None where it says no time, or none that exists.

    Source: ISO 32000-1, 7.9.4.

    >>> read_date("D:20210429164919-05'00'").isoformat()
    '2021-04-29T21:49:19+00:00'
    >>> read_date("D:20211342") is read_date("yesterday") is None
    True
    """
    found = DATE.match(stated_date)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
    away = timedelta(hours=int(found["hours"] or 0), minutes=int(found["minutes"] or 0))
    try:
        zone = timezone(-away if found["sign"] == "-" else away)
        return datetime(year, month, day, hour, minute, second, tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _date(document: PdfDocument, key: str, problems: list[str]) -> datetime | None:
    said = stated(document, key)
    at = read_date(said) if said else None
    if said and at is None:
        problems.append(f"{key} is no time")
    return at


def _texts(document: PdfDocument, problems: list[str]) -> Iterator[tuple[int, str]]:
    """The pages from the first to the one behind that on which the references begin."""
    last = min(len(document), MOST_PAGES)
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


def look_into(pdf: bytes) -> Looked:
    """Read the signs and dates of one file; a damaged one has a second chance.

    Raises:
        UnreadablePdfError: It is broken, encrypted, no PDF, or has no page.
    """
    looked, repairs = read_or_repair(_look_into, pdf)
    return replace(looked, problems=(*repairs, *looked.problems)) if repairs else looked


def _look_into(pdf: bytes) -> Looked:
    problems: list[str] = []
    with open_pdf(pdf) as document:
        if len(document) == 0:
            raise UnreadablePdfError("The PDF has no page that can be read.")
        signs = read_signs(list(_texts(document, problems)))
        producer = stated(document, "Producer")
        return Looked(
            pages=len(document),
            made_at=_date(document, "CreationDate", problems),
            changed_at=_date(document, "ModDate", problems),
            producer=EMAIL.sub("[e-mail]", producer)[:WORDS] if producer else None,
            signs=signs,
            problems=tuple(problems),
        )


def look_into_file(job: Job) -> Looked:
    """Read one file, in whatever process this is called.

    Raises:
        UnreadablePdfError: The file is not there, or cannot be read.
        StoreError: The store that holds it is out of order.
    """
    try:
        pdf = read_file(job.path)
    except OSError as error:
        raise UnreadablePdfError(f"The file cannot be opened: {error.strerror}.", PdfFault.NOT_HERE) from None
    return look_into(pdf)

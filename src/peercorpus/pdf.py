"""A PDF opened with pdfium: its pages as plain text, and what it says of itself.

The text is in the order of the content stream; nothing is joined, nothing removed. What pdfium cannot open has a second
chance: qpdf puts together what can be found of the file.
"""

import logging
import re
from collections.abc import Callable
from io import BytesIO
from typing import TypeVar

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from peercorpus.errors import PdfFault, UnreadablePdfError

ResultT = TypeVar("ResultT")

REPAIRED = "repaired: the file is damaged"
"""The problem of a text that was read from a file put together anew."""

HEADER_BYTES = 1_024
"""A PDF begins with `%PDF-` within so many bytes (ISO 32000, implementation notes); a failed download does not."""

LOCKED = {
    pdfium_c.FPDF_ERR_PASSWORD: "The PDF is encrypted with a password.",
    pdfium_c.FPDF_ERR_SECURITY: "The PDF is encrypted in a way pdfium does not support.",
}
ENCRYPT = re.compile(rb"/Encrypt[^A-Za-z]")
"""The entry of a trailer that says the file is encrypted; no trailer is compressed."""

# Fonts of TeX without a Unicode table give their ligatures as control codes (OT1: 0x0B-0x0F, T1: 0x1B-0x1F).
LIGATURES = {0x0B: "ff", 0x0C: "fi", 0x0E: "ffi", 0x0F: "ffl", 0x1B: "ff", 0x1C: "fi", 0x1D: "fl", 0x1E: "ffi"}
# pdfium gives a hyphen at the end of a line as U+FFFE (or 0x02) and leaves out the end of the line.
HYPHENS = {0xFFFE: "-\n", 0x02: "-\n", 0xAD: "-"}
CHARACTERS = LIGATURES | {0x1F: "ffl"} | HYPHENS
NOT_TEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


def clean_text(text: str) -> str:
    r"""Text of a page as pdfium gives it → plain characters and line feeds.

    >>> clean_text("repre\ufffesent \x0crst\r\nsecond\x00")
    'repre-\nsent first\nsecond'
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").translate(CHARACTERS)
    return NOT_TEXT.sub("", lines).strip()


def open_pdf(pdf: bytes) -> pdfium.PdfDocument:
    """Open one file.

    Raises:
        UnreadablePdfError: It is empty, broken, encrypted, or no PDF.
    """
    if b"%PDF-" not in pdf[:HEADER_BYTES]:
        raise UnreadablePdfError("The file is empty." if not pdf else "The file is not a PDF.", PdfFault.NOT_A_PDF)
    try:
        return pdfium.PdfDocument(pdf)
    except pdfium.PdfiumError as error:
        # pdfium asks for the password of many a file that is merely damaged.
        if error.err_code in LOCKED and ENCRYPT.search(pdf):
            raise UnreadablePdfError(LOCKED[error.err_code], PdfFault.ENCRYPTED) from None
        raise UnreadablePdfError("The PDF is damaged.") from None


def read_or_repair(read: Callable[[bytes], ResultT], pdf: bytes) -> tuple[ResultT, tuple[str, ...]]:
    """What a function reads from a file, or else from the file put together anew; and the problem that says so.

    Raises:
        UnreadablePdfError: Neither can be read.
    """
    try:
        return read(pdf), ()
    except UnreadablePdfError as error:
        if error.fault not in {PdfFault.DAMAGED, PdfFault.ENCRYPTED}:
            raise
        first = error
    whole = repair(pdf)
    if whole is None:
        raise first
    return read(whole), (REPAIRED,)


def repair(pdf: bytes) -> bytes | None:
    """The file as qpdf puts it together from its parts; None where it cannot, or where a password is asked for."""
    import pikepdf

    logging.getLogger(pikepdf.__name__).addHandler(logging.NullHandler())  # Else Python prints what qpdf says of it.
    as_they_are, written = pikepdf.StreamDecodeLevel.none, BytesIO()
    try:
        with pikepdf.open(BytesIO(pdf)) as document:
            document.save(written, fix_metadata_version=False, compress_streams=False, stream_decode_level=as_they_are)
    except pikepdf.PikepdfError:
        return None
    return written.getvalue()


def count_readable_pages(pdf: bytes) -> int:
    """How many pages pdfium finds and can read; 0 where it cannot open the file."""
    try:
        with open_pdf(pdf) as document:
            return sum(page_text(document, index) is not None for index in range(len(document)))
    except UnreadablePdfError:
        return 0


def page_text(document: pdfium.PdfDocument, index: int) -> str | None:
    """The text of a page, counted from 0; None where the page cannot be read."""
    try:
        text: str = document[index].get_textpage().get_text_range()
    except pdfium.PdfiumError:
        return None
    return clean_text(text)


def stated(document: pdfium.PdfDocument, key: str) -> str | None:
    """What the file's own metadata say under a key ("CreationDate", "Producer"), on one line; None for nothing."""
    try:
        value: str = document.get_metadata_value(key)
    except UnicodeDecodeError:
        return None
    return " ".join(clean_text(value).split()) or None

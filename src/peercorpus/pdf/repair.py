"""Repair damaged PDFs, and read as much of them as possible."""

import logging
from collections.abc import Callable
from io import BytesIO
from typing import TypeVar

from peercorpus.errors import PdfFault, UnreadablePdfError
from peercorpus.pdf.rebuild import Rebuilt, rebuild

ResultT = TypeVar("ResultT")
"""Result type of the function passed to `read_or_repair`."""

REPAIRED = "repaired: the file is damaged"
"""Problem recorded with a text read from a repaired file."""


def read_or_repair(read: Callable[[bytes], ResultT], pdf: bytes) -> tuple[ResultT, tuple[str, ...]]:
    """Call `read` on a file, or on a repaired copy if that fails; return its result and the problems."""
    try:
        return read(pdf), ()
    except UnreadablePdfError as error:
        if error.fault not in {PdfFault.DAMAGED, PdfFault.ENCRYPTED}:
            raise
        first_error = error
    repaired = repair(pdf)
    if repaired is None:
        raise first_error
    return read(repaired.pdf), (REPAIRED, *repaired.problems)


def repair(pdf: bytes) -> Rebuilt | None:
    """Return the repaired copy of a file with the most text; None if there is none, or the file is encrypted."""
    from peercorpus.pdf.document import count_characters

    by_qpdf, rebuilt = _repair_by_qpdf(pdf), rebuild(pdf)
    if by_qpdf is None or rebuilt is None:
        return rebuilt if by_qpdf is None else Rebuilt(by_qpdf, ())
    return rebuilt if count_characters(rebuilt.pdf) >= count_characters(by_qpdf) else Rebuilt(by_qpdf, ())


def _repair_by_qpdf(pdf: bytes) -> bytes | None:
    import pikepdf

    logging.getLogger(pikepdf.__name__).addHandler(logging.NullHandler())  # Otherwise, Python prints qpdf's warnings.
    written = BytesIO()
    try:
        with pikepdf.open(BytesIO(pdf)) as document:
            document.save(
                written,
                fix_metadata_version=False,
                compress_streams=False,
                stream_decode_level=pikepdf.StreamDecodeLevel.none,
            )
    except pikepdf.PikepdfError:
        return None
    return written.getvalue()

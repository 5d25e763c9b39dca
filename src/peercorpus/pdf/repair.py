"""Repair damaged PDFs."""

import logging
from collections.abc import Callable
from io import BytesIO
from typing import TypeVar

from peercorpus.errors import PdfFault, UnreadablePdfError

ResultT = TypeVar("ResultT")
"""What the function given to `read_or_repair` returns."""

REPAIRED = "repaired: the file is damaged"
"""Problem recorded with a text that was read from a repaired file."""


def read_or_repair(read: Callable[[bytes], ResultT], pdf: bytes) -> tuple[ResultT, tuple[str, ...]]:
    """Call `read` on a file, and if that fails on a repaired copy; return its result and the problems.

    Raises:
        UnreadablePdfError: Neither the file nor its repaired copy can be read.
    """
    try:
        return read(pdf), ()
    except UnreadablePdfError as error:
        if error.fault not in {PdfFault.DAMAGED, PdfFault.ENCRYPTED}:
            raise
        first_error = error
    repaired = repair(pdf)
    if repaired is None:
        raise first_error
    return read(repaired), (REPAIRED,)


def repair(pdf: bytes) -> bytes | None:
    """Rebuild a damaged file with qpdf; return None if that fails or the file needs a password."""
    import pikepdf

    logging.getLogger(pikepdf.__name__).addHandler(logging.NullHandler())  # Otherwise Python prints qpdf's warnings.
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

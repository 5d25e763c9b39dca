"""What the stages that spread heavy work over files have in common: batches, and why a file is set aside."""

from collections.abc import Iterator
from itertools import islice
from typing import TypeVar

from peercorpus.errors import PdfFault
from peercorpus.kinds import Reason
from peercorpus.spread import Failure, FailureKind
from peercorpus.stage import Report

OutcomeT = TypeVar("OutcomeT")

REASONS: dict[PdfFault | FailureKind, Reason] = {
    PdfFault.NOT_HERE: Reason.FILE_MISSING,
    PdfFault.NOT_A_PDF: Reason.NOT_A_PDF,
    PdfFault.ENCRYPTED: Reason.PDF_ENCRYPTED,
    PdfFault.DAMAGED: Reason.PDF_DAMAGED,
    FailureKind.TIMEOUT: Reason.PDF_TIMEOUT,
    FailureKind.OUT_OF_MEMORY: Reason.PDF_OUT_OF_MEMORY,
    FailureKind.CRASH: Reason.PDF_CRASHED,
    FailureKind.ERROR: Reason.PDF_CRASHED,
}
"""What is wrong with a file, or else how its reading failed → the reason for which it is set aside."""
NOT_HERE = (
    Reason.FILE_MISSING,
    "The file is not in the workspace; 'peercorpus harvest' fetches it again, then 'build --retry'.",
)
"""Why a file that was fetched, and is gone, is set aside."""

PASSING = frozenset({Reason.PDF_TIMEOUT, Reason.PDF_OUT_OF_MEMORY, Reason.PDF_CRASHED, Reason.FILE_MISSING})
"""Reasons that may not hold another time."""


def why_failed(failure: Failure) -> tuple[Reason, str]:
    """Why a file whose reading failed is set aside, and the sentence for it."""
    return REASONS[failure.fault or failure.kind], failure.detail


def in_batches(outcomes: Iterator[OutcomeT], size: int) -> Iterator[list[OutcomeT]]:
    """Outcomes as they come, so many at a time.

    >>> list(in_batches(iter("abc"), 2))
    [['a', 'b'], ['c']]
    """
    while batch := list(islice(outcomes, size)):
        yield batch


def reported(outcomes: Iterator[OutcomeT], total: int, report: Report) -> Iterator[OutcomeT]:
    """The same outcomes, each told of as it comes."""
    for done, outcome in enumerate(outcomes, 1):
        report(done, total)
        yield outcome

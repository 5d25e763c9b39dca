"""Every error a user can see.

PeercorpusError              one sentence: what happened, to which record, what to do next
├── SourceError              OpenReview said no, or could not be reached
│   ├── SignInError          a token or password was refused, or a challenge must be met first
│   │   └── TokenRefusedError the token is too old, or was never given
│   ├── VenueNotFoundError   no such venue on either API
│   ├── EmptyVenueError      the venue exists and has no public submission
│   ├── NotGivenError        one object, list or file was not given
│   │   └── TooLargeError     it is larger than anything OpenReview takes in
│   └── BusyError            a passing fault: too many requests, or the service is down
├── SharedBudgetError        another run, or another client, spends the same request budget
├── DumpError                a file to import is not what it should be
├── UnreadablePdfError       a PDF cannot be read
├── EngineError              a PDF engine cannot work, whatever the file: its models or its program
├── ModelError               a model cannot be asked: address, key or budget; or cannot be loaded
├── BaselineError            a baseline has too little to learn from
├── WorkspaceError           the workspace cannot be used
│   └── WorkspaceLockedError another run holds it
├── StoreError               an object store is out of order, or does not do what files need
├── TableError               a table is missing, or does not hold what it should
├── ConservationError        rows in ≠ rows out + rows set aside
├── UndefinedMetricError     a metric has no value: nothing to measure, or one class only
└── MissingExtraError        an optional package is not installed; prints the exact command
"""

from enum import StrEnum


class PeercorpusError(Exception):
    """An error displayed to the user as one sentence, with exit code 2."""


class SourceError(PeercorpusError):
    """OpenReview said no, or could not be reached."""


class SignInError(SourceError):
    """A token or password was refused, or a challenge must be met first."""


class TokenRefusedError(SignInError):
    """The token is too old, or was never given; a fresh one may do."""


class VenueNotFoundError(SourceError):
    """No such venue on either API."""


class EmptyVenueError(SourceError):
    """The venue exists and has no public submission."""


class NotGivenError(SourceError):
    """One object, list or file that OpenReview did not give; all else goes on.

    Attributes:
        reason: In three or four words, for the record of what could not be had.
    """

    def __init__(self, sentence: str, reason: str) -> None:
        """Take the sentence for the user and the reason for the record."""
        super().__init__(sentence, reason)
        self.reason = reason

    def __str__(self) -> str:
        return str(self.args[0])


class TooLargeError(NotGivenError):
    """An answer larger than anything OpenReview takes in; it was not read to its end."""


class BusyError(SourceError):
    """A passing fault: too many requests, or the service is down; what was received stays.

    Attributes:
        wait_s: How long OpenReview asks to wait; None where it does not say.
    """

    def __init__(self, sentence: str, wait_s: float | None = None) -> None:
        """Take the sentence for the user and the seconds to wait."""
        super().__init__(sentence, wait_s)
        self.wait_s = wait_s

    def __str__(self) -> str:
        return str(self.args[0])


class SharedBudgetError(PeercorpusError):
    """Another run, or another client, spends the same request budget."""


class DumpError(PeercorpusError):
    """A file to import is not what it should be."""


class PdfFault(StrEnum):
    """What is wrong with a file that cannot be read as a PDF."""

    NOT_HERE = "not_here"
    NOT_A_PDF = "not_a_pdf"
    ENCRYPTED = "encrypted"
    DAMAGED = "damaged"


class UnreadablePdfError(PeercorpusError):
    """A file that cannot be read as a PDF; its message becomes the detail of the row set aside.

    Attributes:
        fault: What is wrong with it.
    """

    def __init__(self, sentence: str, fault: PdfFault = PdfFault.DAMAGED) -> None:
        """Take the sentence for the user and what is wrong."""
        super().__init__(sentence, fault)
        self.fault = fault

    def __str__(self) -> str:
        return str(self.args[0])


class EngineError(PeercorpusError):
    """A PDF engine cannot work, whatever the file: its models or its program are missing, or cannot be used."""


class ModelError(PeercorpusError):
    """A model cannot be asked, as its address, its key or the budget are missing, wrong or used up; or not loaded."""


class BaselineError(PeercorpusError):
    """A baseline of the benchmark has too little to learn from."""


class WorkspaceError(PeercorpusError):
    """The workspace cannot be used."""


class WorkspaceLockedError(WorkspaceError):
    """Another run holds the workspace."""


class StoreError(PeercorpusError):
    """An object store is out of order, or does not do what a workspace's files need."""


class TableError(PeercorpusError):
    """A table is missing, or does not hold what it should."""


class ConservationError(PeercorpusError):
    """Rows in ≠ rows out + rows set aside."""


class UndefinedMetricError(PeercorpusError):
    """A metric has no value on what it was given: nothing to measure, one class only, or no variation."""


class MissingExtraError(PeercorpusError):
    """An optional package is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        """Name the package that is missing and the extra that brings it."""
        super().__init__(package, extra)
        self.package, self.extra = package, extra

    def __str__(self) -> str:
        return f"The package '{self.package}' is not installed; run: pip install 'peercorpus[{self.extra}]'"

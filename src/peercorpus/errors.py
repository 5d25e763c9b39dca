"""Errors that reach the user.

The command line prints the message of a `PeercorpusError` as one sentence on standard error and exits with code 2.
A message says what was expected and what was found, in which record or file, and what to do next.
"""

from enum import StrEnum


class PeercorpusError(Exception):
    """Base class: raised when a command cannot be carried out as asked; exit code 2."""

    def __str__(self) -> str:  # subclasses keep extra values in `args`, so that errors can be pickled
        return str(self.args[0]) if self.args else ""


class SourceError(PeercorpusError):
    """Raised when OpenReview refuses a request or cannot be reached; exit code 2."""


class SignInError(SourceError):
    """Raised when a token, password or second factor is refused, or when OpenReview demands a sign-in; exit code 2."""


class TokenRefusedError(SignInError):
    """Raised when OpenReview refuses a request because the token is missing or expired; exit code 2.

    A renewed token may help, so the client tries that first.
    """


class VenueNotFoundError(SourceError):
    """Raised when neither API nor the catalogue has a venue of the given id; exit code 2."""


class EmptyVenueError(SourceError):
    """Raised when a venue exists but has no public submission; exit code 2."""


class NotGivenError(SourceError):
    """Raised when OpenReview does not give one object, list or file; exit code 2 if it reaches the command line.

    A harvest records the reason and goes on with everything else.

    Attributes:
        reason: Three or four words for the list of files and edits that could not be fetched.
    """

    def __init__(self, sentence: str, reason: str) -> None:
        super().__init__(sentence, reason)
        self.reason = reason


class TooLargeError(NotGivenError):
    """Raised when a response exceeds the size limit; it is not read to its end. Exit code as `NotGivenError`."""


class BusyError(SourceError):
    """Raised when OpenReview still limits requests, or is still down, after all attempts; exit code 2.

    What was received so far is stored.

    Attributes:
        wait_s: Seconds OpenReview asks to wait; None if it does not say.
    """

    def __init__(self, sentence: str, wait_s: float | None = None) -> None:
        super().__init__(sentence, wait_s)
        self.wait_s = wait_s


class SharedBudgetError(PeercorpusError):
    """Raised when another run or another client spends the same request budget; exit code 2."""


class DumpError(PeercorpusError):
    """Raised when a file to import does not have the expected content; exit code 2."""


class PdfFault(StrEnum):
    """What is wrong with a file that cannot be read as a PDF."""

    NOT_HERE = "not_here"
    ALTERED = "altered"
    NOT_A_PDF = "not_a_pdf"
    ENCRYPTED = "encrypted"
    DAMAGED = "damaged"


class UnreadablePdfError(PeercorpusError):
    """Raised when a file cannot be read as a PDF.

    Stages catch it: the file is set aside and the message becomes the detail of its row. Exit code 2 elsewhere.

    Attributes:
        fault: What is wrong with the file.
    """

    def __init__(self, sentence: str, fault: PdfFault = PdfFault.DAMAGED) -> None:
        super().__init__(sentence, fault)
        self.fault = fault


class EngineError(PeercorpusError):
    """Raised when a PDF engine cannot read any file, as its models or its program are missing or fail; exit code 2."""


class ModelError(PeercorpusError):
    """Raised when a model cannot be loaded or asked: its address, key or budget is missing or wrong; exit code 2."""


class BaselineError(PeercorpusError):
    """Raised when a release has too few papers to train a baseline; the benchmark notes it and runs the others."""


class WorkspaceError(PeercorpusError):
    """Raised when a workspace is missing, or cannot be read or written; exit code 2."""


class WorkspaceLockedError(WorkspaceError):
    """Raised when another run is writing to the workspace; exit code 2."""


class DamagedError(WorkspaceError):
    """Raised when something stored in a workspace is no longer what was stored; exit code 2."""


class VenuesFileError(WorkspaceError):
    """Raised when a workspace's `venues.toml` is not valid; exit code 2."""


class StoreError(PeercorpusError):
    """Raised when an object store fails, or lacks an operation that a workspace needs; exit code 2."""


class TableError(PeercorpusError):
    """Raised when a table is missing or does not hold the expected rows or columns; exit code 2."""


class UndefinedMetricError(PeercorpusError):
    """Raised when a metric has no value: no samples, one class only, or no variation; exit code 2."""


class MissingExtraError(PeercorpusError):
    """Raised when an optional package is not installed; exit code 2.

    Attributes:
        package: The missing package.
        extra: The extra of peercorpus that installs it.
    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(package, extra)
        self.package = package
        self.extra = extra

    def __str__(self) -> str:
        return f"The package '{self.package}' is not installed; run: pip install 'peercorpus[{self.extra}]'"

"""Errors shown to the user, and the exit codes of commands.

The command line prints the message of a `PeercorpusError` as one sentence on standard error and exits with the code of
its class. A message says what was expected and what was found, in which record or file, and what to do next.
"""

from enum import IntEnum, StrEnum
from typing import ClassVar

from peercorpus.installation import advise_install


class ExitCode(IntEnum):
    """How a command ended, for scripts and schedulers to act on."""

    DONE = 0
    FOUND = 1
    REFUSED = 2
    LATER = 3
    DEFECT = 70
    STOPPED = 130

    @property
    def meaning(self) -> str:
        """What the code means and how to react to it."""
        return _MEANINGS[self]


_MEANINGS = {
    ExitCode.DONE: "Done.",
    ExitCode.FOUND: "Carried out, with findings that need attention: a check failed, or some items could not be"
    " fetched or read. They are printed.",
    ExitCode.REFUSED: "Not carried out: an argument, a file, a sign-in, a package or this machine does not meet the"
    " command's requirements. The same command fails again until that is changed.",
    ExitCode.LATER: "Not finished: the network or a service is unavailable or too busy, or another run is in the way."
    " Try the same command again later; everything received so far is kept.",
    ExitCode.DEFECT: "A defect of peercorpus, with a traceback. Please report it.",
    ExitCode.STOPPED: "Stopped by Ctrl-C or SIGTERM. The same command continues.",
}


class PeercorpusError(Exception):
    """Base class: raised when a command cannot be carried out as requested.

    Attributes:
        exit_code: Exit code of a command that ends with this error.
    """

    exit_code: ClassVar[ExitCode] = ExitCode.REFUSED

    def __str__(self) -> str:  # subclasses keep extra values in `args`, so that errors can be pickled
        return str(self.args[0]) if self.args else ""


class TryLaterError(PeercorpusError):
    """Raised when the same command may succeed later: a service is unavailable, or another run is in the way."""

    exit_code = ExitCode.LATER


class SourceError(PeercorpusError):
    """Raised when OpenReview or the Hugging Face Hub refuses a request."""


class UnreachableError(SourceError, TryLaterError):
    """Raised when OpenReview or the Hugging Face Hub cannot be reached, or is down."""


class RefusedAlikeError(SourceError):
    """Raised at the end of a harvest in which all requests of one kind were refused with the same response.

    Everything else was received. Another run would meet the same refusals; the command itself was correct.
    """

    exit_code = ExitCode.FOUND


class SignInError(SourceError):
    """Raised when a token, password or second factor is refused, or when OpenReview demands a sign-in."""


class TokenRefusedError(SignInError):
    """Raised when OpenReview refuses a request because the token is missing or expired.

    A renewed token may help, so the client tries that first.
    """


class SignInLaterError(SignInError, TryLaterError):
    """Raised when OpenReview cannot accept a sign-in at the moment."""


class VenueNotFoundError(SourceError):
    """Raised when neither API nor the catalogue has a venue with the given id."""


class EmptyVenueError(SourceError):
    """Raised when a venue exists but has no public submission."""


class NotGivenError(SourceError):
    """Raised when OpenReview does not serve one object, list or file.

    A harvest records the reason and goes on with everything else.

    Attributes:
        reason: Three or four words for the list of files and edits that could not be fetched.
    """

    def __init__(self, sentence: str, reason: str) -> None:
        super().__init__(sentence, reason)
        self.reason = reason


class TooLargeError(NotGivenError):
    """Raised when a response exceeds the size limit; the rest of it is not read."""


class BusyError(SourceError, TryLaterError):
    """Raised when OpenReview still limits requests, or is still down, after all attempts.

    Everything received so far is stored.

    Attributes:
        wait_s: Seconds OpenReview asks to wait; None if it does not say.
    """

    def __init__(self, sentence: str, wait_s: float | None = None) -> None:
        super().__init__(sentence, wait_s)
        self.wait_s = wait_s


def ends_harvest(error: SourceError) -> bool:
    """Return whether an error would meet every other request too: a sign-in is needed, or OpenReview asks to wait."""
    return isinstance(error, SignInError) or (isinstance(error, BusyError) and error.wait_s is not None)


class NotJsonError(BusyError):
    """Raised when every attempt at a request returns invalid JSON that cannot even be split into its objects.

    Attributes:
        source: The request URL.
        body: The response as received.
    """

    def __init__(self, sentence: str, source: str, body: bytes) -> None:
        super().__init__(sentence)
        self.args = (sentence, source, body)
        self.source = source
        self.body = body


class SharedBudgetError(TryLaterError):
    """Raised when another run or another client spends the same request budget."""


class DumpError(PeercorpusError):
    """Raised when a file to import lacks the expected content."""


class PdfFault(StrEnum):
    """What is wrong with a file that cannot be read as a PDF."""

    NOT_HERE = "not_here"
    ALTERED = "altered"
    NOT_A_PDF = "not_a_pdf"
    ENCRYPTED = "encrypted"
    DAMAGED = "damaged"


class UnreadablePdfError(PeercorpusError):
    """Raised when a file cannot be read as a PDF.

    Stages catch it: the file is set aside and the message becomes the detail of its row.

    Attributes:
        fault: What is wrong with the file.
    """

    def __init__(self, sentence: str, fault: PdfFault = PdfFault.DAMAGED) -> None:
        super().__init__(sentence, fault)
        self.fault = fault


class EngineError(PeercorpusError):
    """Raised when a PDF engine cannot read any file because its models or its program are missing or fail."""


class ModelError(PeercorpusError):
    """Raised when a model cannot be loaded or called: its address, key or budget is missing or wrong."""


class ModelUnavailableError(ModelError, TryLaterError):
    """Raised when a model's endpoint does not respond; earlier answers are kept."""


class BaselineError(PeercorpusError):
    """Raised when a release has too few papers to train a baseline; the benchmark records it and runs the others."""


class WorkspaceError(PeercorpusError):
    """Raised when a workspace is missing, or cannot be read or written."""


class WorkspaceLockedError(WorkspaceError, TryLaterError):
    """Raised when another run is writing to the workspace."""


class DamagedError(WorkspaceError):
    """Raised when stored content of a workspace has changed since it was written."""

    @property
    def fault(self) -> str:
        """What is wrong in a few words; the whole message if no shorter form was given."""
        return str(self.args[-1])


class VenuesFileError(WorkspaceError):
    """Raised when a workspace's `venues.toml` is not valid."""


class StoreError(PeercorpusError):
    """Raised when an object store fails, or lacks an operation that a workspace needs."""


class StoreUnavailableError(StoreError, TryLaterError):
    """Raised when an object store cannot be reached, or fails."""


class TableError(PeercorpusError):
    """Raised when a table is missing or lacks the expected rows or columns."""


class UndefinedMetricError(PeercorpusError):
    """Raised when a metric has no value: no samples, one class only, or no variation."""


class MissingExtraError(PeercorpusError):
    """Raised when an optional package is not installed.

    Attributes:
        package: The missing package.
        extra: The extra of peercorpus that installs it; empty if none does.
    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(package, extra)
        self.package = package
        self.extra = extra

    def __str__(self) -> str:
        how = advise_install(self.extra) if self.extra else f"run: pip install {self.package}"
        return f"The package '{self.package}' is not installed; {how}"

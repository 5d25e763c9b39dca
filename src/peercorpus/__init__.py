"""The public peer-review record on OpenReview as a corpus; `peercorpus.open` is the entry point."""

TYPE_CHECKING = False  # To import `typing` takes long enough for an interrupt, which would end in a traceback.
if TYPE_CHECKING:
    from pathlib import Path

    from peercorpus.api import Corpus

__all__ = ["open"]


def open(folder: "str | Path") -> "Corpus":  # noqa: A001 -- read as `peercorpus.open`
    """Open a workspace for reading.

    Args:
        folder: The folder that `peercorpus harvest` or `peercorpus import` wrote.

    Returns:
        A `Corpus`, whose methods return the tables as Polars frames.

    Raises:
        WorkspaceError: The folder is not a workspace.
    """
    from peercorpus.api import open_corpus

    return open_corpus(folder)

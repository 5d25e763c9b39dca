"""The public peer-review record on OpenReview as a corpus; `peercorpus.open` is the entry point.

`peercorpus.open_text` opens a single text that `peercorpus convert` wrote.
"""

TYPE_CHECKING = False  # To import `typing` takes long enough for an interrupt, which would end in a traceback.
if TYPE_CHECKING:
    from pathlib import Path

    from peercorpus.api import Corpus
    from peercorpus.records.structured_text import StructuredText

__all__ = ["open", "open_text"]


def open(folder: "str | Path") -> "Corpus":  # noqa: A001 -- read as `peercorpus.open`
    """Open a workspace for reading.

    Args:
        folder: The folder that `peercorpus harvest` or `peercorpus import` wrote.

    Returns:
        A `Corpus`, whose methods return the tables as Polars frames.

    Raises:
        WorkspaceError: The folder is not a workspace.
        MissingExtraError: The extra `corpus` is not installed.
    """
    try:
        from peercorpus.api import open_corpus
    except ModuleNotFoundError as missing:
        from peercorpus.errors import MissingExtraError

        raise MissingExtraError(str(missing.name), "corpus") from None
    return open_corpus(folder)


def open_text(path: "str | Path") -> "StructuredText":
    """Open a text that `peercorpus convert` wrote, with its blocks and what its sentences refer to.

    Args:
        path: `NAME.json` or `NAME.md`.

    Raises:
        PeercorpusError: The pair of files is not there or not whole, or has no blocks.
    """
    from pathlib import Path

    from peercorpus.texts.text_json import read_pair

    return read_pair(Path(path))

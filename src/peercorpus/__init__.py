"""The public peer-review record on OpenReview as a corpus that can be trusted.

>>> import peercorpus
>>> corpus = peercorpus.open("corpus")  # doctest: +SKIP
>>> corpus.papers().select("title", "decision").collect()  # doctest: +SKIP
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from peercorpus.corpus import Corpus

__all__ = ["open"]


def open(folder: "str | Path") -> "Corpus":  # noqa: A001 -- read as `peercorpus.open`
    """Open a workspace for reading.

    Raises:
        WorkspaceError: It is not a workspace.
    """
    from peercorpus.corpus import open_corpus

    return open_corpus(folder)

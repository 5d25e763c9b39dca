"""Open a text that `peercorpus convert` wrote; needs no extra."""

from pathlib import Path

from peercorpus.api.arguments import read_path
from peercorpus.records.structured_text import StructuredText
from peercorpus.texts.text_json import read_pair


def open_text(path: str | Path) -> StructuredText:
    """Open a text written by `peercorpus convert`, with its blocks and the references in its sentences.

    Args:
        path: `NAME.json` or `NAME.md`.

    Raises:
        PeercorpusError: The pair of files is not there or not whole, or has no blocks.

    Example:
        >>> text = peercorpus.open_text("texts/paper.json")
        >>> [block.kind.value for block in text.blocks[:2]]
        ['page_header', 'title']
    """
    return read_pair(read_path(path, "path", "file"))

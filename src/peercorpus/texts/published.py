"""The text that a published record holds, as the text of its paper: verbatim, whoever read the PDF."""

import hashlib

from peercorpus.published.datasets import dataset_of, read_text
from peercorpus.raw import RawObject
from peercorpus.records import PaperText


def engine_of(record_id: str) -> str:
    """What stands for the engine: the name of the dataset, without which of its parts it is.

    >>> engine_of("re2-text:m97Cdr9IOZJ")
    're2'
    """
    return dataset_of(record_id).value.partition("-")[0]


def published_text(found: RawObject, venue_id: str) -> PaperText:
    """The text of a record that is known to hold one; its pages are not known."""
    markdown = read_text(found.object_id, found.body) or ""
    sha256 = hashlib.sha256(markdown.encode()).hexdigest()
    return PaperText(sha256, venue_id, engine_of(found.object_id), "", markdown, None, None, ())

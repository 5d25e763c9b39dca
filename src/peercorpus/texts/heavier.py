"""What the heavier engines share: whether one is installed, its pages as one text, and its headings."""

import re
from collections.abc import Sequence
from dataclasses import replace
from importlib import metadata

from peercorpus.errors import MissingExtraError
from peercorpus.file_records import TextHeading
from peercorpus.pdf import open_pdf
from peercorpus.texts.engine import Converted, join_pages, measure_quality

HEADING = re.compile(r"(#{1,6})[ \t]+(\S.*?)[ \t]*#*$")
FENCE = re.compile(r"[ \t]*(```|~~~)")
PICTURE = re.compile(r"!\[[^\]]*\]\([^)\n]*\)|<!-- image -->")
"""A picture, by address or inline: its pixels are no text."""
BLANK_LINES = re.compile(r"\n{3,}")


def version_of(package: str, extra: str) -> str:
    """The version of an optional package.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        raise MissingExtraError(package, extra) from None


def count_pages(pdf: bytes) -> int:
    """How many pages a PDF has; opened first by us, so that a broken file is the same error for every engine.

    Raises:
        UnreadablePdfError: It is broken, encrypted, or no PDF.
    """
    with open_pdf(pdf) as document:
        return len(document)


def as_converted(pages: Sequence[str], problems: Sequence[str] = ()) -> Converted:
    """The Markdown of pages, with its headings and quality; pictures are left out, empty pages named."""
    texts = [BLANK_LINES.sub("\n\n", PICTURE.sub("", page)).strip() for page in pages]
    empty = [str(number) for number, text in enumerate(texts, 1) if not text]
    told = [*problems, f"without text: page {', '.join(empty)}"] if empty else problems
    return replace(join_pages(texts, told), headings=find_headings(texts), quality=measure_quality(texts))


def find_headings(pages: Sequence[str]) -> tuple[TextHeading, ...]:
    r"""The headings of Markdown, page by page; what is inside a code block is none.

    >>> find_headings(["# 1 Aims\n\n```\n# no heading\n```", "## 1.1 Scope"])[1]
    TextHeading(level=2, title='1.1 Scope', page=2)
    """
    found = []
    for number, page in enumerate(pages, 1):
        is_code = False
        for line in page.splitlines():
            is_code ^= FENCE.match(line) is not None
            heading = None if is_code else HEADING.match(line)
            if heading:
                found.append(TextHeading(len(heading[1]), heading[2], number))
    return tuple(found)

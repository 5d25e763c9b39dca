"""Functions shared by engines that wrap another package: look up versions, count pages, find headings."""

import re
from collections.abc import Sequence
from dataclasses import replace
from importlib import metadata

from peercorpus.errors import MissingExtraError
from peercorpus.pdf.document import open_pdf
from peercorpus.records.documents import TextHeading
from peercorpus.texts.engine import Converted, join_pages, measure_quality

HEADING = re.compile(r"(#{1,6})[ \t]++(\S.*)")
FENCE = re.compile(r"[ \t]*(```|~~~)")
PICTURE = re.compile(r"!\[(?:[^\]!]++|!(?!\[))*+\]\((?:[^)\n!]++|!(?!\[))*+\)|<!-- image -->")
"""Matches a picture in Markdown, by URL or inline, or docling's placeholder for one."""
BLANK_LINES = re.compile(r"\n{3,}")


def read_package_version(package: str, extra: str = "") -> str:
    """Return the version of an optional package.

    Args:
        package: Its name on PyPI.
        extra: The extra of which it is part; empty if of none.

    Raises:
        MissingExtraError: The package is not installed.
    """
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        raise MissingExtraError(package, extra) from None


def count_pages(pdf: bytes) -> int:
    """Return the number of pages of a PDF; it is opened here first, so that every engine reports damage in the same
    way.

    Raises:
        UnreadablePdfError: The file is damaged, encrypted, or not a PDF.
    """
    with open_pdf(pdf) as document:
        return len(document)


def join_markdown_pages(pages: Sequence[str], problems: Sequence[str] = ()) -> Converted:
    """Join pages of Markdown, without pictures, and add headings, quality and a problem that names empty pages."""
    texts = [BLANK_LINES.sub("\n\n", PICTURE.sub("", page)).strip() for page in pages]
    empty = [str(number) for number, text in enumerate(texts, 1) if not text]
    all_problems = [*problems, f"without text: page {', '.join(empty)}"] if empty else problems
    return replace(join_pages(texts, all_problems), headings=find_headings(texts), quality=measure_quality(texts))


def find_headings(pages: Sequence[str]) -> tuple[TextHeading, ...]:
    r"""Return the headings in Markdown pages, in order; lines inside code blocks are not headings.

    >>> find_headings(["# 1 Aims\n\n```\n# no heading\n```", "## 1.1 Scope"])[1]
    TextHeading(level=2, title='1.1 Scope', page=2)
    """
    headings = []
    for number, page in enumerate(pages, 1):
        is_code = False
        for line in page.splitlines():
            is_code ^= FENCE.match(line) is not None
            heading = None if is_code else HEADING.match(line)
            if heading:
                title = heading[2].rstrip("#").rstrip(" \t") or "#"
                headings.append(TextHeading(len(heading[1]), title, number))
    return tuple(headings)

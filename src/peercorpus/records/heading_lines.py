"""Tell lines of reviews and replies that are marked as headings."""

import re

MAX_HEADING_CHARACTERS = 90
"""A longer line is no heading; our choice."""

HASHES = re.compile(r"\s{0,3}#{1,6}\s*(?=\S)")
BOLD_LINE = re.compile(r"\s*(?:\*\*|__)[^*\n]+(?:\*\*|__)[\s:.]*$")


def is_marked_heading(line: str) -> bool:
    """Return whether a line is marked as a heading: with #, or short and in bold or closed by a colon.

    >>> is_marked_heading("Minor comments:"), is_marked_heading("**W1**"), is_marked_heading("It rains.")
    (True, True, False)
    """
    if HASHES.match(line):
        return True
    words = line.strip()
    if len(words) > MAX_HEADING_CHARACTERS:
        return False
    return bool(BOLD_LINE.match(line) or words.rstrip("*_ ").endswith(":")) and ". " not in words

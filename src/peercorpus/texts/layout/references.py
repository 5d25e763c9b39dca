"""Recognise the labels of bibliography entries, and lists of references without a heading."""

import re
from collections.abc import Iterator, Sequence

from peercorpus.texts.layout.blocks import Block, TextLine
from peercorpus.texts.layout.columns import PageColumns

_LABEL = re.compile(r"\[(?:\d{1,3}|[A-Za-z+]{2,8}\d{2}[a-z]?)\]\s*|\d{1,3}\.\s+(?=[A-Z])")
"""Label of a bibliography entry that needs no counting."""
_ROUND_LABEL = re.compile(r"\((?P<number>\d{1,3})\)\s+(?=[A-Z])")
_SQUARE_LABEL = re.compile(r"\[(?P<number>\d{1,3})\]\s*\w")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d{2}(?!\d)")
_MIN_ENTRIES = 3
_MIN_YEAR_SHARE = 0.7
"""Minimum share of its entries that state a year."""
_MAX_ENTRY_LINES = 12
_MAX_EDGE_DIFFERENCE_EM = 1.5
"""Maximum difference of the left edges of two labels of one list, in em."""
_MAX_LABEL_SIZE_RATIO = 0.88
"""Maximum font size of a raised label, relative to its line."""
_MIN_LABEL_RISE_EM = 0.15
"""Minimum height of a raised label above the baseline, in em."""


class EntryLabels:
    """The labels of one list of references so far.

    A raised number, or one in round brackets, is a label only if the list begins with 1 in this form and it is the next
    one, unlike a footnote.
    """

    def __init__(self) -> None:
        self._next = 1

    def begins_entry(self, line: TextLine) -> bool:
        """Return whether a line of the list begins with the label of an entry; must be called once for each line."""
        number = read_counted_label(line)
        if number is not None and number == self._next:
            self._next += 1
            return True
        if self._next == 1:
            self._next = -1
        return bool(_LABEL.match(line.text))


def has_label(line: TextLine) -> bool:
    """Return whether the first line of an entry begins with a label."""
    return bool(_LABEL.match(line.text)) or read_counted_label(line) is not None


def read_counted_label(line: TextLine) -> int | None:
    """Return the number at the start of a line if it is raised or in round brackets; None otherwise."""
    mark = line.runs[0]
    is_raised = mark.size < _MAX_LABEL_SIZE_RATIO * line.size and mark.base > line.base + _MIN_LABEL_RISE_EM * line.size
    if is_raised:
        return int(mark.text) if mark.text.isdecimal() and len(mark.text) <= 3 else None
    found = _ROUND_LABEL.match(line.text)
    return int(found["number"]) if found else None


def find_unheaded_references(
    pages: Sequence[Sequence[TextLine | Block]], columns: Sequence[PageColumns]
) -> Iterator[TextLine]:
    """Yield the first line of each list of references without a heading: numbers from [1] at one edge, with years."""
    lines = [
        (item, of_page)
        for items, of_page in zip(pages, columns, strict=True)
        for item in items
        if isinstance(item, TextLine)
    ]
    for place, (line, _) in enumerate(lines):
        if line.text.startswith("[1]") and _is_list(lines, place):
            yield line


def _is_list(lines: Sequence[tuple[TextLine, PageColumns]], first: int) -> bool:
    entries: list[list[str]] = []
    edge = 0.0
    for place in range(first, len(lines)):
        line, columns = lines[place]
        label = _SQUARE_LABEL.match(line.text)
        indent = line.left - columns.of(line)[0] if label else 0.0
        is_next = label is not None and int(label["number"]) == len(entries) + 1
        if is_next and (not entries or abs(indent - edge) < _MAX_EDGE_DIFFERENCE_EM * line.size):
            edge = indent
            entries.append([])
        elif not entries or len(entries[-1]) == _MAX_ENTRY_LINES:
            break
        entries[-1].append(line.text)
    whole = entries[:-1]
    dated = sum(bool(_YEAR.search(" ".join(entry))) for entry in whole)
    return len(entries) >= _MIN_ENTRIES and dated >= _MIN_YEAR_SHARE * len(whole)

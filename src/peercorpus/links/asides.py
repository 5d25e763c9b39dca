"""Captions and footnotes, lifted out of the sentences that they interrupt; a publisher's notice is left out.

Where on a page they stand differs from version to version, and is no change.
"""

import re
from collections.abc import Sequence

from peercorpus.links.lines import Line

CAPTION = re.compile(
    r"[*_]{0,2}(Figure|Fig\.|Table)\s+([A-Z]\.?)?\d{1,3}(\.\d{1,3})?\s*(?P<stop>:|[.|](?=[*_]*\s+[A-Z(]))"
)
REFERRING = re.compile(r"(^|\W)(and|at|by|from|in|of|on|see|than|the|to|with)$", re.IGNORECASE)
"""Words before "Figure 1.", where it is no caption but the end of a sentence."""

FOOTNOTE = re.compile('(\\d{1,2}|[\u2217\u2020\u2021\xa7\xb6]|\\*(?=[^*]*$))(?=["\u201c(]?[A-Z][a-z]|https?:)')
NOTICE = re.compile(r"Preliminary work\. +Under review|Proceedings of the \$?\d+( |\^\{|<sup>)?(st|[nr]d|th)\b")
ENDED = re.compile("[.!?][\"'\u201d\u2019)\\]]*$")

LONGEST = 20
"""Lines, at most, of a caption or a footnote."""

HIGHEST = 100
"""Lines, at most, of the words of a figure."""

SHORT = 0.75
"""A line of less than this share of the next one's characters is the last of its paragraph."""


def lift(lines: Sequence[Line]) -> tuple[list[Line], list[Sequence[Line]]]:
    r"""The lines of the text itself, and those of each caption and footnote, without the footnote's mark.

    >>> flow, asides = lift([Line(0, "We go"), Line(6, "Figure 1: A road."), Line(24, "1They say."), Line(35, "on.")])
    >>> [line.words for line in flow]
    ['We go', 'on.']
    >>> [line.words for aside in asides for line in aside]
    ['Figure 1: A road.', 'They say.']
    """
    flow: list[Line] = []
    asides: list[Sequence[Line]] = []
    place = 0
    while place < len(lines):
        first = _begun(lines[place])
        if first is None or (flow and is_reference(first.words, flow[-1].words)):
            flow.append(lines[place])
            place += 1
            continue
        end = place + 1
        while end < min(len(lines), place + LONGEST) and not _is_last(lines[end - 1].words, lines[end]):
            end += 1
        if not NOTICE.match(first.words):
            figure = _above(flow, first)
            del flow[len(flow) - len(figure) :]
            asides += [figure, [first, *lines[place + 1 : end]]]
        place = end
    return flow, asides


def _begun(line: Line) -> Line | None:
    """The line without its mark, where a caption or a footnote begins with it."""
    if CAPTION.match(line.words) or NOTICE.match(line.words):
        return line
    mark = FOOTNOTE.match(line.words)
    return Line(line.start + mark.end(), line.words[mark.end() :]) if mark else None


def is_reference(words: str, before: str) -> bool:
    """Whether words that look like a caption end the sentence before them, as in "shown in Figure 1."."""
    caption = CAPTION.match(words)
    return caption is not None and caption["stop"] == "." and REFERRING.search(before) is not None


def _above(flow: Sequence[Line], caption: Line) -> Sequence[Line]:
    """The words of a figure at the top of a page: the short lines above its caption, where there is nothing else."""
    for back in range(1, min(len(flow), HIGHEST) + 1):
        line = flow[-back]
        if len(line.words) >= SHORT * len(caption.words):
            break
        if line.is_top:
            return flow[-back:]
    return []


def _is_last(words: str, following: Line) -> bool:
    if ENDED.search(words) or not following.words or _begun(following):
        return True
    return len(words) < SHORT * len(following.words)

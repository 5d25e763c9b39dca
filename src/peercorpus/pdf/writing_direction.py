"""Put words of right-to-left scripts, and the words beside them, in reading order.

pdfium reverses the letters within each right-to-left word, but leaves the words of a line in the order of their
positions: from left to right, or from right to left if at least as many segments of the line are right-to-left as
left-to-right (`CFX_BidiString` in its source). So the words of an Arabic phrase in an English sentence come out in
reverse order, and so do those of an English phrase in an Arabic sentence.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Protocol, TypeVar

_KINDS = {"L": "L", "R": "R", "AL": "R"} | dict.fromkeys(("AN", "EN", "NSM", "CS", "ES", "ET", "BN"), "W")
"""pdfium's segment for each class of Unicode's bidirectional algorithm: left, right, weak; all others are neutral."""


class Run(Protocol):
    """The part of a glyph run that is used here."""

    text: str
    has_space: bool
    start: int
    end: int


RunT = TypeVar("RunT", bound=Run)


def _kind(character: str) -> str:
    return _KINDS.get(unicodedata.bidirectional(character), "N")


def has_right_to_left(text: str) -> bool:
    """Return whether a text has a letter that is read from right to left."""
    return not text.isascii() and "R" in map(_kind, set(text))


def _split_segments(text: str) -> list[tuple[str, str]]:
    return [(kind, "".join(part)) for kind, part in groupby(text, _kind)]


def _is_rightward_line(text: str) -> bool:
    kinds = [kind for kind, _ in _split_segments(text)]
    return kinds.count("R") < max(1, kinds.count("L"))


def _stretches(kinds: Sequence[str], kind: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each stretch of a kind, including weak or neutral segments inside it."""
    first = last = None
    other = "L" if kind == "R" else "R"
    for index, found in enumerate([*kinds, other]):
        if found == kind:
            first, last = index if first is None else first, index
        elif found in {other, "M"} and first is not None and last is not None:
            yield first, last + 1
            first = None


def reorder_text(text: str, *, was_rightward: bool, is_rightward: bool) -> str:
    """Return text, in pdfium's order, with its words in reading order: of a line, and of its paragraph."""
    segments = _split_segments(text)
    parts = [part for _, part in (segments if was_rightward == is_rightward else reversed(segments))]
    kinds = [kind for kind, _ in (segments if was_rightward == is_rightward else reversed(segments))]
    for start, end in _stretches(kinds, "R" if is_rightward else "L"):
        parts[start:end] = reversed(parts[start:end])
    return "".join(parts)


def _kind_of_run(text: str) -> str:
    kinds = {_kind(character) for character in text}
    if {"L", "R"} <= kinds:
        return "M"
    return next((kind for kind in "RL" if kind in kinds), "N")


def _turn(runs: list[RunT], start: int, end: int) -> None:
    """Reverse the order of some runs, but not within a word; white space stays between the same two words."""
    words: list[list[RunT]] = []
    for run in runs[start:end]:
        if words and not run.has_space:
            words[-1].append(run)
        else:
            words.append([run])
    spaces = [word[0].has_space for word in words]
    words.reverse()
    for word, has_space in zip(words, [*spaces[:1], *reversed(spaces[1:])], strict=True):
        word[0].has_space = has_space
    runs[start:end] = [run for word in words for run in word]


def reorder_line(runs: list[RunT], text: str, *, is_rightward: bool) -> None:
    """Put the runs of a line, in pdfium's order, and the words within each, in reading order."""
    was_rightward = _is_rightward_line(text)
    for run in runs:
        run.text = reorder_text(run.text, was_rightward=was_rightward, is_rightward=is_rightward)
    if was_rightward != is_rightward:
        _turn(runs, 0, len(runs))
    for start, end in _stretches([_kind_of_run(run.text) for run in runs], "R" if is_rightward else "L"):
        _turn(runs, start, end)


def reorder_page(runs: Sequence[RunT], text: str) -> list[RunT]:
    """Return the runs of a page, in pdfium's order, with the words of each line in reading order."""
    kinds = [_kind(character) for character in text]
    is_rightward = kinds.count("R") <= kinds.count("L")
    ordered: list[RunT] = []
    line: list[RunT] = []
    for run in runs:
        if line and "\n" in text[line[-1].end : run.start]:
            ordered += _reordered(line, text, is_rightward=is_rightward)
            line = []
        line.append(run)
    return ordered + _reordered(line, text, is_rightward=is_rightward)


def _reordered(line: list[RunT], text: str, *, is_rightward: bool) -> list[RunT]:
    if line:
        line_text = text[line[0].start : line[-1].end]
        if has_right_to_left(line_text):
            reorder_line(line, line_text, is_rightward=is_rightward)
    return line

"""Split body text into sentences, each with its position and a key by which it is matched.

A key omits what depends on layout: space, hyphens, ligatures, footnote marks. Displayed formulas and rows of tables
count as one sentence each.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from peercorpus.links.body_text import BodyLine
from peercorpus.records.sentence_ends import find_sentence_ends

MAX_SENTENCE_CHARACTERS = 1_000
"""A longer span is a table, a figure or a formula rather than a sentence, and is split at its short lines."""

FULL_LINE_SHARE = 0.75
"""Smallest share of the longest line's characters with which a line may continue in the next one."""

FOOTNOTE_NUMBER = re.compile(r"(?<=[a-z]{3}[.!?])\d{1,2}$|^\d{1,2}\s+(?=[A-Z][a-z]*\s+[a-z])")
"""Matches the number of a footnote, directly after its sentence or before the next one."""

SUPERSCRIPT_MARK = re.compile("(^|[^\\W\\d_]{3}|[.!?,;:)\"'\u201d\u2019$])\\s?<sup>[^<\\s]{1,4}</sup>")
"""Matches a superscript footnote mark, after a sentence or a word; after a number or a unit it is a power."""

FORMULA = re.compile(r"\${1,2}(?=\S)[^$\n]*(?<=\S)\${1,2}(?!\d)")
"""Matches an inline formula in Markdown; between two amounts of money there is a space next to a dollar sign."""

EQUATION_NUMBER = re.compile(r"(?<=\$\$)\s*\(\w{1,3}(\.\w{1,3}){0,2}\)\s*$|\\tag\{[^{}]{1,10}\}")

MINUS = re.compile(r"-(?=[\d.])")

_DROPPED = r"\s\x00-\x1f\x7f\-\u00ad\u2010\u2011\ufffe$"
NOT_MATCHED = re.compile(rf"[{_DROPPED}]+|\\(\\|[,;:!]|q?quad(?![a-z]))")
DROPPED_CHARACTERS = dict.fromkeys(
    ord(match[0]) for match in re.finditer(f"[{_DROPPED}]", "".join(map(chr, range(1 << 16))))
)
"""Translation table equivalent to `NOT_MATCHED` for a text without a backslash, but faster."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, a displayed formula, or a row of a table.

    Attributes:
        start: Offset of its first character in the whole text.
        end: Offset after its last character.
        words: Its text, without line numbers, headers and floats in between.
        key: Key by which it is matched; never empty.
        floats: Whether page layout decides where it stands: part of a caption, a footnote or a table.
    """

    start: int
    end: int
    words: str
    key: str
    floats: bool = False


def sentence_key(words: str) -> str:
    r"""Return the key by which equal sentences match: without space, hyphens, control characters and spacing commands.

    >>> sentence_key("An inter-\nview, \ufb01nally")
    'Aninterview,finally'
    """
    plain = words if words.isascii() else unicodedata.normalize("NFKC", words)
    return NOT_MATCHED.sub("", plain) if "\\" in plain else plain.translate(DROPPED_CHARACTERS)


def read_sentences(lines: Sequence[BodyLine], *, floats: bool = False) -> Iterator[Sentence]:
    r"""Yield the sentences of successive lines.

    >>> [sentence.words for sentence in read_sentences([BodyLine(0, "See Fig. 1. It"), BodyLine(20, "works.")])]
    ['See Fig. 1.', 'It\nworks.']
    """
    joined = "\n".join(line.words for line in lines)
    starts = []
    offset = 0
    for line in lines:
        starts.append(offset)
        offset += len(line.words) + 1
    # A formula counts as a capitalised word of its length: no sentence ends inside it, and one may begin with it.
    masked = FORMULA.sub(lambda formula: "X" * len(formula[0]), joined) if "$" in joined else joined
    spans = pairwise([0, *find_sentence_ends(masked), len(masked)])
    for start, end in (part for begin, stop in spans for part in _split_long(masked, begin, stop)):
        words = joined[start:end]
        key_text = SUPERSCRIPT_MARK.sub(r"\1", words) if "<sup>" in words else words
        if key_text[:1].isdigit() or key_text[-1:].isdigit():
            key_text = FOOTNOTE_NUMBER.sub("", key_text)
        key = sentence_key(key_text)
        if key:
            first = bisect_right(starts, start) - 1
            last = bisect_right(starts, end - 1) - 1
            begin = lines[first].start + start - starts[first]
            yield Sentence(begin, lines[last].start + end - starts[last], words, key, floats)


def read_whole(lines: Sequence[BodyLine], *, is_row: bool) -> Iterator[Sentence]:
    """Yield the lines of a formula or of a table row as one sentence; nothing if its key is empty.

    The key keeps a minus sign before a number in a row, and omits the number of a formula.
    """
    words = "\n".join(line.words for line in lines)
    key = sentence_key(MINUS.sub("\u2212", words) if is_row else EQUATION_NUMBER.sub("", words))
    if key:
        yield Sentence(lines[0].start, lines[-1].start + len(lines[-1].words), words, key, is_row)


def _split_long(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield one span or, if it is too long for a sentence, its parts, each ending with a line that is not full."""
    if end - start <= MAX_SENTENCE_CHARACTERS:
        yield from _strip_span(text, start, end)
        return
    lines = text[start:end].splitlines(keepends=True)
    full = FULL_LINE_SHARE * max(map(len, lines))
    stop = start
    for line in lines:
        stop += len(line)
        if len(line) < full:
            yield from _strip_span(text, start, stop)
            start = stop
    yield from _strip_span(text, start, end)


def _strip_span(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield a span without surrounding space; nothing if there is only space."""
    words = text[start:end]
    if words.strip():
        yield end - len(words.lstrip()), start + len(words.rstrip())

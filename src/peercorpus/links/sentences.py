"""Sentences of a text, each with its place and what it is matched by.

What it is matched by has no white space and no hyphens, so that neither the ends of lines nor the words divided there
make a difference; nor does "multi agent" differ from "multi-agent". Nor has it the marks around a formula, the space
inside, and the numbers of footnotes and equations.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from peercorpus.links.lines import Line

LONGEST = 1_000
"""A sentence of more characters is none but a table, a figure or a formula; its lines stand for themselves."""

FULL = 0.75
"""A line of this share of the longest one's characters may go on in the next line."""

MARK = re.compile(r"(?<=[a-z]{3}[.!?])\d{1,2}$|^\d{1,2}\s+(?=[A-Z][a-z]*\s+[a-z])")
"""The number of a footnote, behind the sentence that it belongs to or before the next one."""

RAISED = re.compile("(^|[^\\W\\d_]{3}|[.!?,;:)\"'\u201d\u2019$])<sup>[^<\\s]{1,4}</sup>")
"""The same as Markdown has it, behind a sentence or a word; behind a number or a unit it is a power."""

FORMULA = re.compile(r"\${1,2}(?=\S)[^$\n]*(?<=\S)\${1,2}(?!\d)")
"""A formula among words, as Markdown marks it; what is marked alike and is an amount of money has a space within."""

EQUATION = re.compile(r"(?<=\$\$)\s*\(\w{1,3}(\.\w{1,3}){0,2}\)\s*$|\\tag\{[^{}]{1,10}\}")
"""The number of an equation."""

MINUS = re.compile(r"-(?=[\d.])")

ENDS = re.compile(
    "[.!?][\"'\u201d\u2019)\\]]*((?<=[a-z]{3}[.!?])\\d{1,2}|<sup>[^<\\s]{1,4}</sup>)?(?=\\s)"
    "|\n{2,}|\n(?=[\u2022\u25e6\u25aa*-]\\s)"
)
STOPS = re.compile(r"[.!?\n]")
"""What all ends begin with; a text is searched for one of four characters much faster than for the ends themselves."""

BEGINS = re.compile("\\s*[\"'\u201c\u2018(\\[]?[^\\W_a-z]")
ABBREVIATIONS = frozenset(
    (
        *("al", "app", "approx", "cf", "ch", "def", "e.g", "eg", "eq", "eqn", "eqs", "fig", "figs", "i.e", "ie", "lem"),
        *("no", "pp", "prop", "ref", "refs", "resp", "sec", "tab", "thm", "vol", "vs", "w.r.t", "dr", "prof", "st"),
        *("a.s", "i.i.d", "s.t"),
    )
)
_DROPPED = r"\s\x00-\x1f\x7f\-\u00ad\u2010\u2011\ufffe$"
NOT_MATCHED = re.compile(rf"[{_DROPPED}]+|\\(\\|[,;:!]|q?quad(?![a-z]))")
WITHOUT = dict.fromkeys(ord(found[0]) for found in re.finditer(f"[{_DROPPED}]", "".join(map(chr, range(1 << 16)))))
"""The same for a text without a backslash, in which nothing else is left out."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, a displayed formula, or a row of a table.

    Attributes:
        start: Its first character in the whole text.
        end: The character behind its last one.
        words: Its words, without what the page puts between them.
        key: What it is matched by; never empty.
    """

    start: int
    end: int
    words: str
    key: str


def key_of(words: str) -> str:
    r"""What words are matched by.

    >>> key_of("An inter-\nview, \ufb01nally")
    'Aninterview,finally'
    """
    plain = words if words.isascii() else unicodedata.normalize("NFKC", words)
    return NOT_MATCHED.sub("", plain) if "\\" in plain else plain.translate(WITHOUT)


def read_sentences(lines: Sequence[Line]) -> Iterator[Sentence]:
    r"""The sentences of successive lines.

    >>> [sentence.words for sentence in read_sentences([Line(0, "See Fig. 1. It"), Line(20, "works.")])]
    ['See Fig. 1.', 'It\nworks.']
    """
    joined = "\n".join(line.words for line in lines)
    starts, at = [], 0
    for line in lines:
        starts.append(at)
        at += len(line.words) + 1
    for start, end in _spans(FORMULA.sub(_masked, joined) if "$" in joined else joined):
        words = joined[start:end]
        key = key_of(_unmarked(_lowered(words)))
        if key:
            first, last = bisect_right(starts, start) - 1, bisect_right(starts, end - 1) - 1
            begin = lines[first].start + start - starts[first]
            yield Sentence(begin, lines[last].start + end - starts[last], words, key)


def read_whole(lines: Sequence[Line], *, is_row: bool) -> Iterator[Sentence]:
    """Lines that are one thing, a formula or the row of a table; a minus makes a difference in a row."""
    words = "\n".join(line.words for line in lines)
    key = key_of(MINUS.sub("\u2212", words) if is_row else EQUATION.sub("", words))
    if key:
        yield Sentence(lines[0].start, lines[-1].start + len(lines[-1].words), words, key)


def _masked(formula: re.Match[str]) -> str:
    """A word as long as a formula: no sentence ends within, and one may begin with it."""
    return "X" * len(formula[0])


def _lowered(words: str) -> str:
    return RAISED.sub(r"\1", words) if "<sup>" in words else words


def _unmarked(words: str) -> str:
    return MARK.sub("", words) if words[:1].isdigit() or words[-1:].isdigit() else words


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Where each sentence begins and ends, without the space around it."""
    for start, end in pairwise([0, *_ends(text), len(text)]):
        yield from _short(text, start, end)


def _ends(text: str) -> Iterator[int]:
    for found in _possible_ends(text):
        if found[0].startswith("\n"):
            is_end = not text[found.end() : found.end() + 1].islower() or text[found.start() - 1] in ".!?:"
        else:
            is_end = bool(BEGINS.match(text, found.end())) and not _is_abbreviated(text, found.start())
        if is_end:
            yield found.end()


def _possible_ends(text: str) -> Iterator[re.Match[str]]:
    passed = 0
    for stop in STOPS.finditer(text):
        found = ENDS.match(text, stop.start()) if stop.start() >= passed else None
        if found:
            passed = found.end()
            yield found


def _is_abbreviated(text: str, stop: int) -> bool:
    before = text[max(0, stop - 12) : stop].split()
    word = before[-1].strip("([").casefold() if before and text[stop] == "." else ""
    return word in ABBREVIATIONS or (len(word) == 1 and word.isalpha())


def _short(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """One span; where it is too long for a sentence, its lines, each full one with the next."""
    if end - start <= LONGEST:
        yield from _stripped(text, start, end)
        return
    lines = text[start:end].splitlines(keepends=True)
    full = FULL * max(map(len, lines))
    stop = start
    for line in lines:
        stop += len(line)
        if len(line) < full:
            yield from _stripped(text, start, stop)
            start = stop
    yield from _stripped(text, start, end)


def _stripped(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    words = text[start:end]
    if words.strip():
        yield end - len(words.lstrip()), start + len(words.rstrip())

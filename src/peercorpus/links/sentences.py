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

from peercorpus.criticism.sentence_ends import find_sentence_ends
from peercorpus.links.body_text import BodyLine

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


LABEL = re.compile(r"^\W{0,4}(?:\d{1,4}\s+)?\[(\d{1,3})\](?=\s)", re.MULTILINE)
"""Matches the number before an entry of a list of references, possibly after a line number."""

NUMBERS = re.compile(r"\[(\d{1,3}(?:[,\u2013]\d{1,3})*)\]")
"""Matches a citation by numbers in a key: `[3,7\u20139]`."""

NAMES = re.compile(r"\((?:[a-z.,]{0,8}(?=[A-Z])[^()]{2,400}[,.])?(?:1[89]|20)\d\d[a-z]?(?:[,;][^()]{1,400})?\)")
"""Matches a citation by names and years, or by a year after names, in a key: `(Leeetal.,2019;Wu,2020)`."""

YEAR = re.compile(r"(?:1[89]|20)\d\d[a-z]?(?=[,;)])")

EQUATION = re.compile(r"\$\$\s*\((\d{1,3}[a-z]?)\)|\\tag\{(\d{1,3}[a-z]?)\}")
"""Matches the number of a displayed formula."""

FORMULA_REFERENCE = re.compile(r"\b(\w+)\s+(\((\d{1,3}[a-z]?|\?{2,})\))")
"""Matches a word and the number of an equation after it, or the marks that LaTeX prints for an unknown one."""

_NUMBER = r"\(?(?:\d{1,3}|[A-Z](?=[\d.]))(?:\.?\d{1,3}){0,3}\)?"
CROSS_REFERENCE = re.compile(
    r"((?i:(?:eqn?|fig|tab|sec|thm|lem|prop|cor|def|alg|app)s?\.|(?:equation|figure|table|section|theorem|lemma"
    r"|proposition|corollar(?:y|ie)|definition|remark|assumption|algorithm|example|claim|conjecture|appendi(?:x|ce))s?)"
    "|(?:Eqn?|Fig|Tab|Sec|Thm|Alg)s?"
    "|\u00a7{1,2})"
    rf"(?:{_NUMBER}(?:(?:,and|and|,|\u2013|to|&|(?<=\))(?=\()){_NUMBER}){{0,5}}|[A-Z](?![a-z]))"
)
"""Matches a reference to something numbered by LaTeX, in a key: `Figures3and4`, `Eq.(5)`, `AppendixB`."""

MAY_REFER = re.compile("[.abcegkmnqsxyABCEGKMNQSXY\u017f\u212a\u00a7]\\(?(?:\\d|[A-Z](?![a-z]))")
"""Matches what every `CROSS_REFERENCE` contains, and most keys do not: the last letter of a name before its number.
This search is faster."""


def find_labels(text: str) -> frozenset[str]:
    r"""Return the numbers of a list of references; none if its entries are not numbered.

    >>> sorted(find_labels("As in [7].\nReferences\n[1] A. Lee.\n[2] B. Wu."))
    ['1', '2']
    """
    return frozenset(LABEL.findall(text))


def find_equations(text: str) -> frozenset[str]:
    r"""Return the numbers of the displayed formulas of a text.

    >>> sorted(find_equations("$$a$$ (1)\n\n$$b \\tag{2a}$$"))
    ['1', '2a']
    """
    return frozenset(number for pair in EQUATION.findall(text) for number in pair if number)


def mask_equations(key: str, words: str, equations: frozenset[str]) -> str:
    """Return the key of a sentence without the numbers of equations that stand in its prose without a name.

    Args:
        key: Key of the sentence.
        words: The sentence, with its formulas left out.
        equations: Numbers of the equations of its text; other numbers in parentheses are not references.

    >>> mask_equations("By(4)andf(4)itholdsfor(9).", "By (4) and it holds for (9).", frozenset("4"))
    'Byandf(4)itholdsfor(9).'
    """
    for word, reference, number in FORMULA_REFERENCE.findall(words):
        if number in equations or number.startswith("?"):
            key = key.replace(word + reference, word)
    return key


def mask_numbers(key: str, labels: frozenset[str], *, with_names: bool) -> str:
    """Return a key with the number of works in each citation instead of the works, and without cross-reference numbers.

    Args:
        key: Key of a sentence.
        labels: Numbers of the references in its text; other numbers in brackets are not citations.
        with_names: Whether to mask citations by names and years too, because the other text cites by numbers.

    >>> mask_numbers("Weuseit[2],seeEq.(4),on[0,1].", frozenset("123"), with_names=True)
    'Weuseit[*1],seeEq.,on[0,1].'
    >>> mask_numbers("Weuseit(Leeetal.,2019),seeEq.(5),on[0,1].", frozenset(), with_names=True)
    'Weuseit[*1],seeEq.,on[0,1].'
    >>> mask_numbers("Table2andFigures3and4haveall17clouds.", frozenset(), with_names=False)
    'TableandFigureshaveall17clouds.'
    """
    if "[" in key and labels:
        key = NUMBERS.sub(lambda citation: _mask_citation(citation, labels), key)
    if with_names and "(" in key:
        key = NAMES.sub(lambda citation: f"[*{len(YEAR.findall(citation[0]))}]", key)
    return CROSS_REFERENCE.sub(r"\1", key) if MAY_REFER.search(key) else key


def _mask_citation(citation: re.Match[str], labels: frozenset[str]) -> str:
    works = 0
    for part in citation[1].split(","):
        first, *last = part.split("\u2013")
        if not labels.issuperset([first, *last]):
            return citation[0]
        works += int(last[-1]) - int(first) + 1 if last else 1
    return f"[*{works}]"

"""Find mentions without a word or square brackets to mark them: raised citations, and formulas as in "by (5)"."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import pairwise
from typing import NamedTuple

from peercorpus.corpus.structured_text import Bibliography
from peercorpus.records.blocks import TextBlock
from peercorpus.records.enums import BlockKind, MentionKind

DASH = r"[-\u2013\u2014]"
AND = r"\s?(?:,\s?(?:and\s|or\s)?|and\s|or\s|&\s?)"
TO = rf"\s?(?:{DASH}\s?|to\s|through\s)"
DIGITS = re.compile(r"\d+")
_RANGE = re.compile(TO)
_MAX_RANGE = 50
"""Maximum difference of the ends of a range whose numbers are listed one by one."""
_MAX_RANGE_DIGITS = 4
"""Maximum number of digits of the ends of such a range."""
_OTHER_WORK = re.compile(r"\)?\s*(?:of|in|from|by)\s+(?:the\s+\w+\s+(?:of|by)\s+)?[(\[]?")
"""Matches the text between a number and the work that it belongs to."""
_BEHIND_OTHER_WORK = re.compile(r",\s*(?:see\s+)?$")
_MAX_BEHIND_CHARACTERS = 10
"""Maximum length of that text."""


class Found(NamedTuple):
    """A mention within its block, before it is resolved.

    Attributes:
        targets: The blocks that it may refer to.
    """

    kind: MentionKind
    start: int
    end: int
    number: str
    targets: Sequence[int]


def split_list(numbers: str, offset: int, pattern: re.Pattern[str]) -> Iterator[tuple[int, int, str]]:
    """Yield each number of a list with its offsets; those inside a range have the offsets of the whole range."""
    before: re.Match[str] | None = None
    for match in pattern.finditer(numbers):
        if before is not None and _RANGE.fullmatch(numbers[before.end() : match.start()]):
            low, high = (re.sub(r"[()]", "", found[0]) for found in (before, match))
            is_short = max(len(low), len(high)) <= _MAX_RANGE_DIGITS and low.isdecimal() and high.isdecimal()
            if is_short and int(high) - int(low) <= _MAX_RANGE:
                inside = range(int(low) + 1, int(high))
                yield from ((offset + before.start(), offset + match.end(), str(number)) for number in inside)
        yield offset + match.start(), offset + match.end(), match[0]
        before = match


def is_before_work(text: str, end: int, begins: Set[int]) -> bool:
    """Return whether a number that ends at an offset belongs to a work cited after it, as in "Theorem 2 of [3]"."""
    between = _OTHER_WORK.match(text, end)
    return between is not None and between.end() in begins


def is_behind_work(text: str, start: int, ends: Set[int]) -> bool:
    """Return whether a number belongs to a work cited right before it, as in "(Smith, 2020, Section 2)"."""
    between = _BEHIND_OTHER_WORK.search(text, max(0, start - _MAX_BEHIND_CHARACTERS), start)
    return between is not None and between.start() in ends


_RAISED = re.compile(rf"<sup>(?P<numbers>\d{{1,3}}(?:\s?(?:,|{DASH})\s?\d{{1,3}})*)</sup>(?![\w<])")
_CITING_WORD = re.compile(r"[.,;:!?\u2019\u201d]$|(?P<word>[^\W\d_]{3,30})[)\]]?$")
"""Matches what precedes raised citations: a punctuation mark or a word."""
_MAX_WORD_CHARACTERS = 30
_POWERS = frozenset("log sin cos tan exp max min sec mol rad deg pix vol square cube".split())  # noqa: SIM905
"""Functions and units, which have exponents rather than citations."""
_UNITS = frozenset("pixels metres meters miles inches feet seconds units degrees".split())  # noqa: SIM905
_EXPONENTS = frozenset("23")
"""Usual exponents, for example of a name in capitals."""
_OWN_MARK = re.compile(r"<sup>(?P<number>\d{1,3})</sup>")
_SENTENCE = re.compile(r"[a-z]{3}[.?!]\s+[A-Z]")
_MIN_RAISED = 5
"""Minimum number of raised citations in a paper with this style."""
_MIN_CITED_SHARE = 0.5
"""Minimum share of the entries cited by them."""
_MAX_OTHER_SHARE = 0.1
"""Maximum number of citations in other forms, relative to the raised ones."""


def find_raised_citations(
    markdown: str, blocks: Sequence[TextBlock], bibliography: Bibliography, others: int
) -> dict[int, list[Found]]:
    """Return the raised citations of a text by block, as in "teas.3,4"; empty unless this is clearly its style.

    This is the case if they cite most entries of a numbered list, and hardly anything is cited in another form. Marks
    of footnotes and affiliations, and exponents, are not citations.

    Args:
        markdown: The text.
        blocks: Its blocks.
        bibliography: Its list of references.
        others: Number of citations in other forms whose entry was found.
    """
    if not bibliography.by_number or "<sup>" not in markdown:
        return {}
    notes = _list_notes(markdown, blocks)
    found = {
        block.block_id: list(_find_raised(markdown[block.start : block.end], bibliography.by_number, notes))
        for block in _skip_front(markdown, blocks)
        if block.kind in {BlockKind.PARAGRAPH, BlockKind.ITEM, BlockKind.CAPTION}
    }
    numbers = [citation.number for citations in found.values() for citation in citations]
    is_style = (
        len(numbers) >= _MIN_RAISED
        and len(set(numbers)) >= _MIN_CITED_SHARE * len(bibliography.by_number)
        and others <= _MAX_OTHER_SHARE * len(numbers)
    )
    return found if is_style else {}


def _list_notes(markdown: str, blocks: Iterable[TextBlock]) -> set[str]:
    marks = (_OWN_MARK.match(markdown, block.start) for block in blocks if block.kind is BlockKind.FOOTNOTE)
    return {mark["number"] for mark in marks if mark is not None}


def _skip_front(markdown: str, blocks: Sequence[TextBlock]) -> Sequence[TextBlock]:
    """Return the blocks from the first heading or the first paragraph of several sentences on."""
    for number, block in enumerate(blocks):
        if block.kind is BlockKind.HEADING or len(_SENTENCE.findall(markdown, block.start, block.end)) > 1:
            return blocks[number:]
    return ()


def _find_raised(text: str, by_number: Mapping[str, Sequence[int]], notes: set[str]) -> Iterator[Found]:
    """Yield the raised citations in a block, if each number is that of one entry and of no footnote."""
    for match in _RAISED.finditer(text):
        before = _CITING_WORD.search(text, max(0, match.start() - _MAX_WORD_CHARACTERS), match.start())
        numbers = list(split_list(match["numbers"], match.start("numbers"), DIGITS))
        is_known = all(len(by_number.get(number, ())) == 1 and number not in notes for _, _, number in numbers)
        if is_known and before is not None and not _has_power(before["word"] or "", match["numbers"]):
            yield from (
                Found(MentionKind.CITATION, start, end, number, by_number[number]) for start, end, number in numbers
            )


def _has_power(word: str, numbers: str) -> bool:
    return word.casefold() in _POWERS | _UNITS or (word.isupper() and numbers in _EXPONENTS)


_NUMBER = r"\((?:[A-Z]{1,2}[.-]?)?\d{1,3}(?:\.\d{1,3})*[a-z]?\)"
_ONE_NUMBER = re.compile(_NUMBER)
_NUMBERS = re.compile(rf"(?<![\w)\]}}]){_NUMBER}(?:(?:{TO}|{AND}){_NUMBER})*(?![\w(])")
_INTRODUCED = re.compile(
    r"(?<![\w-])(?:see|cf\.|i\.e\.,?|from|by|in|of|to|into|using|with|via|on|under|through|than|as|since|because|"
    r"satisf(?:y|ies|ying)|solv(?:e|es|ing)|(?:minimi|maximi|optimi)[sz](?:e|es|ing)|combin(?:e|ing)|"
    r"substitut(?:e|ing)|inserting|plugging|apply(?:ing)?|recall(?:ing)?|prov(?:e|es|ing)|yields?|"
    r"rewrit(?:e|ing)|problems?|objectives?|inequalit(?:y|ies)|identit(?:y|ies)|formulas?|expressions?|equality|"
    r"bounds?|constraints?|system|relations?|functions?)\s\(?$",
    re.IGNORECASE,
)
"""Matches words that introduce a formula; they also occur before the number of a list item."""
_MAX_INTRODUCTION_CHARACTERS = 20
_JOINED = re.compile(rf"(?:{TO}|\s(?:and|or)\s)$")
_STOP = re.compile(r"\s?[.,;:)\]]|\s*$")
"""Matches what follows a formula at the end of a clause."""
_GOES_ON = re.compile(
    r"\s(?:is|are|was|were|can|has|have|holds?|becomes?|gives?|yields?|impl(?:y|ies)|reduces?|follows?|shows?|and|in|"
    r"to|into|as|for|by|on|from|at|over|under|via|using|with|if|when|where|which|that)\b"
)
"""Matches what follows a formula within a clause, but rarely the number of a list item."""
_LISTED = re.compile(r"(?:^|[-:;,.?!]|\b(?:and|or))\s*$")
"""Matches what precedes the number of a list item within a sentence."""


class BareFormulas:
    """Finds formulas that are mentioned only by number, block by block in the order of the text.

    A number in round brackets may also be that of a list item, as in "(1) herbs and (2) teas". It is taken as that of a
    formula if the words around it indicate a mention, and if no list item has had this number since the formula.
    """

    def __init__(self, numbered: Mapping[tuple[MentionKind, str], Sequence[int]]) -> None:
        self._numbered = numbered
        self._listed: set[str] = set()

    def pass_formula(self, number: str) -> None:
        """Record the position of the formula with this number."""
        self._listed.discard(number)

    def find(self, text: str, others: Sequence[Found]) -> Iterator[Found]:
        """Yield the mentions in a block.

        Args:
            text: The block.
            others: Mentions in it that were found in other ways.
        """
        taken = {place for found in others for place in range(found.start, found.end)}
        ends = {found.end for found in others if found.kind is MentionKind.EQUATION}
        begins = {found.start for found in others if found.kind is MentionKind.CITATION}
        matches = [match for match in _NUMBERS.finditer(text) if match.start() not in taken]
        has_list = any(_are_listed(text, *pair) for pair in pairwise(matches))
        for match in matches:
            start, end = match.span()
            is_mention = (
                _is_introduced(text, start, ends)
                and bool(_STOP.match(text, end) or (not has_list and _GOES_ON.match(text, end)))
                and not is_before_work(text, end, begins)
            )
            for first, last, number in split_list(match[0], start, _ONE_NUMBER):
                name = number.strip("()")
                targets = self._numbered.get((MentionKind.EQUATION, name), ())
                if not is_mention and _LISTED.search(text, max(0, start - _MAX_INTRODUCTION_CHARACTERS), start):
                    self._listed.add(name)
                elif is_mention and len(targets) == 1 and name not in self._listed:
                    yield Found(MentionKind.EQUATION, first, last, name, targets)


def _are_listed(text: str, first: re.Match[str], second: re.Match[str]) -> bool:
    """Return whether two numbers are those of the first two list items, with more than a word between them."""
    return (first[0], second[0]) == ("(1)", "(2)") and len(text[first.end() : second.start()].split()) > 1


def _is_introduced(text: str, start: int, ends: set[int]) -> bool:
    """Return whether the words before a number, or a formula named there, show that it is that of a formula."""
    first = max(0, start - _MAX_INTRODUCTION_CHARACTERS)
    joined = _JOINED.search(text, first, start)
    return bool(_INTRODUCED.search(text, first, start)) or (joined is not None and joined.start() in ends)

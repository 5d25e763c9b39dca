"""Split the text of a review or a reply into sentences, with the layout of each: items, labels, headings.

`read_passages` covers the whole text: joined in order, the passages are the text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from peercorpus.criticism.kinds import read_words
from peercorpus.criticism.sentence_ends import find_sentence_ends

MAX_HEADING_CHARACTERS = 90
"""A longer line is not a heading; our choice."""

_NAMED = (
    r"(?:(?:major|minor|key|main|general|specific|detailed)\s+)?"
    r"(?:weakness|strength|question|concern|comment|point|issue|limitation|suggestion|remark|response|reply|answer)(?:es)?"
)
_LABEL = (
    rf"[*_\[(]*(?:{_NAMED}\s*+(?:to\s++)?(?:{_NAMED}\s*+)?[-#.]?\s*+\d{{1,2}}"  # Weakness 2, Response to Question 1
    r"|[QWRCAPMSDL]\s?[-.#]?\s?\d{1,2}(?:[.\-]\d{1,2})?"  # W2, Q1, R1.3
    r"|\d{1,2}(?:\.\d{1,2}){0,2}"  # 3, 2.1
    r"|[a-hA-H]|[ivx]{1,4})[*_\])]*"
)
LABEL = re.compile(
    rf"[ \t>]*+(?:[-*\u2022+][ \t]*+)?(?P<label>{_LABEL})"
    r"(?P<end>\s*[.):\]\-\u2013]+[*_]*(?!\d)\s*|(?<=[)\]*])\s+)",
    re.IGNORECASE,
)
"""Matches a label at the beginning of a line with its separator from the text: "(3)", "W2:", "**Question 1.**",
"2)"."""

WORD_LABEL = re.compile(
    rf"[ \t>]*(?P<label>[*_]*{_NAMED}\s*+#?\s*+\d{{1,2}}[*_]*|[*_]*[QWRC]\d{{1,2}}[*_]*)(?P<end>\s+|$)", re.I
)
"""Matches a label without a separator from the text: "Q1 Why", "Weakness 2"."""

BULLET = re.compile("[ \t>]*(?P<mark>[-*\u2022\u25e6\u00b7\u25aa+\u2013\u2014])(?:[ \t]+|(?=[A-Z\"'(]))(?=\\S)")
HASHES = re.compile(r"\s{0,3}#{1,6}\s*(?=\S)")
BOLD_LINE = re.compile(r"\s*(?:\*\*|__)[^*\n]+(?:\*\*|__)[\s:.]*$")
RULE = re.compile(r"\s*(?:[-=_*~]\s?){3,}\s*$")
QUOTATION = re.compile(r"[ \t]*>")
"""Matches a Markdown quotation, which ends the paragraph before it."""
INLINE = re.compile(r"\((?:\d{1,2}|[a-h]|[ivx]{1,4})\)\s|\d{1,2}[.)]\s")
REFERENCE = re.compile(r"\b(?:19|20)\d\d\b|\bet al\b|arxiv|https?:|\bproc(?:eedings|\.)", re.IGNORECASE)
"""Matches signs that an item labelled "[1]" is an entry of a list of references."""
ORDINAL = re.compile(
    r"(?:(?:first|second|third|fourth|fifth)(?:ly)?|(?:first|second) of all|lastly|finally"
    r"|another (?:concern|issue|point|weakness))\b",
    re.IGNORECASE,
)
"""Matches words at the start of a sentence that begin another point within a paragraph."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence, or a heading, with the space after it.

    Attributes:
        start: Offset of its first character in the text; the first passage begins with the text.
        end: Offset after its last character, which is the start of the next passage.
        words: Its text without surrounding space.
        block: Number of the paragraph or list item that it is part of, from 0.
        is_heading: Whether it is a heading, or a line without words.
        is_item: Whether its block is a list item or begins with an ordinal.
        label: Label of its block, verbatim; None if it has none.
        is_reference: Whether its block is an entry of a list of references: "[1] Smith et al. 2020."
        mark: `+` or `-` if its block is a list item marked so, otherwise an empty string.
    """

    start: int
    end: int
    words: str
    block: int
    is_heading: bool
    is_item: bool
    is_reference: bool
    label: str | None
    mark: str


@dataclass(slots=True)
class _Block:
    """Successive lines that form one paragraph, list item or heading.

    Attributes:
        text_start: Offset at which its text begins, after marker and label.
    """

    start: int
    end: int
    text_start: int
    is_heading: bool = False
    is_item: bool = False
    label: str | None = None
    mark: str = ""


def read_passages(text: str) -> list[Passage]:
    r"""Return the passages of a text, in order and without gaps.

    >>> [(one.label, one.is_heading, one.words) for one in read_passages("Cons:\n1) Slow. Why?\n\nGood.")]
    [(None, True, 'Cons:'), ('1)', False, '1) Slow.'), ('1)', False, 'Why?'), (None, False, 'Good.')]
    """
    passages: list[Passage] = []
    number = -1
    for block in _read_blocks(text):
        number += 1
        is_item, label = block.is_item, block.label
        is_reference = (
            bool(label and label.startswith("[")) and REFERENCE.search(text, block.start, block.end) is not None
        )
        for start, end in _split_block(text, block):
            words = text[start:end].strip()
            if start > block.start and not block.is_item and (INLINE.match(words) or ORDINAL.match(words)):
                number += 1
                is_item, label = True, _read_inline_label(words)
            passages.append(
                Passage(
                    start=start,
                    end=end,
                    words=words,
                    block=number,
                    is_heading=block.is_heading,
                    is_item=is_item,
                    is_reference=is_reference,
                    label=None if is_reference else label,
                    mark=block.mark,
                )
            )
    return _cover(passages, len(text))


def _read_inline_label(words: str) -> str | None:
    """Return the label of an item within a paragraph; None if it begins with an ordinal."""
    found = INLINE.match(words)
    return found[0].strip() if found else None


def _cover(passages: list[Passage], length: int) -> list[Passage]:
    """Return the passages extended so that each ends where the next begins and together they cover the text."""
    starts = [0, *(passage.start for passage in passages[1:]), length]
    return [replace(one, start=starts[index], end=starts[index + 1]) for index, one in enumerate(passages)]


def _split_block(text: str, block: _Block) -> Iterator[tuple[int, int]]:
    """Yield the span of each sentence of a block; a heading is one sentence."""
    start = block.start
    ends = [] if block.is_heading else [*find_sentence_ends(text[block.text_start : block.end])]
    for end in (*(block.text_start + stop for stop in ends), block.end):
        if text[start:end].strip():
            yield start, end
            start = end


def _read_blocks(text: str) -> Iterator[_Block]:
    """Yield the paragraphs, list items and headings of a text, in order; lines without words belong to none of them."""
    current: _Block | None = None
    offset = 0
    for line in text.splitlines(keepends=True):
        start, offset = offset, offset + len(line)
        if not line.strip() or RULE.match(line):
            if current is not None:
                yield current
                current = None
            continue
        opened = _open_block(line, start, is_first=current is None)
        if opened is None and current is not None and not current.is_heading:
            current.end = offset
            continue
        if current is not None:
            yield current
        current = opened or _Block(start, offset, start)
    if current is not None:
        yield current


def _open_block(line: str, start: int, *, is_first: bool) -> _Block | None:
    """Return the list item or heading that a line begins; None if it only continues a block or begins a paragraph."""
    end = start + len(line)
    is_heading = _is_heading(line, is_first=is_first)
    bullet = BULLET.match(line)
    mark = bullet["mark"] if bullet and bullet["mark"] in "+-" else ""
    label = LABEL.match(line) or WORD_LABEL.match(line)
    if label and _is_label(label, line):
        text_start = start + label.end()
        is_heading = is_heading and text_start < end and _is_heading(line[label.end() :], is_first=is_first)
        cleaned = label["label"].strip("*_ \t")
        closing = label["end"].strip()[:1]
        shown = cleaned + closing if closing == ")" and ("(" in cleaned or cleaned[-1:].isalnum()) else cleaned
        return _Block(start, end, text_start, is_heading, is_item=True, label=shown, mark=mark)
    if is_heading:
        return _Block(start, end, start, is_heading=True)
    if bullet:
        return _Block(start, end, start + bullet.end(), is_item=True, mark=mark)
    return _Block(start, end, start) if QUOTATION.match(line) else None


def _is_label(label: re.Match[str], line: str) -> bool:
    """Return whether a match is a label: a single letter needs a parenthesis, and "3.5%" is a number."""
    name = label["label"].strip("*_[]() \t")
    if name.isalpha() and len(name) <= 4:
        return ")" in label[0] and label.end() < len(line)
    return not line[label.end() :].lstrip().startswith(("%", "=", "\u00d7"))


def _is_heading(line: str, *, is_first: bool) -> bool:
    """Return whether a line is a heading: marked up as one, short and ending with a colon, or a usual heading."""
    words = line.strip()
    if HASHES.match(line):
        return True
    if len(words) > MAX_HEADING_CHARACTERS:
        return False
    if BOLD_LINE.match(line) or words.rstrip("*_ ").endswith(":"):
        return ". " not in words
    plain = words.strip("*_#=-: \t()").casefold()
    return is_first and plain in read_words().plain_headings

"""Find the passage of a text in which the words of a search occur, and mark them there.

A word is marked if its term is that of the search, a phrase only if its words are consecutive.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

from peercorpus.explorer.querying.searched_fields import SearchedFields, fold
from peercorpus.wording.untrusted_text import replace_controls

CHARACTERS = 220
"""Length of a passage."""
_MAX_SEARCHED_CHARACTERS = 60_000
"""Characters of a text in which passages are searched."""
_MAX_PLACES = 40
"""Places in a text that are looked at, for one word."""
_LEAST_ROOT = 3
"""Letters at the beginning of a word that its other forms share, at least."""
_ENDING = 3
"""Letters at its end that may differ."""
_WORD = re.compile(r"[^\W_]+")

Piece = tuple[str, bool]
"""A piece of text, and whether it matches the search."""


@dataclass(frozen=True, slots=True)
class Sought:
    """Something to be marked.

    Attributes:
        parts: A word, or the words of a phrase, in lower case.
        number: Number of its word in the search.
        is_prefix: Whether the last part is the beginning of a word.
        is_respelt: Whether it is the British or American spelling of what was typed.
        field: The only field in which it counts; None for all.
    """

    parts: tuple[str, ...]
    number: int
    is_prefix: bool = False
    is_respelt: bool = False
    field: str | None = None

    def counts_in(self, name: str, fields: SearchedFields) -> bool:
        """Return whether it counts in a field; in one that is searched only if a query names it, it must name that."""
        return self.field == name or (self.field is None and name not in fields.named)

    @property
    def root(self) -> str:
        """The letters with which the first word begins in each of its forms."""
        first = fold(self.parts[0])
        return first if self.is_prefix and len(self.parts) == 1 else first[: max(_LEAST_ROOT, len(first) - _ENDING)]


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a text.

    Attributes:
        start: Offset of its first mark in the text.
        numbers: Numbers of the words of the search that occur in it.
    """

    pieces: Sequence[Piece]
    start: int
    numbers: frozenset[int]


def _list_beginnings(lowered: str, root: str) -> Iterator[int]:
    """Yield where words begin that begin with these letters, at most `_MAX_PLACES`."""
    place = lowered.find(root)
    for _ in range(_MAX_PLACES):
        if place < 0:
            return
        if not place or not lowered[place - 1].isalnum():
            yield place
        place = lowered.find(root, place + 1)


Mark = tuple[int, int, int]
"""Start and end of a mark, and the number of its word."""


class _PlainLetters(dict[int, str]):
    """Each letter in lower case and without its accent, or as it is if that would be more than one."""

    def __missing__(self, letter: int) -> str:
        plain = fold(chr(letter).lower())
        self[letter] = plain if len(plain) == 1 else chr(letter)
        return self[letter]


_PLAIN_LETTERS = _PlainLetters()


class PassageFinder:
    """Finds the passages that match one search."""

    def __init__(self, sought: Sequence[Sought], fields: SearchedFields, characters: int = CHARACTERS) -> None:
        self._sought = sought
        self._roots = [each.root for each in sought]
        self.numbers = frozenset(each.number for each in sought)
        self._fields = fields
        self._characters = characters

    def only(self, numbers: Set[int]) -> "PassageFinder":
        """Return a finder of passages with the words of these numbers."""
        sought = [each for each in self._sought if each.number in numbers]
        return PassageFinder(sought, self._fields, self._characters)

    def counts_in(self, name: str) -> bool:
        """Return whether anything of the search counts in a field."""
        return any(each.counts_in(name, self._fields) for each in self._sought)

    def find_whole(self, words: Iterable[str], name: str) -> frozenset[int]:
        """Return the numbers of what is sought that is one of a few words of a field, its parts being joined."""
        known = frozenset(words)
        sought = (each for each in self._sought if each.counts_in(name, self._fields))
        return frozenset(each.number for each in sought if "".join(each.parts) in known)

    def find(self, text: str, name: str) -> Passage | None:
        """Return the passage of a field with the most words of the search; None if none occurs in it."""
        # As the index has it: a letter and its accent as one sign.
        text = unicodedata.normalize("NFC", text[:_MAX_SEARCHED_CHARACTERS])
        marks = sorted(self._list_marks(text, name))
        if not marks:
            return None
        start, end = self._choose_window(text, marks)
        inside = [mark for mark in marks if start <= mark[0] and mark[1] <= end]
        pieces = list(_cut(text, start, end, inside))
        if start:
            pieces.insert(0, ("… ", False))
        return Passage(pieces, inside[0][0], frozenset(number for _, _, number in inside))

    def _list_marks(self, text: str, name: str) -> list[Mark]:
        lowered = text.lower() if text.isascii() else text.translate(_PLAIN_LETTERS)
        is_whole = name in self._fields.unstemmed
        marks: list[Mark] = []
        for sought, root in zip(self._sought, self._roots, strict=True):
            if not sought.counts_in(name, self._fields) or (is_whole and sought.is_respelt):
                continue
            if is_whole or root in lowered:
                marks += self._find_places(lowered, name, sought, None if is_whole else root)
        return marks

    def _find_places(self, lowered: str, name: str, sought: Sought, root: str | None) -> list[Mark]:
        """Return where something is: its first places, and those within the length of a passage after the first.

        `root` has the letters with which the first word begins; None if any word may be the first one, because accents
        of names are not compared.
        """
        terms = [self._fields.term(name, part) for part in sought.parts]
        marks: list[Mark] = []
        for place in map(re.Match.start, _WORD.finditer(lowered)) if root is None else _list_beginnings(lowered, root):
            end = self._follow(lowered, place, name, terms, sought)
            if end is not None:
                marks.append((place, end, sought.number))
            if marks and len(self.numbers) == 1 and place > marks[0][0] + self._characters:
                break
        return marks

    def _follow(self, lowered: str, place: int, name: str, terms: Sequence[str], sought: Sought) -> int | None:
        """Return the end of the match that begins at a place; None if there is none."""
        end, last = place, len(terms) - 1
        for index, term in enumerate(terms):
            word = _WORD.match(lowered, end) if index == 0 else _WORD.search(lowered, end)
            if word is None:
                return None
            end = word.end()
            if sought.is_prefix and index == last:
                if not word[0].startswith(fold(sought.parts[-1])):
                    return None
            elif self._fields.term(name, word[0]) != term:
                return None
        return end

    def _choose_window(self, text: str, marks: Sequence[Mark]) -> tuple[int, int]:
        """Return start and end of the passage: the first one with the most words, from a quarter before them."""
        if len(text) <= self._characters:
            return 0, len(text)
        room = self._characters * 3 // 4
        best, most = 0, 0
        known = len({number for _, _, number in marks})
        for index, (begin, _, _) in enumerate(marks):
            numbers = {number for _, end, number in marks[index : index + 40] if end <= begin + room}
            if len(numbers) > most:
                best, most = index, len(numbers)
                if most == known:
                    break
        begin, mark_end, _ = marks[best]
        start = max(0, begin - self._characters // 4)
        if start:
            gap = _SPACE.search(text, start, begin)
            start = gap.end() if gap else begin
        end = max(start + self._characters, mark_end)
        if end >= len(text):
            return start, len(text)
        gap_at = max(text.rfind(" ", mark_end, end), text.rfind("\n", mark_end, end))
        return start, gap_at if gap_at > mark_end else end


_SPACE = re.compile(r"\s+")
_HEADING = re.compile(r"(?<=\n)[ \t]*+(?:#{1,6}+|>)[ \t]++")
_STARS = re.compile(
    r"(?<![\w*\\])\*\*(?=[^\s*])|(?<=[^\s*])\*\*(?![\w*])|(?<![\w*\\])\*(?=[^\s*])([^*\n]{1,200}+)\*(?![\w*])"
)
_ITEM = re.compile(r"(?<=\n)[ \t]*+[-*+][ \t]++")


def _cut(text: str, start: int, end: int, marks: Sequence[Mark]) -> Iterator[Piece]:
    """Cut a part of a text at the marks in it; overlapping ones are one."""
    position = start
    for begin, mark_end in _merge(marks):
        if begin > position:
            yield show_part(text, position, begin), False
        yield replace_controls(text[begin:mark_end]), True
        position = mark_end
    if end > position:
        yield show_part(text, position, end), False


def show_part(text: str, start: int, end: int) -> str:
    """Return a part of a text without Markdown's signs of headings, quotations and emphasis; items begin with dots."""
    is_line = start == 0 or text[start - 1] == "\n"
    plain = _ITEM.sub("· ", _HEADING.sub("", ("\n" if is_line else " ") + text[start:end]))
    plain = _STARS.sub(lambda found: found[1] or "", plain)[1:]
    return replace_controls(plain.removeprefix("· ") if is_line else plain)


def _merge(marks: Sequence[Mark]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end, _ in marks:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged

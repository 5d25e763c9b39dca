"""Write the search index of a site: small script files, of which a search loads those of its words.

Every file is a script that delivers JSON. Pages from a USB stick may load scripts beside them but fetch nothing, and a
page that fetches nothing needs no right to.
"""

import heapq
import json
import pickle
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

FIELDS = 3
"""Title and keywords; abstract; reviews and other posts."""
PAPERS_PER_FILE = 8
"""Papers in a file of `search/d`: each result needs one, and they are seldom neighbours."""
SPAN = 16_384
"""Papers that one file of a frequent word is about."""
_CHUNK_CHARACTERS = 8_000
"""Of a file with the rare words of one stretch of the alphabet."""
_FREQUENT_CHARACTERS = 4_000
"""A word whose lists are longer has files of its own."""
_MAX_IN_MEMORY = 4_000_000
"""Occurrences that are sorted in memory; more are sorted in parts, which are joined on disk."""
_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

Write = Callable[[str, bytes], None]
"""Writes a file of the site, by its path."""


def encode_numbers(numbers: Sequence[int], start: int = 0) -> str:
    """Return ascending numbers as text: the difference of each to the one before, in digits of five bits.

    All digits but the last of a difference are from the upper half of the 64 digits.

    >>> encode_numbers([0, 1, 33, 100])
    'ABgBjC'
    """
    digits: list[str] = []
    before = start
    for number in numbers:
        gap, before = number - before, number
        while gap >= 32:
            digits.append(_DIGITS[32 + gap % 32])
            gap //= 32
        digits.append(_DIGITS[gap])
    return "".join(digits)


def _encode_fields(postings: Sequence[int], start: int = 0) -> str:
    """Return the papers of a word as three lists, one for each field, joined by full stops."""
    lists: list[list[int]] = [[] for _ in range(FIELDS)]
    for posting in postings:
        lists[posting % 4].append(posting // 4)
    return ".".join(encode_numbers(numbers, start) for numbers in lists)


def delivery(name: str, content: object) -> bytes:
    """Return a script that delivers JSON, in ASCII; `<` is escaped, so that it could stand in a page too."""
    text = json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")
    return f"deliver({json.dumps(name)},{text});\n".encode("ascii")


def _in_order(word: str) -> bytes:
    """Return a key that sorts words as JavaScript does."""
    return word.encode("utf-16-be", "surrogatepass")


class SearchIndex:
    """Collects the words of papers, and writes the files from which a page searches them.

    Papers have numbers from 0, in the order in which they are listed among equals. They may be added in any order.
    """

    def __init__(self, scratch: Path) -> None:
        """Collect words.

        Args:
            scratch: A folder for sorted parts; whoever made it removes it.
        """
        self._scratch = scratch
        self._postings: dict[str, array[int]] = {}
        self._held = 0
        self._parts: list[Path] = []
        self._papers: dict[int, Sequence[Any]] = {}

    def add(self, number: int, fields: Sequence[Set[str]], labels: Sequence[str], shown: Sequence[Any]) -> None:
        """Add a paper.

        Args:
            number: Its number.
            fields: Its words by field, each in one field only.
            labels: Words that begin with `=`, by which papers are filtered.
            shown: What a list of results shows of it, as JSON.
        """
        self._papers[number] = shown
        for field, words in enumerate((*fields, labels)):
            for word in words:
                self._postings.setdefault(word, array("I")).append(4 * number + field % FIELDS)
            self._held += len(words)
        if self._held >= _MAX_IN_MEMORY:
            self._spill()

    def _spill(self) -> None:
        path = self._scratch / f"{len(self._parts)}"
        with path.open("wb") as file:
            for word in sorted(self._postings, key=_in_order):
                pickle.dump((word, self._postings[word]), file)
        self._parts.append(path)
        self._postings = {}
        self._held = 0

    def _read_words(self) -> Iterator[tuple[str, list[int]]]:
        """Yield the words in order, each with all its postings, ascending."""
        self._spill()
        parts = heapq.merge(*map(_read_part, self._parts), key=lambda each: _in_order(each[0]))
        for word, group in groupby(parts, itemgetter(0)):
            yield word, sorted(posting for _, postings in group for posting in postings)

    def write(self, write: Write, choices: Mapping[str, object]) -> None:
        """Write all files.

        Args:
            write: Writes one file.
            choices: Further content of the directory of words, which each search loads.
        """
        firsts: list[str] = []
        chunk: list[Sequence[object]] = []
        length = frequent = 0
        for word, postings in self._read_words():
            entry, frequent = self._make_entry(word, postings, frequent, write)
            chunk.append(entry)
            length += len(json.dumps(entry))
            if length >= _CHUNK_CHARACTERS:
                _write_chunk(chunk, firsts, write)
                chunk, length = [], 0
        if chunk:
            _write_chunk(chunk, firsts, write)
        for first in range(0, len(self._papers), PAPERS_PER_FILE):
            shown = [self._papers[number] for number in range(first, min(first + PAPERS_PER_FILE, len(self._papers)))]
            name = f"d/{first // PAPERS_PER_FILE}"
            write(f"search/{name}.js", delivery(name, shown))
        sizes = {"papers": len(self._papers), "perFile": PAPERS_PER_FILE, "span": SPAN}
        write("search/words.js", delivery("words", {**sizes, **choices, "firsts": firsts}))

    def _make_entry(
        self, word: str, postings: Sequence[int], frequent: int, write: Write
    ) -> tuple[Sequence[object], int]:
        """Return the entry of a word and the number of files of frequent words so far.

        An entry is the word, its number of papers, and either its lists or a span, a file and its size for each span
        in which it occurs.
        """
        lists = _encode_fields(postings)
        if len(lists) <= _FREQUENT_CHARACTERS:
            return [word, len(postings), lists], frequent
        files: list[tuple[int, int, int]] = []
        for span, group in groupby(postings, lambda posting: posting // 4 // SPAN):
            name = f"l/{frequent}"
            content = delivery(name, _encode_fields(list(group), span * SPAN))
            write(f"search/{name}.js", content)
            files.append((span, frequent, len(content)))
            frequent += 1
        return [word, len(postings), files], frequent


def _read_part(path: Path) -> Iterator[tuple[str, "array[int]"]]:
    with path.open("rb") as file:
        while True:
            try:
                yield pickle.load(file)
            except EOFError:
                return


def _write_chunk(chunk: Sequence[Sequence[object]], firsts: list[str], write: Write) -> None:
    name = f"w/{len(firsts)}"
    write(f"search/{name}.js", delivery(name, chunk))
    firsts.append(str(chunk[0][0]))

"""Write the search index of a site: small script files, of which a search loads only those of its words.

Every file is a script that delivers JSON. Pages from a USB stick may load scripts beside them but fetch nothing, and a
page that fetches nothing needs no right to. The file of a word is computed from the word, so that no list of files
has to be loaded first.
"""

import base64
import heapq
import json
import pickle
import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, nullcontext
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO

from peercorpus.explorer.site.search_words import PaperWords

_BLOCK = 64
"""Gaps that share one parameter of the code."""
_MAX_PARAMETER = 15
_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def encode_count(count: int) -> str:
    """Return a number in digits of five bits, the lowest first; all but the last are from the upper half.

    >>> encode_count(3), encode_count(100)
    ('D', 'kD')
    """
    digits = []
    while count >= 32:
        digits.append(_DIGITS[32 + count % 32])
        count //= 32
    return "".join(digits) + _DIGITS[count]


def encode_lists(lists: Sequence[Sequence[int]]) -> str:
    """Return lists of ascending numbers as text: the length of each, then the gaps of all as one run of bits.

    Each 64 gaps begin with the parameter of their code in four bits. A gap is as many ones as it has multiples of two
    to the power of the parameter, a zero, and the rest in as many bits as the parameter says.

    >>> encode_lists([[0, 1, 2], [], [40]])
    'DABAJo'
    """
    counts = "".join(encode_count(len(numbers)) for numbers in lists)
    bits = "".join(piece for numbers in lists for piece in _encode_gaps(numbers))
    whole = bits.ljust(-(-len(bits) // 24) * 24, "0")
    packed = int(whole or "0", 2).to_bytes(len(whole) // 8)
    return counts + base64.urlsafe_b64encode(packed).decode()[: -(-len(bits) // 6)]


def _encode_gaps(numbers: Sequence[int]) -> Iterator[str]:
    gaps = [after - before - 1 for before, after in zip([-1, *numbers], numbers, strict=False)]
    for start in range(0, len(gaps), _BLOCK):
        block = gaps[start : start + _BLOCK]
        parameter = _choose_parameter(block)
        yield f"{parameter:04b}"
        if parameter:
            low = (1 << parameter) - 1
            yield "".join([f"{'1' * (gap >> parameter)}0{gap & low:0{parameter}b}" for gap in block])
        else:
            yield "".join(["1" * gap + "0" for gap in block])


def _choose_parameter(gaps: Sequence[int]) -> int:
    """Return the parameter with which gaps take the fewest bits."""
    near = (sum(gaps) // len(gaps)).bit_length()
    choices = range(max(0, min(near - 2, _MAX_PARAMETER)), min(near, _MAX_PARAMETER) + 1)
    return min(choices, key=lambda parameter: parameter * len(gaps) + sum([gap >> parameter for gap in gaps]))


FIELDS = 3
"""Title, keywords and authors; abstract; reviews and other posts."""
_LAST_FIELD = FIELDS - 1
PAPERS_PER_FILE = 8
"""Papers in a file of `search/d`: each result needs one, and they are seldom neighbours."""
FILES_PER_FOLDER = 1_000
_PAPERS_PER_WORD_FILE, _MOST_WORD_FILES = 4, 16_384
_PAPERS_PER_ID_FILE, _MOST_ID_FILES = 32, 2_048
_PAPERS_PER_SPELLING_FILE, _MOST_SPELLING_FILES = 64, 512
_MAX_COPY_CHARACTERS = 1_500
"""A compound with longer lists is not copied to the file of its first part, which refers to its own file instead."""
_LEAST_COMPOUND = 2
"""Papers that a compound must be in to have an entry, if it is written with hyphens only, in no title and no abstract:
its parts have theirs anyway."""
_MAX_IN_MEMORY = 4_000_000
"""Occurrences that are sorted in memory; more are sorted in parts, which are joined on disk."""
_MOST_SPELLINGS = 60_000
"""Words that are suggested for misspelt ones: the most frequent."""
_SPOOLS = 64
"""Files in which entries are put aside, so that those of some files at a time are in memory."""
_MAX_COUNTED = 1_000_000
"""Spellings that are counted in memory; beyond that those that occur once so far are forgotten."""

Write = Callable[[str, bytes], None]
"""Writes a file of the site, by its path."""


def delivery(name: str, content: object) -> bytes:
    """Return a script that delivers JSON, in ASCII; `<` is escaped, so that it could be in a page too."""
    text = json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")
    return f"deliver({json.dumps(name)},{text});\n".encode("ascii")


def choose_file(word: str, files: int) -> int:
    """Return the number of the file of a word or id: its CRC-32, modulo the number of files.

    >>> choose_file("kite", 1024)
    660
    """
    return zlib.crc32(word.encode("utf-8", "surrogatepass")) % files


def encode_entry(postings: Sequence[int], papers: int) -> str:
    """Return the papers of a word as text: one list for each field.

    Of a word in more than half of the papers the lists are, after a tilde, those with it in the first field, none, and
    those that lack it: whether the abstract has such a word says little.

    >>> encode_entry([0, 4, 9], 5) == "~" + encode_lists([[0, 1], [], [3, 4]])
    True

    Args:
        postings: Four times the number of each paper, plus the field, ascending.
        papers: Number of all papers.
    """
    lists: list[list[int]] = [[] for _ in range(FIELDS)]
    for posting in postings:
        lists[posting % 4].append(posting // 4)
    if 2 * len(postings) <= papers:
        return encode_lists(lists)
    missing = set(range(papers)).difference(*lists)
    return f"~{encode_lists([lists[0], [], sorted(missing)])}"


def _count_files(papers: int, papers_per_file: int, most: int) -> int:
    """Return a power of two."""
    return min(most, 1 << max(0, papers // papers_per_file).bit_length())


class SearchIndex:
    """Collects the words of papers, and writes the files from which a page searches them.

    Papers have numbers from 0, in the order in which they are listed among equals. They may be added in any order.
    """

    def __init__(self, scratch: Path, papers: int) -> None:
        """Collect words of a number of papers; whoever made the folder for sorted parts removes it."""
        self._scratch = scratch
        self._word_files = _count_files(papers, _PAPERS_PER_WORD_FILE, _MOST_WORD_FILES)
        self._id_files = _count_files(papers, _PAPERS_PER_ID_FILE, _MOST_ID_FILES)
        self._spelling_files = _count_files(papers, _PAPERS_PER_SPELLING_FILE, _MOST_SPELLING_FILES)
        self._postings: dict[str, array[int]] = {}
        self._held = 0
        self._parts: list[Path] = []
        self._papers: dict[int, Sequence[Any]] = {}
        self._ids: list[tuple[int, str, object]] = []
        self._compounds: dict[str, set[str]] = {}
        self._solid: set[str] = set()
        self._spellings: Counter[str] = Counter()

    @property
    def sizes(self) -> dict[str, int]:
        """The data that a page needs to find the file of a word, an id, a spelling or a paper."""
        return {
            "papers": len(self._papers),
            "words": self._word_files,
            "ids": self._id_files,
            "spellings": self._spelling_files,
            "perFile": PAPERS_PER_FILE,
            "perFolder": FILES_PER_FOLDER,
        }

    def add(self, number: int, words: PaperWords, ids: Mapping[str, str], shown: Sequence[Any]) -> None:
        """Add a paper.

        Args:
            number: Its number.
            words: Its words.
            ids: The ids by which it is found, its own and those of notes, each with the anchor on its page.
            shown: Its data in a list of results, as JSON.
        """
        self._papers[number] = shown
        for field, stems in enumerate(words.fields):
            for stem in stems:
                self._postings.setdefault(stem, array("I")).append(4 * number + field)
            self._held += len(stems)
        for record_id, anchor in ids.items():
            self._ids.append(
                (choose_file(record_id, self._id_files), record_id, [number, anchor] if anchor else number)
            )
        for whole, firsts in words.compounds.items():
            self._compounds.setdefault(whole, set()).update(firsts)
        self._solid |= words.solid
        self._spellings.update(words.spelt)
        if len(self._spellings) > _MAX_COUNTED:
            self._spellings = Counter({word: count for word, count in self._spellings.items() if count > 1})
        if self._held >= _MAX_IN_MEMORY:
            self._spill()

    def _spill(self) -> None:
        path = self._scratch / f"{len(self._parts)}"
        with path.open("wb") as file:
            for word in sorted(self._postings):
                pickle.dump((word, self._postings[word]), file)
        self._parts.append(path)
        self._postings = {}
        self._held = 0

    def _read_words(self) -> Iterator[tuple[str, list[int]]]:
        """Yield the words in order, each with all its postings, ascending."""
        self._spill()
        parts = heapq.merge(*map(_read_pickles, self._parts), key=itemgetter(0))
        for word, group in groupby(parts, itemgetter(0)):
            yield word, sorted(posting for _, postings in group for posting in postings)

    def write(self, write: Write) -> None:
        """Write all files."""
        with ExitStack() as stack:
            spools = [stack.enter_context((self._scratch / f"spool-{n}").open("w+b")) for n in range(_SPOOLS)]
            for word, entry, firsts in self._make_entries():
                self._spool(word, entry, firsts, spools)
            for number, spool in enumerate(spools):
                spool.seek(0)
                self._write_words(number, _read_pickles(spool), write)
        self._write_ids(write)
        self._write_spellings(write)
        for first in range(0, len(self._papers), PAPERS_PER_FILE):
            shown = [self._papers[number] for number in range(first, min(first + PAPERS_PER_FILE, len(self._papers)))]
            _write_file("d", first // PAPERS_PER_FILE, shown, write)

    def _make_entries(self) -> Iterator[tuple[str, str, Set[str]]]:
        """Yield the words, each with the papers that have it, and the first parts in whose files it is found too.

        A compound of a single paper is found there by its parts.
        """
        for word, postings in self._read_words():
            firsts: Set[str] = self._compounds.get(word, frozenset())
            if len(postings) >= _LEAST_COMPOUND or not firsts:
                yield word, encode_entry(postings, len(self._papers)), firsts
            elif word in self._solid or postings[0] % 4 < _LAST_FIELD:
                yield word, encode_entry(postings, len(self._papers)), frozenset()

    def _spool(self, word: str, entry: str, firsts: Set[str], spools: Sequence[BinaryIO]) -> None:
        """Put an entry aside for its file; that of a compound for the files of its first parts as well.

        A part of a name with an initial is in the file of the part (`search_words`).
        """
        own = choose_file(word.partition(".")[0], self._word_files)
        pickle.dump((own, word, entry), spools[own % _SPOOLS])
        copy = entry if len(entry) <= _MAX_COPY_CHARACTERS else ""
        for other in sorted({choose_file(first, self._word_files) for first in firsts} - {own}):
            pickle.dump((other, word, copy), spools[other % _SPOOLS])

    def _write_words(self, number: int, spooled: Iterator[tuple[int, str, str]], write: Write) -> None:
        by_file: dict[int, dict[str, str]] = {place: {} for place in range(number, self._word_files, _SPOOLS)}
        for place, word, entry in spooled:
            by_file[place][word] = entry
        for place, entries in by_file.items():
            _write_file("w", place, entries, write)

    def _write_ids(self, write: Write) -> None:
        """Write the files of ids: the number of the paper, and the anchor of a post on its page."""
        by_file: list[dict[str, object]] = [{} for _ in range(self._id_files)]
        for place, record_id, found in self._ids:
            by_file[place][record_id] = found
        for place, ids in enumerate(by_file):
            _write_file("i", place, ids, write)

    def _write_spellings(self, write: Write) -> None:
        """Write the files of spellings: by first letter and length, also of one letter less or more, with counts."""
        groups: dict[str, list[str]] = {}
        frequent = sorted(self._spellings.items(), key=lambda item: (-item[1], item[0]))[:_MOST_SPELLINGS]
        for word, count in frequent:
            for length in range(len(word) - 1, len(word) + 2):
                groups.setdefault(f"{word[0]}{length}", []).append(f"{word}:{count}")
        by_file: list[dict[str, str]] = [{} for _ in range(self._spelling_files)]
        for group, words in sorted(groups.items()):
            by_file[choose_file(group, self._spelling_files)][group] = " ".join(words)
        for place, content in enumerate(by_file):
            _write_file("s", place, content, write)


def _read_pickles(source: Path | BinaryIO) -> Iterator[Any]:
    with source.open("rb") if isinstance(source, Path) else nullcontext(source) as file:
        while True:
            try:
                yield pickle.load(file)
            except EOFError:
                return


def _write_file(kind: str, place: int, content: object, write: Write) -> None:
    name = f"{kind}/{place // FILES_PER_FOLDER}/{place}"
    write(f"search/{name}.js", delivery(name, content))

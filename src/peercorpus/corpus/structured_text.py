"""A text with its blocks: read parts of it and its list of references, and resolve what its sentences refer to."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec

from peercorpus.records.blocks import BibliographyEntry, Mention, TextBlock
from peercorpus.records.documents import PAGE_BREAK
from peercorpus.records.enums import BlockKind

YEAR = r"(?:19|20)\d{2}[a-z]?"
"""Matches a year with the letter that distinguishes entries of the same year."""
_YEAR_IN_ENTRY = re.compile(rf"(?<![\d.:/\u2013-])({YEAR})(?![\w/\u2013-]|\.\d)")
_YEAR_IN_BRACKETS = re.compile(rf"[(\[]({YEAR})[)\],]")
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>{}|^`]{1,400}")
_URL = re.compile(r"https?://[^\s<>\"{}|^`]{1,2000}")
_LINK_END = ".,;:)]}*'"
"""Characters that end a sentence or a bracket rather than a URL."""
_LABEL = re.compile(r"\\?\[[^\]]{1,14}\\?\]\s*|\d{1,3}\.\s+|<sup>\d{1,3}</sup>\s*|\(\d{1,3}\)\s+")
_FIRST_AUTHOR_END = re.compile(r",|;| and | & |\bet al\b|(?<=\w{3})\.(?=\s|$)|[(\[]")
_TWO_AUTHORS = re.compile(r"[^,;]+?(?:,(?:\s*[A-Z]\.-?)+)?,?\s(?:and|&)\s")
"""Matches the beginning of an entry with two authors: the word "and" follows the first."""
_MAX_AUTHORS_CHARACTERS = 400
"""Number of characters at the start of an entry that are searched for authors."""


def read_bibliography(markdown: str, blocks: Iterable[TextBlock]) -> list[BibliographyEntry]:
    """Return the entries of the list of references, with the facts that they state."""
    return [_read_entry(markdown, block) for block in blocks if block.kind is BlockKind.ENTRY]


def _read_entry(markdown: str, block: TextBlock) -> BibliographyEntry:
    text = markdown[block.start : block.end].replace("\\", "")
    doi = _DOI.search(text)
    return BibliographyEntry(
        block_id=block.block_id,
        number=block.number,
        year=next(iter(_find_years(text)), None),
        doi=_trim_link(doi[0]) if doi else None,
        urls=tuple(dict.fromkeys(map(_trim_link, _URL.findall(text)))),
    )


def _trim_link(link: str) -> str:
    """Return a URL without trailing punctuation; a closing bracket stays if it was opened.

    >>> _trim_link("10.1000/a(b)."), _trim_link("https://a.example/b).")
    ('10.1000/a(b)', 'https://a.example/b')
    """
    while link.endswith(tuple(_LINK_END)) and not (link.endswith(")") and link.count("(") >= link.count(")")):
        link = link[:-1]
    return link


def _find_years(text: str) -> list[str]:
    """Return the years of an entry, starting with that of its publication: the one in brackets, or the last one."""
    bracketed = _YEAR_IN_BRACKETS.findall(text)[:1]
    years = _YEAR_IN_ENTRY.findall(text)
    return list(dict.fromkeys([*bracketed, *reversed(years)]))


def fold_letters(text: str) -> str:
    """Return a text in lower case and without accents."""
    folded = text.casefold()
    if folded.isascii():
        return folded
    return "".join(sign for sign in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(sign))


def fold_name(name: str) -> str:
    """Return a name in a form for comparison: letters in lower case without accents, single spaces.

    >>> fold_name("Müller-Lüdenscheidt,  J.")
    'muller ludenscheidt j'
    """
    return " ".join(re.findall(r"[^\W_]+", fold_letters(name)))


@dataclass(frozen=True, slots=True)
class _Entry:
    """The parts of an entry that citations name: years (that of publication first), folded first words, two authors."""

    block_id: int
    years: Sequence[str]
    authors: str
    has_two_authors: bool


class Bibliography:
    """Finds the entries that citations name; `is_empty` if none was recognised."""

    def __init__(self, markdown: str, blocks: Iterable[TextBlock]) -> None:
        self.by_number: defaultdict[str, list[int]] = defaultdict(list)
        self.is_empty = True
        self._by_name: defaultdict[str, list[_Entry]] = defaultdict(list)
        for block in blocks:
            if block.kind is BlockKind.ENTRY:
                self.is_empty = False
                if block.number is not None:
                    self.by_number[block.number].append(block.block_id)
                self._add(block.block_id, markdown[block.start : block.end])

    def _add(self, block_id: int, text: str) -> None:
        label = _LABEL.match(text)
        text = re.sub(r"[\\*]", "", text[label.end() if label else 0 :])
        head = text[:_MAX_AUTHORS_CHARACTERS]
        end = _FIRST_AUTHOR_END.search(head)
        first = fold_name(head[: end.start()] if end else head)
        entry = _Entry(block_id, _find_years(text), fold_name(head), bool(_TWO_AUTHORS.match(head)))
        for name in _names_of(first):
            self._by_name[name].append(entry)

    def find(self, first: str, second: str, year: str) -> list[int]:
        """Return the entries that a citation may mean: one if it is unambiguous, none, or several.

        If several entries fit, those published in that year are preferred, and among these the ones with two authors if
        two are named, otherwise the others.
        """
        other = f" {fold_name(second)} "
        entries = [
            entry
            for entry in self._by_name.get(fold_name(first), ())
            if year in entry.years and (not second or other in f" {entry.authors} ")
        ]
        entries = [entry for entry in entries if entry.years[0] == year] or entries
        entries = [entry for entry in entries if entry.has_two_authors == bool(second)] or entries
        return [entry.block_id for entry in entries]


def _names_of(author: str) -> Iterator[str]:
    """Yield the names by which an author may be cited: the last words of the name, or all words before the initials.

    >>> list(_names_of("aaron van den oord"))
    ['aaron van den oord', 'van den oord', 'den oord', 'oord']
    >>> list(_names_of("devlin j m"))
    ['devlin j m', 'j m', 'm', 'devlin']
    """
    words = author.split()
    yield from (" ".join(words[start:]) for start in range(len(words)))
    names = [word for word in words if len(word) > 1]
    if names and len(names) < len(words) and words[: len(names)] == names:
        yield " ".join(names)


@dataclass(frozen=True)
class StructuredText:
    """A text with its blocks. The references in its sentences are found on first access."""

    markdown: str
    blocks: tuple[TextBlock, ...]

    @cached_property
    def mentions(self) -> tuple[Mention, ...]:
        """Citations, and mentions of formulas, figures, tables, algorithms and sections, in the order of the text."""
        from peercorpus.corpus.mentions import find_mentions  # Compiling its expressions takes 15 ms.

        return tuple(find_mentions(self.markdown, self.blocks))

    @cached_property
    def bibliography(self) -> tuple[BibliographyEntry, ...]:
        """Entries of the list of references, in order."""
        return tuple(read_bibliography(self.markdown, self.blocks))

    def read(self, part: TextBlock | Mention) -> str:
        """Return the Markdown of a block, or the words of a mention."""
        return self.markdown[part.start : part.end]

    def of_kind(self, kind: BlockKind | str) -> list[TextBlock]:
        """Return the blocks of a kind, such as "formula"."""
        return [block for block in self.blocks if block.kind == kind]

    def find_target(self, mention: Mention) -> TextBlock | None:
        """Return the block that a mention refers to; None if unknown."""
        return None if mention.target is None else self.blocks[mention.target]

    def find_mentions_of(self, block: TextBlock) -> list[Mention]:
        """Return the references to a block: the citations of an entry, or the mentions of a caption."""
        return [mention for mention in self.mentions if mention.target == block.block_id]

    def find_headings(self, block: TextBlock) -> list[TextBlock]:
        """Return the headings above a block, from the section's heading downwards; empty before the first heading."""
        above: list[TextBlock] = []
        for heading in reversed(self.blocks[: block.block_id]):
            if heading.level is not None and (not above or heading.level < (above[0].level or 0)):
                above.insert(0, heading)
        return above

    def is_whole(self) -> bool:
        """Return whether the blocks form the whole Markdown in order, with nothing else between them."""
        at = 0
        for block in self.blocks:
            if not at <= block.start <= block.end or _has_words(self.markdown[at : block.start]):
                return False
            at = block.end
        return at <= len(self.markdown) and not _has_words(self.markdown[at:])


def _has_words(between: str) -> bool:
    return bool(between.replace(PAGE_BREAK, "").strip())


def convert_blocks(blocks: Sequence[Mapping[str, object]]) -> tuple[TextBlock, ...]:
    """Return blocks as records that were read as dictionaries, from JSON or from a table."""
    return msgspec.convert(blocks, tuple[TextBlock, ...])

"""Find the features of a text that may reveal a decision: phrases, fixed signs and lengths; show examples.

Phrases are counted by checksum in bounded memory, and names of people are hidden in examples.
"""

import re
from array import array
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

from peercorpus.audit.papers import AuditedPaper
from peercorpus.audit.predictors import Feature, FeatureKind, pack_bits
from peercorpus.records.documents import PAGE_BREAK
from peercorpus.wording.untrusted_text import EMAIL_PATTERN, redact_people

FIRST_PAGE_CHARACTERS = 3_000
_MIN_LINE_NUMBERS = 15
"""Fewest consecutive numbers at the edges of lines that count as line numbers."""

ON_FIRST_PAGE = (
    *("anonymous author", "double-blind review", "under review as", "under review", "submitted to", "preprint"),
    *("do not distribute", "published as a conference paper", "published in", "accepted at", "accepted to"),
    *("accepted by", "to appear in", "proceedings of", "copyright", "\u00a9", "equal contribution"),
    *("corresponding author", "correspondence to", "university", "institute", "department of"),
)
"""Phrases that show a template or the authors; case does not matter."""
ANYWHERE = (
    *("acknowledgement", "acknowledgment", "supported by", "funded by", "author contributions"),
    *("reproducibility statement", "ethics statement", "camera-ready", "camera ready", "github.com"),
    *("anonymous.4open.science", "huggingface.co", "openreview.net", "published as a conference paper at"),
)
EMAIL_SIGN, LINES_SIGN, MISSING_SIGN = "e-mail address on the first page", "line numbers", "missing text"
PRESENCES = (
    *(f"first page says \u201c{phrase}\u201d" for phrase in ON_FIRST_PAGE),
    *(f"says \u201c{phrase}\u201d" for phrase in ANYWHERE),
    *(EMAIL_SIGN, LINES_SIGN, MISSING_SIGN),
)
"""The fixed features that a paper has or lacks, in the order of the bits of `Facts.presences`."""
NUMBERS = ("length in characters", "page count", "words before the abstract")
AUTHOR_BLOCK = "author block"

ABSTRACT = re.compile(r"\babstract\b", re.IGNORECASE)
AFFILIATION = re.compile(
    r"universit|institut|department|laborator|school of|college|academy|\bresearch\b|google|microsoft|\bmeta\b|deepmind"
    r"|nvidia|openai|\binc\b|equal contribution",
    re.IGNORECASE,
)
ADDRESS = re.compile(rf"{EMAIL_PATTERN.pattern}|\}}@\w")
AT_AN_EDGE = re.compile(r"^\W*(\d{1,4})\b|\b(\d{1,4})\W*$")
_BLOCK_CHARACTERS = 2_000


class Facts(NamedTuple):
    """The fixed features of one row.

    Attributes:
        numbers: The values of `NUMBERS`, in order; 0 for a missing text.
        presences: One bit for each of `PRESENCES`.
        categories: The value of each feature that can have more than two: the author block and the row's own traits.
    """

    numbers: tuple[int, ...]
    presences: int
    categories: dict[str, str]


def has_line_numbers(page: str) -> bool:
    r"""Return whether the lines are numbered, as in submission templates.

    >>> has_line_numbers("\n".join(f"{number:03} words" for number in range(40))), has_line_numbers("1\n2\n3")
    (True, False)
    """
    last = -1
    run = 0
    for line in page.splitlines():
        match = AT_AN_EDGE.search(line.strip())
        if match is None:
            continue
        number = int(match[1] or match[2])
        if number == last + 1:
            run += 1
            if run >= _MIN_LINE_NUMBERS:
                return True
        elif not last < number < last + _MIN_LINE_NUMBERS:
            run = 0
        else:
            continue
        last = number
    return False


def author_block(page: str) -> str:
    r"""Return what the text between title and abstract shows: `anonymous`, `named` or `none` (neither).

    >>> author_block("A title\nAnonymous authors\nAbstract"), author_block("A title\nUniversity of Kites\nAbstract")
    ('anonymous', 'named')
    """
    block = ABSTRACT.split(page[:_BLOCK_CHARACTERS], maxsplit=1)[0]
    if "anonymous" in block.lower():
        return "anonymous"
    return "named" if ADDRESS.search(block) or AFFILIATION.search(block) else "none"


def words_before_abstract(page: str) -> int:
    r"""Return the number of words before the abstract (author names raise it); 0 without an abstract.

    >>> words_before_abstract("A title\nAda Example\nAbstract\nWords."), words_before_abstract("A title")
    (4, 0)
    """
    before, *after = ABSTRACT.split(page, maxsplit=1)
    return len(before.split()) if after else 0


def _find_presences(text: str) -> int:
    lowered = " ".join(text.lower().split())
    head = " ".join(text[:FIRST_PAGE_CHARACTERS].lower().split())
    first_page = text.split(PAGE_BREAK, maxsplit=1)[0][: 3 * FIRST_PAGE_CHARACTERS]
    are_present = [
        *(phrase in head for phrase in ON_FIRST_PAGE),
        *(phrase in lowered for phrase in ANYWHERE),
        ADDRESS.search(text[:FIRST_PAGE_CHARACTERS]) is not None,
        has_line_numbers(first_page),
        not text,
    ]
    return pack_bits(are_present)


def read_facts(row: AuditedPaper) -> Facts:
    """Return the fixed features of one row."""
    # Texts of other corpora separate pages by a form feed, or do not mark them at all.
    pages = max(row.text.count(PAGE_BREAK), row.text.count("\f")) + 1 if row.text else 0
    block = author_block(row.text[:FIRST_PAGE_CHARACTERS]) if row.text else "no text"
    numbers = len(row.text), pages, words_before_abstract(row.text[:FIRST_PAGE_CHARACTERS])
    return Facts(numbers, _find_presences(row.text), {AUTHOR_BLOCK: block, **row.traits})


def feature_words(presence: str) -> str | None:
    """Return the words that a fixed feature looks for; None if it does not look for words."""
    phrase = presence.partition("\u201c")[2].rstrip("\u201d")
    return phrase or None


HEAD_CHARACTERS = 3_000
TAIL_CHARACTERS = 3_000
_MAX_PHRASE_WORDS = 4
_COUNTER_CELLS = 1 << 22
"""Cells of the table that counts phrases by checksum (16 MiB); phrases in one cell are counted together."""
MOST_PHRASES = 10_000
"""Largest number of cells whose phrases are tried."""
FEWEST_ROWS = 3
"""Fewest rows that must have a phrase, and fewest that must lack it."""
LOWER_SHARE = 0.1
"""Smallest share of the rows containing a word that must have it in lower case; otherwise it may be a name."""

CAPITALISED = frozenset(
    {
        *("abstract", "introduction", "acknowledgement", "acknowledgements", "acknowledgment", "acknowledgments"),
        *("references", "appendix", "anonymous", "published", "proceedings", "conference", "copyright", "preprint"),
        *("iclr", "icml", "neurips", "nips", "aaai", "acl", "emnlp", "naacl", "eacl", "cvpr", "iccv", "eccv"),
        *("aistats", "uai", "colt", "tmlr", "ieee", "acm", "arxiv"),
    }
)
ADDRESSES_CHARACTERS = 400
ADDRESSES = re.compile(
    rf"\{{[^{{}}]{{0,{ADDRESSES_CHARACTERS}}}\}}\s?@\s?\S*|(?<!\S)\([^()]{{0,{ADDRESSES_CHARACTERS}}}\)\s?@\s?\S*"
    r"|(?<!\S)\S*\s?@\s?\S*"
)
"""Matches one address, or several as in `{ada, bob}@kites.example`."""
LINK = re.compile(r"~\w+|(?:https?://|www\.|github\.com/|gitlab\.com/|orcid\.org/)\S*", re.IGNORECASE)
WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
YEAR = re.compile(r"(?:19|20)\d\d")


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _clean(text: str, start: int, end: int) -> str:
    """Return a part of a text without addresses, accounts and links, including those that cross its edges."""
    first = max(0, start - ADDRESSES_CHARACTERS)
    part = LINK.sub(_blank, ADDRESSES.sub(_blank, text[first : end + ADDRESSES_CHARACTERS]))
    return part[start - first : end - first]


def edges(text: str) -> list[str]:
    """Return the beginning and the end of a text, cleaned and without overlap."""
    end = min(HEAD_CHARACTERS, len(text))
    parts = (0, end), (max(end, len(text) - TAIL_CHARACTERS), len(text))
    return [_clean(text, *part) for part in parts if part[0] < part[1]]


def _find_words(part: str) -> list[str]:
    """Return the words of a part; numbers count only if they are years, as line numbers are not words."""
    return [word for word in WORD.findall(part) if not word.isdigit() or YEAR.fullmatch(word)]


def phrases_of(text: str) -> set[str]:
    """Return the phrases of the beginning and the end of a text.

    >>> sorted(phrases_of("Anonymous authors 017"))
    ['anonymous', 'anonymous authors', 'authors']
    """
    return _collect_phrases([_find_words(part) for part in edges(text)])


def _collect_phrases(parts: list[list[str]]) -> set[str]:
    phrases = set[str]()
    for words in parts:
        lowered = [word.lower() for word in words]
        for length in range(1, _MAX_PHRASE_WORDS + 1):
            phrases.update(map(" ".join, zip(*(lowered[start:] for start in range(length)), strict=False)))
    return phrases


def _hash_to_cell(phrase: str) -> int:
    return crc32(phrase.encode("utf-8", "surrogatepass")) & (_COUNTER_CELLS - 1)


class PhraseCounter:
    """Counts of the rows that have each phrase, by checksum; independent of the order of the rows."""

    def __init__(self) -> None:
        self._counts = array("I", bytes(4 * _COUNTER_CELLS))
        self._lower = array("I", bytes(4 * _COUNTER_CELLS))

    def add(self, text: str) -> None:
        """Count the phrases of one row."""
        parts = [_find_words(part) for part in edges(text)]
        for phrase in _collect_phrases(parts):
            self._counts[_hash_to_cell(phrase)] += 1
        for word in {word for words in parts for word in words if word.islower() or YEAR.fullmatch(word)}:
            self._lower[_hash_to_cell(word)] += 1

    def choose(self, rows: int, fewest: int) -> "TriedPhrases":
        """Return the phrases to try, those nearest to half of the rows first.

        The choice does not depend on the decisions, so that shuffled decisions are tried on the same phrases.

        Args:
            rows: All rows.
            fewest: Fewest rows that must have a phrase, and that must lack it; at least `FEWEST_ROWS`.
        """
        fewest = max(FEWEST_ROWS, fewest)
        cells = [cell for cell, count in enumerate(self._counts) if fewest <= count <= rows - fewest]
        cells.sort(key=lambda cell: (abs(2 * self._counts[cell] - rows), cell))
        return TriedPhrases(cells=cells[:MOST_PHRASES], eligible=len(cells), counts=self._counts, lower=self._lower)


class TriedPhrases:
    """The phrases to try, by their checksums.

    Attributes:
        left_out: Number of checksums that are frequent enough but not tried, as there are too many.
    """

    def __init__(self, cells: list[int], eligible: int, counts: "array[int]", lower: "array[int]") -> None:
        self.left_out = eligible - len(cells)
        self._allowed = bytearray(_COUNTER_CELLS)
        for cell in cells:
            self._allowed[cell] = 1
        self._counts = counts
        self._lower = lower
        self._is_ordinary = lru_cache(maxsize=100_000)(self._check_ordinary)

    def _check_ordinary(self, word: str) -> bool:
        cell = _hash_to_cell(word)
        return word in CAPITALISED or self._lower[cell] > LOWER_SHARE * self._counts[cell]

    def of(self, text: str) -> Iterator[str]:
        """Yield the phrases of a text that are tried."""
        for phrase in phrases_of(text):
            if self._allowed[_hash_to_cell(phrase)] and all(map(self._is_ordinary, phrase.split(" "))):
                yield phrase


CONTEXT_CHARACTERS = 120
CAPITAL = re.compile(r"(?<![^\W_])[^\W\d_a-z][^\W_]*(?:['\u2019-][^\W_]+)*")
"""Matches a word that does not begin with a small Latin letter; as it may be a name, it is hidden."""
HIDDEN = "[\u2026]"
HIDDEN_IN_A_ROW = re.compile(r"\[\u2026\](?:[\W\d_]*\[\u2026\])+")
SHOWN = CAPITALISED | {
    *("a", "an", "the", "this", "that", "these", "we", "our", "it", "in", "on", "at", "to", "of", "for", "from", "by"),
    *("as", "and", "or", "but", "not", "no", "is", "are", "see", "if", "when", "while", "with", "under", "review"),
    *("paper", "papers", "author", "authors", "double", "double-blind", "blind", "submitted", "accepted", "workshop"),
    *("university", "institute", "department", "school", "college", "equal", "contribution", "corresponding"),
    *("supported", "funded", "thank", "code", "figure", "table", "section", "theorem", "camera-ready", "preliminary"),
}
"""Words that are shown even with a capital letter."""
BETWEEN = r"[\W_]+(?:\d+[\W_]+)*"
"""Matches what may be between two words of a phrase, line numbers included."""


class Example(NamedTuple):
    """One paper that has a feature.

    Attributes:
        context: The words around it, or its value; empty if there is nothing to show.
    """

    record_id: str
    accepted: bool
    context: str


def _hide_people(text: str) -> str:
    hidden = CAPITAL.sub(lambda word: word[0] if word[0].casefold() in SHOWN else HIDDEN, str(redact_people(text)))
    return HIDDEN_IN_A_ROW.sub(HIDDEN, hidden)


def show_context(text: str, words: str) -> str:
    """Return the first occurrence of some words with its context, at most `CONTEXT_CHARACTERS` long, with names hidden.

    >>> show_context("Published as a conference paper. Ada Example (ada@example.org) of Kites", "published as")
    'Published as a conference paper. [\u2026] [e-mail] of [\u2026]'
    """
    text = ADDRESSES.sub(" [e-mail] ", text)
    pattern = BETWEEN.join(map(re.escape, words.split())) or r"(?!)"
    match = re.search(pattern, text, re.IGNORECASE)
    if match is None:
        return ""
    start = max(0, match.start() - CONTEXT_CHARACTERS)
    # Only whole words: half a name would not be recognised and therefore not hidden.
    before = text[start : match.start()].partition(" ")[2] if start else text[: match.start()]
    after = text[match.end() : match.end() + CONTEXT_CHARACTERS]
    after = after.rpartition(" ")[0] if match.end() + CONTEXT_CHARACTERS < len(text) else after
    quoted = " ".join(match[0].split())
    before, after = (" ".join(_hide_people(part).split()) for part in (before, after))
    spaced = "" if text[match.end() : match.end() + 1].strip() else " "
    room = max(0, CONTEXT_CHARACTERS - len(quoted) - 2)
    left = before[-(room // 3) :] if room >= 3 else ""
    left = left.partition(" ")[2] if len(left) < len(before) else left
    return f"{left} {quoted}{spaced}{after[: room - len(left)]}".strip()[:CONTEXT_CHARACTERS]


def _format_value(feature: Feature, facts: Facts) -> str:
    if feature.kind is FeatureKind.NUMBER:
        return f"{facts.numbers[NUMBERS.index(feature.name)]:,}"
    if feature.kind is FeatureKind.CATEGORY:
        return str(redact_people(facts.categories.get(feature.name, "")))[:CONTEXT_CHARACTERS]
    return "[e-mail]" if feature.name == EMAIL_SIGN else ""


def make_example(feature: Feature, row: AuditedPaper) -> Example:
    """Return an example of a feature from a paper that has it."""
    if feature.kind is FeatureKind.PHRASE:
        shown = next(filter(None, (show_context(part, feature.name) for part in edges(row.text))), "")
    elif (words := feature_words(feature.name)) is not None:
        shown = show_context(row.text, words)
    else:
        shown = _format_value(feature, read_facts(row))
    return Example(str(redact_people(row.record_id)), row.accepted, shown)

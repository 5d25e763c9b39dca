"""What in the text of a file tells which version of a paper it is: the pages' text → signs.

What the signs are, and what each speaks for, is data: `signs.toml`. Neither names of people nor e-mail addresses leave
this module.
"""

import hashlib
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise

from peercorpus.file_records import Sign
from peercorpus.kinds import FileSays, SignKind
from peercorpus.versions.strength import Strength

FRONT_PAGES = 2
"""The pages on which a style file prints what it prints on the first, or on all."""

WORDS = 200
PAGE_CHARACTERS = 50_000
"""Of a page that are looked at; a full page of two columns has less than 8,000."""

NUMBERED_LINES = 15
"""Lines in a row that are numbered one by one; a numbered list or table in the text is shorter."""

UNSEEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
"""Characters without width, and those that turn the direction of writing."""

NUMBER = {
    "alone": re.compile(r"(\d{1,4})$"),
    "before": re.compile(r"(\d{1,4}) \S"),
    "behind": re.compile(r".*\S (\d{1,4})$"),
}
REFERENCES = re.compile(r"^(?:\d{1,2}\.?\s+)?(?:References|Bibliography)\s*$", re.IGNORECASE | re.MULTILINE)
BEGINS = re.compile(r"^(?:\d{1,2}\.?\s+)?(?:Abstract\b|Introduction\s*$)", re.IGNORECASE | re.MULTILINE)
"""Where the authors' block ends."""

EMAIL = re.compile(r"[^\s@<>]{1,64}@[^\s@<>]{1,253}")
ADDRESS = re.compile(r"[\w.+%}-]{1,64}@(?!(?:domain|example|xxx)\.)[\w-]{1,63}\.\w{2}")
AFFILIATION = re.compile(
    r"\b(?:Universit\w{1,4}|Institut\w{0,2}|College|Laborator\w{1,3}|Department of|School of|Labs|Inc\.)(?!\w)"
)
CORRESPONDENCE = re.compile(r"Corre\W{0,2}spon\W{0,2}dence to:?[^@]{0,200}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a kind of sign speaks for, and how much; the patterns that find it."""

    speaks_for: FileSays
    strength: Strength
    in_front: bool
    words: str | None
    patterns: tuple[re.Pattern[str], ...]


def _meaning(table: dict[str, object]) -> Meaning:
    patterns = table["patterns"]
    assert isinstance(patterns, list)
    return Meaning(
        speaks_for=FileSays(str(table["speaks_for"])),
        strength=Strength(str(table["strength"])),
        in_front=table["where"] == "front",
        words=str(table["words"]) if "words" in table else None,
        patterns=tuple(re.compile(pattern, re.IGNORECASE | re.MULTILINE) for pattern in patterns),
    )


_TEXT = files(__package__).joinpath("signs.toml").read_text(encoding="utf-8")
MEANINGS = {SignKind(kind): _meaning(table) for kind, table in tomllib.loads(_TEXT).items()}
DIGEST = hashlib.sha256(_TEXT.encode()).hexdigest()
"""Stands for this knowledge in the keys of what is found with it."""


def _chain(numbers: Iterable[int]) -> int:
    """The most numbers in a row that go up by one.

    >>> _chain([7, 1, 2, 3, 9])
    3
    """
    longest = length = 1
    for before, after in pairwise(numbers):
        length = length + 1 if after == before + 1 else 1
        longest = max(longest, length)
    return longest


def numbered_places(text: str) -> tuple[str, ...]:
    """Where a page has its lines numbered: "before" or "behind" each, "alone" on lines of their own; none for nowhere.

    Source: pdfium gives the numbers of the margin with the line beside which they stand, or all in one run.
    """
    lines = text.split("\n")
    found = {place: [match for line in lines if (match := pattern.match(line))] for place, pattern in NUMBER.items()}
    return tuple(place for place in NUMBER if _chain(int(match[1]) for match in found[place]) >= NUMBERED_LINES)


def _without_numbers(text: str, places: Sequence[str]) -> str:
    if "before" in places:
        text = re.sub(r"(?m)^\d{1,4} (?=\S)", "", text)
    return re.sub(r"(?m)(?<=\S) \d{1,4}$", "", text) if "behind" in places else text


def _lines(text: str) -> str:
    """The text of a page with one blank between words, none around a line, and no character that shows nothing."""
    seen = UNSEEN.sub("", text[:PAGE_CHARACTERS])
    return "\n".join(" ".join(line.split()) for line in seen.split("\n"))


def _quoted(words: str) -> str:
    return EMAIL.sub("[e-mail]", " ".join(words.split()))[:WORDS]


def _authors(page: int, text: str) -> Iterator[tuple[int, Sign]]:
    """Whether authors are named, and by what; never who they are."""
    end = BEGINS.search(text)
    block = text[: end.start()].partition("\n")[2] if end else ""
    if ADDRESS.search(block):
        yield 0, Sign(SignKind.NAMED_AUTHORS, page, "an e-mail address above the abstract")
    elif AFFILIATION.search(block):
        yield 0, Sign(SignKind.NAMED_AUTHORS, page, "an affiliation above the abstract")
    elif any(ADDRESS.search(text, found.end() - 64, found.end() + 64) for found in CORRESPONDENCE.finditer(text)):
        yield 0, Sign(SignKind.NAMED_AUTHORS, page, "an e-mail address for correspondence")


def _on_page(page: int, text: str) -> Iterator[tuple[int, Sign]]:
    text = _lines(text)
    is_front, places = page <= FRONT_PAGES, numbered_places(text)
    if places and is_front:
        yield 0, Sign(SignKind.LINE_NUMBERS, page, "numbers of the lines in the margin")
    text = _without_numbers(text, places)
    references = REFERENCES.search(text)
    front = text[: references.start()] if references else text
    if page == 1:
        yield from _authors(page, front)
    for kind, meaning in MEANINGS.items():
        if meaning.in_front and not is_front:
            continue
        for match in (pattern.search(front if meaning.in_front else text) for pattern in meaning.patterns):
            if match:
                yield match.start(), Sign(kind, page, meaning.words or _quoted(match[0]))


def read_signs(pages: Sequence[tuple[int, str]]) -> tuple[Sign, ...]:
    """The signs in a file, the first of each kind, in the order in which they stand.

    Where the authors' block is anonymous, an address elsewhere on the page names nobody.

    Args:
        pages: The number of each page, from 1, and its text.
    """
    first: dict[SignKind, Sign] = {}
    for page, text in pages:
        for _, sign in sorted(_on_page(page, text), key=lambda found: found[0]):
            first.setdefault(sign.kind, sign)
    if SignKind.ANONYMOUS_AUTHORS in first:
        first.pop(SignKind.NAMED_AUTHORS, None)
    return tuple(first.values())


def ends_the_text(text: str) -> bool:
    """Whether the references begin on a page: acknowledgements stand right before or right behind them."""
    text = _lines(text)
    return REFERENCES.search(_without_numbers(text, numbered_places(text))) is not None

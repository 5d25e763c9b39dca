"""A paper's text as sections of sentences, by its headings; its references are left out."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from peercorpus.links.asides import lift
from peercorpus.links.lines import Line, read_lines
from peercorpus.links.markdown import Block, Kind, fenced, read_blocks
from peercorpus.links.sentences import Sentence, read_sentences, read_whole

NAMES = (
    r"abstract|introduction|related works?|background|conclusions?|discussion|references|bibliography|appendix|"
    r"appendices|supplementary materials?|acknowl[a-z]{0,6}ments?( and disclosure of funding)?|limitations|funding|"
    r"author contributions?|ethics statement|reproducibility statement|broader impacts?( statement)?|"
    r"impact statement|neurips paper checklist"
)
NAMED = re.compile(rf"((\d{{1,2}}|[A-Z])\.?\s+)?({NAMES})[.:]?$", re.IGNORECASE)
REFERENCES = re.compile(r"(\S+\s+)?(references|bibliography)[.:]?$", re.IGNORECASE)
MARKDOWN = re.compile(r"#{1,6}\s+(?P<title>\S.*)$")
NUMBERED = re.compile(r"(?P<number>(\d{1,2}|[A-Z])(\.\d{1,2}){0,3})\.?\s+(?P<title>[^\W\d_].{1,100})$")
SMALL_WORDS = frozenset(
    (
        *("a", "an", "and", "as", "at", "by", "for", "from", "in", "into", "is", "of", "on", "or", "over", "per"),
        *("the", "to", "under", "via", "vs", "with", "without"),
    )
)
INITIAL = re.compile(r"\b[A-Z]\.")
LONGEST_TITLE = 14
LONGEST_AUTHORS = 1_000
"""What stands before the first heading is the title and authors, line by line, unless it has more characters."""
SKIPPED = 2
"""A heading may count on by so many from the last one: those between were not recognised."""


@dataclass(frozen=True, slots=True)
class Part:
    """A section.

    Attributes:
        heading: As in the text, without Markdown's marks; None for what stands before the first.
    """

    heading: str | None
    sentences: tuple[Sentence, ...]


def read_parts(text: str) -> list[Part]:
    r"""The sections of a text in order, the references left out, and the headings themselves.

    >>> parts = read_parts("On X\nAbstract\nWe do. It is.\nReferences\n[1] Y.")
    >>> [(part.heading, len(part.sentences)) for part in parts]
    [(None, 1), ('Abstract', 2)]
    """
    lines = read_lines(text)
    is_markdown = _has_markdown(lines)
    in_blocks = is_markdown and any(not line.words for line in lines)
    divided = list(_divided(lines, is_markdown=is_markdown))
    has_title = len(divided) > 1 and sum(len(line.words) for line in divided[0][1]) <= LONGEST_AUTHORS
    return [
        Part(heading, tuple(_sentences(body, each=has_title and heading is None, in_blocks=in_blocks)))
        for heading, body in divided
        if heading is None or not REFERENCES.match(heading)
    ]


def _sentences(lines: Sequence[Line], *, each: bool, in_blocks: bool) -> list[Sentence]:
    """What a section says, in order: `each` line by itself, as titles and authors stand, or what blank lines part."""
    if each:
        found = [sentence for line in lines for sentence in read_sentences([line])]
    elif in_blocks:
        found = [sentence for block in read_blocks(lines) for sentence in _of_block(block)]
    else:
        flow, asides = lift(lines)
        found = [sentence for block in (flow, *asides) for sentence in read_sentences(block)]
    return sorted(found, key=lambda sentence: sentence.start)


def _of_block(block: Block) -> Iterator[Sentence]:
    if block.kind in {Kind.ROW, Kind.FORMULA}:
        return read_whole(block.lines, is_row=block.kind is Kind.ROW)
    return read_sentences(block.lines)


def _divided(lines: Sequence[Line], *, is_markdown: bool) -> Iterator[tuple[str | None, list[Line]]]:
    headings = Headings(has_markdown=is_markdown)
    title = _title(lines) if is_markdown else None
    heading: str | None = None
    body: list[Line] = []
    code = fenced(lines) if is_markdown else frozenset()
    for line in lines:
        found = headings.read(line.words) if line is not title and line.start not in code else None
        if found is None:
            body.append(line if line is not title else _unmarked(line))
            continue
        yield heading, body
        heading, body = found, []
    yield heading, body


def _title(lines: Sequence[Line]) -> Line | None:
    """The title of a paper in Markdown: the first heading, of the first order, that is none of a section."""
    first = next((line for line in lines if MARKDOWN.match(line.words)), None)
    if first is None or first.words.startswith("##"):
        return None
    words = _plain(first.words)
    is_numbered = words[:1].isdigit() and NUMBERED.match(words)
    return None if is_numbered or NAMED.match(words) else first


def _unmarked(title: Line) -> Line:
    words = title.words.lstrip("# ")
    return Line(title.start + len(title.words) - len(words), words, title.is_top)


def _has_markdown(lines: Sequence[Line]) -> bool:
    """Whether `#` marks headings: it does where one of them is a usual one."""
    found = (MARKDOWN.match(line.words) for line in lines)
    return any(NAMED.match(_plain(one["title"])) for one in found if one)


def _plain(title: str) -> str:
    return title.strip().strip("*_# ")


class Headings:
    """Tells headings from other lines, in the order of a text: numbered ones must count on."""

    def __init__(self, *, has_markdown: bool) -> None:
        self._has_markdown = has_markdown
        self._top = "0"

    def read(self, words: str) -> str | None:
        """The heading that a line is; None where it is none."""
        if len(words) > 120 or not words:
            return None
        marked = MARKDOWN.match(words) if self._has_markdown else None
        if marked:
            return _plain(marked["title"]) or None
        if NAMED.match(_plain(words)) and not words.islower():
            self._count(words)
            return _plain(words)
        return words if not self._has_markdown and self._is_numbered(words) else None

    def _count(self, words: str) -> None:
        numbered = NUMBERED.match(words)
        if numbered:
            self._top = numbered["number"].partition(".")[0]

    def _is_numbered(self, words: str) -> bool:
        found = NUMBERED.match(words)
        if found is None or not _is_title(found["title"]):
            return False
        top, _, below = found["number"].partition(".")
        if not (top == self._top if below else self._counts_on(top)):
            return False
        self._top = top
        return True

    def _counts_on(self, top: str) -> bool:
        if top.isdigit():
            return self._top.isdigit() and 0 < int(top) - int(self._top) <= SKIPPED
        if self._top == "0":
            return False
        before = ord("A") - 1 if self._top.isdigit() else ord(self._top)
        return 0 < ord(top) - before <= SKIPPED


def _is_title(title: str) -> bool:
    """Whether words are written as a title: in capitals, or each with one, or short; and they end no sentence."""
    if title.isupper():
        title = title.rstrip(".")
    words = title.split()
    if words[-1].casefold() in SMALL_WORDS:
        return False
    if len(words) > LONGEST_TITLE or title[-1] in ".,:;=(-" or INITIAL.search(title):
        return False
    if sum(map(str.isalpha, title)) < 0.6 * len(title):
        return False
    long = [word for word in words if word.casefold() not in SMALL_WORDS and word[0].isalpha()]
    return words[0][0].isupper() and (len(words) <= 4 or sum(word[0].isupper() for word in long) >= 0.6 * len(long))

"""Divide a paper's text into sections, and each section into sentences.

Headings are read from Markdown if the text has it; otherwise they are lines with a known name ("Conclusion"), or lines
whose number follows that of the previous heading. In Markdown the lines of a section are grouped into blocks first, so
that a sentence can continue across a page break or a caption.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from peercorpus.links.body_text import CAPTION, NOTICE, BodyLine, is_reference, read_body_lines, separate_asides
from peercorpus.links.sentences import Sentence, read_sentences, read_whole

DISPLAYED = "$$"
ROW = "|"
FENCE = "```"
RULE = re.compile(r"[\s|:-]*$")
"""Matches the line between the header and the rows of a Markdown table."""

ITEM = re.compile("([-*+\u2022]|\\d{1,2}[.)])\\s")
NOTE = re.compile("(<sup>[^<\\s]{1,4}</sup>|[\u2217\u2020\u2021\xa7\xb6])\\s*(?=\\S)")
STRAY = re.compile(r"\d{1,4}$")
"""Matches a number alone in its block: a page number, or a remnant of a formula."""

ENDED = re.compile("[.!?:;][\"'\u201d\u2019)\\]*_]*(<sup>[^<\\s]{1,4}</sup>|\\d{1,2})?$")


class TextBlockKind(Enum):
    """Kind of a block of text, which determines how its sentences are read."""

    PROSE = "prose"
    ITEM = "item"
    ASIDE = "aside"
    ROW = "row"
    FORMULA = "formula"


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Successive lines of one kind."""

    kind: TextBlockKind
    lines: list[BodyLine]


def read_blocks(lines: Sequence[BodyLine]) -> list[TextBlock]:
    r"""Group the lines of a section into blocks.

    Prose that continues after a page break or a caption is in the same block as its beginning.

    >>> lines = ["We", "", "Figure 1: A.", "", "go."]
    >>> blocks = read_blocks([BodyLine(20 * number, words) for number, words in enumerate(lines)])
    >>> [(block.kind.value, [line.words for line in block.lines]) for block in blocks]
    [('prose', ['We', 'go.']), ('aside', ['Figure 1: A.'])]
    """
    blocks: list[TextBlock] = []
    open_block: TextBlock | None = None  # the prose or item that the next prose may continue
    is_interrupted = False
    code = find_fenced_lines(lines)
    for group in _group_lines(lines, code):
        before = open_block.lines[-1].words if open_block is not None else ""
        is_interrupted |= group[0].is_top
        block = TextBlock(TextBlockKind.ROW, group) if group[0].start in code else _classify(group, before)
        if block is None:
            continue
        words = block.lines[0].words
        if (
            block.kind is TextBlockKind.PROSE
            and open_block is not None
            and not ENDED.search(before)
            and (is_interrupted or words[0].islower() or words[0] in ",.;:)")
        ):
            open_block.lines.extend(block.lines)
            is_interrupted = False
            continue
        blocks.append(block)
        if block.kind in {TextBlockKind.PROSE, TextBlockKind.ITEM}:
            open_block = block
            is_interrupted = False
        elif block.kind is TextBlockKind.FORMULA:
            open_block = None
        elif block.kind is TextBlockKind.ASIDE:
            is_interrupted = True
    return blocks


def find_fenced_lines(lines: Sequence[BodyLine]) -> frozenset[int]:
    """Return the starts of the lines inside code fences, fences included; none if a fence is left open."""
    marks = [index for index, line in enumerate(lines) if line.words.startswith(FENCE)]
    pairs = zip(marks[::2], marks[1::2], strict=True) if len(marks) % 2 == 0 else ()
    return frozenset(line.start for first, last in pairs for line in lines[first : last + 1])


def _group_lines(lines: Sequence[BodyLine], code: frozenset[int]) -> Iterator[list[BodyLine]]:
    """Yield groups of lines: a row or an item begins one, a formula ends with its delimiter, code is line by line."""
    group: list[BodyLine] = []
    for line in lines:
        is_code = line.start in code
        if group and (
            is_code or group[0].start in code or _begins_group(line, group[0]) or line.is_top or _is_complete(group)
        ):
            yield group
            group = []
        if line.words and not (is_code and line.words.startswith(FENCE)):
            group.append(line)
    if group:
        yield group


def _begins_group(line: BodyLine, first: BodyLine) -> bool:
    if first.words.startswith(DISPLAYED):
        return not line.words
    return not line.words or line.words.startswith((ROW, DISPLAYED)) or ITEM.match(line.words) is not None


def _is_complete(group: Sequence[BodyLine]) -> bool:
    first = group[0].words
    if first.startswith(ROW):
        return True
    last = first[len(DISPLAYED) :] if len(group) == 1 else group[-1].words
    return first.startswith(DISPLAYED) and DISPLAYED in last


def _classify(group: list[BodyLine], before: str) -> TextBlock | None:
    """Return lines as a block, a footnote without its mark; None for rules, notices and stray numbers."""
    first = group[0]
    if first.words.startswith(ROW):
        return None if RULE.match(first.words) else TextBlock(TextBlockKind.ROW, group)
    if NOTICE.match(first.words) or (len(group) == 1 and STRAY.match(first.words)):
        return None
    if first.words.startswith(DISPLAYED):
        return TextBlock(TextBlockKind.FORMULA, group)
    if CAPTION.match(first.words) and not is_reference(first.words, before):
        return TextBlock(TextBlockKind.ASIDE, group)
    note = NOTE.match(first.words)
    if note:
        unmarked = replace(first, start=first.start + note.end(), words=first.words[note.end() :])
        return TextBlock(TextBlockKind.ASIDE, [unmarked, *group[1:]])
    return TextBlock(TextBlockKind.ITEM if ITEM.match(first.words) else TextBlockKind.PROSE, group)


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
MAX_HEADING_WORDS = 14
"""Maximum number of words of a numbered heading in plain text."""

MAX_HEADING_CHARACTERS = 120
"""Maximum number of characters of a line that may be a heading."""

MAX_FRONT_CHARACTERS = 1_000
"""Most characters before the first heading to be read line by line, as title and authors; more is prose."""

MAX_NUMBER_STEP = 2
"""Maximum difference of a heading's number from the previous one: one heading in between may not be recognised."""

MIN_TITLE_SHARE = 0.6
"""Minimum share of letters in a heading, and of capitalised words among its longer words."""


@dataclass(frozen=True, slots=True)
class TextSection:
    """A section of a text.

    Attributes:
        heading: As in the text, without Markdown marks; None before the first heading.
        sentences: In the order of the text.
    """

    heading: str | None
    sentences: tuple[Sentence, ...]


def read_text_sections(text: str) -> list[TextSection]:
    r"""Return the sections of a text in order, without the references; headings are not sentences.

    >>> parts = read_text_sections("On X\nAbstract\nWe do. It is.\nReferences\n[1] Y.")
    >>> [(part.heading, len(part.sentences)) for part in parts]
    [(None, 1), ('Abstract', 2)]
    """
    lines = read_body_lines(text)
    is_markdown = _has_markdown(lines)
    in_blocks = is_markdown and any(not line.words for line in lines)
    divided = list(_split_at_headings(lines, is_markdown=is_markdown))
    has_front = len(divided) > 1 and sum(len(line.words) for line in divided[0][1]) <= MAX_FRONT_CHARACTERS
    return [
        TextSection(heading, tuple(_read_section(body, by_line=has_front and heading is None, in_blocks=in_blocks)))
        for heading, body in divided
        if heading is None or not REFERENCES.match(heading)
    ]


def _has_markdown(lines: Sequence[BodyLine]) -> bool:
    """Return whether `#` marks headings: it does if a line with it has the name of a usual section."""
    matches = (MARKDOWN.match(line.words) for line in lines)
    return any(NAMED.match(_strip_marks(match["title"])) for match in matches if match)


def _read_section(lines: Sequence[BodyLine], *, by_line: bool, in_blocks: bool) -> list[Sentence]:
    """Return the sentences of a section in order."""
    if by_line:
        sentences = [sentence for line in lines for sentence in read_sentences([line])]
    elif in_blocks:
        sentences = []
        for block in read_blocks(lines):
            is_row = block.kind is TextBlockKind.ROW
            if is_row or block.kind is TextBlockKind.FORMULA:
                sentences += read_whole(block.lines, is_row=is_row)
            else:
                sentences += read_sentences(block.lines, floats=block.kind is TextBlockKind.ASIDE)
    else:
        flow, asides = separate_asides(lines)
        sentences = [*read_sentences(flow)]
        sentences += (sentence for aside in asides for sentence in read_sentences(aside, floats=True))
    return sorted(sentences, key=lambda sentence: sentence.start)


def _split_at_headings(lines: Sequence[BodyLine], *, is_markdown: bool) -> Iterator[tuple[str | None, list[BodyLine]]]:
    headings = HeadingReader(has_markdown=is_markdown)
    title = _find_title(lines) if is_markdown else None
    code = find_fenced_lines(lines) if is_markdown else frozenset()
    heading: str | None = None
    body: list[BodyLine] = []
    for line in lines:
        next_heading = headings.read(line.words) if line is not title and line.start not in code else None
        if next_heading is None:
            if line is title:
                words = title.words.lstrip("# ")
                line = BodyLine(title.start + len(title.words) - len(words), words, title.is_top)
            body.append(line)
            continue
        yield heading, body
        heading = next_heading
        body = []
    yield heading, body


def _find_title(lines: Sequence[BodyLine]) -> BodyLine | None:
    """Return the paper's title in Markdown: the first heading, if it is of level 1 and not that of a section."""
    first = next((line for line in lines if MARKDOWN.match(line.words)), None)
    if first is None or first.words.startswith("##"):
        return None
    words = _strip_marks(first.words)
    is_numbered = words[:1].isdigit() and NUMBERED.match(words)
    return None if is_numbered or NAMED.match(words) else first


def _strip_marks(title: str) -> str:
    return title.strip().strip("*_# ")


class HeadingReader:
    """Recognises headings among lines, which must be passed in order: each number must follow the previous one."""

    def __init__(self, *, has_markdown: bool) -> None:
        self._has_markdown = has_markdown
        self._last_number = "0"  # number of the last top-level section: digits, or a letter in an appendix

    def read(self, words: str) -> str | None:
        """Return the heading in a line, without marks; None if the line is not a heading."""
        if len(words) > MAX_HEADING_CHARACTERS or not words:
            return None
        marked = MARKDOWN.match(words) if self._has_markdown else None
        if marked:
            return _strip_marks(marked["title"]) or None
        if NAMED.match(_strip_marks(words)) and not words.islower():
            numbered = NUMBERED.match(words)
            if numbered:
                self._last_number, _, _ = numbered["number"].partition(".")
            return _strip_marks(words)
        return words if not self._has_markdown and self._accept_numbered(words) else None

    def _accept_numbered(self, words: str) -> bool:
        """Return whether a line is a heading whose number follows the last one; if so, record the number."""
        numbered = NUMBERED.match(words)
        if numbered is None or not _is_title(numbered["title"]):
            return False
        top, _, below = numbered["number"].partition(".")
        if not (top == self._last_number if below else self._follows(top)):
            return False
        self._last_number = top
        return True

    def _follows(self, top: str) -> bool:
        if top.isdigit():
            return self._last_number.isdigit() and 0 < int(top) - int(self._last_number) <= MAX_NUMBER_STEP
        if self._last_number == "0":
            return False
        before = ord("A") - 1 if self._last_number.isdigit() else ord(self._last_number)
        return 0 < ord(top) - before <= MAX_NUMBER_STEP


def _is_title(title: str) -> bool:
    """Return whether words are written like a title: in capitals, capitalised or short, and not a sentence."""
    if title.isupper():
        title = title.rstrip(".")
    words = title.split()
    if words[-1].casefold() in SMALL_WORDS:
        return False
    if len(words) > MAX_HEADING_WORDS or title[-1] in ".,:;=(-" or INITIAL.search(title):
        return False
    if sum(map(str.isalpha, title)) < MIN_TITLE_SHARE * len(title):
        return False
    large = [word for word in words if word.casefold() not in SMALL_WORDS and word[0].isalpha()]
    is_capitalised = sum(word[0].isupper() for word in large) >= MIN_TITLE_SHARE * len(large)
    return words[0][0].isupper() and (len(words) <= 4 or is_capitalised)


MAX_SECTIONS_OF_SENTENCE = 16
"""Maximum number of pairs of sections that a sentence may connect to count; one shared by more is not informative."""

MIN_SHARED = 0.3
"""Minimum share of the shorter section's characters in common for two sections to be paired by sentences."""

SAME_NAME_FACTOR = 2
"""Factor for sections of the same name, as all parts of a divided section share some characters with it."""

SECTION_NUMBER = re.compile(r"^(\d+|[A-Z])(\.\d+)*\.?\s+")

KeyedSection = tuple[str | None, Sequence[str]]
"""Heading of a section and the keys of its sentences."""


def pair_sections(old: Sequence[KeyedSection], new: Sequence[KeyedSection]) -> dict[int, int]:
    """Return the counterparts of sections: index in `old` → index in `new`, each at most once.

    >>> pair_sections([("1 A", ["We go."]), ("2 B", ["It is."])], [("1 B", ["We go."]), ("2 A", ["It is."])])
    {0: 0, 1: 1}
    """
    old_names = [_name(heading) for heading, _ in old]
    new_names = [_name(heading) for heading, _ in new]
    old_sizes = [sum(map(len, keys)) for _, keys in old]
    new_sizes = [sum(map(len, keys)) for _, keys in new]
    weights = {
        (i, j): size * (SAME_NAME_FACTOR if old_names[i] == new_names[j] else 1)
        for (i, j), size in _count_shared(old, new).items()
        if size >= MIN_SHARED * min(old_sizes[i], new_sizes[j])
    }
    paired: dict[int, int] = {}
    taken: set[int] = set()
    for i, j in sorted(weights, key=lambda pair: (-weights[pair], pair)):
        if i not in paired and j not in taken:
            paired[i] = j
            taken.add(j)
    free: dict[str, list[int]] = defaultdict(list)
    for j in reversed(range(len(new))):
        if j not in taken:
            free[new_names[j]].append(j)
    for i, name in enumerate(old_names):
        if i not in paired and free[name]:
            paired[i] = free[name].pop()
    return dict(sorted(paired.items()))


def _name(heading: str | None) -> str:
    """Return a heading without its number, which changes when a section is inserted before it."""
    return re.sub(r"\W+", " ", SECTION_NUMBER.sub("", heading or "")).strip().casefold()


def _count_shared(old: Sequence[KeyedSection], new: Sequence[KeyedSection]) -> Mapping[tuple[int, int], float]:
    """Return the number of characters that sections share; a repeated sentence is divided among the pairs."""
    sections_by_key = _find_sections(old), _find_sections(new)
    shared = Counter[tuple[int, int]]()
    for key, old_sections in sections_by_key[0].items():
        new_sections = sections_by_key[1].get(key, ())
        pairs = len(old_sections) * len(new_sections)
        if 0 < pairs <= MAX_SECTIONS_OF_SENTENCE:
            for i in old_sections:
                for j in new_sections:
                    shared[i, j] += len(key) // pairs
    return shared


def _find_sections(sections: Sequence[KeyedSection]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for index, (_, keys) in enumerate(sections):
        for key in dict.fromkeys(keys):
            found[key].append(index)
    return found

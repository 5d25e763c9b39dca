"""Find references in the sentences of a text: to cited works, formulas, figures, tables, algorithms and sections."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from peercorpus.corpus.bare_mentions import (
    AND,
    DASH,
    DIGITS,
    TO,
    BareFormulas,
    Found,
    find_raised_citations,
    is_before_work,
    is_behind_work,
    split_list,
)
from peercorpus.corpus.structured_text import YEAR, Bibliography
from peercorpus.records.blocks import Mention, TextBlock
from peercorpus.records.enums import BlockKind, MentionKind

_SILENT = frozenset({BlockKind.TITLE, BlockKind.FORMULA, BlockKind.ENTRY, BlockKind.PAGE_HEADER, BlockKind.PAGE_FOOTER})
"""Kinds of blocks that are not searched."""
_PROSE = frozenset({BlockKind.PARAGRAPH, BlockKind.ITEM, BlockKind.CAPTION, BlockKind.FOOTNOTE})
"""Kinds of blocks in which a number alone may be that of a formula."""
_LABELLED = frozenset({BlockKind.CAPTION, BlockKind.HEADING, BlockKind.LISTING})
"""Kinds of blocks that may begin with their own number."""

_WORDS = {
    MentionKind.FIGURE: r"[Ff]igures?|FIGURES?|[Ff]igs?\.|Figs?",
    MentionKind.TABLE: r"[Tt]ables?|TABLES?|[Tt]abs?\.",
    MentionKind.EQUATION: r"equations?|Equations?|[Ee]qn?s?\.|Eqn?s?",
    MentionKind.ALGORITHM: r"[Aa]lgorithms?|[Aa]lgs?\.",
    MentionKind.LISTING: r"[Ll]istings?",
    MentionKind.SECTION: r"[Ss]ections?|[Ss]ec(?:t|s)?\.|Secs?|[Aa]ppendix|[Aa]ppendices|Apps?\.|§§?",
}
_PLAIN = r"(?:(?:[A-Z]{1,2}[.-]?)?\d+(?:\.\d+)*(?:[a-z](?![a-z])|\s?\([a-z]\))?|[IVX]+(?:-[A-Z])?\b|[A-Z]\b)"
_NUMBER = rf"(?:{_PLAIN}|\({_PLAIN}\))"
_ANY_WORD = "|".join(f"(?P<{kind.value}>{words})" for kind, words in _WORDS.items())
_NUMBERED = re.compile(
    rf"(?<![\w-])(?=[AEFLSTaeflst§])(?:{_ANY_WORD})(?![A-Za-z])[ \t~*_]*"
    rf"(?P<numbers>{_NUMBER}(?:(?:{TO}|{AND}){_NUMBER})*)(?![\w%])"
)
_LIST_OF_THREE = re.compile(rf"{_NUMBER}(?:,\s?{_NUMBER})+,?\s?(?:and|or|&)\s?{_NUMBER}")
_FIRST_RANGE = re.compile(rf"{_NUMBER}(?:{TO}{_NUMBER})?")
_BRACKETED = re.compile(rf"\([^()]{{1,20}}\)(?:(?:{TO}|{AND})\([^()]{{1,20}}\))*")
_ONE_NUMBER = re.compile(_NUMBER)
_ROMAN = {str(at): roman for at, roman in enumerate("I II III IV V VI VII VIII IX X XI XII".split(), 1)}  # noqa: SIM905
_PART = re.compile(r"(?:[a-z]|\s?\([a-z]\))$")
"""Matches the letter of a part of a figure."""
_NUMBERS_IN_BRACKETS = re.compile(
    rf"\\?\[(?P<numbers>\d{{1,3}}(?:\s*(?:[,;]|{DASH})\s*\d{{1,3}})*)(?:,\s*[A-Za-z§][^\[\]]{{0,60}})?\\?\]"
)
_FIRST_LETTER = re.compile(r"[^\W\d_]")
_LABELS_IN_BRACKETS = re.compile(r"\\?\[(?P<labels>[A-Z][\w+]{1,11}(?:\s*[,;]\s*[A-Z][\w+]{1,11})*)\\?\]")
_LABEL = re.compile(r"[\w+]+")
_MATHS = re.compile(r"\$[^$]+\$")

_UPPER = "A-Z\u00c0-\u00d6\u00d8-\u00de\u0100-\u017f"
_PARTICLE = r"(?:[dD]e|[vV]an|[vV]on|[dD]er|den|del|dos|[dD]a|[dD]i|la|le|ter|ten|al|el|bin)"
_NAME = rf"(?:(?<!\w)(?:{_PARTICLE}[\s-]){{1,4}}|(?<![{_UPPER}\d_-]))[{_UPPER}](?:[\w@+-]|['\u2019](?!s\b)){{1,40}}"
_NAMES = rf"{_NAME}(?:\s+{_NAME}){{0,3}}"
_AUTHORS = re.compile(
    rf"(?P<first>{_NAMES})(?:,?\s+(?P<more>et\s+al\b\.?)|(?:,\s+{_NAMES}){{0,5}},?\s+(?:and|&)\s+(?P<second>{_NAMES}))?"
    rf"(?:['\u2019]s)?(?P<space>,?\s*[(\[]|,?\s+)(?P<years>{YEAR}(?:\s*[,;]\s*(?:{YEAR}|[a-z]\b))*)(?![\w-]|\.\d)"
)
_NAME_BEGIN = re.compile(rf"(?<!\S)\S|(?<=[^\W\d_{_UPPER}])[{_UPPER}]|(?<=[{_UPPER}])[{_UPPER}](?=[^\W\d_{_UPPER}])")
_LAST_NAME = re.compile(rf"(?:\b{_PARTICLE}[\s-]){{0,4}}\S+$")
_MAX_AUTHORS_CHARACTERS = 120
_MAX_YEARS_CHARACTERS = 40
"""Maximum length of the years of a citation after the first."""
_YEAR_START = re.compile(r"[12][09]\d\d")
_YEAR = re.compile(rf"{YEAR}|[a-z]")


Numbered = dict[tuple[MentionKind, str], list[int]]


def find_mentions(markdown: str, blocks: Sequence[TextBlock]) -> list[Mention]:
    """Return the mentions in a text, in order.

    Args:
        markdown: The text.
        blocks: Its blocks.
    """
    bibliography = Bibliography(markdown, blocks)
    numbered = _list_numbered(blocks)
    searched = [block for block in blocks if block.kind not in _SILENT]
    citations = {
        block.block_id: list(_find_citations(markdown[block.start : block.end], bibliography)) for block in searched
    }
    known = sum(bool(found.targets) for of_block in citations.values() for found in of_block)
    for block_id, raised in find_raised_citations(markdown, blocks, bibliography, known).items():
        citations[block_id] += raised
        known += len(raised)
    # If few numbers of the list are cited in other ways, round brackets may cite them.
    bare = BareFormulas(numbered if 2 * known >= len(bibliography.by_number) else {})
    mentions: list[Mention] = []
    for block in blocks:
        if block.block_id in citations:
            found = _find_in_block(markdown, block, numbered, citations[block.block_id], bare)
            mentions += [_place(mention, block) for mention in sorted(found, key=_get_start)]
        elif block.kind is BlockKind.FORMULA and block.number is not None:
            bare.pass_formula(block.number)
    return mentions


def _find_in_block(
    markdown: str, block: TextBlock, numbered: Numbered, citations: list[Found], bare: BareFormulas
) -> list[Found]:
    text = markdown[block.start : block.end]
    citations.sort(key=_get_start)
    found = [*citations, *_find_numbered(text, block.kind, numbered, citations)]
    if block.kind in _PROSE and "(" in text:
        prose = _MATHS.sub(lambda maths: " " * len(maths[0]), text) if "$" in text else text
        found += list(bare.find(prose, found))
    return found


def _place(found: Found, block: TextBlock) -> Mention:
    return Mention(
        kind=found.kind,
        block_id=block.block_id,
        start=block.start + found.start,
        end=block.start + found.end,
        number=found.number,
        target=found.targets[0] if len(found.targets) == 1 else None,
    )


def _get_start(found: Found) -> int:
    return found.start


def _list_numbered(blocks: Iterable[TextBlock]) -> Numbered:
    numbered: defaultdict[tuple[MentionKind, str], list[int]] = defaultdict(list)
    section = ""
    for block in blocks:
        number = block.number
        if number is None:
            continue
        if block.kind is BlockKind.FORMULA:
            numbered[MentionKind.EQUATION, number].append(block.block_id)
        elif block.caption_of is not None:
            numbered[block.caption_of, number].append(block.block_id)
        elif block.kind is BlockKind.HEADING:
            # Subsections A, B, … of a section with a Roman number are called "III-A".
            is_below = block.level != 1 and number.isalpha() and set(section) <= set("IVX") and section
            numbered[MentionKind.SECTION, f"{section}-{number}" if is_below else number].append(block.block_id)
            section = number if block.level == 1 else section
    return numbered


def _find_numbered(text: str, kind: BlockKind, numbered: Numbered, citations: Sequence[Found]) -> Iterator[Found]:
    begins, ends = {found.start for found in citations}, {found.end for found in citations}
    label = _FIRST_LETTER.search(text) if kind in _LABELLED else None
    for match in _NUMBERED.finditer(text):
        if label is not None and match.start() <= label.start():
            continue
        mention_kind = MentionKind(next(name for name, word in match.groupdict().items() if word and name != "numbers"))
        numbers = _cut_list(match[mention_kind.value], match["numbers"])
        is_of_other = is_behind_work(text, match.start(), ends) or is_before_work(
            text, match.start("numbers") + len(numbers), begins
        )
        for start, end, number in split_list(numbers, match.start("numbers"), _ONE_NUMBER):
            name = re.sub(r"[()\s]", "", number)
            first = match.start() if start == match.start("numbers") else start
            targets = () if is_of_other else _find_targets(numbered, mention_kind, name)
            yield Found(mention_kind, first, end, name, targets)


def _cut_list(word: str, numbers: str) -> str:
    """Return the numbers that a word introduces: after a singular, one number, a range, or a list of three or more.

    >>> _cut_list("Figures", "1 and 2"), _cut_list("Table", "4, 5, and 6"), _cut_list("Table", "2 and 3")
    ('1 and 2', '4, 5, and 6', '2')
    """
    if word.rstrip(".").endswith(("s", "ices", "§§")):
        return numbers
    found = (
        (_BRACKETED.match(numbers) if numbers.startswith("(") else None)
        or _LIST_OF_THREE.match(numbers)
        or _FIRST_RANGE.match(numbers)
    )
    return found[0] if found else numbers


def _find_targets(numbered: Numbered, kind: MentionKind, number: str) -> Sequence[int]:
    """Return the blocks with a number.

    A part of a figure, such as "2a", is found by the number of the whole, and "Table 2" by the caption "TABLE II".
    """
    for name in (number, _PART.sub("", number), _ROMAN.get(number, number)):
        if (kind, name) in numbered:
            return numbered[kind, name]
    return ()


def _find_citations(text: str, bibliography: Bibliography) -> Iterator[Found]:
    if "[" in text and (bibliography.by_number or bibliography.is_empty):
        prose = _MATHS.sub(lambda maths: " " * len(maths[0]), text) if "$" in text else text
        for match in _NUMBERS_IN_BRACKETS.finditer(prose):
            if 0 not in map(int, DIGITS.findall(match["numbers"])):
                for start, end, number in split_list(match["numbers"], match.start("numbers"), DIGITS):
                    yield Found(MentionKind.CITATION, start, end, number, bibliography.by_number.get(number, ()))
        for match in _LABELS_IN_BRACKETS.finditer(text):
            for label in _LABEL.finditer(match["labels"]):
                if label[0] in bibliography.by_number:
                    start = match.start("labels") + label.start()
                    targets = bibliography.by_number[label[0]]
                    yield Found(MentionKind.CITATION, start, start + len(label[0]), label[0], targets)
    for start, end in _find_year_windows(text):
        for match in _AUTHORS.finditer(text, start, end):
            yield from _read_authors(match, bibliography)


def _find_year_windows(text: str) -> Iterator[tuple[int, int]]:
    """Yield the parts of a text that may contain a citation with a year: searching for all names takes longer."""
    start = end = 0
    for year in _YEAR_START.finditer(text):
        if year.start() - _MAX_AUTHORS_CHARACTERS > end:
            if end:
                yield start, end
            start = max(0, year.start() - _MAX_AUTHORS_CHARACTERS)
        end = year.end() + _MAX_YEARS_CHARACTERS
    if end:
        yield start, end


def _read_authors(match: re.Match[str], bibliography: Bibliography) -> Iterator[Found]:
    """Yield the citations with one group of authors.

    The first name may begin at any word, or at a capital inside one: "In Smith (2020)", "GoSilver et al. (2016)". A
    group without a matching entry is a citation only if it looks like one.
    """
    begins = [match.start("first") + begin.start() for begin in _NAME_BEGIN.finditer(match["first"])]
    for begin in begins:
        citations = list(_list_citations(match, begin, bibliography))
        if any(found.targets for found in citations):
            yield from citations
            return
    inner = _AUTHORS.search(match.string, match.end("first") + 1, match.end()) if match["second"] else None
    later = list(_read_authors(inner, bibliography)) if inner is not None else []
    if any(found.targets for found in later):
        yield from later
    elif (match["more"] or match["second"]) and not match["space"].isspace():
        last = _LAST_NAME.search(match["first"])
        yield from _list_citations(match, match.start("first") + (last.start() if last else 0), bibliography)


def _list_citations(match: re.Match[str], begin: int, bibliography: Bibliography) -> Iterator[Found]:
    first, second = match.string[begin : match.end("first")], match["second"] or ""
    named = "et al." if match["more"] else f"and {second}" if second else ""
    offset = match.start("years")
    closing = int(match["space"][-1] in "([" and match.string[match.end() : match.end() + 1] in {")", "]"})
    for start, end, year in _list_years(match["years"]):
        end += closing if offset + end == match.end() else 0
        number = " ".join(filter(None, (first, named, year)))
        targets = bibliography.find(first, second, year)
        yield Found(MentionKind.CITATION, offset + start if start else begin, offset + end, number, targets)


def _list_years(years: str) -> Iterator[tuple[int, int, str]]:
    """Yield the years of a list with their offsets; a letter alone belongs to the year before it.

    >>> list(_list_years("2019a, b; 2020"))
    [(0, 5, '2019a'), (7, 8, '2019b'), (10, 14, '2020')]
    """
    digits = ""
    for match in _YEAR.finditer(years):
        digits = match[0][:4] if len(match[0]) > 1 else digits
        yield match.start(), match.end(), match[0] if len(match[0]) > 1 else f"{digits}{match[0]}"

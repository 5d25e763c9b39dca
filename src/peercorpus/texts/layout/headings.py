"""Find headings and their levels."""

import re
from dataclasses import replace

from peercorpus.texts.layout.blocks import Body, TextLine, ends_sentence
from peercorpus.texts.layout.columns import PageColumns
from peercorpus.texts.layout.heading_numbers import Counting, MixedCounting

_SECTION_NAME = re.compile(
    r"(?:abstract|introduction|related works?|background|preliminar(?:y|ies)|methods?|methodology|experiments?|"
    r"results?|evaluation|discussions?|conclusions?|limitations?|future work|references|bibliography|appendix|"
    r"(?:conclusions?|discussions?|limitations?|reproducibility) (?:and|&) .{3,40}|appendices|"
    r"supplement(?:ary|al) materials?|acknowl[a-z]{0,3}e?g[a-z]{0,2}ments?(?: and disclosure of funding)?|"
    r"(?:ethics|ethical|reproducibility) statements?|ethical considerations|(?:broader )?impacts?(?: statement)?|"
    r"author contributions?|funding|neurips paper checklist|checklist|(?:code|data) availability|contents|"
    r"keywords)[.:]?$",
    re.IGNORECASE,
)
_UNNUMBERED_SECTION = re.compile(
    r"(?:references|bibliography|acknowl[a-z]{0,3}e?g[a-z]{0,2}ments?)[.:]?$", re.IGNORECASE
)
"""Sections after the last numbered one, whatever the size of their headings."""
_TOP_LEVEL_NAME = re.compile(r"(?:abstract|references|bibliography|appendi)", re.IGNORECASE)
"""Section names that are always on level 1."""
_NUMBERED = re.compile(r"(?P<number>(?:\d{1,2}|[A-Z])(?:\.\d{1,2}){0,3})\.?\s+(?P<title>\W?\w.*)$")
_APPENDIX = re.compile(r"appendix\s+(?P<number>[A-Z](?:\.\d{1,2})*)\b[.:]?", re.IGNORECASE)

STATEMENT_NAMES = (
    "Theorem|Lemma|Corollary|Proposition|Definition|Remark|Example|Assumption|Claim|Conjecture|Fact|Observation"
)
_STATEMENT = re.compile(rf"(?:{STATEMENT_NAMES}|Proof)(?:\s+[A-Z]?\.?\d+(?:\.\d+)*)?(?:\s+\([^()]{{1,80}}\))?\.\s+\S")
"""Matches a theorem or a similar statement with text on the line of its name."""
_WORD = re.compile(r"[^\W\d_]{2}")
"""Matches two letters of a word; a row of a matrix has none."""
_APPENDIX_WORD = re.compile(r"appendix\s+", re.IGNORECASE)

_MIN_HEADING_CHARACTERS = 2
_MAX_HEADING_CHARACTERS = 140
_MIN_LARGE_SIZE_RATIO = 1.07
"""Font size, relative to the body, above which a line counts as larger."""
_MIN_NUMBERED_SIZE_RATIO = 0.85
"""Minimum font size, relative to the body, of a bold or italic heading with the next number."""
_MIN_FACE_SHARE = 0.8
"""Minimum share of bold or of italic characters in a line of that face; the rest are formulas."""
_MAX_PLAIN_WIDTH_SHARE = 0.85
"""Maximum share of the column width of a heading set in the body font."""
_MAX_LEVEL = 4
_CAPITALS_LEVEL = 3
"""Level of a common name in capitals no larger than the body, in a paper whose sections are larger."""


class HeadingFinder:
    """Finds the headings of a paper, line by line in reading order; title and authors precede the first."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self._counting = Counting()
        self._mixed = MixedCounting()
        self._level = 1
        self._sections_are_large = False
        self._sections_are_sentences = False
        self._sections_are_centred = False
        self._sizes: list[float] = []
        self._levels: dict[tuple[int, bool], int] = {}
        self.has_begun = False

    def read(self, line: TextLine, after: object, columns: PageColumns, *, step: float, is_apart: bool) -> int:
        """Return the level of the heading that begins on a line; 0 if none does.

        `step` is the distance from the previous baseline in points, negative if that line is elsewhere; `is_apart` if
        there is more space above than between lines of a paragraph.
        """
        if (
            not is_apart
            or _STATEMENT.match(line.text)
            or not _MIN_HEADING_CHARACTERS <= line.characters <= _MAX_HEADING_CHARACTERS
            or line.text[-1] in ",;"
        ):
            return 0
        is_small = line.size < 0.95 * self._body.size and not _is_in_small_capitals(line)
        is_set_off = not is_small and (line.share("is_bold") > 0.6 or self._is_large(line) or _is_in_capitals(line))
        level = self._find_level_of_mixed(line) or (
            self._find_level_of_distinct(line, after, columns, step)
            if is_set_off
            else self._find_level_of_plain(line, after, columns)
        )
        if level:
            self.has_begun = True
            if level == len(self._sizes) + 1 and not line.text.lower().startswith("abstract"):
                self._sizes.append(line.size)
        return level

    def split_run_in(self, line: TextLine) -> tuple[TextLine, TextLine, int] | None:
        """Return a numbered heading in bold, the start of its paragraph on the same line, and its level; None if there
        is none.
        """
        end = next((number for number, run in enumerate(line.runs) if _WORD.search(run.text)), 0)
        while end < len(line.runs) and line.runs[end].font.is_bold:
            end += 1
            if ends_sentence(line.runs[end - 1].text):
                break
        if not 0 < end < len(line.runs):
            return None
        first, rest = line.runs[:end], line.runs[end:]
        head = replace(line, runs=first, right=first[-1].right, _text=None)
        behind = replace(line, runs=rest, left=rest[0].left, _text=None)
        numbered = _NUMBERED.match(head.text)
        is_run_in = first[-1].font.is_bold and rest[0].has_space and bool(_WORD.search(behind.text))
        if not (is_run_in and numbered and ends_sentence(head.text)):
            return None
        if not self._counting.goes_on_inside(numbered["number"]):
            return None
        return head, behind, self._find_level_of_numbered(head, numbered["number"])

    def _find_level_of_mixed(self, line: TextLine) -> int:
        is_distinct = _is_in_own_face(line) or _is_in_capitals(line)
        if not is_distinct or line.size < _MIN_NUMBERED_SIZE_RATIO * self._body.size or ends_sentence(line.text):
            return 0
        if line.text.lower().startswith("appendix"):
            self._mixed.begin_appendix()
            return int(self._mixed.has_begun)
        level = self._mixed.go_on(line.text)
        self._level = level or self._level
        return level

    def _is_large(self, line: TextLine) -> bool:
        return line.size > _MIN_LARGE_SIZE_RATIO * self._body.size

    def _find_level_of_distinct(self, line: TextLine, after: object, columns: PageColumns, step: float) -> int:
        text = line.text
        if sum(map(str.isalpha, text)) < 0.4 * len(text) or not _WORD.search(text):
            return 0
        numbered = _NUMBERED.match(text)
        if numbered and not (numbered["number"] == "A" and self._begins_with_article(line, columns)):
            return self._find_level_of_numbered(line, numbered["number"])
        appendix = _APPENDIX.match(text)
        if appendix:
            self._counting.counts_on(appendix["number"])
            return 1
        if _SECTION_NAME.match(text) and (level := self._find_level_of_name(line)):
            self._sections_are_centred |= _is_centred(line, *columns.of(line)) and not _TOP_LEVEL_NAME.match(text)
            return level
        if not self.has_begun or line.characters > 90 or ends_sentence(text):
            return 0
        larger = line.size / self._body.size
        left, right = columns.of(line)
        is_placed = abs(line.left - left) < 2 or (
            self._sections_are_centred and line.share("is_bold") > 0.95 and _is_centred(line, left, right)
        )
        if larger >= 1.12 and is_placed:
            self._level = self._find_level_of_size(line.size) or (1 if larger > 1.18 else 2)
            return self._level
        return self._find_level_of_face(line) if self._stands_alone(line, after, columns, step) else 0

    def _find_level_of_face(self, line: TextLine) -> int:
        """Return the level of an unnumbered heading no larger than the body."""
        if self._counting.has_begun:
            return min(_MAX_LEVEL, self._level + 1)
        face = round(line.size), line.share("is_italic") > 0.5
        self._level = self._levels.setdefault(face, min(_MAX_LEVEL, self._level + 1))
        return self._level

    def _begins_with_article(self, line: TextLine, columns: PageColumns) -> bool:
        """Return whether "A" is a word, at the start of a sentence or of a small heading in a paper without numbers."""
        left, right = columns.of(line)
        is_full = line.right > left + _MAX_PLAIN_WIDTH_SHARE * (right - left)
        if line.text[2:3].islower() and (is_full or ends_sentence(line.text)):
            return True
        return not self._counting.has_begun and bool(self._sizes) and line.size < 0.96 * self._sizes[0]

    def _find_level_of_name(self, line: TextLine) -> int:
        if self._is_large(line) or not (self._sections_are_large and self.has_begun):
            self._level = 1 if not self._counting.has_begun else self._level
            return 1
        if _is_in_capitals(line):
            return 1 if _TOP_LEVEL_NAME.match(line.text) else _CAPITALS_LEVEL
        return 1 if _UNNUMBERED_SECTION.match(line.text) else 0

    def _find_level_of_size(self, size: float) -> int:
        if not self._sizes:
            return 0
        alike = (level for level, level_size in enumerate(self._sizes, 1) if size > 0.96 * level_size)
        return min(_MAX_LEVEL, next(alike, len(self._sizes) + 1))

    def _find_level_of_plain(self, line: TextLine, after: object, columns: PageColumns) -> int:
        """Return the level of a heading set like the body, which continues the numbering and is on a separate line."""
        numbered = _NUMBERED.match(_APPENDIX_WORD.sub("", line.text))
        if not numbered or not self._counting.goes_on_inside(numbered["number"]):
            return 0
        is_distinct = _is_in_own_face(line)
        left, right = columns.of(line)
        is_short = abs(line.left - left) < 2 and line.right < left + _MAX_PLAIN_WIDTH_SHARE * (right - left)
        if (
            not is_short
            or not (numbered["title"][0].isupper() or (is_distinct and not numbered["title"][0].isascii()))
            or ends_sentence(line.text)
            or line.size < (_MIN_NUMBERED_SIZE_RATIO if is_distinct else 0.95) * self._body.size
        ):
            return 0
        leading = max(self._body.leading, 1.05 * line.size)
        if not is_distinct and isinstance(after, TextLine) and line.base - after.base <= 1.12 * leading:
            return 0
        return self._find_level_of_numbered(line, numbered["number"]) if after is not None else 0

    def _find_level_of_numbered(self, line: TextLine, number: str) -> int:
        if not self.has_begun and number not in {"0", "1", "0.1"}:
            return 0
        if self._is_no_section(line, number):
            return 0
        if not self._counting.counts_on(number):
            # If sections are set larger, a large numbered line is a section; those in between were missed.
            if not (self._sections_are_large and self._is_large(line) and "." not in number):
                return 0
            self._counting.go_on(number)
        # A class with chapters counts the sections of a paper without chapters from 0.1.
        self._level = number.count(".") + (not number.startswith("0."))
        self._sections_are_sentences |= self._level == 1 and ends_sentence(line.text)
        self._sections_are_large |= self._level == 1 and self._is_large(line)
        return self._level

    def _is_no_section(self, line: TextLine, number: str) -> bool:
        is_sentence = ends_sentence(line.text)
        if not self._counting.has_begun:
            is_roman = self._mixed.has_begun and number[0].isdigit()
            return is_roman or (bool(self._sizes) and (is_sentence or line.size < 0.96 * self._sizes[0]))
        if not number.isdecimal() or self._is_large(line):
            return False
        return self._sections_are_large or (is_sentence and not self._sections_are_sentences)

    def _stands_alone(self, line: TextLine, after: object, columns: PageColumns, step: float) -> bool:
        """Return whether a bold line is set apart, starts at the column's edge, and is not a sentence."""
        (left, right) = columns.of(line)
        text = line.text
        begins_with_formula = line.runs[0].font.is_maths
        if line.share("is_bold") < (_MIN_FACE_SHARE if begins_with_formula else 0.95):
            return False
        if len(text) < 4 or text[-1] in ".:;,?!" or not (begins_with_formula or text[0].isupper()):
            return False
        # Many formulas make the detected column too narrow; the text below shows its real left edge.
        begins = after.left if isinstance(after, TextLine) and after.left < left else left
        if abs(line.left - begins) > 2 or line.right > left + 0.75 * (right - left):
            return False
        leading = max(self._body.leading, 1.05 * line.size)
        if 0 <= step < 1.4 * leading:
            return False
        if not isinstance(after, TextLine):
            return after is not None
        is_text = after.share("is_bold") <= 0.5 and after.left <= left + 2.5 * line.size
        return is_text and line.base - after.base > 1.12 * leading

    def wraps(self, before: TextLine, line: TextLine, columns: PageColumns, *, step: float) -> bool:
        """Return whether a line continues the heading on the line above, at a distance of `step` points."""
        if not 0 < step <= 1.5 * max(before.size, line.size) or _SECTION_NAME.match(line.text):
            return False
        if _APPENDIX.fullmatch(before.text) and _is_in_capitals(before) and _is_in_capitals(line):
            return True
        left, right = columns.of(before)
        filled = (before.right - left) / max(1.0, right - left)
        if before.text.isupper() and line.text.isupper() and line.characters > 3:
            return filled > 0.55 and line.left > before.left - 2
        is_bold = line.share("is_bold") > 0.5 and before.share("is_bold") > 0.5
        if not is_bold or abs(line.size - before.size) > 0.06 * before.size or _NUMBERED.match(line.text):
            return False
        return self._is_large(line) or (filled > 0.6 and not ends_sentence(before.text))


def _is_centred(line: TextLine, left: float, right: float) -> bool:
    return line.left > left + 2 and abs(line.left - left - right + line.right) < line.size


def _is_in_own_face(line: TextLine) -> bool:
    return max(line.share("is_bold"), line.share("is_italic")) > _MIN_FACE_SHARE


def _is_in_capitals(line: TextLine) -> bool:
    return _has_only_capitals(line) or _is_in_small_capitals(line)


def _has_only_capitals(line: TextLine) -> bool:
    return line.text.isupper() or "".join([run.text for run in line.runs if not run.font.is_maths]).isupper()


def _is_in_small_capitals(line: TextLine) -> bool:
    if line.share("is_small_capitals") > 0.5:
        return True
    return _has_only_capitals(line) and len({round(run.size, 1) for run in line.runs}) > 1

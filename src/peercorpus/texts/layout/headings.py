"""Find headings and their levels."""

import re

from peercorpus.texts.layout.blocks import Body, TextLine, ends_sentence
from peercorpus.texts.layout.columns import PageColumns

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
_ROMAN_NUMBERED = re.compile(r"(?P<number>X{0,1}(?:IX|IV|V?I{0,3}))\.\s+(?P<title>\w.*)$")
_APPENDIX = re.compile(r"appendix\s+(?P<number>[A-Z])\b[.:]?", re.IGNORECASE)

_MIN_HEADING_CHARACTERS = 2
"""Minimum characters of the first line of a heading."""
_MAX_HEADING_CHARACTERS = 140
"""Maximum characters of the first line of a heading."""
_MIN_LARGE_SIZE_RATIO = 1.07
"""Font size, relative to the body, above which a line counts as larger."""
_MAX_PLAIN_WIDTH_SHARE = 0.85
"""Maximum share of the column width of a heading set in the body font."""
_MAX_NUMBER_STEP = 2
"""Maximum step between heading numbers, so that headings may be missed in between."""
_MAX_LEVEL = 4
"""Deepest heading level."""
_CAPITALS_LEVEL = 3
"""Level of a common name in capitals no larger than the body, in a paper whose sections are larger."""


class Counting:
    """The heading numbers of a paper so far, and which may come next."""

    def __init__(self) -> None:
        self._last: tuple[str, ...] = ()

    def counts_on(self, number: str) -> bool:
        """Record a number and return True if it may follow the last heading's number; otherwise return False.

        >>> counting = Counting()
        >>> [counting.counts_on(number) for number in ("1", "2", "2.1", "2.3", "7", "3", "A", "A.1")]
        [True, True, True, True, False, True, True, True]
        """
        parts = tuple(number.split("."))
        if not self._may_follow(parts):
            return False
        self.go_on(number)
        return True

    def goes_on_inside(self, number: str) -> bool:
        """Return whether a number is the next one in the section of the last heading, or in an enclosing section.

        >>> counting = Counting()
        >>> counting.go_on("2.1")
        >>> [counting.goes_on_inside(number) for number in ("2.2", "2.1.1", "2.3", "3.1", "3")]
        [True, True, False, False, False]
        """
        *above, new = number.split(".")
        depth = len(above)
        if not above or not new.isdigit() or tuple(above) != self._last[:depth]:
            return False
        return int(new) == (1 if len(self._last) == depth else int(self._last[depth]) + 1)

    def go_on(self, number: str) -> None:
        """Record a number as the last one."""
        self._last = tuple(number.split("."))

    def _may_follow(self, parts: tuple[str, ...]) -> bool:
        last = self._last
        depth = len(parts)
        if not last:
            return parts[0] in {"0", "1", "2", "A"} and all(part in {"0", "1"} for part in parts[1:])
        if depth == 1:
            return _follows(last[0], parts[0]) or (parts[0] == "A" and last[0].isdigit())
        if parts[:-1] != last[: depth - 1]:
            # The parent heading was missed; its first subheading implies it.
            return all(part == "1" for part in parts[1:]) and _follows(last[0], parts[0])
        return parts[-1] in {"0", "1", "2"} if len(last) < depth else _follows(last[depth - 1], parts[-1])


def _follows(last: str, new: str) -> bool:
    return (
        last.isdigit() == new.isdigit() and 0 < _parse_number_part(new) - _parse_number_part(last) <= _MAX_NUMBER_STEP
    )


def _parse_number_part(part: str) -> int:
    return int(part) if part.isdigit() else ord(part[0]) - ord("A") + 1


class HeadingFinder:
    """Finds the headings of a paper, line by line in reading order.

    Attributes:
        has_begun: Whether the first heading was found; title and authors precede it.
    """

    def __init__(self, body: Body) -> None:
        self._body = body
        self._counting = Counting()
        self._level = 1
        self._sections_are_large = False
        self._sizes: list[float] = []
        self.has_begun = False

    def read(self, line: TextLine, after: object, columns: PageColumns, *, step: float, is_apart: bool) -> int:
        """Return the level of the heading that a line begins; 0 if it begins none.

        Args:
            line: The line.
            after: The next line, or another item, such as a table; None at the end of a page.
            columns: Columns of the page.
            step: Distance from the baseline above, in points; negative if that line is elsewhere.
            is_apart: Whether there is more space above than between lines of a paragraph, or the line is at the top.
        """
        if (
            not is_apart
            or not _MIN_HEADING_CHARACTERS <= line.characters <= _MAX_HEADING_CHARACTERS
            or line.text[-1] in ",;"
        ):
            return 0
        is_small = line.size < 0.95 * self._body.size and not _is_in_small_capitals(line)
        is_set_off = not is_small and (line.share("is_bold") > 0.6 or self._is_large(line) or _is_in_capitals(line))
        level = (
            self._find_level_of_distinct(line, after, columns, step)
            if is_set_off
            else self._find_level_of_plain(line, after, columns)
        )
        if level:
            self.has_begun = True
            if level == len(self._sizes) + 1 and not line.text.lower().startswith("abstract"):
                self._sizes.append(line.size)
        return level

    def _is_large(self, line: TextLine) -> bool:
        return line.size > _MIN_LARGE_SIZE_RATIO * self._body.size

    def _find_level_of_distinct(self, line: TextLine, after: object, columns: PageColumns, step: float) -> int:
        text = line.text
        if sum(map(str.isalpha, text)) < 0.4 * len(text):
            return 0
        numbered = _NUMBERED.match(text)
        if numbered:
            return self._find_level_of_numbered(line, numbered["number"])
        roman = _ROMAN_NUMBERED.match(text)
        if roman and roman["number"]:
            return 1
        appendix = _APPENDIX.match(text)
        if appendix:
            self._counting.counts_on(appendix["number"])
            return 1
        if _SECTION_NAME.match(text) and (level := self._find_level_of_name(line)):
            return level
        if not self.has_begun or line.characters > 90 or ends_sentence(text):
            return 0
        larger = line.size / self._body.size
        is_flush = abs(line.left - columns.of(line)[0]) < 2
        if larger >= 1.12 and is_flush:
            self._level = self._find_level_of_size(line.size) or (1 if larger > 1.18 else 2)
            return self._level
        return min(_MAX_LEVEL, self._level + 1) if self._stands_alone(line, after, columns, step) else 0

    def _find_level_of_name(self, line: TextLine) -> int:
        """Return the level of a common section name; 0 if only its position can decide."""
        if self._is_large(line) or not (self._sections_are_large and self.has_begun):
            return 1
        if _is_in_capitals(line):
            return 1 if _TOP_LEVEL_NAME.match(line.text) else _CAPITALS_LEVEL
        return 1 if _UNNUMBERED_SECTION.match(line.text) else 0

    def _find_level_of_size(self, size: float) -> int:
        """Return the level of headings in this size, or the next level if all are larger; 0 if no size is known."""
        if not self._sizes:
            return 0
        alike = (level for level, level_size in enumerate(self._sizes, 1) if size > 0.96 * level_size)
        return min(_MAX_LEVEL, next(alike, len(self._sizes) + 1))

    def _find_level_of_plain(self, line: TextLine, after: object, columns: PageColumns) -> int:
        """Return the level of a heading set like the body: it continues the numbering and is on a line of its own."""
        numbered = _NUMBERED.match(line.text)
        if not numbered or not self._counting.goes_on_inside(numbered["number"]):
            return 0
        left, right = columns.of(line)
        is_short = abs(line.left - left) < 2 and line.right < left + _MAX_PLAIN_WIDTH_SHARE * (right - left)
        if (
            not is_short
            or not numbered["title"][0].isupper()
            or ends_sentence(line.text)
            or line.size < 0.95 * self._body.size
        ):
            return 0
        leading = max(self._body.leading, 1.05 * line.size)
        if isinstance(after, TextLine) and line.base - after.base <= 1.12 * leading:
            return 0
        return self._find_level_of_numbered(line, numbered["number"]) if after is not None else 0

    def _find_level_of_numbered(self, line: TextLine, number: str) -> int:
        if not self.has_begun and number not in {"0", "1"}:
            return 0
        if not self._counting.counts_on(number):
            # If sections are set larger, a large numbered line is a section; those in between were missed.
            if not (self._sections_are_large and self._is_large(line) and "." not in number):
                return 0
            self._counting.go_on(number)
        self._level = number.count(".") + 1
        self._sections_are_large |= self._level == 1 and self._is_large(line)
        return self._level

    def _stands_alone(self, line: TextLine, after: object, columns: PageColumns, step: float) -> bool:
        """Return whether a bold line is set apart, starts at the column's edge, and is not a sentence."""
        (left, right) = columns.of(line)
        text = line.text
        if line.share("is_bold") < 0.95 or len(text) < 4 or text[-1] in ".:;,?!" or not text[0].isupper():
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
        """Return whether a line continues the heading on the line above.

        Args:
            before: The line above, part of a heading.
            line: The line.
            columns: Columns of the page.
            step: Distance of the baselines, in points.
        """
        if not 0 < step <= 1.5 * max(before.size, line.size) or _SECTION_NAME.match(line.text):
            return False
        left, right = columns.of(before)
        filled = (before.right - left) / max(1.0, right - left)
        if before.text.isupper() and line.text.isupper() and line.characters > 3:
            return filled > 0.55 and line.left > before.left - 2
        is_bold = line.share("is_bold") > 0.5 and before.share("is_bold") > 0.5
        if not is_bold or abs(line.size - before.size) > 0.06 * before.size or _NUMBERED.match(line.text):
            return False
        return self._is_large(line) or (filled > 0.6 and not ends_sentence(before.text))


def _is_in_capitals(line: TextLine) -> bool:
    return line.text.isupper() or _is_in_small_capitals(line)


def _is_in_small_capitals(line: TextLine) -> bool:
    """Return whether a line is in a small-capitals font, or in capitals with larger initials."""
    if line.share("is_small_capitals") > 0.5:
        return True
    return line.text.isupper() and len({round(run.size, 1) for run in line.runs}) > 1

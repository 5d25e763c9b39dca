"""Which lines are headings, and of which level.

A heading is set in bold, larger than the body or in capitals, and has space above; it has a number that counts on from
the last one, or a usual name, or stands alone.
"""

import re

from peercorpus.texts.layout.blocks import Body
from peercorpus.texts.layout.columns import Columns
from peercorpus.texts.layout.lines import Line, ends_sentence

NAMES = re.compile(
    r"(?:abstract|introduction|related works?|background|preliminar(?:y|ies)|methods?|methodology|experiments?|"
    r"results?|evaluation|discussions?|conclusions?|limitations?|future work|references|bibliography|appendix|"
    r"(?:conclusions?|discussions?|limitations?|reproducibility) (?:and|&) .{3,40}|appendices|"
    r"supplement(?:ary|al) materials?|acknowl[a-z]{0,3}e?g[a-z]{0,2}ments?(?: and disclosure of funding)?|"
    r"(?:ethics|ethical|reproducibility) statements?|ethical considerations|(?:broader )?impacts?(?: statement)?|"
    r"author contributions?|funding|neurips paper checklist|checklist|(?:code|data) availability|contents|"
    r"keywords)[.:]?$",
    re.IGNORECASE,
)
ENDS = re.compile(r"(?:references|bibliography|acknowl[a-z]{0,3}e?g[a-z]{0,2}ments?)[.:]?$", re.IGNORECASE)
"""Sections behind the last one that have a number, whatever size their headings have."""
OF_A_PAPER = re.compile(r"(?:abstract|references|bibliography|appendi)", re.IGNORECASE)
"""Names of sections, however they are set."""
NUMBERED = re.compile(r"(?P<number>(?:\d{1,2}|[A-Z])(?:\.\d{1,2}){0,3})\.?\s+(?P<title>\W?\w.*)$")
ROMAN = re.compile(r"(?P<number>X{0,1}(?:IX|IV|V?I{0,3}))\.\s+(?P<title>\w.*)$")
APPENDIX = re.compile(r"appendix\s+(?P<number>[A-Z])\b[.:]?", re.IGNORECASE)

SHORTEST, LONGEST = 2, 140
"""Characters of a heading."""
LARGER = 1.07
"""Size over that of the body, from which on a line is set larger."""
PLAIN = 0.85
"""Share of its column that a heading in the font of the body fills at most."""
SKIPPED = 2
"""A number may be so much higher than the last one: those between were not recognised."""
DEEPEST = 4
IN_CAPITALS = 3
"""Level of a usual name in capitals no larger than the body, where sections are larger."""


class Counting:
    """Numbers of headings in the order of a paper, and which may come next."""

    def __init__(self) -> None:
        self._last: tuple[str, ...] = ()

    def counts_on(self, number: str) -> bool:
        """Whether a number may follow the last heading's; from then on it is the last.

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
        """Whether a number is the next one inside the section of the last heading, or inside one that holds that.

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
        """Take a number for the last one."""
        self._last = tuple(number.split("."))

    def _may_follow(self, parts: tuple[str, ...]) -> bool:
        last, depth = self._last, len(parts)
        if not last:
            return parts[0] in {"0", "1", "2", "A"} and all(part in {"0", "1"} for part in parts[1:])
        if depth == 1:
            return _follows(last[0], parts[0]) or (parts[0] == "A" and last[0].isdigit())
        if parts[:-1] != last[: depth - 1]:
            # The heading above was not recognised; that below it tells of it.
            return all(part == "1" for part in parts[1:]) and _follows(last[0], parts[0])
        return parts[-1] in {"0", "1", "2"} if len(last) < depth else _follows(last[depth - 1], parts[-1])


def _follows(last: str, new: str) -> bool:
    return last.isdigit() == new.isdigit() and 0 < _value(new) - _value(last) <= SKIPPED


def _value(part: str) -> int:
    return int(part) if part.isdigit() else ord(part[0]) - ord("A") + 1


class Headings:
    """Tells the headings of a paper, line by line in its order.

    Attributes:
        has_begun: Whether the first heading was seen: before it stand title and authors.
    """

    def __init__(self, body: Body) -> None:
        self._body = body
        self._counting = Counting()
        self._level = 1
        self._sections_are_large = False
        self._sizes: list[float] = []
        self.has_begun = False

    def read(self, line: Line, after: object, columns: Columns, *, step: float, is_apart: bool) -> int:
        """The level of the heading that a line is; 0 where it is none.

        Args:
            line: With space above or not, as `is_apart` says.
            after: The next line, or what stands in its place, such as a table; None at the end of a page.
            columns: Of its page.
            step: From the line above, in points; below 0 where that stands elsewhere.
            is_apart: Whether it has more space above than a line of a paragraph, or stands at the top.
        """
        if not is_apart or not SHORTEST <= line.characters <= LONGEST or line.text[-1] in ",;":
            return 0
        is_set_off = self._is_set_off(line)
        level = self._read(line, after, columns, step) if is_set_off else self._plain(line, after, columns)
        if level:
            self.has_begun = True
            if level == len(self._sizes) + 1 and not line.text.lower().startswith("abstract"):
                self._sizes.append(line.size)
        return level

    def _is_set_off(self, line: Line) -> bool:
        if line.size < 0.95 * self._body.size and not _is_in_small_capitals(line):
            return False
        return line.share("is_bold") > 0.6 or self._is_large(line) or _is_in_capitals(line)

    def _is_large(self, line: Line) -> bool:
        return line.size > LARGER * self._body.size

    def _read(self, line: Line, after: object, columns: Columns, step: float) -> int:
        text = line.text
        if sum(map(str.isalpha, text)) < 0.4 * len(text):
            return 0
        numbered = NUMBERED.match(text)
        if numbered:
            return self._numbered(line, numbered["number"])
        roman, appendix = ROMAN.match(text), APPENDIX.match(text)
        if roman and roman["number"]:
            return 1
        if appendix:
            self._counting.counts_on(appendix["number"])
            return 1
        if NAMES.match(text) and (level := self._named(line)):
            return level
        if not self.has_begun or line.characters > 90 or ends_sentence(text):
            return 0
        larger, is_flush = line.size / self._body.size, abs(line.left - columns.of(line)[0]) < 2
        if larger >= 1.12 and is_flush:
            self._level = self._level_of(line.size) or (1 if larger > 1.18 else 2)
            return self._level
        return min(DEEPEST, self._level + 1) if self._stands_alone(line, after, columns, step) else 0

    def _named(self, line: Line) -> int:
        """The level of a usual name of a section; 0 where only its place can tell."""
        if self._is_large(line) or not (self._sections_are_large and self.has_begun):
            return 1
        if _is_in_capitals(line):
            return 1 if OF_A_PAPER.match(line.text) else IN_CAPITALS
        return 1 if ENDS.match(line.text) else 0

    def _level_of(self, size: float) -> int:
        """The level whose headings are of a size, the next one where all are larger; 0 where none was seen."""
        if not self._sizes:
            return 0
        alike = (level for level, known in enumerate(self._sizes, 1) if size > 0.96 * known)
        return min(DEEPEST, next(alike, len(self._sizes) + 1))

    def _plain(self, line: Line, after: object, columns: Columns) -> int:
        """The level of a heading set as the body is: its number goes on inside the section, and it stands alone."""
        numbered = NUMBERED.match(line.text)
        if not numbered or not self._counting.goes_on_inside(numbered["number"]):
            return 0
        left, right = columns.of(line)
        is_short = abs(line.left - left) < 2 and line.right < left + PLAIN * (right - left)
        if (
            not is_short
            or not numbered["title"][0].isupper()
            or ends_sentence(line.text)
            or line.size < 0.95 * self._body.size
        ):
            return 0
        leading = max(self._body.leading, 1.05 * line.size)
        if isinstance(after, Line) and line.base - after.base <= 1.12 * leading:
            return 0
        return self._numbered(line, numbered["number"]) if after is not None else 0

    def _numbered(self, line: Line, number: str) -> int:
        if not self.has_begun and number not in {"0", "1"}:
            return 0
        if not self._counting.counts_on(number):
            # Where sections are set larger, one that is so is one: those between were not recognised.
            if not (self._sections_are_large and self._is_large(line) and "." not in number):
                return 0
            self._counting.go_on(number)
        self._level = number.count(".") + 1
        self._sections_are_large |= self._level == 1 and self._is_large(line)
        return self._level

    def _stands_alone(self, line: Line, after: object, columns: Columns, step: float) -> bool:
        """Whether a line in bold has space above and below, begins where the column does, and is no sentence."""
        (left, right), text = columns.of(line), line.text
        if line.share("is_bold") < 0.95 or len(text) < 4 or text[-1] in ".:;,?!" or not text[0].isupper():
            return False
        # Beside many formulas the column is told too narrow; the text below begins where it really does.
        begins = after.left if isinstance(after, Line) and after.left < left else left
        if abs(line.left - begins) > 2 or line.right > left + 0.75 * (right - left):
            return False
        leading = max(self._body.leading, 1.05 * line.size)
        if 0 <= step < 1.4 * leading:
            return False
        if not isinstance(after, Line):
            return after is not None
        is_text = after.share("is_bold") <= 0.5 and after.left <= left + 2.5 * line.size
        return is_text and line.base - after.base > 1.12 * leading

    def wraps(self, before: Line, line: Line, columns: Columns, *, step: float) -> bool:
        """Whether a line goes on with the heading that the line above it is.

        Args:
            before: The line above, a heading or its end.
            line: The line.
            columns: Of the page.
            step: From the one to the other, in points.
        """
        if not 0 < step <= 1.5 * max(before.size, line.size) or NAMES.match(line.text):
            return False
        left, right = columns.of(before)
        filled = (before.right - left) / max(1.0, right - left)
        if before.text.isupper() and line.text.isupper() and line.characters > 3:
            return filled > 0.55 and line.left > before.left - 2
        is_bold = line.share("is_bold") > 0.5 and before.share("is_bold") > 0.5
        if not is_bold or abs(line.size - before.size) > 0.06 * before.size or NUMBERED.match(line.text):
            return False
        return self._is_large(line) or (filled > 0.6 and not ends_sentence(before.text))


def _is_in_capitals(line: Line) -> bool:
    return line.text.isupper() or _is_in_small_capitals(line)


def _is_in_small_capitals(line: Line) -> bool:
    """In the font of them, or in capitals of which the first of a word is larger than the rest."""
    if line.share("is_small_capitals") > 0.5:
        return True
    return line.text.isupper() and len({round(run.size, 1) for run in line.runs}) > 1

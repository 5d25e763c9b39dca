"""Write the text of a block as LaTeX: emphasis, code, links, scripts and formulas; all else is shown unchanged."""

import html
import re
from collections import Counter
from dataclasses import dataclass, field
from urllib.parse import quote

from peercorpus.latex.characters import escape_text
from peercorpus.latex.maths import Formula, UnfitFormulaError, read_formula

_MAX_OPEN = 8
"""Deepest nesting of emphasis; a mark nested deeper is shown unchanged."""
_SAFE_IN_URL = "/:?=.,;@!()+*'-%#&_~[]"
"""Characters that a URL may contain; others are percent-encoded."""
_DISPLAY_TAG = re.compile(r"[ \t]*\(((?:[A-Z]{1,2}\.?)?\d{1,3}(?:\.\d{1,3})*[a-z]?'*)\)[ \t]*(?=\n|$)")
"""Matches the number after a displayed formula."""
_FENCE = re.compile("`+")
_TOKEN = re.compile(
    r"""
    \\\[(?P<square>(?:[^\\$]|\\[^()\[\]])+)\\\]
    | \\\((?P<round>(?:[^\\$]|\\[^()\[\]])+)\\\)
    | \\(?P<escaped>[!-/:-@\[-`{-~])
    | (?P<fence>`+)
    | \$\$(?P<display>(?:\\[\s\S]|[^$\\])+)\$\$
    | \$(?P<maths>(?!\s)(?:\\[\s\S]|[^$\\])+(?<!\s))\$(?!\d)
    | (?P<image>!?)\[(?P<label>(?:\\.|[^\[\]\\\n])*)\]
      \((?P<url><?[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)?>?)(?P<hint>[ ]"[^"\n]*")?\)
    | \[\^(?P<note>[^\]\s]{1,40})\]
    | <(?P<auto>https?://[^\s<>]+)>
    | (?P<web>https?://[A-Za-z0-9][^\s()<>"'`|{}\\^$\[\]*]*[A-Za-z0-9/_=&%#+~-])
    | <(?P<close>/?)(?P<tag>sup|sub|b|strong|i|em|u)>
    | (?P<break><br\s?/?>|[ ]{2,5}\n)
    | (?P<entity>&(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)
    | (?P<marks>\*+|_+)
    """,
    re.VERBOSE,
)
_TAGS = {
    "sup": r"\textsuperscript{",
    "sub": r"\textsubscript{",
    "b": r"\textbf{",
    "strong": r"\textbf{",
    "i": r"\emph{",
    "em": r"\emph{",
    "u": r"\underline{",
}
_MARKS = {1: r"\emph{", 2: r"\textbf{", 3: r"\textbf{\emph{"}


@dataclass(slots=True)
class Refusals:
    """Counts of the formulas of a document, and the reasons why some are shown as text; `pending` are those of the
    block.
    """

    formulas: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    pending: list[str] = field(default_factory=list)

    def add(self, reason: str) -> None:
        """Record a formula that is shown as text."""
        self.reasons[reason] += 1
        self.pending.append(reason)

    def take_comments(self) -> str:
        """Return the pending reasons as comments, one per line, and clear them."""
        lines = "".join(f"% A formula is shown as text: {reason}.\n" for reason in dict.fromkeys(self.pending))
        self.pending.clear()
        return lines


@dataclass(slots=True)
class _Open:
    """A mark that may begin an emphasis, with the mark that closes it and its index in the parts."""

    key: str
    at: int


class InlineWriter:
    """Writes the text of blocks; `refusals` receives the formulas that are shown as text."""

    def __init__(self, refusals: Refusals) -> None:
        self.refusals = refusals

    def write(self, text: str, *, has_displays: bool = True) -> str:
        r"""Return text as LaTeX.

        >>> InlineWriter(Refusals()).write("**Data.** We use $β$ at 5%.")
        '\\textbf{Data.} We use $\\beta$ at 5\\%.'

        Args:
            text: Text without blank lines.
            has_displays: Whether displayed formulas may have a line of their own; false in a heading or a cell.
        """
        return _Inline(text, self.refusals, has_displays=has_displays).write()


class _Inline:
    def __init__(self, text: str, refusals: Refusals, *, has_displays: bool) -> None:
        self._text = text
        self._refusals = refusals
        self._has_displays = has_displays
        self._parts: list[str] = []
        self._open: list[_Open] = []
        self._waiting = Counter[str]()
        self._lengths: set[int] | None = None

    def write(self) -> str:
        position = 0
        while match := _TOKEN.search(self._text, position):
            self._parts.append(escape_text(self._text[position : match.start()]))
            position = self._take(match)
        self._parts.append(escape_text(self._text[position:]))
        return "".join(self._parts)

    def _take(self, match: re.Match[str]) -> int:
        """Write a match and return the position at which to continue."""
        kind = match.lastgroup
        if kind == "fence":
            return self._take_code(match)
        if kind in {"display", "square"}:
            return self._take_display(match[0], match[kind], match.end())
        if kind in {"maths", "round"}:
            self._add_formula(match[0], match[kind])
        elif kind in {"url", "hint"}:
            self._add_link(match)
        elif kind == "tag":
            self._add_tag(match[0], match["tag"], is_end=bool(match["close"]))
        elif kind == "marks":
            self._add_marks(match)
        else:
            self._parts.append(self._write_small(str(kind), match[0], match[str(kind)]))
        return match.end()

    def _write_small(self, kind: str, shown: str, inner: str) -> str:
        if kind == "escaped":
            # The group prevents two dashes from becoming one.
            return escape_text(inner) + "{}" * (inner in "-',<>")
        if kind == "entity":
            return escape_text(_decode(shown))
        if kind == "break":
            return "\\leavevmode\\newline{}\n" if self._has_displays else " "
        if kind == "note":
            return rf"\textsuperscript{{{escape_text(inner)}}}"
        return _link(inner)

    def _take_code(self, match: re.Match[str]) -> int:
        fence = match["fence"]
        if self._lengths is None:
            self._lengths = set(map(len, _FENCE.findall(self._text)))
        end = self._find_fence(len(fence), match.end())
        if end < 0:
            self._parts.append(escape_text(fence))
            return match.end()
        code = self._text[match.end() : end].replace("\n", " ")
        self._parts.append(rf"\texttt{{{escape_text(code.strip() or code)}}}")
        return end + len(fence)

    def _find_fence(self, length: int, start: int) -> int:
        assert self._lengths is not None
        if length not in self._lengths:
            return -1
        for run in _FENCE.finditer(self._text, start):
            if len(run[0]) == length:
                return run.start()
        self._lengths.discard(length)
        return -1

    def _read(self, source: str) -> Formula | None:
        self._refusals.formulas += 1
        try:
            return read_formula(source)
        except UnfitFormulaError as error:
            self._refusals.add(str(error))
            return None

    def _add_formula(self, shown: str, source: str) -> None:
        formula = self._read(source)
        if formula is None:
            self._parts.append(rf"\texttt{{{escape_text(' '.join(shown.split()))}}}")
            return
        tag = f" ({escape_text(formula.tag)})" if formula.tag else ""
        self._parts.append(f"${formula.latex}${tag}")

    def _take_display(self, shown: str, source: str, end: int) -> int:
        if not self._has_displays or self._open:
            self._add_formula(shown, source)
            return end
        formula = self._read(source)
        if formula is None:
            self._parts.append(rf"\texttt{{{escape_text(' '.join(shown.split()))}}}")
            return end
        behind = _DISPLAY_TAG.match(self._text, end)
        tag = behind[1] if behind and not formula.tag else formula.tag
        number = rf" \tag{{{escape_text(tag)}}}" if tag else ""
        self._parts.append(f"\n\\[{formula.latex}{number}\\]\n")
        return behind.end() if behind and not formula.tag else end

    def _add_link(self, match: re.Match[str]) -> None:
        url = match["url"].strip("<>")
        label = _Inline(match["label"], self._refusals, has_displays=False).write()
        hint = escape_text(match["hint"] or "")
        if match["image"]:
            # The image itself is not available, and a document made from outside text must not read files.
            self._parts += [label, " " if label else "", rf"\texttt{{{escape_text(url)}}}", hint]
        elif url.startswith(("http://", "https://")):
            self._parts += [_link(url, label or escape_text(url)), hint]
        else:
            self._parts += ["[", label, escape_text(f"]({match['url']}"), hint, ")"]

    def _add_tag(self, shown: str, tag: str, *, is_end: bool) -> None:
        if is_end and self._close(tag):
            return
        if is_end or len(self._open) >= _MAX_OPEN:
            self._parts.append(escape_text(shown))
            return
        self._push(tag, shown)

    def _add_marks(self, match: re.Match[str]) -> None:
        marks = match["marks"]
        before = self._text[match.start() - 1 : match.start()]
        after = self._text[match.end() : match.end() + 1]
        opens, closes = _flank(marks[0], before, after)
        is_product = len(marks) == 1 and before.isalnum() and after.isalnum()
        if len(marks) not in _MARKS or is_product:
            self._parts.append(escape_text(marks))
        elif closes and self._close(marks):
            return
        elif opens and len(self._open) < _MAX_OPEN:
            self._push(marks, marks)
        else:
            self._parts.append(escape_text(marks))

    def _push(self, key: str, shown: str) -> None:
        self._open.append(_Open(key, len(self._parts)))
        self._waiting[key] += 1
        self._parts.append(escape_text(shown))

    def _close(self, key: str) -> bool:
        """Turn the last mark of this kind into a command; marks within it that are still open are left unchanged."""
        if not self._waiting[key]:
            return False
        while (mark := self._open.pop()).key != key:
            self._waiting[mark.key] -= 1
        self._waiting[key] -= 1
        if not any(self._parts[mark.at + 1 :]):
            self._parts.append(escape_text(key if key not in _TAGS else f"</{key}>"))
            return True
        command = _TAGS.get(key) or _MARKS[len(key)]
        self._parts[mark.at] = command
        self._parts.append("}" * command.count("{"))
        return True


def _flank(mark: str, before: str, after: str) -> tuple[bool, bool]:
    """Return whether a mark may begin and may end emphasis, judging by the adjacent characters, as in CommonMark."""
    is_space_before, is_space_after = not before or before.isspace(), not after or after.isspace()
    is_sign_before, is_sign_after = _is_punctuation(before), _is_punctuation(after)
    is_left = not is_space_after and (not is_sign_after or is_space_before or is_sign_before)
    is_right = not is_space_before and (not is_sign_before or is_space_after or is_sign_after)
    if mark == "*":
        return is_left, is_right
    return is_left and (not is_right or is_sign_before), is_right and (not is_left or is_sign_after)


def _is_punctuation(char: str) -> bool:
    return bool(char) and not char.isalnum() and not char.isspace()


def _decode(entity: str) -> str:
    decoded = html.unescape(entity)
    return decoded if decoded.isprintable() or decoded == "\u00a0" else entity


def _link(url: str, label: str | None = None) -> str:
    escaped = re.sub(r"([%#&_])", r"\\\1", quote(url, safe=_SAFE_IN_URL))
    return rf"\href{{{escaped}}}{{{escape_text(url) if label is None else label}}}"

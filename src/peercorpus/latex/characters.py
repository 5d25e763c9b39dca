"""Write characters as LaTeX: special characters are escaped, and symbols and letters of formulas become commands."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType

from peercorpus.latex.signs import MATHS_ACCENTS, SIGNS, TEXT_ACCENTS

_ESCAPES: Mapping[str, str] = MappingProxyType(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "#": r"\#",
        "%": r"\%",
        "_": r"\_",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "`": r"\textasciigrave{}",
        "\u00a0": "~",
        "\u00ad": r"\-",
        "\u2002": r"\enspace{}",
        "\u2003": r"\quad{}",
        "\u2009": r"\,",
        "\u200a": r"\,",
        "\u200b": r"\hspace{0pt}",
        "\u202f": r"\,",
        "\u2010": "-",
        "\u2011": "-",
    }
)
_NATIVE = frozenset(
    {chr(code) for code in range(0xA1, 0x180)} - set("\u00ad\u0126\u0127\u0138\u013f\u0140\u0149\u0166\u0167\u017f")
    | set("–—‘’‚“”„†‡•…‰‹›€™ﬀﬁﬂﬃﬄȘșȚț")
)
"""Characters that every engine can typeset directly: those of the T1 encoding and its companion."""
_LIGATURE = re.compile(r"([-',<>])(?=\1)")
"""Matches the first of two characters that TeX joins to one."""
_SPECIAL = re.compile(r"\S[\u0300-\u036f\u20d0-\u20ff]+|[\\{}$&#%_~^`]|[^\x00-\x7f]")
"""Matches everything that is not written unchanged, including a character with the accents that follow it."""
_UNBROKEN_CHARACTERS = 500
_UNBROKEN = re.compile(rf"\S{{{_UNBROKEN_CHARACTERS}}}(?=\S)")
"""Matches a long stretch without a space: TeX limits the length of lines, XeTeX crashes on 2,000 letters."""
_STYLES: Mapping[str, str] = MappingProxyType(
    {
        "BOLD": r"\mathbf{%s}",
        "ITALIC": "%s",
        "BOLD ITALIC": r"\boldsymbol{%s}",
        "SCRIPT": r"\mathcal{%s}",
        "BOLD SCRIPT": r"\boldsymbol{\mathcal{%s}}",
        "FRAKTUR": r"\mathfrak{%s}",
        "BOLD FRAKTUR": r"\boldsymbol{\mathfrak{%s}}",
        "DOUBLE-STRUCK": r"\mathbb{%s}",
        "SANS-SERIF": r"\mathsf{%s}",
        "SANS-SERIF BOLD": r"\boldsymbol{\mathsf{%s}}",
        "SANS-SERIF ITALIC": r"\mathsf{%s}",
        "SANS-SERIF BOLD ITALIC": r"\boldsymbol{\mathsf{%s}}",
        "MONOSPACE": r"\mathtt{%s}",
    }
)
"""Style in the Unicode name of a letter for formulas → its command."""
_CAPITALS_ONLY = frozenset({"SCRIPT", "BOLD SCRIPT", "DOUBLE-STRUCK"})
"""Styles without lower-case letters and digits in the fonts of a basic TeX installation."""


def escape_text(text: str) -> str:
    r"""Return text as LaTeX that shows exactly these characters.

    >>> escape_text("50% of {a_b} -- see #3 & C:\\x")
    '50\\% of \\{a\\_b\\} -{}- see \\#3 \\& C:\\textbackslash{}x'
    >>> escape_text("α → ẏ, naïve")
    '\\ensuremath{\\alpha} \\ensuremath{\\rightarrow} \\.{y}, naïve'
    """
    text = unicodedata.normalize("NFC", text)
    pieces = _UNBROKEN.sub("\\g<0>\0", text) if len(text) > _UNBROKEN_CHARACTERS else text
    escaped = _SPECIAL.sub(lambda match: _write_character(match[0]), _LIGATURE.sub("\\1\1", pieces))
    return escaped.replace("\1", "{}").replace("\0", "\\allowbreak{}%\n")


@cache
def _write_character(char: str) -> str:
    """Return a character, with the accents that follow it, as LaTeX for text."""
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char in _NATIVE:
        return char
    sign = find_maths(char)
    if sign is not None:
        return rf"\ensuremath{{{sign}}}"
    return _find_script(char) or _find_accented(char) or "".join(_ESCAPES.get(part, part) for part in char)


def _find_script(char: str) -> str | None:
    """Return a superscript or subscript digit or letter as LaTeX; None for any other character."""
    if len(char) > 1:
        return None
    kind, _, points = unicodedata.decomposition(char).partition(" ")
    if kind not in {"<super>", "<sub>"}:
        return None
    inner = "".join(chr(int(point, 16)) for point in points.split())
    return rf"\text{'super' if kind == '<super>' else 'sub'}script{{{escape_text(inner)}}}"


def _find_accented(char: str) -> str | None:
    """Return a letter with accents as LaTeX for text; None for any other character."""
    letter, *marks = tuple(unicodedata.normalize("NFD", char))
    if not marks:
        return None
    if letter.isascii() and letter.isalnum() and TEXT_ACCENTS.keys() >= set(marks):
        return _put_accents(letter, marks, TEXT_ACCENTS)
    accented = _find_accented_maths(char)
    return None if accented is None else rf"\ensuremath{{{accented}}}"


def _find_accented_maths(char: str) -> str | None:
    letter, *marks = tuple(unicodedata.normalize("NFD", char))
    base = letter if letter.isascii() and letter.isalnum() else find_maths(letter)
    if base is None or not marks or not MATHS_ACCENTS.keys() >= set(marks):
        return None
    return _put_accents(base, marks, MATHS_ACCENTS)


def _put_accents(letter: str, marks: Sequence[str], accents: Mapping[str, str]) -> str:
    for mark in marks:
        letter = f"{accents[mark]}{{{letter}}}"
    return letter


@cache
def find_maths(char: str) -> str | None:
    r"""Return the command for a symbol or letter of formulas; None for any other character.

    >>> find_maths("β"), find_maths("𝐱"), find_maths("𝔼"), find_maths("𝜶"), find_maths("中")
    ('\\beta', '\\mathbf{x}', '\\mathbb{E}', '\\boldsymbol{\\alpha}', None)
    """
    if char in SIGNS or len(char) > 1:
        return SIGNS.get(char)
    kind, _, point = unicodedata.decomposition(char).partition(" ")
    name = unicodedata.name(char, "")
    if kind != "<font>" or not name.startswith("MATHEMATICAL "):
        return None
    letter = chr(int(point, 16))
    return _style_letter(name.removeprefix("MATHEMATICAL "), SIGNS.get(letter, letter))


def _style_letter(name: str, letter: str) -> str | None:
    """Return a letter in the style that its Unicode name states; None for a style that has no command."""
    style = re.split(r" (?:CAPITAL|SMALL|DIGIT|DOTLESS|NABLA|PARTIAL|EPSILON|THETA|KAPPA|PHI|RHO|PI)\b", name)[0]
    if style not in _STYLES:
        return None
    if len(letter) > 1:
        return letter if style == "ITALIC" else rf"\boldsymbol{{{letter}}}"
    if style in _CAPITALS_ONLY and not letter.isupper():
        return rf"\mathbf{{{letter}}}"
    return _STYLES[style] % letter


@cache
def write_maths(char: str) -> str:
    r"""Return a character that is not ASCII as LaTeX for a formula.

    >>> write_maths("≤"), write_maths("ŷ"), write_maths("中")
    ('\\leq', '\\hat{y}', '\\text{中}')
    """
    return find_maths(char) or _find_accented_maths(char) or rf"\text{{{escape_text(char)}}}"


def find_unset(latex: str) -> list[str]:
    """Return the characters of a document that not every engine can typeset, in order, once each."""
    return sorted(set(re.findall(r"[^\x00-\x7f]", latex)) - _NATIVE)

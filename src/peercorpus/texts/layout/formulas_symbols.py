"""What the codes of the fonts of formulas stand for, where a PDF does not say it.

Without a Unicode table pdfium gives the code of a glyph whose name it does not know. The encodings are those of TeX.

Source:
    The LaTeX encodings guide, `encguide`: OML, OMS, OMX; the AMS fonts' guide for `msam`; dvips for the shifted codes.
"""

import re
import unicodedata
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import NamedTuple

OML = (
    "ΓΔΘΛΞΠΣΥΦΨΩαβγδϵζηθικλμνξπρστυϕχψωεϑϖϱςφ↼↽⇀⇁↩↪▷◁0123456789.,</>⋆∂ABCDEFGHIJKLMNOPQRSTUVWXYZ♭♮♯⌣⌢ℓ"
    "abcdefghijklmnopqrstuvwxyzıȷ℘⃗⁀"
)
"""Letters of formulas (`cmmi`), by code."""
OMS = (
    "−·×∗÷⋄±∓⊕⊖⊗⊘⊙○∘•≍≡⊆⊇≤≥⪯⪰∼≈⊂⊃≪≫≺≻←→↑↓↔↗↘≃⇐⇒⇑⇓⇔↖↙∝′∞∈∋△▽̸↦∀∃¬∅ℜℑ⊤⊥ℵABCDEFGHIJKLMNOPQRSTUVWXYZ∪∩⊎∧∨⊢⊣⌊⌋⌈⌉{}⟨⟩|∥↕⇕∖≀√∐∇∫⊔⊓⊑⊒"
    "§†‡¶♣♢♡♠"
)
"""Signs (`cmsy`), by code."""
OMX = (
    "()[]⌊⌋⌈⌉{}⟨⟩|∥/∖()()[]⌊⌋⌈⌉{}⟨⟩/∖()[]⌊⌋⌈⌉{}⟨⟩/∖/∖⎛⎞⎡⎤⎣⎦⎢⎥⎧⎫⎩⎭⎨⎬⎪|⎝⎠⎜⎟⟨⟩⊔⊔∮∮⊙⊙⊕⊕⊗⊗∑∏∫∪∩⊎∧∨∑∏∫∪∩⊎∧∨∐∐̂̂̂̃̃̃[]⌊⌋⌈⌉{}"
    "√√√√√||∥↑↓⏞⏞⏟⏟⇑⇓"
)
"""Large signs (`cmex`), by code."""
MSAM = "⊡⊞⊠□■·◇⧫↻↺⇌⇋⊟⊩⊪⊨↠↞⇇⇉⇈⇊↾⇂↿⇃↣↢⇆⇄↰↱⇝↭↫↬≗≿≳⪆⊸∴∵≑≜≾≲⪅⪕⪖⋞⋟≼≦⩽≶‵-≓≒≽≧⩾≷⊏⊐▷◁⊵⊴★≬▼▶◀→←△▲▽≖⋚⋛⪋⪌¥⇛⇚✓⊻⊼⩞∠"
"""Signs of the AMS (`msam`), by code."""
MSBM = dict(zip("?@()~rkno-,", "∅∄⊊⊋ℏ∖𝕜⋉⋊∦∤", strict=True))
"""Signs of the AMS (`msbm`) that are no capital."""
NEGATED = "≨≩≰≱≮≯⊀⊁≨≩≰≱⪇⪈⋠⋡⋨⋩⋦⋧≰≱⪵⪶⪹⪺⪉⪊≁≇╱╲⊊⊋⊈⊉⫋⫌⫋⫌⊊⊋⊈⊉∦∤∤∦⊬⊮⊭⊯⋭⋬⋪⋫↚↛⇍⇏⇎↮⋇∅∄"
"""Signs of `msbm`, by code: what is not less, not a subset, and so on. Other fonts of double letters have none."""
SLASH = "\u0338"
"""What negates the sign behind it."""
DEPTHS = (
    (0x00, 1.2), (0x0C, 0.6), (0x0E, 1.2), (0x10, 1.8), (0x12, 2.4), (0x20, 3.0), (0x2E, 1.8), (0x36, 0.6),
    (0x38, 0.9), (0x3C, 1.8), (0x3E, 0.6), (0x40, 1.8), (0x42, 0.6), (0x44, 1.8), (0x46, 1.0), (0x47, 1.4),
    (0x48, 1.1), (0x49, 2.2), (0x4A, 1.0), (0x4B, 1.4), (0x4C, 1.0), (0x4D, 1.4), (0x4E, 1.0), (0x4F, 1.4),
    (0x50, 1.0), (0x52, 1.1), (0x53, 1.0), (0x58, 1.4), (0x5A, 2.2), (0x5B, 1.4), (0x60, 1.0), (0x61, 1.4),
    (0x62, 0.0), (0x68, 1.8), (0x70, 1.2), (0x71, 1.8), (0x72, 2.4), (0x73, 3.0), (0x74, 1.8), (0x75, 0.6),
    (0x78, 0.6), (0x7A, 0.3), (0x7E, 0.6),
)  # fmt: skip
"""How far a large sign goes down from its origin, in the size of its font: from which code on, and how far."""
PIECES = dict(zip(range(0xF8EB, 0xF8F5), "⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪", strict=True)) | dict(
    zip(range(0xF8F6, 0xF8FF), "⎞⎟⎠⎤⎥⎦⎫⎬⎭", strict=True)
)
"""Parts of tall brackets, as Adobe's list of names has them."""
PARTS = frozenset(PIECES.values())
AXIS = 0.25
"""Height above the baseline at which bars and large signs are centred, in the size of the font."""
LOWEST = 1.0
"""Height of a tall sign, in the size of its font, at least."""
MOST = 8192
"""Characters that are remembered."""
SCRIPTS = {"B": "ℬ", "E": "ℰ", "F": "ℱ", "H": "ℋ", "I": "ℐ", "L": "ℒ", "M": "ℳ", "R": "ℛ"}
DOUBLES = {"C": "ℂ", "H": "ℍ", "N": "ℕ", "P": "ℙ", "Q": "ℚ", "R": "ℝ", "Z": "ℤ", "1": "𝟙"}
FRAKTURS = {"C": "ℭ", "H": "ℌ", "I": "ℑ", "R": "ℜ", "Z": "ℨ"}
"""Capitals that stand elsewhere in Unicode than their alphabet."""
KINDS = (
    ("omx", re.compile(r"(?:cm|lm|tx|px|mt|rtx|ntx|newtx|yhcm|eu|fp)\w*?ex|esint", re.I)),
    ("oms", re.compile(r"(?:cmb?|lm|tx|px|rmt|mt|rtx|ntx|newtx)\w*?sy|fplmsy", re.I)),
    ("oml", re.compile(r"(?:cm|lm|tx|px|rmt|mt|rtx|ntx|newtx|r?px)mi|eurm|fplmr|zplm", re.I)),
    ("msam", re.compile(r"msam|stmary", re.I)),
    ("double", re.compile(r"msbm|bbm|dsrom|bbold", re.I)),
    ("script", re.compile(r"eusm|rsfs", re.I)),
    ("fraktur", re.compile(r"eufm", re.I)),
)
"""The encoding a font has, by its name."""
TRUE_OMS = frozenset("|{}\\/<>+=") | {chr(code) for code in range(0x41, 0x5B)}
"""What is itself in `cmsy`, though it is ASCII: pdfium knows the names of these glyphs."""
SHIFTED = {code + (0xA1 if code < 10 else 0xA3): code for code in range(0x20)}
"""Where dvips puts the codes of controls."""
TRUE_SHIFTED = frozenset("±¬·×÷§¶µ°©®")
"""What is itself, though it lies there."""
HALF = re.compile("[\ud800-\udfff]")
"""A half of a character beyond U+FFFF."""
ALONE = frozenset("ˆ˜¯˙¨ˇ⃗˘´`√")
"""Accents as signs of their own, and the root, which hangs from its top in the fonts of TeX."""
SAME = str.maketrans(
    "µ∆\u2126ˆ˜¯˙¨ˇ˘´`⃗∗◦ǁ‖〈〉\\|",
    "μΔΩ\u0302\u0303\u0304\u0307\u0308\u030c\u0306\u0301\u0300\u20d7*∘∥∥⟨⟩∖∣",
)
"""One sign for those that mean the same in a formula; accents as the combining sign, and no bar of a Markdown table."""


class Sign(NamedTuple):
    """What a glyph stands for.

    Attributes:
        text: Empty where it is not known.
        depth: How far it goes down from its origin, in the size of its font; 0 where it stands on the line.
    """

    text: str
    depth: float


def _alphabet(letter: str, start: int, exceptions: dict[str, str]) -> str:
    found = exceptions.get(letter)
    if found is None and "A" <= letter <= "Z":
        return chr(start + ord(letter) - 65)
    return found or letter


def _code(letter: str) -> int:
    code = ord(letter)
    if letter == "\ufffd":
        return 0
    if code == 0xFFFE:
        return 2
    return code if letter in TRUE_SHIFTED else SHIFTED.get(code, code)


@lru_cache(MOST)
def kind_of(font: str) -> str:
    """The encoding of a font; empty where it is none of TeX's."""
    return next((kind for kind, pattern in KINDS if pattern.match(font)), "")


@lru_cache(MOST)
def sign(font: str, letter: str, has_table: bool = False) -> Sign:
    """What a character of a font of formulas stands for.

    Args:
        font: Its name.
        letter: As pdfium gives it.
        has_table: Whether the font is known to have a Unicode table.

    >>> sign("CMSY10", "k").text, sign("CMEX10", "X"), sign("MSBM10", "R").text
    ('∥', Sign(text='∑', depth=1.4), 'ℝ')
    """
    kind, code, depth = kind_of(font), _code(letter), 0.0
    text = letter
    if kind == "omx":
        text, depth = _large(letter, 0x10000 if has_table and letter.isprintable() else code)
    elif kind == "oms":
        text = _of_oms(letter, code)
    elif kind == "oml" and code < 128 and letter not in "<>./,":
        text = OML[code]
    elif kind == "msam" and code < len(MSAM):
        text = MSAM[code]
    elif kind == "double":
        is_negated = code < len(NEGATED) and font[:4].upper() == "MSBM"
        text = NEGATED[code] if is_negated else MSBM.get(letter) or _alphabet(letter, 0x1D538, DOUBLES)
    elif kind == "script":
        text = _alphabet(letter, 0x1D49C, SCRIPTS)
    elif kind == "fraktur":
        text = _alphabet(letter, 0x1D504, FRAKTURS)
    return Sign("".join(map(clean, text)), depth)


def bare(text: str, font: str) -> str:
    """Without space at the ends; controls, and in fonts of large signs a space too, are glyphs."""
    return text.strip(" ") or (text[:1] if kind_of(font) == "omx" else "")


def unpaired(text: str) -> str:
    """The halves of characters beyond U+FFFF put together; every other code as it is."""
    if text.isascii() or not HALF.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def said(text: str, font: str) -> str:
    r"""A word of a font of formulas as plain text, with accents as signs of their own and no star of Markdown.

    >>> said("\x0b", "CMMI10")
    'α'
    """
    return "".join(letter if letter in ALONE else sign(font, letter).text for letter in unpaired(text)).replace(
        "*", "∗"
    )


def stands_over(letter: str, font: str) -> bool:
    """Whether a character stands over the line: an accent, a root, or a large sign hung from its top."""
    return letter in ALONE or kind_of(font) == "omx"


@lru_cache(MOST)
def hang(text: str, font: str) -> float:
    """How far above its line's baseline a tall sign by itself has its origin, in the size of its font.

    0 for what stands on the line, and for the parts of a bracket, of which only all together are centred.
    """
    if len(text) != 1 or kind_of(font) != "omx":
        return 0.0
    piece, depth = sign(font, text)
    return depth / 2 + AXIS if depth >= LOWEST and piece not in PARTS else 0.0


def negates(text: str, font: str) -> bool:
    """Whether a run ends with the slash through the sign behind it, which fonts of TeX draw before that sign."""
    return sign(font, text[-1]).text == SLASH


def is_mapped(letters: AbstractSet[str]) -> bool:
    """Whether the font of large signs, of which these were read, has a Unicode table: then codes are no codes.

    Only without one are `{`, `}` and `|` the parts of a lying brace, which comes with `z`.
    """
    if any(letter < " " or letter in "\ufffd\ufffe" or "\ue000" <= letter <= "\uf8ff" for letter in letters):
        return False
    return (
        any(ord(letter) > 0xFF for letter in letters)
        or not letters.isdisjoint(")]")
        or ("z" not in letters and not letters.isdisjoint("{}|"))
    )


def _of_oms(letter: str, code: int) -> str:
    if "A" <= letter <= "Z":
        return _alphabet(letter, 0x1D49C, SCRIPTS)
    return OMS[code] if code < 128 and letter not in TRUE_OMS else letter


def _large(letter: str, code: int) -> tuple[str, float]:
    if ord(letter) in PIECES:
        code = ord(letter)
    if code in PIECES:
        piece = PIECES[code]
        return piece, 0.6 if piece in "⎜⎟⎢⎥⎪" else 0.9 if piece in "⎧⎫⎩⎭" else 1.8
    if code < 128:
        return OMX[code], next(depth for first, depth in reversed(DEPTHS) if first <= code)
    # A table of Unicode says what it is and not how large.
    return letter, 1.4 if letter in "∑∏⋃⋂⨁" else 2.2 if letter == "∫" else 1.2


def clean(letter: str) -> str:
    """One sign for all that mean the same; empty for what no text may hold, such as private codes."""
    letter = letter.translate(SAME)
    code = ord(letter)
    if 0x1D434 <= code <= 0x1D467 or 0x1D6E2 <= code <= 0x1D71B or code == 0x210E:
        return unicodedata.normalize("NFKC", letter)
    if code == 0xFFFD or unicodedata.category(letter) in {"Cc", "Co", "Cn", "Cs", "Cf"}:
        return ""
    return letter

"""Translate the codes of TeX's math fonts to Unicode.

Math fonts without a Unicode table name their glyphs in TeX's own way. If pdfium does not know a name, it returns the
code of the glyph, its position in one of the encodings of `tex_encodings`; if the name means something else in Adobe's
list of glyph names, it returns that. Source of the shifted codes: dvips.
"""

import re
import unicodedata
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import NamedTuple

OML = (
    "ΓΔΘΛΞΠΣΥΦΨΩαβγδϵζηθικλμνξπρστυϕχψωεϑϖϱςφ↼↽⇀⇁↩↪▷◁0123456789.,</>⋆∂ABCDEFGHIJKLMNOPQRSTUVWXYZ♭♮♯⌣⌢ℓ"
    "abcdefghijklmnopqrstuvwxyzıȷ℘\u20d7⁀"
)
"""Encoding of math italic fonts (`cmmi`)."""
OMS = (
    "−·×∗÷⋄±∓⊕⊖⊗⊘⊙○∘•≍≡⊆⊇≤≥⪯⪰∼≈⊂⊃≪≫≺≻←→↑↓↔↗↘≃⇐⇒⇑⇓⇔↖↙∝′∞∈∋△▽\u0338↦∀∃¬∅ℜℑ⊤⊥ℵABCDEFGHIJKLMNOPQRSTUVWXYZ∪∩⊎∧∨⊢⊣⌊⌋⌈⌉{}⟨⟩|∥↕⇕∖≀√⨿∇∫"
    "⊔⊓⊑⊒§†‡¶♣♢♡♠"
)
"""Encoding of math symbol fonts (`cmsy`); its capitals are calligraphic."""
OMX = (
    "()[]⌊⌋⌈⌉{}⟨⟩|∥/∖()()[]⌊⌋⌈⌉{}⟨⟩/∖()[]⌊⌋⌈⌉{}⟨⟩/∖/∖⎛⎞⎡⎤⎣⎦⎢⎥⎧⎫⎩⎭⎨⎬⎪|⎝⎠⎜⎟⟨⟩⨆⨆∮∮⨀⨀⨁⨁⨂⨂∑∏∫⋃⋂⨄⋀⋁∑∏∫⋃⋂⨄⋀⋁∐∐"
    "\u0302\u0302\u0302\u0303\u0303\u0303[]⌊⌋⌈⌉{}√√√√√||∥↑↓⏞⏞⏟⏟⇑⇓"
)
"""Encoding of math extension fonts (`cmex`), which contain large symbols."""
MSAM = (
    "⊡⊞⊠□■·◇⧫↻↺⇌⇋⊟⊩⊪⊨↠↞⇇⇉⇈⇊↾⇂↿⇃↣↢⇆⇄↰↱⇝↭↫↬≗≿≳⪆⊸∴∵≑≜≾≲⪅⪕⪖⋞⋟≼≦⩽≶‵╌≓≒≽≧⩾≷⊏⊐▷◁⊵⊴★≬▼▶◀→←△▲▽≖⋚⋛⪋⪌¥⇛⇚✓⊻⊼⩞∠∡∢∝⌣⌢⋐⋑⋓⋒⋏⋎⋋⋌⫅⫆≏≎⋘⋙⌜⌝®Ⓢ⋔∔"
    "∽⋍⌞⌟✠∁⊺⊚⊛⊝"
)
"""First AMS symbol font (`msam`)."""
MSBM = (
    "≨≩≰≱≮≯⊀⊁≨≩≰≱⪇⪈⋠⋡⋨⋩⋦⋧≰≱⪵⪶⪹⪺⪉⪊≁≇╱╲⊊⊋⊈⊉⫋⫌⫋⫌⊊⊋⊈⊉∦∤∤∦⊬⊮⊭⊯⋭⋬⋪⋫↚↛⇍⇏⇎↮⋇∅∄𝔸𝔹ℂ𝔻𝔼𝔽𝔾ℍ𝕀𝕁𝕂𝕃𝕄ℕ𝕆ℙℚℝ𝕊𝕋𝕌𝕍𝕎𝕏𝕐ℤ"
    "\u0302\u0302\u0303\u0303\ufffdℲ⅁\ufffd\ufffd\ufffd\ufffd℧ð≂ℶℷℸ⋖⋗⋉⋊∣∥∖∼≈≊⪸⪷↶↷Ϝϰ𝕜ℏℏ϶"
)
"""Second AMS symbol font (`msbm`): negated relations and double-struck capitals."""
STMARY = (
    "←→↑↓⅄?≺≻⋎⋏⦵⦶⫽??⊗⊛⦶⊙⊘⦸⊚⊕⊖⧆◫⊡⧄⧅⧇⧈□☇?×⨟↙↘??⫽?⟅⟆◯???↖↗??⧀⧁??⫾⫴⦶⦸⧀⧁??"
    "▯???⪿⫀??⟅⟆⟦⟧⦇⦈?⅋⊴⊵⋬⋭????\u0338\u0338???⇿⇽⇾▽△⋎⋏⨅□∥⫴????????"
    "????????????????"
).replace("?", "\ufffd")
"""Symbol font of `stmaryrd`."""
TXSYC = (
    "???????○●∥∥∦∦??⩴?≐⟜⧟⊸????⊫?≅⪳⪴⋨⋩≴≵??⋠⋡≹≸????≠≭≢≁≉⊄⊅????⪹⪺⪵⪶≄∉∌??⋢⋣≔≕??⩴???⥽"
    "??⅋⟅⟆??????????⋈???◇◆???⇠⇢?⇜??⧆⧅◫⧄??ƛ♧♦♥♤⇗⇘⇖⇙?⫫?⇝??⟦⟧"
).replace("?", "\ufffd")
"""Third symbol font of `txfonts` and `pxfonts` (`txsyc`)."""
LASY = {"✁": "◁", "✂": "⊴", "✄": "▷", "☎": "⊵", "✵": "℧", "✶": "⋈", "✷": "□", "✸": "◇", "❀": "⇝", "❁": "⊏", "❂": "⊐"}
"""Symbols of `lasy` by pdfium's character, which is that of Zapf Dingbats because both use the same glyph names."""
SYMBOL = dict(
    zip(
        range(0x20, 0x7F),
        " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼",
        strict=True,
    )
) | dict(
    zip(
        range(0xA1, 0xFF),
        "ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪\ufffd⟩∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭",
        strict=True,
    )
)
"""Encoding of Symbol, by code; Windows gives its codes in the private range from U+F000."""


UNKNOWN = "\ufffd"
"""Replaces a glyph whose character is unknown, as is usual for U+FFFD."""
SLASH = "\u0338"
"""Combining slash that negates the symbol after it."""
_OMX_DEPTHS_EM = (
    (0x00, 1.2), (0x0C, 0.6), (0x0E, 1.2), (0x10, 1.8), (0x12, 2.4), (0x20, 3.0), (0x2E, 1.8), (0x36, 0.6),
    (0x38, 0.9), (0x3C, 1.8), (0x3E, 0.6), (0x40, 1.8), (0x42, 0.6), (0x44, 1.8), (0x46, 1.0), (0x47, 1.4),
    (0x48, 1.1), (0x49, 2.2), (0x4A, 1.0), (0x4B, 1.4), (0x4C, 1.0), (0x4D, 1.4), (0x4E, 1.0), (0x4F, 1.4),
    (0x50, 1.0), (0x52, 1.1), (0x53, 1.0), (0x58, 1.4), (0x5A, 2.2), (0x5B, 1.4), (0x60, 1.0), (0x61, 1.4),
    (0x62, 0.0), (0x68, 1.8), (0x70, 1.2), (0x71, 1.8), (0x72, 2.4), (0x73, 3.0), (0x74, 1.8), (0x75, 0.6),
    (0x78, 0.6), (0x7A, 0.3), (0x7E, 0.6),
)  # fmt: skip
"""Depth of large symbols below their origin, in em: first code of a range, and its depth."""
_BRACKET_PIECES = (
    {0xF8E6: "⎪"}
    | dict(zip(range(0xF8EB, 0xF8F5), "⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪", strict=True))
    | dict(zip(range(0xF8F6, 0xF8FF), "⎞⎟⎠⎤⎥⎦⎫⎬⎭", strict=True))
)
"""Pieces of tall brackets, by their codes in the Adobe Glyph List."""
_BRACKET_PIECE_SIGNS = frozenset(_BRACKET_PIECES.values())
"""The same pieces, without codes."""
STRETCHY = frozenset("√∑∏∐⋃⋂⨁⨂⨆⋁⋀∫∬∭∮()[]{}|∣‖∥⟨⟩⌊⌋⌈⌉⏞⏟") | {chr(code) for code in range(0x239B, 0x23B4)}
"""Characters that Unicode maths fonts have in several sizes, and pieces of still larger ones."""
AXIS_EM = 0.25
"""Height of the math axis, on which fraction bars and large symbols are centred, above the baseline, in em."""
_MIN_TALL_DEPTH_EM = 1.0
"""Minimum depth of a tall symbol, in em."""
CACHED_CALLS = 8192
"""Number of results kept by each cache."""
_SCRIPT_CAPITALS = {"B": "ℬ", "E": "ℰ", "F": "ℱ", "H": "ℋ", "I": "ℐ", "L": "ℒ", "M": "ℳ", "R": "ℛ"}
_DOUBLE_STRUCK = {"C": "ℂ", "H": "ℍ", "N": "ℕ", "P": "ℙ", "Q": "ℚ", "R": "ℝ", "Z": "ℤ"}
_FRAKTUR_CAPITALS = {"C": "ℭ", "H": "ℌ", "I": "ℑ", "R": "ℜ", "Z": "ℨ"}
"""Capitals that Unicode encodes outside the block of their alphabet."""
_ENCODING_PATTERNS = (
    ("txexa", re.compile(r"[tp]xexa", re.I)),
    ("txmia", re.compile(r"r?[tp]xmia", re.I)),
    ("omx", re.compile(r"(?:cm|lm|tx|px|mt|rtx|ntx|newtx|yhcm|eu|fp)\w{0,40}?ex", re.I)),
    ("msam", re.compile(r"msam|[tp]xsya", re.I)),
    ("msbm", re.compile(r"msbm|[tp]xsyb", re.I)),
    ("stmary", re.compile(r"stmary", re.I)),
    ("lasy", re.compile(r"lasy", re.I)),
    ("symbol", re.compile(r"symbol(?:mt)?\b|standardsym", re.I)),
    ("esint", re.compile(r"esint", re.I)),
    ("txsyc", re.compile(r"[tp]xsyc", re.I)),
    ("symbols", re.compile(r"wasy|mnsymbol|fdsymbol|mathabx|matha\d|mathb\d", re.I)),
    ("oms", re.compile(r"(?:cmb?|lm|tx|px|rmt|mt|rtx|ntx|newtx)\w{0,40}?sy|fplmsy", re.I)),
    ("oml", re.compile(r"(?:cm|lm|tx|px|rmt|mt|rtx|ntx|newtx|r?px)mi|eurm|fplmr|zplm", re.I)),
    ("double", re.compile(r"bbm|dsrom|bbold|pazomath\w{0,20}blackboard|fplmbb", re.I)),
    ("script", re.compile(r"eusm|rsfs", re.I)),
    ("fraktur", re.compile(r"eufm", re.I)),
)
"""Encodings, each with a pattern of font names that have it."""
_TABLES = {
    "oml": OML,
    "txmia": OML[:0x28] + UNKNOWN * (len(OML) - 0x28),
    "txexa": UNKNOWN * len(OML),
    "oms": OMS,
    "msam": MSAM,
    "msbm": MSBM,
    "stmary": STMARY,
    "txsyc": TXSYC,
}
"""Encodings in which a code stands for one character; large symbols keep their code, which implies their size."""
_MISNAMED = {
    "lasy": LASY,
    "msam": {"♢": "◇", "♦": "◇", "⇔": "⇇", "⇒": "⇉", "≪": "⋘", "≫": "⋙"},
    "msbm": {"ג": "ℷ", "κ": "ϰ"},
    "symbol": {chr(code): piece for code, piece in _BRACKET_PIECES.items()},
    "esint": dict(zip("´ˆ˜¨˝˚¸˛‚‹", "∫∫∬∬∭∭∮∮∯∯", strict=True)),
}
"""Characters that pdfium returns for glyphs whose names mean something else in Adobe's list."""
_SPACE_IS_GLYPH = frozenset({"omx", "msam", "msbm", "stmary", "txsyc"})
"""Encodings with a glyph at the code of the space whose name pdfium does not know: it returns a space, or nothing after
another space.
"""
_HUNG = frozenset({"omx", "esint"})
"""Encodings whose symbols hang from their origin."""
SWAPPED = {"φ": "ϕ", "ϕ": "φ"}
"""The two letters phi, whose names TeX and Adobe use the other way round."""
_ALPHABETS = {
    "oms": (0x1D49C, _SCRIPT_CAPITALS),
    "script": (0x1D49C, _SCRIPT_CAPITALS),
    "double": (0x1D538, _DOUBLE_STRUCK),
    "fraktur": (0x1D504, _FRAKTUR_CAPITALS),
    "txmia": (0x1D504, _FRAKTUR_CAPITALS),
}
"""Encodings with capitals of another alphabet: its start in Unicode, and its exceptions."""
_DOUBLE_STRUCK_SMALL = {("msbm", "k"): "𝕜", ("double", "1"): "𝟙"}
"""Double-struck characters other than capitals, by encoding and character."""
_SMALL_FRAKTUR = 0x1D51E
"""Start of the small letters of the Fraktur alphabet."""
_LITERALS = {"oms": f"|{{}}\\/<>+={UNKNOWN}", "oml": f"<>./,{UNKNOWN}"}
"""ASCII characters that represent themselves, because pdfium knows the names of these glyphs."""
_SMALL_INTEGRALS = "´˜˝¸‚"
"""Integrals of `esint` in text size."""
_DVIPS_SHIFTED = {code + (0xA1 if code < 10 else 0xA3): code for code in range(0x20)}
"""Shifted code of dvips → the control code."""
_SHIFTED_LITERALS = frozenset("±¬·×÷§¶µ°©®¥")
"""Characters in the same range that represent themselves."""
_WINDOWS_SYMBOLS = 0xF000
"""Start of the private range in which Windows gives the codes of symbol fonts."""
_SURROGATE = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair."""
SPACING_ACCENTS = frozenset("ˆ˜¯˙¨ˇ⃗˘´`√")
"""Accents as separate characters, and the root sign, which TeX fonts hang from its top."""
_UNIFIED = str.maketrans(
    "µ∆\u2126ˆ˜¯˙¨ˇ˘´`⃗∗◦ǁ‖〈〉\\|\u20dd\uf6be" + "".join(map(chr, range(0xF730, 0xF73A))),
    "μΔΩ\u0302\u0303\u0304\u0307\u0308\u030c\u0306\u0301\u0300\u20d7*∘∥∥⟨⟩∖∣○ȷ0123456789",
)
"""One character for each group of equivalent ones: accents as combining characters, and no `|`, which would end a
Markdown table cell. The private codes are Adobe's for old-style digits and the dotless j.
"""


class MathSymbol(NamedTuple):
    """The meaning of a glyph of a maths font.

    Attributes:
        text: Unicode text; U+FFFD if unknown.
        depth: Depth below the origin, in em; 0 if the glyph sits on the baseline.
    """

    text: str
    depth: float


def _to_alphabet(letter: str, start: int, exceptions: dict[str, str]) -> str:
    return exceptions.get(letter) or chr(start + ord(letter) - ord("A"))


def _undo_dvips_shift(letter: str) -> int:
    code = ord(letter)
    if letter == UNKNOWN:
        return 0
    if code == 0xFFFE:
        return 2
    return code if letter in _SHIFTED_LITERALS else _DVIPS_SHIFTED.get(code, code)


@lru_cache(CACHED_CALLS)
def font_encoding(font: str) -> str:
    """Return the name of a font's TeX encoding; empty if it has none."""
    return next((kind for kind, pattern in _ENCODING_PATTERNS if pattern.match(font)), "")


@lru_cache(CACHED_CALLS)
def has_own_sizes(font: str) -> bool:
    """Return whether a font has large symbols in TeX's encoding, but not in the sizes of TeX's own fonts."""
    return font_encoding(font) == "omx" and font[:2].lower() not in {"cm", "lm"}


@lru_cache(CACHED_CALLS)
def sign(font: str, letter: str, has_table: bool = False) -> MathSymbol:
    """Return the meaning of a character of a maths font.

    Args:
        font: Font name.
        letter: The character as pdfium returns it.
        has_table: Whether the font is known to have a Unicode table.

    >>> sign("CMSY10", "k").text, sign("CMEX10", "X"), sign("MSBM10", "R").text
    ('∥', MathSymbol(text='∑', depth=1.4), 'ℝ')
    """
    kind = font_encoding(font)
    code = _undo_dvips_shift(letter)
    if kind == "omx":
        text, depth = _decode_large(letter, 0x10000 if has_table and letter.isprintable() else code)
    else:
        text = _read_letter(kind, letter, code)
        depth = (1.1 if letter in _SMALL_INTEGRALS else 2.2) if kind == "esint" else 0.0
    return MathSymbol("".join(map(normalise_sign, text)), depth)


def _read_letter(kind: str, letter: str, code: int) -> str:
    """Return the meaning of a character in an encoding without large symbols."""
    if kind in _ALPHABETS and "A" <= letter <= "Z":
        return _to_alphabet(letter, *_ALPHABETS[kind])
    if (kind, letter) in _DOUBLE_STRUCK_SMALL:
        return _DOUBLE_STRUCK_SMALL[kind, letter]
    if kind in {"fraktur", "txmia"} and "a" <= letter <= "z":
        return chr(_SMALL_FRAKTUR + ord(letter) - ord("a"))
    if kind == "symbol" and ord(letter) & 0xFF00 == _WINDOWS_SYMBOLS:
        return SYMBOL.get(ord(letter) & 0xFF, UNKNOWN)
    if kind in _TABLES and code < len(OMS) and letter not in _LITERALS.get(kind, UNKNOWN):
        return _TABLES[kind][code]
    return _MISNAMED.get(kind, {}).get(letter, letter)


@lru_cache(CACHED_CALLS)
def decode(font: str, code: str) -> str:
    """Return the character of a glyph for which pdfium returns its code in the font; U+FFFD if it is unknown.

    Large symbols keep their code.

    >>> decode("CMSY10", ">"), decode("MSAM10", "B"), decode("EURM10", "a"), decode("CMEX10", "X")
    ('⊤', '▷', 'a', 'X')
    """
    kind = font_encoding(font)
    number = _undo_dvips_shift(code)
    if kind == "omx":
        return code
    if kind == "symbol":
        return SYMBOL.get(ord(code), UNKNOWN)
    if kind in _TABLES and number < len(OMS):
        return _TABLES[kind][number]
    return UNKNOWN if number < 0x20 or kind in _TABLES or kind == "symbols" else code


def strip_spaces(text: str, font: str) -> str:
    """Strip spaces only: control characters are glyphs, and so is a space in fonts with a glyph at its code."""
    return text if font_encoding(font) in _SPACE_IS_GLYPH else text.strip(" ")


def join_surrogates(text: str) -> str:
    """Join surrogate pairs into whole characters; leave all other characters unchanged."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def to_plain_text(text: str, font: str) -> str:
    r"""Return a word of a maths font as plain text, with separate accents and without Markdown's asterisk.

    >>> to_plain_text("\x0b", "CMMI10")
    'α'
    """
    return "".join(
        letter if letter in SPACING_ACCENTS else sign(font, letter).text for letter in join_surrogates(text)
    ).replace("*", "∗")


def is_above_baseline(letter: str, font: str) -> bool:
    """Return whether a glyph is placed above the baseline: an accent, a root, or a large symbol hung from its top."""
    return letter in SPACING_ACCENTS or font_encoding(font) in _HUNG


@lru_cache(CACHED_CALLS)
def origin_height_em(text: str, font: str) -> float:
    """Return how far the origin of a single tall symbol is above the baseline of its line, in em.

    Returns 0 for a symbol on the baseline, and for pieces of brackets, which are centred only as a whole.
    """
    if len(text) != 1 or font_encoding(font) not in _HUNG:
        return 0.0
    piece, depth = sign(font, text)
    return depth / 2 + AXIS_EM if depth >= _MIN_TALL_DEPTH_EM and piece not in _BRACKET_PIECE_SIGNS else 0.0


def ends_with_slash(text: str, font: str) -> bool:
    """Return whether a run ends with a negating slash, which TeX fonts draw before the negated symbol."""
    return sign(font, text[-1]).text == SLASH


def has_unicode_table(letters: AbstractSet[str]) -> bool:
    """Return whether an extension font has a Unicode table, so that its characters are not codes.

    Without a table, `{`, `}` and `|` are the pieces of a horizontal brace, which always include `z`.

    Args:
        letters: All characters read in this font.
    """
    if any(letter < " " or letter in "\ufffd\ufffe" or "\ue000" <= letter <= "\uf8ff" for letter in letters):
        return False
    return (
        any(ord(letter) > 0xFF for letter in letters)
        or not letters.isdisjoint(")]")
        or ("z" not in letters and not letters.isdisjoint("{}|"))
    )


def _decode_large(letter: str, code: int) -> tuple[str, float]:
    if ord(letter) in _BRACKET_PIECES:
        code = ord(letter)
    if code in _BRACKET_PIECES:
        piece = _BRACKET_PIECES[code]
        return piece, 0.6 if piece in "⎜⎟⎢⎥⎪" else 0.9 if piece in "⎧⎫⎩⎭" else 1.8
    if code < 128:
        return OMX[code], next(depth for first, depth in reversed(_OMX_DEPTHS_EM) if first <= code)
    # A Unicode table states the symbol but not its size.
    return letter, 1.4 if letter in "∑∏⋃⋂⨀⨁⨂⨄⨆⋁⋀" else 2.2 if letter == "∫" else 1.2


def normalise_sign(letter: str) -> str:
    """Return one character for all equivalent ones; U+FFFD for a glyph without a character, such as a private code.

    Returns an empty string for an invisible character, such as a zero-width space.
    """
    letter = letter.translate(_UNIFIED)
    code = ord(letter)
    if 0x1D434 <= code <= 0x1D467 or 0x1D6E2 <= code <= 0x1D71B or code == 0x210E:
        # One step only: NFKC would turn the variant ϕ of 𝜙 into φ.
        return chr(int(unicodedata.decomposition(letter).rpartition(" ")[2] or f"{code:x}", 16))
    category = unicodedata.category(letter)
    if category in {"Cc", "Co", "Cn", "Cs"}:
        return UNKNOWN
    return "" if category == "Cf" else letter

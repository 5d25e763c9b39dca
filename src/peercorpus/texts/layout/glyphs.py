"""The words of a page as pdfium sees them: what they say, where they stand, in which font.

A page has three thousand characters, and a call of pdfium costs a fifth of a microsecond: so all characters are read at
once, a few of them are asked for their text object, and only the ends of a word are asked where they stand.
"""

import ctypes
import re
import unicodedata
from codecs import utf_16_le_decode
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat

import pypdfium2 as pdfium

from peercorpus.texts.layout.formulas_symbols import bare, said, unpaired
from peercorpus.texts.layout.pdfium_calls import function
from peercorpus.texts.layout.text_objects import is_leftward, spans

SUBSET = re.compile(r"^[A-Z]{6}\+")
BOLD = re.compile(
    r"bold|black|heavy|demi|medi(?!a)|cmbx|cmb\d|cmssbx|sfbx|ecbx|lmb|-bd|ptmb|phvb|nimbusromno9l-med", re.I
)
MATHS = re.compile(
    r"(?:\w*-?math|cmmi|cmsy|cmex|cmbsy|cmmib|msam|msbm|eufm|eusm|eurm|rsfs|stmary|wasy|txsy|txmi|txex|pxsy|pxmi|pxex|mtmi|mtsy|mtex|"
    r"rmtmi|lmmath|mnsymbol|esint|bbm|dsrom|fplm|latinmodernmath|xits|stixmath|cambriamath|rtxmi|ntxmi|ntxsy|ntxex|newtxmath|"
    r"lmsy|lmmi|lmex|yhcmex|pazomath|mathpazo|zavm|mdput|mdugm|fourier-math|libertinusmath|eqexa)",
    re.I,
)
ITALIC = re.compile(r"ital|obli|cmti|cmsl|ecti|sfti|slant|-it\b", re.I)
MONO = re.compile(
    r"mono(?!type)|nimbusmon|cour|cm(?:i|sl)?tt|typewriter|inconsolata|consol|menlo|sftt|ectt|txtt|pcrr|lmtt|zi4|sourcecode|firacode",
    re.I,
)
SMALL_CAPITALS = re.compile(r"smallcap|caps|cmcsc|-sc\b|eccc|smcp", re.I)


@dataclass(frozen=True, slots=True)
class Font:
    """A font, as its name tells of it.

    Attributes:
        name: Without the prefix of a subset; empty where it has none.
        is_maths: Whether it is of the letters and signs of formulas.
    """

    name: str
    is_bold: bool
    is_italic: bool
    is_mono: bool
    is_maths: bool
    is_small_capitals: bool


@dataclass(slots=True)
class Run:
    """Characters of one text object.

    Attributes:
        text: Ligatures as plain letters, no white space at its ends.
        left: Points from the left edge of the page; `right` likewise.
        base: Height of the baseline of its first character above the lower edge of the page, in points.
        size: Of the font, in points.
        has_space: Whether white space stands before it.
        is_cut: Whether it ends with a hyphen that divides a word at the end of a line; the hyphen is left out.
        start: Its first character, in the order of the page's content; `end` is behind its last one.
        handle: Of its text object, in pdfium; 0 where it has none.
    """

    text: str
    left: float
    right: float
    base: float
    size: float
    font: Font
    has_space: bool
    is_cut: bool
    start: int
    end: int
    handle: int = 0


class _Rectangle(ctypes.Structure):
    _fields_ = (
        ("left", ctypes.c_float),
        ("top", ctypes.c_float),
        ("right", ctypes.c_float),
        ("bottom", ctypes.c_float),
    )


class _Matrix(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_float) for name in "abcdef")


_count = function("FPDFText_CountChars", "i", "p")
_text = function("FPDFText_GetText", "i", "piip")
_unicode = function("FPDFText_GetUnicode", "u", "pi")
_origin = function("FPDFText_GetCharOrigin", "i", "pipp")
_loose_box = function("FPDFText_GetLooseCharBox", "i", "pip")
_matrix = function("FPDFText_GetMatrix", "i", "pip")
_font_size = function("FPDFText_GetFontSize", "d", "pi")
_font = function("FPDFTextObj_GetFont", "p", "p")
_font_name = function("FPDFFont_GetBaseFontName", "n", "ppn")

# Fonts of TeX without a Unicode table give their ligatures as control codes (OT1: 0x0B-0x0F, T1: 0x1B-0x1F).
LIGATURES = {
    0x0B: "ff",
    0x0C: "fi",
    0x0D: "fl",
    0x0E: "ffi",
    0x0F: "ffl",
    0x1B: "ff",
    0x1C: "fi",
    0x1D: "fl",
    0x1E: "ffi",
    0x1F: "ffl",
}
LIGATURES |= {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
CONTROLS = dict.fromkeys((*range(0x09), *range(0x0E, 0x20), *range(0x7F, 0xA0)), None)
PLAIN = CONTROLS | LIGATURES | dict.fromkeys((0xFFFE, 0xAD), None) | {0xA0: " ", 0x2009: " ", 0x200A: " ", 0x200B: None}
PLAIN |= {0x2126: "Ω", 0x2206: "Δ"}
CHANGED = re.compile(f"[{''.join(map(chr, PLAIN))}]")
SLOPE = 0.1
"""Rise of a line of text over its length, from which it does not count as upright."""
ACCENTS = {
    "\u00b4": "\u0301",
    "\u00a8": "\u0308",
    "\u02c6": "\u0302",
    "\u02dc": "\u0303",
    "\u02c7": "\u030c",
    "\u02d8": "\u0306",
    "\u02d9": "\u0307",
    "\u02da": "\u030a",
    "\u02dd": "\u030b",
    "\u00af": "\u0304",
    "\u00b8": "\u0327",
    "`": "\u0300",
}
"""Accents that old fonts of TeX have as signs of their own, and what combines with a letter."""
ACCENTED = re.compile(f"([{''.join(ACCENTS).replace('`', '')}]) ?([A-Za-z\u0131])")
CEDILLA = re.compile(r"([^\W\d_])\u00b8( ?)")
RAISED = 0.5
"""How far an accent is off the baseline of its letter, in the size of the font, at most."""
TOUCHING = 0.15
"""A gap that is no space, in the size of the font, at most."""
NO_SPACE = re.compile(r"\S+")
CODES = re.compile(r"[^ ]+")
"""A word in a font of formulas, where even a line feed may be a letter."""
CUTS = "\ufffe\x02\u00ad"
"""How pdfium gives a hyphen at the end of a line; it leaves out the end of the line."""


def read_font(name: str) -> Font:
    """What a font's name tells of it.

    >>> read_font("ABCDEF+NimbusRomNo9L-Medi").is_bold
    True
    """
    name = SUBSET.sub("", name)
    is_bold, is_italic, is_mono = (bool(pattern.search(name)) for pattern in (BOLD, ITALIC, MONO))
    return Font(name, is_bold, is_italic, is_mono, bool(MATHS.match(name)), bool(SMALL_CAPITALS.search(name)))


class Fonts:
    """The fonts of a document, each read once."""

    def __init__(self) -> None:
        self._known: dict[int | None, Font] = {None: read_font("")}
        self._buffer = ctypes.create_string_buffer(256)

    def of(self, text_object: int) -> Font:
        """The font of a text object."""
        handle = _font(text_object)
        found = self._known.get(handle)
        if found is None:
            size = _font_name(handle, self._buffer, len(self._buffer))
            found = read_font(self._buffer.raw[: max(0, min(size, 256) - 1)].decode("utf-8", "replace"))
            self._known[handle] = found
        return found


def _characters(page: int, count: int) -> str:
    """One character for each that pdfium counts: a half of a pair, where a character lies beyond U+FFFF."""
    # An array of ctypes would be a type of its own for each size, which ctypes makes slowly and keeps for ever.
    buffer = bytearray(2 * count + 4)
    written = 2 * max(0, _text(page, 0, count, ctypes.addressof(ctypes.c_char.from_buffer(buffer))) - 1)
    text, _ = utf_16_le_decode(memoryview(buffer)[:written], "surrogatepass")
    if len(text) == count:
        return text
    if written == 2 * count:
        return "".join(map(chr, memoryview(buffer)[:written].cast("H")))
    # Characters without a code are left out of the text, though they are counted.
    return "".join(map(chr, map(_unicode, repeat(page), range(count)))).replace("\0", "\ufffd")


def _plain(text: str) -> str:
    """Letters for ligatures, whole characters for pairs; nothing that no text may hold."""
    if not text.isascii():
        text = ACCENTED.sub(_accented, unpaired(text))
        # Where a line is stretched, pdfium finds space behind a space of its own.
        text = text.replace("\u00a0 ", " ").replace(" \u00a0", " ")
    elif text.isprintable():
        return text
    # `str.translate` looks every letter up, and nearly all are as they should be.
    return CHANGED.sub(_changed, text)


def _changed(found: re.Match[str]) -> str:
    return PLAIN[ord(found[0])] or ""


def _accented(found: re.Match[str]) -> str:
    """A letter behind its accent, as one character."""
    return _with_accent(found[2], found[1])


def _with_accent(letter: str, accent: str) -> str:
    return unicodedata.normalize("NFC", letter.replace("\u0131", "i") + ACCENTS[accent])


class Glyphs:
    """The characters of one page.

    Attributes:
        runs: In the order of the page's content, those that stand upright.
        aside: The text of the others, in the same order.
        turned: How many characters would stand upright if the page were turned clockwise by so many degrees.
    """

    def __init__(self, textpage: pdfium.PdfTextPage, fonts: Fonts) -> None:
        self._textpage = textpage
        self._page: int = ctypes.cast(textpage.raw, ctypes.c_void_p).value or 0
        self._fonts = fonts
        self._rectangle, self._matrix = _Rectangle(), _Matrix()
        self._numbers = ctypes.c_double(), ctypes.c_double()
        self._at = tuple(ctypes.addressof(one) for one in (self._rectangle, self._matrix, *self._numbers))
        self.aside: list[str] = []
        self.turned: Counter[int] = Counter()
        count = max(0, _count(self._page))
        self._text = _characters(self._page, count) if count else ""
        self._accented: set[int] = set()
        self.runs = list(self._read(count))
        self.runs = self._with_accents() if self._accented else self.runs

    def _read(self, count: int) -> Iterator[Run]:
        text, has_space = self._text, True
        before: Run | None = None
        last: Run | None = None
        for start, end, handle in spans(self._page, text, is_leftward=count > 0 and is_leftward(self._textpage)):
            if handle is None:
                if last is not None and text[start] in CUTS:
                    last.is_cut, has_space = True, False
                else:
                    has_space = True
                continue
            said = text[start:end]
            inner, first = said.strip(), start
            if len(inner) < len(said):
                font = self._fonts.of(handle)
                inner = bare(said, font.name) if font.is_maths else inner
                if not inner:
                    has_space = True
                    continue
                first += said.index(inner)
            if inner in ACCENTS and not self._fonts.of(handle).is_maths:
                if last is not None and not last.font.is_maths and self._put_accent(first, last, before):
                    self._accented.add(last.start)
                    continue
                self._accented.add(first)
            found = self._run(handle, inner, first, has_space or first > start)
            if found is not None and (found.font.is_maths or found.text.strip()):
                yield found
                before, last = last, found
            elif found is not None and found.is_cut and last is not None:
                last.is_cut = True
            has_space = first + len(inner) < end

    def _run(self, handle: int, text: str, start: int, has_space: bool) -> Run | None:
        page, rectangle, matrix = self._page, self._rectangle, self._matrix
        at_rectangle, at_matrix, at_x, at_y = self._at
        _matrix(page, start, at_matrix)
        rise, height = matrix.b, matrix.d
        if height <= 0 or matrix.a <= 0 or abs(rise) > SLOPE * matrix.a:
            self.aside.append(_plain(text))
            if abs(matrix.a) < SLOPE * abs(rise):
                self.turned[90 if rise > 0 else 270] += len(text)
            return None
        font = self._fonts.of(handle)
        is_cut = text[-1] in CUTS and not font.is_maths
        _loose_box(page, start, at_rectangle)
        left, right = rectangle.left, rectangle.right
        end = start + len(text)
        last = end - 1 - is_cut
        if last > start:
            _loose_box(page, last, at_rectangle)
            right = rectangle.right
        _origin(page, start, at_x, at_y)
        base, size = self._numbers[1].value, _font_size(page, start) * height
        plain = unpaired(text) if font.is_maths else self._said(start, end)
        return Run(plain, left, right, base, size, font, has_space, is_cut, start, end, handle)

    def _put_accent(self, index: int, *runs: Run | None) -> bool:
        """Give an accent that stands apart to the letter below it; False where there is none."""
        page, at_rectangle, rectangle = self._page, self._at[0], self._rectangle
        _loose_box(page, index, at_rectangle)
        middle = (rectangle.left + rectangle.right) / 2
        _origin(page, index, *self._at[2:])
        base = self._numbers[1].value
        for run in runs:
            if run is None or not run.left <= middle <= run.right or abs(base - run.base) > RAISED * run.size:
                continue
            for place in range(run.start, run.end):
                _loose_box(page, place, at_rectangle)
                if rectangle.left <= middle <= rectangle.right and self._text[place].isalpha():
                    accented = _with_accent(self._text[place], self._text[index])
                    run.text = self._said(run.start, place) + accented + self._said(place + 1, run.end)
                    if len(accented) == 1:
                        self._text = f"{self._text[:place]}{accented}{self._text[place + 1 :]}"
                        run.text = self._said(run.start, run.end)
                    return True
        return False

    def _with_accents(self) -> list[Run]:
        """The runs with each accent on the letter behind it, and without the space that pdfium sees beside one."""
        runs: list[Run] = []
        for run in self.runs:
            before = runs[-1] if runs else None
            if before is not None and before.start in self._accented and not run.font.is_maths:
                is_first = before.text in ACCENTS and before.right > run.left
                if is_first and run.text[0].isalpha() and self._put_accent(before.start, run):
                    run.has_space = before.has_space
                    runs.pop()
                elif not is_first and run.has_space and abs(run.left - before.right) < TOUCHING * run.size:
                    run.has_space = abs(run.base - before.base) > TOUCHING * run.size
            runs.append(run)
        return runs

    def _said(self, start: int, end: int) -> str:
        """What characters of prose say."""
        text = self._text[start:end]
        return _plain(self._with_cedillas(text, start) if "\u00b8" in text else text)

    def _with_cedillas(self, text: str, start: int) -> str:
        """A text with each cedilla on the letter before it, where it stands below that and not below the next one."""
        parts, at = [], 0
        for found in CEDILLA.finditer(text):
            (left, right), (low, high) = self._ends(start + found.start()), self._ends(start + found.start() + 1)
            if not left <= (low + high) / 2 <= right:
                continue
            behind = start + found.end()
            is_close = behind < start + len(text) and self._ends(behind)[0] - right < TOUCHING * (right - left)
            parts += [text[at : found.start()], _with_accent(found[1], "\u00b8"), "" if is_close else found[2]]
            at = found.end()
        return "".join([*parts, text[at:]])

    def _ends(self, place: int) -> tuple[float, float]:
        """The left and right end of a character."""
        _loose_box(self._page, place, self._at[0])
        return self._rectangle.left, self._rectangle.right

    def words(self, run: Run) -> Iterator[tuple[str, float, float]]:
        """The words of a run, each with its left and right end."""
        at_rectangle, rectangle, page = self._at[0], self._rectangle, self._page
        is_maths, last = run.font.is_maths, -1 if run.is_cut else run.end
        for found in (CODES if is_maths else NO_SPACE).finditer(self._text, run.start, run.end):
            start, end = found.span()
            left, right = run.left, run.right
            # Where the run begins and ends is known.
            if start != run.start:
                _loose_box(page, start, at_rectangle)
                left = rectangle.left
            if end != last:
                _loose_box(page, end - 1, at_rectangle)
                right = rectangle.right
            yield (said(found[0], run.font.name) if is_maths else _plain(found[0])), left, right

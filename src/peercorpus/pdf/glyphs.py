"""Read the glyph runs of a page: text, position and font.

pdfium reports single characters; this module joins them into one run per text object, combines accents that old TeX
fonts set as separate glyphs with their letters, and separates rotated text.
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

from peercorpus.pdf.math_fonts import (
    STRETCHY,
    SWAPPED,
    decode,
    font_encoding,
    has_own_sizes,
    join_surrogates,
    strip_spaces,
    to_plain_text,
)
from peercorpus.pdf.pdfium import (
    Argument,
    as_argument,
    get_text_object,
    is_leftward,
    load_function,
    load_unchecked_function,
    spans,
)
from peercorpus.pdf.writing_direction import has_right_to_left, reorder_page

_SUBSET_PREFIX = re.compile(r"^[A-Z]{6}\+")
"""Prefix of the name of an embedded font subset, such as `ABCDEF+`."""
_BOLD_NAME = re.compile(
    r"bold|black|heavy|demi|medi(?!a)|cmbx|cmb\d|cmssbx|sfbx|ecbx|lmb|-bd|ptmb|phvb|nimbusromno9l-med", re.I
)
_MATHS_NAME = re.compile(
    r"(?:\w*-?math|cmmi|cmsy|cmex|cmbsy|cmmib|msam|msbm|lasy|eufm|eusm|eurm|rsfs|stmary|wasy|txsy|txmi|txex|pxsy|pxmi|pxex|mtmi|mtsy|mtex|"
    r"rmtmi|lmmath|mnsymbol|esint|bbm|dsrom|fplm|latinmodernmath|xits|stixmath|cambriamath|r[tp]xmi|ntxmi|ntxsy|ntxex|newtxmath|"
    r"lmsy|lmmi|lmex|yhcmex|pazomath|mathpazo|zavm|mdput|mdugm|fourier-math|libertinusmath|eqexa|symbol(?:mt)?\b|standardsym)",
    re.I,
)
_ITALIC_NAME = re.compile(r"ital|obli|cmti|cmsl|ecti|sfti|slant|-it\b", re.I)
_MONO_NAME = re.compile(
    r"mono(?!type)|nimbusmon|cour|cm(?:i|sl)?tt|typewriter|inconsolata|consol|menlo|sftt|ectt|txtt|pcrr|lmtt|zi4|sourcecode|firacode",
    re.I,
)
_SMALL_CAPITALS_NAME = re.compile(r"smallcap|caps|cmcsc|-sc\b|eccc|smcp", re.I)


@dataclass(frozen=True, slots=True)
class Font:
    """A font, described by its name.

    Attributes:
        name: Without the subset prefix; empty if the font has none.
        is_bold: Whether it is bold.
        is_italic: Whether it is italic or slanted.
        is_mono: Whether it is monospaced.
        is_maths: Whether it contains the letters and symbols of formulas.
        is_small_capitals: Whether it contains small capitals.
    """

    name: str
    is_bold: bool
    is_italic: bool
    is_mono: bool
    is_maths: bool
    is_small_capitals: bool


@dataclass(slots=True)
class TextRun:
    """Consecutive glyphs of one text object (a glyph run).

    Attributes:
        text: Ligatures as plain letters, without white space at either end.
        left: Left edge, in points from the left edge of the page.
        right: Right edge, likewise.
        base: Height of the baseline of the first glyph, in points from the lower edge of the page.
        size: Font size, in points.
        font: The font.
        has_space: Whether white space precedes it.
        is_cut: Whether it ends with a hyphen that divides a word at the end of a line; `text` omits the hyphen.
        start: Index of its first character in the content of the page.
        end: Index after its last one.
        handle: Handle of its text object in pdfium; 0 if there is none.
        ink: Lower and upper edge, in points, of characters that may be stretched, by index; None in TeX's fonts.
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
    ink: dict[int, tuple[float, float]] | None = None


class _Rectangle(ctypes.Structure):
    _fields_ = (
        ("left", ctypes.c_float),
        ("top", ctypes.c_float),
        ("right", ctypes.c_float),
        ("bottom", ctypes.c_float),
    )


class _Matrix(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_float) for name in "abcdef")


_count = load_unchecked_function("FPDFText_CountChars", "i")
_text = load_unchecked_function("FPDFText_GetText", "i")
_unicode = load_unchecked_function("FPDFText_GetUnicode", "u")
_origin = load_unchecked_function("FPDFText_GetCharOrigin")
_loose_box = load_unchecked_function("FPDFText_GetLooseCharBox")
_char_box = load_unchecked_function("FPDFText_GetCharBox")
_matrix = load_unchecked_function("FPDFText_GetMatrix")
_font_size = load_unchecked_function("FPDFText_GetFontSize", "d")
_is_code = load_unchecked_function("FPDFText_HasUnicodeMapError", "i")
_font = load_function("FPDFTextObj_GetFont", "p", "p")
_font_name = load_function("FPDFFont_GetBaseFontName", "n", "ppn")

# TeX fonts without a Unicode table encode ligatures as control codes (OT1: 0x0B-0x0F, T1: 0x1B-0x1F).
_TEX_LIGATURES = {
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
_TEX_LIGATURES |= {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
_CONTROLS = dict.fromkeys((*range(0x09), *range(0x0E, 0x20), *range(0x7F, 0xA0)), None)
_PLAIN_CHARACTERS = (
    _CONTROLS
    | _TEX_LIGATURES
    | dict.fromkeys((0xFFFE, 0xAD), None)
    | {0xA0: " ", 0x2009: " ", 0x200A: " ", 0x200B: None}
)
_PLAIN_CHARACTERS |= {0x2126: "Ω", 0x2206: "Δ", 0xF6BE: "ȷ"} | {0xF730 + digit: str(digit) for digit in range(10)}
_NOT_PLAIN = re.compile(f"[{''.join(map(chr, _PLAIN_CHARACTERS))}]")
_MAX_UPRIGHT_SLOPE = 0.1
"""Slope of a baseline (rise over run) above which text does not count as upright."""
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
"""Accents that old TeX fonts set as separate glyphs, with their combining characters."""
_ACCENT_AND_LETTER = re.compile(f"([{''.join(ACCENTS).replace('`', '')}]) ?([A-Za-z\u0131])")
_LETTER_AND_CEDILLA = re.compile(r"([^\W\d_])\u00b8( ?)")
_MAX_ACCENT_OFFSET_EM = 0.5
"""Maximum distance of an accent from the baseline of its letter, in em."""
_MAX_TOUCHING_GAP_EM = 0.15
"""Maximum gap that is not a space, in em."""
_WORD = re.compile(r"\S+")
_MATHS_WORD = re.compile(r"[^ ]+")
"""A word in a maths font, where even a line feed may be a letter."""
_CONTROL = re.compile("[\x00-\x08\x10-\x1a\x7f-\x9f]")
"""Control characters that are not ligatures of TeX: codes of glyphs without a Unicode value."""
_UNMAPPED_BY_PDFTEX = " 7"
"""Space, and the code of the bar of ↦ in `cmsy`, which has no Unicode value in pdfTeX's own tables either."""
_MAX_EXAMINED_PAGES = 3
"""Maximum number of pages with formulas examined for a Unicode table."""
_LINE_END_HYPHENS = "\ufffe\x02\u00ad"
"""How pdfium returns a hyphen at the end of a line; it omits the line break."""


def read_font(name: str) -> Font:
    """Return the properties that the name of a font implies.

    >>> read_font("ABCDEF+NimbusRomNo9L-Medi").is_bold
    True
    """
    name = _SUBSET_PREFIX.sub("", name)
    return Font(
        name,
        is_bold=bool(_BOLD_NAME.search(name)),
        is_italic=bool(_ITALIC_NAME.search(name)),
        is_mono=bool(_MONO_NAME.search(name)),
        is_maths=bool(_MATHS_NAME.match(name)),
        is_small_capitals=bool(_SMALL_CAPITALS_NAME.search(name)),
    )


class Fonts:
    """The fonts of a document; each is read once."""

    def __init__(self) -> None:
        self._known: dict[int | None, Font] = {None: read_font("")}
        self._buffer = ctypes.create_string_buffer(256)
        self._has_codes: bool | None = None
        self._examined_pages = 0

    def has_codes(self, page: Argument, text: str) -> bool:
        """Return whether the maths fonts of the document lack Unicode tables, as TeX wrote them for decades.

        Only as many pages are examined as are needed to decide.
        """
        if self._has_codes is None:
            is_unmapped = any(
                letter not in _UNMAPPED_BY_PDFTEX
                and _is_code(page, index) == 1
                and font_encoding(self.of(get_text_object(page, index)).name) in {"oml", "oms"}
                for index, letter in enumerate(text)
            )
            self._examined_pages += 1
            if is_unmapped or self._examined_pages == _MAX_EXAMINED_PAGES:
                self._has_codes = is_unmapped
            return is_unmapped
        return self._has_codes

    def of(self, text_object: int) -> Font:
        """Return the font of a text object."""
        handle = _font(text_object)
        font = self._known.get(handle)
        if font is None:
            size = _font_name(handle, self._buffer, len(self._buffer))
            font = read_font(self._buffer.raw[: max(0, min(size, 256) - 1)].decode("utf-8", "replace"))
            self._known[handle] = font
        return font


def _read_characters(page: Argument, count: int) -> str:
    """Return one character for each that pdfium counts; a character above U+FFFF is a surrogate pair."""
    # A ctypes array needs a new type for each size, which is slow to create and never freed.
    buffer = bytearray(2 * count + 4)
    written = 2 * max(0, _text(page, 0, count, ctypes.byref(ctypes.c_char.from_buffer(buffer))) - 1)
    text, _ = utf_16_le_decode(memoryview(buffer)[:written], "surrogatepass")
    if len(text) == count:
        return text
    if written == 2 * count:
        return "".join(map(chr, memoryview(buffer)[:written].cast("H")))
    # pdfium counts characters without a code, but omits them from the text.
    return "".join(map(chr, map(_unicode, repeat(page), range(count)))).replace("\0", "\ufffd")


def _to_plain(text: str) -> str:
    """Replace ligatures by letters and surrogate pairs by characters; drop characters no text may contain."""
    if not text.isascii():
        text = _ACCENT_AND_LETTER.sub(lambda match: _add_accent(match[2], match[1]), join_surrogates(text))
        # In a justified line pdfium may report a second space after a no-break space.
        text = text.replace("\u00a0 ", " ").replace(" \u00a0", " ")
    elif text.isprintable():
        return text
    # `str.translate` would look up every letter, and hardly any needs to be replaced.
    return _NOT_PLAIN.sub(lambda match: _PLAIN_CHARACTERS[ord(match[0])] or "", text)


def _add_accent(letter: str, accent: str) -> str:
    return unicodedata.normalize("NFC", letter.replace("\u0131", "i") + ACCENTS[accent])


class Glyphs:
    """The glyphs of one page.

    Attributes:
        runs: The upright glyph runs, in the order of the page content.
        aside: The text of all other runs, in the same order.
        turned: Number of characters that would be upright if the page were rotated clockwise by this many degrees.
    """

    def __init__(self, textpage: pdfium.PdfTextPage, fonts: Fonts) -> None:
        self._textpage = textpage  # pypdfium2 closes a text page that nothing refers to
        self._page = as_argument(textpage)
        self._fonts = fonts
        self._rectangle = _Rectangle()
        self._matrix = _Matrix()
        self._numbers = tuple(ctypes.c_double() for _ in range(4))
        self._at = tuple(ctypes.byref(value) for value in (self._rectangle, self._matrix, *self._numbers))
        self.aside: list[str] = []
        self.turned: Counter[int] = Counter()
        count = max(0, _count(self._page))
        self._text = _read_characters(self._page, count) if count else ""
        self._accent_starts: set[int] = set()
        self._decoded: dict[int, str] = {}
        characters = "".join(set(self._text))
        self.runs = list(self._read(is_leftward(textpage, characters)))
        if self._decoded:
            letters = list(self._text)
            for index, letter in self._decoded.items():
                letters[index] = letter
            self._text = "".join(letters)
            characters = "".join(set(letters))
        self.runs = self._attach_accents() if self._accent_starts else self.runs
        if has_right_to_left(characters):
            self._order_right_to_left()

    def _read(self, has_leftward: bool) -> Iterator[TextRun]:
        text = self._text
        has_space = True
        before: TextRun | None = None
        last: TextRun | None = None
        for start, end, handle in spans(self._page, text, is_leftward=has_leftward):
            if handle is None:
                if last is not None and text[start] in _LINE_END_HYPHENS:
                    last.is_cut = True
                    has_space = False
                else:
                    has_space = True
                continue
            characters = text[start:end]
            inner = characters.strip()
            first = start
            if len(inner) < len(characters):
                font = self._fonts.of(handle)
                inner = strip_spaces(characters, font.name) if font.is_maths else inner
                if not inner:
                    has_space = True
                    continue
                first += characters.index(inner)
            if len(inner) == 1 and inner in ACCENTS and not self._fonts.of(handle).is_maths:
                if last is not None and not last.font.is_maths and self._put_accent(first, last, before):
                    self._accent_starts.add(last.start)
                    continue
                self._accent_starts.add(first)
            run = self._make_run(handle, inner, first, has_space or first > start)
            if run is not None and (run.font.is_maths or run.text.strip()):
                yield run
                before, last = last, run
            elif run is not None and run.is_cut and last is not None:
                last.is_cut = True
            has_space = first + len(inner) < end

    def _make_run(self, handle: int, text: str, start: int, has_space: bool) -> TextRun | None:
        page = self._page
        rectangle = self._rectangle
        matrix = self._matrix
        at_rectangle, at_matrix, at_x, at_y, *_ = self._at
        _matrix(page, start, at_matrix)
        rise, height = matrix.b, matrix.d
        if height <= 0 or matrix.a <= 0 or abs(rise) > _MAX_UPRIGHT_SLOPE * matrix.a:
            self.aside.append(_to_plain(text))
            if abs(matrix.a) < _MAX_UPRIGHT_SLOPE * abs(rise):
                self.turned[90 if rise > 0 else 270] += len(text)
            return None
        font = self._fonts.of(handle)
        if font.is_maths or not (text.isprintable() or _CONTROL.search(text) is None):
            text = self._decode(text, start, font)
        is_cut = text[-1] in _LINE_END_HYPHENS and not font.is_maths
        _loose_box(page, start, at_rectangle)
        left, right = rectangle.left, rectangle.right
        end = start + len(text)
        last = end - 1 - is_cut
        if last > start:
            _loose_box(page, last, at_rectangle)
            right = rectangle.right
        _origin(page, start, at_x, at_y)
        base = self._numbers[1].value
        size = _font_size(page, start) * height
        ink = None
        if font.is_maths:
            plain = join_surrogates(text)
            ink = self._measure_ink(text, start, font.name)
        else:
            plain = text if text.isascii() and text.isprintable() else self._read_plain_text(start, end)
        # Passed by position, since keyword arguments take a tenth of this method's time.
        return TextRun(plain, left, right, base, size, font, has_space, is_cut, start, end, handle, ink)

    def _order_right_to_left(self) -> None:
        """Put words of right-to-left scripts in reading order, and measure their runs by all letters."""
        for run in self.runs:
            if has_right_to_left(run.text):
                edges = [self._measure_edges(index) for index in range(run.start, run.end)]
                run.left, run.right = min(left for left, _ in edges), max(right for _, right in edges)
        self.runs = reorder_page(self.runs, self._text)

    def _measure_ink(self, text: str, start: int, font: str) -> dict[int, tuple[float, float]] | None:
        """Return the lower and upper edge of each character that may be stretched, by its index in the joined text.

        Returns None for TeX's own fonts, whose sizes are known.
        """
        is_large = has_own_sizes(font)
        if not is_large and (font_encoding(font) or STRETCHY.isdisjoint(text)):
            return None
        ink: dict[int, tuple[float, float]] = {}
        halves = 0
        for offset, letter in enumerate(text):
            if is_large or letter in STRETCHY:
                _char_box(self._page, start + offset, *self._at[2:])
                ink[offset - halves] = self._numbers[2].value, self._numbers[3].value
            halves += "\ud800" <= letter < "\udc00"
        return ink

    def _decode(self, text: str, start: int, font: Font) -> str:
        """Return text with characters in place of the codes that pdfium gives for glyphs without a Unicode value."""
        letters = list(text)
        for offset, letter in enumerate(text):
            if letter in SWAPPED and font.is_maths and self._is_swapped(font):
                letters[offset] = SWAPPED[letter]
                continue
            meaning = decode(font.name, letter) if font.is_maths or _CONTROL.match(letter) else letter
            # pdfium returns nothing at all for a glyph with the code 0.
            if meaning != letter and (letter == "\ufffd" or _is_code(self._page, start + offset) == 1):
                letters[offset] = meaning
        self._decoded.update(
            (start + offset, letter) for offset, letter in enumerate(letters) if letter != text[offset]
        )
        return "".join(letters)

    def _is_swapped(self, font: Font) -> bool:
        """Return whether a font names the two letters phi in TeX's way and has no Unicode table."""
        is_symbol = font.name.startswith("StandardSym")
        is_letters = font_encoding(font.name) == "oml"
        return is_symbol or (is_letters and self._fonts.has_codes(self._page, self._text))

    def _put_accent(self, index: int, *runs: TextRun | None) -> bool:
        """Move a separate accent to the letter below it; return False if there is none."""
        page = self._page
        at_rectangle = self._at[0]
        rectangle = self._rectangle
        _loose_box(page, index, at_rectangle)
        middle = (rectangle.left + rectangle.right) / 2
        _origin(page, index, *self._at[2:4])
        base = self._numbers[1].value
        for run in runs:
            if (
                run is None
                or not run.left <= middle <= run.right
                or abs(base - run.base) > _MAX_ACCENT_OFFSET_EM * run.size
            ):
                continue
            for letter_index in range(run.start, run.end):
                _loose_box(page, letter_index, at_rectangle)
                if rectangle.left <= middle <= rectangle.right and self._text[letter_index].isalpha():
                    accented = _add_accent(self._text[letter_index], self._text[index])
                    run.text = (
                        self._read_plain_text(run.start, letter_index)
                        + accented
                        + self._read_plain_text(letter_index + 1, run.end)
                    )
                    if len(accented) == 1:
                        self._text = f"{self._text[:letter_index]}{accented}{self._text[letter_index + 1 :]}"
                        run.text = self._read_plain_text(run.start, run.end)
                    return True
        return False

    def _attach_accents(self) -> list[TextRun]:
        """Return the runs with each accent on the letter after it, without the space pdfium reports there."""
        runs: list[TextRun] = []
        for run in self.runs:
            before = runs[-1] if runs else None
            if before is not None and before.start in self._accent_starts and not run.font.is_maths:
                is_first = before.text in ACCENTS and before.right > run.left
                if is_first and run.text[0].isalpha() and self._put_accent(before.start, run):
                    run.has_space = before.has_space
                    runs.pop()
                elif not is_first and run.has_space and abs(run.left - before.right) < _MAX_TOUCHING_GAP_EM * run.size:
                    run.has_space = abs(run.base - before.base) > _MAX_TOUCHING_GAP_EM * run.size
            runs.append(run)
        return runs

    def _read_plain_text(self, start: int, end: int) -> str:
        text = self._text[start:end]
        if self._decoded:
            text = "".join([self._decoded.get(index, letter) for index, letter in enumerate(text, start)])
        return _to_plain(self._attach_cedillas(text, start) if "\u00b8" in text else text)

    def _attach_cedillas(self, text: str, start: int) -> str:
        """Return text with each cedilla combined with the letter before it, if it is below that one and not the
        next.
        """
        parts = []
        copied = 0
        for match in _LETTER_AND_CEDILLA.finditer(text):
            (left, right) = self._measure_edges(start + match.start())
            (low, high) = self._measure_edges(start + match.start() + 1)
            if not left <= (low + high) / 2 <= right:
                continue
            behind = start + match.end()
            is_close = behind < start + len(text) and self._measure_edges(behind)[0] - right < _MAX_TOUCHING_GAP_EM * (
                right - left
            )
            parts += [text[copied : match.start()], _add_accent(match[1], "\u00b8"), "" if is_close else match[2]]
            copied = match.end()
        return "".join([*parts, text[copied:]])

    def _measure_edges(self, index: int) -> tuple[float, float]:
        _loose_box(self._page, index, self._at[0])
        return self._rectangle.left, self._rectangle.right

    def words(self, run: TextRun) -> Iterator[tuple[str, float, float]]:
        """Yield the words of a run, each with its left and right edge, in points."""
        at_rectangle = self._at[0]
        rectangle = self._rectangle
        page = self._page
        is_maths = run.font.is_maths
        last = -1 if run.is_cut else run.end
        for match in (_MATHS_WORD if is_maths else _WORD).finditer(self._text, run.start, run.end):
            start, end = match.span()
            left, right = run.left, run.right
            # The edges of the run itself are known.
            if start != run.start:
                _loose_box(page, start, at_rectangle)
                left = rectangle.left
            if end != last:
                _loose_box(page, end - 1, at_rectangle)
                right = rectangle.right
            yield (to_plain_text(match[0], run.font.name) if is_maths else _to_plain(match[0])), left, right

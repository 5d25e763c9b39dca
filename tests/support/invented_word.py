"""The invented paper as printed by a word processor: each word a text object, no ligatures, no hyphenation.

An imitation of such files from memory; the fonts are those of every PDF reader.
"""

import ctypes
from functools import cache
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from invented_pdfs import assemble
from invented_styles import PAPER

FONTS = {"R": "Times-Roman", "B": "Times-Bold", "I": "Times-BoldItalic", "S": "Symbol"}
LEFT, RIGHT, TOP, BOTTOM = 72.0, 540.0, 720.0, 72.0
SIZE, HEADINGS = 11.0, {1: ("B", 16.0), 2: ("B", 13.0), 3: ("I", 11.0)}
TO_UNICODE = (
    b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def "
    b"1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfchar <B7> <F0B7> endbfchar endcmap end end"
)
"""The bullet of a symbol font has a vendor-specific code."""


@cache
def _width(text: str, font: str, size: float) -> float:
    """Return the width of a text, in points."""
    with pdfium.PdfDocument.new() as document:
        loaded = pdfium_c.FPDFText_LoadStandardFont(document.raw, FONTS[font].encode())
        width, total = ctypes.c_float(), 0.0
        for character in text:
            pdfium_c.FPDFFont_GetGlyphWidth(loaded, ord(character), size, width)
            total += width.value
        pdfium_c.FPDFFont_Close(loaded)
    return total


class Printer:
    """Prints words from the top of a page to its end, then continues on the next one."""

    def __init__(self) -> None:
        self.pages: list[str] = [""]
        self._base = TOP

    def show(self, text: str, left: float, base: float, size: float = SIZE, font: str = "R") -> float:
        """Print one text object; return where it ends."""
        said = text.replace("(", "\\(").replace(")", "\\)")
        self.pages[-1] += f"BT /{font} {size} Tf 1 0 0 1 {left:.2f} {base:.2f} Tm ({said}) Tj ET\n"
        return left + _width(text, font, size)

    def paragraph(
        self,
        text: str,
        *,
        size: float = SIZE,
        font: str = "R",
        first: float = LEFT,
        rest: float = LEFT,
        label: tuple[str, str] = ("", "R"),
        above: float = 0.0,
        below: float = 8.0,
    ) -> None:
        """Print words in lines, broken when the next word does not fit; `{note}` is a raised mark."""
        step = 1.15 * size
        self._base -= above + step
        self._turn_if_full()
        if label[0]:
            self.show(label[0], first - 18, self._base, size, label[1])
        at = first
        for word in text.split(" "):
            plain, _, after = word.partition("{note}")
            if at + _width(plain, font, size) > RIGHT:
                self._base -= step
                self._turn_if_full()
                at = rest
            is_marked = plain != word
            at = self.show(plain if is_marked else f"{plain} ", at, self._base, size, font)
            if is_marked:
                at = self.show("1", at, self._base + 3.5, 7.0)
                at = self.show(f"{after} ", at, self._base, size, font)
        self._base -= below

    def table(self, rows: list[list[str]]) -> None:
        """Cells with lines around each."""
        edges, height = [LEFT, 240.0, 320.0, 400.0, 500.0], 18.0
        self._base -= 4
        for row in rows:
            for number, cell in enumerate(row):
                left, right = edges[number], edges[number + 1]
                self.pages[-1] += f"0.5 w {left} {self._base - height} {right - left} {height} re S\n"
                at = left + 5
                for word in cell.split(" "):
                    at = self.show(f"{word} ", at, self._base - 13)
            self._base -= height
        self._base -= 6

    def foot(self, note: str) -> None:
        """The footnote of the page, above which its text ends, and under a short rule."""
        self.pages[-1] += f"0.5 w {LEFT} 92 m 216 92 l S\n"
        at = self.show("1", LEFT, 82.0, 6.0)
        for word in note.split(" "):
            at = self.show(f"{word} ", at, 79.0, 9.0)

    def _turn_if_full(self) -> None:
        if self._base < (110.0 if len(self.pages) == 1 else BOTTOM):
            self.pages.append("")
            self._base = TOP - SIZE

    def pdf(self) -> bytes:
        """All pages, each with its number on the right."""
        for number in range(1, len(self.pages) + 1):
            self.pages[number - 1] += f"BT /R 11 Tf 1 0 0 1 {RIGHT - 6} 40 Tm ({number} ) Tj ET\n"
        fonts = [f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} >>".encode() for name in FONTS.values()]
        fonts[-1] = fonts[-1][:-3] + b" /ToUnicode 7 0 R >>"
        named = " ".join(f"/{name} {number} 0 R" for number, name in enumerate(FONTS, 3))
        kids = " ".join(f"{8 + 2 * number} 0 R" for number in range(len(self.pages)))
        pages = f"<< /Type /Pages /Kids [{kids}] /Count {len(self.pages)} >>".encode()
        objects = [b"<< /Type /Catalog /Pages 2 0 R >>", pages, *fonts, _stream(TO_UNICODE)]
        for number, content in enumerate(self.pages):
            page = f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {9 + 2 * number} 0 R "
            objects += [f"{page}/Resources << /Font << {named} >> >> >>".encode(), _stream(content.encode("latin-1"))]
        return assemble(objects)


def _stream(content: bytes) -> bytes:
    return b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content)


@cache
def word_like() -> bytes:
    """The PDF of the paper, without its formulas and its figure."""
    printer = Printer()
    printer.paragraph(PAPER["title"], size=20, font="B", below=12)
    printer.paragraph(", ".join(name for name, _, _ in PAPER["authors"]), below=14)
    printer.paragraph("Abstract", size=16, font="B", below=4)
    printer.paragraph(PAPER["abstract"])
    for one in PAPER["sections"]:
        _print(printer, one)
    printer.paragraph("References", size=16, font="B", above=8, below=4)
    for entry in PAPER["references"]:
        printer.paragraph(entry, rest=LEFT + 18, below=4)
    return printer.pdf()


def _print(printer: Printer, one: dict[str, Any]) -> None:
    if "title" in one:
        font, size = HEADINGS[one["level"]]
        printer.paragraph(one["title"], size=size, font=font, above=8, below=4)
    elif "text" in one:
        printer.paragraph(one["text"])
        if "note" in one:
            printer.foot(one["note"])
    elif "table" in one:
        printer.table(one["table"])
        printer.paragraph(f"Table 1: {one['caption']}", size=9)
    for item in one.get("items", ()):
        printer.paragraph(item, first=LEFT + 36, rest=LEFT + 36, label=("\u00b7", "S"), below=2)

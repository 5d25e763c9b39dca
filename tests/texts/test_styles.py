"""Invented papers in styles without a real sample, and as printed by a word processor: every block of them is known."""

import ctypes
import json
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c
import pytest
import typst

from invented_pdfs import assemble, by_hand, put
from peercorpus.texts.engine import SEPARATOR, Converted
from peercorpus.texts.layout.pdfium_layout import PdfiumLayout

FOLDER = Path(__file__).parent / "styles"
STYLES = ("tmlr", "corl", "colm", "uai", "midl")
PAPER: dict[str, Any] = json.loads((FOLDER / "paper.json").read_text())


@cache
def styled(style: str, *, is_anonymous: bool) -> bytes:
    """Return the PDF of the paper in one style, as submitted or as published; always the same bytes."""
    inputs = {"anonymous": "yes" if is_anonymous else "no"}
    with TemporaryDirectory() as name:
        folder = shutil.copytree(FOLDER, Path(name) / "styles")
        put(folder, "drawing", _drawing())
        source = folder / f"{style}.typ"
        return bytes(typst.compile(source, ignore_system_fonts=True, sys_inputs=inputs, timestamp=0))


def _drawing() -> bytes:
    """Return the figure as a separate PDF, as papers include them."""
    (labels,) = (one["figure"] for one in PAPER["sections"] if "figure" in one)
    content = " ".join(
        f"{5 + 80 * at} 10 70 30 re S BT /F 10 Tf {10 + 80 * at} 21 Td ({label}) Tj ET"
        for at, label in enumerate(labels)
    )
    return by_hand([content.encode()]).replace(b"[0 0 600 800]", b"[0 0 330 050]")


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


CASES = [(style, is_anonymous) for style in STYLES for is_anonymous in (True, False)]
NAMES = [f"{style}-{'anonymous' if is_anonymous else 'final'}" for style, is_anonymous in CASES]
FORMULA = "$$"


@pytest.fixture(scope="module", params=CASES, ids=NAMES)
def case(request: pytest.FixtureRequest) -> tuple[str, bool, Converted]:
    style, is_anonymous = request.param
    return style, is_anonymous, PdfiumLayout().convert(styled(style, is_anonymous=is_anonymous))


def numbered(style: str) -> Iterator[tuple[int, str]]:
    """The headings of sections and appendices as the style numbers them, each with its level."""
    for part, is_appendix in (("sections", False), ("appendix", True)):
        numbers = [0, 0, 0]
        for one in PAPER[part]:
            if "title" not in one:
                continue
            level = one["level"]
            numbers = [*numbers[: level - 1], numbers[level - 1] + 1, 0, 0]
            first = chr(ord("A") + numbers[0] - 1) if is_appendix else str(numbers[0])
            number = ".".join([first, *map(str, numbers[1:level])])
            if style == "midl":
                number = f"{'Appendix ' if is_appendix and level == 1 else ''}{number}."
            yield level, f"{number} {one['title'].upper() if style == 'uai' and level < 3 else one['title']}"


def running(style: str, is_anonymous: bool) -> list[str]:
    """The blocks of the paper in the order in which they are read, from the abstract on."""
    headings = numbered(style)
    blocks = ["**Abstract:** " + PAPER["abstract"]] if style == "corl" else ["## Abstract", PAPER["abstract"]]
    if style in {"corl", "midl"}:
        blocks.append(f"**Keywords:** {PAPER['keywords']}")
    blocks += flow(PAPER["sections"], headings)
    if not is_anonymous:
        blocks += ["## Acknowledgments", PAPER["acknowledgments"]]
    labels = [f"[{number}] " if style == "corl" else "" for number in range(1, 20)]
    entries = [label + entry for label, entry in zip(labels, PAPER["references"], strict=False)]
    return [*blocks, "## References", *entries, *flow(PAPER["appendix"], headings)]


def flow(items: list[dict[str, str]], headings: Iterator[tuple[int, str]]) -> list[str]:
    blocks = []
    for one in items:
        if "title" in one:
            level, title = next(headings)
            blocks.append(f"{'#' * (level + 1)} {title}")
        elif "text" in one:
            blocks.append(one["text"].replace("{note}", "<sup>1</sup>"))
        elif "formula" in one:
            blocks.append(FORMULA)
        blocks += [f"- {item}" for item in one.get("items", ())]
        blocks += [f"{number}. {step}" for number, step in enumerate(one.get("steps", ()), 1)]
    return blocks


def apart(style: str) -> list[str]:
    """Content that occurs once, on whichever page it floats to: the table, captions and the footnote."""
    (table,) = (one for one in PAPER["sections"] if "table" in one)
    (figure,) = (one for one in PAPER["sections"] if "figure" in one)
    (note,) = (one["note"] for one in PAPER["sections"] if "note" in one)
    head, *rows = [f"| {' | '.join(row)} |" for row in table["table"]]
    return [
        "\n".join([head, "| --- | --- | --- | --- |", *rows]),
        f"Table 1: {table['caption']}",
        f"Figure 1: {figure['caption']}",
        f"1. {note}" if style == "midl" else f"<sup>1</sup>{note}",
    ]


def found(converted: Converted) -> list[str]:
    blocks = [block for page in converted.markdown.split(SEPARATOR) for block in page.strip().split("\n\n") if block]
    return [FORMULA if block.startswith(FORMULA) else block for block in blocks]


def test_every_block_occurs_once_in_order(case: tuple[str, bool, Converted]) -> None:
    """So no line number, header, footer or page number is left, and no paragraph or reference is split."""
    style, is_anonymous, converted = case
    blocks = found(converted)
    for one in apart(style):
        blocks.remove(one)
    expected = running(style, is_anonymous)
    assert blocks[-len(expected) :] == expected


def test_every_heading_has_its_level(case: tuple[str, bool, Converted]) -> None:
    style, is_anonymous, converted = case
    usual = {"Abstract", "Acknowledgments", "References"}
    headings = [(one.level, one.title) for one in converted.headings]
    assert [one for one in headings if one[1] not in usual] == list(numbered(style))
    left = [one for one in headings if one[1] in usual]
    assert left == [
        (1, name)
        for name in sorted(
            usual - ({"Abstract"} if style == "corl" else set()) - ({"Acknowledgments"} if is_anonymous else set())
        )
    ]


@pytest.fixture(scope="module")
def converted() -> Converted:
    return PdfiumLayout().convert(word_like())


def test_every_block_of_a_word_processor_occurs_once(converted: Converted) -> None:
    blocks = [block for page in converted.markdown.split(SEPARATOR) for block in page.strip().split("\n\n")]
    expected = [f"# {PAPER['title']}", ", ".join(name for name, _, _ in PAPER["authors"])]
    expected += ["## Abstract", PAPER["abstract"]]
    for one in PAPER["sections"]:
        if "title" in one:
            expected.append(f"{'#' * (one['level'] + 1)} {one['title']}")
        elif "text" in one:
            expected.append(one["text"].replace("{note}", "<sup>1</sup>"))
        elif "table" in one:
            head, *rows = [f"| {' | '.join(row)} |" for row in one["table"]]
            expected += ["\n".join([head, "| --- | --- | --- | --- |", *rows]), f"Table 1: {one['caption']}"]
        expected += [f"- {item}" for item in one.get("items", ())]
    expected += ["## References", *PAPER["references"]]
    (note,) = (f"<sup>1</sup>{one['note']}" for one in PAPER["sections"] if "note" in one)
    blocks.remove(note)
    assert blocks == expected

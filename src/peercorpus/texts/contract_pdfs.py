"""The PDFs that an engine must read, or refuse, to keep the contract: invented, written here byte by byte."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

Page = Sequence[tuple[str, str, int]]
"""Lines: the font (`/F` roman, `/B` bold), the text, and the size in points."""

WORDS = (
    ("amaranth", "bergamot", "celandine", "damson"),
    ("elderberry", "fenugreek", "galangal", "hawthorn"),
    ("juniper", "kohlrabi", "lovage", "marjoram"),
)
"""By page, words that stand there once, in the order in which they are read."""


def _sentences(*words: str) -> list[tuple[str, str, int]]:
    return [("F", f"We weigh the {word} and find that it is as heavy as it was before.", 10) for word in words]


PAPER: tuple[Page, ...] = (
    (("B", "On the weight of herbs", 17), ("B", "1 Introduction", 12), *_sentences(*WORDS[0])),
    (("B", "2 Method", 12), *_sentences(*WORDS[1])),
    (("B", "3 Results", 12), *_sentences(*WORDS[2])),
)
GAP = ("F", "", 20)
RULED: tuple[Page, ...] = (
    (*_sentences("nettle"), GAP, ("F", "---", 10), GAP, *_sentences("oregano")),
    (*_sentences("purslane"),),
)
"""Two pages, on the first of which a line looks like the mark between two pages."""


def _content(page: Page) -> bytes:
    shown, gap = [b"BT 72 720 Td"], 0
    for font, text, size in page:
        gap = size + 8 if font == "B" else size + 3
        shown.append(b"/%s %d Tf (%s) Tj 0 -%d Td" % (font.encode(), size, text.encode("latin-1"), gap))
    return b" ".join([*shown, b"ET"])


def write_pdf(contents: Sequence[bytes]) -> bytes:
    """A PDF with one page for each content stream; `/F` is Helvetica, `/B` the same in bold."""
    kids = " ".join(f"{5 + 2 * number} 0 R" for number in range(len(contents)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(contents)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
    ]
    for number, content in enumerate(contents):
        page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R" % (6 + 2 * number)
        objects.append(page + b" /Resources << /Font << /F 3 0 R /B 4 0 R >> >> >>")
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
    body, offsets = b"%PDF-1.4\n", []
    for number, inner in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, inner)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    trailer = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(body))
    return body + b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + table + trailer


def typeset(pages: Sequence[Page]) -> bytes:
    """Pages of lines as a PDF."""
    return write_pdf([_content(page) for page in pages])


def _encrypted(pdf: bytes) -> bytes:
    """A PDF whose trailer demands a password that nobody knows."""
    entry = b"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O (%s) /U (%s) >> /ID [(a) (a)]" % (b"o" * 32, b"u" * 32)
    return pdf.replace(b"/Root 1 0 R", b"/Root 1 0 R " + entry)


BAD: Mapping[str, bytes] = MappingProxyType(
    {
        "an empty file": b"",
        "a web page": b"<!DOCTYPE html><title>Just a moment...</title>",
        "noise": bytes(range(256)) * 20,
        "a header and nothing else": b"%PDF-1.7\n",
        "an encrypted PDF": _encrypted(typeset(PAPER)),
        "a PDF without pages": write_pdf([]),
        "a page that holds a grey square and no text": write_pdf([b"0.5 g 100 100 300 300 re f"]),
    }
)
"""What holds no text that could be read."""

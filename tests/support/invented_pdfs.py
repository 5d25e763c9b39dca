"""Invented PDFs of a few bytes each, intact and broken."""

from collections.abc import Sequence
from pathlib import Path

import typst


def typeset(*pages: str) -> bytes:
    """Pages of words as a PDF with a text layer; an empty page stays empty."""
    source = "#pagebreak()\n".join(f"{page}\n" for page in pages)
    return bytes(typst.compile(source.encode()))


def by_hand(contents: Sequence[bytes]) -> bytes:
    """A PDF with one page per content stream, written object by object; Helvetica is `/F`."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(contents)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(contents)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, content in enumerate(contents):
        page = f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {5 + 2 * number} 0 R"
        objects.append(page.encode() + b" /Resources << /Font << /F 3 0 R >> >> >>")
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
    return assemble(objects)


def assemble(objects: Sequence[bytes]) -> bytes:
    """A PDF of these objects, numbered from 1, the first of which is its root."""
    body, offsets = bytearray(b"%PDF-1.4\n"), []
    for number, inner in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, inner)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    trailer = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(body))
    return bytes(body) + b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + table + trailer


def lines(*texts: str) -> bytes:
    """A content stream that shows lines of text, one below another."""
    shown = b"".join(b"(%s) Tj 0 -20 Td " % text.encode("latin-1") for text in texts)
    return b"BT /F 12 Tf 72 700 Td " + shown + b"ET"


def encrypted(pdf: bytes) -> bytes:
    """A PDF whose trailer requires an unknown password."""
    entry = b"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O (%s) /U (%s) >> /ID [(a) (a)]" % (b"o" * 32, b"u" * 32)
    return pdf.replace(b"/Root 1 0 R", b"/Root 1 0 R " + entry)


PICTURE = b"0.5 g 100 100 300 300 re f"
"""A content stream without text."""

HTML = b"<!DOCTYPE html><title>Just a moment...</title>"

HOSTILE: dict[str, bytes] = {
    "empty": b"",
    "html": HTML,
    "noise": bytes(range(256)) * 20,
    "header only": b"%PDF-1.7\n",
    "truncated": typeset("Cut in the middle")[:900],
    "encrypted": encrypted(by_hand([lines("Secret")])),
    "no pages": by_hand([]),
    "picture": by_hand([PICTURE]),
}


def put(folder: Path, name: str, pdf: bytes) -> Path:
    """Write one PDF."""
    path = folder / f"{name}.pdf"
    path.write_bytes(pdf)
    return path


def meaning(shown: bytes, meanings: dict[str, int]) -> bytes:
    """A PDF of one page in Helvetica, `/F`, whose characters have given meanings (a `ToUnicode` table)."""
    pairs = b"".join(b"<%02x> <%04x>\n" % (ord(letter), code) for letter, code in meanings.items())
    table = b"1 begincodespacerange <00> <ff> endcodespacerange %d beginbfchar\n%sendbfchar" % (len(meanings), pairs)
    cmap = (
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def " + table + b" endcmap end end"
    )
    return assemble(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R"
            b" /Resources << /Font << /F 5 0 R >> >> >>",
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(shown), shown),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>",
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(cmap), cmap),
        ]
    )

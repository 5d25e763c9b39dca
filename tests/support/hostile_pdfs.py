"""Harmful or damaged PDFs; each is made on demand.

The readable text of each is `WORDS`.
"""

import random
import zlib
from collections.abc import Callable
from functools import partial

from harmful_pages import (
    MEGABYTE,
    PAGE,
    WORDS,
    archive,
    bomb_of_objects,
    broken_font,
    cycle_of_pages,
    deep_tree,
    deflated,
    doubling_forms,
    drawn,
    endless_table,
    fuzzed,
    locked,
    many_objects,
    mapped,
    one_bad_page,
    paper,
    recursive_form,
    recursive_glyph,
    replaced,
    scan,
    stream,
    vast_image,
    with_content,
)
from invented_pdfs import HTML, PICTURE, by_hand, encrypted, lines


def half(pdf: bytes) -> bytes:
    """A file whose download stopped."""
    return pdf[: len(pdf) // 2]


LATIN = {65 + number: letter for number, letter in enumerate("שלוםעולם")}
HALVES = {65: "\ud835", 66: "\x00", 67: "\ufffe", 68: "\U0001d465"}

HOSTILE_PDFS: dict[str, Callable[[], bytes]] = {
    "empty": bytes,
    "a web page": lambda: HTML,
    "a zip": archive,
    "noise": lambda: random.Random(2).randbytes(20_000),
    "zeros": lambda: bytes(50_000),
    "a header far behind": lambda: bytes(5_000) + drawn(PAGE),
    "header only": lambda: b"%PDF-1.7\n",
    "header and noise": lambda: b"%PDF-1.7\n" + random.Random(3).randbytes(20_000),
    "header and zeros": lambda: b"%PDF-1.7\n" + bytes(50_000),
    "1 kB of a paper": lambda: paper()[:1_000],
    "half of a paper": lambda: half(paper()),
    "a paper without its tail": lambda: paper()[:-300],
    "half of a plain file": lambda: half(by_hand([PAGE] * 20)),
    "a plain file without its tail": lambda: by_hand([PAGE] * 20)[:-500],
    "half of a paper made for the web": lambda: half(paper(for_the_web=True)),
    "line ends changed": lambda: paper().replace(b"\n", b"\r\n"),
    "high bits lost": lambda: bytes(byte & 0x7F for byte in paper()),
    "nothing that is found": lambda: replaced(b"/Root 1 0 R", b"/Root 9 0 R"),
    "no tree of pages": lambda: replaced(b"/Pages 2 0 R", b"/Pages 9 0 R"),
    "no pages": lambda: by_hand([]),
    "startxref points nowhere": lambda: drawn(PAGE).replace(b"startxref\n", b"startxref\n9"),
    "no trailer": lambda: drawn(PAGE).replace(b"trailer", b"trailed"),
    "no startxref": lambda: drawn(PAGE).split(b"startxref")[0],
    "offsets wrong": lambda: drawn(PAGE).replace(b"00000 n", b"00000 f"),
    "a table that is its own predecessor": endless_table,
    "junk before the header": lambda: b"HTTP/1.1 200 OK\r\n\r\n" + drawn(PAGE),
    "junk behind the end": lambda: drawn(PAGE) + HTML * 1_000,
    "user's password, RC4": lambda: encrypted(drawn(PAGE)),
    "user's password, AES-128": partial(locked, "secret", 4),
    "user's password, AES-256": partial(locked, "secret", 6),
    "unknown encryption": lambda: encrypted(drawn(PAGE)).replace(b"/Filter /Standard", b"/Filter /Adobe.PubSec"),
    "owner's password, AES-128": partial(locked, "", 4),
    "owner's password, AES-256": partial(locked, "", 6),
    "encryption that is not there": lambda: drawn(PAGE).replace(b"/Root 1 0 R", b"/Root 1 0 R /Encrypt 99 0 R"),
    "pictures": lambda: by_hand([PICTURE] * 3),
    "scan": partial(scan, 3),
    "blank pages": lambda: by_hand([b""] * 3),
    "a form that draws itself": recursive_form,
    "two forms that draw each other": partial(recursive_form, 7),
    "forms that multiply": partial(doubling_forms, 9),
    "a letter written with itself": recursive_glyph,
    "deep arrays": lambda: drawn(PAGE, b"[" * 200_000 + b"]" * 200_000, page=b"/Annots 6 0 R"),
    "deep arrays in the content": lambda: drawn(PAGE + b" " + b"[" * 200_000 + b"]" * 200_000 + b" TJ"),
    "deep dictionaries": lambda: drawn(PAGE, b"<</A" * 100_000 + b">>" * 100_000, page=b"/Annots 6 0 R"),
    "deep states": lambda: drawn(b"q " * 300_000 + PAGE),
    "a deep tree of pages": partial(deep_tree, 2_000),
    "a tree of pages that is its own branch": cycle_of_pages,
    "a billion pages promised": lambda: replaced(b"/Count 1", b"/Count 1000000000"),
    "a storm of lines": lambda: drawn(PAGE + b" 1 1 m 9 9 l S" * 500_000),
    "a path without end": lambda: drawn(PAGE + b" 0 0 m" + b" 9 9 l" * 500_000 + b" S"),
    "a bomb that can be borne": lambda: with_content(deflated(PAGE, 100 * MEGABYTE)),
    "a bomb of spaces": lambda: with_content(deflated(PAGE, 1_024 * MEGABYTE)),
    "a bomb in a bomb": lambda: with_content(deflated(PAGE, 1_024 * MEGABYTE, times=2)),
    "a bomb of objects": partial(bomb_of_objects, 1_024 * MEGABYTE),
    "a bomb of objects that is cut off": lambda: bomb_of_objects(1_024 * MEGABYTE).partition(b"trailer")[0],
    "a bomb of text": lambda: with_content(
        stream(zlib.compress(b"BT /F 9 Tf 1 1 Td " + b"(aaaaaaaaa) Tj " * 5_000_000, 1), b"/Filter /FlateDecode")
    ),
    "300,000 characters on a page": lambda: drawn(lines(*["words and words and words and"] * 10_000)),
    "a line of 300,000 characters": lambda: drawn(lines("word " * 60_000)),
    "a word of 300,000 characters": lambda: drawn(lines("w" * 300_000)),
    "1,000 pages": lambda: by_hand([lines(f"Leaf {number}", *[WORDS] * 40) for number in range(1_000)]),
    "100,000 objects": partial(many_objects, 100_000),
    "a page of two million points": lambda: drawn(PAGE, page=b"/MediaBox [0 0 2000000 2000000]"),
    "a page without extent": lambda: drawn(PAGE, page=b"/MediaBox [0 0 0 0]"),
    "a page of no numbers": lambda: drawn(PAGE, page=b"/MediaBox [/a (b) 1e99 -1e99]"),
    "pages turned about": lambda: drawn(PAGE, page=b"/Rotate 90"),
    "pages turned by 45 degrees": lambda: drawn(PAGE, page=b"/Rotate 45"),
    "pages turned about, and text turned back": lambda: drawn(
        b"BT /F 12 Tf 0 1 -1 0 300 300 Tm (%s) Tj ET" % WORDS.encode(), page=b"/Rotate 90"
    ),
    "text turned about": lambda: drawn(b"BT /F 12 Tf 0 1 -1 0 300 300 Tm (%s) Tj ET" % WORDS.encode()),
    "letters of vast size": lambda: drawn(b"BT /F 1e30 Tf 1e30 1e30 Td (%s) Tj ET " % WORDS.encode() + PAGE),
    "right to left": lambda: mapped(LATIN, b"BT /G 12 Tf 72 700 Td (HGFE DCBA) Tj ET"),
    "halves of characters": lambda: mapped(HALVES, PAGE + b" BT /G 12 Tf 72 600 Td (AABBCCDD) Tj ET"),
    "a broken font": broken_font,
    "no font": lambda: replaced(b"/F 3 0 R", b"/F 99 0 R"),
    "one bad page": one_bad_page,
    "content that is not there": lambda: replaced(b"/Contents 5 0 R", b"/Contents 99 0 R"),
    "a length below nothing": lambda: replaced(b"/Length %d" % len(PAGE), b"/Length -1"),
    "a length beyond the end": lambda: replaced(b"/Length %d" % len(PAGE), b"/Length 99999999999"),
    "a stream that does not unpack": lambda: with_content(stream(b"\x78\x9c" + bytes(99), b"/Filter /FlateDecode")),
    "a million filters": lambda: with_content(stream(b"x", b"/Filter [" + b"/ASCIIHexDecode " * 1_000_000 + b"]")),
    "a vast image": vast_image,
    **{f"fuzzed, {seed}": partial(fuzzed, by_hand([PAGE] * 20), seed, 0.002) for seed in range(6)},
    **{f"fuzzed more, {seed}": partial(fuzzed, by_hand([PAGE] * 20), seed, 0.005) for seed in (53, 62, 101)},
    **{f"fuzzed much, {seed}": partial(fuzzed, by_hand([PAGE] * 20), seed, 0.02) for seed in range(3)},
    **{f"fuzzed and packed, {seed}": partial(fuzzed, paper(), seed, 0.005) for seed in range(4)},
}

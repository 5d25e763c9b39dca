"""Makes harmful or damaged PDFs, always with the same bytes."""

import random
import zlib
from io import BytesIO
from typing import Literal

import pikepdf

from invented_pdfs import assemble, by_hand, lines

WORDS = "Words of a paper"
PAGE = lines(WORDS)
MEGABYTE = 1 << 20


def drawn(content: bytes, *more: bytes, page: bytes = b"", resources: bytes = b"") -> bytes:
    """A PDF of one page, object 4, with content 5 and more objects from 6 on; Helvetica is `/F`, object 3."""
    return assemble(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [4 0 R] /Count 1 /MediaBox [0 0 600 800] >>",
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            b"<< /Type /Page /Parent 2 0 R /Contents 5 0 R /Resources << /Font << /F 3 0 R /G 6 0 R >> %s >> %s >>"
            % (resources, page),
            stream(content),
            *more,
        ]
    )


def stream(content: bytes, entries: bytes = b"") -> bytes:
    """A stream with its dictionary."""
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), entries, content)


def deflated(head: bytes, size: int, times: int = 1) -> bytes:
    """A stream with a number of spaces at its end, compressed a number of times."""
    packer = zlib.compressobj(9)
    start = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    # Data after a full flush does not depend on the data before it.
    block = packer.compress(b" " * MEGABYTE) + packer.flush(zlib.Z_FULL_FLUSH)
    packed = start + block * (size // MEGABYTE) + packer.flush()
    for _ in range(times - 1):
        packed = zlib.compress(packed, 9)
    return stream(packed, b"/Filter [%s]" % (b"/FlateDecode " * times))


def with_content(content: bytes) -> bytes:
    """A PDF of one page whose content stream is given as a whole object."""
    return drawn(b"", content, page=b"/Contents 6 0 R").replace(b"/Contents 5 0 R", b"", 1)


def locked(user: str, level: Literal[4, 6]) -> bytes:
    """A page, encrypted as PDFs are: level 4 is AES-128, 6 is AES-256; without a user's password it opens."""
    written = BytesIO()
    with pikepdf.open(BytesIO(drawn(PAGE))) as document:
        document.save(written, encryption=pikepdf.Encryption(owner="owner", user=user, R=level))
    return written.getvalue()


def paper(*, for_the_web: bool = False) -> bytes:
    """Four pages whose objects are compressed, as TeX writes them."""
    pages = [lines(f"{WORDS}, page {page}", *[f"line {page} {line}" for line in range(30)]) for page in range(1, 5)]
    packed, written = pikepdf.ObjectStreamMode.generate, BytesIO()
    with pikepdf.open(BytesIO(by_hand(pages))) as document:
        document.save(written, object_stream_mode=packed, linearize=for_the_web, deterministic_id=True)
    return written.getvalue()


def fuzzed(pdf: bytes, seed: int, share: float) -> bytes:
    """A file with some bytes changed."""
    dice, changed = random.Random(seed), bytearray(pdf)
    for _ in range(max(1, int(len(pdf) * share))):
        changed[dice.randrange(len(pdf))] = dice.randrange(256)
    return bytes(changed)


def replaced(old: bytes, new: bytes, content: bytes = PAGE) -> bytes:
    """A page in which one object is replaced by another."""
    pdf = drawn(content)
    assert old in pdf
    return pdf.replace(old, new, 1)


def recursive_form(*others: int) -> bytes:
    """A page that draws a form that draws forms, itself or each other."""
    names = b" ".join(b"/X%d %d 0 R" % (number, number) for number in (6, *others))
    entries = b"/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /XObject << %s >> >>" % names
    draw = b" ".join(b"/X%d Do" % number for number in (6, *others))
    forms = [stream(draw, entries) for _ in (6, *others)]
    return drawn(PAGE + b" /X6 Do", *forms, resources=b"/XObject << /X6 6 0 R >>")


def doubling_forms(depth: int) -> bytes:
    """Forms that each draw the next one ten times over: ten to the power of the depth."""
    forms = []
    for number in range(6, 6 + depth):
        entries = b"/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /XObject << /N %d 0 R >> >>"
        forms.append(stream(b"/N Do " * 10, entries % (number + 1)))
    last = b"/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /Font << /F 3 0 R >> >>"
    return drawn(PAGE + b" /X Do", *forms, stream(lines("x"), last), resources=b"/XObject << /X 6 0 R >>")


def recursive_glyph() -> bytes:
    """A font whose letter is drawn by writing that letter."""
    letter = b"100 0 d0 BT /G 10 Tf (a) Tj ET"
    font = (
        b"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 100 100] /FontMatrix [0.01 0 0 0.01 0 0] /FirstChar 97 "
        b"/LastChar 97 /Widths [100] /CharProcs << /a 7 0 R >> /Encoding << /Differences [97 /a] >> "
        b"/Resources << /Font << /G 6 0 R >> >> >>"
    )
    return drawn(PAGE + b" BT /G 12 Tf 72 500 Td (aaa) Tj ET", font, stream(letter))


def mapped(codes: dict[int, str], content: bytes) -> bytes:
    """A page in a font whose letters represent others; `/G` is that font."""
    pairs = "\n".join(
        f"<{code:02x}> <{said.encode('utf-16-be', 'surrogatepass').hex()}>" for code, said in codes.items()
    )
    table = f"begincmap 1 begincodespacerange <00> <ff> endcodespacerange {len(codes)} beginbfchar\n{pairs}\n"
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 7 0 R >>"
    return drawn(content, font, stream(table.encode() + b"endbfchar endcmap"))


def broken_font() -> bytes:
    """A font whose program is noise of an unknown kind, with invalid widths and codes."""
    noise = random.Random(0).randbytes(5_000)
    font = (
        b"<< /Type /Font /Subtype /TrueType /BaseFont /A /FirstChar 300 /LastChar -5 /Widths [/a (b) 99999999999] "
        b"/FontDescriptor << /FontFile2 7 0 R /Flags -1 /Ascent 1e99 >> /ToUnicode 7 0 R /Encoding 7 0 R >>"
    )
    return drawn(PAGE + b" BT /G 12 Tf 72 500 Td (broken) Tj ET", font, stream(noise))


def cycle_of_pages() -> bytes:
    """A page tree that contains itself, beside one real page."""
    return replaced(b"/Kids [4 0 R] /Count 1", b"/Kids [4 0 R 2 0 R] /Count 2")


def deep_tree(depth: int) -> bytes:
    """A page at the end of a chain of single-child nodes."""
    branches = [b"<< /Type /Pages /Kids [%d 0 R] /Count 1 /Parent %d 0 R >>" % (n + 1, n - 1) for n in range(4, depth)]
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 3 0 R >>"
    top = [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [4 0 R] /Count 1 >>", stream(b"")]
    return assemble([*top, *branches, page])


def one_bad_page() -> bytes:
    """Three pages, the second of which is a number."""
    return by_hand([PAGE] * 3).replace(b"/Kids [4 0 R 6 0 R 8 0 R]", b"/Kids [4 0 R 1 1 R 8 0 R]")


def endless_table() -> bytes:
    """An object table that names itself as its predecessor."""
    pdf = drawn(PAGE)
    start = pdf.rsplit(b"startxref\n", 1)[1].split(b"\n")[0]
    return pdf.replace(b"/Root 1 0 R", b"/Root 1 0 R /Prev " + start)


def many_objects(count: int) -> bytes:
    """Unused objects."""
    return drawn(PAGE, *[b"[" + b"0 " * 20 + b"]"] * count)


def bomb_of_objects(size: int) -> bytes:
    """A page, and a compressed stream of spaces that claims to contain objects."""
    packed = deflated(b"7 0 ", size).replace(b"/Filter", b"/Type /ObjStm /N 1 /First 4 /Filter", 1)
    return drawn(PAGE, packed, page=b"/Annots [7 0 R]")


def vast_image() -> bytes:
    """An image that claims to be a million pixels wide and high."""
    entries = (
        b"/Type /XObject /Subtype /Image /Width 1000000 /Height 1000000 /ColorSpace /DeviceRGB /BitsPerComponent 8"
    )
    return drawn(PAGE + b" q 500 0 0 500 50 50 cm /I Do Q", stream(b"0", entries), resources=b"/XObject << /I 6 0 R >>")


def scan(pages: int) -> bytes:
    """Pages that are pictures made of pixels."""
    image = b"q 600 0 0 800 0 0 cm BI /W 8 /H 8 /CS /G /BPC 8 ID " + bytes(range(64)) + b" EI Q"
    return by_hand([image] * pages)


def archive() -> bytes:
    """A zip, judging by its first bytes."""
    return b"PK\x03\x04" + random.Random(1).randbytes(3_000)

"""Damaged files are read as far as possible, and what is missing is reported."""

import random
import re
import time
import tracemalloc
import zlib
from collections.abc import Callable, Sequence
from io import BytesIO

import pikepdf
import pytest

from harmful_pages import MEGABYTE, bomb_of_objects
from invented_pdfs import by_hand, encrypted, lines
from peercorpus.errors import UnreadablePdfError
from peercorpus.pdf.rebuild import rebuild
from peercorpus.pdf.repair import REPAIRED
from peercorpus.texts.engine import SEPARATOR, Converted, _convert
from peercorpus.texts.layout.pdfium_layout import PdfiumLayout

PAGES = 12
ALL = list(range(1, PAGES + 1))


def page_text(number: int) -> bytes:
    """Page content that hardly compresses, so that a share of the file is a share of the pages."""
    dice = random.Random(number)
    words = ["".join(dice.choices("abcdefghijklmnopqrstuvwxyz", k=7)) for _ in range(120)]
    return lines(f"Page number {number} begins.", *[" ".join(words[at : at + 6]) + "." for at in range(0, 120, 6)])


def written(pdf: bytes, *, packed: bool = True, for_the_web: bool = False) -> bytes:
    mode = pikepdf.ObjectStreamMode.generate if packed else pikepdf.ObjectStreamMode.disable
    saved = BytesIO()
    with pikepdf.open(BytesIO(pdf)) as document:
        document.save(saved, object_stream_mode=mode, linearize=for_the_web, deterministic_id=True)
    return saved.getvalue()


def as_tex(pages: Sequence[int] = ALL) -> bytes:
    """A file in TeX's order: every four pages in an object stream after them, the fonts last."""
    parts, offset = [b"%PDF-1.5\n"], 9
    places: dict[int, bytes] = {}

    def add(number: int, body: bytes) -> None:
        nonlocal offset
        places[number] = b"\x01" + offset.to_bytes(4, "big") + b"\0"
        parts.append(b"%d 0 obj\n%b\nendobj\n" % (number, body))
        offset += len(parts[-1])

    def stream(entries: bytes, data: bytes) -> bytes:
        return b"<< /Length %d %b >>\nstream\n%b\nendstream" % (len(data), entries, data)

    for start in range(0, len(pages), 4):
        group = pages[start : start + 4]
        for number in group:
            add(100 + number, stream(b"", page_text(number)))
        bodies = [
            b"<< /Type /Page /Contents %d 0 R /Resources << /Font << /F 4 0 R >> >> /MediaBox [0 0 612 792]"
            b" /Parent 2 0 R >>" % (100 + number)
            for number in group
        ]
        heads = b" ".join(
            b"%d %d" % (10 + number, sum(len(body) + 1 for body in bodies[:at])) for at, number in enumerate(group)
        )
        packed = stream(
            b"/Type /ObjStm /N %d /First %d" % (len(group), len(heads) + 1), heads + b"\n" + b" ".join(bodies)
        )
        add(50 + start, packed)
        for at, number in enumerate(group):
            places[10 + number] = b"\x02" + (50 + start).to_bytes(4, "big") + bytes([at])
    kids = b" ".join(b"%d 0 R" % (10 + number) for number in pages)
    add(2, b"<< /Type /Pages /Count %d /Kids [%b] >>" % (len(pages), kids))
    add(4, b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    add(1, b"<< /Type /Catalog /Pages 2 0 R >>")
    size, end = 200, offset
    places[199] = b"\x01" + end.to_bytes(4, "big") + b"\0"
    table = b"".join(places.get(number, bytes(6)) for number in range(size))
    add(199, stream(b"/Type /XRef /Size 200 /W [1 4 1] /Root 1 0 R", table))
    return b"".join(parts) + b"startxref\n%d\n%%%%EOF\n" % end


def read(pdf: bytes) -> Converted:
    return _convert(PdfiumLayout(), pdf)


def whole_pages(text: Converted) -> list[int]:
    """Return the numbers of the pages whose text is complete, in order of appearance."""
    found = []
    for page in text.markdown.split(SEPARATOR):
        begins = re.search(r"Page number (\d+) begins", page)
        if begins is not None and len(re.findall(r"[a-z]{7}", page)) >= 120:
            found.append(int(begins[1]))
    return found


WRITERS: dict[str, Callable[[bytes], bytes]] = {
    "a table of objects": lambda pdf: written(pdf, packed=False),
    "objects in streams": written,
    "for the web": lambda pdf: written(pdf, for_the_web=True),
}


@pytest.mark.fault("input", "a PDF as TeX writes it, cut off", "its whole pages, and that", times=4, lost="the rest")
@pytest.mark.parametrize("pages", [0, 4, 8, 12])
def test_a_cut_tex_pdf_is_read(pages: int) -> None:
    pdf = as_tex()
    ends = [pdf.index(b"/ObjStm"), *(found.end() for found in re.finditer(rb"/ObjStm(?s:.)*?endobj", pdf))]
    cut = pdf[: ends[pages // 4]]
    if pages == 0:
        with pytest.raises(UnreadablePdfError):
            read(cut)
        return
    text = read(cut)
    assert whole_pages(text) == ALL[:pages]
    assert text.problems == (
        REPAIRED,
        f"cannot be read: pages behind page {pages}, if there were any",
        f"without one of its fonts, so letters may be wrong: page {', '.join(map(str, ALL[:pages]))}",
    )


@pytest.mark.fault(
    "input", "a PDF of any writer, cut off", "its pages before the cut, the others by number", times=18, lost="the rest"
)
@pytest.mark.parametrize("share", [0.1, 0.25, 0.5, 0.75, 0.9, 0.95])
@pytest.mark.parametrize("writer", WRITERS)
def test_pages_before_a_cut_are_read(writer: str, share: float) -> None:
    pdf = WRITERS[writer](by_hand([page_text(number) for number in ALL]))
    text = read(pdf[: int(len(pdf) * share)])
    pages = whole_pages(text)
    assert pages == sorted(pages)
    assert len(pages) >= int(share * PAGES) - 2
    left_out = [int(number) for problem in text.problems for number in re.findall(r"(\d+) of 12 pages", problem)]
    assert text.pages + sum(left_out) == PAGES
    named = {
        int(number)
        for problem in text.problems
        for number in re.findall(r"\d+", problem.partition("page ")[2])
        if problem.startswith(("cannot be read", "without text"))
    }
    assert {number for number in range(1, text.pages + 1) if number not in pages} <= named


def test_missing_branches_keep_their_position() -> None:
    root = b"1 0 obj << /Type /Pages /Count 4 /Kids [8 0 R 7 0 R 5 0 R] >> endobj\n"
    branches = {2: 7, 8: 1, 4: 7, 5: 1}
    pages = [
        b"%d 0 obj << /Type /Page /Parent %d 0 R /Name (%d) >> endobj\n" % (number, branch, number)
        for number, branch in branches.items()
    ]
    rebuilt = rebuild(b"%PDF-1.4\n" + root + b"".join(pages))
    assert rebuilt is not None
    assert rebuilt.problems == ()
    with pikepdf.open(BytesIO(rebuilt.pdf)) as document:
        assert [str(page.Name) for page in document.pages] == ["8", "2", "4", "5"]


@pytest.mark.fault("input", "a page of a PDF that is lost", "a blank page in its place, named", lost="the page")
def test_a_lost_page_is_blank() -> None:
    pdf = by_hand([page_text(number) for number in ALL]).partition(b"xref")[0]
    lost = pdf.index(b"/Contents", len(pdf) // 2)
    start = pdf.rindex(b" obj", 0, lost)
    text = read(pdf[: start + 1] + b"???" + pdf[start + 4 :])
    pages = whole_pages(text)
    assert len(pages) == PAGES - 1
    assert [number for number in ALL if number not in pages] == [
        number for number, page in enumerate(text.markdown.split(SEPARATOR), 1) if not page
    ]


@pytest.mark.fault("input", "a PDF whose table is wrong, among other bytes", "all of its pages", times=4)
@pytest.mark.parametrize(
    "damage",
    [
        lambda pdf: pdf.replace(b"startxref\n", b"startxref\n9"),
        lambda pdf: b"HTTP/1.1 200 OK\r\n\r\n" + pdf[:-40],
        lambda pdf: pdf + b"<html>" * 1_000,
        lambda pdf: pdf[:-40] + bytes(5_000),
    ],
)
def test_a_wrong_xref_table_is_read(damage: Callable[[bytes], bytes]) -> None:
    for pdf in (as_tex(), written(by_hand([page_text(number) for number in ALL]))):
        assert whole_pages(read(damage(pdf))) == ALL


def test_an_encrypted_file_is_not_rebuilt() -> None:
    assert rebuild(b"%PDF-1.7\n1 0 obj << /Type /Catalog >> endobj") is None
    assert rebuild(b"") is None
    assert rebuild(encrypted(by_hand([b""]))) is None


def overlapping(count: int) -> bytes:
    """A page, and an object stream whose every second object begins at the same offset as the first."""
    head = b" ".join(b"%d %d" % (10 + number, number % 2 * MEGABYTE) for number in range(count)) + b" "
    data = zlib.compress(head + b"0 " * MEGABYTE, 9)
    stream = b"6 0 obj\n<</Type/ObjStm/N %d/First %d/Filter/FlateDecode>>stream\n%b\nendstream\nendobj\n"
    return b"%PDF-1.7\n2 0 obj<</Type/Page>>endobj\n" + stream % (count, len(head), data)


@pytest.mark.slow
@pytest.mark.fault("input", "a cut PDF that unpacks to a lot, or is a tangle", "limits on memory and time", times=5)
@pytest.mark.parametrize(
    "make",
    [
        lambda: bomb_of_objects(128 * MEGABYTE).partition(b"trailer")[0],
        lambda: b"%PDF-1.7\n1 0 obj<</Type/Pages/Count 9/Kids[1 0 R 1 0 R]>>endobj 2 0 obj<</Type/Page>>endobj",
        lambda: b"%PDF-1.7\n" + b"1 0 obj<</Type/ObjStm>>stream\n" * 20_000 + b"1 0 obj " * 20_000,
        lambda: (
            b"%PDF-1.7\n1 0 obj<</Type/Pages/Count 9/Kids["
            + b"1 0 R " * 2_000
            + b"]>>endobj 2 0 obj<</Type/Page>>endobj"
        ),
        lambda: overlapping(6_000),
    ],
    ids=["bomb", "tree", "streams", "own branch", "overlapping"],
)
def test_rebuilding_is_bounded(make: Callable[[], bytes]) -> None:
    pdf = make()
    began = time.process_time()
    tracemalloc.start()
    try:
        rebuild(pdf)
        assert tracemalloc.get_traced_memory()[1] < 100 * MEGABYTE
    finally:
        tracemalloc.stop()
    assert time.process_time() - began < 10

"""Rebuild a PDF whose cross-reference table is lost or truncated, from the objects that are complete.

A truncated download lacks that table, usually the page tree, and the fonts, which TeX writes last. Every object before
the cut is complete: top-level objects (`7 0 obj … endobj`) and those in object streams.
"""

import re
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pikepdf

ENCRYPT_ENTRY = re.compile(rb"/Encrypt[^A-Za-z]")
"""Trailer entry of an encrypted file; trailers are never compressed, so it can be searched in the raw bytes."""
_HEADER = b"%PDF-"
_OBJECT = re.compile(rb"(?<!\d)(\d{1,7})[\0\t\n\f\r ]+(\d{1,5})[\0\t\n\f\r ]+obj\b")
"""Beginning of an object (ISO 32000-1, 7.3.10)."""
_STREAM = re.compile(rb">>[\0\t\n\f\r ]*stream[\t ]*\r?\n")
"""Beginning of the data of a stream (ISO 32000-1, 7.3.8)."""
_OBJECT_STREAM = re.compile(rb"/Type\s*/ObjStm\b")
_COUNT = re.compile(rb"/N\s+(\d{1,7})\b")
"""Number of objects in an object stream."""
_FIRST = re.compile(rb"/First\s+(\d{1,9})\b")
"""Offset of the first of them."""
_REFERENCE = re.compile(rb"(?<!\d)(\d{1,7})[\0\t\n\f\r ]+\d{1,5}[\0\t\n\f\r ]+R\b")
_LINEARISED = re.compile(rb"/Linearized\b[^>]{0,300}?/N\s+(\d{1,7})\b")
"""Number of pages of a linearised file (ISO 32000-1, Annex F.3.1)."""
_INTEGER = re.compile(rb"\d{1,9}")
_MISSING = "/PeercorpusMissing"
"""Name written in place of each object that others refer to but that is missing in the file."""
_FIRST_BYTES = 1_024
"""Bytes within which a file states that it is linearised."""
_MAX_UNPACKED_BYTES = 16 << 20
"""Maximum unpacked size of all object streams of a file; those of the recorded papers take up to 0.25 MB."""
_MAX_TREE_DEPTH = 64
"""Maximum number of levels above a page that are searched for inherited entries."""
_INHERITED = ("/Resources", "/MediaBox", "/CropBox", "/Rotate")
"""Entries that a page inherits from the tree above it (ISO 32000-1, 7.7.3.4)."""


class Rebuilt(NamedTuple):
    """A rebuilt file, with sentences on what is known to be missing in it."""

    pdf: bytes
    problems: tuple[str, ...]


class _Object(NamedTuple):
    """A top-level object at its offset: a complete one, or a stream whose end is cut off, with its data as stored."""

    number: int
    generation: int
    start: int
    text: bytes
    data: bytes = b""
    is_cut: bool = False


def rebuild(pdf: bytes) -> Rebuilt | None:
    """Rebuild a file from its complete objects; return None if none is a page, or they are encrypted."""
    import pikepdf

    if ENCRYPT_ENTRY.search(pdf):
        return None
    objects = _Objects(pdf[max(0, pdf.find(_HEADER)) :])
    try:
        with pikepdf.open(BytesIO(objects.write()), suppress_warnings=True) as document:
            return _rebuild(document, objects)
    except pikepdf.PikepdfError:
        return None


@dataclass(slots=True)
class _Objects:
    """The objects of a file from its header on, their places by number, and the number of the stream cut off."""

    pdf: bytes
    added: bytearray = field(default_factory=bytearray)
    places: dict[int, tuple[int, int]] = field(default_factory=dict)
    cut: int | None = None

    def write(self) -> bytes:
        referred: set[int] = set()
        left = _MAX_UNPACKED_BYTES
        for item in _find_objects(self.pdf):
            self._place(item.number, item.start, item.generation)
            if item.is_cut:
                self.cut = item.number
                self.added += b"\nendstream\nendobj"
            referred.update(map(int, _REFERENCE.findall(item.text)))
            if _OBJECT_STREAM.search(item.text):
                unpacked = _unpack(item, left)
                left -= len(unpacked)
                referred.update(map(int, _REFERENCE.findall(unpacked)))
                for number, body in _split_object_stream(item.text, unpacked):
                    self._add(number, body)
        for number in referred.difference(self.places):
            self._add(number, _MISSING.encode())
        root = max(self.places, default=0) + 1
        self._add(root, b"<< /Type /Catalog /Pages %d 0 R >>" % (root + 1))
        self._add(root + 1, b"<< /Type /Pages /Kids [] /Count 0 >>")
        table = [b"%d 1\n%010d %05d n \n" % (number, *place) for number, place in self.places.items()]
        trailer = b"trailer\n<< /Size %d /Root %d 0 R >>\nstartxref\n%d\n%%%%EOF\n"
        end = trailer % (root + 2, root, len(self.pdf) + len(self.added))
        return b"".join([self.pdf, self.added, b"xref\n0 1\n0000000000 65535 f \n", *table, end])

    def _place(self, number: int, start: int, generation: int = 0) -> None:
        self.places.pop(number, None)  # A redefined object moves to the end of the order.
        self.places[number] = (start, generation)

    def _add(self, number: int, body: bytes) -> None:
        self.added += b"\n"
        self._place(number, len(self.pdf) + len(self.added))
        self.added += b"%d 0 obj\n%b\nendobj\n" % (number, body)


def _find_objects(pdf: bytes) -> Iterator[_Object]:
    started = _OBJECT.search(pdf)
    while started is not None:
        number, generation, start = int(started[1]), int(started[2]), started.start()
        following = _OBJECT.search(pdf, started.end())
        end = len(pdf) if following is None else following.start()
        stream = _STREAM.search(pdf, started.end(), end)
        if stream is not None:
            end = pdf.find(b"endstream", stream.end())
            is_cut = end < 0
            end = len(pdf) if is_cut else end
            text = pdf[started.end() : stream.end()]
            yield _Object(number, generation, start, text, pdf[stream.end() : end], is_cut)
            following = _OBJECT.search(pdf, end)
        elif following is not None or b"endobj" in pdf[started.end() :]:
            yield _Object(number, generation, start, pdf[started.end() : end])
        started = following


def _unpack(stream: _Object, most_bytes: int) -> bytes:
    if b"/Filter" not in stream.text:
        return stream.data[: max(0, most_bytes)]
    try:
        return zlib.decompressobj().decompress(stream.data, most_bytes) if most_bytes > 0 else b""
    except zlib.error:
        return b""


def _split_object_stream(head: bytes, unpacked: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield number and body of each complete object in an object stream (ISO 32000-1, 7.5.7)."""
    stated = _COUNT.search(head), _FIRST.search(head)
    if stated[0] is None or stated[1] is None:
        return
    count, first = int(stated[0][1]), int(stated[1][1])
    numbers = [int(number) for number in _INTEGER.findall(unpacked[:first])[: 2 * count]]
    starts = [first + start for start in numbers[1::2]]
    last = first
    for number, start, end in zip(numbers[::2], starts, [*starts[1:], len(unpacked)], strict=False):
        # Objects must not overlap, so that together they are no longer than the stream.
        if last <= start < end <= len(unpacked):
            yield number, unpacked[start:end].strip()
            last = end


def _rebuild(document: "pikepdf.Pdf", objects: _Objects) -> Rebuilt | None:
    """Return a file with the pages of a document, with a blank page for each that is known to be missing."""
    import pikepdf

    tree = document.Root.Pages
    places = {number: place for place, number in enumerate(objects.places)}
    dictionaries = [item for item in document.objects if isinstance(item, pikepdf.Dictionary)]
    found = [item for item in dictionaries if item.get("/Type") == pikepdf.Name.Page]
    if not found:
        return None
    found.sort(key=lambda page: places.get(page.objgen[0], len(places)))
    nodes = [item for item in dictionaries if item.get("/Type") == pikepdf.Name.Pages and item.objgen != tree.objgen]
    root = _find_root(nodes)
    stated = _LINEARISED.search(objects.pdf[:_FIRST_BYTES])
    count = int(root.Count) if root is not None else int(stated[1]) if stated is not None else None
    pages = list(found) if root is None else _order_pages(root, found)
    if len(pages) != count:
        pages = [page for page in pages if page is not None]
    for page in found:
        _inherit(page)
    blank = pikepdf.Dictionary(Type=pikepdf.Name.Page, MediaBox=found[0].get("/MediaBox", [0, 0, 612, 792]))
    kids = [document.make_indirect(blank) if page is None else page for page in pages]
    for page in kids:
        page.Parent = tree
    tree.Kids = pikepdf.Array(kids)
    tree.Count = len(kids)
    written = BytesIO()
    document.save(written, compress_streams=False, stream_decode_level=pikepdf.StreamDecodeLevel.none)
    return Rebuilt(written.getvalue(), tuple(_describe_missing(pages, count, objects.cut)))


def _describe_missing(
    pages: Sequence["pikepdf.Dictionary | None"], count: int | None, cut: int | None
) -> Iterator[str]:
    if count is None:
        yield f"cannot be read: pages behind page {len(pages)}, if there were any"
    elif count > len(pages):
        yield f"cannot be read: {count - len(pages)} of {count} pages, which are left out"
    lists = {
        "cannot be read to its end": [page is None or _lacks_content(page, cut) for page in pages],
        "without one of its fonts, so letters may be wrong": [
            page is not None and _lacks_fonts(page) for page in pages
        ],
    }
    for what, flags in lists.items():
        numbers = [str(number) for number, is_so in enumerate(flags, 1) if is_so]
        if numbers:
            yield f"{what}: page {', '.join(numbers)}"


def _find_root(nodes: Sequence["pikepdf.Dictionary"]) -> "pikepdf.Dictionary | None":
    import pikepdf

    roots = [
        node
        for node in nodes
        if isinstance(node.get("/Count"), int) and not isinstance(node.get("/Parent"), pikepdf.Dictionary)
    ]
    return max(roots, key=lambda node: int(node.Count), default=None)


def _order_pages(
    root: "pikepdf.Dictionary", found: Sequence["pikepdf.Dictionary"]
) -> list["pikepdf.Dictionary | None"]:
    """Return the pages found in the order of their tree, with None for each branch without any.

    Pages whose branch is missing take its place, since they name it. Pages without a branch come last, unless the tree
    is complete: then they were removed from it.
    """
    import pikepdf

    left = {_number(page): page for page in found}
    by_branch = defaultdict(list)
    for page in found:
        by_branch[_number(page.get("/Parent"))].append(_number(page))
    pages: list[pikepdf.Dictionary | None] = []
    waiting: list[pikepdf.Object] = [root]
    opened: set[int | None] = set()
    while waiting:
        node = waiting.pop()
        kids = node.get("/Kids") if isinstance(node, pikepdf.Dictionary) else None
        number = _number(node)
        if number in left:
            pages.append(left.pop(number))
        elif isinstance(kids, pikepdf.Array):
            if number is None or number not in opened:  # A node may be its own branch.
                waiting += reversed(list(kids))
            opened.add(number)
        else:
            inside = [page for page in by_branch[number] if number is not None and page in left]
            pages += [left.pop(page) for page in inside] or [None]
    is_whole = len(pages) == root.Count and None not in pages
    return pages if is_whole else [*pages, *left.values()]


def _number(item: object) -> int | None:
    import pikepdf

    return item.objgen[0] or None if isinstance(item, pikepdf.Object) else None


def _inherit(page: "pikepdf.Dictionary") -> None:
    import pikepdf

    above = page.get("/Parent")
    for _ in range(_MAX_TREE_DEPTH):
        if not isinstance(above, pikepdf.Dictionary):
            return
        for key in _INHERITED:
            if key in above and key not in page:
                page[key] = above[key]
        above = above.get("/Parent")


def _is_missing(item: object) -> bool:
    import pikepdf

    return isinstance(item, pikepdf.Name) and item == _MISSING


def _lacks_content(page: "pikepdf.Dictionary", cut: int | None) -> bool:
    import pikepdf

    content = page.get("/Contents")
    parts = list(content) if isinstance(content, pikepdf.Array) else [content]
    return any(_is_missing(part) or (isinstance(part, pikepdf.Stream) and _number(part) == cut) for part in parts)


def _lacks_fonts(page: "pikepdf.Dictionary") -> bool:
    import pikepdf

    resources = page.get("/Resources")
    if not isinstance(resources, pikepdf.Dictionary):
        return _is_missing(resources)
    fonts = resources.get("/Font")
    if not isinstance(fonts, pikepdf.Dictionary):
        return _is_missing(fonts)
    parts = [part for _, font in fonts.items() for part in _parts(font)]
    return any(map(_is_missing, parts))


def _parts(font: "pikepdf.Object") -> Iterator["pikepdf.Object"]:
    import pikepdf

    yield font
    if isinstance(font, pikepdf.Dictionary):
        yield from (part for _, part in font.items())
        description = font.get("/FontDescriptor")
        if isinstance(description, pikepdf.Dictionary):
            yield from (part for _, part in description.items())

"""Read the rows on the pages of a damaged SQLite database, independent of the tree that leads to them.

SQLite finds a row only through its tree, and the `.recover` command of its shell is not available on every machine. The
format is described at https://sqlite.org/fileformat2.html; it has not changed since 2004.
"""

from collections.abc import Iterator
from contextlib import suppress
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import NamedTuple

MAGIC = b"SQLite format 3\0"

PAGE_BYTES = 16_384
"""Page size assumed for a `raw.db` with a lost header."""

FRAME_BYTES = 24
WAL_HEADER_BYTES = 32

TABLE_LEAF = 0x0D
INDEX_LEAF = 0x0A
INDEX_INTERIOR = 0x02

INTEGER_BYTES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
"""Length of an integer by its serial type."""

Value = int | bytes | str | None


class Row(NamedTuple):
    """One row as stored.

    Attributes:
        rowid: Its id; None for an entry of an index.
        values: Its columns in order; an INTEGER PRIMARY KEY is None here, because it is the rowid.
    """

    rowid: int | None
    values: tuple[Value, ...]


class _Pages:
    """Pages of a database, after applying its write-ahead log."""

    def __init__(self, path: Path) -> None:
        self._content = _map(path)
        self.page_bytes = _read_page_size(self._content)
        self.count = len(self._content) // self.page_bytes
        self._newer: dict[int, bytes] = {}
        with suppress(FileNotFoundError):
            self._read_log(path.with_name(f"{path.name}-wal").read_bytes())

    def _read_log(self, log: bytes) -> None:
        for at in range(WAL_HEADER_BYTES, len(log) - self.page_bytes, FRAME_BYTES + self.page_bytes):
            number = int.from_bytes(log[at : at + 4])
            self._newer[number] = log[at + FRAME_BYTES : at + FRAME_BYTES + self.page_bytes]
            self.count = max(self.count, number)

    def read(self, number: int) -> bytes:
        """Return a page, numbered from 1; a missing page is empty."""
        start = (number - 1) * self.page_bytes
        return self._newer.get(number) or self._content[start : start + self.page_bytes]


def _map(path: Path) -> bytes | mmap:
    """Return the content of a file without reading it into memory."""
    with path.open("rb") as file:
        return mmap(file.fileno(), 0, access=ACCESS_READ) if path.stat().st_size else b""


def _read_page_size(content: bytes | mmap) -> int:
    stated = int.from_bytes(content[16:18]) if content[: len(MAGIC)] == MAGIC else 0
    return stated if stated >= 512 and stated.bit_count() == 1 else PAGE_BYTES


def read_rows(path: Path) -> Iterator[Row]:
    """Yield every decodable row of every table and index, including those on pages no longer in use.

    Rows may differ from those written; check them against digests.
    """
    pages = _Pages(path)
    for number in range(1, pages.count + 1):
        page = pages.read(number)
        start = 100 if number == 1 else 0
        kind = page[start] if len(page) == pages.page_bytes else 0
        if kind not in {TABLE_LEAF, INDEX_LEAF, INDEX_INTERIOR}:
            continue
        pointers = start + (12 if kind == INDEX_INTERIOR else 8)
        for cell in range(int.from_bytes(page[start + 3 : start + 5])):
            at = int.from_bytes(page[pointers + 2 * cell : pointers + 2 * cell + 2])
            with suppress(IndexError, ValueError):  # skip damaged cells
                yield _read_cell(pages, page, at, kind)


def _read_cell(pages: _Pages, page: bytes, at: int, kind: int) -> Row:
    length, at = _read_varint(page, at + (4 if kind == INDEX_INTERIOR else 0))
    rowid = None
    if kind == TABLE_LEAF:
        rowid, at = _read_varint(page, at)
    return Row(rowid, _decode(_read_payload(pages, page, at, length, is_table=kind == TABLE_LEAF)))


def _read_varint(page: bytes, at: int) -> tuple[int, int]:
    """Return an integer of variable length, and the start of the next field."""
    value = 0
    for position in range(8):
        byte = page[at + position]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + position + 1
    return value << 8 | page[at + 8], at + 9


def _read_payload(pages: _Pages, page: bytes, at: int, length: int, *, is_table: bool) -> bytes:
    """Return the payload of a cell, including its overflow pages."""
    if length > pages.count * pages.page_bytes:
        raise ValueError("longer than the database")
    usable = pages.page_bytes
    most = usable - 35 if is_table else (usable - 12) * 64 // 255 - 23
    if length <= most:
        return page[at : at + length]
    least = (usable - 12) * 32 // 255 - 23
    local = least + (length - least) % (usable - 4)
    local = local if local <= most else least
    parts = [page[at : at + local]]
    following = int.from_bytes(page[at + local : at + local + 4])
    for start in range(local, length, usable - 4):
        page = pages.read(following)
        parts.append(page[4 : 4 + min(usable - 4, length - start)])
        following = int.from_bytes(page[:4])
    return b"".join(parts)


def _decode(payload: bytes) -> tuple[Value, ...]:
    """Return the columns of a record."""
    header_bytes, at = _read_varint(payload, 0)
    content = header_bytes
    values: list[Value] = []
    while at < header_bytes:
        kind, at = _read_varint(payload, at)
        length = INTEGER_BYTES.get(kind, 8 if kind == 7 else max(0, (kind - 12) // 2))
        value = payload[content : content + length]
        if len(value) < length:
            raise ValueError("cut")
        content += length
        if kind in {8, 9}:
            values.append(kind - 8)
        elif kind in INTEGER_BYTES:
            values.append(int.from_bytes(value, signed=True))
        elif kind < 12:
            values.append(None)
        else:
            values.append(value.decode() if kind % 2 else value)
    return tuple(values)

"""Read a JSON list or object of any length item by item, so that memory is bounded by one item."""

import re
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator
from io import BufferedIOBase
from typing import NamedTuple

import msgspec

CHUNK_BYTES = 1 << 20
MOST_BYTES = 1 << 26
"""Size of the largest item that is read; a paper with its reviews has less than one hundredth of that."""
WHITE = b" \t\r\n"
_NOT_WHITE = re.compile(rb"[^ \t\r\n]")

_TEXT = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_INNER = re.compile(rb'(?:[^"\[\]{}]++|%b)*+' % _TEXT, re.DOTALL)
"""Matches the content of a list or object up to the next bracket, or up to a text that is incomplete so far."""
_OUTER = re.compile(rb'(?:[^",\[\]{}]++|%b)*+' % _TEXT, re.DOTALL)
"""The same outside a list or object, where a comma ends the item."""
_NAME = re.compile(rb"[ \t\r\n]*+(%b)[ \t\r\n]*+:[ \t\r\n]*+" % _TEXT, re.DOTALL)


class Item(NamedTuple):
    """One item of a list or member of an object.

    Attributes:
        name: Name of a member of an object; None for an item of a list.
        content: Its verbatim text without surrounding white space; not checked for being valid JSON.
        problem: Why it cannot be read; None if it can, or was not checked.
    """

    name: str | None
    content: bytes
    problem: str | None = None


class NoItemsError(ValueError):
    """The value is neither a list nor an object."""


class TooLargeError(ValueError):
    """An item is larger than the limit."""


def read_items(file: BufferedIOBase, most_bytes: int = MOST_BYTES) -> Iterator[Item]:
    r"""Yield the items of a file's JSON list, or the members of its JSON object.

    A member that is larger than `most_bytes` is a wrapper around records: its own items are yielded instead. Items
    before damaged content are yielded.

    >>> from io import BytesIO
    >>> items = read_items(BytesIO(b'{"count": 2, "notes": ["a", "b"]}'), most_bytes=12)
    >>> [(item.name, item.content) for item in items]
    [('count', b'2'), (None, b'"a"'), (None, b'"b"')]

    Raises:
        NoItemsError: The file is empty, or contains another value.
        TooLargeError: An item of a list, or a text, is larger than `most_bytes`.
        ValueError: The value is cut off or damaged, or another follows it.
        OSError: The file cannot be read.
        EOFError: It is packed, and cut off.
    """
    yield from _Reader(file, most_bytes).read(b"[{")


def read_list(file: BufferedIOBase, most_bytes: int = MOST_BYTES) -> Iterator[bytes]:
    r"""Yield the items of a file's JSON list, each as its verbatim text.

    >>> from io import BytesIO
    >>> list(read_list(BytesIO(b' [{"a": [1, "]"]},\n 2.50]\n')))
    [b'{"a": [1, "]"]}', b'2.50']

    Raises:
        NoItemsError: The file is empty, or contains another value.
        TooLargeError: An item is larger than `most_bytes`.
        ValueError: The list is cut off or damaged, or something follows it.
        OSError: The file cannot be read.
        EOFError: It is packed, and cut off.
    """
    for item in _Reader(file, most_bytes).read(b"["):
        yield item.content


class _Reader:
    """Reads a file sequentially; `_held` has been read, and everything before `_place` has been consumed."""

    def __init__(self, file: BufferedIOBase, most_bytes: int) -> None:
        self._file = file
        self._most_bytes = most_bytes
        self._held = b""
        self._place = 0
        self._failure: Exception | None = None

    def _read_on(self) -> bool:
        """Read as many bytes as are already held, so that reading a long item takes linear time."""
        pieces = [self._held[self._place :]]
        missing = max(CHUNK_BYTES, len(pieces[0]))
        while missing > 0 and (piece := self._read_piece()):
            pieces.append(piece)
            missing -= len(piece)
        self._held, self._place = b"".join(pieces), 0
        if len(pieces) == 1 and self._failure is not None:
            raise self._failure
        return len(pieces) > 1

    def _read_piece(self) -> bytes:
        """Return some bytes, or nothing at the end or if reading fails: earlier content is processed first."""
        if self._failure is None:
            try:
                return self._file.read1(CHUNK_BYTES)
            except (EOFError, OSError, zlib.error) as error:
                self._failure = error
        return b""

    def read(self, openings: bytes) -> Iterator[Item]:
        """Yield the items of the whole file, if it begins with one of the given brackets."""
        self._read_on()
        # Some programs write this byte order mark at the beginning of a file.
        self._place = len(BOM_UTF8) if self._held.startswith(BOM_UTF8) else 0
        opening = self._skip_white()
        if not opening or opening not in openings:
            raise NoItemsError("it is not one JSON list")
        yield from self._read_items(opening)
        if self._skip_white():
            raise ValueError("it is damaged, or is not one JSON list: something follows its end")

    def _skip_white(self) -> bytes:
        """Skip white space; return the next character, or nothing at the end of the file."""
        while True:
            if match := _NOT_WHITE.search(self._held, self._place):
                self._place = match.start()
                return match[0]
            self._place = len(self._held)
            if not self._read_on():
                return b""

    def _read_items(self, opening: bytes) -> Iterator[Item]:
        """Yield the items of the list or object that begins here, and move to its end."""
        closing = b"]" if opening == b"[" else b"}"
        self._place += 1
        if self._skip_white() == closing:
            self._place += 1
            return
        mark = b","
        while mark == b",":
            yield from self._next(is_member=opening == b"{")
            mark = self._skip_white()
            self._place += 1
        if mark != closing:
            raise ValueError("it is damaged: one bracket is closed by another")

    def _next(self, *, is_member: bool) -> Iterator[Item]:
        """Yield the next item, or the items of a member that is too large to be a single item."""
        try:
            end = self._find_end()
        except TooLargeError:
            if not is_member:
                raise
            self._take_name()
            opening = self._skip_white()
            if opening not in {b"[", b"{"}:
                raise
            yield from self._read_items(opening)
            return
        name = self._take_name() if is_member else None
        content = self._held[self._place : end].strip(WHITE)
        self._place = end
        yield Item(name, content)

    def _take_name(self) -> str:
        match = _NAME.match(self._held, self._place)
        if match is None:
            raise ValueError("it is damaged: a member of an object has no name")
        self._place = match.end()
        return str(msgspec.json.decode(match[1]))

    def _find_end(self) -> int:
        """Return the end of the item that begins here, after reading all of it."""
        end, depth = self._place, 0
        while True:
            match = (_INNER if depth else _OUTER).match(self._held, end)
            end = match.end() if match else end
            mark = self._held[end : end + 1]
            is_cut = mark in {b"", b'"'}
            if (len(self._held) if is_cut else end) - self._place > self._most_bytes:
                raise TooLargeError(f"one of its records is larger than {self._most_bytes:,} bytes")
            if is_cut:
                end -= self._place
                if not self._read_on():
                    raise ValueError("it is truncated or damaged")
            elif depth == 0 and mark in b",]}":
                return end
            else:
                depth += 1 if mark in b"[{" else -1
                end += 1

"""The file format of cassettes, recordings of OpenReview's responses to a guest; `docs/cassettes.md` defines it.

A cassette is only ever appended to, so everything written before a kill can be read, and two concatenated cassettes are
one.
"""

import fcntl
import hashlib
import mmap
import os
import re
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import msgspec
import zstandard

from peercorpus.errors import DumpError

VERSION = 1
HEADER = b'{"format":"peercorpus-cassette","version":%d}\n' % VERSION
ANY_HEADER = re.compile(rb'\{"format":"peercorpus-cassette","version":(\d{1,6})\}\n')
BEGINS = b'{"format":"peercorpus-cassette"'
ENTRY = re.compile(rb"entry (\d{1,10}) (\d{1,10}) ([0-9a-f]{64})\n")
NEXT_ENTRY = b"\nentry "

MOST_UNPACKED_BYTES = 600_000_000
"""Largest entry that is read: the largest response that a client accepts, plus its head."""
MOST_TIMES = 200
"""Largest compression ratio of an entry over a megabyte; OpenReview's lists compress 5 to 20 times."""
MOST_WINDOW_BYTES = 1 << 23
MOST_HEAD_BYTES = 100_000
MOST_DAMAGED = 100
"""Damaged places after which the rest of a file is skipped: each may cost another pass over the rest."""
LEVEL = 6

SEARCH = "/notes/search"
"""The only path of recorded POST requests."""


class RecordedHarvest(msgspec.Struct, frozen=True):
    """One venue of a recorded harvest.

    Attributes:
        url_v1: Base URL of API v1.
        url_v2: Base URL of API v2.
        limit: Number of submissions requested, 1 or more; None means all.
        files: Whether PDFs were requested.
    """

    venue_id: str
    url_v1: str
    url_v2: str
    limit: int | None = None
    files: bool = True


class Head(msgspec.Struct, frozen=True, omit_defaults=True):
    """The head of an entry, before the body: a request and its response, or the harvest that begins.

    Attributes:
        at: Time of the response, UTC, in ISO 8601.
        request: The posted JSON; None for a GET request.
    """

    at: str
    method: str = "GET"
    url: str = ""
    status: int = 0
    content_type: str = ""
    request: Mapping[str, list[str]] | None = None
    harvest: RecordedHarvest | None = None


class Frame(NamedTuple):
    """Position of an entry in its file, in bytes.

    Attributes:
        start: Start of the zstd frame.
        packed: Its length.
        unpacked: The length of its content.
    """

    start: int
    packed: int
    unpacked: int


class Damage(NamedTuple):
    """Bytes of a cassette that are not an entry.

    Attributes:
        is_cut_off: Whether they are an entry truncated at the end of the file.
    """

    start: int
    end: int
    reason: str
    is_cut_off: bool = False


def read_version(path: Path) -> int | None:
    """Return the format version stated in a file; None if it is not a cassette.

    Raises:
        OSError: The file cannot be read.
    """
    with path.open("rb") as file:
        match = ANY_HEADER.match(file.read(len(HEADER) + 6))
    return int(match[1]) if match else None


def refuse_newer_cassette(path: Path, version: int) -> None:
    """Check that this version of peercorpus knows a version of the format.

    Raises:
        DumpError: It does not.
    """
    if version != VERSION:
        raise DumpError(
            f"'{path.name}' is a cassette of format {version}, and this version reads format {VERSION}; update"
            " peercorpus, or record it again."
        )


def scan(content: mmap.mmap | bytes) -> Iterator[Frame | Damage | int]:
    """Yield the parts of a cassette in order: whole entries, damaged places, and versions in its headers.

    Nothing is unpacked. An entry is whole if its hash is correct and its lengths are within the limits.
    """
    position, damaged = 0, 0
    while position < len(content):
        if header := ANY_HEADER.match(content, position):
            yield int(header[1])
            position = header.end()
            continue
        found = _read_frame(content, position)
        if isinstance(found, Frame):
            yield found
            position = found.start + found.packed + 1
            continue
        damaged += 1
        end = len(content) if damaged >= MOST_DAMAGED else _find_next(content, position + 1)
        yield found._replace(end=end, is_cut_off=found.is_cut_off and end == len(content))
        position = end


def _read_frame(content: mmap.mmap | bytes, position: int) -> Frame | Damage:
    """Return the entry at a position, or the damage there, up to the end of the file."""
    entry = ENTRY.match(content, position)
    is_begun = content[position : position + 6] == NEXT_ENTRY[1:] and len(content) - position < 100
    if entry is None:
        reason = "it is cut off" if is_begun else "no entry begins here"
        return Damage(position, len(content), reason, is_cut_off=is_begun or len(content) - position < len(HEADER))
    frame = Frame(entry.end(), int(entry[1]), int(entry[2]))
    end = frame.start + frame.packed
    if end + 1 > len(content):
        return Damage(position, len(content), "it is cut off", is_cut_off=True)
    with memoryview(content) as view, view[frame.start : end] as packed:
        fault = _find_fault(packed, frame, entry[3].decode())
    if fault is None and content[end : end + 1] != b"\n":
        fault = "its length is wrong"
    return frame if fault is None else Damage(position, len(content), fault)


def _find_fault(packed: memoryview, frame: Frame, sha256: str) -> str | None:
    """Return what is wrong with a frame, without unpacking it; None if it is intact."""
    if frame.unpacked > min(MOST_UNPACKED_BYTES, 1_000_000 + MOST_TIMES * frame.packed):
        return f"it would unpack to {frame.unpacked:,} bytes"
    if hashlib.sha256(packed).hexdigest() != sha256:
        return "its hash does not match"
    try:
        size = zstandard.frame_content_size(bytes(packed[:32]))
    except zstandard.ZstdError:
        return "it is not a zstd frame"
    return None if size == frame.unpacked else "its length does not match the one it states"


def _find_next(content: mmap.mmap | bytes, position: int) -> int:
    """Return where the next entry or header may begin; the end of the file if none does."""
    entry, header = content.find(NEXT_ENTRY, position), content.find(BEGINS, position)
    return min([place for place in (entry + 1 if entry >= 0 else -1, header) if place >= 0], default=len(content))


def read_head(packed: memoryview) -> Head:
    """Return the head of an entry, unpacking little more than that.

    Raises:
        ValueError: It has none, or its head cannot be read.
    """
    line, ends, _ = _unpack(packed, MOST_HEAD_BYTES).partition(b"\n")
    if not ends:
        raise ValueError("it has no head")
    return msgspec.json.decode(line, type=Head)


def read_body(packed: memoryview, unpacked: int) -> bytes:
    """Return the body of an entry.

    Raises:
        ValueError: It does not unpack to the length that it states.
    """
    content = _unpack(packed, unpacked + 1)
    if len(content) != unpacked:
        raise ValueError("its length does not match the one it states")
    return content.partition(b"\n")[2]


def _unpack(packed: memoryview, most_bytes: int) -> bytes:
    decompressor = zstandard.ZstdDecompressor(max_window_size=MOST_WINDOW_BYTES)
    try:
        with decompressor.stream_reader(packed) as reader:
            return reader.read(most_bytes)
    except zstandard.ZstdError:
        raise ValueError("it cannot be unpacked") from None


class CassetteWriter:
    """Appends responses to a cassette; safe to share between threads.

    The caller must ensure that they were sent to a guest: responses to an account may not be public.
    """

    def __init__(self, path: Path) -> None:
        """Open a cassette to continue it, or create one; an entry truncated by a kill is removed.

        Raises:
            DumpError: The file is not a cassette, has another format, or is being written by another run.
            OSError: It cannot be written.
        """
        self._file = path.open("a+b")
        self._lock = threading.Lock()
        try:
            self._go_on(path)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()

    def begin(self, harvest: RecordedHarvest) -> None:
        """Record that the harvest of a venue begins."""
        self._append(Head(at=_now(), harvest=harvest), b"")

    def record(self, head: Head, body: bytes) -> None:
        """Append a response; a search for several ids is recorded as one response for each id."""
        ids = (head.request or {}).get("ids", [])
        if head.method == "GET":
            self._append(head, body)
        elif head.url.endswith(SEARCH):
            for note_id, answer in _split_search(ids, head.status, body).items():
                self._append(msgspec.structs.replace(head, request={"ids": [note_id]}), answer)

    def _go_on(self, path: Path) -> None:
        with suppress(BlockingIOError):
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._repair(path)
            return
        raise DumpError(f"'{path}' is being recorded by another run; wait until it ends, or name another file.")

    def _repair(self, path: Path) -> None:
        size = self._file.seek(0, os.SEEK_END)
        self._file.seek(0)
        if size < len(HEADER) and HEADER.startswith(self._file.read()):
            self._file.truncate(0)
            self._write(HEADER)
            return
        version = read_version(path)
        if version is None:
            raise DumpError(
                f"'{path}' is not a cassette, so nothing was written to it; name another file for the recording."
            )
        refuse_newer_cassette(path, version)
        with mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            last = next(iter(deque(scan(content), maxlen=1)), None)
        if isinstance(last, Damage) and last.is_cut_off:
            self._file.truncate(last.start)

    def _append(self, head: Head, body: bytes) -> None:
        content = msgspec.json.encode(head) + b"\n" + body
        packed = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compress(content)
        digest = hashlib.sha256(packed).hexdigest()
        self._write(b"entry %d %d %s\n%s\n" % (len(packed), len(content), digest.encode(), packed))

    def _write(self, entry: bytes) -> None:
        with self._lock:
            self._file.write(entry)
            self._file.flush()


class _Found(msgspec.Struct):
    notes: list[msgspec.Raw]


class _Identified(msgspec.Struct):
    id: str


def _split_search(ids: list[str], status: int, body: bytes) -> dict[str, bytes]:
    """Return one response for each id of a search for several, as if it had been the only one."""
    if status >= 300:
        return dict.fromkeys(ids, body)
    try:
        notes = msgspec.json.decode(body, type=_Found).notes
        found = {msgspec.json.decode(note, type=_Identified).id: bytes(note) for note in notes}
    except msgspec.DecodeError:
        return {}
    return {note_id: b'{"notes":[%s]}' % found.get(note_id, b"") for note_id in ids}


def answer_head(
    method: str, url: str, status: int, content_type: str, request: Mapping[str, list[str]] | None = None
) -> Head:
    """Return the head of a response that has just come."""
    return Head(at=_now(), method=method, url=url, status=status, content_type=content_type, request=request)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

"""Answer requests from cassettes instead of the network: an index of responses, and a transport for the client."""

import hashlib
import mmap
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import httpx2
import msgspec

from peercorpus.errors import DumpError
from peercorpus.openreview.cassette import (
    Damage,
    Frame,
    Head,
    RecordedHarvest,
    read_body,
    read_head,
    read_version,
    refuse_newer_cassette,
    scan,
)

MOST_NAMED = 5
"""Maximum number of unanswered requests, and of damaged places, that are named; all are counted."""


class _Place(NamedTuple):
    """Position of a response and its rank: success, then refusal, then fault; the latest among equals."""

    rank: tuple[int, str]
    cassette: int
    frame: Frame


class Cassettes:
    """The responses of some cassettes, by request; only their positions are kept in memory."""

    def __init__(self, paths: Sequence[Path]) -> None:
        """Index the responses of the cassettes.

        Raises:
            DumpError: A file is not a cassette, is of a newer format, or cannot be read.
        """
        self.harvests: list[RecordedHarvest] = []
        """The harvested venues; one may occur several times."""
        self.damage: list[str] = []
        """One sentence for each place that was set aside."""
        self.is_altered = False
        """Whether any damage is more than a truncated end."""
        self.answers = 0
        """Number of responses, including several to the same request."""
        self._places: dict[bytes, _Place] = {}
        self._contents: list[mmap.mmap] = []
        self._until_closed = ExitStack()
        try:
            for path in paths:
                self._open(path)
        except OSError as error:
            self._until_closed.close()
            raise DumpError(f"'{error.filename}' cannot be read: {error.strerror}.") from None
        except BaseException:
            self._until_closed.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._until_closed.close()

    def _open(self, path: Path) -> None:
        if read_version(path) is None:
            raise DumpError(f"'{path.name}' is not a cassette; 'peercorpus harvest --record' writes them.")
        file = self._until_closed.enter_context(path.open("rb"))
        content = self._until_closed.enter_context(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        self._contents.append(content)
        for part in scan(content):
            if isinstance(part, int):
                refuse_newer_cassette(path, part)
            elif isinstance(part, Damage):
                self._set_aside(path, part)
            else:
                self._index(path, part)

    def _set_aside(self, path: Path, damage: Damage) -> None:
        self.is_altered = self.is_altered or not damage.is_cut_off
        self.damage.append(f"'{path.name}', bytes {damage.start:,} to {damage.end:,}, is set aside: {damage.reason}.")

    def _index(self, path: Path, frame: Frame) -> None:
        try:
            with memoryview(self._contents[-1]) as view, view[frame.start : frame.start + frame.packed] as packed:
                head = read_head(packed)
        except ValueError as error:
            reason = "its head cannot be read" if isinstance(error, msgspec.MsgspecError) else str(error)
            self._set_aside(path, Damage(frame.start, frame.start + frame.packed, reason))
            return
        if head.harvest is not None:
            self.harvests.append(head.harvest)
            return
        self.answers += 1
        key = _key(head.method, head.url, head.request)
        rank = 2 if head.status < 300 else 1 if head.status < 500 else 0
        place = _Place((rank, head.at), len(self._contents) - 1, frame)
        self._places[key] = max(self._places.get(key, place), place)

    def find(self, request: httpx2.Request) -> tuple[Head, bytes] | None:
        """Return the response to a request; None if no cassette has one.

        Raises:
            ValueError: The response cannot be unpacked.
        """
        posted = msgspec.json.decode(request.content, type=dict[str, list[str]]) if request.content else None
        place = self._places.get(_key(request.method, str(request.url), posted))
        if place is None:
            return None
        _, start, packed_bytes, unpacked = place.cassette, *place.frame
        view = memoryview(self._contents[place.cassette])
        with view, view[start : start + packed_bytes] as packed:
            return read_head(packed), read_body(packed, unpacked)


def _key(method: str, url: str, posted: object) -> bytes:
    """Return the key of a request; the order of its parameters does not matter."""
    address, _, query = url.partition("?")
    parameters = "&".join(sorted(query.split("&")))
    return hashlib.sha256(msgspec.json.encode([method, address, parameters, posted])).digest()[:16]


class CassetteTransport(httpx2.BaseTransport):
    """A transport that sends nothing: responses come from cassettes, and requests without one are counted.

    Attributes:
        missing: Number of requests without a response.
        named: The first of them.
    """

    def __init__(self, cassettes: Cassettes) -> None:
        self._cassettes = cassettes
        self.missing = 0
        self.named: list[str] = []

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the recorded response; if there is none, that of a service that is down."""
        if request.url.path.endswith("/attachment") and "ids" in request.url.params:
            # Files from archives are recorded one by one.
            return httpx2.Response(404, request=request)
        request.read()
        try:
            found = self._cassettes.find(request)
        except ValueError:
            found = None
        if found is None:
            return self._lack(request)
        head, body = found
        headers = {"content-type": head.content_type} if head.content_type else {}
        return httpx2.Response(head.status, headers=headers, content=body, request=request)

    def _lack(self, request: httpx2.Request) -> httpx2.Response:
        self.missing += 1
        if len(self.named) < MOST_NAMED:
            self.named.append(f"{request.method} {request.url}")
        return httpx2.Response(503, request=request)

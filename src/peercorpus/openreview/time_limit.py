"""Limit the time of a whole response, and report what a slow request is waiting for.

httpx2 limits only the silence between two chunks of a response: a server that sends a byte now and then, or never ends
its headers, would keep the client waiting for ever.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from ssl import SSLContext
from typing import Any

import httpcore2
import httpx2

SLOW_S = 10.0
"""Seconds after which a wait for a response is reported, and then the interval between reports."""


class TimeLimit:
    """Time limit of the response under way; each thread has its own."""

    def __init__(self, on_wait: Callable[[str], None]) -> None:
        """Create a limit that is not set yet.

        `on_wait` receives a sentence stating what a slow request is waiting for.
        """
        self._on_wait = on_wait
        self._own = threading.local()

    @contextmanager
    def within(self, seconds: float, what: str) -> Iterator[None]:
        """Limit the time of what this thread reads from the network; `what` is named while it is slow."""
        self._own.what = what
        self._own.began = self._own.reported = time.monotonic()
        self._own.ends = self._own.began + seconds
        try:
            yield
        finally:
            del self._own.ends

    def read(self, stream: httpcore2.NetworkStream, max_bytes: int, silence_s: float | None) -> bytes:
        """Read from a connection, for as long as the limits of the silence and the response allow.

        Raises:
            httpcore2.ReadTimeout: Either limit was exceeded.
        """
        ends = getattr(self._own, "ends", None)
        if ends is None:
            return stream.read(max_bytes, silence_s)
        silent_until = ends if silence_s is None else min(ends, time.monotonic() + silence_s)
        while (left_s := silent_until - time.monotonic()) > 0:
            now = time.monotonic()
            if now - self._own.reported >= SLOW_S:
                self._own.reported = now
                self._on_wait(f"Waiting for {self._own.what}, for {now - self._own.began:.0f} s so far.")
            try:
                return stream.read(max_bytes, min(left_s, SLOW_S))
            except httpcore2.ReadTimeout:
                continue
        raise httpcore2.ReadTimeout("it took too long")


class _LimitedStream(httpcore2.NetworkStream):
    def __init__(self, stream: httpcore2.NetworkStream, limit: TimeLimit) -> None:
        self._stream, self._limit = stream, limit

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._limit.read(self._stream, max_bytes, timeout)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, timeout)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        return _LimitedStream(self._stream.start_tls(ssl_context, server_hostname, timeout), self._limit)

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)


class _LimitedBackend(httpcore2.NetworkBackend):
    def __init__(self, backend: httpcore2.NetworkBackend, limit: TimeLimit) -> None:
        self._backend, self._limit = backend, limit

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        stream = self._backend.connect_tcp(host, port, timeout, local_address, socket_options)
        return _LimitedStream(stream, self._limit)

    def sleep(self, seconds: float) -> None:
        self._backend.sleep(seconds)


def limit_reads(http: httpx2.Client, limit: TimeLimit) -> None:
    """Apply a time limit to all connections of a client, including those through proxies.

    httpx2 does not pass a network backend to its connection pools, so it is replaced there.
    """
    for transport in (http._transport, *http._mounts.values()):
        pool = getattr(transport, "_pool", None)
        if pool is not None:
            pool._network_backend = _LimitedBackend(pool._network_backend, limit)

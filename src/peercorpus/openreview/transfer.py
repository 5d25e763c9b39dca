"""One answer off the wire: bounded in size and time, whatever the other side sends."""

import time
from collections.abc import Callable

import httpx2

from peercorpus.errors import TooLargeError

MEGABYTE = 1_000_000
MOST_REFUSAL_BYTES = MEGABYTE


def receive(
    response: httpx2.Response, most_bytes: int, within_s: float, keep: Callable[[bytes], object] | None = None
) -> httpx2.Response:
    """Read a streamed answer.

    Args:
        response: Its body not read yet.
        most_bytes: How large it may be once unpacked; a refusal may be a megabyte at most, and is cut off there.
        within_s: How long all of it may take; httpx2 itself bounds only the silence between two parts.
        keep: Takes the parts of an answer that is no refusal; None: they become the content.

    Raises:
        TooLargeError: It is larger.
        httpx2.ReadTimeout: It took longer.
    """
    is_refusal = response.status_code >= 300
    announced = response.headers.get("content-length", "")
    if not is_refusal and announced.isdigit() and int(announced) > most_bytes:
        raise _too_large(response, most_bytes)
    ends_at, size, parts = time.monotonic() + within_s, 0, bytearray()
    for part in response.iter_bytes():
        size += len(part)
        if is_refusal and size > MOST_REFUSAL_BYTES:
            break
        if size > most_bytes:
            raise _too_large(response, most_bytes)
        if time.monotonic() > ends_at:
            raise httpx2.ReadTimeout("it took too long", request=response.request)
        if keep is None or is_refusal:
            parts += part
        else:
            keep(part)
    return _with_content(response, bytes(parts))


def _with_content(response: httpx2.Response, content: bytes) -> httpx2.Response:
    """The same answer, already unpacked."""
    packed = {"content-encoding", "content-length", "transfer-encoding"}
    headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in packed]
    return httpx2.Response(response.status_code, headers=headers, content=content, request=response.request)


def _too_large(response: httpx2.Response, most_bytes: int) -> TooLargeError:
    size = f"{most_bytes // MEGABYTE:,} MB"
    return TooLargeError(f"{response.url.copy_with(query=None)} sent more than {size}.", f"larger than {size}")

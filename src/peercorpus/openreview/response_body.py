"""Read one response body, bounded in size and time; keep JSON verbatim."""

import json
import re
import time
from collections.abc import Callable

import httpx2
import msgspec

from peercorpus.errors import TooLargeError

MEGABYTE = 1_000_000
MOST_REFUSAL_BYTES = MEGABYTE


def receive(
    response: httpx2.Response, most_bytes: int, within_s: float, keep: Callable[[bytes], object] | None = None
) -> httpx2.Response:
    """Read the body of a streamed response.

    Args:
        response: A response whose body has not been read.
        most_bytes: Largest unpacked size accepted; a refusal is cut off after a megabyte.
        within_s: Maximum seconds for the whole body; httpx2 itself bounds only the silence between two chunks.
        keep: Receives the chunks of a body that is not a refusal; None collects them as the content.

    Raises:
        TooLargeError: The body is larger than `most_bytes`.
        httpx2.ReadTimeout: The body took longer than `within_s`.
    """
    is_refusal = response.status_code >= 300
    announced = response.headers.get("content-length", "")
    if not is_refusal and announced.isdigit() and int(announced) > most_bytes:
        raise _too_large(response, most_bytes)
    ends_at = time.monotonic() + within_s
    size = 0
    parts = bytearray()
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
    # The content is unpacked now.
    packed = {"content-encoding", "content-length", "transfer-encoding"}
    headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in packed]
    return httpx2.Response(response.status_code, headers=headers, content=bytes(parts), request=response.request)


def _too_large(response: httpx2.Response, most_bytes: int) -> TooLargeError:
    size = f"{most_bytes // MEGABYTE:,} MB"
    return TooLargeError(f"{response.url.copy_with(query=None)} sent more than {size}.", f"larger than {size}")


LONE_SURROGATE = re.compile("[\ud800-\udfff]")
read_raw = msgspec.json.Decoder(msgspec.Raw).decode
read_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
read_items = msgspec.json.Decoder(list[msgspec.Raw]).decode


def check_json(text: bytes) -> bytes:
    r"""Return a JSON text after checking that it is complete and valid UTF-8.

    JavaScript writes half of a surrogate pair where a text was cut inside an emoji; UTF-8 cannot hold it, so that half
    becomes U+FFFD.

    >>> check_json(b'{"a": "x \\ud83d"}').decode()
    '{"a": "x \ufffd"}'

    Raises:
        ValueError: The text is not UTF-8, is cut off, or is not JSON; the message says where.
    """
    text = text.removeprefix(b"\xef\xbb\xbf")
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8 text (byte {error.start})") from None
    try:
        read_raw(text)
    except msgspec.DecodeError:
        return _mend(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return text


def _mend(text: bytes) -> bytes:
    try:
        content = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        ending = "it is cut off" if error.pos >= len(text.decode().rstrip()) - 1 else f"it is not JSON: {error.msg}"
        raise ValueError(f"{ending} ({where})") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    mended = LONE_SURROGATE.sub("\ufffd", json.dumps(content, ensure_ascii=False)).encode()
    try:
        read_raw(mended)
    except (msgspec.DecodeError, RecursionError):
        raise ValueError("it is not JSON") from None
    return mended


def _refuse_constant(name: str) -> None:
    raise ValueError(f"it holds {name}, which JSON does not allow")


def compact(text: bytes | msgspec.Raw) -> bytes:
    """Return the same tokens without white space between them.

    >>> compact(b'{ "a" : [1, 2.0] }')
    b'{"a":[1,2.0]}'
    """
    return msgspec.json.format(bytes(text), indent=-1)


def is_object(text: bytes | msgspec.Raw | None) -> bool:
    """Return whether a JSON text is an object."""
    return text is not None and _first_character(text) == b"{"


def is_list(text: bytes | msgspec.Raw | None) -> bool:
    """Return whether a JSON text is a list."""
    return text is not None and _first_character(text) == b"["


def _first_character(text: bytes | msgspec.Raw) -> bytes:
    """Return the first character that is not white space, without copying the text where it is the very first."""
    first = memoryview(text)[:1].tobytes()
    return bytes(text).lstrip()[:1] if first.isspace() else first

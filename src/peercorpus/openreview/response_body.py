"""Read one response body, bounded in size and time; keep JSON verbatim."""

import codecs
import json
import re
import time
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO

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
        most_bytes: Largest unpacked size accepted; a refusal is truncated after a megabyte.
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
    # A large body is not copied by `getvalue`.
    content = BytesIO()
    for part in response.iter_bytes():
        size += len(part)
        if is_refusal and size > MOST_REFUSAL_BYTES:
            break
        if size > most_bytes:
            raise _too_large(response, most_bytes)
        if time.monotonic() > ends_at:
            raise httpx2.ReadTimeout("it took too long", request=response.request)
        if keep is None or is_refusal:
            content.write(part)
        else:
            keep(part)
    # The content is unpacked now.
    packed = {b"content-encoding", b"content-length", b"transfer-encoding"}
    headers = [(name, value) for name, value in response.headers.raw if name.lower() not in packed]
    return httpx2.Response(response.status_code, headers=headers, content=content.getvalue(), request=response.request)


def _too_large(response: httpx2.Response, most_bytes: int) -> TooLargeError:
    size = f"{most_bytes // MEGABYTE:,} MB"
    return TooLargeError(f"{response.url.copy_with(query=None)} sent more than {size}.", f"larger than {size}")


ESCAPE = re.compile(rb"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u[dD][89a-fA-F]..|.)", re.DOTALL)
"""Matches an escape in a JSON text, both halves of a surrogate pair together."""

PART = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{},]', re.DOTALL)
"""Matches the strings of a JSON text, and its structural characters."""

MEMBER = re.compile(rb'\s*("[^"\\]*+(?:\\.[^"\\]*+)*+")\s*:', re.DOTALL)
MOST_LEVELS = 100
"""Maximum nesting depth of an object: OpenReview's own have about ten levels, and Python's limit is 1,000 in all."""

read_raw = msgspec.json.Decoder(msgspec.Raw).decode
read_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
read_items = msgspec.json.Decoder(list[msgspec.Raw]).decode
read_anything = msgspec.json.Decoder().decode

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""Errors that decoding raises for a text that is not JSON, not UTF-8, or nested too deeply."""


def check_json(text: bytes) -> bytes:
    r"""Return a JSON text after checking that it is complete and valid UTF-8.

    JavaScript writes half of a surrogate pair where a text was cut inside an emoji; UTF-8 cannot represent it, so it
    becomes U+FFFD.

    >>> check_json(b'{"a": "x \\ud83d"}')
    b'{"a": "x \xef\xbf\xbd"}'

    Raises:
        ValueError: The text is not UTF-8, is cut off, or is not JSON; the message says where.
    """
    text = text.removeprefix(b"\xef\xbb\xbf")
    _check_utf8(text)
    try:
        read_raw(text)
    except msgspec.DecodeError:
        return _mend(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    return text


def _check_utf8(text: bytes) -> None:
    """Check a text in pieces, since a `str` of all of it could take four times its memory."""
    start = 0
    while start < len(text):
        piece = memoryview(text)[start : start + MEGABYTE]
        try:
            _, taken = codecs.utf_8_decode(piece, "strict", start + MEGABYTE >= len(text))
        except UnicodeDecodeError as error:
            raise ValueError(f"it is not UTF-8 text (byte {start + error.start})") from None
        start += taken


TOO_DEEP = "it is nested too deeply"


def _mend(text: bytes) -> bytes:
    mended = ESCAPE.sub(_replace_lone_half, text)
    try:
        read_raw(mended)
    except (msgspec.DecodeError, RecursionError):
        raise ValueError(_explain(text)) from None
    return mended


def _replace_lone_half(escape: re.Match[bytes]) -> bytes:
    is_lone = len(escape[0]) == len(rb"\ud83d") and escape[0][1:2] == b"u"
    return "\ufffd".encode() if is_lone else escape[0]


def _explain(text: bytes) -> str:
    """Return why a text is not JSON."""
    try:
        json.loads(text, parse_constant=_refuse_constant, parse_int=str)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        ending = "it is cut off" if error.pos >= len(text.decode().rstrip()) - 1 else f"it is not JSON: {error.msg}"
        return f"{ending} ({where})"
    except RecursionError:
        return TOO_DEEP
    except ValueError as error:
        return str(error)
    return "it is not JSON"


def _refuse_constant(name: str) -> None:
    raise ValueError(f"it contains {name}, which JSON does not allow")


def check_object(text: bytes) -> bytes:
    """Return an object as `check_json` does, after checking that any decoder can read all of it, and its ids.

    Raises:
        ValueError: It cannot be read; the message says why.
    """
    text = check_json(text)
    if text.count(b"{") + text.count(b"[") > MOST_LEVELS and _count_levels(text) > MOST_LEVELS:
        raise ValueError(TOO_DEEP)
    read_anything(text)
    check_ids(text)
    return text


_IDS = frozenset(
    {"id", "forum", "replyto", "referent", "original", "domain", "invitation", "invitations", "signatures"}
)
"""Members of an object that contain the ids of objects, venues and groups, alone or in a list."""
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


def has_control(value: object) -> bool:
    r"""Return whether a text contains a control character, which no id of OpenReview does.

    SQLite reads a text up to its first NUL only, so such an id could be stored, but not found.

    >>> has_control("V/2026\x00"), has_control("V/2026"), has_control(None)
    (True, False, False)
    """
    return isinstance(value, str) and _CONTROL.search(value) is not None


def check_ids(text: bytes) -> None:
    """Check that no id of an object, or of the note in an edit, contains a control character.

    Raises:
        ValueError: One does; the message names the member.
    """
    members = read_members(text) if is_object(text) else {}
    nested = members.get("note")
    for part in (members, read_members(nested) if nested is not None and is_object(nested) else {}):
        for name in sorted(part.keys() & _IDS):
            value = read_anything(part[name])
            if any(map(has_control, value if isinstance(value, list) else [value])):
                raise ValueError(f"its '{name}' contains a control character")


def explain_unreadable(text: bytes) -> str:
    """Return why `check_object` refuses an object."""
    try:
        check_object(text)
    except ValueError as error:
        return str(error)
    return "this version can read it; harvest its venue again with --refresh"


def _count_levels(text: bytes) -> int:
    depth = most = 0
    for part in PART.finditer(text):
        opens = text[part.start()]
        depth += (opens in b"{[") - (opens in b"]}")
        most = max(most, depth)
    return most


def split_items(text: bytes) -> list[bytes] | None:
    """Split a list or an object at its own commas, whatever its parts contain.

    Only brackets and strings are examined, so that a part with invalid JSON does not hide the others.

    >>> split_items(b'[{"a": NaN}, [1, 2], "]"]')
    [b'{"a": NaN}', b'[1, 2]', b'"]"']

    Returns:
        The parts; None if the text is neither, or its brackets do not match.
    """
    text = text.strip()
    with suppress(*UNREADABLE):
        parts = _split_compact(text) if is_object(text) else [bytes(item) for item in read_items(text)]
        if parts is not None:
            return parts
    return _split_at_commas(text) if text[:1] + text[-1:] in {b"[]", b"{}"} else None


def _split_compact(text: bytes) -> list[bytes] | None:
    """Return the members of an object in OpenReview's own formatting, without examining every bracket."""
    parts = [b"%s:%s" % (msgspec.json.encode(name), value) for name, value in read_members(text).items()]
    return parts if b"{%s}" % b",".join(parts) == text else None


def _split_at_commas(text: bytes) -> list[bytes] | None:
    depth, begins = 0, 1
    parts: list[bytes] = []
    for part in PART.finditer(text):
        opens = text[part.start()]
        depth += (opens in b"{[") - (opens in b"]}")
        if depth == 0 and part.end() != len(text):
            return None
        if depth == 0 or (depth == 1 and opens == COMMA):
            parts.append(text[begins : part.start()].strip())
            begins = part.end()
    return None if depth else [part for part in parts if part]


COMMA = ord(",")


def split_members(text: bytes) -> list[tuple[str, bytes]]:
    """Split an object into its members in order, including repeated names, whatever their values contain.

    >>> split_members(b'{"a": NaN, "a": [1, 2]}')
    [('a', b'NaN'), ('a', b'[1, 2]')]

    Returns:
        The members; empty if the text is not an object, or its brackets do not match.
    """
    with suppress(*UNREADABLE):
        by_name = read_members(text)
        # A compact text shorter than this cannot name a member twice.
        if len(text) <= 1 + sum(len(name.encode()) + len(bytes(value)) + 4 for name, value in by_name.items()):
            return [(name, bytes(value)) for name, value in by_name.items()]
    parts = (split_items(text) or ()) if is_object(text) else ()
    return [split_member(part) for part in parts]


CLOSING = {ord("{"): ord("}"), ord("["): ord("]")}


def split_beginning(text: bytes) -> list[tuple[str, bytes]]:
    """Return the complete members of an object up to the point where it is cut off or its brackets no longer match.

    >>> split_beginning(b'{"id": "a", "x": [1], "y": [{], "z": 1}')
    [('id', b'"a"'), ('x', b'[1]')]
    """
    open_brackets: list[int] = []
    members: list[tuple[str, bytes]] = []
    begins = 1
    for part in PART.finditer(text):
        first = text[part.start()]
        if first in CLOSING:
            open_brackets.append(CLOSING[first])
        elif first in CLOSING.values() and (not open_brackets or open_brackets.pop() != first):
            break
        elif first == COMMA and len(open_brackets) == 1:
            members.append(split_member(text[begins : part.start()].strip()))
            begins = part.end()
    return members if is_object(text) else []


def find_first_item(answer: bytes, key: str) -> bytes:
    """Return a response that cannot be split from the first object of a list on; all of it if there is no list.

    >>> find_first_item(b'{"count": 1, "notes": [{"id": "a", "x": [', "notes")
    b'{"id": "a", "x": ['
    """
    begins = re.match(rb'\s*{(?:\s*"count"\s*:\s*[0-9]+\s*,)?\s*"%s"\s*:\s*\[\s*' % key.encode(), answer)
    return answer[begins.end() :] if begins else answer


def split_member(part: bytes) -> tuple[str, bytes]:
    """Return the name and the value of one member of an object; the name is empty if there is none.

    >>> split_member(b'"a": NaN')
    ('a', b'NaN')
    """
    match = MEMBER.match(part)
    if match is None:
        return "", part
    try:
        name = msgspec.json.decode(match[1], type=str)
    except UNREADABLE:
        name = match[1][1:-1].decode(errors="replace")
    return name, part[match.end() :].strip()


def compact(text: bytes | msgspec.Raw) -> bytes:
    """Return a JSON text without the white space between its tokens.

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
    """Return the first character that is not white space, without copying the text if it is the very first."""
    first = memoryview(text)[:1].tobytes()
    return bytes(text).lstrip()[:1] if first.isspace() else first

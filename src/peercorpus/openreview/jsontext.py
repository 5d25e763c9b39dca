"""JSON text as it arrives: checked once, kept byte for byte, white space between tokens aside."""

import json
import re

import msgspec

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
read_raw = msgspec.json.Decoder(msgspec.Raw).decode
read_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
read_items = msgspec.json.Decoder(list[msgspec.Raw]).decode


def checked(text: bytes) -> bytes:
    r"""The same JSON text, known to be whole and to be UTF-8.

    JavaScript writes half of a character pair where a text was cut inside an emoji; no UTF-8 text can hold it, so that
    half becomes U+FFFD.

    >>> checked(b'{"a": "x \\ud83d"}').decode()
    '{"a": "x \ufffd"}'

    Raises:
        ValueError: It is not UTF-8, is cut off, or is no JSON; the message says where.
    """
    text = text.removeprefix(b"\xef\xbb\xbf")
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8 text (byte {error.start})") from None
    try:
        read_raw(text)
    except msgspec.DecodeError:
        return _mended(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return text


def _mended(text: bytes) -> bytes:
    try:
        content = json.loads(text, parse_constant=_refuse)
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


def _refuse(name: str) -> None:
    raise ValueError(f"it holds {name}, which is no JSON value")


def compact(text: bytes | msgspec.Raw) -> bytes:
    """The same tokens without the white space between them.

    >>> compact(b'{ "a" : [1, 2.0] }')
    b'{"a":[1,2.0]}'
    """
    return msgspec.json.format(bytes(text), indent=-1)


def is_object(text: bytes | msgspec.Raw | None) -> bool:
    """Whether it is a JSON object."""
    return text is not None and _first(text) == b"{"


def is_list(text: bytes | msgspec.Raw | None) -> bool:
    """Whether it is a JSON list."""
    return text is not None and _first(text) == b"["


def _first(text: bytes | msgspec.Raw) -> bytes:
    """The first character that is no white space; mostly the very first, so that the whole is not copied."""
    first = memoryview(text)[:1].tobytes()
    return bytes(text).lstrip()[:1] if first.isspace() else first

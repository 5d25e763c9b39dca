"""The elements of one long JSON list, one at a time, in memory bounded by the longest of them."""

import json
import re
from codecs import getincrementaldecoder
from collections.abc import Iterator
from io import BufferedIOBase

CHUNK_BYTES = 1 << 20
LONGEST_CHARACTERS = 1 << 28
"""Of one element; one that is longer is not read."""
NEAR_CHARACTERS = 12
"""How far before the end of what was read an error may lie that only says that more is to come: an escape, a word."""

SPACE = re.compile(r"[ \t\r\n]*")
decode = json.JSONDecoder().raw_decode


class _Window:
    """The part of a text that is being read."""

    def __init__(self, source: BufferedIOBase) -> None:
        self._source, self._decoder = source, getincrementaldecoder("utf-8-sig")()
        self._text, self._at, self._ended = "", 0, False

    def _grow(self) -> None:
        """Read as much again as waits, so that a long element is not decoded anew for every chunk."""
        waiting = self._text[self._at :]
        if len(waiting) > LONGEST_CHARACTERS:
            raise ValueError(f"one of its elements is longer than {LONGEST_CHARACTERS:,} characters")
        chunk = self._source.read(max(CHUNK_BYTES, len(waiting)))
        try:
            more = self._decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError:
            raise ValueError("it is not UTF-8 text") from None
        self._text, self._at, self._ended = waiting + more, 0, not chunk

    def mark(self) -> str:
        """The next character that is no white space, which is not taken; empty at the end."""
        while True:
            found = SPACE.match(self._text, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._text) or self._ended:
                return self._text[self._at : self._at + 1]
            self._grow()

    def take_mark(self) -> str:
        """The next character that is no white space."""
        mark = self.mark()
        self._at += len(mark)
        return mark

    def take_element(self) -> str:
        """The JSON text of the next value, verbatim."""
        while True:
            try:
                _, end = decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if self._ended:
                    raise ValueError(
                        "it is cut off" if self._is_cut(error) else f"it is not JSON: {error.msg}"
                    ) from None
                if not self._is_cut(error):
                    raise ValueError(f"it is not JSON: {error.msg}") from None
            except RecursionError:
                raise ValueError("it is nested too deeply") from None
            else:
                if end < len(self._text) or self._ended:
                    element, self._at = self._text[self._at : end], end
                    return element
            self._grow()

    def _is_cut(self, error: json.JSONDecodeError) -> bool:
        is_near = error.pos >= len(self._text) - NEAR_CHARACTERS
        return is_near or error.msg.startswith("Unterminated string")


def read_elements(source: BufferedIOBase) -> Iterator[bytes]:
    r"""The elements of a file that holds one JSON list, each as the text it has there.

    >>> from io import BytesIO
    >>> list(read_elements(BytesIO(b' [{"a": [1, "]"]},\n 2.50]\n')))
    [b'{"a": [1, "]"]}', b'2.50']

    Raises:
        ValueError: It is no list, or cut off, or not JSON; what came before that was given.
    """
    window = _Window(source)
    if window.take_mark() != "[":
        raise ValueError("it is no JSON list")
    mark = "," if window.mark() != "]" else window.take_mark()
    while mark == ",":
        window.mark()
        yield window.take_element().encode()
        mark = window.take_mark()
    if mark != "]":
        raise ValueError("it is not JSON: a comma or a bracket is missing" if mark else "it is cut off")
    if window.mark():
        raise ValueError("it is not JSON: something follows its list")

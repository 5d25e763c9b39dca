"""Make text from outside safe to show and publish: control characters, CSV formulas, e-mail addresses, file names."""

import os
import re
from pathlib import PurePath
from typing import Any

import msgspec


def escape_and_cut(text: str, most: int | None = None) -> str:
    r"""Return the text with control and other unprintable characters escaped, cut to `most` characters if given.

    >>> escape_and_cut("\x1b[31mred\u202e"), escape_and_cut("ab" * 40, most=6)
    ('\\x1b[31mred\\u202e', 'ababab…')
    """
    escaped = text[:most]
    if not escaped.isprintable():
        escaped = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in escaped)
    return escaped if most is None or (len(escaped) <= most and len(text) <= most) else f"{escaped[:most]}…"


_MAX_EXAMPLE_CHARACTERS = 80
"""Number of characters of an id, a name or a title that are shown."""


def escape_controls(text: str, most: int = _MAX_EXAMPLE_CHARACTERS) -> str:
    r"""Return text from outside in a form that is safe in a terminal: cut to `most` characters, then escaped.

    `escape_and_cut` escapes first, so that its result never has more than `most` characters and "…".

    >>> escape_controls("\x1b[31mred\u202e"), escape_controls("ab" * 40, most=6)
    ('\\x1b[31mred\\u202e', 'ababab…')
    """
    return escape_and_cut(text if len(text) <= most else f"{text[:most]}…")


_INVISIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")
"""Matches control characters other than tab and line break, and marks that change the direction of writing."""
REPLACEMENT = "\ufffd"


def replace_controls(text: str) -> str:
    r"""Return the text with "�" for control characters and direction marks, and with all line breaks as "\n".

    >>> replace_controls("a\r\nb\u202egnp.exe\x00")
    'a\nb�gnp.exe�'
    """
    return _INVISIBLE.sub(REPLACEMENT, text.replace("\r\n", "\n").replace("\r", "\n"))


def show_path(path: PurePath | str) -> str:
    r"""Return a path or name as text, with bytes that are not UTF-8 as escapes: Linux allows any bytes in names.

    >>> show_path(os.fsdecode(b"caf\xe9.json"))
    'caf\\xe9.json'
    """
    return os.fsencode(path).decode(errors="backslashreplace")


_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""First characters of cells that a spreadsheet would evaluate as a formula, from OWASP's page on CSV injection."""


def escape_csv_cell(text: str) -> str:
    """Return the text as a cell, prefixed with "'" if a spreadsheet would evaluate it as a formula.

    >>> escape_csv_cell("=1+1"), escape_csv_cell("a = b")
    ("'=1+1", 'a = b')
    """
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


EMAIL_PATTERN = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}\b")
"""Matches an e-mail address. It must end in letters, so that `mAP@0.5` and `Recall@10.5` do not match."""
_SEVERAL_EMAILS = re.compile(
    r"(?:\\?\{[^{}@]{1,400}\}|(?<!\S)\([^()@]{1,400}\)|(?<!\S)\[[^\[\]@]{1,400}\]|(?<![\w.+\\-])(?:[\w.+-]*\\[_.+-])+[\w.+-]*)"
    r"\s?@\s?[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}\b"
)
"""Matches several addresses in one, `{ada, bob}@kites.example`, and one that Markdown escapes,
`ada\\_b@kites.example`."""
_MAX_ROUNDS = 8
"""Rounds of replacing nested addresses, after which every remaining `@` is replaced."""
_PROFILE = re.compile(r"~[^\W\d_]{2,}(?:[_'.-][^\W\d_]+)*_[^\W\d_]{2,}\d+\b")
"""Matches an OpenReview profile id, `~Ada_Example1`. It does not match LaTeX such as `Eq.~x_1`, where `~` is a
space."""


def redact_people(value: Any) -> Any:  # noqa: ANN401 -- any JSON value
    """Return the value with e-mail addresses and OpenReview profile ids in its texts replaced.

    Use it on decoded values, never on JSON text, where the "n" of an escaped line break would join an address.

    >>> redact_people(["Write to ada@example.org or ~Ada_Example1; see Eq.~x_1 and mAP@0.5."])
    ['Write to [e-mail] or [profile]; see Eq.~x_1 and mAP@0.5.']
    >>> redact_people("{ada, bob}@kites.example")
    '[e-mail]'
    """
    if isinstance(value, str):
        return _redact_text(value)
    if not isinstance(value, dict | list | tuple) or _names_nobody(value):
        return value
    if isinstance(value, dict):
        return {name: redact_people(inner) for name, inner in value.items()}
    return [redact_people(inner) for inner in value]


def _names_nobody(value: Any) -> bool:  # noqa: ANN401
    """Return whether no text in the value can name a person: a fast check, as most values cannot."""
    try:
        return not may_name_people(msgspec.json.encode(value))
    except (TypeError, ValueError, OverflowError, RecursionError):
        return False


def may_name_people(encoded: bytes) -> bool:
    """Return whether JSON contains "@" or "~"; if not, `redact_people` leaves its value unchanged."""
    return b"@" in encoded or b"~" in encoded


def _redact_text(text: str) -> str:
    if "@" in text:
        text = _redact_emails(text)
    return _PROFILE.sub("[profile]", text) if "~" in text else text


def _redact_emails(text: str) -> str:
    """Replace all addresses, including those that replacing another one uncovers (`{a@b.cc}@d.ee`)."""
    for _ in range(_MAX_ROUNDS):
        redacted = EMAIL_PATTERN.sub("[e-mail]", _SEVERAL_EMAILS.sub("[e-mail]", text))
        if redacted == text:
            return text
        text = redacted
    return text.replace("@", "[e-mail]")

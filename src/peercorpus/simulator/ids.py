"""Ids, hashes and chances drawn from names, so that one seed always gives one world."""

import base64
from hashlib import blake2b

ID_LENGTH = 10
PATH_BYTES = 20


def draw_id(*names: object) -> str:
    """Give an id of OpenReview's look: ten characters of A-Z, a-z, 0-9, `-` and `_`, a letter first.

    >>> draw_id(0, "Aurora.cc/2020/Conference", 3) == draw_id(0, "Aurora.cc/2020/Conference", 3)
    True
    """
    text = base64.urlsafe_b64encode(_digest(names, 9)).decode()[:ID_LENGTH]
    # A leading hyphen would read as an option on a command line.
    return text if text[0].isalpha() else "r" + text[1:]


def draw_suffix(*names: object) -> str:
    """Give the four characters that name an anonymous reviewer (`Reviewer_aB3d`)."""
    text = base64.b32encode(_digest(names, 5)).decode()
    return text[0] + text[1].lower() + text[2] + text[3].lower()


def draw_path(*names: object) -> str:
    """Give the 40 hexadecimal digits under which OpenReview would keep a file."""
    return _digest(names, PATH_BYTES).hex()


def draw_share(*names: object) -> float:
    """Give a number in [0, 1)."""
    return int.from_bytes(_digest(names, 6), "big") / 2**48


def _digest(names: tuple[object, ...], size: int) -> bytes:
    return blake2b("\x1f".join(map(str, names)).encode(), digest_size=size).digest()

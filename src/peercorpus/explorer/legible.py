"""Texts from outside as a page may show them: nothing invisible that reorders or ends what stands around it."""

import re

UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")
"""Control characters but tab and line break, and marks that turn the direction of writing."""
REPLACEMENT = "\ufffd"


def legible(text: str) -> str:
    r"""A text whose control characters and marks of direction are shown as "�"; line breaks are all alike.

    >>> legible("a\r\nb\u202egnp.exe\x00")
    'a\nb�gnp.exe�'
    """
    return UNSEEN.sub(REPLACEMENT, text.replace("\r\n", "\n").replace("\r", "\n"))

"""Suggest the nearest known name to an unknown one."""

from collections.abc import Iterable
from difflib import get_close_matches

MAX_NAMES = 12
"""Largest number of names that a suggestion lists."""


def suggest_name(name: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: the nearest known name, or a list of known names.

    >>> suggest_name("auroa", ["aurora", "borealis"])
    "did you mean 'aurora'?"
    >>> suggest_name("x", ["aurora", "borealis"]), suggest_name("x", [])
    ('use one of: aurora, borealis.', 'there is none.')
    """
    by_lower = {other.lower(): other for other in sorted(known)}
    close = get_close_matches(name.lower(), by_lower, n=1)
    if close:
        return f"did you mean '{by_lower[close[0]]}'?"
    if not by_lower:
        return "there is none."
    more = ", …" if len(by_lower) > MAX_NAMES else "."
    return f"use one of: {', '.join(list(by_lower.values())[:MAX_NAMES])}{more}"

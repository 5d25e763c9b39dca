"""Suggest the nearest known name to an unknown one."""

import re
from collections.abc import Iterable

MAX_NAMES = 12
_LETTERS_PER_ERROR = 4
"""One wrong letter is allowed for each of so many letters of a word, and one in shorter words; our choice."""
_SHORTEST_WORD = 3
"""Fewest letters of a word that may contain an error; our choice."""
_WRONG_DIGITS = 2
"""Maximum number of wrong digits in a number; our choice."""
_SHORTEST_BEGINNING = 4
"""Fewest characters that are suggested to be the beginning of a longer name; our choice."""
_WORD = re.compile(r"\d+|[^\W\d_]+")


def suggest_name(name: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: the nearest known name, or a list of known names.

    >>> suggest_name("auroa", ["aurora", "borealis"])
    "did you mean 'aurora'?"
    >>> suggest_name("x", ["aurora", "borealis"]), suggest_name("x", [])
    ('use one of: aurora, borealis.', 'there is none.')
    """
    names = {other.lower(): other for other in sorted(known)}
    close = find_close(name, names.values())
    if close is not None:
        return f"did you mean '{close}'?"
    if not names:
        return "there is none."
    more = ", …" if len(names) > MAX_NAMES else "."
    return f"use one of: {', '.join(list(names.values())[:MAX_NAMES])}{more}"


def find_close(name: str, known: Iterable[str]) -> str | None:
    """Return the known name with the fewest errors, if it may be a misspelling or the beginning of it; None otherwise.

    Case is ignored. Two swapped characters are one error, like a wrong, a missing or an additional one. Every word must
    be near by itself: names that have only their endings in common are not.

    >>> find_close("icrl", ["icml", "iclr"]), find_close("ICLR.cc/2024/Conferense", ["ICLR.cc/2024/Conference"])
    ('iclr', 'ICLR.cc/2024/Conference')
    >>> find_close("CASCADIA2025", ["aaai2025"]), find_close("ICML.cc/2024/Conference", ["ICLR.cc/2024/Conference"])
    (None, None)
    """
    typed = name.lower()
    errors = ((_count_errors(typed, other.lower()), other) for other in sorted(known))
    near = [(count, other) for count, other in errors if count is not None]
    return min(near)[1] if near else None


def _count_errors(typed: str, meant: str) -> int | None:
    """Return how many errors make one name of the other; None if it is another name."""
    if meant.startswith(typed) and len(typed) >= _SHORTEST_BEGINNING:
        return len(meant) - len(typed)
    words, others = _WORD.findall(typed), _WORD.findall(meant)
    if len(words) != len(others):
        words, others = ["".join(words)], ["".join(others)]
    total = 0
    for word, other in zip(words, others, strict=True):
        allowed = _count_allowed(word, other)
        errors = allowed + 1 if abs(len(word) - len(other)) > allowed else _compare(word, other)
        if errors > allowed:
            return None
        total += errors
    return total if words else None


def _compare(word: str, other: str) -> int:
    is_short_year = word.isdecimal() and other.isdecimal() and other.endswith(word)
    return min(distance(word, other), 1) if is_short_year else distance(word, other)


def _count_allowed(word: str, other: str) -> int:
    if word.isdecimal() and other.isdecimal():
        return _WRONG_DIGITS
    longest = max(len(word), len(other))
    return max(1, longest // _LETTERS_PER_ERROR) if longest >= _SHORTEST_WORD else 0


def distance(first: str, second: str) -> int:
    """Return how many characters must be replaced, added, left out or swapped with their neighbour.

    This is the optimal string alignment distance (Boytsov 2011, https://doi.org/10.1145/1963190.1963191).

    >>> distance("icrl", "iclr"), distance("auroa", "aurora"), distance("kite", "site"), distance("", "abc")
    (1, 1, 1, 3)
    """
    before_last: list[int] = []
    last = list(range(len(second) + 1))
    for row, letter in enumerate(first, 1):
        current = [row]
        for column, other in enumerate(second, 1):
            cost = min(last[column] + 1, current[-1] + 1, last[column - 1] + (letter != other))
            is_swapped = row > 1 and column > 1 and first[row - 2] == other and letter == second[column - 2]
            current.append(min(cost, before_last[column - 2] + 1) if is_swapped else cost)
        before_last, last = last, current
    return last[-1]

"""What the value of a decision column says: accepted, rejected, or neither."""

import re

ACCEPTING = frozenset(
    {"accept", "accepted", "acceptance", "poster", "oral", "spotlight", "notable", "talk", "published"}
)
REJECTING = frozenset({"reject", "rejected", "rejection", "decline", "declined"})
NEITHER = frozenset({"desk", "withdrawn", "withdraw", "withdrawal", "invite", "pending"})
"""Words of papers that nobody decided on after review, or that were sent elsewhere: they are set aside."""
YES = frozenset({"1", "1.0", "true", "yes", "y"})
NO = frozenset({"0", "0.0", "false", "no", "n"})
WORD = re.compile(r"[^\W_]+")


def read_decision(value: object) -> bool | None:
    """Whether a paper was accepted; None where the value says neither.

    The words are those above, in any case: one of `ACCEPTING` without one of `REJECTING`, or the other way round, and
    none of `NEITHER`; "not" turns acceptance round. A whole value may be one of `YES` or `NO`, a truth value, 1 or 0.

    >>> [read_decision(value) for value in ("Accept (Poster)", "Reject", "not accepted", True, 0, "yes")]
    [True, False, False, True, False, True]
    >>> [read_decision(value) for value in ("Withdrawn", "Desk reject", "Invite to workshop track", "6: weak", 6, None)]
    [None, None, None, None, None, None]
    """
    if isinstance(value, bool | int | float):
        return bool(value) if value in {0, 1} else None
    if not isinstance(value, str):
        return None
    words = [word.casefold() for word in WORD.findall(value)]
    whole = words[0] if len(words) == 1 else value.strip()
    return whole in YES if whole in YES | NO else _read_words(words)


def _read_words(words: list[str]) -> bool | None:
    accepts, rejects = not ACCEPTING.isdisjoint(words), not REJECTING.isdisjoint(words)
    if accepts == rejects or not NEITHER.isdisjoint(words):
        return None
    if "not" in words:
        return False if accepts else None
    return accepts

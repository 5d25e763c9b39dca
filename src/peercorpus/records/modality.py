"""Recognise what is only intended, wished for or conditional, by the words around a verb."""

import re

INTENDED = re.compile(
    r"['\u2019]d\b(?!\s+(?:like|love)\s+to)|\b(?:would(?!\s+(?:like|love)\s+to)|could|might|may|can|should|open|inclined"
    r"|consider\w*|hope|please|ask\w*|suggest\w*|encourag\w*|whether|why|hesita\w*|reluctan\w*|plan\w*|intend\w*"
    r"|potentially|possibly)\b",
    re.IGNORECASE,
)
"""Matches words before a verb that make it only wished for or considered."""
CONDITION = re.compile(
    r"\b(?:if|unless|once|provided|assuming|conditional|contingent|should the|when the|as long as)\b", re.IGNORECASE
)
"""Matches words that make a clause a condition."""


def is_only_intended(before: str, after: str) -> bool:
    """Return whether a verb is only wished for, considered or conditional, by the words before and after it."""
    return bool(INTENDED.search(before) or CONDITION.search(after))

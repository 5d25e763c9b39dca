"""Whether a passage of a review says of itself that a part of it was added after the rebuttal."""

import re

_WHAT = r"(?:rebuttals?|responses?|discussions?|revisions?|feedback|repl(?:y|ies)|answers?)"
_WHOSE = r"(?:(?:the|authors?['\u2019]?s?['\u2019]?|reading|seeing|your|their|of|and|author)\s+){0,4}"
_WHEN = rf"(?:post|after|following|in light of|based on)[\s-]+{_WHOSE}{_WHAT}"
_PLAIN = r"[^\w:;.)\]*=-]{0,40}+"
_HEADING = (
    rf"(?:edit(?:ed)?|updates?|addendum|revision)\b(?:{_PLAIN}\d{{0,2}}+{_PLAIN}(?:$|[:;.)\]*=-])|\s{{1,40}}+{_WHEN})"
)
_NEW = (
    r"(?:(?:updated?|revised)\s+(?:review|score|rating|comments?|recommendation|evaluation|assessment)\b|final score\b)"
)
_ANSWER = rf"(?:response|reply|comments?) (?:to|on) {_WHOSE}{_WHAT}|i(?: have|['\u2019]ve)? read {_WHOSE}{_WHAT}"
_ABOUT = rf"(?:(?:comments?|response|review|updated?|edit(?:ed)?|assessment|remarks?)\s+)?{_WHEN}"
# The letters with which one of them begins come first: most lines end there.
MARK = re.compile(rf"[\W_]{{0,20}}+(?=[abcefipru])(?:{_HEADING}|{_NEW}|{_ANSWER}|{_ABOUT})", re.IGNORECASE)
"""The beginning of a line. Of the reviews of ICLR 2019, recorded after the discussion, 7 % hold one; of those of ICLR
2020, recorded before it, 1 in 1,000."""


def holds_update(text: str) -> bool:
    r"""Whether a line begins as those do that reviewers add later.

    >>> holds_update("Clear.\n\n=== UPDATE ===\nMuch better."), holds_update("Please update Table 2 after revision.")
    (True, False)
    """
    return any(map(MARK.match, text.split("\n")))

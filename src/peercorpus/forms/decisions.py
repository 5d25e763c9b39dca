"""Interpret the words of a decision on a paper, with a closed vocabulary: anything not understood is `UNKNOWN`.

A verdict must come first, after neutral words only (`decisions.toml`). A negation reverses it; a question mark, a
denial or a word of revocation cancels it; and a second, contrary verdict leaves it open, unless the two are joined as a
change ("Accept? No: Reject").
"""

import re
import tomllib
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from peercorpus.execution.stage import digest_of_data
from peercorpus.records.enums import Status

_WORDS = tomllib.loads(files(__package__).joinpath("decisions.toml").read_text(encoding="utf-8"))
DIGEST = digest_of_data(_WORDS)
"""Digest of the words, part of the content keys of the tables that depend on them."""
_VERDICTS = {kind: "|".join(patterns) for kind, patterns in _WORDS["verdicts"].items()}
_VERDICT = re.compile(
    r"(?<!\w)(?:" + "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _VERDICTS.items()) + r")(?!\w)"
)
_LEADING = frozenset(_WORDS["leading"]["words"])
_NEGATIONS = frozenset(_WORDS["negation"]["words"])
_OPEN = frozenset(_WORDS["negation"]["open"])
_REVOKED = frozenset(_WORDS["revocation"]["words"])
_AFTERWARDS = frozenset(_WORDS["alternative"]["afterwards"])
_ALTERNATIVES = frozenset(_WORDS["alternative"]["joins"])
_PRESENTED = frozenset(_WORDS["presentation"]["words"])
_TELLING = frozenset(_WORDS["presentation"]["telling"])
_BETWEEN = _LEADING.union(_NEGATIONS, _WORDS["change"]["words"])
_WORD = re.compile(r"[^\W_]+")
_NOUN_WITHDRAWN = re.compile(r"^\W*(?:was |is |has been )?withdrawn\b")


_UNDOING = {
    name: "|".join(map(re.escape, words)) for name, words in (_WORDS["negation"] | _WORDS["revocation"]).items()
}
_CHANGE = re.compile(rf"\?|(?<!\w)(?:{'|'.join(map(re.escape, _WORDS['change']['joins']))})(?!\w)")
_DENIED = re.compile(
    rf"^[\s:=,(\u2013\u2014-]*(?:{_UNDOING['answers']}|pending)[\s.!)]*$"
    rf"|^\s+(?:(?:{_UNDOING['auxiliary']})\s+)*(?:{_UNDOING['behind']})(?!\w)"
    rf"|^[\s,(-]+(?:{_UNDOING['terms']})(?!\w)"
)
"""Matches words directly after a verdict that cancel it: "Accept: No", "Acceptance pending", "acceptance is not
possible"."""
_AGAINST = {Status.ACCEPTED: Status.REJECTED, Status.REJECTED: Status.UNKNOWN}
"""Meaning of a negated verdict; any other verdict has no meaning when negated."""


class _Verdict(NamedTuple):
    """A verdict in a text: its status, whether it is cancelled on the spot, and its start and end."""

    status: Status
    is_negated: bool
    start: int
    end: int
    word: str


def _normalise(decision: str) -> str:
    """Return a decision in lower case, with contractions of "not" expanded and dashes within words as spaces."""
    plain = decision.lower().replace("\u2019", "'").replace("_", " ")
    plain = re.sub(r"(?<=[a-z])n't\b", " not", plain.replace("can't", "cannot").replace("won't", "will not"))
    return " ".join(re.sub(r"(?<=\w)[-\u2010\u2011\u2013](?=\w)", " ", plain).split())


def _find_verdicts(text: str) -> list[_Verdict]:
    found = []
    for match in _VERDICT.finditer(text):
        kind = str(match.lastgroup)
        clause = re.split(r"[.:;,?!(\u2013\u2014]|->|\u2192", text[: match.start()])[-1]
        nearest = _WORD.findall(clause)[-_NEAR:]
        status = Status.UNKNOWN if kind == "revision" else Status(kind)
        is_negated = bool(_NEGATIONS.intersection(nearest))
        found.append(_Verdict(status, is_negated, match.start(), match.end(), match[0]))
    return found


_NEAR = 4
"""Number of words before a verdict within which a negation reverses it ("cannot be accepted", "not to be accepted")."""


def _read_one(verdict: _Verdict) -> Status:
    return _AGAINST.get(verdict.status, Status.UNKNOWN) if verdict.is_negated else verdict.status


def _contradicts(first: _Verdict, later: _Verdict) -> bool:
    """Return whether a later verdict differs; a negated one ("do not reject") only if the negation reverses it."""
    if later.status is Status.UNKNOWN:
        return False
    if later.is_negated:
        return later.status is Status.ACCEPTED and _read_one(first) is Status.ACCEPTED
    return later.status is not _read_one(first) and {later.status, _read_one(first)} != {
        Status.REJECTED,
        Status.DESK_REJECTED,
    }


def _is_undone(verdict: _Verdict, rest: str) -> bool:
    """Return whether the words after a verdict cancel it: a question mark, denial, revocation or withdrawal."""
    is_noun = verdict.word.endswith(("ance", "ion", "al"))
    return (
        rest.lstrip(" )\"'").startswith("?")
        or bool(_DENIED.match(rest))
        or bool(_REVOKED.intersection(_WORD.findall(rest)))
        or (is_noun and verdict.status is not Status.WITHDRAWN and bool(_NOUN_WITHDRAWN.match(rest)))
        or (bool(re.match(r"^ by (?:the )?authors?\b", rest)) and verdict.status is not Status.WITHDRAWN)
    )


def _is_alternative(first: _Verdict, following: _Verdict, between: str) -> bool:
    """Return whether two verdicts are alternatives; in "accept / minor revision" the second states the terms."""
    join = between.strip(" ()")
    is_other = following.status is not _read_one(first)
    return is_other and (join == "or" or (join in _ALTERNATIVES and following.status is not Status.UNKNOWN))


def _is_changed(between: str) -> bool:
    """Return whether the words between two verdicts only say that the later one counts."""
    plain = _CHANGE.sub(" ", between)
    return plain != between and _BETWEEN.issuperset(_WORD.findall(plain))


def _read_with_withdrawal(first: _Verdict, later: Sequence[_Verdict], text: str) -> Status | None:
    """Return the status of a paper that was withdrawn before or after its verdict; None if it was not withdrawn."""
    if first.status is Status.WITHDRAWN:
        is_asked = first.word == "withdrawal" and any(_contradicts(first, verdict) for verdict in later)
        return Status.UNKNOWN if is_asked or first.is_negated else Status.WITHDRAWN
    withdrawals = [verdict for verdict in later if verdict.status is Status.WITHDRAWN and not verdict.is_negated]
    if not withdrawals or _read_one(first) not in {Status.ACCEPTED, Status.REJECTED}:
        return None
    before = _WORD.findall(text[first.end : withdrawals[0].start])
    is_told = withdrawals[0].word == "withdrawn" and _AFTERWARDS.issuperset(before)
    return Status.WITHDRAWN if is_told else Status.UNKNOWN


def _read_from(verdicts: Sequence[_Verdict], text: str) -> Status:
    first, *later = verdicts
    rest = text[first.end :]
    following = later[0] if later else None
    between = text[first.end : following.start] if following else ""
    if following and _is_alternative(first, following, between):
        return Status.UNKNOWN
    if following and _contradicts(first, following) and _is_changed(between):
        return _read_from(later, text)
    if _is_undone(first, rest):
        return Status.UNKNOWN
    withdrawn = _read_with_withdrawal(first, later, text)
    if withdrawn is not None:
        return withdrawn
    if any(_contradicts(first, verdict) for verdict in later):
        return Status.UNKNOWN
    return _read_one(first)


_PENDING = tuple(_WORDS["pending"]["phrases"])


@lru_cache(maxsize=4_096)
def is_pending(decision: str) -> bool:
    """Return whether a decision states that nothing is decided yet.

    >>> is_pending("Decision Pending"), is_pending("Major revision")
    (True, False)
    """
    text = _normalise(decision)
    return any(phrase in text for phrase in _PENDING)


_AUTHORS = frozenset({"author", "authors"})
"""Words before a verdict that is not by the chairs ("The authors have accepted the terms"); authors withdraw."""
_MAX_SHORT_SENTENCE = 5
"""Most words of a second sentence that may still be a verdict; a longer one gives reasons. Our choice."""
_SENTENCE_END = re.compile(r"(?<=[a-z)])[.!] ")


def _cut_reasons(text: str) -> str:
    """Return a decision without the reasons in the sentences after it."""
    end = _SENTENCE_END.search(text)
    return text[: end.start()] if end and len(text[end.end() :].split()) > _MAX_SHORT_SENTENCE else text


@lru_cache(maxsize=4_096)
def status_of_decision(decision: str) -> Status:
    """Return the status that a decision means; `UNKNOWN` if its words are not understood.

    >>> [status_of_decision(decision).value for decision in ("(2) Weak accept", "Not accepted", "Accept (revoked)")]
    ['accepted', 'rejected', 'unknown']
    """
    text = _cut_reasons(_normalise(decision))
    verdicts = _find_verdicts(text)
    words = _WORD.findall(text)
    if not verdicts:
        is_presented = bool(words) and _PRESENTED.issuperset(words) and bool(_TELLING.intersection(words))
        return Status.ACCEPTED if is_presented else Status.UNKNOWN
    before = [word for word in _WORD.findall(text[: verdicts[0].start]) if not word.isdigit()]
    is_of_authors = verdicts[0].status is not Status.WITHDRAWN and bool(_AUTHORS.intersection(before))
    is_elsewhere = bool(_NEGATIONS.intersection(before)) and not verdicts[0].is_negated
    if is_of_authors or is_elsewhere or _OPEN.intersection(before) or not _LEADING.union(_NEGATIONS).issuperset(before):
        return Status.UNKNOWN
    return _read_from(verdicts, text)

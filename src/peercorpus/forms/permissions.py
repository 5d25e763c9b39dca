"""Read the licence of a reply, and whether its writer agreed to its publication.

Source: the field `license` of API v2's notes (openreview-py 2.9.1), the review tasks of ACL Rolling Review and the
"Yes-Yes-Yes" workflow (arXiv 2201.11443), whose questions venues copy. Answers are verbatim, and None if the question
is not asked: a question that may be about the paper (its data set's licence, its participants' consent) does not count.
"""

import re
from enum import Enum
from functools import cache, lru_cache

import msgspec

from peercorpus.forms import vocabulary
from peercorpus.openreview.objects import Note
from peercorpus.records.reviews import join_prose

_MAX_ANSWER_CHARACTERS = 300
"""Longest answer that can be an option: longer ones, and those with several lines, are prose."""


def _compile(key: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in vocabulary.PERMISSIONS[key]), re.IGNORECASE)


_LICENCE_FIELDS, _CONSENT_FIELDS = _compile("licence_fields"), _compile("consent_fields")
_LICENCES, _AGREEMENTS, _CONSENTS = _compile("licences"), _compile("agreements"), _compile("consents")


class _Asks(Enum):
    """Kind of permission that a field asks for, judging by its name."""

    LICENCE = 1
    CONSENT = 2
    PROSE = 3
    UNKNOWN = 4


@cache
def _find_subject(name: str) -> _Asks:
    spelled = name.replace(" ", "_")
    if _LICENCE_FIELDS.fullmatch(spelled):
        return _Asks.LICENCE
    if _CONSENT_FIELDS.fullmatch(spelled):
        return _Asks.CONSENT
    lowered = name.lower()
    return _Asks.PROSE if lowered in vocabulary.SECTIONS or lowered in vocabulary.PROSE else _Asks.UNKNOWN


def _is_short(answer: str) -> bool:
    return len(answer) <= _MAX_ANSWER_CHARACTERS and "\n" not in answer.strip()


def _read_answer(answer: object) -> str:
    if isinstance(answer, str):
        return answer
    if isinstance(answer, list) and all(isinstance(chosen, str) for chosen in answer):
        return "\n".join(answer)
    return msgspec.json.encode(answer).decode() if isinstance(answer, bool | int | float) else ""


def is_licence(name: str, answer: object) -> bool:
    """Return whether a field names the licence of the reply itself.

    >>> is_licence("license", "CC BY 4.0"), is_licence("license", "The licence of the data set is missing.")
    (True, False)
    """
    return (
        _find_subject(name) is _Asks.LICENCE
        and isinstance(answer, str)
        and _is_short(answer)
        and _LICENCES.match(answer.strip()) is not None
    )


def is_consent(name: str, answer: object) -> bool:
    """Return whether a field states that the writer agrees, or does not agree, to the reply's publication.

    >>> is_consent("publication_consent", "Yes"), is_consent("informed_consent", "Yes")
    (True, False)
    >>> is_consent("agreement", "I agree to publish my review under CC BY 4.0.")
    True
    """
    subject = _find_subject(name)
    is_long = isinstance(answer, str) and len(answer) > _MAX_ANSWER_CHARACTERS
    if subject is _Asks.PROSE or (is_long and subject is not _Asks.CONSENT):
        return False
    words = _read_answer(answer).strip()
    if subject is _Asks.CONSENT:
        return words != ""
    if not _is_short(words):
        return False
    if subject is _Asks.LICENCE and _AGREEMENTS.match(words):
        return True
    return "review" in words and _CONSENTS.match(words) is not None


def _may_be_permission(name: str, answer: object) -> bool:
    """Return False if a field is certainly neither, which is fast and true of most."""
    subject = _find_subject(name)
    if subject is _Asks.UNKNOWN:
        return type(answer) is not str or (len(answer) <= _MAX_ANSWER_CHARACTERS and "review" in answer)
    return subject is not _Asks.PROSE


def is_permission(name: str, answer: object) -> bool:
    """Return whether a field is about a reply's own licence or its publication; such a field is never prose."""
    return _may_be_permission(name, answer) and (is_consent(name, answer) or is_licence(name, answer))


@lru_cache(maxsize=1_024)
def _list_possible(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if _find_subject(name) is not _Asks.PROSE)


def read_permissions(note: Note) -> tuple[str | None, str | None]:
    """Return the licence and the consent of a reply, verbatim; None if nothing states them.

    The licence is that of the note, or otherwise that of its form. Several answers on consent are prefixed by field
    names.
    """
    answers = note.fields
    possible = _list_possible(tuple(answers))
    fields = {name: answers[name] for name in possible if _may_be_permission(name, answers[name])}
    licence = note.license if note.license and note.license.strip() else None
    if not fields:
        return licence, None
    licence = licence or next((str(answer) for name, answer in fields.items() if is_licence(name, answer)), None)
    consents = {name: _read_answer(answer) for name, answer in fields.items() if is_consent(name, answer)}
    return licence, join_prose(consents) or None

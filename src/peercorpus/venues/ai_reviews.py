"""Recognise reviews by an AI from the invitations and signatures that venues use for them, listed in `ai_reviews.toml`.

Nothing else is evidence: no title, no text, no name of a reviewer or a group of reviewers.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

import msgspec

from peercorpus.execution.stage import digest_of_data
from peercorpus.records.ai_reviews import SurveyAnswer


class _Posted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One documented way of posting: names of invitations, and the signatures of their posts."""

    invitations: tuple[str, ...]
    signers: tuple[str, ...]
    sources: tuple[str, ...]


class _Groups(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    signers: tuple[str, ...]


class _Surveys(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    invitations: tuple[str, ...]
    questions: Mapping[str, tuple[str, ...]]


class _Ways(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    posted: tuple[_Posted, ...]
    groups: _Groups
    surveys: _Surveys


_DATA = tomllib.loads(files(__package__).joinpath("ai_reviews.toml").read_text(encoding="utf-8"))
_WAYS = msgspec.convert(_DATA, _Ways)
DIGEST = digest_of_data(_DATA)
"""Digest of `ai_reviews.toml`, part of the content keys of the tables that depend on it."""
SIGNERS: Mapping[str, tuple[str, ...]] = {name.lower(): way.signers for way in _WAYS.posted for name in way.invitations}
"""Signatures of an AI's reviews, by the name of the invitation in lower case."""
SURVEYS = frozenset(name.lower() for name in _WAYS.surveys.invitations)
"""Names of invitations, in lower case, with which people rate the review of an AI."""
_PAPER = r"[A-Za-z_]+\d+"
"""The last element of the group of one submission."""


_VENUE = "{venue}/"
"""Beginning of every signer's group."""


@cache
def _compile(signers: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of the text after the venue's id, because compiling one for each venue is slow."""
    groups = (re.escape(signer.removeprefix(_VENUE)) for signer in signers)
    return re.compile("|".join(group.replace(r"\{paper\}", _PAPER) for group in groups))


def _are_all(signatures: Sequence[str] | None, signers: tuple[str, ...], venue_id: str) -> bool:
    pattern, start = _compile(signers), f"{venue_id}/"
    return bool(signatures) and all(
        signature.startswith(start) and pattern.fullmatch(signature, len(start)) for signature in signatures or ()
    )


def signs_for_ai(signatures: Sequence[str] | None, venue_id: str) -> bool:
    """Return whether a note is signed only by the venue's own groups for posts by an AI.

    >>> signs_for_ai(["V/Submission3/AI_Reviewer"], "V"), signs_for_ai(["V/Submission3/AI_Reviewer_x1Yz"], "V")
    (True, False)
    """
    return _are_all(signatures, _WAYS.groups.signers, venue_id)


def is_posted_by_venue(name: str, signatures: Sequence[str] | None, venue_id: str) -> bool:
    """Return whether the signatures show that a post to an invitation for AI reviews is one.

    Args:
        name: The last element of the invitation; one that is not documented counts as `AI_Review`.
        signatures: The signatures of the post.
        venue_id: The venue.

    >>> [is_posted_by_venue("AI_Review", [signer], "V") for signer in ("V/Program_Chairs", "~Ada_Example1")]
    [True, False]
    """
    return _are_all(signatures, SIGNERS.get(name.lower(), _WAYS.posted[0].signers), venue_id)


def rate_answer(field: str, answer: str) -> SurveyAnswer:
    """Return an answer to a survey on an AI's review with its rank among the answers that the survey offers.

    >>> rate_answer("false_claims", "One minor").rank, rate_answer("false_claims", "Unsure").rank
    (3, None)
    """
    answers = _WAYS.surveys.questions.get(field.lower(), ())
    return SurveyAnswer(field, answer, answers.index(answer) + 1 if answer in answers else None, answers)

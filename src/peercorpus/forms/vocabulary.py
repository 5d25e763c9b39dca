"""What field names, invitation names, signatures and decision words mean: `vocabulary.toml`, read once."""

import hashlib
import re
import tomllib
from functools import cache
from importlib.resources import files
from itertools import dropwhile

from peercorpus.kinds import Aspect, PostKind, Role, SectionKind, Status

_TEXT = files(__package__).joinpath("vocabulary.toml").read_text(encoding="utf-8")
_WORDS = tomllib.loads(_TEXT)
DIGEST = hashlib.sha256(_TEXT.encode()).hexdigest()
"""Stands for the vocabulary in the keys of what is read with it."""


def _inverted(section: str) -> dict[str, str]:
    return {word: meaning for meaning, words in _WORDS[section].items() for word in words}


ASPECTS = {name: Aspect(aspect) for name, aspect in _inverted("scores").items()}
SECTIONS = {name: SectionKind(kind) for name, kind in _inverted("sections").items()}
INITIAL_SCORES = frozenset(_WORDS["phases"]["initial"])
CHANGE_WORDS = tuple(_WORDS["score_words"]["change"])
OVERALL_WORDS = frozenset(_WORDS["score_words"]["overall"])
NEUTRAL_WORDS = frozenset(_WORDS["score_words"]["neutral"])
TITLES = frozenset(_WORDS["fields"]["title"])
SINGLE_FIELDS = {word: slot for slot in ("title", "final_justification") for word in _WORDS["fields"][slot]}
ADMINISTRATIVE = frozenset(_WORDS["fields"]["administrative"])
VERDICTS = frozenset(_WORDS["fields"]["verdict"])
NO_PROSE = TITLES | ADMINISTRATIVE
_POST_KINDS = {name: PostKind(kind) for name, kind in _inverted("post_kinds").items()}
_VENUEIDS = {name: Status(status) for name, status in _inverted("venueids").items()}
GROUP_KINDS = {key: PostKind(kind) for key, kind in _inverted("group_kinds").items()}
GROUP_STATUSES = {key: Status(status) for key, status in _inverted("group_statuses").items()}
GROUP_ASPECTS = {key: Aspect(aspect) for key, aspect in _inverted("group_aspects").items()}
GROUP_ROLES = {key: Role(role) for key, role in _inverted("group_roles").items()}
DECISION_FIELDS = tuple(_WORDS["decision_fields"]["names"])
SUBMISSION_DECISION_FIELDS = tuple(_WORDS["decision_fields"]["of_submission"])
REVERSIONS = {field: PostKind(kind) for field, kind in _inverted("reversions").items()}
"""A field of a note that undoes another, to the kind of what it undoes."""
_WORD = re.compile(r"[a-z][a-z0-9]*")
_LEADING_WORDS = frozenset(_WORDS["decision_words"]["leading"])
_DECISIONS = {" ".join(_WORD.findall(verdict)): Status(status) for verdict, status in _inverted("decisions").items()}
_ROLES = tuple((Role(role), re.compile("|".join(patterns))) for role, patterns in _WORDS["roles"].items())


@cache
def post_kind(tail: str) -> PostKind:
    """What a reply is, from what its invitation asks for: all of it, else its last element.

    A review of one reviewer's own path (`Official_Review/AnonReviewer3/Revision`) is no review but an edit of one.

    >>> post_kind("submission/B1/review"), post_kind("Official_Review/AnonReviewer3/Revision")
    (<PostKind.REVIEW: 'review'>, <PostKind.OTHER: 'other'>)
    """
    asked = tail.lower()
    return _POST_KINDS.get(asked) or _POST_KINDS.get(asked.rpartition("/")[2], PostKind.OTHER)


@cache
def role_of(name: str) -> Role:
    """Who speaks, from the last element of a signature.

    >>> role_of("AnonReviewer3"), role_of("Senior_Area_Chairs"), role_of("~Ada_Example1")
    (<Role.REVIEWER: 'reviewer'>, <Role.SENIOR_AREA_CHAIR: 'senior_area_chair'>, <Role.PUBLIC: 'public'>)
    """
    return next((role for role, pattern in _ROLES if pattern.fullmatch(name)), Role.UNKNOWN)


def status_of_decision(decision: str) -> Status:
    """What a verdict says of the submission; unknown where it begins with a word that is not known.

    >>> status_of_decision("(2) Weak accept"), status_of_decision("Not accepted")
    (<Status.ACCEPTED: 'accepted'>, <Status.UNKNOWN: 'unknown'>)
    """
    words = " ".join(dropwhile(_LEADING_WORDS.__contains__, _WORD.findall(decision.lower()))) + " "
    return next((status for verdict, status in _DECISIONS.items() if words.startswith(f"{verdict} ")), Status.UNKNOWN)


def status_of_venue(venue: str) -> Status:
    """What the name of a `venue` says of the submission: only accepted ones name how they are presented.

    >>> status_of_venue("ICLR 2020 Poster"), status_of_venue("ICLR 2020 Conference Blind Submission")
    (<Status.ACCEPTED: 'accepted'>, <Status.UNKNOWN: 'unknown'>)
    """
    last = venue.lower().rpartition(" ")[2]
    return Status.ACCEPTED if last in _WORDS["venue_words"]["accepted"] else Status.UNKNOWN


def status_of_venueid(venueid: str, venue_id: str) -> Status:
    """What API v2's `venueid` says of the submission: the venue itself means accepted.

    >>> status_of_venueid("V/2024/Conference/Rejected_Submission", "V/2024/Conference")
    <Status.REJECTED: 'rejected'>
    """
    if venueid == venue_id:
        return Status.ACCEPTED
    return _VENUEIDS.get(venueid.rpartition("/")[2].lower(), Status.UNKNOWN)

"""Interpret the names that venues use for fields, invitations, decisions and roles.

The general vocabulary is `vocabulary.toml`; `VenueVocabulary` adds the words stated by a venue's own group.

Source of a venue's own words: the content of an API v2 venue group, as openreview-py 2.9.1 writes it
(`venue/group.py`).
"""

import re
import tomllib
from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from peercorpus.execution.stage import digest_of_data
from peercorpus.forms import decisions
from peercorpus.records.enums import Aspect, Phase, PostKind, Role, SectionKind, Status
from peercorpus.venues import committees
from peercorpus.venues.committees import find_named_role, find_role, read_names, read_roles
from peercorpus.venues.own_venues import OwnVenue

_WORDS = tomllib.loads(files(__package__).joinpath("vocabulary.toml").read_text(encoding="utf-8"))
DIGEST = digest_of_data([_WORDS, decisions.DIGEST, committees.DIGEST])
"""Digest of the vocabulary, part of the content keys of the tables that depend on it."""


def _invert(section: str) -> dict[str, str]:
    return {word: meaning for meaning, words in _WORDS[section].items() for word in words}


ASPECTS = {name: Aspect(aspect) for name, aspect in _invert("scores").items()}
SECTIONS = {name: SectionKind(kind) for name, kind in _invert("sections").items()}
_PHASES = {word: phase for phase in (Phase.INITIAL, Phase.FINAL) for word in _WORDS["phases"][phase.value]}
_EVENTS = frozenset(_WORDS["phases"]["event"])
_UPDATES = frozenset(_WORDS["updates"]["words"])
CHANGE_WORDS = tuple(_WORDS["score_words"]["change"])
OVERALL_WORDS = frozenset(_WORDS["score_words"]["overall"])
NEUTRAL_WORDS = frozenset(_WORDS["score_words"]["neutral"])
TITLES = frozenset(_WORDS["fields"]["title"])
SINGLE_FIELDS = {word: slot for slot in ("title", "final_justification") for word in _WORDS["fields"][slot]}
ADMINISTRATIVE = frozenset(_WORDS["fields"]["administrative"])
VERDICTS = frozenset(_WORDS["fields"]["verdict"])
REASONS = frozenset(_WORDS["fields"]["reasons"])
NO_PROSE = TITLES | ADMINISTRATIVE
PROSE = frozenset(_WORDS["fields"]["prose"])
META_REVIEW: Mapping[str, list[str]] = _WORDS["meta_review"]
PERMISSIONS: Mapping[str, list[str]] = _WORDS["permissions"]
_POST_KINDS = {name: PostKind(kind) for name, kind in _invert("post_kinds").items()}
_VENUEIDS = {name: Status(status) for name, status in _invert("venueids").items()}
REVOKED_VENUEIDS = frozenset(_WORDS["revoked_venueids"]["names"])
GROUP_KINDS = {key: PostKind(kind) for key, kind in _invert("group_kinds").items()}
GROUP_STATUSES = {key: Status(status) for key, status in _invert("group_statuses").items()}
GROUP_ASPECTS = {key: Aspect(aspect) for key, aspect in _invert("group_aspects").items()}
DECISION_FIELDS = tuple(_WORDS["decision_fields"]["names"])
SUBMISSION_DECISION_FIELDS = tuple(_WORDS["decision_fields"]["of_submission"])
_VENUE_ENDINGS = {ending: Status(status) for ending, status in _invert("venue_endings").items()}
REVERSIONS = {field: PostKind(kind) for field, kind in _invert("reversions").items()}
"""Fields of a note that reverse another reply, with the kind of that reply."""
_WORD = re.compile(r"[a-z][a-z0-9]*")
_QUESTION_NUMBER = re.compile(r"q\d+")
_PERSONAL_WORDS = frozenset(_WORDS["fields"]["personal"])
_IMPERSONAL_WORDS = frozenset(_WORDS["fields"]["impersonal"])
_PERSONAL_TOGETHER = tuple(
    frozenset(word.removesuffix("s") for word in words.split()) for words in _WORDS["fields"]["personal_together"]
)
_PERSONAL_NAMES = frozenset(_WORDS["fields"]["of_names"])
_AMOUNTS = frozenset(_WORDS["fields"]["amount"])


def _split_words(name: str) -> list[str]:
    return _WORD.findall(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())


@cache
def phase_of_field(name: str) -> tuple[str, Phase] | None:
    """Return the score that a field asks for, and the phase that its name states; None if it states none, or two.

    >>> phase_of_field("rating_before_rebuttal"), phase_of_field("Final rating"), phase_of_field("rating")
    (('rating', <Phase.INITIAL: 'initial'>), ('rating', <Phase.FINAL: 'final'>), None)
    """
    words = _split_words(name)
    phases = {_PHASES[word] for word in words if word in _PHASES}
    subject = "_".join(word for word in words if word not in _PHASES and word not in _EVENTS)
    return (subject, phases.pop()) if len(phases) == 1 and subject else None


@cache
def names_update(name: str) -> bool:
    """Return whether the name of an invitation says that what it asks for changes an earlier answer.

    >>> names_update("Score_Update"), names_update("ScoreUpdate"), names_update("First_Round_Review")
    (True, True, False)
    """
    return not _UPDATES.isdisjoint(_split_words(name))


@cache
def names_final_score(name: str) -> bool:
    """Return whether the name of an invitation says that it asks for a last answer, and not for another review.

    >>> names_final_score("Post_Rebuttal_Rating"), names_final_score("Final_Review")
    (True, False)
    """
    words = _split_words(name)
    return "review" not in words and any(_PHASES.get(word) is Phase.FINAL for word in words)


@cache
def aspect_of_field(name: str) -> Aspect | None:
    """Return the subject of a score with this name, whatever its phase and spelling; None if it is no score's name.

    >>> aspect_of_field("Overall Rating"), aspect_of_field("Q6_confidence"), aspect_of_field("review")
    (<Aspect.RECOMMENDATION: 'recommendation'>, <Aspect.CONFIDENCE: 'confidence'>, None)
    """
    words = _split_words(name)
    plain = "_".join(word for word in words if not _QUESTION_NUMBER.fullmatch(word))
    named = phase_of_field(name)
    return ASPECTS.get(name.lower()) or ASPECTS.get(plain) or (ASPECTS.get(named[0]) if named else None)


@cache
def is_personal(name: str) -> bool:
    """Return whether a field is about a person, not the paper, so that it must not leave `raw.db`.

    >>> is_personal("visa_needs"), is_personal("Country of origin"), is_personal("countrywide_study")
    (True, True, False)
    >>> is_personal("First-time reviewer"), is_personal("yearsOfExperience"), is_personal("experience_report")
    (True, True, False)
    """
    words = _split_words(name)
    if name.lower() in _PERSONAL_NAMES or any(
        {word.removesuffix("s") for word in words} >= one for one in _PERSONAL_TOGETHER
    ):
        return True
    return _IMPERSONAL_WORDS.isdisjoint(words) and not _PERSONAL_WORDS.isdisjoint(words)


@cache
def is_count(name: str) -> bool:
    """Return whether a field asks for an amount, such as hours or pages, so that its numbers are not a scale.

    >>> is_count("number_of_typos"), is_count("Hours spent"), is_count("fit")
    (True, True, False)
    """
    return not _AMOUNTS.isdisjoint(_WORD.findall(name.lower()))


@cache
def post_kind(tail: str) -> PostKind:
    """Return the kind of a reply, from its invitation's name: the whole name, or otherwise its last element.

    `Official_Review/AnonReviewer3/Revision` is not a review but an edit of one.

    >>> post_kind("submission/B1/review"), post_kind("Official_Review/AnonReviewer3/Revision")
    (<PostKind.REVIEW: 'review'>, <PostKind.OTHER: 'other'>)
    """
    name = tail.lower()
    return _POST_KINDS.get(name) or _POST_KINDS.get(name.rpartition("/")[2], PostKind.OTHER)


status_of_decision = decisions.status_of_decision


def status_of_venue(venue: str) -> Status:
    """Return the status that the field `venue` means: only accepted papers name their kind of presentation.

    >>> status_of_venue("ICLR 2020 Poster"), status_of_venue("ICLR 2020 Conference Blind Submission")
    (<Status.ACCEPTED: 'accepted'>, <Status.UNKNOWN: 'unknown'>)
    >>> status_of_venue("ICLR 2023 Conference Desk Rejected Submission")
    <Status.DESK_REJECTED: 'desk_rejected'>
    """
    name = venue.lower().strip()
    last = name.rpartition(" ")[2]
    if last in _WORDS["venue_words"]["accepted"]:
        return Status.ACCEPTED
    return next((status for ending, status in _VENUE_ENDINGS.items() if name.endswith(ending)), Status.UNKNOWN)


def status_of_venueid(venueid: str, venue_id: str) -> Status:
    """Return the status that API v2's `venueid` means: the venue itself means accepted.

    >>> status_of_venueid("V/2024/Conference/Rejected_Submission", "V/2024/Conference")
    <Status.REJECTED: 'rejected'>
    """
    if venueid == venue_id:
        return Status.ACCEPTED
    return _VENUEIDS.get(venueid.rpartition("/")[2].lower(), Status.UNKNOWN)


@dataclass(frozen=True, slots=True)
class VenueVocabulary:
    """The words that one venue defines for itself.

    Attributes:
        kinds: Kind of reply by the last element of its invitation, in lower case.
        statuses: Status by `venueid`.
        aspects: Aspect of a score by review field, in lower case.
        decision_fields: Fields of a decision that contain the verdict, the venue's own first.
        accepting: Verdicts that mean acceptance, in lower case.
        headings: Status by the heading under which the venue lists papers, which is their field `venue` after the
            decisions ("Submitted to ICLR 2024"), if its settings state the meaning.
        roles: Role by the venue's name for a committee, or for one member (`Reviewer_`, a prefix of signatures);
            takes precedence over the names of most venues.
        own_statuses: Status by a decision, `venueid` or `venue` in lower case, as the user states it.
        own_roles: Like `roles`, as the user states it; takes precedence over both.
    """

    kinds: Mapping[str, PostKind] = field(default_factory=dict)
    statuses: Mapping[str, Status] = field(default_factory=dict)
    aspects: Mapping[str, Aspect] = field(default_factory=dict)
    decision_fields: tuple[str, ...] = DECISION_FIELDS
    accepting: Set[str] = frozenset()
    roles: Mapping[str, Role] = field(default_factory=dict)
    headings: Mapping[str, Status] = field(default_factory=dict)
    own_statuses: Mapping[str, Status] = field(default_factory=dict)
    own_roles: Mapping[str, Role] = field(default_factory=dict)

    def kind(self, tail: str) -> PostKind:
        """Return the kind of a reply, from its invitation's name."""
        return self.kinds.get(tail.lower()) or post_kind(tail)

    def status(self, venueid: str, venue_id: str) -> Status:
        """Return the status that API v2's `venueid` means."""
        own = self.own_status_of_venueid(venueid)
        return own or self.statuses.get(venueid) or status_of_venueid(venueid, venue_id)

    def own_status_of_venueid(self, venueid: str) -> Status | None:
        """Return the status that the user states for a `venueid` or for its last element, or None."""
        return self.own_status(venueid) or self.own_status(venueid.rpartition("/")[2])

    def own_status(self, words: str) -> Status | None:
        """Return the status that the user states for these words, ignoring case, or None."""
        return self.own_statuses.get(words.strip().lower())

    def status_of_decision(self, decision: str) -> Status:
        """Return the status that a decision means."""
        own = self.own_status(decision)
        if own is not None:
            return own
        is_accepting = decision.strip().lower() in self.accepting
        return Status.ACCEPTED if is_accepting else status_of_decision(decision)

    def status_of_heading(self, venue: str) -> Status:
        """Return the status that the field `venue` means to the user or in the venue's settings, or `UNKNOWN`."""
        return self.own_status(venue) or self.headings.get(venue.strip(), Status.UNKNOWN)

    def status_of_venue(self, venue: str) -> Status:
        """Return the status that the field `venue` means: by `status_of_heading`, or otherwise by its own words."""
        status = self.status_of_heading(venue)
        return status_of_venue(venue) if status is Status.UNKNOWN else status

    def role(self, name: str) -> Role:
        """Return the role of a signer, from the last element of a signature."""
        for roles in (self.own_roles, self.roles):
            if roles and (role := find_named_role(name, roles)) is not Role.UNKNOWN:
                return role
        return find_role(name)


def _read_headings(content: Mapping[str, Any]) -> dict[str, Status]:
    """Return the status of each heading in a group's `decision_heading_map`; unclear ones are left out.

    Its keys are values of the field `venue`, each with the name of the tab that lists such papers: openreview-py writes
    it in this way (`get_decision_heading_map` in `conference/helpers.py`, `workflows/process/submission_release.py`),
    and the home page requests the papers of each tab by the key (`venue/webfield/homepageWebfield.js`; all of 2.9.1).
    """
    answer = content.get("decision_heading_map")
    headings = answer.get("value") if isinstance(answer, dict) else None
    pairs = headings.items() if isinstance(headings, dict) else ()
    read = {name.strip(): status_of_decision(tab) for name, tab in pairs if isinstance(tab, str)}
    return {name: status for name, status in read.items() if status is not Status.UNKNOWN}


def read_words(group: bytes) -> VenueVocabulary:
    """Return a venue's own vocabulary, from its group as received.

    >>> read_words(b'{"id": "V", "content": {"review_name": {"value": "Assessment"}}}').kind("Assessment")
    <PostKind.REVIEW: 'review'>
    """
    settings = msgspec.json.decode(group, type=dict[str, Any]).get("content")
    content = settings if isinstance(settings, dict) else {}
    kinds = {name.lower(): kind for key, kind in GROUP_KINDS.items() for name in read_names(content, key)}
    statuses = {name: status for key, status in GROUP_STATUSES.items() for name in read_names(content, key)}
    aspects = {name.lower(): aspect for key, aspect in GROUP_ASPECTS.items() for name in read_names(content, key)}
    own = read_names(content, "decision_field_name", "meta_review_recommendation")
    accepting = frozenset(option.strip().lower() for option in read_names(content, "accept_decision_options"))
    return VenueVocabulary(
        kinds=kinds,
        statuses=statuses,
        aspects=aspects,
        decision_fields=own + DECISION_FIELDS,
        accepting=accepting,
        roles=read_roles(content),
        headings=_read_headings(content),
    )


def extend_words(words: VenueVocabulary, own: OwnVenue) -> VenueVocabulary:
    """Return a venue's vocabulary, with that of the user's row taking precedence."""
    said = own.words
    return replace(
        words,
        kinds={**words.kinds, **{name.lower(): kind for kind, names in said.replies.items() for name in names}},
        aspects={**words.aspects, **{name.lower(): aspect for aspect, names in said.scores.items() for name in names}},
        decision_fields=tuple(dict.fromkeys((*said.decision_fields, *words.decision_fields))),
        own_statuses={name.strip().lower(): status for status, names in own.statuses.items() for name in names},
        own_roles={name: role for role, names in said.roles.items() for name in names},
    )

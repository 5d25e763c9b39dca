"""What one venue calls things, as its own group says; what it does not say, the vocabulary does.

Source: the content of an API v2 venue group, as openreview-py 2.9.1 writes it (`venue/group.py`).
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Any

import msgspec

from peercorpus.forms import vocabulary
from peercorpus.kinds import Aspect, PostKind, Role, Status


@dataclass(frozen=True, slots=True)
class Words:
    """A venue's own words.

    Attributes:
        kinds: Last element of an invitation, in lower case, to what it asks for.
        statuses: `venueid` to what it says of a submission.
        aspects: Field of a review, in lower case, to what its score is about.
        decision_fields: Fields of a decision that hold the verdict, the venue's own first.
        accepting: Verdicts that accept, in lower case.
        roles: The venue's own names of its committees, singly (`Reviewer_`, before the rest of a name) and as a group.
    """

    kinds: Mapping[str, PostKind] = field(default_factory=dict)
    statuses: Mapping[str, Status] = field(default_factory=dict)
    aspects: Mapping[str, Aspect] = field(default_factory=dict)
    decision_fields: tuple[str, ...] = vocabulary.DECISION_FIELDS
    accepting: Set[str] = frozenset()
    roles: Mapping[str, Role] = field(default_factory=dict)

    def kind(self, tail: str) -> PostKind:
        """What a reply is, from what its invitation asks for."""
        return self.kinds.get(tail.lower()) or vocabulary.post_kind(tail)

    def status(self, venueid: str, venue_id: str) -> Status:
        """What API v2's `venueid` says of a submission."""
        return self.statuses.get(venueid) or vocabulary.status_of_venueid(venueid, venue_id)

    def status_of_decision(self, decision: str) -> Status:
        """What a verdict says of the submission."""
        is_accepting = decision.strip().lower() in self.accepting
        return Status.ACCEPTED if is_accepting else vocabulary.status_of_decision(decision)

    def role(self, name: str) -> Role:
        """Who speaks, from the last element of a signature."""
        known = vocabulary.role_of(name)
        if known is not Role.UNKNOWN:
            return known
        own = (role for said, role in self.roles.items() if name == said or (said[-1] == "_" and name.startswith(said)))
        return next(own, Role.UNKNOWN)


def _said(content: Mapping[str, Any], *keys: str) -> tuple[str, ...]:
    """The names that the keys hold, alone or in a list, in their order."""
    answers = [answer for key in keys if isinstance(answer := content.get(key), dict)]
    values = [value if isinstance(value := answer.get("value"), list) else [value] for answer in answers]
    return tuple(name for names in values for name in names if isinstance(name, str) and name)


def read_words(group: bytes) -> Words:
    """A venue's words, from its group as received.

    >>> read_words(b'{"id": "V", "content": {"review_name": {"value": "Assessment"}}}').kind("Assessment")
    <PostKind.REVIEW: 'review'>
    """
    found = msgspec.json.decode(group, type=dict[str, Any]).get("content")
    content = found if isinstance(found, dict) else {}
    kinds = {name.lower(): kind for key, kind in vocabulary.GROUP_KINDS.items() for name in _said(content, key)}
    statuses = {name: status for key, status in vocabulary.GROUP_STATUSES.items() for name in _said(content, key)}
    aspects = {name.lower(): aspect for key, aspect in vocabulary.GROUP_ASPECTS.items() for name in _said(content, key)}
    own = _said(content, "decision_field_name", "meta_review_recommendation")
    accepting = frozenset(option.strip().lower() for option in _said(content, "accept_decision_options"))
    roles = {name: role for key, role in vocabulary.GROUP_ROLES.items() for name in _said(content, key)}
    return Words(kinds, statuses, aspects, own + vocabulary.DECISION_FIELDS, accepting, roles)

"""What one venue calls things, as its own group says; what it does not say, the vocabulary does.

Source: the content of an API v2 venue group, as openreview-py 2.9.1 writes it (`venue/group.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from peercorpus.forms import vocabulary
from peercorpus.kinds import Aspect, PostKind, Status


@dataclass(frozen=True, slots=True)
class Words:
    """A venue's own words.

    Attributes:
        kinds: Last element of an invitation, in lower case, to what it asks for.
        statuses: `venueid` to what it says of a submission.
        aspects: Field of a review, in lower case, to what its score is about.
        decision_fields: Fields of a decision that hold the verdict, the venue's own first.
    """

    kinds: Mapping[str, PostKind] = field(default_factory=dict)
    statuses: Mapping[str, Status] = field(default_factory=dict)
    aspects: Mapping[str, Aspect] = field(default_factory=dict)
    decision_fields: tuple[str, ...] = vocabulary.DECISION_FIELDS

    def kind(self, tail: str) -> PostKind:
        """What a reply is, from what its invitation asks for."""
        return self.kinds.get(tail.lower()) or vocabulary.post_kind(tail)

    def status(self, venueid: str, venue_id: str) -> Status:
        """What API v2's `venueid` says of a submission."""
        return self.statuses.get(venueid) or vocabulary.status_of_venueid(venueid, venue_id)


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
    return Words(kinds, statuses, aspects, own + vocabulary.DECISION_FIELDS)

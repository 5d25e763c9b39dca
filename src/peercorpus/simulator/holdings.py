"""What the simulated service holds: raw API objects, with their readers, as OpenReview itself would store them.

The world (venues, papers, threads) is written into `Holdings`; the server answers from it. Objects are complete JSON
objects in the API's own shape; the server alone decides what a caller may see.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

Json: TypeAlias = dict[str, object]


@dataclass(slots=True)
class Holdings:
    """One API's objects.

    Attributes:
        groups: By group id.
        invitations: By invitation id.
        notes: By note id, roots and replies alike, in order of creation.
        edits: By edit id; API v2 edits (`note.id` names the note), API v1 references (`referent` names the note).
        author_edits: Ids of API v1 references that are listed with `original=true` only.
        files: OpenReview path (`/pdf/<40 hex>.pdf`) to a function that gives the bytes.
    """

    groups: dict[str, Json] = field(default_factory=dict)
    invitations: dict[str, Json] = field(default_factory=dict)
    notes: dict[str, Json] = field(default_factory=dict)
    edits: dict[str, Json] = field(default_factory=dict)
    author_edits: set[str] = field(default_factory=set)
    files: dict[str, Callable[[], bytes]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class World:
    """Both APIs of one simulated OpenReview, and the account that may sign in."""

    v1: Holdings
    v2: Holdings
    user: str = "reader@example.org"
    password: str = "peercorpus"

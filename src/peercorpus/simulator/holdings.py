"""What the simulated service holds: raw API objects, with their readers, as OpenReview itself would store them.

The world (venues, papers, threads) is written into `Holdings`; the server answers from it. Objects are complete JSON
objects in the API's own shape; the server alone decides what a caller may see.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
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

    def copy(self) -> "Holdings":
        """The same objects in dictionaries of their own."""
        return Holdings(
            dict(self.groups),
            dict(self.invitations),
            dict(self.notes),
            dict(self.edits),
            set(self.author_edits),
            dict(self.files),
        )


@dataclass(frozen=True, slots=True)
class World:
    """Both APIs of one simulated OpenReview, and the accounts that may sign in.

    Attributes:
        user: An account that belongs to no venue: it sees what the public sees.
        password: Of both accounts.
        code: What the second factor of both accounts gives, at any time.
        insider: An account that is a programme chair of every venue: it sees what the public does not.
    """

    v1: Holdings
    v2: Holdings
    user: str = "reader@example.org"
    password: str = "peercorpus"
    code: str = "271828"
    insider: str = "insider@example.org"

    def copy(self) -> "World":
        """The same objects in dictionaries of their own, so that one world can change without the other."""
        return replace(self, v1=self.v1.copy(), v2=self.v2.copy())

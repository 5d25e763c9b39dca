"""Store the raw objects of both simulated APIs, and draw ids and numbers from a seed."""

import base64
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, fields, replace
from hashlib import blake2b
from typing import TypeAlias

Json: TypeAlias = dict[str, object]


@dataclass(slots=True)
class Holdings:
    """The objects of one API.

    Attributes:
        notes: By note id, roots and replies alike, in order of creation.
        edits: By edit id; API v2 edits (`note.id` names the note), API v1 references (`referent` names the note).
        author_edits: Ids of API v1 references that are listed only with `original=true`.
        files: OpenReview path (`/pdf/<40 hex>.pdf`) to a function that returns the bytes.
    """

    groups: dict[str, Json] = field(default_factory=dict)
    invitations: dict[str, Json] = field(default_factory=dict)
    notes: dict[str, Json] = field(default_factory=dict)
    edits: dict[str, Json] = field(default_factory=dict)
    author_edits: set[str] = field(default_factory=set)
    files: dict[str, Callable[[], bytes]] = field(default_factory=dict)

    def copy(self) -> "Holdings":
        """Return the same objects in new dictionaries."""
        return Holdings(**{part.name: copy(getattr(self, part.name)) for part in fields(self)})


@dataclass(frozen=True, slots=True)
class World:
    """Both APIs of one simulated OpenReview, and the accounts that may sign in.

    Attributes:
        user: An account without a venue, which sees only public objects.
        code: Code of the second factor of both accounts, valid at any time.
        insider: An account that is a programme chair of every venue, which also sees objects that are not public.
    """

    v1: Holdings
    v2: Holdings
    user: str = "reader@example.org"
    password: str = "peercorpus"
    code: str = "271828"
    insider: str = "insider@example.org"

    def copy(self) -> "World":
        """Return the same objects in new dictionaries, so that one world can change without the other."""
        return replace(self, v1=self.v1.copy(), v2=self.v2.copy())


ID_LENGTH = 10
PATH_BYTES = 20


def draw_id(*names: object) -> str:
    """Return an id that looks like OpenReview's: ten characters of A-Z, a-z, 0-9, `-` and `_`, a letter first.

    >>> draw_id(0, "Aurora.cc/2020/Conference", 3) == draw_id(0, "Aurora.cc/2020/Conference", 3)
    True
    """
    text = base64.urlsafe_b64encode(_digest(names, 9)).decode()[:ID_LENGTH]
    # A leading hyphen would read as an option on a command line.
    return text if text[0].isalpha() else "r" + text[1:]


def draw_suffix(*names: object) -> str:
    """Return the four characters in the name of an anonymous reviewer (`Reviewer_aB3d`)."""
    text = base64.b32encode(_digest(names, 5)).decode()
    return text[0] + text[1].lower() + text[2] + text[3].lower()


def draw_path(*names: object) -> str:
    """Return the 40 hexadecimal digits in the path of a file on OpenReview."""
    return _digest(names, PATH_BYTES).hex()


def draw_share(*names: object) -> float:
    """Return a number in [0, 1)."""
    return int.from_bytes(_digest(names, 6), "big") / 2**48


def _digest(names: tuple[object, ...], size: int) -> bytes:
    return blake2b("\x1f".join(map(str, names)).encode(), digest_size=size).digest()

"""OpenReview's objects of both APIs as one type: notes, references (API v1's edits) and edits.

API v1 has flat content and one `invitation`; API v2 has `{"value": …}` per field, `domain`, and a list of `invitations`
that names every invitation that ever edited the note.
"""

import re
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from typing import Annotated, Any, TypeVar

import msgspec

PAPER_GROUP = re.compile(r"/(?:Paper|Submission|paper)\d+(?:/|$)")
"""Where a venue id ends and the group of one paper begins."""

EVERYONE = "everyone"
CHAIRS_EDIT = "/-/Edit"
FILE_PATH = re.compile(r"/(?:pdf|attachment)/\S+")

EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}\b")
"""An address ends in letters: `mAP@0.5` and `Recall@10.5` are none."""
SEVERAL = re.compile(
    r"(?:\\?\{[^{}@]{1,400}\}|(?<!\S)\([^()@]{1,400}\)|(?<!\S)\[[^\[\]@]{1,400}\]|(?<![\w.+\\-])(?:[\w.+-]*\\[_.+-])+[\w.+-]*)"
    r"\s?@\s?[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}\b"
)
"""Several addresses in one, `{ada, bob}@kites.example`, and one that Markdown escapes, `ada\\_b@kites.example`."""
ROUNDS = 8
"""After which a text with still more addresses in one another is no prose: no `@` of it stays."""
PROFILE = re.compile(r"~[^\W\d_]{2,}(?:[_'.-][^\W\d_]+)*_[^\W\d_]{2,}\d+\b")
"""`~Ada_Example1`; in LaTeX a `~` before a symbol with an index is a space."""


def _everyone_may_read(readers: list[str] | None) -> bool:
    return readers is None or EVERYONE in readers


class Header(msgspec.Struct):
    """What finds a note: all that storing it takes; its texts are not decoded.

    Attributes:
        forum: The root note; a root's own id.
        invitation: API v1's one invitation.
        invitations: API v2's list of all that ever edited it, the creator first.
        referent: The note a reference is about.
        tmdate: True modification, epoch milliseconds UTC, set by the server.
    """

    id: str | None = None
    forum: str | None = None
    invitation: str | None = None
    invitations: list[str] | None = None
    domain: str | None = None
    referent: str | None = None
    mdate: int | None = None
    tmdate: int | None = None

    @property
    def created_by(self) -> str:
        """The invitation that created it; empty where it names none.

        A venue's chairs edit through `<venue>/-/Edit`, which creates nothing; where it stands alone, it is named.

        >>> Header(invitations=["V/-/Edit", "V/Submission1/-/Official_Review"]).created_by
        'V/Submission1/-/Official_Review'
        """
        if self.invitation or not self.invitations:
            return self.invitation or ""
        return next((name for name in self.invitations if not name.endswith(CHAIRS_EDIT)), self.invitations[0])

    @property
    def modified_ms(self) -> int | None:
        """When it last changed, by the server's clock where that is known."""
        return self.tmdate or self.mdate


class Note(Header, dict=True):
    """A note, an API v1 reference, or the partial note inside an API v2 edit.

    Attributes:
        original: The author's own note behind a blind one.
        tcdate: True creation, epoch milliseconds UTC, set by the server; `cdate` can be back-dated.
        ddate: When it was deleted.
    """

    replyto: str | None = None
    original: str | None = None
    number: Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)] | None = None
    signatures: list[str] | None = None
    readers: list[str] | None = None
    cdate: int | None = None
    tcdate: int | None = None
    ddate: int | None = None
    license: str | None = None
    content: dict[str, Any] | None = None

    @property
    def is_public(self) -> bool:
        """Whether everyone may read it; true where the record names no readers at all."""
        return _everyone_may_read(self.readers)

    @property
    def created_ms(self) -> int | None:
        """When it came to be, by the server's clock where that is known."""
        return self.tcdate or self.cdate

    @cached_property
    def fields(self) -> dict[str, Any]:
        """The content without API v2's wrapping: what a guest may read; empty answers are left out.

        >>> Note(content={"title": {"value": "A"}, "rating": 6, "pdf": {}}).fields
        {'title': 'A', 'rating': 6}
        """
        found: dict[str, Any] = {}
        for name, answer in (self.content or {}).items():
            value = answer
            if isinstance(answer, dict) and self.invitation is None:
                readers = answer.get("readers")
                value = answer.get("value") if readers is None or EVERYONE in readers else None
            if value is not None:
                found[name] = value
        return found


class Edit(msgspec.Struct):
    """An API v2 edit: a partial note, and when it was applied.

    Attributes:
        tmdate: Later than `tcdate` where the edit was posted again: its content may be later than its date.
    """

    id: str
    invitation: str | None = None
    readers: list[str] | None = None
    tcdate: int | None = None
    tmdate: int | None = None
    ddate: int | None = None
    note: Note = msgspec.field(default_factory=Note)

    @property
    def is_public(self) -> bool:
        """Whether everyone may read it; true where the record names no readers at all."""
        return _everyone_may_read(self.readers)


read_note = msgspec.json.Decoder(Note).decode
read_edit = msgspec.json.Decoder(Edit).decode

StructT = TypeVar("StructT", bound=msgspec.Struct)


def salvage(kind: type[StructT], body: bytes) -> StructT:
    """What can be read of a note or edit: a field that does not hold what OpenReview puts there counts as absent.

    An id that it does not have is empty. For the harvest, which stores whatever arrives; the stages read strictly, and
    set aside what they cannot read.

    >>> salvage(Note, b'{"id": "a", "forum": "f", "number": "seven"}').number is None
    True
    """
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError:
        value = msgspec.json.decode(body)
    found = value if isinstance(value, dict) else {}
    fields = msgspec.structs.fields(kind)
    readable: dict[str, Any] = {field.name: "" for field in fields if field.required}
    for field in fields:
        with suppress(msgspec.ValidationError):
            readable[field.name] = msgspec.convert(found.get(field.name), field.type)
    return msgspec.convert(msgspec.to_builtins(readable), kind)


def venue_of(invitation: str) -> str:
    """The venue an invitation belongs to.

    >>> venue_of("ICLR.cc/2020/Conference/Paper2594/-/Official_Comment")
    'ICLR.cc/2020/Conference'
    >>> venue_of("ICLR.cc/2018/Conference/-/Paper951/Official_Review")
    'ICLR.cc/2018/Conference'
    """
    group = invitation.partition("/-/")[0]
    return PAPER_GROUP.split(group, maxsplit=1)[0]


def tail_of(invitation: str) -> str:
    """What an invitation asks for: all behind `/-/`, less the paper.

    >>> tail_of("ICLR.cc/2018/Conference/-/Paper951/Official_Review")
    'Official_Review'
    >>> tail_of("V/2025/Conference/Submission1/Official_Review2/-/Rebuttal")
    'Rebuttal'
    """
    tail = invitation.rpartition("/-/")[2]
    return PAPER_GROUP.sub("", f"/{tail}").lstrip("/") if "/" in tail else tail


def blot_people(value: Any) -> Any:  # noqa: ANN401 -- whatever JSON holds
    """A value whose texts hold no e-mail addresses and OpenReview profile ids; all else stays as it is.

    For values, never for JSON text: there a line break before an address is a letter.

    >>> blot_people(["Write to ada@example.org or ~Ada_Example1; see Eq.~x_1 and mAP@0.5."])
    ['Write to [e-mail] or [profile]; see Eq.~x_1 and mAP@0.5.']
    >>> blot_people("{ada, bob}@kites.example")
    '[e-mail]'
    """
    if isinstance(value, str):
        return _blotted(value)
    if not isinstance(value, dict | list | tuple) or _names_nobody(value):
        return value
    if isinstance(value, dict):
        return {name: blot_people(inner) for name, inner in value.items()}
    return [blot_people(inner) for inner in value]


def _names_nobody(value: Any) -> bool:  # noqa: ANN401
    """Whether no text in a value has a sign that addresses and profile ids have: most have none."""
    try:
        written = msgspec.json.encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return False
    return b"@" not in written and b"~" not in written


def _blotted(text: str) -> str:
    if "@" in text:
        text = _without_addresses(text)
    return PROFILE.sub("[profile]", text) if "~" in text else text


def _without_addresses(text: str) -> str:
    """A text in which no address is left, nor one that was made by blotting another out (`{a@b.cc}@d.ee`)."""
    for _ in range(ROUNDS):
        blotted = EMAIL.sub("[e-mail]", SEVERAL.sub("[e-mail]", text))
        if blotted == text:
            return text
        text = blotted
    return text.replace("@", "[e-mail]")


def is_path(answer: str) -> bool:
    """Whether an answer is the path of a file on OpenReview, and no words.

    >>> is_path("/attachment/0a1b.zip"), is_path("/pdf and /attachment are paths")
    (True, False)
    """
    return FILE_PATH.fullmatch(answer) is not None


def to_time(epoch_ms: int | None) -> datetime | None:
    """Epoch milliseconds as a time in UTC; None also for a number that stands for no time of our calendar.

    >>> to_time(0), to_time(10**18)
    (datetime.datetime(1970, 1, 1, 0, 0, tzinfo=datetime.timezone.utc), None)
    """
    try:
        return None if epoch_ms is None else datetime.fromtimestamp(epoch_ms / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None

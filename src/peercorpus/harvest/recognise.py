"""OpenReview objects recognised by their shape, wherever a dump nests them."""

from collections.abc import Callable, Mapping

import msgspec

from peercorpus.openreview.jsontext import compact, is_list, is_object, read_items, read_members
from peercorpus.raw import Kind

OF_A_NOTE = ("forum", "invitation", "invitations", "replyto", "signatures", "readers")
OF_AN_INVITATION = ("reply", "edit", "invitees", "duedate", "expdate", "maxReplies", "process")
OF_A_GROUP = ("members", "signatories", "anonids")
WRAPPERS = frozenset({"submissions", "notes", "edits", "references", "revisions", "replies", "groups", "invitations"})
"""What crawlers and the service itself call their lists; an empty one is no record that was left out."""
NOT_ENTERED = frozenset({"content", "note", "original", "originalInvitation"})
"""What stays inside its object: the answers, the partial note of an edit, the masked original of a reference."""

Members = Mapping[str, msgspec.Raw]


class Walk:
    """Goes through one JSON value, and hands over every object it recognises and every record it does not."""

    def __init__(self, take: Callable[[Kind, bytes], None], leave_out: Callable[[str], None]) -> None:
        """Take where objects go (body without nested objects), and where the reasons for the rest go."""
        self._take, self._leave_out = take, leave_out
        self._taken = 0

    def enter_value(self, value: bytes) -> None:
        """Go through one value of a file: a record, a list of records, or whatever wraps them."""
        if is_object(value):
            self._enter_item(msgspec.Raw(value), in_object=False)
        else:
            self._enter(value, in_object=False)

    def _enter(self, value: bytes | msgspec.Raw, *, in_object: bool) -> bool:
        """Go through a value; whether all of it became objects of their own."""
        if is_list(value):
            taken = [self._enter_item(item, in_object=in_object) for item in read_items(value)]
            return bool(taken) and all(taken)
        if not is_object(value):
            return False
        members = read_members(value)
        kind = kind_of(members)
        if kind is None:
            for name, nested in members.items():
                if name not in NOT_ENTERED:
                    self._enter(nested, in_object=in_object)
            return False
        self._take(kind, self._without_nested(value, members))
        self._taken += 1
        return True

    def _enter_item(self, item: msgspec.Raw, *, in_object: bool) -> bool:
        before = self._taken
        is_taken = self._enter(item, in_object=in_object)
        if self._taken == before and not in_object and is_object(item):
            members = read_members(item)
            if WRAPPERS.isdisjoint(members):
                self._leave_out(reason_of(members))
        return is_taken

    def _without_nested(self, value: bytes | msgspec.Raw, members: dict[str, msgspec.Raw]) -> bytes:
        kept = self._kept(members)
        if is_object(kept.get("details")):
            details = read_members(kept["details"])
            fewer = self._kept(details)
            if len(fewer) < len(details):
                kept["details"] = msgspec.Raw(msgspec.json.encode(fewer))
                if not fewer:
                    del kept["details"]
        return compact(value if kept == members else msgspec.json.encode(kept))

    def _kept(self, members: dict[str, msgspec.Raw]) -> dict[str, msgspec.Raw]:
        """The members less the lists that became objects of their own."""
        return {
            name: nested
            for name, nested in members.items()
            if name in NOT_ENTERED or name == "details" or not (self._enter(nested, in_object=True) and is_list(nested))
        }


def kind_of(members: Members) -> Kind | None:
    """What an object is, by its members; None where it is none of OpenReview's.

    >>> kind_of({"id": msgspec.Raw(b'"a"'), "forum": msgspec.Raw(b'"a"'), "content": msgspec.Raw(b"{}")})
    <Kind.NOTE: 'note'>
    """
    if not _is_text(members.get("id")):
        return None
    if is_object(members.get("note")) and not _is_there(members, ("forum", "content")):
        return Kind.EDIT
    if b"/-/" in bytes(members["id"]) and any(name in members for name in OF_AN_INVITATION):
        return Kind.INVITATION
    if "forum" not in members and any(name in members for name in OF_A_GROUP):
        return Kind.GROUP
    if not is_object(members.get("content")):
        return None
    if _is_there(members, ("referent",)):
        return Kind.REFERENCE
    return Kind.NOTE if any(name in members for name in OF_A_NOTE) else None


def reason_of(members: Members) -> str:
    """Why a record is not taken, in words."""
    if "content" in members and not _is_text(members.get("id")):
        return "a record without an id"
    if is_object(members.get("group")) or is_object(members.get("invitation")):
        return "an edit of a group or an invitation"
    return f"no OpenReview object (a record of {', '.join(list(members)[:4]) or 'nothing'})"


def _is_text(value: msgspec.Raw | None) -> bool:
    return value is not None and len(bytes(value)) > 2 and bytes(value)[:1] == b'"'


def _is_there(members: Members, names: tuple[str, ...]) -> bool:
    return any(name in members and bytes(members[name]) != b"null" for name in names)

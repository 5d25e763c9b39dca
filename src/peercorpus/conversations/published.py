"""A conversation that Re² published → the same as a record: what its reviewer and the authors said, in its order.

The instruction to a language model and the paper, which come before the reviewer's first message, are no turns.
"""

from collections.abc import Sequence
from itertools import groupby

import msgspec

from peercorpus.kinds import Reason, Role
from peercorpus.published.datasets import Re2Rebuttal, stated
from peercorpus.raw import RawObject
from peercorpus.records import Conversation, Turn
from peercorpus.tables import Replacement

ROLES = {"assistant": Role.REVIEWER, "user": Role.AUTHOR}
SYSTEM = "system"
LEFT = frozenset({Reason.SUPERSEDED, Reason.RECORD_UNREADABLE, Reason.FORUM_MISSING})
"""Why published conversations are set aside, and no post is."""
UNKNOWN = "unknown"


def read_conversation(found: RawObject) -> Conversation:
    """One record of `REBUTTAL_*.json`.

    Raises:
        msgspec.DecodeError: It does not hold what Re²'s card says it holds, or nothing of a reviewer.
    """
    record = msgspec.json.decode(found.body, type=Re2Rebuttal)
    reviewer = stated(record.reviewer_id) or UNKNOWN
    spoken: list[tuple[Role, str]] = []
    for message in record.messages:
        if message.role not in {SYSTEM, *ROLES}:
            raise msgspec.ValidationError(f"A message has the unknown role '{message.role}'")
        role, text = ROLES.get(message.role), stated(message.content)
        if role is not None and text is not None and (spoken or role is Role.REVIEWER):
            spoken.append((role, text))
    if not spoken:
        raise msgspec.ValidationError("No message is the reviewer's")
    turns = tuple(
        Turn(
            role=role,
            signature=reviewer if role is Role.REVIEWER else "",
            title=None,
            text="\n\n".join(text for _, text in messages),
            created_at=None,
            post_ids=(),
        )
        for role, messages in groupby(spoken, key=lambda message: message[0])
    )
    return Conversation(f"{found.forum_id}/{reviewer}", found.forum_id, found.venue_id, reviewer, turns, ())


def read_published(
    records: Sequence[RawObject], *, has_paper: bool, is_held: bool, out: Replacement
) -> dict[str, Conversation]:
    """The published conversations of one forum by reviewer; the records that are none are set aside.

    Args:
        records: Of one forum.
        has_paper: Whether a paper was made of any record of the forum.
        is_held: Whether OpenReview's own note of the paper is held: then no record counts.
        out: Where a record that is set aside is written.
    """
    found: dict[str, Conversation] = {}
    for record in records:
        reason, detail = Reason.SUPERSEDED, "OpenReview's own notes of the paper are held."
        if not is_held and not has_paper:
            reason, detail = Reason.FORUM_MISSING, "No record of the paper itself was imported."
        elif not is_held:
            try:
                conversation = read_conversation(record)
            except msgspec.DecodeError as error:
                reason, detail = Reason.RECORD_UNREADABLE, str(error)
            else:
                if found.setdefault(conversation.reviewer, conversation) is conversation:
                    continue
                detail = f"There is another record of the conversation with {conversation.reviewer}."
        out.set_aside(record.object_id, record.forum_id, reason, detail)
    return found

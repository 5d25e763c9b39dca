"""One reply → `Post`: what it is, who speaks, and its words."""

from collections.abc import Mapping
from typing import Any

from peercorpus.forms import vocabulary
from peercorpus.forms.reviews import as_json
from peercorpus.kinds import PostKind, Role
from peercorpus.openreview.objects import Note, to_time
from peercorpus.records import Post


def is_prose(name: str, answer: object, kind: PostKind) -> bool:
    """Whether a field holds words to read, not a title, a verdict or a box to tick."""
    if not isinstance(answer, str) or name.lower() in vocabulary.NO_PROSE:
        return False
    if kind is PostKind.REVIEW:
        return False
    return name.lower() not in vocabulary.VERDICTS


def join_prose(passages: Mapping[str, str]) -> str:
    r"""One passage as it is; several each under its field's name, as a Markdown heading.

    >>> join_prose({"comment": "Thank you."}), join_prose({"pros": "Clear.", "cons": "Short."})
    ('Thank you.', '### pros\n\nClear.\n\n### cons\n\nShort.')
    """
    if len(passages) <= 1:
        return "".join(passages.values())
    return "\n\n".join(f"### {name}\n\n{text}" for name, text in passages.items())


def read_post(
    note: Note, venue_id: str, kind: PostKind, speaker: tuple[Role, str], review_prose: Mapping[str, str] | None
) -> Post:
    """One reply.

    Args:
        note: The note as it is now.
        venue_id: Its venue.
        kind: What it is.
        speaker: The role and the name within the paper.
        review_prose: For a review, its sections by field, as the review was read; None for anything else.
    """
    fields = note.fields
    prose: Mapping[str, str] = review_prose or {
        name: answer for name, answer in fields.items() if is_prose(name, answer, kind)
    }
    title = fields.get("title")
    rest: dict[str, Any] = {name: answer for name, answer in fields.items() if name not in prose}
    if isinstance(title, str):
        rest.pop("title", None)
    role, signature = speaker
    return Post(
        post_id=note.id or "",
        forum_id=note.forum or "",
        venue_id=venue_id,
        reply_to=None if note.replyto in {None, note.forum} else note.replyto,
        kind=kind,
        role=role,
        invitation=note.created_by,
        signature=signature,
        created_at=to_time(note.created_ms),
        modified_at=to_time(note.modified_ms),
        title=title if isinstance(title, str) else None,
        text=join_prose(prose),
        readers_public=note.is_public,
        deleted=note.ddate is not None,
        extra=as_json(rest),
    )

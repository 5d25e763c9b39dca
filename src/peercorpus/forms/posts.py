"""One reply → `Post`: what it is, who speaks, and its words."""

from collections.abc import Mapping
from typing import Any

from peercorpus.forms import vocabulary
from peercorpus.forms.reviews import as_json
from peercorpus.kinds import PostKind, Role
from peercorpus.openreview.objects import Note, is_path, to_time
from peercorpus.parts import join_prose
from peercorpus.records import Post, Review


def is_prose(name: str, answer: object) -> bool:
    """Whether a field of what is no review holds words to read, not a title, a verdict or a box to tick."""
    if not isinstance(answer, str) or name.lower() in vocabulary.NO_PROSE or is_path(answer):
        return False
    return name.lower() not in vocabulary.VERDICTS


def read_post(
    note: Note, venue_id: str, kind: PostKind, speaker: tuple[Role, str], review: Review | None = None
) -> Post:
    """One reply.

    Args:
        note: The note as it is now.
        venue_id: Its venue.
        kind: What it is.
        speaker: The role and the name within the paper.
        review: The same note as it was read, if it is a review.
    """
    fields = note.fields
    if review is None:
        prose = {name: answer for name, answer in fields.items() if is_prose(name, answer)}
    else:
        prose = {section.field: section.text for section in review.sections}
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
        initial_text=_initial_text(review, prose) if review else None,
        holds_update=bool(review and review.updated_fields),
    )


def _initial_text(review: Review, prose: Mapping[str, str]) -> str | None:
    """The whole text as first given; None where nothing of it is known to have changed."""
    first = {section.field: section.text for section in review.initial_sections if section.field in prose}
    return join_prose({**prose, **first}) if first else None

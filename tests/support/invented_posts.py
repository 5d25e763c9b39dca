"""Invented posts of one forum."""

from datetime import UTC, datetime, timedelta
from typing import Any

from peercorpus.records.enums import PostKind, Role
from peercorpus.records.reviews import Post

START = datetime(2024, 11, 1, tzinfo=UTC)
REVIEWER = (Role.REVIEWER, "Reviewer_A1bC")
OTHER = (Role.REVIEWER, "Reviewer_B2cD")
AUTHORS = (Role.AUTHOR, "Authors")
CHAIR = (Role.AREA_CHAIR, "Area_Chair_X")
PUBLIC = (Role.PUBLIC, "public_1")


def post(post_id: str, day: float, speaker: tuple[Role, str], reply_to: str | None = None, **more: Any) -> Post:
    """A public comment of a given day; a review if it is a reviewer's answer to the paper itself."""
    kind = PostKind.REVIEW if speaker[0] is Role.REVIEWER and reply_to is None else PostKind.COMMENT
    given: dict[str, Any] = {
        "post_id": post_id,
        "forum_id": "f",
        "venue_id": "V",
        "reply_to": reply_to,
        "kind": kind,
        "role": speaker[0],
        "invitation": "",
        "signature": speaker[1],
        "created_at": START + timedelta(days=day),
        "modified_at": None,
        "title": None,
        "text": post_id,
        "readers_public": True,
        "deleted": False,
        "extra": "{}",
    }
    return Post(**given | more)

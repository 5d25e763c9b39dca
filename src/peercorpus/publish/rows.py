"""One forum → its rows in the two published configurations: what each column holds, and what is withheld."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from peercorpus.kinds import PUBLISHABLE_GRADES, Grade, Role
from peercorpus.openreview.objects import blot_people
from peercorpus.publish.forums import SPOKEN, Forum
from peercorpus.publish.reviews import reviews_json
from peercorpus.publish.texts import Texts, is_publishable
from peercorpus.records import Conversation, Post

# The twenty columns of Samarth0710/reviewbench in its own order, as its card has them (read 2026-11-21).
REVIEWBENCH = pa.schema(
    [
        ("forum_id", pa.string()),
        ("conference", pa.string()),
        ("year", pa.int32()),
        ("track", pa.string()),
        ("venue_id", pa.string()),
        ("paper_number", pa.int32()),
        ("title", pa.string()),
        ("abstract", pa.string()),
        ("authors", pa.list_(pa.string())),
        ("keywords", pa.list_(pa.string())),
        ("tldr", pa.string()),
        ("primary_area", pa.string()),
        ("venue", pa.string()),
        ("decision", pa.string()),
        ("decision_comment", pa.string()),
        ("author_rebuttal", pa.string()),
        ("num_reviews", pa.int32()),
        ("reviews_json", pa.string()),
        ("markdown", pa.string()),
        ("markdown_chars", pa.int64()),
    ]
)
PAPERS = REVIEWBENCH.append(pa.field("licence", pa.string()))

SCORE_CHANGE = pa.struct(
    [
        ("aspect", pa.string()),
        ("field", pa.string()),
        ("before", pa.float64()),
        ("after", pa.float64()),
        ("changed_at", pa.timestamp("us", tz="UTC")),
        ("source", pa.string()),
    ]
)

TURN = pa.struct(
    [
        ("role", pa.string()),
        ("signature", pa.string()),
        ("title", pa.string()),
        ("text", pa.string()),
        ("created_at", pa.timestamp("us", tz="UTC")),
        ("post_ids", pa.list_(pa.string())),
        ("holds_update", pa.bool_()),
        ("titles", pa.list_(pa.string())),
        ("orphan_ids", pa.list_(pa.string())),
        ("score_changes", pa.list_(SCORE_CHANGE)),
        ("final_justification", pa.string()),
        ("title_model", pa.string()),
    ]
)

RESPONSE = pa.struct(
    [
        ("post_id", pa.string()),
        ("title", pa.string()),
        ("text", pa.string()),
        ("created_at", pa.timestamp("us", tz="UTC")),
        ("before_turn", pa.int32()),
        ("concerning", pa.list_(pa.string())),
    ]
)

CONVERSATIONS = pa.schema(
    [
        ("conversation_id", pa.string()),
        ("forum_id", pa.string()),
        ("venue_id", pa.string()),
        ("conference", pa.string()),
        ("year", pa.int32()),
        ("reviewer", pa.string()),
        ("turns", pa.list_(TURN)),
        ("context", pa.list_(RESPONSE)),
        ("undated_changes", pa.list_(SCORE_CHANGE)),
    ]
)


@dataclass(frozen=True, slots=True)
class ForumRows:
    """What is published of one forum.

    Attributes:
        grade: The grade of the version whose text is published; None where there is no text.
        withheld: Reviews, conversations and decisions not published because not everyone may read them.
    """

    paper: dict[str, Any]
    conversations: list[dict[str, Any]]
    grade: Grade | None
    withheld: Counter[str]


def is_public(conversation: Conversation, public: set[str]) -> bool:
    """Whether everyone may read every post that a conversation is made of."""
    return all(public.issuperset(turn.post_ids) for turn in conversation.turns)


def _authors_words(conversations: Sequence[Conversation]) -> dict[str, str]:
    """What the authors answered, by reviewer."""
    return {
        conversation.reviewer: "\n\n".join(turn.text for turn in conversation.turns if turn.role is Role.AUTHOR)
        for conversation in conversations
    }


def _global_response(posts: Sequence[Post], conversations: Sequence[Conversation], public: set[str]) -> str:
    texts = {post.post_id: post.text for post in posts if post.post_id in public}
    ids = dict.fromkeys(response.post_id for talk in conversations for response in talk.context)
    return "\n\n".join(texts[post_id] for post_id in ids if post_id in texts)


def find_markdown(forum: Forum, texts: Texts) -> tuple[str, Grade | None]:
    """The text of the version the reviewers read, of the best grade that has one; empty and None where none has."""
    found = [version for version in forum.versions if is_publishable(version) and version.sha256 in texts]
    for grade in PUBLISHABLE_GRADES:
        for version in found:
            if version.grade is grade and version.sha256 is not None:
                return texts.read(version.sha256), grade
    return "", None


def _decision(forum: Forum, public: set[str]) -> tuple[str | None, str | None, bool]:
    """The decision and its comment, and whether they were withheld as they stand only in posts that are not public."""
    decision, comment = forum.paper.decision, forum.paper.decision_comment
    spoken = [post for post in forum.posts if post.kind in SPOKEN]
    if spoken and public.isdisjoint(post.post_id for post in spoken):
        return None, None, decision is not None or comment is not None
    holders = {post.post_id for post in spoken if comment and comment in post.text}
    if holders and public.isdisjoint(holders):
        return decision, None, True
    return decision, comment, False


def _context(conversation: Conversation, forum: Forum, public: set[str]) -> list[dict[str, Any]]:
    posts = {post.post_id: post for post in forum.posts if post.post_id in public}
    return [
        asdict(response) | {name: getattr(posts[response.post_id], name) for name in ("title", "text", "created_at")}
        for response in conversation.context
        if response.post_id in posts
    ]


def _conversation_row(conversation: Conversation, forum: Forum, public: set[str]) -> dict[str, Any]:
    row = asdict(conversation) | {"conference": forum.paper.conference, "year": forum.paper.year}
    return row | {"context": _context(conversation, forum, public)}


def build_rows(forum: Forum, texts: Texts) -> ForumRows:
    """The rows of one forum; nothing in them comes from a post that is deleted or that not everyone may read."""
    paper, public = forum.paper, forum.public_post_ids
    reviews = [review for review in forum.reviews if review.readers_public and not review.deleted]
    conversations = [talk for talk in forum.conversations if is_public(talk, public)]
    decision, comment, is_decision_withheld = _decision(forum, public)
    markdown, grade = find_markdown(forum, texts)
    withheld = Counter(
        reviews=len(forum.reviews) - len(reviews),
        conversations=len(forum.conversations) - len(conversations),
        decisions=int(is_decision_withheld),
    )
    row = {
        "forum_id": paper.forum_id,
        "conference": paper.conference,
        "year": paper.year,
        "track": paper.track,
        "venue_id": paper.venue_id,
        "paper_number": paper.number,
        "title": paper.title,
        "abstract": paper.abstract,
        "authors": paper.authors,
        "keywords": paper.keywords,
        "tldr": paper.tldr,
        "primary_area": paper.primary_area,
        "venue": paper.venue,
        "decision": decision,
        "decision_comment": comment,
        "author_rebuttal": _global_response(forum.posts, conversations, public),
        "num_reviews": len(reviews),
        "markdown": markdown,
        "licence": paper.licence,
    }
    talks = [_conversation_row(talk, forum, public) for talk in conversations]
    blotted = blot_people(row)
    blotted["markdown_chars"] = len(blotted["markdown"])
    # It is blotted before it is encoded.
    blotted["reviews_json"] = reviews_json(reviews, _authors_words(conversations))
    return ForumRows(blotted, blot_people(talks), grade, withheld)

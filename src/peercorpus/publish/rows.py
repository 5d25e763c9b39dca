"""One forum → its rows in the tables that are published by conference, and what is withheld of it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from peercorpus.kinds import PUBLISHABLE_GRADES, Grade, Role
from peercorpus.openreview.objects import blot_people
from peercorpus.publish.forums import Forum
from peercorpus.publish.record_rows import (
    Row,
    as_row,
    blotted_json,
    post_rows,
    review_row,
    score_rows,
    version_row,
    without_authors,
)
from peercorpus.publish.reviews import reviews_json
from peercorpus.publish.texts import Texts, is_publishable
from peercorpus.records import Conversation, PaperVersion, Post, Review


@dataclass(frozen=True, slots=True)
class ForumRows:
    """What is published of one forum.

    Attributes:
        paper: Of `papers` and of `papers_full`, which has more columns.
        grade: The grade of the version whose text is published; None where there is no text.
        withheld: Reviews, conversations and decisions not published because not everyone may read them.
    """

    paper: Row
    reviews: list[Row]
    conversations: list[Row]
    versions: list[Row]
    scores: list[Row]
    grade: Grade | None
    withheld: Counter[str]

    @property
    def by_config(self) -> dict[str, list[Row]]:
        """The rows of each configuration whose splits are conferences."""
        return {
            "papers": [self.paper],
            "papers_full": [self.paper],
            "reviews": self.reviews,
            "conversations": self.conversations,
            "versions": self.versions,
            "scores": self.scores,
        }


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


def find_version(forum: Forum, texts: Texts) -> PaperVersion | None:
    """The version the reviewers read, of the best grade of which the text is held; None where none is."""
    found = [version for version in forum.versions if is_publishable(version) and version.sha256 in texts]
    ranked = sorted(found, key=lambda version: PUBLISHABLE_GRADES.index(version.grade))
    return ranked[0] if ranked else None


def find_markdown(forum: Forum, texts: Texts) -> tuple[str, Grade | None]:
    """The text of the version the reviewers read; empty and None where it is not held."""
    version = find_version(forum, texts)
    return ("", None) if version is None else (texts.read(str(version.sha256)), version.grade)


def _context(conversation: Conversation, forum: Forum, public: set[str]) -> list[Row]:
    posts = {post.post_id: post for post in forum.posts if post.post_id in public}
    return [
        as_row(response) | {name: getattr(posts[response.post_id], name) for name in ("title", "text", "created_at")}
        for response in conversation.context
        if response.post_id in posts
    ]


def _conversation_row(conversation: Conversation, forum: Forum, public: set[str]) -> Row:
    row = as_row(conversation) | {"conference": forum.paper.conference, "year": forum.paper.year}
    return row | {"context": _context(conversation, forum, public)}


def _paper_row(forum: Forum, public: set[str], conversations: Sequence[Conversation]) -> Row:
    """What the paper's own record says, without what is withheld of it."""
    paper = forum.paper
    row: Row = {
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
        "decision": paper.decision,
        "decision_comment": paper.decision_comment,
        "author_rebuttal": _global_response(forum.posts, conversations, public),
        "licence": paper.licence,
        "status": paper.status.value,
        "decided_at": paper.decided_at,
        "created_at": paper.created_at,
        "modified_at": paper.modified_at,
        "extra": blotted_json(paper.extra),
    }
    return row | dict.fromkeys(forum.withheld)


def _text_columns(forum: Forum, texts: Texts) -> tuple[Row, Grade | None]:
    version = find_version(forum, texts)
    if version is None:
        return {"markdown": "", "grade": None, "text_sha256": None, "text_engine": None}, None
    sha256, grade = str(version.sha256), version.grade
    known = {"grade": grade, "text_sha256": sha256, "text_engine": texts.engine(sha256)}
    return {"markdown": texts.read(sha256)} | known, grade


def _record_columns(forum: Forum, reviews: Sequence[Review], words: Mapping[str, str], public: set[str]) -> Row:
    """The reviews, as JSON and typed, and every other post; blotted here, before they are encoded."""
    return {
        "num_reviews": len(reviews),
        "reviews_json": reviews_json(reviews, words),
        "reviews": [review_row(review, words.get(review.reviewer, "")) for review in reviews],
        "posts": post_rows(
            [post for post in forum.posts if post.post_id in public], {review.review_id for review in reviews}
        ),
    }


def _unnamed(forum: Forum) -> Forum:
    """A forum whose fields name no author."""
    authors = forum.paper.authors
    paper = replace(forum.paper, authors=(), extra=without_authors(forum.paper.extra, authors))
    return replace(
        forum, paper=paper, posts=[replace(post, extra=without_authors(post.extra, authors)) for post in forum.posts]
    )


def build_rows(forum: Forum, texts: Texts, *, with_authors: bool = True) -> ForumRows:
    """The rows of one forum; nothing in them comes from a post that is deleted or that not everyone may read.

    Args:
        forum: Without what was taken down.
        texts: Of its venue.
        with_authors: Whether authors are named.
    """
    forum = forum if with_authors else _unnamed(forum)
    public = forum.public_post_ids
    reviews = [review for review in forum.reviews if review.readers_public and not review.deleted]
    conversations = [talk for talk in forum.conversations if is_public(talk, public)]
    read, grade = _text_columns(forum, texts)
    withheld = Counter(
        reviews=len(forum.reviews) - len(reviews),
        conversations=len(forum.conversations) - len(conversations),
        decisions=int(bool(forum.withheld)),
    )
    row: Row = blot_people(_paper_row(forum, public, conversations) | read)
    row["markdown_chars"] = len(row["markdown"])
    row |= _record_columns(forum, reviews, _authors_words(conversations), public)
    place = {name: row[name] for name in ("forum_id", "venue_id", "conference", "year")}
    return ForumRows(
        row,
        [review | place for review in row["reviews"]],
        blot_people([_conversation_row(talk, forum, public) for talk in conversations]),
        [version_row(version, place) for version in forum.versions],
        [score for review in reviews for score in score_rows(review, place)],
        grade,
        withheld,
    )

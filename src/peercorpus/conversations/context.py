"""Split the authors' responses to several reviewers into passages, and attach them to conversations as context."""

import re
from collections.abc import Iterator, Mapping, Sequence

from peercorpus.discussion.addressees import ReviewerNames
from peercorpus.records.enums import Addressee
from peercorpus.records.reviews import ContextPost, Post

HEADINGS = (
    *(re.compile(rf"#{{{level}}}\s") for level in range(1, 7)),
    re.compile(r"(?:\*\*|__)[^*_]+(?:\*\*|__)\W*$"),
    re.compile(r"[^.!?]{0,80}:\s*$"),
)
"""Patterns of headings by level: Markdown, a line in bold, a short line that ends with a colon."""
POINT = re.compile(r"\s*(?:[-*\u2022]|\(?\d{1,2}[.)])\s+")


def _find_level(paragraph: str) -> int | None:
    return next((level for level, heading in enumerate(HEADINGS) if heading.match(paragraph)), None)


def _split_paragraphs(text: str) -> Iterator[str]:
    for block in re.split(r"\n\s*\n", text):
        lines: list[str] = []
        for line in block.split("\n"):
            if lines and (POINT.match(line) or _find_level(line) is not None):
                yield "\n".join(lines)
                lines = []
            lines.append(line)
        yield "\n".join(lines)


def addressed_passages(text: str, names: ReviewerNames) -> list[tuple[str, set[str]]]:
    """Return the passages of a text, verbatim, each with the reviewers named by it or a heading above it.

    A heading applies up to the next heading of the same or a higher level, or the next that names a reviewer.
    """
    passages: list[tuple[str, set[str]]] = []
    headed: set[str] = set()
    depth = 0
    for paragraph in _split_paragraphs(text):
        named = names.named(paragraph)
        level = _find_level(paragraph)
        if level is not None and (named or level <= depth):
            headed = named
            depth = level
        if paragraph.strip():
            passages.append((paragraph, named | headed))
    return passages


def is_beside(post: Post, reviewer: str) -> bool:
    """Return whether a response to several or all reviewers is context of the conversation with one reviewer.

    A response with unknown addressees is context of every conversation.
    """
    return not post.addressed_to or Addressee.EVERYONE in post.addressed_to or reviewer in post.addressed_to


def attach(
    responses: Sequence[Post],
    reviewer: str,
    passages: Mapping[str, list[tuple[str, set[str]]]],
    begun: Mapping[str, int | None],
) -> tuple[ContextPost, ...]:
    """Return the responses to several or all reviewers as context of one conversation; `begun` counts turns at each
    response.
    """
    return tuple(
        ContextPost(
            post_id=post.post_id,
            before_turn=begun[post.post_id],
            concerning=tuple(
                passage
                for passage, named in passages[post.post_id]
                if reviewer in named or (not named and reviewer in post.addressed_to)
            ),
            posted_after_decision=post.posted_after_decision,
        )
        for post in responses
    )

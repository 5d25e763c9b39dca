"""Responses to all reviewers, as they stand beside one conversation: from which turn on, and what concerns it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from peercorpus.conversations.addressee import Names
from peercorpus.parts import in_reading_order
from peercorpus.records import ContextPost, Post, Turn

HEADINGS = (
    *(re.compile(rf"#{{{level}}}\s") for level in range(1, 7)),
    re.compile(r"(?:\*\*|__)[^*_]+(?:\*\*|__)\W*$"),
    re.compile(r"[^.!?]{0,80}:\s*$"),
)
"""How a passage begins that heads those behind it, by level: Markdown, a line in bold, a short one with a colon."""
POINT = re.compile(r"\s*(?:[-*\u2022]|\(?\d{1,2}[.)])\s+")


def _level(paragraph: str) -> int | None:
    """The level of a heading; None for any other passage."""
    return next((level for level, heading in enumerate(HEADINGS) if heading.match(paragraph)), None)


def _paragraphs(text: str) -> Iterator[str]:
    """Paragraphs, and each point of a list as its own."""
    for block in re.split(r"\n\s*\n", text):
        here: list[str] = []
        for line in block.split("\n"):
            if here and (POINT.match(line) or _level(line) is not None):
                yield "\n".join(here)
                here = []
            here.append(line)
        yield "\n".join(here)


def passages(text: str, names: Names) -> list[tuple[str, set[str]]]:
    """The passages of a text, verbatim, each with the reviewers whom it, or a heading above it, names.

    What a heading names holds up to the next one of its level or a higher one, or one that names somebody itself.
    """
    found: list[tuple[str, set[str]]] = []
    headed: set[str] = set()
    depth = 0
    for paragraph in _paragraphs(text):
        named, level = names.named(paragraph), _level(paragraph)
        if level is not None and (named or level <= depth):
            headed, depth = named, level
        if paragraph.strip():
            found.append((paragraph, named | headed))
    return found


def attach(
    responses: Sequence[Post], turns: Sequence[Turn], reviewer: str, told: Mapping[str, list[tuple[str, set[str]]]]
) -> tuple[ContextPost, ...]:
    """The responses to all, as one conversation has them.

    Args:
        responses: In time order.
        turns: Of the conversation.
        reviewer: Whose it is.
        told: The passages of each response, by its id.
    """
    return tuple(
        ContextPost(
            post_id=post.post_id,
            before_turn=_begun(turns, post.created_at),
            concerning=tuple(passage for passage, named in told[post.post_id] if reviewer in named),
        )
        for post in in_reading_order(responses)
    )


def _begun(turns: Sequence[Turn], at: datetime | None) -> int | None:
    """How many turns had begun at a time; one without a time comes last. None where the time is not known."""
    return None if at is None else sum(turn.created_at is not None and turn.created_at <= at for turn in turns)

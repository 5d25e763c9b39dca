"""Dialogues in the formats of those who train on them: one row each, nothing but names and nesting differs.

As TRL 1.16 (`messages`), LLaMA-Factory 0.9.5 (`formatting: sharegpt`) and Axolotl 0.19 (`type: chat_template`, with
`message_field_training: train`) were described in autumn 2026, and as Re² names its fields (`REBUTTAL_*.json`); none of
the trainers was run.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from peercorpus.dialogues import Message, Speaker
from peercorpus.kinds import Aspect, Phase, Role
from peercorpus.openreview.objects import blot_people
from peercorpus.records import Conversation, Paper, Review


class Rendering(StrEnum):
    """Whose format."""

    MESSAGES = "messages"
    """OpenAI's `messages`, as TRL takes them."""
    SHAREGPT = "sharegpt"
    """`conversations` with `from` and `value`, as LLaMA-Factory takes them."""
    AXOLOTL = "axolotl"
    """`messages` that say which of them to train on."""
    RE2 = "re2"
    """The field names of Re²."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One dialogue and what it is of.

    Attributes:
        reviews: Of the conversation's reviewer.
        assistant: The side that the model takes.
        grade: Of the version whose text opens it; None where no text does.
    """

    conversation: Conversation
    paper: Paper
    reviews: Sequence[Review]
    messages: Sequence[Message]
    assistant: Role
    grade: str | None


def _messages(sample: Sample) -> list[dict[str, str]]:
    return [{"role": message.speaker.value, "content": message.text} for message in sample.messages]


def _as_messages(sample: Sample) -> dict[str, Any]:
    return {"messages": _messages(sample)}


def _as_sharegpt(sample: Sample) -> dict[str, Any]:
    names = {Speaker.USER: "human", Speaker.ASSISTANT: "gpt"}
    said = [message for message in sample.messages if message.speaker is not Speaker.SYSTEM]
    system = [message.text for message in sample.messages if message.speaker is Speaker.SYSTEM]
    spoken = [{"from": names[message.speaker], "value": message.text} for message in said]
    return {"conversations": spoken, "system": "".join(system)}


def _as_axolotl(sample: Sample) -> dict[str, Any]:
    trained = (message.speaker is Speaker.ASSISTANT for message in sample.messages)
    return {"messages": [one | {"train": train} for one, train in zip(_messages(sample), trained, strict=True)]}


def _scores(reviews: Sequence[Review], phase: Phase) -> dict[str, Any] | None:
    """The reviewer's scores of one time, in Re²'s three fields; None where none is known."""
    found: dict[str, str] = {}
    aspects: list[str] = []
    for score in (score for review in reviews[:1] for score in review.scores if score.phase is phase):
        if score.aspect in {Aspect.RECOMMENDATION, Aspect.CONFIDENCE}:
            found.setdefault("rating" if score.aspect is Aspect.RECOMMENDATION else "confidence", score.label)
        else:
            aspects.append(f"{score.field}: {score.label}")
    if not found and not aspects:
        return None
    return {"rating": None, "confidence": None, "aspect_score": "\n".join(aspects)} | found


def _as_re2(sample: Sample) -> dict[str, Any]:
    paper = sample.paper
    return {
        "paper_id": paper.forum_id,
        "conference_year_track": " ".join(map(str, filter(None, (paper.conference, paper.year, paper.track)))),
        "reviewer_id": sample.conversation.reviewer,
        "initial_score": _scores(sample.reviews, Phase.INITIAL),
        "final_score": _scores(sample.reviews, Phase.FINAL),
        "messages": _messages(sample),
    }


RENDERINGS: dict[Rendering, Callable[[Sample], dict[str, Any]]] = {
    Rendering.MESSAGES: _as_messages,
    Rendering.SHAREGPT: _as_sharegpt,
    Rendering.AXOLOTL: _as_axolotl,
    Rendering.RE2: _as_re2,
}


def render(sample: Sample, rendering: Rendering) -> dict[str, Any]:
    """One row: the dialogue in a format, and under names that no trainer reads what it is of."""
    conversation = sample.conversation
    row = RENDERINGS[rendering](sample) | {
        "conversation_id": conversation.conversation_id,
        "forum_id": conversation.forum_id,
        "venue_id": conversation.venue_id,
        "reviewer": conversation.reviewer,
        "assistant": sample.assistant.value,
        "paper_grade": sample.grade,
        "holds_update": [
            any(conversation.turns[turn].holds_update for turn in message.turns) for message in sample.messages
        ],
        "post_ids": [
            [post_id for turn in message.turns for post_id in conversation.turns[turn].post_ids]
            for message in sample.messages
        ],
    }
    blotted: dict[str, Any] = blot_people(row)
    return blotted

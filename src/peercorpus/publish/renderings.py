"""Dialogues in the formats of those who train on them: one row each, nothing but names and nesting differs.

As TRL 1.16 (`messages`), LLaMA-Factory 0.9.5 (`formatting: sharegpt`) and Axolotl 0.19 (`type: chat_template`, with
`message_field_training: train`) take them, and as Re² names its fields (`REBUTTAL_*.json`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from peercorpus.dialogues import Message, Speaker
from peercorpus.kinds import Aspect, Phase, ScoreSource
from peercorpus.records import Score


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
        about: What it is of, under names that no trainer reads.
        re2: What it is of in Re²'s fields, which only its rendering has.
    """

    messages: Sequence[Message]
    about: Mapping[str, Any]
    re2: Mapping[str, Any]


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


def re2_place(conference: str | None, year: int | None, track: str | None) -> str:
    """Where a paper was submitted, as Re² writes it.

    >>> re2_place("iclr", 2020, "main")
    'iclr 2020 main'
    """
    return " ".join(map(str, filter(None, (conference, year, track))))


def answer(score: Score) -> str:
    """What a reviewer answered, on one line: verbatim; of a score read in running text the number alone.

    >>> told = Score(Aspect.RECOMMENDATION, "rating", 5, 1, 10, "from 5 to 6", Phase.INITIAL, ScoreSource.TEXT)
    >>> answer(told)
    '5'
    """
    is_told = score.source is ScoreSource.TEXT and score.value is not None
    return f"{score.value:g}" if is_told else " ".join(score.label.split())


def re2_scores(scores: Iterable[Score], phase: Phase) -> dict[str, Any] | None:
    """A reviewer's scores of one time, in Re²'s three fields; None where none is known."""
    found: dict[str, str] = {}
    aspects: list[str] = []
    for score in (score for score in scores if score.phase is phase):
        if score.aspect in {Aspect.RECOMMENDATION, Aspect.CONFIDENCE}:
            found.setdefault("rating" if score.aspect is Aspect.RECOMMENDATION else "confidence", answer(score))
        else:
            aspects.append(f"{score.field}: {answer(score)}")
    if not found and not aspects:
        return None
    return {"rating": None, "confidence": None, "aspect_score": "\n".join(aspects)} | found


def _as_re2(sample: Sample) -> dict[str, Any]:
    return {**sample.re2, "messages": _messages(sample)}


RENDERINGS: dict[Rendering, Callable[[Sample], dict[str, Any]]] = {
    Rendering.MESSAGES: _as_messages,
    Rendering.SHAREGPT: _as_sharegpt,
    Rendering.AXOLOTL: _as_axolotl,
    Rendering.RE2: _as_re2,
}


def render(sample: Sample, rendering: Rendering) -> dict[str, Any]:
    """One row: the dialogue in a format, and what it is of."""
    return {**RENDERINGS[rendering](sample), **sample.about}

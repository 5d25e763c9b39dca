"""A case as a sample of `inspect_ai`: its messages, what is right, and all that a scorer needs, as JSON."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

from peercorpus.benchmark.asking import right_answer
from peercorpus.benchmark.cases import AskedScore, BenchTask, Case, CasePaper, Said
from peercorpus.benchmark.cutting import Shown
from peercorpus.dialogues import Speaker
from peercorpus.kinds import Grade

ANSWER = "answer"
"""The name in a sample's metadata under which a baseline's answer stands."""
MESSAGES = {
    Speaker.SYSTEM: ChatMessageSystem,
    Speaker.USER: ChatMessageUser,
    Speaker.ASSISTANT: ChatMessageAssistant,
}


def chat(said: Sequence[Said]) -> list[ChatMessage]:
    """Messages as inspect_ai has them."""
    return [MESSAGES[one.speaker](content=one.text) for one in said]


def _references(case: Case) -> list[str]:
    """What people wrote; of a conversation that the model leads, all that the reviewer said, as one text."""
    said = [one.text for one in case.following if one.speaker is Speaker.ASSISTANT]
    return list(case.references) or (["\n\n".join(said)] if said else [])


def metadata_of(case: Case, shown: Shown) -> dict[str, Any]:
    """What a sample carries besides its messages.

    `asked` are the fields of the form with their scales and the mean that the reviewers gave; `shown` says how much of
    the paper the model saw.
    """
    paper = case.paper
    return {
        "task": case.task.value,
        "forum_id": paper.forum_id,
        "venue_id": paper.venue_id,
        "conference": paper.conference,
        "year": paper.year,
        "grade": paper.grade.value,
        "title": paper.title,
        "abstract": paper.abstract,
        "shown": {"tokens": shown.tokens, "left_out": shown.left_out},
        "accepted": case.accepted,
        "asked": [msgspec.to_builtins(one) for one in case.scores],
        "references": _references(case),
        "following": [msgspec.to_builtins(one) for one in case.following],
    }


def case_of(case_id: str, metadata: dict[str, Any]) -> Case:
    """A case as far as a sample still tells of it: the paper without its words, and nothing of what is right."""
    place = metadata["forum_id"], metadata["venue_id"], metadata["conference"], metadata["year"]
    paper = CasePaper(*place, title=None, abstract=None, grade=Grade(metadata["grade"]), markdown="")
    return Case(
        case_id,
        BenchTask(metadata["task"]),
        paper,
        scores=tuple(replace(one, values=()) for one in read_asked(metadata)),
    )


def read_asked(metadata: dict[str, Any]) -> list[AskedScore]:
    """The fields of the form that a sample asks for."""
    return msgspec.convert(metadata["asked"], list[AskedScore])


def read_following(metadata: dict[str, Any]) -> list[Said]:
    """What followed in a conversation that the model leads."""
    return msgspec.convert(metadata["following"], list[Said])


def sample_of(case: Case, said: Sequence[Said], shown: Shown, answer: str | None = None) -> Sample:
    """A case as a sample.

    Args:
        case: The question.
        said: What the model is told and asked.
        shown: The paper as the model sees it.
        answer: Of a baseline; None where a model answers.
    """
    references = _references(case)
    target = references if case.task.is_written else right_answer(case)
    metadata = metadata_of(case, shown) | ({} if answer is None else {ANSWER: answer})
    return Sample(input=chat(said), target=target, id=case.case_id, metadata=metadata)

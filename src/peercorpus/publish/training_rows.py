"""A row of a task configuration → what a model is trained on: one sample a review, or one a conversation."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from peercorpus import prompts
from peercorpus.dialogues import Message, Speaker, finished, plain
from peercorpus.kinds import Phase, Role
from peercorpus.publish.dialogues import NO_EXCHANGE, NO_TEXT, Opening, opening_text
from peercorpus.publish.record_rows import Row
from peercorpus.publish.renderings import Sample, answer, re2_place
from peercorpus.publish.splits import Task
from peercorpus.records import Score

NO_REVIEW_TEXT = "a review without text"
SYSTEMS = {Task.REVIEW: prompts.REVIEW, Task.REBUTTAL: prompts.REVIEWER}
"""What the model is told first."""


@dataclass(frozen=True, slots=True)
class Telling:
    """How a paper is told.

    Attributes:
        opening: What of it the user says first.
        with_system: Whether the model is told its part.
        most_characters: Of the paper as the user says it; a longer one is cut. None for no limit.
    """

    opening: Opening = Opening.TEXT
    with_system: bool = True
    most_characters: int | None = None


@dataclass(slots=True)
class Samples:
    """What became of the reviews or conversations of one task's side.

    Attributes:
        papers: That are in the file.
        rows: In the file.
        left_out: Reviews or conversations that are not in it, by the reason.
        cut: Rows whose paper is cut.
        unanswered: Rows that end before what the authors said last, as the reviewer did not answer it.
        licences: Papers in the file by their licence; None where none is stated.
    """

    papers: int = 0
    rows: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    cut: int = 0
    unanswered: int = 0
    licences: Counter[str | None] = field(default_factory=Counter)


def cut(text: str, most: int | None) -> str:
    r"""The beginning of a text, up to the end of a paragraph where one ends in its second half.

    >>> cut("one\n\ntwo\n\nthree", 12), cut("one\n\ntwo", 8), cut("1\n\n2345", 5)
    ('one\n\ntwo', 'one\n\ntwo', '1\n\n23')
    """
    if most is None or len(text) <= most:
        return text
    end = text.rfind("\n\n", 0, most + 2)
    return text[: end if 2 * end >= most else most]


def _open(row: Row, telling: Telling) -> tuple[str | None, bool]:
    """What the user says first, and whether it is cut; None where the paper has nothing of the kind."""
    body = row["abstract"] if telling.opening is Opening.ABSTRACT else row["markdown"]
    text = None if telling.opening is Opening.TEXT and not body else opening_text(row["title"], body)
    if text is None:
        return None, False
    shown = plain(text)
    told = cut(shown, telling.most_characters)
    return told, told != shown


def _of(row: Row, licence: str | None, is_cut: bool) -> Row:
    """What a sample is of. Nothing is null: whoever reads JSON takes a column's type from its first rows."""
    return {
        "forum_id": row["forum_id"],
        "venue_id": row["venue_id"],
        "licence": licence or "",
        "paper_grade": row["grade"] or "",
        "paper_is_cut": is_cut,
    }


def read_scores(structs: Sequence[Row]) -> list[Score]:
    """The scores of a review as records."""
    return msgspec.convert(structs, list[Score])


def first_known(scores: Sequence[Score]) -> list[Score]:
    """One score of each field, in their order: as first given where that is known, else as it stands."""
    chosen: dict[str, Score] = {}
    for score in scores:
        before = chosen.setdefault(score.field, score)
        if before.phase is Phase.FINAL and score.phase is Phase.INITIAL:
            chosen[score.field] = score
    return list(chosen.values())


def _fields(scores: Sequence[Score], phase: Phase) -> str:
    return "; ".join(score.field for score in scores if score.phase is phase)


def review_samples(row: Row, licence: str | None, telling: Telling, tally: Samples) -> Iterator[Sample]:
    """The reviews of a paper: the user says the paper, the assistant the review and, below it, its scores."""
    paper, is_cut = _open(row, telling)
    system = [Message(Speaker.SYSTEM, [SYSTEMS[Task.REVIEW]], [])] if telling.with_system else []
    for review in row["reviews"]:
        if paper is None or not (review["text"] or "").strip():
            tally.left_out[NO_TEXT if paper is None else NO_REVIEW_TEXT] += 1
            continue
        scores = first_known(read_scores(review["scores"]))
        told = "\n".join(f"{score.field}: {answer(score)}" for score in scores)
        said = [plain(review["text"]), *([told] if told else [])]
        about = _of(row, licence, is_cut) | {
            "review_id": review["review_id"],
            "reviewer": review["reviewer"],
            "review_title": review["title"] or "",
            "holds_update": bool(review["holds_update"]),
            "scores_as_first_given": _fields(scores, Phase.INITIAL),
            "scores_as_they_stand": _fields(scores, Phase.FINAL),
        }
        tally.cut += is_cut
        yield Sample([*system, Message(Speaker.USER, [paper], []), Message(Speaker.ASSISTANT, said, [0])], about, {})


def _dialogue(paper: str, talk: Row) -> list[Message]:
    """The paper, then what was said; whoever speaks twice says it in one message."""
    messages = [Message(Speaker.USER, [paper], [])]
    for index, said in enumerate(talk["messages"]):
        speaker = Speaker(said["role"])
        if messages[-1].speaker is not speaker:
            messages.append(Message(speaker, [], []))
        messages[-1].parts.append(said["content"])
        messages[-1].turns.extend([index] if talk["post_ids"][index] else [])
    return messages


def _number(value: float | None) -> str | None:
    return None if value is None else f"{value:g}"


def _re2_numbers(talk: Row, when: str) -> Row | None:
    numbers = {name: _number(talk[f"{name}_{when}"]) for name in ("rating", "confidence")}
    return numbers | {"aspect_score": None} if any(numbers.values()) else None


def rebuttal_samples(row: Row, licence: str | None, telling: Telling, tally: Samples) -> Iterator[Sample]:
    """The conversations of a paper: the user says the paper and is the authors, the assistant is the reviewer."""
    paper, is_cut = _open(row, telling)
    for talk in row["conversations"]:
        whole = [] if paper is None else _dialogue(paper, talk)
        system = SYSTEMS[Task.REBUTTAL] if telling.with_system else None
        messages = finished(whole, ends_answered=True, system=system)
        if not messages:
            tally.left_out[NO_TEXT if paper is None else NO_EXCHANGE] += 1
            continue
        about = _of(row, licence, is_cut) | {
            "conversation_id": talk["conversation_id"],
            "reviewer": talk["reviewer"],
            "assistant": Role.REVIEWER.value,
            "holds_update": [any(talk["holds_update"][turn] for turn in message.turns) for message in messages],
            "post_ids": [[post for turn in message.turns for post in talk["post_ids"][turn]] for message in messages],
        }
        re2 = {
            "paper_id": row["forum_id"],
            "conference_year_track": re2_place(row["conference"], row["year"], row["track"]),
            "reviewer_id": talk["reviewer"],
            "initial_score": _re2_numbers(talk, "initial"),
            "final_score": _re2_numbers(talk, "final"),
        }
        tally.cut += is_cut
        tally.unanswered += whole[-1].speaker is Speaker.USER
        yield Sample(messages, about, re2)


SAMPLES: Mapping[Task, Callable[[Row, str | None, Telling, Samples], Iterator[Sample]]] = {
    Task.REVIEW: review_samples,
    Task.REBUTTAL: rebuttal_samples,
}

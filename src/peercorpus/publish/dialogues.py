"""Writes a workspace's conversations as one file of dialogues, in memory bounded by a forum."""

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from peercorpus.dialogues import Message, Response, View, as_dialogue
from peercorpus.errors import PeercorpusError
from peercorpus.kinds import Grade, Role
from peercorpus.openreview.objects import blot_people
from peercorpus.progress import Meter, Show, show_nothing
from peercorpus.publish.forums import Forum, Walk
from peercorpus.publish.renderings import Rendering, Sample, render
from peercorpus.publish.rows import find_markdown, is_public
from peercorpus.publish.sifting import Sieve
from peercorpus.publish.takedown import read_takedown
from peercorpus.publish.texts import Texts
from peercorpus.records import Conversation
from peercorpus.workspace import Workspace

NO_EXCHANGE = "the assistant answers nothing that the user says"
NO_TEXT = "no text of the version that the reviewers read, or neither title nor abstract"
NOT_PUBLIC = "not everyone may read all of it"
SYSTEM = {
    Role.REVIEWER: "You are a reviewer of a scientific paper. First you review it; then you discuss your review with"
    " its authors. What stands in <supplementary> is for your reference.",
    Role.AUTHOR: "You are the authors of a scientific paper. You answer a reviewer of it."
    " What stands in <supplementary> is for your reference.",
}


class Opening(StrEnum):
    """What the user says first."""

    NONE = "none"
    ABSTRACT = "abstract"
    """Title and abstract."""
    TEXT = "text"
    """Title and the text of the version that the reviewers read, where its grade allows it; others are left out."""


@dataclass(frozen=True, slots=True)
class Format:
    """What to write.

    Attributes:
        view: How each conversation is seen.
        count_tokens: The tokens of a text, by the tokenizer of the user's choice; None to count none.
    """

    view: View
    rendering: Rendering = Rendering.MESSAGES
    opening: Opening = Opening.ABSTRACT
    count_tokens: Callable[[str], int] | None = None


@dataclass(slots=True)
class Written:
    """What became of the conversations.

    Attributes:
        left_out: Conversations that make no dialogue, by the reason.
        tokens: Of all messages; None where they were not counted.
        taken_down: Records left out as the workspace's `takedown.txt` says, by kind.
    """

    dialogues: int = 0
    messages: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    tokens: int | None = None
    taken_down: Counter[str] = field(default_factory=Counter)


def _opening(forum: Forum, texts: Texts, opening: Opening) -> tuple[str | None, Grade | None]:
    if opening is Opening.NONE:
        return None, None
    title = f"# {forum.paper.title}" if forum.paper.title else ""
    if opening is Opening.ABSTRACT:
        return "\n\n".join(part for part in (title, forum.paper.abstract) if part) or None, None
    markdown, grade = find_markdown(forum, texts)
    return ("\n\n".join(part for part in (title, markdown) if part), grade) if markdown else (None, None)


def _samples(forum: Forum, texts: Texts, chosen: Format, written: Written) -> Iterator[Sample]:
    public = forum.public_post_ids
    responses = {post.post_id: Response(post.title, post.text) for post in forum.posts if post.post_id in public}
    opening, grade = _opening(forum, texts, chosen.opening)
    for conversation in forum.conversations:
        messages: list[Message] = []
        if not is_public(conversation, public):
            written.left_out[NOT_PUBLIC] += 1
        elif opening is None and chosen.opening is not Opening.NONE:
            written.left_out[NO_TEXT] += 1
        elif not (messages := as_dialogue(conversation, chosen.view, responses, opening)):
            written.left_out[NO_EXCHANGE] += 1
        else:
            yield _sample(forum, conversation, messages, chosen, grade)


def _sample(
    forum: Forum, conversation: Conversation, messages: Sequence[Message], chosen: Format, grade: Grade | None
) -> Sample:
    reviews = [review for review in forum.reviews if review.reviewer == conversation.reviewer]
    shown = [review for review in reviews if review.readers_public and not review.deleted]
    blotted = [replace(message, parts=blot_people(message.parts)) for message in messages]
    return Sample(conversation, forum.paper, shown, blotted, chosen.view.assistant, grade and grade.value)


def _rows(
    workspace: Workspace, venue_id: str, scratch: Path, chosen: Format, written: Written, show: Show, sieve: Sieve
) -> Iterator[dict[str, Any]]:
    meter, total = Meter(venue_id, "dialogues", show), workspace.tables.count("1-papers", venue_id)
    with Texts(workspace.tables, venue_id, scratch) as texts:
        for done, forum in enumerate(sieve.through(Walk(workspace.tables, venue_id)), 1):
            for sample in _samples(forum, texts, chosen, written):
                row = render(sample, chosen.rendering)
                if chosen.count_tokens is not None:
                    row["tokens"] = sum(chosen.count_tokens(message.text) for message in sample.messages)
                    written.tokens = (written.tokens or 0) + row["tokens"]
                written.dialogues += 1
                written.messages += len(sample.messages)
                yield row
            meter.report(done, total)


def _as_lines(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(row, ensure_ascii=False) + "\n"


def _as_list(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """One JSON array, as Re² is published."""
    before = "[\n"
    for row in rows:
        yield before + json.dumps(row, ensure_ascii=False)
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def write_dialogues(
    workspace: Workspace, out: Path, chosen: Format, venue_ids: Sequence[str], show: Show = show_nothing
) -> Written:
    """Write the dialogues of some venues; the file is there at the end, whole, or is as it was.

    A file `.json` holds one array, any other an object a line.

    Raises:
        PeercorpusError: The file cannot be written, or a line of `takedown.txt` can be no id.
    """
    if out.is_dir():
        raise PeercorpusError(f"The file '{out}' cannot be written: it is a folder.")
    written, sieve = Written(), Sieve(read_takedown(workspace))
    try:
        with tempfile.TemporaryDirectory(dir=out.absolute().parent, prefix=f".{out.name}.") as scratch:
            partial = Path(scratch) / "partial"
            with partial.open("w", encoding="utf-8", newline="\n") as file:
                rows = (
                    row
                    for venue_id in venue_ids
                    for row in _rows(workspace, venue_id, Path(scratch), chosen, written, show, sieve)
                )
                file.writelines(_as_list(rows) if out.suffix == ".json" else _as_lines(rows))
            partial.replace(out)
    except OSError as error:
        raise PeercorpusError(f"The file '{out}' cannot be written: {error.strerror}.") from None
    written.taken_down = sieve.taken
    return written

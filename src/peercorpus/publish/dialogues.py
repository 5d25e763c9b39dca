"""Writes a workspace's conversations as one file of dialogues, in memory bounded by a forum."""

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from peercorpus import prompts
from peercorpus.dialogues import Message, Response, View, as_dialogue
from peercorpus.errors import PeercorpusError
from peercorpus.kinds import Grade, Phase, Role
from peercorpus.openreview.objects import blot_people
from peercorpus.progress import Meter, Show, show_nothing
from peercorpus.publish.forums import Forum, Walk
from peercorpus.publish.json_rows import write_rows
from peercorpus.publish.renderings import Rendering, Sample, re2_place, re2_scores, render
from peercorpus.publish.rows import find_markdown, is_public
from peercorpus.publish.sifting import Sieve
from peercorpus.publish.takedown import read_takedown
from peercorpus.publish.texts import Texts
from peercorpus.records import Conversation
from peercorpus.workspace import Workspace

NO_EXCHANGE = "the assistant answers nothing that the user says"
NO_TEXT = "no text of the version that the reviewers read, or neither title nor abstract"
NOT_PUBLIC = "not everyone may read all of it"
SYSTEM = {Role.REVIEWER: prompts.REVIEWER, Role.AUTHOR: prompts.AUTHORS}


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


def opening_text(title: str | None, body: str | None) -> str | None:
    r"""What a paper opens a dialogue with: its title as a heading, then its abstract or text; None without either.

    >>> opening_text("On Kites", "We fly."), opening_text("On Kites", "# ON KITES\n\nWe fly.")
    ('# On Kites\n\nWe fly.', '# ON KITES\n\nWe fly.')
    """
    begins = (body or "").partition("\n")[0].lstrip("# ").casefold()
    heading = f"# {title}" if title and title.casefold() != begins else ""
    return "\n\n".join(part for part in (heading, body) if part) or None


def _opening(forum: Forum, texts: Texts, opening: Opening) -> tuple[str | None, Grade | None]:
    if opening is Opening.NONE:
        return None, None
    if opening is Opening.ABSTRACT:
        return opening_text(forum.paper.title, forum.paper.abstract), None
    markdown, grade = find_markdown(forum, texts)
    return (opening_text(forum.paper.title, markdown), grade) if markdown else (None, None)


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
    scores = shown[0].scores if shown else ()
    about = {
        "conversation_id": conversation.conversation_id,
        "forum_id": conversation.forum_id,
        "venue_id": conversation.venue_id,
        "reviewer": conversation.reviewer,
        "assistant": chosen.view.assistant.value,
        "paper_grade": grade and grade.value,
        "holds_update": [any(conversation.turns[turn].holds_update for turn in message.turns) for message in messages],
        "post_ids": [
            [post_id for turn in message.turns for post_id in conversation.turns[turn].post_ids] for message in messages
        ],
    }
    re2 = {
        "paper_id": forum.paper.forum_id,
        "conference_year_track": re2_place(forum.paper.conference, forum.paper.year, forum.paper.track),
        "reviewer_id": conversation.reviewer,
        "initial_score": re2_scores(scores, Phase.INITIAL),
        "final_score": re2_scores(scores, Phase.FINAL),
    }
    blotted = [replace(message, parts=blot_people(message.parts)) for message in messages]
    return Sample(blotted, blot_people(about), blot_people(re2))


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
            rows = (
                row
                for venue_id in venue_ids
                for row in _rows(workspace, venue_id, Path(scratch), chosen, written, show, sieve)
            )
            write_rows(partial, rows, as_list=out.suffix == ".json")
            partial.replace(out)
    except OSError as error:
        raise PeercorpusError(f"The file '{out}' cannot be written: {error.strerror}.") from None
    written.taken_down = sieve.taken
    return written

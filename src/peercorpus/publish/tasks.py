"""The configurations to train and test with, made of a release's own tables once the sides are drawn.

So nothing is in them that is not published, and no paper on another side than the file of sides says.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import msgspec

from peercorpus.dialogues import Message, Response, View, as_dialogue
from peercorpus.kinds import Role
from peercorpus.parts import join_prose
from peercorpus.progress import Meter, Show, show_nothing
from peercorpus.publish.record_rows import Row, before_and_after
from peercorpus.publish.shards import Split, Writers, read_rows
from peercorpus.publish.splits import Sides, Task
from peercorpus.records import Conversation, Score

CONFIG = {Task.REVIEW: "review_sft", Task.REBUTTAL: "rebuttal"}
"""The configuration of each task."""
COLUMNS = (
    *("forum_id", "venue_id", "conference", "year", "track", "title", "abstract", "keywords", "status", "decision"),
    *("grade", "markdown", "reviews"),
)
OPENING = "The paper."
"""Stands for the paper while a conversation is put into messages: it opens each, and is not repeated there."""
VIEW = View(Role.REVIEWER, ends_answered=False)


def write_tasks(folder: Path, sides: Sides, show: Show = show_nothing) -> list[Split]:
    """Write the configurations of all tasks beside those of the corpus.

    Args:
        folder: Of the release, with `papers_full` and `conversations`.
        sides: Who is where.
        show: Told how far it is.
    """
    writers, total = Writers(folder), len(set().union(*sides.used.values()))
    meter, done = Meter("all venues", "tasks", show), 0
    for paper, talks in _papers(folder):
        on = {task: used[paper["forum_id"]] for task, used in sides.used.items() if paper["forum_id"] in used}
        for task, side in on.items():
            row = review_task(paper) if task is Task.REVIEW else rebuttal_task(paper, talks)
            writers.add(CONFIG[task], side.value, row)
        if on:
            done += 1
            meter.report(done, total)
    return writers.finish()


def _papers(folder: Path) -> Iterator[tuple[Row, list[Row]]]:
    """Every paper with its conversations: both tables are in the order of venues, and of forums within a venue."""
    groups = groupby(_rows(folder, "conversations"), key=itemgetter("forum_id"))
    following = next(groups, None)
    for paper in _rows(folder, "papers_full", COLUMNS):
        talks: list[Row] = []
        if following is not None and following[0] == paper["forum_id"]:
            talks = list(following[1])
            following = next(groups, None)
        yield paper, talks


def _rows(folder: Path, config: str, columns: Sequence[str] | None = None) -> Iterator[Row]:
    for path in sorted((folder / "data" / config).glob("*.parquet")):
        yield from read_rows(path, columns)


def review_task(paper: Row) -> Row:
    """A row of `review_sft`, of a row of `papers_full`."""
    return paper | {"reviews": [_review(review) for review in _in_time_order(paper["reviews"])]}


def _in_time_order(reviews: Sequence[Row]) -> list[Row]:
    return sorted(reviews, key=lambda review: (review["created_at"] is None, review["created_at"], review["review_id"]))


def _review(review: Row) -> Row:
    prose = {section["field"]: section["text"] for section in review["sections"]}
    first = {one["field"]: one["text"] for one in review["initial_sections"] if one["field"] in prose}
    known = {"text": join_prose({**prose, **first}), "holds_update": bool(review["updated_fields"])}
    return review | known | _before_and_after(review)


def _before_and_after(review: Row) -> Row:
    return before_and_after(msgspec.convert(review["scores"], list[Score]), revised=review["revised"])


def rebuttal_task(paper: Row, talks: Sequence[Row]) -> Row:
    """A row of `rebuttal`, of a row of `papers_full` and its rows of `conversations`."""
    reviews = {review["reviewer"]: review for review in reversed(_in_time_order(paper["reviews"]))}
    told = [_conversation(talk, reviews) for talk in talks]
    return paper | {"conversations": [one for one in told if one["messages"]]}


def _conversation(talk: Row, reviews: Mapping[str, Row]) -> Row:
    conversation = msgspec.convert(talk, Conversation)
    responses = {beside["post_id"]: Response(beside["title"], beside["text"]) for beside in talk["context"]}
    messages = _after_the_paper(as_dialogue(conversation, VIEW, responses, OPENING))
    review = reviews.get(conversation.reviewer)
    turns = [[conversation.turns[turn] for turn in message.turns] for message in messages]
    return {
        "conversation_id": conversation.conversation_id,
        "reviewer": conversation.reviewer,
        "messages": [{"role": message.speaker.value, "content": message.text} for message in messages],
        "post_ids": [[post_id for turn in of_one for post_id in turn.post_ids] for of_one in turns],
        "holds_update": [any(turn.holds_update for turn in of_one) for of_one in turns],
        **({} if review is None else _before_and_after(review)),
    }


def _after_the_paper(messages: Sequence[Message]) -> list[Message]:
    """Messages without what stood for the paper; what was shown beside it stays the user's."""
    if not messages:
        return []
    first = Message(messages[0].speaker, messages[0].parts[1:], messages[0].turns)
    return [*([first] if first.parts else []), *messages[1:]]

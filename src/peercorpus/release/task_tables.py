"""Write the configurations for tasks from those of the corpus, and the file for running one of them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec

from peercorpus.discussion.until_decision import count_after_decision
from peercorpus.models.chat_messages import ChatOptions, Message, Response, to_chat_messages, turn_text
from peercorpus.records.enums import CHANGED_AFTER_DECISION, AtDecision, ConversationKind, Role, SectionKind
from peercorpus.records.reviews import Conversation, Turn, join_prose
from peercorpus.release import eval_file
from peercorpus.release.record_rows import Row
from peercorpus.release.rows import before_and_after, read_scores
from peercorpus.release.shards import ShardFile, SplitShards, Writers, read_shard_rows
from peercorpus.release.splits import Split, Task, is_target

_STATED = re.compile(
    r"\b(?:paper|submission|manuscript|work|it)\s+(?:(?:has|have)\s+(?:now\s+)?been|was|is\s+now)\s+(?:finally\s+)?"
    r"(?:accepted|rejected)\b(?!\s+(?:at|by|for|from|in|to|elsewhere)\b)"
    r"|\bcongratulat\w+\b"
    r"|\bthe\s+(?:final\s+)?decision\s+(?:is|was)\s+to\s+(?:accept|reject)\b",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(r"\b(?:if|unless|once|when|whether|would|should|could|hope|wish|not)\b", re.IGNORECASE)
_SENTENCE_BREAK = re.compile(r"[.!?\n]")


def tells_decision(text: str) -> bool:
    """Return whether a text states the decision on its own paper, rather than merely considering one.

    >>> tells_decision("Congratulations!"), tells_decision("I am glad that the paper has been accepted.")
    (True, True)
    >>> tells_decision("If the paper was accepted, we would add it."), tells_decision("It was rejected from KDD.")
    (False, False)
    """
    for stated in _STATED.finditer(text):
        before = _SENTENCE_BREAK.split(text[: stated.start()])[-1]
        if not _SUPPOSED.search(before):
            return True
    return False


class _Discussion:
    """The discussion of a paper before the decision and the first meta-review, with counts of later or revealing parts.

    Attributes:
        late: Turns and responses left out because of their time, or because they follow a post that reveals the
            decision.
        telling: Turns and responses left out because of their words.
    """

    def __init__(self, paper: Row, meta_reviews: Iterable[Row]) -> None:
        records = [(review["review_id"], review["created_at"]) for review in paper["reviews"]]
        records += [(post["post_id"], post["created_at"]) for post in paper["posts"]]
        self._times: Mapping[str, datetime | None] = dict(records)
        written = {meta_review["post_id"]: meta_review["created_at"] for meta_review in meta_reviews}
        self._meta_review_ids = written.keys()
        self._end: datetime | None = min((time for time in written.values() if time is not None), default=None)
        self.late = self.telling = 0

    def is_late(self, made_at: datetime | None, post_ids: Sequence[str], is_after_decision: bool | None) -> bool:
        """Return whether a post came after the decision or the first meta-review, or is a meta-review itself."""
        if is_after_decision is True or not self._meta_review_ids.isdisjoint(post_ids):
            return True
        times = (made_at, *(self._times.get(post_id) for post_id in post_ids))
        return self._end is not None and any(time is not None and time > self._end for time in times)

    def select(self, conversation: Conversation) -> list[Turn]:
        """Return the turns of an exchange until the first that is late or reveals the decision."""
        for index, turn in enumerate(conversation.turns):
            is_late = self.is_late(turn.created_at, turn.post_ids, turn.posted_after_decision)
            if is_late or tells_decision(turn_text(turn)):
                self.late += len(conversation.turns) - index - (not is_late)
                self.telling += not is_late
                return [*conversation.turns[:index]]
        return [*conversation.turns]

    def responses(self, talks: Iterable[Row]) -> list[Row]:
        """Return the authors' responses to everyone, each post once, in the order of the exchanges."""
        rows = []
        for post_id, beside in {beside["post_id"]: beside for talk in talks for beside in talk["context"]}.items():
            if self.is_late(beside["created_at"], [post_id], beside["posted_after_decision"]):
                self.late += 1
            elif tells_decision(beside["text"]):
                self.telling += 1
            else:
                text = "\n\n".join(filter(None, (beside["title"], beside["text"])))
                rows.append({"post_id": post_id, "text": text})
        return rows


def _is_certain(review: Row) -> bool:
    """Return whether a review was posted before the decision and nothing suggests that a part is later."""
    is_undated = review["at_decision"] in {AtDecision.NO_DECISION_TIME, AtDecision.NO_REVIEW_TIME}
    return not (review["may_be_later"] or (is_undated and review["holds_update"]) or tells_decision(review["text"]))


def _make_turn_row(turn: Turn, reviewer: str) -> Row:
    is_own = turn.role is Role.REVIEWER and turn.signature == reviewer
    return {"role": turn.role.value, "is_own": is_own, "text": turn_text(turn), "post_ids": [*turn.post_ids]}


def _make_exchange(review: Row, talk: Row | None, discussion: _Discussion) -> Row:
    """Return a review with the turns after it; only the review if no conversation contains it."""
    if talk is None:
        turns = [{"role": "reviewer", "is_own": True, "text": review["text"], "post_ids": [review["review_id"]]}]
    else:
        said = discussion.select(msgspec.convert(talk, Conversation))
        turns = [_make_turn_row(turn, review["reviewer"]) for turn in said]
    return review | {"turns": [turn for turn in turns if turn["text"].strip()]}


def meta_review_task(paper: Row, talks: Sequence[Row], meta_reviews: Sequence[Row]) -> Row:
    """Return the row of `meta_review_sft` made from a row of `review_sft`.

    Args:
        paper: The row, with the times of its posts under `posts`.
        talks: Its rows of `conversations`.
        meta_reviews: Its rows of `meta_reviews`.
    """
    targets = [meta_review for meta_review in meta_reviews if is_target(meta_review)]
    discussion = _Discussion(paper, targets)
    by_reviewer = {talk["reviewer"]: talk for talk in talks if talk["kind"] == ConversationKind.REVIEW}
    certain = [
        review
        for review in paper["reviews"]
        if _is_certain(review)
        and not discussion.is_late(review["created_at"], [review["review_id"]], review["posted_after_decision"])
    ]
    exchanges = [_make_exchange(review, by_reviewer.get(review["reviewer"]), discussion) for review in certain]
    row: dict[str, Any] = {
        "meta_reviews": targets,
        "exchanges": [exchange for exchange in exchanges if exchange["turns"]],
        "responses": discussion.responses(by_reviewer.values()),
    }
    row["reviews_left_out"] = len(paper["reviews"]) - len(row["exchanges"])
    row["tell_decision"] = discussion.telling
    row["turns_left_out"] = discussion.late + discussion.telling
    return paper | row


CONFIG = {Task.REVIEW: "review_sft", Task.REBUTTAL: "rebuttal", Task.META_REVIEW: "meta_review_sft"}
"""The configuration of each task."""
COLUMNS = (
    *("forum_id", "venue_id", "conference", "year", "track", "title", "abstract", "keywords", "status", "decision"),
    *("grade", "markdown", "reviews", "posts.list.element.post_id", "posts.list.element.created_at"),
)
OPENING = "The paper."
"""Placeholder for the paper, which opens every conversation and is not repeated in its messages."""
VIEW = ChatOptions(assistant=Role.REVIEWER, ends_answered=False)


def write_tasks(
    writers: Writers, files: Sequence[ShardFile], used: Mapping[Task, Mapping[str, Split]]
) -> Iterator[str]:
    """Write the rows for all tasks of some papers; yield the forum id of each paper that has any.

    Args:
        writers: Writers that receive the rows.
        files: The papers' files in the configurations of the corpus.
        used: The split of each paper, by task.
    """
    for paper, talks, meta_reviews in _read_papers(files):
        on = {task: of[paper["forum_id"]] for task, of in used.items() if paper["forum_id"] in of}
        for task, split in on.items():
            if task is Task.META_REVIEW:
                row = meta_review_task(review_task(paper), talks, meta_reviews)
            else:
                row = review_task(paper) if task is Task.REVIEW else rebuttal_task(paper, talks)
            writers.add(CONFIG[task], split.value, row)
            if task is Task.REVIEW and split is Split.TEST:
                question = eval_file.make_question(row)
                if question is not None:
                    writers.add(eval_file.CONFIG, split.value, question)
        if on:
            yield paper["forum_id"]


def write_eval_file(folder: Path, splits: Sequence[SplitShards]) -> None:
    """Write the file for running the acceptance task, if the release has questions for it."""
    if any(split.config == eval_file.CONFIG for split in splits):
        (folder / eval_file.EVAL_FILE).write_text(eval_file.render_eval_file(), encoding="utf-8")


class _ByForum:
    """The rows of a configuration by forum, for forums requested in the order of venue and forum."""

    def __init__(self, rows: Iterator[Row]) -> None:
        self._groups = groupby(rows, key=itemgetter("forum_id"))
        self._following = next(self._groups, None)

    def take(self, forum_id: str) -> list[Row]:
        """Return the rows of the next forum; empty if it has none."""
        if self._following is None or self._following[0] != forum_id:
            return []
        rows = list(self._following[1])
        self._following = next(self._groups, None)
        return rows


def _read_papers(files: Sequence[ShardFile]) -> Iterator[tuple[Row, list[Row], list[Row]]]:
    """Yield every paper with its conversations and its meta-reviews; all tables have papers in the same order."""
    talks = _ByForum(_read_rows(files, "conversations"))
    meta_reviews = _ByForum(_read_rows(files, "meta_reviews"))
    for paper in _read_rows(files, "papers_full", COLUMNS):
        yield paper, talks.take(paper["forum_id"]), meta_reviews.take(paper["forum_id"])


def _read_rows(files: Sequence[ShardFile], config: str, columns: Sequence[str] | None = None) -> Iterator[Row]:
    for file in files:
        if file.record.config == config:
            yield from read_shard_rows(file.path, columns)


def review_task(paper: Row) -> Row:
    """Return the row of `review_sft` made from a row of `papers_full`."""
    ordered = _sort_by_time(paper["reviews"])
    return paper | {"reviews": [review | _read_earliest_text(review) | _compare_scores(review) for review in ordered]}


def _read_earliest_text(review: Row) -> Row:
    """Return the text of a review: for each field the first text known, else that at the decision, else the current
    one.

    If a review was changed after the decision, the current text may be later than the decision.
    """
    now, then, first = (
        {one["field"]: one["text"] for one in review[name] if one["kind"] != SectionKind.MODEL_CHAT}
        for name in ("sections", "sections_at_decision", "initial_sections")
    )
    known = then | first
    is_changed = review["at_decision"] in CHANGED_AFTER_DECISION
    return {
        "text": join_prose({name: known.get(name, text) for name, text in now.items()}),
        "holds_update": bool(review["updated_fields"]),
        "may_be_later": is_changed and not known.keys() >= now.keys(),
    }


def _sort_by_time(reviews: Sequence[Row]) -> list[Row]:
    return sorted(reviews, key=lambda review: (review["created_at"] is None, review["created_at"], review["review_id"]))


def _compare_scores(review: Row) -> Row:
    compared = before_and_after(read_scores(review["scores"]))
    return compared | {"at_decision": review["at_decision"]}


def rebuttal_task(paper: Row, talks: Sequence[Row]) -> Row:
    """Return the row of `rebuttal` made from a row of `papers_full` and its rows of `conversations`."""
    reviews = {review["reviewer"]: review for review in reversed(_sort_by_time(paper["reviews"]))}
    conversations = [_convert_conversation(talk, reviews) for talk in talks if talk["kind"] == ConversationKind.REVIEW]
    return paper | {"conversations": [conversation for conversation in conversations if conversation["messages"]]}


def _convert_conversation(talk: Row, reviews: Mapping[str, Row]) -> Row:
    conversation = msgspec.convert(talk, Conversation)
    responses = {beside["post_id"]: Response(beside["title"], beside["text"]) for beside in talk["context"]}
    messages = _remove_opening(to_chat_messages(conversation, VIEW, responses, OPENING))
    review = reviews.get(conversation.reviewer)
    turns = [[conversation.turns[turn] for turn in message.turns] for message in messages]
    return {
        "conversation_id": conversation.conversation_id,
        "reviewer": conversation.reviewer,
        "messages": [{"role": message.speaker.value, "content": message.text} for message in messages],
        "post_ids": [
            [*message.answers, *(post_id for turn in of_one for post_id in turn.post_ids)]
            for message, of_one in zip(messages, turns, strict=True)
        ],
        "holds_update": [any(turn.holds_update for turn in of_one) for of_one in turns],
        "after_decision": count_after_decision(conversation),
        **({} if review is None else _compare_scores(review)),
    }


def _remove_opening(messages: Sequence[Message]) -> list[Message]:
    """Return messages without the placeholder for the paper; the rest of that message remains the user's."""
    if not messages:
        return []
    first = Message(messages[0].speaker, messages[0].parts[1:], messages[0].turns, messages[0].answers)
    return [*([first] if first.parts else []), *messages[1:]]

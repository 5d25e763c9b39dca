"""Write papers, reviews and conversations in Re²'s own files and fields (arXiv:2505.07920).

`REVIEWS_{train,test}.json` lists papers with their reviews, `REBUTTAL_{train,test}.json` conversations, and the text of
each paper is below `papers/`. Values in a record of Re² that we would write differently are returned unchanged.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any
from urllib.parse import quote

from peercorpus.discussion.until_decision import count_after_decision
from peercorpus.errors import PeercorpusError
from peercorpus.importers import re2
from peercorpus.models import prompts
from peercorpus.models.chat_messages import Message, Response, finish_messages, to_chat_messages
from peercorpus.records.enums import ConversationKind, Phase, PostKind, Status
from peercorpus.records.reviews import Conversation, Turn
from peercorpus.records.scores import Score
from peercorpus.release.exports.formats import TrainingSample
from peercorpus.release.exports.request import ExportRequest
from peercorpus.release.exports.samples import (
    NO_EXCHANGE,
    NO_REVIEW_TEXT,
    POSTED_AFTER,
    Samples,
    find_last_phase,
    is_posted_after,
)
from peercorpus.release.folder import Release
from peercorpus.release.record_rows import Row
from peercorpus.release.rows import read_conversation, read_scores
from peercorpus.release.task_tables import review_task


class ForumRows:
    """The rows of a configuration split by conference, read paper by paper in the order of a task.

    The splits of a task and those of this configuration list the papers of a conference in the same order, but not
    the conferences, so each split is read separately. Papers without a row may be requested too.
    """

    def __init__(self, release: Release, config: str, columns: Sequence[str] | None = None) -> None:
        self._release, self._config, self._columns = release, config, columns
        splits = sorted({shard.split for shard in release.shards(config, None)})
        self._splits = {row["forum_id"]: split for split in splits for row in release.rows(config, split, ["forum_id"])}
        self._groups: dict[str, Iterator[tuple[str, Iterator[Row]]]] = {}

    def __bool__(self) -> bool:
        return bool(self._splits)

    def take(self, forum_id: str) -> list[Row]:
        """Return the rows of a paper.

        Raises:
            PeercorpusError: The release lists its papers in a different order.
        """
        split = self._splits.get(forum_id)
        if split is None:
            return []
        if split not in self._groups:
            rows = self._release.rows(self._config, split, self._columns)
            self._groups[split] = groupby(rows, key=itemgetter("forum_id"))
        found = next((list(rows) for found, rows in self._groups[split] if found == forum_id), None)
        if found is None:
            raise PeercorpusError(
                f"The configuration '{self._config}' of the release '{self._release.folder}' lists '{forum_id}' in a"
                " different place than its tasks; publish the release again."
            )
        return found


MANUSCRIPT = Path("Initial_manuscript_md/Initial_manuscript.md")
"""Path of the text within the folder of a paper."""
LONGEST_NAME = 150
"""Longer places or ids are shortened by a digest in the name of a folder; in characters."""
TASK_COLUMNS = ("forum_id", "venue_id", "grade", "markdown")
"""Columns read from a task's configuration."""
FULL = ("forum_id", "venue_id", "status", "decision", "decision_comment", "extra", "reviews", "posts")
"""Columns read from `papers_full` in addition to those of a task."""
WITHOUT_DECISION = {Status.WITHDRAWN: "Withdrawn", Status.DESK_REJECTED: "Desk Reject"}
"""Decision of a paper without a posted one. How Re² writes it is not known, so the words are OpenReview's."""
PROMPT = "Your reviewer ID is {reviewer}. This is the paper that you review:\n```{paper}```"
"""The user's first message, with the same content as Re²'s, reviewer and paper id in Re²'s marks, in other words."""
_PLACE = "conference_year_track"
_FIELDS = frozenset({_PLACE, "metareview", "decision", *re2.write_ratings([], [])})
"""Fields of a paper whose value in a record of Re² may differ from the one we would write."""
_OF_REVIEWBENCH = "num_reviews"
"""Column in a paper's `extra` if a row of ReviewBench is merged with it."""
_ORDINAL = re.compile(r"re2-reviews:.*/(\d+)")
"""Matches the id of a review of Re², which ends in its number within the paper."""


@dataclass(frozen=True, slots=True)
class Re2Paper:
    """A paper of one split of a task, with everything to write about it.

    Attributes:
        task: The paper's own columns in its row of the task's configuration.
        place: Conference, year and track, in Re²'s words.
        reviews: Its reviews up to the decision, in the same order for both files.
        stated: Values in a record of Re² that differ from those we would write; empty for other papers.
        talks: Its conversations with reviewers, in the order of the reviews.
    """

    task: Row
    full: Row
    place: str
    reviews: Sequence[Row]
    stated: Mapping[str, Any]
    talks: Sequence[Row]


def _read_paper(task: Row, full: Row, talks: Sequence[Row]) -> Re2Paper:
    """Return a paper with its reviews and conversations in order; `full` is its row of `papers_full`."""
    stated = _read_stated(json.loads(full["extra"] or "{}"))
    extras = {review["review_id"]: review["extra"] for review in full["reviews"]}
    ordered = [
        review | {"extra": extras[review["review_id"]]}
        for review in sorted(review_task(full)["reviews"], key=_read_ordinal)
    ]
    places = {review["reviewer"]: place for place, review in reversed([*enumerate(ordered)])}
    with_reviewers = [talk for talk in talks if talk["kind"] == ConversationKind.REVIEW]
    return Re2Paper(
        task=task,
        full=full,
        place=stated.get(_PLACE) or re2.name_place(task["venue_id"]),
        reviews=ordered,
        stated=stated,
        talks=sorted(with_reviewers, key=lambda talk: places.get(talk["reviewer"], len(places))),
    )


def _read_stated(extra: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return Re²'s values that differ from ours; if there are columns of ReviewBench too, only known fields."""
    if _PLACE not in extra:
        return {}
    return {name: extra[name] for name in extra.keys() & _FIELDS} if _OF_REVIEWBENCH in extra else extra


def _read_ordinal(review: Row) -> int:
    """Return the place of a review of Re² within its paper; 0 for others, which stay in time order."""
    match = _ORDINAL.fullmatch(review["review_id"])
    return int(match[1]) if match else 0


def join_papers(release: Release, config: str, splits: Sequence[str]) -> Iterator[Re2Paper]:
    """Yield the papers of some splits of a task, one split after another, with their rows in other configurations.

    Raises:
        PeercorpusError: A paper of the task is missing from `papers_full`.
    """
    for split in splits:
        conversations, papers = ForumRows(release, "conversations"), ForumRows(release, "papers_full", FULL)
        for task in release.rows(config, split, TASK_COLUMNS):
            full = next(iter(papers.take(task["forum_id"])), None)
            if full is None:
                raise PeercorpusError(
                    f"The configuration 'papers_full' of the release '{release.folder}' lacks '{task['forum_id']}',"
                    f" which '{config}' has; publish the release again."
                )
            yield _read_paper(task, full, conversations.take(task["forum_id"]))


def _read_first_and_last(review: Row) -> tuple[list[Score], list[Score]]:
    """Return the scores of a review as first given, and those at the decision (`find_last_phase`)."""
    scores = read_scores(review["scores"])
    last_phase = find_last_phase(review)
    first = [score for score in scores if score.phase is Phase.INITIAL]
    return first, [score for score in scores if score.phase is last_phase]


def _write_review(review: Row) -> Row:
    """Return a review in Re²'s fields; its text is Re²'s own if Re² has the review, else that of the release."""
    extra = json.loads(review["extra"] or "{}")
    text = extra.get(re2.TEXT, review["text"])
    written = re2.write_review(
        *(review["reviewer"], review["title"], text if (text or "").strip() else None), *_read_first_and_last(review)
    )
    return re2.restore(written, extra if _ORDINAL.fullmatch(review["review_id"]) else {})


def _write_metareview(full: Row) -> str | None:
    """Return the chairs' words: the meta-reviews, else the text with the decision; None if there is neither."""
    texts = [post["text"] for post in full["posts"] or () if post["kind"] == PostKind.META_REVIEW and post["text"]]
    return "\n\n".join(texts) or full["decision_comment"] or None


def write_paper(paper: Re2Paper, licence: str | None, tally: Samples) -> Row | None:
    """Return a paper with its reviews in Re²'s fields; None if no review has a text from before the decision."""
    kept = [review for review in paper.reviews if not is_posted_after(review)]
    tally.left_out[POSTED_AFTER] += len(paper.reviews) - len(kept)
    if not any((review["text"] or "").strip() for review in kept):
        tally.left_out[NO_REVIEW_TEXT] += len(kept)
        tally.left_out = +tally.left_out
        return None
    tally.left_out = +tally.left_out
    scores = [_read_first_and_last(review) for review in kept]
    written = {
        "paper_id": paper.task["forum_id"],
        _PLACE: paper.place,
        "reviews": [_write_review(review) for review in kept],
        **re2.write_ratings((first for first, _ in scores), (last for _, last in scores)),
        "metareview": _write_metareview(paper.full),
        "decision": paper.full["decision"] or WITHOUT_DECISION.get(paper.full["status"]),
    }
    about = {"licence": licence, "paper_grade": paper.task["grade"]}
    return re2.restore(written, paper.stated) | about


def _write_talk(paper: Re2Paper, talk: Row, licence: str | None, request: ExportRequest) -> TrainingSample | None:
    """Return a conversation in Re²'s fields; None if only one side speaks, or the reviewer never answers.

    Its messages are an instruction, a message naming reviewer and paper, and the exchange up to the decision. The title
    of a post, if any, is in its first line.
    """
    conversation = read_conversation(talk)
    stated = json.loads(conversation.extra)
    messages = _write_messages(conversation, talk, stated.pop("opening", None), request)
    if not messages:
        return None
    review = next((one for one in paper.reviews if one["reviewer"] == conversation.reviewer), None)
    of_review = _write_review(review) if review is not None else {}
    nothing = re2.write_scores([])
    written = {
        "paper_id": conversation.forum_id,
        _PLACE: paper.place,
        "reviewer_id": conversation.reviewer,
        **{name: of_review.get(name, nothing) for name in re2.SCORES},
    }
    about = {"licence": licence, "paper_grade": paper.task["grade"]}
    return TrainingSample(messages, about, re2.restore(written, stated))


def _write_messages(
    conversation: Conversation, talk: Row, opening: Sequence[Row] | None, request: ExportRequest
) -> list[Message]:
    prompt = PROMPT.format(reviewer=conversation.reviewer, paper=re2.write_prompt(conversation.forum_id))
    instruction, first = [one["content"] for one in opening] if opening else [prompts.REVIEWER, prompt]
    responses = {post["post_id"]: Response(post["title"], post["text"]) for post in talk["context"]}
    chat = replace(request.chat, ends_answered=False)
    shown = replace(conversation, turns=(*conversation.turns[:1], *map(_put_title, conversation.turns[1:])))
    dialogue = to_chat_messages(shown, chat, responses, first)
    return finish_messages(dialogue, ends_answered=request.chat.ends_answered, system=instruction)


def _put_title(turn: Turn) -> Turn:
    return replace(turn, text=f"Title: {' '.join(turn.title.split())}\n{turn.text}") if turn.title else turn


def write_talks(
    paper: Re2Paper, licence: str | None, request: ExportRequest, tally: Samples
) -> Iterator[TrainingSample]:
    """Yield the conversations of a paper in Re²'s fields, in the order of its reviews, and count those left out."""
    for talk in paper.talks:
        sample = _write_talk(paper, talk, licence, request)
        tally.after_decision += count_after_decision(read_conversation(talk))
        if sample is None:
            tally.left_out[NO_EXCHANGE] += 1
        else:
            yield sample


def folder_name(text: str) -> str:
    """Return any text as a safe folder name; different texts give different names.

    >>> folder_name("iclr 2020"), folder_name("../a"), folder_name("-x_(1)&b.c")
    ('iclr 2020', '%2E%2E%2Fa', '-x_(1)&b.c')
    """
    if len(text) > LONGEST_NAME:
        return hashlib.sha256(text.encode()).hexdigest()
    quoted = quote(text, safe=" &()+,'")
    return quoted if not quoted.startswith(".") else quoted.replace(".", "%2E")


def write_manuscript(folder: Path, paper: Re2Paper) -> None:
    """Write the text of a paper, if it has one, to the path where the code that reads Re² expects it.

    The path has a folder for each prefix of the place in whole words ("ICLR", "ICLR 2023", "ICLR 2023 Conference"),
    then one named by the paper's id.
    """
    if not paper.task["markdown"]:
        return
    words = paper.place.split() if len(paper.place) <= LONGEST_NAME else [paper.place]
    places = [folder_name(" ".join(words[: end + 1])) for end in range(len(words))]
    path = folder.joinpath("papers", *places, folder_name(paper.task["forum_id"]), MANUSCRIPT)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(paper.task["markdown"], encoding="utf-8", newline="")

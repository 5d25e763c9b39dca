"""Make the rows of `meta_review_sft`: the meta-reviews of a paper, with the reviews and the discussion before them.

Only the meta-reviews of a row reveal the decision: reviews and turns after it, or after the first meta-review, are left
out, and so are those whose words state it, which matters if no times are known.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from peercorpus.models.chat_messages import turn_text
from peercorpus.records.enums import AtDecision, ConversationKind, Role
from peercorpus.records.reviews import Conversation, Turn
from peercorpus.release.record_rows import Row
from peercorpus.release.splits import is_target

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

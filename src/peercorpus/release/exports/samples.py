"""Make training samples from rows of the task configurations, and count rows left out."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from peercorpus.importers.re2 import write_answer
from peercorpus.models import prompts
from peercorpus.models.chat_messages import (
    ChatOptions,
    Message,
    Response,
    Speaker,
    escape_markers,
    finish_messages,
    is_context,
    to_chat_messages,
)
from peercorpus.records.enums import CHANGED_AFTER_DECISION, AtDecision, Phase, Role
from peercorpus.records.scores import Score, choose_last_phase
from peercorpus.release.exports.formats import TrainingSample
from peercorpus.release.exports.request import ExportRequest
from peercorpus.release.record_rows import Row
from peercorpus.release.rows import read_conversation, read_scores

NO_EXCHANGE = "the assistant never answers the user"
NO_TEXT = "no text of the version that the reviewers read, or neither title nor abstract"


def opening_text(title: str | None, body: str | None) -> str | None:
    r"""Return the title of a paper as a heading, then its abstract or text; None if it has none of them.

    >>> opening_text("On Kites", "We fly."), opening_text("On Kites", "# ON KITES\n\nWe fly.")
    ('# On Kites\n\nWe fly.', '# ON KITES\n\nWe fly.')
    """
    begins = (body or "").partition("\n")[0].lstrip("# ").casefold()
    heading = f"# {title}" if title and title.casefold() != begins else ""
    return "\n\n".join(part for part in (heading, body) if part) or None


NO_REVIEW_TEXT = "a review without text"
POSTED_AFTER = "a review posted after the decision"
CHANGED_AFTER = "a review changed after the decision, and nothing shows what it said then"
SYSTEMS = {Role.REVIEWER: prompts.REVIEWER, Role.AUTHOR: prompts.AUTHORS}
"""System message of a conversation, by the side that the model takes."""


@dataclass(slots=True)
class Samples:
    """Counts of one split of one task.

    Attributes:
        papers: Papers in the file.
        rows: Rows in the file.
        left_out: Reviews or conversations that are not in the file, by reason.
        cut: Rows whose paper is truncated.
        unanswered: Rows without the user's last message, because the assistant never answered it.
        after_decision: Turns and responses to all that are left out because they were posted after the decision.
        licences: Papers in the file by licence; None if none is stated.
    """

    papers: int = 0
    rows: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    cut: int = 0
    unanswered: int = 0
    after_decision: int = 0
    licences: Counter[str | None] = field(default_factory=Counter)


def cut_at_paragraph(text: str, most: int | None) -> str:
    r"""Return at most `most` characters from the beginning of a text; the whole text if `most` is None.

    The cut is at the end of a paragraph if one ends in the second half, else after `most` characters.

    >>> cut_at_paragraph("one\n\ntwo\n\nthree", 12), cut_at_paragraph("one\n\ntwo", 8), cut_at_paragraph("1\n\n2345", 5)
    ('one\n\ntwo', 'one\n\ntwo', '1\n\n23')
    """
    if most is None or len(text) <= most:
        return text
    end = text.rfind("\n\n", 0, most + 2)
    return text[: end if 2 * end >= most else most]


def open_paper(row: Row, request: ExportRequest) -> tuple[str | None, bool]:
    """Return the user's first message, and whether it is truncated.

    The text is None if the paper lacks the requested part, and empty if no paper is to be shown.
    """
    if request.opening == "none":
        return "", False
    body = row["abstract" if request.opening == "abstract" else "markdown"]
    text = None if request.opening == "text" and not body else opening_text(row["title"], body)
    if text is None:
        return None, False
    escaped = escape_markers(text)
    shown = cut_at_paragraph(escaped, request.max_characters)
    return shown, shown != escaped


def describe_paper(row: Row, licence: str | None, is_cut: bool) -> Row:
    """Return the origin of a sample; no value is null, since readers infer a column's type from its first rows."""
    return {
        "forum_id": row["forum_id"],
        "venue_id": row["venue_id"],
        "licence": licence or "",
        "paper_grade": row["grade"] or "",
        "paper_is_cut": is_cut,
    }


_EARLIEST = (Phase.INITIAL, Phase.AT_DECISION, Phase.FINAL)


def first_known(scores: Sequence[Score]) -> list[Score]:
    """Return one score per question, in order: the first one known among first given, at the decision and current."""
    chosen: dict[str, Score] = {}
    for score in scores:
        before = chosen.setdefault(score.key, score)
        if _EARLIEST.index(score.phase) < _EARLIEST.index(before.phase):
            chosen[score.key] = score
    return list(chosen.values())


def is_posted_after(review: Row) -> bool:
    """Return whether a review was posted after the decision; False if that is not known."""
    return review.get("posted_after_decision") is True


def may_be_later(review: Row) -> bool:
    """Return whether a part of a review's text may be later than the decision; False if that is not known."""
    return review.get("may_be_later") is True


def scores_before_decision(review: Row) -> list[Score]:
    """Return one score per question that cannot have been influenced by the decision.

    The first one known counts (`first_known`). A current score is left out if the review was changed after the
    decision; it counts if the time of the decision or of the review is not known.
    """
    if is_posted_after(review):
        return []
    known = first_known(read_scores(review["scores"]))
    is_later = review.get("at_decision") in CHANGED_AFTER_DECISION
    return [score for score in known if not (is_later and score.phase is Phase.FINAL)]


def find_last_phase(row: Row) -> Phase:
    """Return `choose_last_phase` for a row with a review or a conversation."""
    return choose_last_phase(AtDecision(row.get("at_decision") or AtDecision.NO_DECISION_TIME))


def _list_fields(scores: Sequence[Score], phase: Phase) -> str:
    return "; ".join(score.field for score in scores if score.phase is phase)


def review_samples(row: Row, licence: str | None, request: ExportRequest, tally: Samples) -> Iterator[TrainingSample]:
    """Yield a sample for each review: the user gives the paper, the assistant the review and then its scores."""
    paper, is_cut = open_paper(row, request)
    system = [Message(Speaker.SYSTEM, [prompts.REVIEW], [])] if request.has_system else []
    for review in row["reviews"]:
        if paper is None or not (review["text"] or "").strip():
            tally.left_out[NO_TEXT if paper is None else NO_REVIEW_TEXT] += 1
            continue
        if is_posted_after(review) or may_be_later(review):
            tally.left_out[POSTED_AFTER if is_posted_after(review) else CHANGED_AFTER] += 1
            continue
        scores = scores_before_decision(review)
        score_lines = "\n".join(f"{score.field}: {write_answer(score)}" for score in scores)
        parts = [escape_markers(review["text"]), *([score_lines] if score_lines else [])]
        about = describe_paper(row, licence, is_cut) | {
            "review_id": review["review_id"],
            "reviewer": review["reviewer"],
            "review_title": review["title"] or "",
            "holds_update": bool(review["holds_update"]),
            "scores_as_first_given": _list_fields(scores, Phase.INITIAL),
            "scores_at_decision": _list_fields(scores, Phase.AT_DECISION),
            "scores_as_they_stand": _list_fields(scores, Phase.FINAL),
        }
        tally.cut += is_cut
        yield TrainingSample(
            [*system, Message(Speaker.USER, [paper], []), Message(Speaker.ASSISTANT, parts, [0])], about
        )


def _read_published_messages(paper: str, talk: Row) -> list[Message]:
    """Return the paper, then the messages of a row of `rebuttal`; adjacent messages of one speaker are merged."""
    messages = [Message(Speaker.USER, [paper], [])] if paper else []
    for index, message in enumerate(talk["messages"]):
        speaker = Speaker(message["role"])
        if not messages or messages[-1].speaker is not speaker:
            messages.append(Message(speaker, [], []))
        messages[-1].parts.append(message["content"])
        # What Re² published has no ids of posts.
        is_said = bool(talk["post_ids"][index]) or not is_context(message["content"])
        messages[-1].turns.extend([index] if is_said else [])
    return messages


def messages_from_turns(conversation_row: Row, chat: ChatOptions, paper: str | None) -> list[Message]:
    """Return the messages of a row of `conversations` until the decision; `Message.turns` refers to its turns."""
    conversation = read_conversation(conversation_row)
    responses = {post["post_id"]: Response(post["title"], post["text"]) for post in conversation_row["context"]}
    return to_chat_messages(conversation, chat, responses, paper or None)


def _list_posts_and_updates(talk: Row, request: ExportRequest) -> tuple[Sequence[Sequence[str]], Sequence[bool]]:
    """Return, for each item that `Message.turns` refers to, its post ids and whether a part was added later."""
    if not request.needs_turns:
        return talk["post_ids"], talk["holds_update"]
    turns = talk["record"]["turns"]
    return [turn["post_ids"] for turn in turns], [turn["holds_update"] for turn in turns]


def rebuttal_samples(row: Row, licence: str | None, request: ExportRequest, tally: Samples) -> Iterator[TrainingSample]:
    """Yield a sample for each conversation of a paper that forms a dialogue; count the others in `tally`.

    Args:
        row: A row of `rebuttal`; if `request.needs_turns`, each conversation has its row of `conversations` under
            `record`.
        licence: Of the paper; None where none is stated.
        request: Presentation of paper and conversation.
        tally: Counts what is written and what is left out.
    """
    paper, is_cut = open_paper(row, request)
    chat = request.chat
    system = SYSTEMS[chat.assistant] if request.has_system else None
    for talk in row["conversations"]:
        if paper is None:
            dialogue = []
        elif request.needs_turns:
            dialogue = messages_from_turns(talk["record"], replace(chat, ends_answered=False), paper)
        else:
            dialogue = _read_published_messages(paper, talk)
        messages = finish_messages(dialogue, ends_answered=chat.ends_answered, system=system)
        tally.after_decision += talk.get("after_decision") or 0
        if not messages:
            tally.left_out[NO_TEXT if paper is None else NO_EXCHANGE] += 1
            continue
        posts, updates = _list_posts_and_updates(talk, request)
        about = describe_paper(row, licence, is_cut) | {
            "conversation_id": talk["conversation_id"],
            "reviewer": talk["reviewer"],
            "assistant": chat.assistant.value,
            "holds_update": [any(updates[turn] for turn in message.turns) for message in messages],
            "post_ids": [
                [*message.answers, *(post for turn in message.turns for post in posts[turn])] for message in messages
            ],
        }
        tally.cut += is_cut
        tally.unanswered += chat.ends_answered and dialogue[-1].speaker is Speaker.USER
        yield TrainingSample(messages, about)

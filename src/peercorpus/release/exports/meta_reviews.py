"""Write the samples of `meta_review`: a paper, its reviews and their discussion, then a meta-review."""

from collections.abc import Iterator

from peercorpus.importers.re2 import write_answer
from peercorpus.models import prompts
from peercorpus.models.chat_messages import NAMES, TO_EVERYONE, Message, Speaker, escape_markers, mark_as_context
from peercorpus.records.enums import Role, Status
from peercorpus.records.scores import Score
from peercorpus.release.exports.formats import TrainingSample
from peercorpus.release.exports.request import ExportRequest
from peercorpus.release.exports.samples import (
    NO_TEXT,
    Samples,
    describe_paper,
    find_last_phase,
    open_paper,
)
from peercorpus.release.record_rows import Row
from peercorpus.release.rows import read_scores

NO_REVIEWS = "no review that is certain to be from before the decision"
_VERDICTS: dict[str | None, bool] = {Status.ACCEPTED: True, Status.REJECTED: False, Status.DESK_REJECTED: False}


def recommends_acceptance(meta_review: Row, status: str | None) -> bool | None:
    """Return whether a meta-review recommends acceptance, by its form or else by the decision on the paper.

    Args:
        meta_review: The meta-review.
        status: Status of the paper.

    Returns:
        None if the form does not say and the paper was neither accepted nor rejected.
    """
    return _VERDICTS.get(meta_review["recommends"], _VERDICTS.get(status))


def write_meta_review(text: str, accept: bool | None) -> str:
    r"""Format a meta-review and its recommendation, if it has one, as an answer.

    >>> write_meta_review("All agree.", accept=True)
    'All agree.\n\nRecommendation: accept'
    """
    if accept is None:
        return text
    return f"{text}\n\n{prompts.RECOMMENDATION.format(verdict='accept' if accept else 'reject')}"


def scores_at_decision(review: Row) -> list[Score]:
    """Return the scores that an area chair saw last: at the decision, or the current ones if its time is unknown."""
    return [score for score in read_scores(review["scores"]) if score.phase is find_last_phase(review)]


def _write_exchange(exchange: Row, number: int) -> Iterator[str]:
    """Yield a review with its scores, and each later turn, as marked blocks."""
    scores = "\n".join(f"{score.field}: {write_answer(score)}" for score in scores_at_decision(exchange))
    reviewer = f"reviewer {number}"
    for place, turn in enumerate(exchange["turns"]):
        source = reviewer if turn["is_own"] else f"{NAMES[Role(turn['role'])]}, to {reviewer}"
        yield mark_as_context(source, "\n\n".join(filter(None, (turn["text"], "" if place else scores))))


def write_discussion(row: Row) -> str:
    """Return the reviews of a row of `meta_review_sft` and their discussion as marked blocks; empty without a review.

    The authors' responses to everyone follow all exchanges.
    """
    blocks = [block for number, one in enumerate(row["exchanges"], 1) for block in _write_exchange(one, number)]
    if blocks:
        blocks += [mark_as_context(TO_EVERYONE, response["text"]) for response in row["responses"]]
    return "\n\n".join(blocks)


def list_posts(row: Row) -> list[str]:
    """Return the ids of the posts shown by `write_discussion`, in order."""
    turns = (turn for exchange in row["exchanges"] for turn in exchange["turns"])
    shown = [post_id for turn in turns for post_id in turn["post_ids"]]
    return shown + [response["post_id"] for response in row["responses"]]


def meta_review_samples(
    row: Row, licence: str | None, request: ExportRequest, tally: Samples
) -> Iterator[TrainingSample]:
    """Yield a sample for each meta-review: the user gives paper and discussion, the assistant the meta-review."""
    paper, is_cut = open_paper(row, request)
    discussion = write_discussion(row)
    system = [Message(Speaker.SYSTEM, [prompts.META_REVIEW], [])] if request.has_system else []
    tally.after_decision += row["turns_left_out"]
    for meta_review in row["meta_reviews"]:
        if paper is None or not discussion:
            tally.left_out[NO_TEXT if paper is None else NO_REVIEWS] += 1
            continue
        accept = recommends_acceptance(meta_review, row["status"])
        answer = write_meta_review(escape_markers(meta_review["text"].strip()), accept)
        about = describe_paper(row, licence, is_cut) | {
            "post_id": meta_review["post_id"],
            "role": meta_review["role"],
            "recommends": meta_review["recommends"] or "",
            "post_ids": list_posts(row),
        }
        tally.cut += is_cut
        asked = Message(Speaker.USER, [paper, discussion], [])
        yield TrainingSample([*system, asked, Message(Speaker.ASSISTANT, [answer], [0])], about)

"""Write samples of single criticisms: the user gives the paper and a point of a review, the authors answer it."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from peercorpus.errors import PeercorpusError
from peercorpus.models import prompts
from peercorpus.models.chat_messages import Message, Speaker, escape_markers
from peercorpus.records.points import CRITICAL_KINDS
from peercorpus.release.exports.formats import TrainingSample
from peercorpus.release.exports.forum_rows import ForumRows
from peercorpus.release.exports.samples import NO_TEXT, PromptOptions, Samples, describe_paper, open_paper
from peercorpus.release.folder import Release
from peercorpus.release.record_rows import Row

UNANSWERED = "a point without an answer"
UNSURE = "a point whose answers are less certain"
ANSWERED_LATE = "a point that was answered after the decision"
POINT_COLUMNS = ("forum_id", "review_id", "reviewer", "point_id", "text", "kind", "aspect")
ANSWER_COLUMNS = ("forum_id", "point_id", "post_id", "text", "confidence", "posted_after_decision")


def add_points(release: Release, papers: Iterator[Row]) -> Iterator[Row]:
    """Add to each row of `rebuttal` its points that ask for an answer, under `points`, each with its `answers`.

    Raises:
        PeercorpusError: The release has no points.
    """
    points, answers = ForumRows(release, "points", POINT_COLUMNS), ForumRows(release, "answers", ANSWER_COLUMNS)
    if not points:
        raise PeercorpusError(
            f"The release '{release.folder}' has no configuration 'points'; publish it with --points, or leave out"
            " --by-point."
        )
    for paper in papers:
        by_point: defaultdict[str, list[Row]] = defaultdict(list)
        for answer in answers.take(paper["forum_id"]):
            by_point[answer["point_id"]].append(answer)
        own = (point for point in points.take(paper["forum_id"]) if point["kind"] in CRITICAL_KINDS)
        paper["points"] = [point | {"answers": by_point[point["point_id"]]} for point in own]
        yield paper


def point_samples(row: Row, licence: str | None, telling: PromptOptions, tally: Samples) -> Iterator[TrainingSample]:
    """Yield a sample for each point of a paper with an answer from before the decision; count the others.

    Args:
        row: A row of `rebuttal` from `add_points`.
        licence: Licence of the paper; None if none is stated.
        telling: Presentation of paper and point, and the required confidence of an answer.
        tally: Counts rows written and left out.
    """
    paper, is_cut = open_paper(row, telling)
    system = [Message(Speaker.SYSTEM, [prompts.AUTHORS], [])] if telling.with_system else []
    for point in row["points"]:
        answers, reason = _choose_answers(point["answers"], telling.by_point or 0.0)
        if paper is None or not answers:
            tally.left_out[NO_TEXT if paper is None else reason] += 1
            continue
        about = describe_paper(row, licence, is_cut) | {
            "point_id": point["point_id"],
            "review_id": point["review_id"],
            "reviewer": point["reviewer"],
            "kind": point["kind"],
            "aspect": point["aspect"] or "",
            "confidence": [answer["confidence"] for answer in answers],
            "post_ids": [answer["post_id"] for answer in answers],
        }
        tally.cut += is_cut
        asked = Message(Speaker.USER, [*filter(None, [paper]), escape_markers(point["text"].strip())], [])
        said = Message(Speaker.ASSISTANT, [escape_markers(answer["text"]) for answer in answers], [0])
        yield TrainingSample([*system, asked, said], about)


def _choose_answers(answers: Sequence[Row], least: float) -> tuple[list[Row], str]:
    """Return the answers to use, or the reason for none; a model's answers lack a confidence and are not used."""
    if not answers:
        return [], UNANSWERED
    in_time = [answer for answer in answers if answer["posted_after_decision"] is not True]
    certain = [answer for answer in in_time if answer["confidence"] is not None and answer["confidence"] >= least]
    return certain, UNSURE if in_time else ANSWERED_LATE

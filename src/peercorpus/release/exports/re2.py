"""Write papers and reviews in Re²'s own files and fields (arXiv:2505.07920)."""

from pathlib import Path
from urllib.parse import quote

from peercorpus.records.enums import Aspect, Phase
from peercorpus.records.scores import Score
from peercorpus.release.exports.formats import re2_place, re2_scores
from peercorpus.release.exports.samples import NO_REVIEW_TEXT, POSTED_AFTER, Samples, is_posted_after, score_records
from peercorpus.release.record_rows import Row

MANUSCRIPT = Path("Initial_manuscript_md/Initial_manuscript.md")
"""Path of the text within the folder of a paper."""


def folder_name(text: str) -> str:
    """Return any text as a safe folder name; different texts give different names.

    >>> folder_name("iclr 2020"), folder_name("../a")
    ('iclr 2020', '%2E%2E%2Fa')
    """
    return quote(text, safe=" ").replace(".", "%2E")


def write_manuscript(folder: Path, row: Row) -> None:
    """Write the text of a paper, if it has one, below `papers/<conference>/<and year>/<and track>/<forum id>`."""
    if not row["markdown"]:
        return
    conference = row["conference"] or "other"
    venue_names = (
        re2_place(conference, None, None),
        re2_place(conference, row["year"], None),
        re2_place(conference, row["year"], row["track"]),
    )
    path = folder.joinpath("papers", *map(folder_name, venue_names), folder_name(row["forum_id"]), MANUSCRIPT)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(row["markdown"], encoding="utf-8", newline="")


def _pick_unified(scores: list[Score], phase: Phase) -> float | None:
    """Return the overall recommendation of one phase on Re²'s scale; None where it is not known."""
    return next(
        (score.unified for score in scores if score.phase is phase and score.aspect is Aspect.RECOMMENDATION), None
    )


def _format_unified(rating: float | None) -> Row | None:
    return None if rating is None else {"rating": f"{rating:g}", "confidence": None}


def _convert_review(review: Row, scores: list[Score]) -> Row:
    return {
        "reviewer_id": review["reviewer"],
        "review_title": review["title"] or "null",
        "review_content": review["text"],
        "initial_score": re2_scores(scores, Phase.INITIAL),
        "final_score": re2_scores(scores, Phase.FINAL),
        "initial_score_unified": _format_unified(_pick_unified(scores, Phase.INITIAL)),
        "final_score_unified": _format_unified(_pick_unified(scores, Phase.FINAL)),
    }


def re2_paper(row: Row, licence: str | None, tally: Samples) -> Row | None:
    """Return a paper with its reviews in Re²'s fields; None where no review has a text from before the decision."""
    written = [review for review in row["reviews"] if (review["text"] or "").strip()]
    if len(written) < len(row["reviews"]):
        tally.left_out[NO_REVIEW_TEXT] += len(row["reviews"]) - len(written)
    kept = [review for review in written if not is_posted_after(review)]
    if len(kept) < len(written):
        tally.left_out[POSTED_AFTER] += len(written) - len(kept)
    if not kept:
        return None
    scores = [score_records(review["scores"]) for review in kept]
    return {
        "paper_id": row["forum_id"],
        "conference_year_track": re2_place(row["conference"], row["year"], row["track"]),
        "reviews": [_convert_review(review, review_scores) for review, review_scores in zip(kept, scores, strict=True)],
        "review_initial_ratings_unified": [_pick_unified(review_scores, Phase.INITIAL) for review_scores in scores],
        "review_final_ratings_unified": [_pick_unified(review_scores, Phase.FINAL) for review_scores in scores],
        "metareview": None,
        "decision": row["decision"],
        "licence": licence,
        "paper_grade": row["grade"],
    }

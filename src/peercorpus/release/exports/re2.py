"""Write papers and reviews in Re²'s own files and fields (arXiv:2505.07920)."""

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from peercorpus.records.enums import Aspect, Phase
from peercorpus.records.scores import Score
from peercorpus.release.exports.formats import re2_place, re2_scores
from peercorpus.release.exports.samples import (
    NO_REVIEW_TEXT,
    POSTED_AFTER,
    Samples,
    find_last_phase,
    is_posted_after,
    score_records,
)
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


def _pick_unified(scores: Sequence[Score]) -> float | None:
    """Return the overall recommendation among scores on Re²'s scale; None where it is not known."""
    return next((score.unified for score in scores if score.aspect is Aspect.RECOMMENDATION), None)


def _format_unified(rating: float | None) -> Row | None:
    return None if rating is None else {"rating": f"{rating:g}", "confidence": None}


def _read_first_and_last(review: Row) -> tuple[list[Score], list[Score]]:
    """Return the scores of a review as first given, and as they stood at the decision (`find_last_phase`)."""
    scores = score_records(review["scores"])
    last_phase = find_last_phase(review)
    first = [score for score in scores if score.phase is Phase.INITIAL]
    return first, [score for score in scores if score.phase is last_phase]


def _convert_review(review: Row, first: Sequence[Score], last: Sequence[Score]) -> Row:
    return {
        "reviewer_id": review["reviewer"],
        "review_title": review["title"] or "null",
        "review_content": review["text"],
        "initial_score": re2_scores(first),
        "final_score": re2_scores(last),
        "initial_score_unified": _format_unified(_pick_unified(first)),
        "final_score_unified": _format_unified(_pick_unified(last)),
    }


def re2_paper(row: Row, licence: str | None, tally: Samples) -> Row | None:
    """Return a paper with its reviews in Re²'s fields; None if no review has a text from before the decision."""
    written = [review for review in row["reviews"] if (review["text"] or "").strip()]
    kept = [review for review in written if not is_posted_after(review)]
    tally.left_out[NO_REVIEW_TEXT] += len(row["reviews"]) - len(written)
    tally.left_out[POSTED_AFTER] += len(written) - len(kept)
    tally.left_out = +tally.left_out
    if not kept:
        return None
    scores = [_read_first_and_last(review) for review in kept]
    return {
        "paper_id": row["forum_id"],
        "conference_year_track": re2_place(row["conference"], row["year"], row["track"]),
        "reviews": [_convert_review(review, *both) for review, both in zip(kept, scores, strict=True)],
        "review_initial_ratings_unified": [_pick_unified(first) for first, _ in scores],
        "review_final_ratings_unified": [_pick_unified(last) for _, last in scores],
        "metareview": None,
        "decision": row["decision"],
        "licence": licence,
        "paper_grade": row["grade"],
    }

"""A row of `review_sft` → a record of Re²'s `REVIEWS_*.json`, and its text where Re² keeps it."""

from pathlib import Path
from urllib.parse import quote

from peercorpus.kinds import Aspect, Phase
from peercorpus.publish.record_rows import Row
from peercorpus.publish.renderings import re2_place, re2_scores
from peercorpus.publish.training_rows import NO_REVIEW_TEXT, Samples, read_scores
from peercorpus.records import Score

MANUSCRIPT = Path("Initial_manuscript_md/Initial_manuscript.md")
"""Below the folder of a paper."""


def folder_name(text: str) -> str:
    """A text as the name of a folder, whatever it holds; different texts have different names.

    >>> folder_name("iclr 2020"), folder_name("../a")
    ('iclr 2020', '%2E%2E%2Fa')
    """
    return quote(text, safe=" ").replace(".", "%2E")


def write_manuscript(folder: Path, row: Row) -> None:
    """Write the text of a paper, if it has one, below `papers/<conference>/<and year>/<and track>/<forum id>`."""
    if not row["markdown"]:
        return
    places = (re2_place(*parts) for parts in _places(row))
    path = folder.joinpath("papers", *map(folder_name, places), folder_name(row["forum_id"]), MANUSCRIPT)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(row["markdown"], encoding="utf-8", newline="")


def _places(row: Row) -> tuple[tuple[str | None, int | None, str | None], ...]:
    conference, year, track = row["conference"] or "other", row["year"], row["track"]
    return (conference, None, None), (conference, year, None), (conference, year, track)


def _unified(scores: list[Score], phase: Phase) -> float | None:
    """The overall recommendation of one time on Re²'s scale; None where it is not known."""
    return next((one.unified for one in scores if one.phase is phase and one.aspect is Aspect.RECOMMENDATION), None)


def _unified_scores(rating: float | None) -> Row | None:
    return None if rating is None else {"rating": f"{rating:g}", "confidence": None}


def _review(review: Row, scores: list[Score]) -> Row:
    return {
        "reviewer_id": review["reviewer"],
        "review_title": review["title"] or "null",
        "review_content": review["text"],
        "initial_score": re2_scores(scores, Phase.INITIAL),
        "final_score": re2_scores(scores, Phase.FINAL),
        "initial_score_unified": _unified_scores(_unified(scores, Phase.INITIAL)),
        "final_score_unified": _unified_scores(_unified(scores, Phase.FINAL)),
    }


def re2_paper(row: Row, licence: str | None, tally: Samples) -> Row | None:
    """A paper with its reviews; None where no review has a text."""
    kept = [review for review in row["reviews"] if (review["text"] or "").strip()]
    if len(kept) < len(row["reviews"]):
        tally.left_out[NO_REVIEW_TEXT] += len(row["reviews"]) - len(kept)
    if not kept:
        return None
    scores = [read_scores(review["scores"]) for review in kept]
    return {
        "paper_id": row["forum_id"],
        "conference_year_track": re2_place(row["conference"], row["year"], row["track"]),
        "reviews": [_review(review, given) for review, given in zip(kept, scores, strict=True)],
        "review_initial_ratings_unified": [_unified(given, Phase.INITIAL) for given in scores],
        "review_final_ratings_unified": [_unified(given, Phase.FINAL) for given in scores],
        "metareview": None,
        "decision": row["decision"],
        "licence": licence,
        "paper_grade": row["grade"],
    }

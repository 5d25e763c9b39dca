"""Invented records in the formats of ReviewBench and Re², and their files."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from peercorpus.release.schemas import ReviewBench

KITES = "Kites.cc/2023/Conference"
TEXT = "# On Kites\n\nWe fly.\n\n---\n\nThey fall. é\n"


def reviewbench_review(**more: Any) -> dict[str, Any]:
    """One entry of `reviews_json`; fields that a form lacks are empty or None, as in ReviewBench's card."""
    return {
        "review_id": "r1",
        "reviewer": "Reviewer_AbCd",
        "rating": "6: marginally above",
        "confidence": 4,
        "soundness": "3 good",
        "summary": "Kites are flown.",
        "strengths": "",
        "limitations": None,
        "rebuttal": "We thank the reviewer.",
        "was_revised": None,
        "final_justification": "",
        "code_of_conduct": "Yes",
    } | more


def reviewbench_row(forum_id: str = "kite1", **more: Any) -> dict[str, Any]:
    """A row of the twenty columns."""
    reviews = more.pop("reviews", [reviewbench_review()])
    return {
        "forum_id": forum_id,
        "conference": "kites",
        "year": 2023,
        "track": "main",
        "venue_id": KITES,
        "paper_number": 7,
        "title": "On Kites",
        "abstract": "We fly kites.",
        "authors": ["Ada Example"],
        "keywords": ["kites"],
        "tldr": "",
        "primary_area": "",
        "venue": "Kites 2023 poster",
        "decision": "Accept (poster)",
        "decision_comment": "It flies.",
        "author_rebuttal": "To all reviewers: thanks.",
        "num_reviews": len(reviews),
        "reviews_json": json.dumps(reviews),
        "markdown": TEXT,
        "markdown_chars": len(TEXT),
    } | more


def write_parquet(path: Path, rows: list[dict[str, Any]], schema: pa.Schema = ReviewBench.schema) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path, row_group_size=2)
    return path


def re2_scores(rating: str) -> dict[str, str]:
    return {
        "rating": rating,
        "confidence": "3: You are fairly confident",
        "aspect_score": "soundness: 3 good\npresentation: 2 fair\n",
    }


def re2_paper(paper_id: str = "kite1", track: str = "Kites 2023 Conference", **more: Any) -> dict[str, Any]:
    """A record of `REVIEWS_*.json`."""
    review = {
        "reviewer_id": "Reviewer_AbCd",
        "review_title": "null",
        "review_content": "Kites are flown. Why?",
        "initial_score": re2_scores("5: borderline"),
        "final_score": re2_scores("7: accept"),
        "initial_score_unified": {"rating": "5 below", "confidence": "fairly confident"},
        "final_score_unified": {"rating": "7 accept", "confidence": "fairly confident"},
    }
    return {
        "paper_id": paper_id,
        "conference_year_track": track,
        "reviews": [review],
        "review_initial_ratings_unified": [5],
        "review_final_ratings_unified": [7],
        "metareview": "It flies.",
        "decision": "Accept",
    } | more


def re2_rebuttal(paper_id: str = "kite1", reviewer_id: str = "Reviewer_AbCd", **more: Any) -> dict[str, Any]:
    """A record of `REBUTTAL_*.json`."""
    messages = [
        {"role": "system", "content": "You are an experienced reviewer."},
        {"role": "user", "content": f"Your reviewer ID is {reviewer_id}; the paper is:\n```<<{paper_id}>>```"},
        {"role": "assistant", "content": "Kites are flown. Why?"},
        {"role": "user", "content": "Title: Response\nBecause of the wind."},
        {"role": "assistant", "content": "I see."},
        {"role": "assistant", "content": "I raise my score."},
    ]
    track = "Kites 2023 Conference"
    base = {"paper_id": paper_id, "conference_year_track": track, "reviewer_id": reviewer_id, "messages": messages}
    return base | more


def write_json(path: Path, content: object, **how: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, **how), encoding="utf-8")
    return path


def write_manuscript(folder: Path, paper_id: str = "kite1", text: str = TEXT) -> Path:
    """A manuscript where Re² stores it, below a folder `papers`, with the LaTeX beside it."""
    paper = folder / "papers" / "Kites" / "Kites 2023" / "Kites 2023 Conference" / paper_id
    path = paper / "Initial_manuscript_md" / "Initial_manuscript.md"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8", newline="")
    (paper / "Initial_manuscript_tex").mkdir()
    (paper / "Initial_manuscript_tex" / "main.tex").write_text("\\section{On Kites}")
    return path

"""Make the row of a paper in the layout `reviewbench`: the twenty columns of Samarth0710/reviewbench."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from peercorpus.corpus.forums import Forum
from peercorpus.importers.reviewbench import read_shape
from peercorpus.records.enums import PostKind
from peercorpus.records.reviews import Post
from peercorpus.records.untrusted_text import redact_people
from peercorpus.release.record_rows import Row
from peercorpus.release.reviews_json import card_entry
from peercorpus.release.rows import ForumRows
from peercorpus.release.schemas import REVIEWBENCH
from peercorpus.venues.venue_id import MAIN

TRACKS: Mapping[str, str] = {
    r"datasets?[ _]and[ _]benchmarks?": "datasets_and_benchmarks",
    r"\bfindings\b": "findings",
}
"""Words of ReviewBench's column `track`, by a pattern of the track in the venue id or of the venue string.

EMNLP 2023 has one venue id for both of its tracks, and names them in the venue string ("EMNLP 2023 Findings");
NeurIPS has an id per track, and in 2021 one per round of it.
"""
_NULLABLE = {"year", "paper_number"}
"""Columns that are null if unknown; all others are then empty, following ReviewBench's card."""
_EMPTY: Mapping[str, Any] = {
    field.name: [] if field.type.num_fields else "" if field.type == "string" else 0
    for field in REVIEWBENCH
    if field.name not in _NULLABLE
}


def name_track(track: str, venue: str | None) -> str:
    """Return the track in ReviewBench's words: a value of `TRACKS`, or else the words of the venue id in lower case.

    Args:
        track: `main`, or the part of the venue id that names the track.
        venue: The paper's venue string; None if it has none.

    >>> name_track("Track/Datasets_and_Benchmarks/Round1", None), name_track("main", "EMNLP 2023 Findings")
    ('datasets_and_benchmarks', 'findings')
    >>> name_track("main", "ICLR 2024 poster"), name_track("Workshop/Tiny_Papers", "Tiny Papers @ ICLR 2023")
    ('main', 'workshop_tiny_papers')
    """
    named = f"{track}\n{venue or ''}".lower()
    word = next((word for pattern, word in TRACKS.items() if re.search(pattern, named)), None)
    return word or re.sub(r"[^a-z0-9]+", "_", track.lower()).strip("_") or MAIN


def _find_responses(posts: Sequence[Post], public: set[str]) -> dict[str | None, str]:
    """Return the responses in a published record by the review that they answer; the key None is for all reviews."""
    return {post.reply_to: post.text for post in posts if post.kind is PostKind.REBUTTAL and post.post_id in public}


def reviewbench_row(forum: Forum, rows: ForumRows, *, with_authors: bool = True) -> Row:
    """Return the row of one forum.

    The values of a ReviewBench record for its paper are kept unchanged, unless they were taken down since.

    Args:
        forum: A forum without its taken-down parts.
        rows: Its rows in the layout `peercorpus`.
        with_authors: Whether authors are named.
    """
    public = forum.public_post_ids
    shape = read_shape(forum.paper.extra)
    responses = _find_responses(forum.posts, public) if shape is not None else {}
    reviews = [review for review in forum.reviews if review.readers_public and not review.deleted]
    entries = [
        card_entry(review, row, responses.get(review.review_id))
        for review, row in zip(reviews, rows.reviews, strict=True)
    ]
    paper = rows.paper
    row = {name: paper[name] for name in REVIEWBENCH.names}
    row |= {
        "conference": paper["conference"].lower(),
        "year": paper["year"],
        "track": name_track(paper["track"], paper["venue"]),
        "reviews_json": json.dumps(redact_people(entries), ensure_ascii=False),
    }
    if shape is not None:
        row["author_rebuttal"] = redact_people(responses.get(None, ""))
    said = {name: value for name, value in (shape or {}).items() if name in row and name not in forum.withheld}
    of_nothing = {name: empty for name, empty in _EMPTY.items() if row[name] is None}
    row |= of_nothing | said
    return row if with_authors else row | {"authors": []}

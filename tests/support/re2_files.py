"""Invented files in Re²'s format, with every oddity that its records may have."""

import random
from pathlib import Path
from typing import Any

from published_records import write_json

Record = dict[str, Any]
PLACES = (
    "NeurIPS 2022 Conference",
    "ICLR 2023 Conference",
    "ICLR 2023 TinyPapers",
    "MIDL 2023 Short_Paper_Track",
    "IEEE ICIST 2024 Conference",
    "ICLR 2022 Workshop Kites",
)
RATINGS = ("7: Accept: Kites fly, and more …", "5: Borderline accept", "8", 6, 6.5, "null", "(3) Reject", "Weak accept")
CONFIDENCES = ("3: You are fairly confident", "1: Your assessment is an educated guess", 4, "null", "certain")
ASPECTS = (
    "soundness: 3 good\npresentation: 4 excellent\ncontribution: 3 good\n",
    "null",
    "soundness: 3 good\nsoundness: 2 fair\n",
    "soundness: 3 good",
    "very sound\nnovelty:  2\n",
    "novelty: \u2028 two\n",
    "",
)
UNIFIED = (
    {"rating": "7 accept, but needs minor improvements", "confidence": "The reviewer is fairly confident …"},
    {"rating": "5 marginally below the acceptance threshold", "confidence": "null"},
    {"rating": "null", "confidence": "null"},
    {"rating": 5, "confidence": None, "novelty": "2"},
)
TITLES = ("null", "null", "Kites \u2013 und Wind ✓", "", "Review of <this> & that")
DECISIONS = ("Accept", "Reject", "Accept (Poster)", "Withdrawn", "null", None)
METAREVIEWS = ("The chairs like kites.\n\nThey fly.", "null", None, "")


def _scores(dice: random.Random) -> Record:
    return {
        "rating": dice.choice(RATINGS),
        "confidence": dice.choice(CONFIDENCES),
        "aspect_score": dice.choice(ASPECTS),
    }


def _review(dice: random.Random, reviewer: str, number: int) -> Record:
    first = _scores(dice)
    last = dice.choice([first, first, _scores(dice)])
    more: Record = {"aspect_score_unified": {"novelty": 3}} if number % 17 == 0 else {}
    return {
        "reviewer_id": reviewer,
        "review_title": dice.choice(TITLES),
        "review_content": f"Review {number} by {reviewer}: “why”?\n\n- kites\n\tfly 🪁" if number % 23 else "null",
        "initial_score": first,
        "final_score": last,
        "initial_score_unified": dice.choice(UNIFIED),
        "final_score_unified": dice.choice(UNIFIED),
    } | more


def make_paper(number: int) -> Record:
    """A record of `REVIEWS_*.json`; every tenth has eleven reviews, and every thirteenth two of one reviewer."""
    dice = random.Random(number)
    names = [f"Reviewer_{number:03}{place:02}" for place in range(11 if number % 10 == 0 else 1 + number % 5)]
    if number % 13 == 0:
        names.append(names[0])
    more: Record = {"keywords": ["kites", number]} if number % 7 == 0 else {}
    reviews = [_review(dice, name, number + place) for place, name in enumerate(names)]
    if all(review["review_content"] == "null" for review in reviews):
        reviews[0]["review_content"] = "It flies."
    return {
        "paper_id": f"Kite-{number:03}_",
        "conference_year_track": PLACES[number % len(PLACES)],
        "reviews": reviews,
        "review_initial_ratings_unified": [dice.choice([3, 5, 7, None]) for _ in reviews],
        "review_final_ratings_unified": [dice.choice([5, 6.5, 8]) for _ in reviews],
        "metareview": dice.choice(METAREVIEWS),
        "decision": dice.choice(DECISIONS),
    } | more


def make_conversation(paper: Record, review: Record, number: int) -> Record:
    """A record of `REBUTTAL_*.json` on a review, with the scores of the review in every second one."""
    paper_id, reviewer = paper["paper_id"], review["reviewer_id"]
    messages = [
        {"role": "system", "content": "\nYou are asked to review.\n"},
        {"role": "user", "content": f"You are {reviewer}:\n```<<{paper_id}>>```"},
        {"role": "assistant", "content": "Kites are flown. Why?"},
        {"role": "user", "content": f"Title: To {reviewer}\nBecause of the wind \u2013 №{number}.\n"},
        {"role": "assistant", "content": " I see; \uff4bite."},
        {"role": "user", "content": "Thanks."},
    ]
    scores: Record = {name: review[name] for name in ("initial_score", "final_score")} if number % 2 else {}
    more: Record = {"turns": number} if number % 5 == 0 else {}
    return {
        "paper_id": paper_id,
        "conference_year_track": paper["conference_year_track"],
        "reviewer_id": reviewer,
        **scores,
        "messages": messages[: (4, 5, 6)[number % 3]],
        **more,
    }


def make_conversations(paper: Record) -> list[Record]:
    """The conversations of a paper: one per reviewer, except every fourth."""
    reviews = {review["reviewer_id"]: review for review in reversed(paper["reviews"])}
    ordered = [reviews[name] for name in dict.fromkeys(review["reviewer_id"] for review in paper["reviews"])]
    numbered = enumerate(ordered, int(paper["paper_id"][5:8]))
    return [make_conversation(paper, review, number) for number, review in numbered if number % 4]


def write_re2(folder: Path, papers: int = 200) -> tuple[dict[str, list[Record]], dict[str, str]]:
    """Write the four files and the manuscripts; return the records by file, and the texts by paper.

    Every ninth paper of the test splits, every 31st paper has conversations but no reviews.
    """
    files: dict[str, list[Record]] = {f"{name}_{split}": [] for name in ("REVIEWS", "REBUTTAL") for split in SPLITS}
    texts: dict[str, str] = {}
    for number in range(papers):
        paper = make_paper(number)
        split = SPLITS[number % 9 == 0]
        if number % 31:
            files[f"REVIEWS_{split}"].append(paper)
        files[f"REBUTTAL_{split}"] += make_conversations(paper)
        text = f"# On kite {number}\r\n\nWe fly. é\n"
        texts[paper["paper_id"]] = text
        words = paper["conference_year_track"].split()
        places = [" ".join(words[: end + 1]) for end in range(len(words))]
        path = folder.joinpath("papers", *places, paper["paper_id"], "Initial_manuscript_md", "Initial_manuscript.md")
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8", newline="")
    for name, records in files.items():
        write_json(folder / f"{name}.json", records, ensure_ascii=False)
    return files, texts


SPLITS = ("train", "test")

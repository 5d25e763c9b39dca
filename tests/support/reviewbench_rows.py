"""Invented rows in ReviewBench's format: every conference, year and form of its card, and every empty value."""

import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

VENUES: Sequence[tuple[str, int, str, str]] = (
    ("neurips", 2021, "main", "NeurIPS.cc/2021/Conference"),
    ("neurips", 2022, "main", "NeurIPS.cc/2022/Conference"),
    ("neurips", 2023, "main", "NeurIPS.cc/2023/Conference"),
    ("neurips", 2023, "datasets_and_benchmarks", "NeurIPS.cc/2023/Track/Datasets_and_Benchmarks"),
    ("neurips", 2024, "main", "NeurIPS.cc/2024/Conference"),
    ("neurips", 2025, "main", "NeurIPS.cc/2025/Conference"),
    *(("iclr", year, "main", f"ICLR.cc/{year}/Conference") for year in range(2020, 2027)),
    ("icml", 2025, "main", "ICML.cc/2025/Conference"),
    ("tmlr", 2024, "main", "TMLR"),
    ("tmlr", 2026, "main", "TMLR"),
    ("emnlp", 2023, "main", "EMNLP/2023/Conference"),
    ("emnlp", 2023, "findings", "EMNLP/2023/Conference"),
    *(("corl", year, "main", f"robot-learning.org/CoRL/{year}/Conference") for year in range(2021, 2025)),
    ("colm", 2024, "main", "colmweb.org/COLM/2024/Conference"),
    ("colm", 2025, "main", "colmweb.org/COLM/2025/Conference"),
)
"""Conference, year, track and venue id, as named in its card's table of coverage."""
PROSE = (
    "Kites are flown. Why?",
    "- one\n- two\n\n  three",
    "Größe, naïveté, 風箏, 🪁, and e\u0301.",
    "x\x00y\x0cz\u2028w\u202e",
    "tab\there, return\r\nand spaces   ",
    '{"not": "JSON"} [1] "quoted" \\n',
    "$a_1$ & <b>bold</b> | ~tilde @ 0.5",
)
WORDS = ("summary", "strengths", "weaknesses", "questions", "limitations")
FORMS: dict[str, tuple[str, ...]] = {
    "neurips": (*WORDS, "soundness", "presentation", "contribution"),
    "iclr": (*WORDS, "soundness", "presentation", "contribution"),
    "icml": ("claims_and_evidence", "theoretical_claims", "experimental_designs_or_analyses", "questions"),
    "tmlr": ("claims_and_evidence", "relation_to_broader_scientific_literature", "quality", "clarity"),
    "emnlp": ("paper_topic_and_main_contributions", "reasons_to_accept", "excitement", "ethical_concerns"),
    "corl": ("summary_of_paper", "technical_quality", "robotics_focus", "potential_impact"),
    "colm": (*WORDS, "reasons_to_reject", "quality"),
}
EVERY = ("review_id", "reviewer", "rating", "confidence", "rebuttal")
RATINGS = (
    6,
    8.0,
    5.5,
    "6: marginally above the acceptance threshold",
    "8",
    None,
    "",
    "N/A",
    -1,
    "3 good",
    "Accept",
    [6],
)
SCORES = {"soundness", "presentation", "contribution", "quality", "clarity", "excitement"} | {
    "technical_quality",
    "robotics_focus",
}
ODD: Sequence[dict[str, Any]] = (
    {"flag_for_ethics_review": ["No ethics review needed.", "é"], "code_of_conduct": "Yes"},
    {"Capital Letters": "text", "rating_label": "6: weak accept", "soundness_initial": 2},
    {"nested": {"b": {"y": 1, "x": [None, {"$": "summary"}]}, "a": ""}, "$": {"$": 1}},
    {"title": "A title", "review_title": "Another title", "final_justification": "I keep my score."},
    {"summary_initial": "As first given.", "rating_initial": 5, "updated_fields": ["summary"]},
    {"was_revised": True, "number": 12345678901234567, "share": 0.1, "zero": 0, "no": False},
    {"was_revised": "yes", "extra_other": {"boxes": [True]}, "empty": {}, "none": []},
    {},
)
EXTRAS: Sequence[tuple[object, object]] = (
    ({}, {}),
    ({"novelty": 3, "technical_quality": "4: high"}, {"relation": "To kites.", "aside": ""}),
    ({"Overall": None, "rating": 7}, {"summary": "Another summary.", "list": ["a", 1], "deep": {"z": 1, "a": "é"}}),
    (None, None),
    ("", "free words"),
)


def _review(rng: random.Random, conference: str, number: int) -> dict[str, Any]:
    review: dict[str, Any] = {
        "review_id": rng.choices([f"{rng.getrandbits(40):010x}", None, "", 17], weights=[30, 1, 1, 1])[0],
        "reviewer": rng.choices(["Reviewer_AbCd", f"Reviewer_{number}", "AnonReviewer1", None], weights=[9, 9, 9, 1])[
            0
        ],
        "rating": rng.choice(RATINGS),
        "confidence": rng.choice([4, "3: fairly confident", "", None, 2.0]),
        "rebuttal": rng.choice(["", None, f"We thank reviewer {number}.\n\n{rng.choice(PROSE)}"]),
    }
    for name in sorted({name for form in FORMS.values() for name in form}):
        asked = name in FORMS[conference]
        if name in SCORES:
            review[name] = rng.choice([3, "3 good", "2: fair", None]) if asked else rng.choice(["", None])
        else:
            review[name] = rng.choice(PROSE) if asked else rng.choice(["", None])
    scores, texts = rng.choice(EXTRAS)
    review |= rng.choice(ODD) | {"extra_scores": scores, "extra_text": texts}
    names = list(review)
    if rng.random() < 0.3:
        rng.shuffle(names)
    return {name: review[name] for name in names if name in EVERY or rng.random() < 0.95}


def _markdown(rng: random.Random) -> str:
    pages = ["\n\n".join(rng.choices(PROSE, k=4)) for _ in range(rng.randint(1, 3))]
    return "# On Kites\n\n" + "\n\n---\n\n".join(pages) + rng.choice(["", "\n", "\n\n---\n\n", " "])


def invented_rows(papers: int = 200, seed: int = 7) -> Iterator[dict[str, Any]]:
    """Yield rows of the twenty columns, always the same for a given seed."""
    rng = random.Random(seed)
    for number in range(papers):
        conference, year, track, venue_id = VENUES[number % len(VENUES)]
        forum_id = f"{rng.getrandbits(30):08x}{number}"
        reviews = [_review(rng, conference, one) for one in range(rng.choice([0, 1, 3, 4]))]
        markdown = f"{forum_id} {_markdown(rng)}" if rng.random() < 0.9 else ""
        said = [rng.choice(["", None, " ", "null", one]) for one in PROSE]
        yield {
            "forum_id": forum_id,
            "conference": conference,
            "year": year,
            "track": track,
            "venue_id": venue_id,
            "paper_number": rng.choice([None, number]),
            "title": rng.choice([f"On Kite {number}", said[0]]),
            "abstract": rng.choice([PROSE[number % len(PROSE)], said[1]]),
            "authors": rng.choice([None, [], ["Ada Example", "Bö Ek"], ["Ada Example", None, ""]]),
            "keywords": rng.choice([None, [], ["kites", "wind"], ["", "kites", None]]),
            "tldr": said[2],
            "primary_area": rng.choice(["kites", "", None]),
            "venue": rng.choice([f"{conference.upper()} {year} poster", said[3]]),
            "decision": rng.choice(["Accept (poster)", "Accept (oral)", "Reject", "", None]),
            "decision_comment": said[4],
            "author_rebuttal": said[5],
            "num_reviews": len(reviews) if rng.random() < 0.95 else rng.choice([None, 9]),
            "reviews_json": json.dumps(reviews, ensure_ascii=rng.random() < 0.5)
            if reviews
            else rng.choice(["[]", "", None]),
            "markdown": markdown or rng.choice(["", None]),
            "markdown_chars": len(markdown) if rng.random() < 0.95 else None,
        }

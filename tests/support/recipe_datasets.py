"""Invented files in the exact formats of ReviewBench and Re², for recipe runs: 200 papers each by default."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa

from published_records import re2_rebuttal, re2_scores, reviewbench_row, write_json, write_parquet

REVIEWBENCH_PLACES = (
    ("neurips", 2021, "main", "NeurIPS.cc/2021/Conference"),
    ("neurips", 2021, "datasets_and_benchmarks", "NeurIPS.cc/2021/Track/Datasets_and_Benchmarks/Round1"),
    ("neurips", 2021, "datasets_and_benchmarks", "NeurIPS.cc/2021/Track/Datasets_and_Benchmarks/Round2"),
    ("neurips", 2022, "main", "NeurIPS.cc/2022/Conference"),
    ("neurips", 2023, "main", "NeurIPS.cc/2023/Conference"),
    ("neurips", 2023, "datasets_and_benchmarks", "NeurIPS.cc/2023/Track/Datasets_and_Benchmarks"),
    ("neurips", 2024, "main", "NeurIPS.cc/2024/Conference"),
    ("neurips", 2025, "main", "NeurIPS.cc/2025/Conference"),
    *(("iclr", year, "main", f"ICLR.cc/{year}/Conference") for year in range(2020, 2027)),
    ("icml", 2025, "main", "ICML.cc/2025/Conference"),
    ("tmlr", 2024, "main", "TMLR"),
    ("emnlp", 2023, "main", "EMNLP/2023/Conference"),
    ("emnlp", 2023, "findings", "EMNLP/2023/Conference"),
    *(("corl", year, "main", f"robot-learning.org/CoRL/{year}/Conference") for year in range(2021, 2025)),
    ("colm", 2024, "main", "colmweb.org/COLM/2024/Conference"),
    ("colm", 2025, "main", "colmweb.org/COLM/2025/Conference"),
)
RE2_PLACES = ("NeurIPS 2022 Conference", "ICLR 2023 Conference", "CoRL 2022 Conference", "MIDL 2023 Short_Paper_Track")
WORDS = ("kites", "wind", "rope", "tail", "cloth", "flight")


def words(number: int, count: int) -> str:
    """Some words that differ from paper to paper."""
    return " ".join(WORDS[(number * (place + 3) + place * place) % len(WORDS)] for place in range(count))


def paper_text(number: int, pages: int = 3) -> str:
    """A text with marks between its pages."""
    body = [f"# On the kite {number}\n\nWe fly kite {number}. {words(number, 40)}."]
    body += [f"## Part {page}\n\nPage {page} of {number}. {words(number + page, 60)}." for page in range(2, pages + 1)]
    return "\n\n---\n\n".join(body)


def union_of_forms(number: int, reviewer: int, conference: str) -> dict[str, Any]:
    """A review with all documented keys, and values for those the conference has according to the card."""
    from peercorpus.recipes.recipe import RecipeName, read_recipe
    from peercorpus.release.reviews_json import FIELDS

    asked = {
        name: 3 if FIELDS[name] is None else f"On {name}: {words(number, 3)}."
        for group in read_recipe(RecipeName.REVIEWBENCH).review_keys
        if conference in group.splits
        for name in group.names
    }

    given = {
        "review_id": f"rev{number:04d}{reviewer}",
        "reviewer": f"Reviewer_{number:02x}{reviewer:02x}",
        "rating": 3 + (number + reviewer) % 6,
        "confidence": 2 + reviewer % 3,
        "summary": f"The paper flies kite {number}.",
        "strengths": f"It flies. {words(number, 5)}.",
        "weaknesses": f"It falls. {words(reviewer, 5)}.",
        "rebuttal": f"We thank reviewer {reviewer} for the words on kite {number}.",
    }
    return {**FIELDS, **asked, **given, "extra_scores": {}, "extra_text": {}}


def reviewbench_papers(count: int = 200) -> list[dict[str, Any]]:
    """Rows of the twenty columns over all conferences, years and tracks; every 50th has no text."""
    rows = []
    for number in range(count):
        conference, year, track, venue_id = REVIEWBENCH_PLACES[number % len(REVIEWBENCH_PLACES)]
        text = "" if number % 50 == 49 else paper_text(number)
        is_accepted = number % 3 != 0
        rows.append(
            reviewbench_row(
                f"paper{number:05d}",
                conference=conference,
                year=year,
                track=track,
                venue_id=venue_id,
                paper_number=number + 1,
                title=f"On the kite {number}",
                abstract=f"We fly kite {number}. {words(number, 12)}.",
                keywords=[WORDS[number % len(WORDS)]],
                decision="Accept (poster)" if is_accepted else "Reject",
                venue=f"{conference.upper()} {year} {'poster' if is_accepted else 'rejected'}",
                reviews=[union_of_forms(number, reviewer, conference) for reviewer in range(1 + number % 4)],
                markdown=text,
                markdown_chars=len(text),
            )
        )
    return rows


def write_reviewbench(folder: Path, rows: list[dict[str, Any]] | None = None, schema: pa.Schema | None = None) -> Path:
    """Write `data/<conference>-00000-of-00001.parquet` for each conference, and return the folder."""
    rows = reviewbench_papers() if rows is None else rows
    for conference in dict.fromkeys(row["conference"] for row in rows):
        of_conference = [row for row in rows if row["conference"] == conference]
        path = folder / "data" / f"{conference}-00000-of-00001.parquet"
        write_parquet(path, of_conference, *([schema] if schema is not None else []))
    return folder


def re2_review(number: int, reviewer: int) -> dict[str, Any]:
    """A review of Re² with scores before and after the rebuttal."""
    first, last = 4 + (number + reviewer) % 4, 4 + (number + 2 * reviewer) % 5
    confidence = "The reviewer is fairly confident that the evaluation is correct"
    return {
        "reviewer_id": f"Reviewer_{number:02x}{reviewer:02x}",
        "review_title": "null",
        "review_content": f"The paper flies kite {number}. {words(number + reviewer, 30)}. Why?",
        "initial_score": re2_scores(f"{first}: so so"),
        "final_score": re2_scores(f"{last}: so so"),
        "initial_score_unified": {"rating": f"{first} as before", "confidence": confidence},
        "final_score_unified": {"rating": f"{last} as after", "confidence": confidence},
    }


def re2_papers(count: int = 200) -> list[dict[str, Any]]:
    """Records of `REVIEWS_*.json`."""
    papers = []
    for number in range(count):
        reviews = [re2_review(number, reviewer) for reviewer in range(1 + number % 4)]
        papers.append(
            {
                "paper_id": f"paper{number:05d}",
                "conference_year_track": RE2_PLACES[number % len(RE2_PLACES)],
                "reviews": reviews,
                "review_initial_ratings_unified": [4 + (number + reviewer) % 4 for reviewer in range(len(reviews))],
                "review_final_ratings_unified": [4 + (number + 2 * reviewer) % 5 for reviewer in range(len(reviews))],
                "metareview": f"The reviewers like kite {number}.",
                "decision": "Accept" if number % 3 else "Reject",
            }
        )
    return papers


def write_re2(folder: Path, papers: list[dict[str, Any]] | None = None, test: int = 20) -> Path:
    """Write the four JSON files and the manuscripts, and return the folder; the last `test` papers are tested on."""
    papers = re2_papers() if papers is None else papers
    for split, of_split in (("train", papers[:-test]), ("test", papers[-test:])):
        write_json(folder / f"REVIEWS_{split}.json", of_split, indent=4)
        rebuttals = [
            re2_rebuttal(paper["paper_id"], review["reviewer_id"], conference_year_track=paper["conference_year_track"])
            for paper in of_split
            for review in paper["reviews"]
        ]
        write_json(folder / f"REBUTTAL_{split}.json", rebuttals, indent=4)
    for number, paper in enumerate(papers):
        tokens = paper["conference_year_track"].split()
        steps = [" ".join(tokens[: length + 1]) for length in range(len(tokens))]
        path = folder.joinpath("papers", *steps, paper["paper_id"], "Initial_manuscript_md", "Initial_manuscript.md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(paper_text(number), encoding="utf-8")
    return folder


def read_rows(folder: Path) -> list[dict[str, Any]]:
    """The rows of a conformance report."""
    rows: list[dict[str, Any]] = json.loads((folder / "conformance.json").read_text(encoding="utf-8"))["rows"]
    return rows

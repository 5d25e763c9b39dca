"""Invented files in the layouts of other datasets: PeerRead, NLPeer, paperlists, tables, and texts with decisions."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PAPER = "kItE1-abcd"
OTHER = "kItE2_efgh"
WORDS = "Kites rise where the wind is steady, and we say how high. "


def write(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]], delimiter: str = ",") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        table.writeheader()
        table.writerows(rows)
    return path


def peerread_reviews(*, accepted: bool | None = True) -> dict[str, Any]:
    """A file of reviews in the format of ICLR 2017's: every entry twice, a copy of a review marked as a meta-review."""
    reviewer = {"OTHER_KEYS": "ICLR 2017 conference AnonReviewer2", "IS_ANNOTATED": True, "CLARITY": 5}
    entries = [
        {"IS_META_REVIEW": True, "comments": "They fly well."},
        {"TITLE": "ICLR committee final decision", "comments": "Accept it.", "OTHER_KEYS": "ICLR 2017 pcs"},
        {"TITLE": "Strings", "comments": "Which string?", "OTHER_KEYS": "(anonymous)", "DATE": "9 Jan 2017"},
        {"TITLE": "New strings", "comments": "Now red ones.", "OTHER_KEYS": "Ada Wind", "DATE": "8 Jan 2017"},
        {
            "TITLE": "Good kites",
            "comments": "They fly well.\n",
            "RECOMMENDATION": 7,
            "REVIEWER_CONFIDENCE": 4,
            "DATE": "16 Dec 2016 (modified: 17 Dec 2016)",
            "IS_META_REVIEW": False,
        }
        | reviewer,
        {"TITLE": "How high?", "comments": "", "DATE": "2 Dec 2016", "IS_META_REVIEW": False} | reviewer,
    ]
    return {
        "conference": "ICLR 2017 conference submission",
        "title": "On Kites",
        "abstract": "We fly kites.",
        "authors": "Ada Wind*, Bo Tail",
        "histories": [],
        "id": "316",
        "reviews": [*entries, *json.loads(json.dumps(entries))],
    } | ({} if accepted is None else {"accepted": accepted})  # fmt: skip


def write_peerread(folder: Path, names: Sequence[str] = ("316",), accepted: Sequence[bool | None] = (True,)) -> Path:
    """Return the top of a folder `data/iclr_2017/train` with reviews and parsed PDFs."""
    for name, is_accepted in zip(names, accepted, strict=True):
        root = folder / "data" / "iclr_2017" / "train"
        write(root / "reviews" / f"{name}.json", peerread_reviews(accepted=is_accepted))
        sections = [{"heading": "1 INTRODUCTION", "text": WORDS * 9}, {"heading": None, "text": f"Kite {name}."}]
        metadata = {"title": "ON KITES", "emails": ["a@example.org"], "sections": sections, "references": []}
        write(root / "parsed_pdfs" / f"{name}.pdf.json", {"name": f"{name}.pdf", "metadata": metadata})
    return folder


def write_nlpeer(folder: Path) -> Path:
    """Return the top of a dataset with one paper in two versions."""
    paper = folder / "ARR-22" / "data" / "p17"
    write(folder / "ARR-22" / "data" / "meta.json", {"name": "ARR-22"})
    write(paper / "meta.json", {"title": "On Kites", "license": "CC BY 4.0"})
    write(paper / "v1" / "meta.json", {"title": "On Kites", "authors": [], "abstract": "We fly kites."})
    review = {
        "rid": "r1",
        "reviewer": None,
        "report": {"main": "", "paper_summary": "Kites fly.", "summary_of_strengths": "They are red."},
        "scores": {"overall": "4 = This paper represents solid work.", "confidence": "3"},
        "meta": {"sentences": [[0, 9]], "best_paper": "No"},
    }
    write(paper / "v1" / "reviews.json", [review])
    nodes = [
        {"ix": "1", "ntype": "article-title", "content": "On Kites", "meta": None},
        {"ix": "2", "ntype": "heading", "content": "Wind", "meta": None},
        {"ix": "3", "ntype": "paragraph", "content": WORDS.strip(), "meta": None},
        {"ix": "4", "ntype": "headnote", "content": "ARR 2022", "meta": None},
    ]
    write(paper / "v1" / "paper.itg.json", {"nodes": nodes, "edges": [], "prefix": "p17"})
    write(paper / "v2" / "reviews.json", [])
    write(paper / "v2" / "meta.json", {"title": "On Red Kites"})
    return folder


def paper_row(**more: Any) -> dict[str, Any]:
    """A row of paperlists."""
    return {
        "id": PAPER,
        "title": "On Kites",
        "track": "main",
        "status": "Reject",
        "abstract": "We fly kites.",
        "keywords": "kites;wind",
        "author": "Ada Wind;Bo Tail",
        "authorids": "~Ada_Wind1;~Bo_Tail1",
        "gender": "F;M",
        "homepage": "https://example.org/ada;",
        "aff": "University of Wind;",
        "email": "a@example.org;",
        "site": f"https://openreview.net/forum?id={PAPER}",
        "rating": "6;3;5",
        "confidence": "4;2;3",
        "soundness": "",
        "reviewers": "aB1c;dE2f;gH3i",
        "wc_review": "120;88;301",
        "rating_avg": [4.67, 1.25],
        "gs_citation": 12,
    } | more


def write_texts(folder: Path, decisions: Mapping[str, str]) -> Path:
    """Return a folder in the format of AI-Scientist's bench."""
    for number, name in enumerate(decisions):
        write(folder / "kites_parsed" / f"{name}.txt", f"# On Kite {number}\n\n{WORDS * 20}")
    write(folder / "kites_parsed" / "README.md", "Texts of kites.")
    rows = [{"paper_id": name, "0": "6.0", "1": "3.0", "2": "", "decision": said} for name, said in decisions.items()]
    write_rows(folder / "ratings_subset.tsv", rows, "\t")
    machine = [{"paper_id": PAPER, "Summary": "It flies.", "Strengths": "Red.", "Overall": 6, "Decision": "Accept"}]
    write_rows(folder / "llm_reviews" / "gpt-4o_temp_0_1.csv", machine)
    return folder

"""Files in Re²'s format: its readers open them, and import, build, publish and export leave them unchanged."""

import json
import random
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from asked_releases import publish_release
from in_this_process import build_here
from invented_releases import a_release, review, score, talk, task_paper
from peercorpus.errors import PeercorpusError
from peercorpus.importers.import_dumps import import_dumps
from peercorpus.pipeline.status import read_status
from peercorpus.records.enums import Grade
from peercorpus.release.exports.export import export_release
from peercorpus.release.exports.formats import ExportLayout
from peercorpus.release.exports.request import ExportRequest
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.workspace.workspace import open_workspace
from planted_releases import resign
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


RE2 = ExportRequest(format=ExportLayout.RE2)


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """An export with papers that lack what others have."""
    bare = review("bare", reviewer="R2", scores=[], title="Fine")
    words = score("overall", "Weak Accept", aspect="recommendation")
    sure = score("confidence", "4: sure", aspect="confidence", value=4.0, low=1.0, high=5.0)
    reviews = [review("late", reviewer="R3"), bare, review("words", reviewer="R1", scores=[words, sure])]
    talks = [talk("t2", "Why?", "So.", reviewer=name, conversation_id=f"t2/{name}") for name in ("R1", "R2", "R3")]
    papers = {
        "train": [
            task_paper("t1"),
            task_paper("t2", reviews=reviews, conversations=talks, decision=None, status="withdrawn"),
            task_paper("t3", venue_id="IEEE.org/ICIST/2024/Conference", decision=None, status="unknown"),
        ],
        "validation": [task_paper("v9", decision_comment="It flies.")],
        "test": [task_paper("x9", posts=[{"kind": "meta_review", "text": "We like it.", "post_id": "m1"}])],
    }
    export_release(a_release(tmp_path / "release", papers), tmp_path / "out", RE2)
    return tmp_path / "out"


def load(folder: Path, name: str) -> list[Record]:
    found: list[Record] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return found


def show_threads(reviews: list[Record], talks: list[Record]) -> list[Record]:
    """A reader that shows each conversation of a paper beside the review at the same place in the paper's list."""
    by_paper = defaultdict(list)
    for one in talks:
        by_paper[one["paper_id"]].append(one)
    shown = []
    for paper in reviews:
        for place, one in enumerate(by_paper[paper["paper_id"]]):
            beside = paper["reviews"][place]
            assert re.search(r"(?:19|20)\d\d", paper["conference_year_track"])
            shown.append(
                {
                    "same": beside["reviewer_id"] == one["reviewer_id"],
                    "first": beside["initial_score"]["rating"] != "null" and beside["initial_score"]["rating"],
                    "speakers": [message["role"] for message in one["messages"][2:]],
                    "accepted": bool(re.search("accept|poster|oral", paper["decision"] or "", re.IGNORECASE)),
                }
            )
    return shown


def join_cases(reviews: list[Record], talks: list[Record]) -> dict[str, tuple[int, int]]:
    """A reader that keeps reviews with a rating, and of each conversation what follows the prompt and the review."""
    cases = {}
    for paper in reviews:
        ratings = [[one[name].get("rating") for name in ("initial_score", "final_score")] for one in paper["reviews"]]
        rated = [pair for pair in ratings if any(str(rating).lower() not in {"", "null", "none"} for rating in pair)]
        follow_ups = 0
        for one in (one for one in talks if one["paper_id"] == paper["paper_id"]):
            begun = next(n for n, message in enumerate(one["messages"]) if message["role"] == "assistant")
            follow_ups += sum(bool(message["content"].strip()) for message in one["messages"][begun + 1 :])
        cases[paper["paper_id"]] = (len(rated), follow_ups)
    return cases


def count(reviews: list[Record]) -> Counter[str]:
    """A reader that counts a file's records; "null" would count as a meta-review, so none is null."""
    counts: Counter[str] = Counter()
    for paper in reviews:
        counts["reviews"] += len(paper["reviews"])
        counts["texts"] += sum(isinstance(one["review_content"], str) for one in paper["reviews"])
        counts["metareviews"] += bool(paper.get("metareview"))
        numbers = (paper["review_initial_ratings_unified"] or []) + (paper["review_final_ratings_unified"] or [])
        counts["ratings"] += len([number for number in numbers if isinstance(number, int)])
        counts[str(paper["decision"])] += 1
    return counts


def test_threads_are_next_to_their_review(export: Path) -> None:
    for split, number in (("train", 6), ("test", 1)):
        shown = show_threads(load(export, f"REVIEWS_{split}"), load(export, f"REBUTTAL_{split}"))
        assert len(shown) == number
        assert {tuple(one["speakers"]) for one in shown} <= {
            ("assistant", "user", "assistant"),
            ("assistant", "user"),
        }
    told = show_threads(load(export, "REVIEWS_train"), load(export, "REBUTTAL_train"))
    of_three = told[1:4]
    assert [one["same"] for one in of_three] == [True, True, True]


def test_cases_are_joined_by_paper(export: Path) -> None:
    cases = join_cases(load(export, "REVIEWS_train"), load(export, "REBUTTAL_train"))
    assert cases == {"t1": (1, 2), "t2": (2, 3), "t3": (1, 2), "v9": (1, 2)}


@pytest.mark.parametrize(
    "option", [{"paper": "abstract"}, {"system": False}, {"max_characters": 5}, {"assistant": "author"}]
)
def test_options_that_re2_has_no_place_for_are_refused(option: dict[str, Any]) -> None:
    with pytest.raises(PeercorpusError, match="--format re2"):
        ExportRequest(format=ExportLayout.RE2, task="rebuttal", **option)


def test_a_release_without_the_task_is_refused(tmp_path: Path) -> None:
    release = a_release(tmp_path / "release", {"train": [task_paper("t1")]})
    shard = "00000-of-00001.parquet"
    other = a_release(tmp_path / "other", {"train": [task_paper("t2")]})
    for config in ("papers_full", "conversations"):
        (release / "data" / config / f"iclr-{shard}").write_bytes(
            (other / "data" / config / f"iclr-{shard}").read_bytes()
        )
    resign(release)
    with pytest.raises(PeercorpusError, match=r"'papers_full'.*lacks 't1'.*publish"):
        export_release(release, tmp_path / "out", RE2)


@pytest.fixture(scope="module")
def trip(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The folders of the files and of their export."""
    folder = tmp_path_factory.mktemp("re2")
    write_re2(folder / "in")
    with open_workspace(folder / "corpus", create=True) as workspace:
        import_dumps(workspace, [folder / "in"])
        build_here(workspace)
        standing = read_status(workspace)
        assert standing.holds, standing.balances
        publish_release(workspace, folder / "release", splits=SplitRequest(Profile.STATED), grade=Grade.STATED.value)
    export_release(folder / "release", folder / "out", RE2)
    return folder / "in", folder / "out"


def read(folder: Path, name: str) -> dict[tuple[str, str], Record]:
    """The records of one file, by paper and reviewer."""
    records = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return {(record["paper_id"], record.get("reviewer_id", "")): record for record in records}


def without_ours(exported: Record, stated: Record) -> Record:
    added = {"licence", "paper_grade"} | ({"initial_score", "final_score"} - stated.keys())
    return {name: value for name, value in exported.items() if name not in added}


@pytest.mark.slow
@pytest.mark.parametrize("name", [f"{name}_{split}" for name in ("REVIEWS", "REBUTTAL") for split in SPLITS])
def test_records_of_re2_survive_the_round_trip_unchanged(trip: tuple[Path, Path], name: str) -> None:
    stated, exported = (read(folder, name) for folder in trip)
    assert exported.keys() == stated.keys()
    for key, record in stated.items():
        assert without_ours(exported[key], record) == record

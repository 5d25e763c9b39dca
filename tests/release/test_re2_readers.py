"""What public code requires of Re²'s files, reimplemented here: each reader opens an export without an error."""

import json
import os
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from invented_releases import a_release, review, score, talk, task_paper
from peercorpus.errors import PeercorpusError
from peercorpus.models.chat_messages import ChatOptions, Speaker
from peercorpus.records.enums import Role
from peercorpus.release.exports.export import export_release
from peercorpus.release.exports.formats import ExportLayout
from peercorpus.release.exports.layouts import ExportRequest
from peercorpus.release.exports.samples import Opening, PromptOptions
from peercorpus.release.splits import Task

Record = dict[str, Any]
KEPT = PromptOptions(chat=ChatOptions(ends_answered=False))
RE2 = ExportRequest(ExportLayout.RE2, telling=KEPT)


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


def find_texts(folder: Path, reviews: list[Record]) -> tuple[set[str], set[str]]:
    """Two readers of the texts: one walks through `papers`, the other builds the path from the venue's name."""
    walked = {Path(root).name for root, folders, _ in os.walk(folder / "papers") if "Initial_manuscript_md" in folders}
    found = set()
    for paper in reviews:
        words = paper["conference_year_track"].split()
        places = [" ".join(words[: end + 1]) for end in range(len(words))]
        path = folder.joinpath("papers", *places, paper["paper_id"], "Initial_manuscript_md", "Initial_manuscript.md")
        found |= {paper["paper_id"]} if path.read_text(encoding="utf-8") else set()
    return walked, found


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


def test_threads_are_next_to_the_review_of_the_same_reviewer(export: Path) -> None:
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


def test_cases_are_joined_by_paper_and_keep_what_follows_the_review(export: Path) -> None:
    cases = join_cases(load(export, "REVIEWS_train"), load(export, "REBUTTAL_train"))
    assert cases == {"t1": (1, 2), "t2": (2, 3), "t3": (1, 2), "v9": (1, 2)}


def test_a_text_is_found_both_ways(export: Path) -> None:
    reviews = load(export, "REVIEWS_train") + load(export, "REVIEWS_test")
    assert find_texts(export, reviews) == ({"t1", "t2", "t3", "v9", "x9"},) * 2


def test_counts_match_the_files(export: Path) -> None:
    train, test = (count(load(export, f"REVIEWS_{split}")) for split in ("train", "test"))
    assert train == {
        "reviews": 6,
        "texts": 6,
        "metareviews": 1,
        "ratings": 8,
        "Accept (Poster)": 2,
        "Withdrawn": 1,
        "None": 1,
    }
    assert (test["metareviews"], load(export, "REVIEWS_test")[0]["metareview"]) == (1, "We like it.")


def test_unified_scores_have_re2s_names(export: Path) -> None:
    paper = next(one for one in load(export, "REVIEWS_train") if one["paper_id"] == "t2")
    of_words = next(one for one in paper["reviews"] if one["reviewer_id"] == "R1")
    assert of_words["final_score"] == {"rating": "Weak Accept", "confidence": "4: sure", "aspect_score": "null"}
    assert of_words["final_score_unified"]["rating"] == "null"
    assert of_words["final_score_unified"]["confidence"].startswith("The reviewer is confident but not")
    assert {one["review_title"] for one in paper["reviews"]} == {"null", "Fine"}


def test_conversations_without_a_reply_of_the_reviewer_can_be_excluded(tmp_path: Path) -> None:
    release = a_release(tmp_path / "release", {"train": [task_paper("t1", conversations=[talk("t1", "Why?", "So.")])]})
    export_release(release, tmp_path / "kept", RE2)
    exported = export_release(release, tmp_path / "out", ExportRequest(ExportLayout.RE2))
    assert [len(load(tmp_path / name, "REBUTTAL_train")) for name in ("kept", "out")] == [1, 0]
    assert exported.files[2].samples.left_out.total() == 1


@pytest.mark.parametrize(
    "telling",
    [
        PromptOptions(Opening.ABSTRACT),
        PromptOptions(with_system=False),
        PromptOptions(most_characters=5),
        PromptOptions(chat=ChatOptions(assistant=Role.AUTHOR)),
    ],
)
def test_options_that_re2_has_no_place_for_are_refused(tmp_path: Path, telling: PromptOptions) -> None:
    with pytest.raises(PeercorpusError, match="--format re2"):
        export_release(
            a_release(tmp_path / "release"),
            tmp_path / "out",
            ExportRequest(ExportLayout.RE2, (Task.REBUTTAL,), telling),
        )


def test_a_release_without_papers_of_a_task_must_be_published_again(tmp_path: Path) -> None:
    release = a_release(tmp_path / "release", {"train": [task_paper("t1")]})
    shard = "00000-of-00001.parquet"
    other = a_release(tmp_path / "other", {"train": [task_paper("t2")]})
    for config in ("papers_full", "conversations"):
        (release / "data" / config / f"iclr-{shard}").write_bytes(
            (other / "data" / config / f"iclr-{shard}").read_bytes()
        )
    with pytest.raises(PeercorpusError, match=r"'papers_full'.*lacks 't1'.*publish"):
        export_release(release, tmp_path / "out", RE2)


def test_the_first_message_names_reviewer_and_paper(export: Path) -> None:
    for one in load(export, "REBUTTAL_train"):
        system, first = one["messages"][:2]
        assert (system["role"], first["role"]) == (Speaker.SYSTEM, Speaker.USER)
        assert one["reviewer_id"] in first["content"]
        assert first["content"].endswith(f"```<<{one['paper_id']}>>```")

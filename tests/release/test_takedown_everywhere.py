"""Each configuration of a release, new ones too, loses what is taken down, and the tombstone counts it."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from answered_points import with_points
from asked_releases import publish_release
from invented_tables import (
    ICLR,
    NOON,
    a_forum,
    conversation,
    invented,
    link,
    paper,
    post,
    review,
    turn,
    version,
    with_figures,
)
from invented_tables import what_follows as follow
from peercorpus.corpus.takedown import TOMBSTONE
from peercorpus.records.ai_reviews import AiReview
from peercorpus.records.documents import Change, Figure, PaperText
from peercorpus.records.enums import ChangeKind, Grade, PostKind, Role, SectionKind
from peercorpus.records.papers import Paper, PaperVersion
from peercorpus.records.reviews import Conversation, Post, Review, Section
from peercorpus.release.folder import open_release
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.release.shards import CONFIGS
from peercorpus.release.verify.verify import verify_release

WORD = "XYZZY"
"""A word in all texts of the paper that is taken down, including those of its changes."""
GONE, OTHER, EARLIER = "f2gone", "f1stays", "f0earlier"
WORDS: dict[type, dict[str, Any]] = {
    Paper: dict.fromkeys(("title", "abstract", "decision", "decision_comment"), WORD),
    Review: {"title": WORD, "sections": (Section(SectionKind.SUMMARY, "summary", WORD),)},
    Post: dict.fromkeys(("title", "text"), WORD),
    PaperVersion: dict.fromkeys(("title", "abstract"), WORD),
    PaperText: {"markdown": f"# {WORD}"},
    AiReview: {"title": WORD, "sections": (Section(SectionKind.OTHER, "ai_review", WORD),), "replies": ()},
    Figure: dict.fromkeys(("label", "caption"), WORD),
    Change: dict.fromkeys(("section", "before", "after"), WORD),
}


def speak(record: object) -> object:
    """A record whose every text is the word."""
    if isinstance(record, Conversation):
        return replace(record, turns=tuple(replace(one, title=WORD, text=WORD) for one in record.turns))
    return replace(record, **WORDS.get(type(record), {}))  # type: ignore[type-var]


def corpus() -> list[object]:
    """Three papers: one that stays, and two submissions of the same work; every text of the later is the word."""
    spoken = [speak(record) for record in with_figures([*a_forum(GONE), *follow(GONE)])]
    others = with_figures([*a_forum(EARLIER), *a_forum(OTHER), *follow(OTHER)])
    return [*with_points(others), *with_points(spoken), link(GONE, ICLR, EARLIER)]


def publish(folder: Path, listed: str, records: list[object]) -> dict[str, list[dict[str, Any]]]:
    """The rows of each configuration of a release, which is checked."""
    with invented(folder / "corpus", {ICLR: records}) as workspace:
        (folder / "corpus" / "takedown.txt").write_text(listed)
        has_figures = any(isinstance(record, Figure) for record in records)
        splits = SplitRequest(Profile.TEMPORAL, date(2000, 1, 1))
        publish_release(workspace, folder / "out", splits=splits, figures=has_figures, points=True)
        checks = verify_release(open_release(folder / "out"), workspace).checks
    assert [(check.name, check.breaches) for check in checks if check.found] == []
    return {config: [*read_rows(folder / "out" / "data" / config)] for config in CONFIGS}


def read_rows(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob("*.parquet")):
        yield from pq.read_table(path).to_pylist()


def says(rows: list[dict[str, Any]], word: str) -> bool:
    return word in json.dumps(rows, default=str)


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Releases by what is listed for take-down: nothing, the paper, its review."""
    listed = {"": "", "paper": f"{GONE}\n", "review": f"{GONE}-R1\n"}
    return {name: publish(tmp_path_factory.mktemp("taken"), lines, corpus()) for name, lines in listed.items()}


@pytest.mark.parametrize("config", CONFIGS)
def test_a_paper_that_is_taken_down_leaves_every_configuration(
    releases: dict[str, dict[str, list[dict[str, Any]]]], config: str
) -> None:
    assert says(releases[""][config], GONE), "the invented paper must have a row in every configuration"
    assert not says(releases["paper"][config], GONE)
    assert not says(releases["paper"][config], WORD)


@pytest.mark.parametrize("config", CONFIGS)
def test_a_review_that_is_taken_down_leaves_every_configuration(
    releases: dict[str, dict[str, list[dict[str, Any]]]], config: str
) -> None:
    assert not says(releases["review"][config], f"{GONE}-R1")
    held = says(releases[""][config], f"{GONE}-R1")
    quoting = {"papers", "papers_full", "reviews", "posts", "conversations", "scores", "points", "answers", *TASKS}
    assert held is (config in quoting)


TASKS = ("review_sft", "rebuttal", "meta_review_sft")


def test_the_word_occurred_in_every_configuration_with_quotations(
    releases: dict[str, dict[str, list[dict[str, Any]]]],
) -> None:
    assert {config for config, rows in releases[""].items() if not says(rows, WORD)} == {"links", "scores"}


@pytest.mark.parametrize(
    ("listed", "left"),
    [(f"{OTHER}-ai\n", None), (f"{OTHER}-ai-answer\n", [f"{OTHER}-ai-survey"]), (f"{OTHER}\n", None)],
)
def test_ai_reviews_and_the_replies_to_them_can_be_taken_down(
    tmp_path: Path, listed: str, left: list[str] | None
) -> None:
    rows = publish(tmp_path, listed, corpus())["ai_reviews"]
    replies = {row["forum_id"]: [reply["post_id"] for reply in row["replies"]] for row in rows}
    assert replies.get(OTHER) == left
    counted = json.loads((tmp_path / "out" / TOMBSTONE).read_text())["records"]["ai_reviews"]
    assert counted == (left is None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("listed", "texts", "changes"), [(f"{GONE}\n", 2, 1), (f"{GONE}-R1\n", 0, 0), (f"{GONE}\n{OTHER}\n", 4, 2)]
)
def test_the_tombstone_counts_texts_and_changes(tmp_path: Path, listed: str, texts: int, changes: int) -> None:
    before, after = (publish(tmp_path / name, lines, corpus()) for name, lines in (("all", ""), ("less", listed)))
    tombstone = json.loads((tmp_path / "less" / "out" / TOMBSTONE).read_text())
    assert (tombstone["records"]["texts"], tombstone["records"]["changes"]) == (texts, changes)
    for name in ("texts", "changes"):
        assert len(before[name]) == len(after[name]) + tombstone["records"][name]


def test_a_takedown_of_a_shared_file_removes_its_changes(tmp_path: Path) -> None:
    shared = f"late-{OTHER}"
    twin = [paper(GONE), review(GONE), version(GONE, shared, Grade.EXACT)]
    rows = publish(tmp_path, f"{GONE}\n", [*a_forum(OTHER), *follow(OTHER), *twin])
    tombstone = json.loads((tmp_path / "out" / TOMBSTONE).read_text())
    assert [row["sha256"] for row in rows["texts"]] == [f"sha-{OTHER}"]
    assert rows["changes"] == []
    assert (tombstone["records"]["texts"], tombstone["records"]["changes"]) == (2, 1)
    card = (tmp_path / "out" / "README.md").read_text()
    assert "1 changes that were taken down" in card
    assert "of a text that is not here" not in card


def test_no_post_names_a_parent_that_is_taken_down(tmp_path: Path) -> None:
    below = post("below", OTHER, reply_to=f"{OTHER}-answer", role=Role.REVIEWER, signature="R1")
    rows = publish(tmp_path, f"{OTHER}-answer\n", [*a_forum(OTHER), below])
    assert {row["post_id"]: row["reply_to"] for row in rows["posts"]} == {f"{OTHER}-to-all": None, "below": None}
    assert not says(rows["papers_full"], f"{OTHER}-answer")


@pytest.mark.slow
def test_a_taken_down_decision_does_not_end_conversations(tmp_path: Path) -> None:
    early = [
        replace(turn(role, name), posted_after_decision=False)
        for role, name in ((Role.REVIEWER, "f1-R1"), (Role.AUTHOR, "f1-answer"))
    ]
    late = replace(turn(Role.REVIEWER, "late"), created_at=NOON + timedelta(days=9), posted_after_decision=True)
    talk = conversation("f1", "R1", [*early, late])
    records = [talk if isinstance(record, Conversation) else record for record in a_forum("f1")]
    said = post("late", "f1", role=Role.REVIEWER, signature="R1", created_at=NOON + timedelta(days=9))
    verdict = post("verdict", "f1", kind=PostKind.DECISION, text="Accept")
    records += [said, verdict]
    flags = []
    for listed in ("", "verdict\n"):
        rows = publish(tmp_path / (listed.strip() or "all"), listed, records)
        flags.append([one["posted_after_decision"] for one in rows["conversations"][0]["turns"]])
    assert flags == [[False, False, True], [None] * 3]


def test_changes_contain_no_text_of_a_removed_file(tmp_path: Path) -> None:
    """A change keeps quoting its two files, whatever other versions the paper has."""
    quoting = Change(OTHER, ICLR, f"sha-{OTHER}", "sha-gone", 2, 2, ChangeKind.CHANGED, None, "They fly.", WORD)
    twin = [paper(GONE), version(GONE, "sha-gone", Grade.EXACT)]
    rows = publish(tmp_path, f"{GONE}\n", [*a_forum(OTHER), *follow(OTHER), quoting, *twin])
    assert [row["number"] for row in rows["changes"]] == [1]
    assert not says(rows["changes"], WORD)

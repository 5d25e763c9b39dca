"""What is taken down is in no configuration of a release and no byte of its files, and the tombstone counts it."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import tantivy
from starlette.testclient import TestClient

from answered_points import with_points
from asked_releases import publish_verified
from explored import HOST
from in_this_process import InThisProcess
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
from peercorpus.corpus.takedown import LIST, TOMBSTONE
from peercorpus.execution.progress import show_nothing
from peercorpus.explorer.server import make_app, open_explorer
from peercorpus.harvest.harvest import harvest
from peercorpus.openreview.client import Client
from peercorpus.pipeline.build import build
from peercorpus.records.ai_reviews import AiReply, AiReview
from peercorpus.records.documents import Change, Figure, PaperText
from peercorpus.records.enums import ChangeKind, Grade, PostKind, Role, SectionKind
from peercorpus.records.papers import Paper, PaperVersion
from peercorpus.records.reviews import Conversation, Post, Review, Section
from peercorpus.release.exports.export import export_release
from peercorpus.release.exports.formats import ExportLayout
from peercorpus.release.exports.request import ExportRequest
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.release.shards import CONFIGS
from peercorpus.simulator.server.service import serve_simulator
from peercorpus.simulator.world.venues import FJORD, VENUES
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.workspace import Workspace, open_workspace

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
        rows = publish_verified(workspace, folder / "out", splits=splits, figures=has_figures, points=True)
    return {config: rows.get(config, []) for config in CONFIGS}


def says(rows: list[dict[str, Any]], word: str) -> bool:
    return word in json.dumps(rows, default=str)


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Releases by what is listed for take-down: nothing, the paper, its review."""
    listed = {"": "", "paper": f"{GONE}\n", "review": f"{GONE}-R1\n"}
    return {name: publish(tmp_path_factory.mktemp("taken"), lines, corpus()) for name, lines in listed.items()}


@pytest.mark.parametrize("config", CONFIGS)
def test_a_taken_down_paper_leaves_all(releases: dict[str, dict[str, list[dict[str, Any]]]], config: str) -> None:
    assert says(releases[""][config], GONE), "the invented paper must have a row in every configuration"
    assert not says(releases["paper"][config], GONE)
    assert not says(releases["paper"][config], WORD)


@pytest.mark.parametrize("config", CONFIGS)
def test_a_taken_down_review_leaves_all(releases: dict[str, dict[str, list[dict[str, Any]]]], config: str) -> None:
    assert not says(releases["review"][config], f"{GONE}-R1")
    held = says(releases[""][config], f"{GONE}-R1")
    quoting = {"papers", "papers_full", "reviews", "posts", "conversations", "scores", "points", "answers", *TASKS}
    assert held is (config in quoting)


TASKS = ("review_sft", "rebuttal", "meta_review_sft")


def test_the_word_was_in_every_configuration(releases: dict[str, dict[str, list[dict[str, Any]]]]) -> None:
    assert {config for config, rows in releases[""].items() if not says(rows, WORD)} == {"links", "scores"}


@pytest.mark.parametrize(
    ("listed", "left"),
    [(f"{OTHER}-ai\n", None), (f"{OTHER}-ai-answer\n", [f"{OTHER}-ai-survey"]), (f"{OTHER}\n", None)],
)
def test_ai_reviews_and_replies_can_be_taken_down(tmp_path: Path, listed: str, left: list[str] | None) -> None:
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


def test_a_removed_shared_file_has_no_changes(tmp_path: Path) -> None:
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


def test_no_post_names_a_removed_parent(tmp_path: Path) -> None:
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


VENUE_IDS = [venue.venue_id for venue in (*VENUES, FJORD)]
KINDS = [
    ("review", "decision"),
    ("rebuttal", "comment", "acknowledgement"),
    ("meta_review", "withdrawal", "desk_rejection"),
]
"""Kinds taken down together: in no group does one speak of another."""

EVERYWHERE = {"review", "comment"}
"""Kinds that each venue has."""

MIN_CHARACTERS = 30
"""Shortest line to search for, in characters: shorter ones may occur in other posts."""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """All simulated venues, including one that posts AI reviews."""
    with (
        serve_simulator(build_world(papers=24, venues=VENUE_IDS)) as service,
        Client(service.base_url_v1, service.base_url_v2) as client,
        open_workspace(tmp_path_factory.mktemp("kinds") / "corpus", create=True) as opened,
    ):
        harvest(opened, client, VENUE_IDS)
        build(opened, spread=InThisProcess())
        yield opened


def read_posts(workspace: Workspace) -> list[Post]:
    tables = workspace.tables
    return [post for venue_id in tables.venues("3-posts") for post in tables.read(Post, venue_id)]


def choose_answered(posts: list[Post], kind: str) -> dict[str, Post]:
    """Return one post of a kind for each venue that has any: one with an answer, if there is one."""
    answered = {post.reply_to for post in posts}
    of_kind = [post for post in posts if post.kind.value == kind]
    return {post.venue_id: post for post in sorted(of_kind, key=lambda post: post.post_id in answered)}


def read_release(folder: Path) -> str:
    """Return the full content of a release or an export: all columns of all rows, and the other files unchanged."""
    parts = []
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".parquet":
            parts.append(json.dumps(pq.read_table(path).to_pylist(), default=str, ensure_ascii=False))
        elif path.is_file():
            parts.append(path.read_text())
    return "\n".join(parts)


def read_explorer(workspace: Workspace, forum_ids: set[str]) -> str:
    """Return the pages and records of some papers, the export of all, and what the search index stores."""
    explorer = open_explorer(workspace, show_nothing)
    with TestClient(make_app(explorer, "127.0.0.1"), base_url=HOST) as client:
        paths = [f"/{page}/{forum_id}" for page in ("paper", "record") for forum_id in sorted(forum_ids)]
        shown = [client.get(path).text for path in (*paths, "/", "/export.jsonl")]
    searcher = explorer.index.searcher
    hits = searcher.search(tantivy.Query.all_query(), 1_000).hits
    return "\n".join([*shown, *(str(searcher.doc(address).to_dict()) for _, address in hits)])


def publish_without(workspace: Workspace, folder: Path, listed: list[str], forum_ids: set[str]) -> str:
    """Take ids down, publish, verify and export; return all outputs."""
    (workspace.folder / LIST).write_text("\n".join(listed) + "\n")
    publish_verified(workspace, folder / "out", splits=SplitRequest(Profile.RE2))
    export_release(folder / "out", folder / "trl", ExportRequest(format=ExportLayout.TRL))
    return "\n".join([read_release(folder / "out"), read_release(folder / "trl"), read_explorer(workspace, forum_ids)])


def lines_of(text: str) -> set[str]:
    return {line for line in text.split("\n") if len(line) >= MIN_CHARACTERS}


@pytest.mark.slow(20)
@pytest.mark.parametrize("kinds", KINDS, ids=" and ".join)
def test_no_byte_of_a_post_is_left(workspace: Workspace, tmp_path: Path, kinds: tuple[str, ...]) -> None:
    posts = read_posts(workspace)
    chosen: list[Post] = []
    for kind in kinds:
        of_kind = choose_answered(posts, kind)
        assert len(of_kind) >= (len(VENUE_IDS) if kind in EVERYWHERE else 1)
        chosen += of_kind.values()
    gone = {post.post_id for post in chosen}
    others = "\n".join(post.text for post in posts if post.post_id not in gone)
    own_lines = {line for post in chosen for line in lines_of(post.text) if line not in others}
    assert own_lines
    forum_ids = {post.forum_id for post in chosen}
    left = publish_without(workspace, tmp_path, sorted(gone), forum_ids)
    assert [post_id for post_id in gone if post_id in left] == []
    assert [line for line in own_lines if line in left or json.dumps(line)[1:-1] in left] == []


@pytest.mark.slow(20)
def test_no_byte_of_an_ai_review_is_left(workspace: Workspace, tmp_path: Path) -> None:
    tables = workspace.tables
    reviews = [one for venue_id in tables.venues("2-ai-reviews") for one in tables.read(AiReview, venue_id)]
    replies: dict[str, tuple[str, AiReply]] = {}
    for one in reviews:
        replies |= {reply.kind.value: (one.ai_review_id, reply) for reply in one.replies}
    whole = next(one for one in reviews if one.ai_review_id not in {parent for parent, _ in replies.values()})
    gone = [whole.ai_review_id, *(reply.post_id for _, reply in replies.values())]
    assert len(gone) > 1
    left = publish_without(workspace, tmp_path, gone, {review.forum_id for review in reviews})
    assert [post_id for post_id in (*gone, *whole.note_ids) if post_id in left] == []


@pytest.mark.slow(20)
def test_no_byte_of_a_paper_is_left(workspace: Workspace, tmp_path: Path) -> None:
    posts = read_posts(workspace)
    forums = {post.venue_id: post.forum_id for post in posts}
    left = publish_without(workspace, tmp_path, sorted(forums.values()), set())
    gone = {*forums.values(), *(post.post_id for post in posts if post.forum_id in forums.values())}
    assert [post_id for post_id in gone if post_id in left] == []

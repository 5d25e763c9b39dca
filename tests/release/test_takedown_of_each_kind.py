"""Every kind of post at all simulated venues is taken down, published and verified: no byte of it is left."""

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import tantivy
from starlette.testclient import TestClient

from asked_releases import publish_release
from explored import HOST
from in_this_process import InThisProcess
from peercorpus.corpus.takedown import LIST
from peercorpus.execution.progress import show_nothing
from peercorpus.explorer.server import make_app, open_explorer
from peercorpus.harvest.harvest import harvest
from peercorpus.openreview.client import Client
from peercorpus.pipeline.build import build
from peercorpus.records.ai_reviews import AiReply, AiReview
from peercorpus.records.reviews import Post
from peercorpus.release.exports.export import export_release
from peercorpus.release.exports.formats import ExportLayout
from peercorpus.release.exports.layouts import ExportRequest
from peercorpus.release.folder import open_release
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.release.verify.verify import verify_release
from peercorpus.simulator.server.service import serve_simulator
from peercorpus.simulator.world.venues import FJORD, VENUES
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.workspace import Workspace, open_workspace

pytestmark = pytest.mark.slow(20)

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
    publish_release(workspace, folder / "out", splits=SplitRequest(Profile.RE2))
    verified = verify_release(open_release(folder / "out"), workspace)
    assert [(check.name, check.breaches) for check in verified.checks if check.found] == []
    export_release(folder / "out", folder / "trl", ExportRequest(ExportLayout.TRL))
    return "\n".join([read_release(folder / "out"), read_release(folder / "trl"), read_explorer(workspace, forum_ids)])


def lines_of(text: str) -> set[str]:
    return {line for line in text.split("\n") if len(line) >= MIN_CHARACTERS}


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


def test_no_byte_of_an_ai_review_or_of_a_reply_to_it_is_left(workspace: Workspace, tmp_path: Path) -> None:
    tables = workspace.tables
    reviews = [one for venue_id in tables.venues("2-ai-reviews") for one in tables.read(AiReview, venue_id)]
    replies: dict[str, tuple[str, AiReply]] = {}
    for review in reviews:
        replies |= {reply.kind.value: (review.ai_review_id, reply) for reply in review.replies}
    whole = next(one for one in reviews if one.ai_review_id not in {parent for parent, _ in replies.values()})
    gone = [whole.ai_review_id, *(reply.post_id for _, reply in replies.values())]
    assert len(gone) > 1
    left = publish_without(workspace, tmp_path, gone, {review.forum_id for review in reviews})
    assert [post_id for post_id in (*gone, *whole.note_ids) if post_id in left] == []


def test_no_byte_of_a_paper_is_left(workspace: Workspace, tmp_path: Path) -> None:
    posts = read_posts(workspace)
    forums = {post.venue_id: post.forum_id for post in posts}
    left = publish_without(workspace, tmp_path, sorted(forums.values()), set())
    gone = {*forums.values(), *(post.post_id for post in posts if post.forum_id in forums.values())}
    assert [post_id for post_id in gone if post_id in left] == []

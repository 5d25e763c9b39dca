"""Measures how fast posts become conversations and dialogues, beside parsing the same posts and nothing else."""

import gc
from collections.abc import Callable
from itertools import groupby
from operator import attrgetter
from pathlib import Path

import msgspec
import orjson

from peercorpus.conversations.build import build_conversations
from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import no_report
from peercorpus.forms.normalise import STAGE as NORMALISE
from peercorpus.models.chat_messages import ChatOptions, Response, to_chat_messages
from peercorpus.records.reviews import Post, Review
from peercorpus.workspace.workspace import Workspace, open_workspace
from tabling import KEY, ROUNDS, in_a_process, timed

PAPERS = 4_000

Forum = tuple[list[Post], list[Review]]


def _forums(workspace: Workspace) -> list[Forum]:
    found: list[Forum] = []
    for venue_id in workspace.raw.venues():
        NORMALISE.run(workspace, venue_id, BuildRequest(), KEY, no_report)
        reviews = {
            forum_id: list(group)
            for forum_id, group in groupby(workspace.tables.read(Review, venue_id), key=attrgetter("forum_id"))
        }
        for forum_id, posts in groupby(workspace.tables.read(Post, venue_id), key=attrgetter("forum_id")):
            found.append((list(posts), reviews.get(forum_id, [])))
    return found


def measure_conversing(scratch: Path) -> None:
    """Conversations a second, one process, the best of some rounds."""
    folder = scratch / "conversations"
    in_a_process("fill", str(folder), str(PAPERS))
    with open_workspace(folder) as workspace:
        forums = _forums(workspace)
    bodies = [msgspec.json.encode(posts) for posts, _ in forums]
    made = [(talks, posts) for posts, reviews in forums for talks in [build_conversations(posts, reviews)[0]]]
    number, held = sum(len(talks) for talks, _ in made), sum(len(posts) for posts, _ in forums)
    shown = [(talks, {post.post_id: Response(post.title, post.text) for post in posts}) for talks, posts in made]

    def parse() -> None:
        for body in bodies:
            orjson.loads(body)

    def build() -> None:
        for posts, reviews in forums:
            build_conversations(posts, reviews)

    def discuss() -> None:
        for talks, responses in shown:
            for talk in talks:
                to_chat_messages(talk, ChatOptions(), responses, "The paper.")

    gc.collect()
    passes: dict[str, Callable[[], None]] = {
        "orjson, of the same posts in memory": parse,
        "conversations of posts in memory": build,
        "dialogues of conversations in memory": discuss,
    }
    print(f"\n{len(forums):,} forums, {held:,} posts, {number:,} conversations\n")
    print("| pass | s CPU | conversations/s |\n|---|---:|---:|")
    for name, work in passes.items():
        seconds = min(timed(work) for _ in range(ROUNDS))
        print(f"| {name} | {seconds:.2f} | {number / seconds:,.0f} |")

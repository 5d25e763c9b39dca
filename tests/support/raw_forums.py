"""Raw notes of one invented forum, of either API, and the records normalised from them."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import no_report
from peercorpus.forms.normalise import STAGE, balance
from peercorpus.records.papers import Paper, SetAside
from peercorpus.records.reviews import Post, Review
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import Workspace

V = "Invented.cc/2024/Conference"
SENT = 1_700_000_000_000
ACCOUNTS = ("~Ada_Example1", "jane.doe@example.org")


def v2(note_id: str, tail: str, signature: str = "", *, forum: str = "paper", **more: Any) -> dict[str, Any]:
    """A note of API 2; the one with the forum's id is the submission."""
    is_root = note_id == forum
    content = more.pop("content", {})
    return {
        "id": note_id,
        "forum": forum,
        "replyto": None if is_root else forum,
        "invitations": [f"{V}/-/{tail}" if is_root else f"{V}/Submission1/-/{tail}"],
        "signatures": [signature if "~" in signature else f"{V}/Submission1/{signature}"],
        "readers": ["everyone"],
        "tcdate": SENT,
        "content": {name: {"value": value} for name, value in content.items()},
    } | more


def v1(note_id: str, tail: str, signature: str = "", **more: Any) -> dict[str, Any]:
    """A note of API 1."""
    prefix, _, name = tail.rpartition("/")
    note = v2(note_id, tail, signature) | {"content": more.get("content", {})}
    del note["invitations"]
    return note | {"invitation": "/".join(filter(None, [V, prefix, "-", name]))}


PAPER = v2("paper", "Submission", "Authors", content={"title": "On Kites"})


def raw(note: dict[str, Any], kind: RawKind = RawKind.NOTE, subject: str = "") -> RawObject:
    forum_id = note.get("forum") or ("paper" if kind is RawKind.EDIT else "")
    body = json.dumps(note).encode()
    return RawObject(kind, note["id"], 2, V, forum_id, subject or note["id"], 0, 0, "test", body)


class Normalised:
    """Records normalised from notes."""

    def __init__(self, folder: Path, notes: list[dict[str, Any]], *others: RawObject) -> None:
        folder.mkdir(parents=True)
        with closing(Workspace(folder)) as workspace:
            with workspace.raw.transaction():
                workspace.raw.add([*map(raw, notes), *others])
            STAGE.run(workspace, V, BuildRequest(), "ab" * 32, no_report)
            tables = workspace.tables
            self.papers, self.reviews = list(tables.read(Paper, V)), list(tables.read(Review, V))
            self.posts = {post.post_id: post for post in tables.read(Post, V)}
            self.aside = {row.record_id: row.reason for row in tables.read(SetAside, V)}
            self.sums = balance(workspace, V)
            self.pseudonym = {name: workspace.raw.pseudonyms.of(name) for name in ACCOUNTS}.__getitem__

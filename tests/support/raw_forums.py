"""Raw notes of one invented forum, of either API, and the records normalised from them."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import no_report
from peercorpus.forms.normalise import STAGE, balance
from peercorpus.records.reviews import Post, Review
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import Workspace

V = "Invented.cc/2024/Conference"
SENT = 1_700_000_000_000


def v2(note_id: str, tail: str, signature: str = "", **more: Any) -> dict[str, Any]:
    """A note of API 2; `paper` is the submission."""
    is_root = note_id == "paper"
    return {
        "id": note_id,
        "forum": "paper",
        "replyto": None if is_root else "paper",
        "invitations": [f"{V}/-/{tail}" if is_root else f"{V}/Submission1/-/{tail}"],
        "signatures": [f"{V}/Submission1/{signature}"],
        "readers": ["everyone"],
        "tcdate": SENT,
        "content": {name: {"value": value} for name, value in more.get("content", {}).items()},
    }


def v1(note_id: str, tail: str, signature: str = "", **more: Any) -> dict[str, Any]:
    """A note of API 1."""
    prefix, _, name = tail.rpartition("/")
    note = v2(note_id, tail, signature) | {"content": more.get("content", {})}
    del note["invitations"]
    return note | {"invitation": "/".join(filter(None, [V, prefix, "-", name]))}


PAPER = v2("paper", "Submission", "Authors", content={"title": "On Kites"})


def raw(note: dict[str, Any], kind: RawKind = RawKind.NOTE) -> RawObject:
    return RawObject(kind, note["id"], 2, V, note.get("forum", ""), note["id"], 0, 0, "test", json.dumps(note).encode())


class Normalised:
    """Records normalised from notes."""

    def __init__(self, folder: Path, notes: list[dict[str, Any]], *others: RawObject) -> None:
        folder.mkdir(parents=True)
        with closing(Workspace(folder)) as workspace:
            with workspace.raw.transaction():
                workspace.raw.add([*map(raw, notes), *others])
            STAGE.run(workspace, V, BuildRequest(), "ab" * 32, no_report)
            self.reviews = list(workspace.tables.read(Review, V))
            self.posts = {post.post_id: post for post in workspace.tables.read(Post, V)}
            self.sums = balance(workspace, V)

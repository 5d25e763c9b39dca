"""`reply_to` names a public record of the same paper or nothing, in a release and in the explorer."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from asked_releases import publish_release
from explored import HOST
from invented_tables import ICLR, a_forum, ai_review, invented, post
from peercorpus.execution.progress import show_nothing
from peercorpus.explorer.server import make_app, open_explorer
from peercorpus.records.enums import PostKind, Role
from peercorpus.release.folder import open_release
from peercorpus.release.verify.verify import verify_release

pytestmark = pytest.mark.slow

HIDDEN, DELETED, ABSENT, TAKEN = "f1-hidden", "f1-deleted", "f1-absent", "f1-taken"


def answered() -> list[object]:
    """A paper with answers to its review, to two posts that are not public, and to one that is missing."""
    said: dict[str, Any] = {"role": Role.AREA_CHAIR, "signature": "Area_Chair_X"}
    ai = ai_review("f1")
    reply = replace(ai.replies[0], post_id="ai-below", reply_to="f1-ai-closed")
    return [
        *a_forum("f1"),
        post(HIDDEN, "f1", readers_public=False, reply_to="f1-R1", **said),
        post(DELETED, "f1", deleted=True, **said),
        post(TAKEN, "f1", **said),
        *(post(f"below-{above}", "f1", reply_to=above) for above in (HIDDEN, DELETED, ABSENT, TAKEN)),
        post("meta", "f1", reply_to=HIDDEN, kind=PostKind.META_REVIEW, **said),
        replace(ai, replies=(*ai.replies, reply)),
    ]


@pytest.mark.parametrize("listed", [TAKEN, f"{TAKEN}\n{ABSENT}\n{HIDDEN}"])
def test_reply_to_never_names_a_hidden_post(tmp_path: Path, listed: str) -> None:
    with invented(tmp_path / "corpus", {ICLR: answered()}) as workspace:
        (tmp_path / "corpus" / "takedown.txt").write_text(f"{listed}\n")
        publish_release(workspace, tmp_path / "out")
        verified = verify_release(open_release(tmp_path / "out"), workspace)
        app = make_app(open_explorer(workspace, show_nothing), "127.0.0.1")
        with TestClient(app, base_url=HOST) as client:
            record = client.get("/record/f1").json()
            page = client.get("/paper/f1").text
    assert verified.holds
    rows = [row for path in (tmp_path / "out").rglob("*.parquet") for row in pq.read_table(path).to_pylist()]
    shown = json.dumps([rows, record], default=str) + page
    # The name of an answer contains that of the post above it.
    for above in (HIDDEN, DELETED, ABSENT, TAKEN, "f1-ai-closed"):
        assert above not in shown.replace(f"below-{above}", "")
    for posts in (record["posts"], *(row["posts"] for row in rows if "posts" in row)):
        replies = {row["post_id"]: row["reply_to"] for row in posts}
        assert replies["f1-answer"] == "f1-R1"
        assert {replies[name] for name in replies if name.startswith("below")} == {None}
    (ai,) = record["ai_reviews"]
    assert {row["post_id"]: row["reply_to"] for row in ai["replies"]} == {
        "f1-ai-answer": "f1-ai",
        "f1-ai-survey": "f1-ai",
        "ai-below": None,
    }

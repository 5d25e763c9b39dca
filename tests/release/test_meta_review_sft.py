"""The configuration `meta_review_sft`: only what an area chair could read before the meta-review."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from asked_releases import publish_release
from invented_tables import ICLR, NOON, a_forum, conversation, invented, post, turn
from peercorpus.records.enums import AtDecision, PostKind, Role, Status
from peercorpus.records.reviews import Conversation, MetaReview, Post, Review
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.release.splits import Task

META_AT = NOON - timedelta(days=1)
"""The decision is posted at noon, the meta-review a day before."""

BEFORE, BETWEEN, AFTER = META_AT - timedelta(days=1), META_AT + timedelta(hours=1), NOON + timedelta(days=1)
LATE = "PLUGH"
"""A word that was posted too late."""


def chair(**more: Any) -> Post:
    answers = MetaReview("recommendation", "Accept (Poster)", Status.ACCEPTED, (), ())
    fields: dict[str, Any] = {"kind": PostKind.META_REVIEW, "role": Role.AREA_CHAIR, "signature": "Area_Chair_X"}
    fields |= {"created_at": META_AT, "meta_review": answers, "posted_after_decision": False}
    return post("f1-meta", "f1", **(fields | more))


def forum(said: Sequence[tuple[Role, datetime | None, str]], *more: object, **review: Any) -> list[object]:
    """A paper with one review, and the turns of its discussion after that."""
    turns = [replace(turn(Role.REVIEWER, "f1-R1"), created_at=BEFORE)]
    posts: list[object] = [post("f1-R1", "f1", kind=PostKind.REVIEW, role=Role.REVIEWER, created_at=BEFORE)]
    for number, (role, at, words) in enumerate(said):
        is_after = None if at is None else at > NOON
        name = f"f1-{number}"
        turns.append(replace(turn(role, name), created_at=at, text=words, posted_after_decision=is_after))
        posts.append(post(name, "f1", role=role, created_at=at, text=words))
    kept = [one for one in a_forum("f1") if not isinstance(one, Conversation | Post)]
    changes = {"created_at": BEFORE, "modified_at": BEFORE, **review}
    kept = [replace(one, **changes) if isinstance(one, Review) else one for one in kept]
    return [*kept, *posts, conversation("f1", "R1", turns), *(more or [chair()])]


def release(folder: Path, records: list[object]) -> Path:
    with invented(folder / "corpus", {ICLR: records}) as workspace:
        publish_release(workspace, folder / "out", splits=SplitRequest(Profile.RE2))
    return folder / "out"


def rows(folder: Path, records: list[object]) -> list[dict[str, Any]]:
    files = (release(folder, records) / "data" / "meta_review_sft").glob("*.parquet")
    return [row for path in files for row in pl.read_parquet(path).to_dicts()]


def test_a_row_has_the_discussion_before_it(tmp_path: Path) -> None:
    said = [(Role.AUTHOR, BEFORE, "It holds."), (Role.REVIEWER, BETWEEN, LATE), (Role.AUTHOR, AFTER, LATE)]
    (row,) = rows(tmp_path, forum(said))
    (meta_review,) = row["meta_reviews"]
    assert (meta_review["text"], meta_review["recommends"]) == ("Words of f1-meta.", "accepted")
    (exchange,) = row["exchanges"]
    assert [(one["role"], one["is_own"], one["text"]) for one in exchange["turns"]] == [
        ("reviewer", True, "Words of f1-R1."),
        ("author", False, "It holds."),
    ]
    assert (exchange["rating_final"], row["reviews_left_out"], row["turns_left_out"]) == (6.0, 0, 2)
    assert LATE not in json.dumps(row, default=str)
    assert (row["markdown"], row["grade"], row["status"]) == ("# Text of f1", "exact", "accepted")


@pytest.mark.parametrize("words", ["Congratulations!", "I am glad that the paper has been accepted."])
def test_without_times_the_decision_ends_an_exchange(tmp_path: Path, words: str) -> None:
    said = [(Role.AUTHOR, None, "If the paper was accepted, we would add it."), (Role.REVIEWER, None, words)]
    said.append((Role.AUTHOR, None, "Thank you."))
    (row,) = rows(tmp_path, forum(said, chair(created_at=None, posted_after_decision=None)))
    assert [one["text"] for one in row["exchanges"][0]["turns"]][1:] == ["If the paper was accepted, we would add it."]
    assert (row["tell_decision"], row["turns_left_out"]) == (1, 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    "late",
    [
        {"posted_after_decision": True, "at_decision": AtDecision.POSTED_AFTER, "created_at": AFTER},
        {"at_decision": AtDecision.CHANGED_UNSEEN, "modified_at": AFTER},
        {"at_decision": AtDecision.NO_DECISION_TIME, "updated_fields": ("review",)},
        {"created_at": BETWEEN, "modified_at": BETWEEN, "posted_after_decision": False},
    ],
)
def test_a_possibly_late_review_is_left_out(tmp_path: Path, late: dict[str, Any]) -> None:
    first = next(one for one in forum([]) if isinstance(one, Review))
    other = replace(first, review_id="f1-R2", reviewer="R2", posted_after_decision=False)
    unspoken = replace(other, review_id="f1-R3", reviewer="R3", created_at=BETWEEN)
    (row,) = rows(tmp_path, [*forum([], **late), other, unspoken])
    assert [one["reviewer"] for one in row["exchanges"]] == ["R2"]
    assert row["reviews_left_out"] == 2
    # A review without a conversation is listed separately.
    assert [one["post_ids"] for one in row["exchanges"][0]["turns"]] == [["f1-R2"]]


@pytest.mark.parametrize("unfit", [{"posted_after_decision": True}, {"text": " "}])
def test_a_late_meta_review_is_no_task(tmp_path: Path, unfit: dict[str, Any]) -> None:
    assert rows(tmp_path, forum([], chair(**unfit))) == []


def test_a_paper_keeps_the_split_of_other_tasks(tmp_path: Path) -> None:
    records: list[object] = []
    for number in range(24):
        name = f"f{number:02}"
        records += a_forum(name)
        records.append(replace(chair(), post_id=f"{name}-meta", forum_id=name))
    stated = json.loads(SplitRequest(Profile.RE2).path(release(tmp_path, records)).read_text())["tasks"]
    assert stated[Task.META_REVIEW] == stated[Task.REVIEW]
    assert stated[Task.META_REVIEW]["test"]

"""A release with invented papers in every split of both tasks, as `peercorpus publish --splits` would write it."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from peercorpus.release.record_rows import Row
from peercorpus.release.shards import CONFIGS
from peercorpus.workspace.object_store import file_digest

SPLITS = ("train", "validation", "test")
NO_NUMBERS = {
    f"{name}_{when}": None for name in ("rating", "confidence") for when in ("initial", "at_decision", "final")
}


def score(field: str, label: str, **more: object) -> Row:
    """A score of a review: the current one, unless `more` changes that."""
    base: Row = {"aspect": "soundness", "field": field, "value": None, "low": None, "high": None, "label": label}
    base |= {"phase": "final", "source": "note", "offered": [], "unified": None, "higher_is_better": True}
    return base | {"rank": None, "answers": [], "subject": None, "stated_unified": None, "stated_label": None} | more


def review(review_id: str, **more: object) -> Row:
    base: Row = {"review_id": review_id, "reviewer": f"Reviewer_{review_id}", "title": None, "holds_update": False}
    base |= {"posted_after_decision": None, "at_decision": "no_decision_time", "may_be_later": False}
    scores = [
        score("rating", "6: Weak Accept", aspect="recommendation", value=6.0, unified=6.0),
        score("rating", "5: Weak Reject", aspect="recommendation", value=5.0, unified=5.0, phase="initial"),
        score("soundness", "3 good", value=3.0),
    ]
    return base | NO_NUMBERS | {"text": f"## Summary\n\nWords of {review_id}.", "scores": scores} | more


def talk(forum_id: str, *said: str, **more: object) -> Row:
    """A conversation in which the reviewer speaks first."""
    roles = ("assistant", "user")
    messages = [{"role": roles[index % 2], "content": words} for index, words in enumerate(said)]
    base: Row = {"conversation_id": f"{forum_id}/R1", "reviewer": "R1", "messages": messages}
    posts = [[f"{forum_id}-{index}"] for index in range(len(said))]
    numbers = NO_NUMBERS | {"rating_initial": 5.0, "rating_final": 6.5, "at_decision": "no_decision_time"}
    told: Row = {"post_ids": posts, "holds_update": [False] * len(said), "after_decision": 0}
    return base | numbers | told | more


def task_paper(forum_id: str, **more: object) -> Row:
    """A paper in the columns of both task configurations."""
    base: Row = {"forum_id": forum_id, "venue_id": "ICLR.cc/2020/Conference", "conference": "iclr", "year": 2020}
    base |= {"track": "main", "title": f"On {forum_id}", "abstract": "We invent.", "keywords": ["kites"]}
    base |= {"status": "accepted", "decision": "Accept (Poster)", "grade": "exact", "markdown": "We fly.\n\nThey fall."}
    said = ("I doubt it.", "It holds.", "I see.")
    return base | {"reviews": [review(f"{forum_id}-R1")], "conversations": [talk(forum_id, *said)]} | more


def write_release(folder: Path, rows: Mapping[tuple[str, str], Sequence[Row]], licences: Mapping[str, str]) -> Path:
    """Write a release of these rows, by configuration and split, and of papers with these licences."""
    papers = [{"forum_id": forum_id, "licence": licence} for forum_id, licence in licences.items()]
    for (config, split), found in {("papers", "iclr"): papers, **rows}.items():
        path = folder / "data" / config / f"{split}-00000-of-00001.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        schema = CONFIGS[config].schema
        named = [{name: row.get(name) for name in schema.names} for row in found]
        pq.write_table(pa.Table.from_pylist(named, schema), path, row_group_size=2)
    (folder / "README.md").write_text("# Invented\n")
    names = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if path.is_file()]
    files = {name: file_digest(folder / name) for name in names}
    manifest = {"generator": "peercorpus", "version": "0.1.0", "files": files}
    (folder / "release.json").write_text(json.dumps(manifest))
    return folder


def full_paper(paper: Row) -> Row:
    """A paper's row of `papers_full`, without columns that tests do not use."""
    reviews = [
        {"sections": [{"kind": "other", "field": "review", "text": one["text"]}] if one["text"] else []}
        | {"sections_at_decision": [], "initial_sections": [], "updated_fields": [], "extra": "{}", "revised": None}
        | one
        for one in paper["reviews"]
    ]
    return {"decision_comment": None, "posts": [], "extra": "{}"} | paper | {"reviews": reviews}


def whole_talk(paper: Row, told: Row) -> Row:
    """A conversation's row of `conversations`, with a turn for each message."""
    roles = {"assistant": "reviewer", "user": "author"}
    turns = [
        {"role": roles[message["role"]], "text": message["content"], "post_ids": posts, "holds_update": False}
        | {"signature": told["reviewer"] if message["role"] == "assistant" else "", "title": None, "titles": []}
        | {"orphan_ids": [], "score_changes": []}
        for message, posts in zip(told["messages"], told["post_ids"], strict=True)
    ]
    base: Row = {name: paper[name] for name in ("forum_id", "venue_id", "conference", "year")}
    base |= {"conversation_id": told["conversation_id"], "reviewer": told["reviewer"], "turns": turns}
    return base | {"context": [], "undated_changes": [], "kind": "review", "extra": "{}"}


def a_release(folder: Path, papers: Mapping[str, Sequence[Row]] | None = None) -> Path:
    """A release with two papers in the split `train` of both tasks and one on the others, or with these papers."""
    splits = papers or {"train": [task_paper("t1"), task_paper("t2")]} | {
        split: [task_paper(f"{split[0]}9")] for split in SPLITS[1:]
    }
    rows = {(config, split): found for config in ("review_sft", "rebuttal") for split, found in splits.items()}
    ordered = sorted((paper for found in splits.values() for paper in found), key=lambda paper: str(paper["forum_id"]))
    rows["papers_full", "iclr"] = [full_paper(paper) for paper in ordered]
    rows["conversations", "iclr"] = [whole_talk(paper, told) for paper in ordered for told in paper["conversations"]]
    return write_release(folder, rows, {"t1": "CC BY 4.0"})

"""Invented papers to audit: plain words drawn at random, a decision, and whatever a test plants in them."""

import json
import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from peercorpus.audit.papers import AuditSource, SourceRecord

WORDS = [
    "we",
    "study",
    "how",
    "often",
    "kites",
    "fall",
    "when",
    "the",
    "wind",
    "turns",
    "and",
    "find",
    "that",
    "a",
    "longer",
    "line",
    "helps",
    "in",
    "most",
    "trials",
    "while",
    "the",
    "tail",
    "hardly",
    "matters",
    "which",
    "others",
    "have",
    "seen",
    "before",
    "on",
    "small",
    "fields",
    "near",
    "water",
    "or",
    "under",
    "trees",
    "of",
    "many",
    "kinds",
]
Record = dict[str, Any]


def prose(chance: random.Random, words: int = 120) -> str:
    return " ".join(chance.choices(WORDS, k=words))


def papers(count: int = 120, accepted: int = 50, change: Callable[[Record], None] | None = None) -> list[Record]:
    """Return papers, the accepted ones first; only what `change` does to them reveals the decision."""
    chance = random.Random(7)
    made = []
    for number in range(count):
        decision = "Accept (poster)" if number < accepted else "Reject"
        made.append({"forum_id": f"f{number:04}", "decision": decision, "text": f"On Kites\n\n{prose(chance)}"})
        if change is not None:
            change(made[-1])
    return made


def is_accepted(record: Record) -> bool:
    return str(record["decision"]).startswith("Accept")


def publish_accepted(record: Record) -> None:
    """Accepted papers become camera-ready."""
    if is_accepted(record):
        record["text"] = f"Published as a conference paper at Kites 2020\nUniversity of Winds\n{record['text']}"
    else:
        record["text"] = f"Under review as a conference paper at Kites 2020\nAnonymous authors\n{record['text']}"


def source_of(records: Iterable[Record], traits: str | None = None) -> AuditSource:
    """Records as a source; `traits` names a column that is one."""
    held = list(records)

    def entries() -> Iterator[SourceRecord]:
        for one in held:
            own = {traits: str(one[traits])} if traits else {}
            yield SourceRecord(one.get("forum_id"), one.get("text"), one.get("decision"), own)

    return AuditSource("kites", "text", "decision", entries, len(held))


def write_lines(path: Path, records: Iterable[Record]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path

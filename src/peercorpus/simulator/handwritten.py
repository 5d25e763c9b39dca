"""The hand-written papers and their threads, read from the data folder."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from peercorpus.simulator.script import Change, Draft, Entry, Manuscript, Passage, Script

# The files are wrapped for reading; a line break stays only before a list item, a quotation, a heading or a table row.
SOFT_BREAK = re.compile(r"(?<!\n)\n(?!\n|[-*>#|{]|\d+[.)] )")


@dataclass(frozen=True, slots=True)
class Handwritten:
    """One hand-written paper: what is played, and what is typeset."""

    venue_id: str
    script: Script
    manuscript: Manuscript


@cache
def read_handwritten(venue_id: str) -> tuple[Handwritten, ...]:
    """Read the papers written for a venue, in the order of their file names."""
    folder = files("peercorpus.simulator") / "data" / "papers"
    names = sorted(item.name for item in folder.iterdir() if item.name.endswith(".toml"))
    papers = (_read_paper(tomllib.loads((folder / name).read_text(encoding="utf-8"))) for name in names)
    return tuple(paper for paper in papers if paper.venue_id == venue_id)


def _read_paper(data: Mapping[str, Any]) -> Handwritten:
    manuscript = data["manuscript"]
    script = Script(
        title=data["title"],
        authors=tuple(data["authors"]),
        keywords=tuple(data["keywords"]),
        tldr=data.get("tldr", ""),
        area=data.get("area", ""),
        abstract=_unwrap(data["abstract"]),
        status=data["status"],
        decision=data.get("decision", ""),
        thread=tuple(_read_entry(entry) for entry in data.get("thread", ())),
        versions=tuple(Draft[name] for name in data["versions"]),
        public_history=data.get("public_history", False),
        touched=data.get("touched", True),
    )
    return Handwritten(
        data["venue"],
        script,
        Manuscript(
            title=script.title,
            authors=script.authors,
            abstract=script.abstract,
            passages=tuple(_read_passage(passage) for passage in manuscript["passages"]),
            equation=manuscript["equation"],
            table=tuple(tuple(row) for row in manuscript["table"]),
            caption=manuscript["caption"],
            references=tuple(manuscript["references"]),
        ),
    )


def _read_passage(passage: Mapping[str, str]) -> Passage:
    return Passage(
        heading=passage["heading"],
        text=_unwrap(passage["text"]),
        revised=_unwrap(passage.get("revised", "")),
        since=Draft[passage.get("since", "EARLY")],
    )


def _read_entry(entry: Mapping[str, Any]) -> Entry:
    return Entry(
        key=entry["key"],
        kind=entry["kind"],
        by=entry["by"],
        at=entry["at"],
        content=_read_content(entry["content"]),
        under=entry.get("under", ""),
        changes=tuple(Change(change["at"], _read_content(change["content"])) for change in entry.get("changes", ())),
        deleted=entry.get("deleted", False),
        closed=entry.get("closed", False),
        private=tuple(entry.get("private", ())),
    )


def _read_content(content: Mapping[str, object]) -> dict[str, object]:
    return {key: _unwrap(answer) if isinstance(answer, str) else answer for key, answer in content.items()}


def _unwrap(text: str) -> str:
    return SOFT_BREAK.sub(" ", text.strip())

"""Define papers, their versions and their threads, independent of the API."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec


class Draft(IntEnum):
    """The versions a paper can have, in chronological order."""

    EARLY = 0
    SUBMISSION = 1
    REBUTTAL = 2
    CAMERA_READY = 3


@dataclass(frozen=True, slots=True)
class ManuscriptSection:
    """One section of a manuscript.

    Attributes:
        text: Paragraphs separated by empty lines; `$…$` is Typst mathematics; `{equation}` and `{table}` are paragraphs
            of their own.
        revised: The text since the rebuttal; empty if it does not change.
    """

    heading: str
    text: str
    revised: str = ""
    since: Draft = Draft.EARLY


@dataclass(frozen=True, slots=True)
class Manuscript:
    """Content of a PDF before typesetting; the equation is in Typst, the first row of the table is its header.

    Attributes:
        is_long: Whether it is as long and as densely set as a real paper.
    """

    title: str
    authors: tuple[str, ...]
    abstract: str
    passages: tuple[ManuscriptSection, ...]
    equation: str
    table: tuple[tuple[str, ...], ...]
    caption: str
    references: tuple[str, ...]
    is_long: bool = False


@dataclass(frozen=True, slots=True)
class EntryEdit:
    """A later edit of an entry: the fields it sets, `at` days after the start of the discussion."""

    at: float
    content: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ThreadEntry:
    """A reply in a thread.

    Attributes:
        key: Its name in this script, used by other entries to refer to it.
        by: `authors`, `R1` …, `AC`, `SAC`, `PC`, a profile (`~Ada_Example1`), or a signer for an AI (`OF_AI`).
        at: Days after the start of its phase (reviews, discussion or decision, read from the kind).
        content: The form's fields; `{R1}` in a text stands for the reviewer's public name.
        under: The key of the entry it answers; empty for the forum itself.
    """

    key: str
    kind: str
    by: str
    at: float
    content: Mapping[str, object]
    under: str = ""
    changes: tuple[EntryEdit, ...] = ()
    deleted: bool = False
    closed: bool = False
    private: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Script:
    """A paper at one venue.

    Attributes:
        status: `accepted`, `rejected`, `withdrawn`, `desk_rejected` or `under_review`.
        decision: The decision in the venue's words; empty if there is none.
        public_history: Whether edits that the venue would otherwise hide are public.
        touched: Whether the organisers edited the note at the decision (`…/-/Edit`).
    """

    title: str
    authors: tuple[str, ...]
    keywords: tuple[str, ...]
    tldr: str
    area: str
    abstract: str
    status: str
    decision: str
    thread: tuple[ThreadEntry, ...]
    versions: tuple[Draft, ...] = (Draft.SUBMISSION,)
    public_history: bool = False
    touched: bool = True


# The files have wrapped lines; only line breaks before a list item, a quotation, a heading or a table row are kept.
SOFT_BREAK = re.compile(r"(?<!\n)\n(?!\n|[-*>#|{]|\d+[.)] )")


@dataclass(frozen=True, slots=True)
class Handwritten:
    """A hand-written paper, consisting of script and manuscript."""

    venue_id: str
    script: Script
    manuscript: Manuscript


@cache
def read_handwritten(venue_id: str) -> tuple[Handwritten, ...]:
    """Read the hand-written papers of a venue, in the order of their file names."""
    folder = files("peercorpus.simulator.world") / "data" / "papers"
    names = sorted(item.name for item in folder.iterdir() if item.name.endswith(".toml"))
    papers = (_read_paper(_unwrap(tomllib.loads((folder / name).read_text(encoding="utf-8")))) for name in names)
    return tuple(paper for paper in papers if paper.venue_id == venue_id)


def _read_paper(data: dict[str, Any]) -> Handwritten:
    defaults: dict[str, Any] = {"tldr": "", "area": "", "decision": "", "thread": []}
    script = msgspec.convert(defaults | data | {"versions": [Draft[name] for name in data["versions"]]}, Script)
    passages = [passage | {"since": Draft[passage.get("since", "EARLY")]} for passage in data["manuscript"]["passages"]]
    shared = {"title": script.title, "authors": script.authors, "abstract": script.abstract, "passages": passages}
    return Handwritten(data["venue"], script, msgspec.convert(data["manuscript"] | shared, Manuscript))


def _unwrap(value: Any) -> Any:  # noqa: ANN401 -- any TOML value
    """Return a value in which no text has soft line breaks."""
    if isinstance(value, str):
        return SOFT_BREAK.sub(" ", value.strip())
    if isinstance(value, list):
        return [_unwrap(item) for item in value]
    return {name: _unwrap(item) for name, item in value.items()} if isinstance(value, dict) else value

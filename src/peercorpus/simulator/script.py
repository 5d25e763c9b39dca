"""What is played at a venue: a paper, its versions and the thread under it, before it takes an API's shape."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum


class Draft(IntEnum):
    """The versions a paper can have, in the order in which they are written."""

    EARLY = 0
    SUBMISSION = 1
    REBUTTAL = 2
    CAMERA_READY = 3


@dataclass(frozen=True, slots=True)
class Passage:
    """One section of a manuscript.

    Attributes:
        text: Paragraphs apart by empty lines; `$…$` is Typst mathematics; `{equation}` and `{table}` stand
            alone in a paragraph.
        revised: The text from the rebuttal on; empty where it stays.
        since: The first version that has the section.
    """

    heading: str
    text: str
    revised: str = ""
    since: Draft = Draft.EARLY


@dataclass(frozen=True, slots=True)
class Manuscript:
    """What a PDF is typeset from; the equation is Typst mathematics, the first row of the table its head.

    Attributes:
        is_long: Whether it is as long as a real paper, and set as closely.
    """

    title: str
    authors: tuple[str, ...]
    abstract: str
    passages: tuple[Passage, ...]
    equation: str
    table: tuple[tuple[str, ...], ...]
    caption: str
    references: tuple[str, ...]
    is_long: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """A later edit of an entry: the fields it sets, `at` days after the start of the discussion."""

    at: float
    content: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Entry:
    """One reply in a thread.

    Attributes:
        key: Its name in this script, by which others answer it.
        kind: The last path element of its invitation.
        by: `authors`, `R1` …, `AC`, `SAC`, `PC`, or a profile (`~Ada_Example1`).
        at: Days after the start of its phase (reviews, discussion or decision, read from the kind).
        content: The form's fields; `{R1}` in a text stands for the reviewer's public name.
        under: The key of the entry it answers; empty for the forum itself.
        deleted: Whether it was deleted again.
        closed: Whether it is kept from the public.
        private: The fields that only the chairs may read.
    """

    key: str
    kind: str
    by: str
    at: float
    content: Mapping[str, object]
    under: str = ""
    changes: tuple[Change, ...] = ()
    deleted: bool = False
    closed: bool = False
    private: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Script:
    """One paper at one venue.

    Attributes:
        status: `accepted`, `rejected`, `withdrawn`, `desk_rejected` or `under_review`.
        decision: The verdict in the venue's words; empty where none was given.
        versions: Which PDFs exist.
        public_history: Whether the edits that the venue would hide are readable by everyone.
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
    thread: tuple[Entry, ...]
    versions: tuple[Draft, ...] = (Draft.SUBMISSION,)
    public_history: bool = False
    touched: bool = True

"""Define stages: their inputs and outputs, versions, content keys and row balances.

A stage turns raw objects and tables of a venue into further tables. The content key of a finished partition covers
everything that its rows depend on, so that a stage runs again exactly when something of that has changed.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time
from types import MappingProxyType
from typing import Generic, TypeVar

from peercorpus.execution.requests import BuildRequest
from peercorpus.records.enums import Reason

WorkspaceT = TypeVar("WorkspaceT")

ProgressCallback = Callable[[int, int], None]
"""Called with the number of items done and the number of items to do."""


def no_report(_done: int, _total: int) -> None:
    """Ignore the progress."""


@dataclass(frozen=True, slots=True)
class ForumRange:
    """Consecutive forums of a venue, in the order of their ids.

    Attributes:
        number: Its position among the ranges of the venue, from 0.
        first_id: Inclusive lower bound of forum ids; empty for no bound.
        end_id: Exclusive upper bound of forum ids; None for no bound, as in the last range.
    """

    number: int
    first_id: str
    end_id: str | None

    @property
    def is_last(self) -> bool:
        """Return whether this is the last range."""
        return self.end_id is None

    def contains(self, forum_id: str) -> bool:
        """Return whether a forum is in the range."""
        return self.first_id <= forum_id and (self.end_id is None or forum_id < self.end_id)


ALL_FORUMS = ForumRange(0, "", None)
"""The range of all forums of a venue."""


def split_forums(forum_ids: Sequence[str], most: int) -> list[ForumRange]:
    """Return ranges of forums, nearly equal in size; one if there are no more than `most`.

    >>> [(span.first_id, span.end_id) for span in split_forums(["a", "b", "c", "d", "e"], 2)]
    [('', 'b'), ('b', 'd'), ('d', None)]
    """
    number = max(1, -(-len(forum_ids) // most))
    firsts = ["", *(forum_ids[place * len(forum_ids) // number] for place in range(1, number))]
    ends = [*firsts[1:], None]
    return [ForumRange(place, *bounds) for place, bounds in enumerate(zip(firsts, ends, strict=True))]


RunRange = Callable[[ForumRange, ProgressCallback], None]
"""Does the work of a stage for a range of a venue's forums; the callback counts the forums of the range."""


@dataclass(frozen=True, slots=True)
class Balance:
    """Rows in, rows out and rows set aside of one stage for one venue.

    Attributes:
        unit: Kind of the input rows ("notes", "posts").
        rows_in: Number of rows that the stage had to read.
        rows_out: Number of input rows that are represented in its tables.
        set_aside: Number of input rows that it set aside, by reason.
    """

    stage: str
    venue_id: str
    unit: str
    rows_in: int
    rows_out: int
    set_aside: Mapping[Reason, int]

    @property
    def holds(self) -> bool:
        """Return whether every input row is either represented in the output or set aside."""
        return self.rows_in == self.rows_out + sum(self.set_aside.values())


@dataclass(frozen=True, slots=True)
class Stage(Generic[WorkspaceT]):
    """One step from raw objects to tables.

    Attributes:
        doing: What it does, for the user who waits.
        version: Number that must be raised whenever the same inputs would give different rows.
        reads_raw: Kinds of raw objects it reads; `file` means the PDFs, `pseudonyms` the key for people's names.
        run: Takes workspace, venue, options, content key and progress callback; does the work and commits the venue's
            partition under the key.
        begin: Takes workspace, venue and content key, and returns a function that does the same for a range of the
            venue's forums; data that all ranges need is read once. None if the stage does not work on ranges.
        balance: Counts rows in, out and set aside of a venue from what is on disk, independently of `run`.
        passing: Transient reasons for setting rows aside, which may not apply in another run.
        made_with: Returns, for the given options, the version of anything else that affects its rows, such as a PDF
            engine.
        made_with_venue: Returns a digest of anything else that affects the rows of one venue only, such as its
            deadlines; empty for nothing. Not called if `is_of_all`.
        is_of_all: Whether it processes all venues at once, whichever is named, and commits them under one key.
    """

    name: str
    doing: str
    version: int
    reads_raw: tuple[str, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    options: tuple[str, ...]
    run: Callable[[WorkspaceT, str, BuildRequest, str, ProgressCallback], None]
    balance: Callable[[WorkspaceT, str], Sequence[Balance]]
    begin: Callable[[WorkspaceT, str, str], RunRange] | None = None
    passing: frozenset[Reason] = frozenset()
    made_with: Callable[[BuildRequest], str] = lambda _: ""
    made_with_venue: Callable[[WorkspaceT, str], str] = lambda *_: ""
    is_of_all: bool = False


def run_whole(
    begin: Callable[[WorkspaceT, str, str], RunRange],
) -> Callable[[WorkspaceT, str, BuildRequest, str, ProgressCallback], None]:
    """Return `Stage.run` for a stage that works on ranges: all forums of the venue form one range."""

    def run(workspace: WorkspaceT, venue_id: str, _: BuildRequest, key: str, report: ProgressCallback) -> None:
        begin(workspace, venue_id, key)(ALL_FORUMS, report)

    return run


EARLIER_DATA_DIGESTS: Mapping[str, str] = MappingProxyType(
    {
        "7f25c44d4dc78107": "70de52172c1daf4fa957173460d7a9e9e832c0fa9cf3df307b5ddc6c6452bac7",  # signs
    }
)
"""First 16 digits of a data digest → the digest that content keys use for that data.

Content keys used to be made from the text of a data file, comments included. For data that has not changed since, the
old digest is kept, so that no corpus is rebuilt. An entry can be deleted once its data changes.
"""


def digest_of_data(data: Sequence[object] | Mapping[str, object]) -> str:
    """Return the digest of a data file of this package for content keys: 64 hexadecimal digits.

    Values and their order count; comments, layout and location of the file do not.
    """
    digest = hashlib.sha256(json.dumps(data, default=_to_iso).encode()).hexdigest()
    return EARLIER_DATA_DIGESTS.get(digest[:16], digest)


def _to_iso(value: object) -> str:
    if isinstance(value, date | time):
        return value.isoformat()
    raise TypeError(f"Expected a value of a TOML file, got {value!r}")


def content_key(stage: Stage[WorkspaceT], options: BuildRequest, digests: Mapping[str, str]) -> str:
    """Return the content key of a finished partition of a stage: 64 hexadecimal digits.

    Of the options, only those that the stage names count; the digests are those of its inputs, by name.
    """
    chosen = {name: getattr(options, name) for name in stage.options}
    content = [stage.name, stage.version, stage.made_with(options), chosen, dict(sorted(digests.items()))]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

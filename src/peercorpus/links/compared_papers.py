"""Keep the papers of all venues in a scratch file while they are compared, with only their positions in memory."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import IO, overload

import msgspec

from peercorpus.links.candidates import PaperKey
from peercorpus.links.similarity import TitleAndAbstract, normalise_head
from peercorpus.workspace.delta_tables import Tables

COLUMNS = ["forum_id", "title", "abstract", "authors", "created_at", "decided_at", "extra"]
NO_HEAD = TitleAndAbstract((), "")
BLOCK = 256
"""Number of papers read from the file at once."""


@dataclass(frozen=True, slots=True)
class ComparedPaper:
    """The fields of a paper that comparing and linking need.

    Attributes:
        created_at: When it was submitted; None if unknown.
        decided_at: When its decision was posted; None if unknown.
        head: Its normalised title, abstract and authors.
        extra: Its other fields, as in `Paper.extra`, including those that name earlier submissions.
    """

    forum_id: str
    venue_id: str
    created_at: datetime | None
    decided_at: datetime | None
    head: TitleAndAbstract
    extra: str = "{}"

    @property
    def key(self) -> PaperKey:
        """Venue id and forum id, unique across all venues."""
        return self.venue_id, self.forum_id

    @property
    def is_at_workshop(self) -> bool:
        """Whether the id of its venue names a workshop."""
        return "workshop" in self.venue_id.casefold()

    def without_text(self) -> "ComparedPaper":
        """Return what a link needs: the paper without title, abstract, authors and other fields."""
        return replace(self, head=NO_HEAD, extra="{}")


def read_submissions(tables: Tables, venue_id: str) -> Iterator[ComparedPaper]:
    """Yield the papers of a venue in the order of their forum ids."""
    rows = tables.rows("1-papers", venue_id, COLUMNS)
    for forum_id, title, abstract, authors, created_at, decided_at, extra in rows:
        yield ComparedPaper(
            forum_id=forum_id,
            venue_id=venue_id,
            created_at=created_at,
            decided_at=decided_at,
            head=normalise_head(title, abstract, authors),
            extra=extra,
        )


class StoredPapers(Sequence[ComparedPaper]):
    """Papers in a scratch file, which must not be used for anything else meanwhile."""

    def __init__(self, scratch: IO[bytes], papers: Iterable[ComparedPaper]) -> None:
        self._scratch = scratch
        self._ends = array("Q", [0])
        self._decode = msgspec.msgpack.Decoder(ComparedPaper).decode
        encode = msgspec.msgpack.Encoder().encode
        for paper in papers:
            self._ends.append(self._ends[-1] + scratch.write(encode(paper)))

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, place: int) -> ComparedPaper: ...

    @overload
    def __getitem__(self, place: slice) -> list[ComparedPaper]: ...

    def __getitem__(self, place: int | slice) -> ComparedPaper | list[ComparedPaper]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        place = range(len(self))[place]
        return next(self._read(place, place + 1))

    def __iter__(self) -> Iterator[ComparedPaper]:
        for start in range(0, len(self), BLOCK):
            yield from self._read(start, min(start + BLOCK, len(self)))

    def _read(self, start: int, stop: int) -> Iterator[ComparedPaper]:
        """Yield the papers of a range; it is read at once, so that others can be read before it ends."""
        begins = self._ends[start]
        self._scratch.seek(begins)
        content = memoryview(self._scratch.read(self._ends[stop] - begins))
        for place in range(start, stop):
            yield self._decode(content[self._ends[place] - begins : self._ends[place + 1] - begins])


@dataclass(frozen=True, slots=True)
class Heads:
    """Titles, abstracts and authors of papers, read anew in each iteration."""

    papers: Sequence[ComparedPaper]

    def __iter__(self) -> Iterator[TitleAndAbstract]:
        return (paper.head for paper in self.papers)

"""Divide a corpus into parts that are indexed apart, and index one of them.

A part is one venue, or several small ones that follow each other. Its key stands for everything that its documents are
made from, so that a part is made again only if one of its venues changed. A part is one or several segments of tantivy;
those of all parts, in the order of the venues, are the index (`search_index`).
"""

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec
import tantivy

from peercorpus.corpus.public_forums import public_forums
from peercorpus.corpus.takedown import Takedown
from peercorpus.errors import TryLaterError
from peercorpus.explorer.index_documents import Stored, make_document, make_schema
from peercorpus.explorer.paper_row import paper_row
from peercorpus.explorer.venue_page import VenueCounts
from peercorpus.records.papers import Link
from peercorpus.release.venue_groups import find_taken
from peercorpus.workspace.delta_tables import Tables, open_for_worker
from peercorpus.workspace.object_store import Location

INDEX_VERSION = f"3, tantivy {version('tantivy')}"
"""Changed when the same tables would give another index."""
_TABLES_READ = ("1-papers", "2-ai-reviews", "2-reviews", "3-posts", "4-versions", "6-conversations")
"""Tables whose rows of a venue are read for its documents, beside those that `VenueInputs` holds."""
PART_PAPERS = 1_000
"""Papers of small venues in one part, at most; a larger venue is a part of its own."""
_ENDS_PART = 32
"""Of the small venues, on average, the number that one part has; which ends it follows from its name alone, so that a
new venue changes its own part and no other."""
_SEGMENT_CHARACTERS = 40_000_000
"""Characters of one segment, so that the writer's memory holds it: of invented reviews, 113 million filled 96 MB."""
_HEAP_BYTES = 128_000_000
"""Memory of the writer."""
_META = "meta.json"

Segment = dict[str, Any]
"""What tantivy's `meta.json` says of a segment."""


@dataclass(frozen=True)
class VenueInputs:
    """Everything that the documents of a venue are made from.

    Attributes:
        papers: Number of its papers, those taken down among them.
        contents: What stands for its rows, by table (`Tables.content`).
        links: The links of its papers, without those to a paper that is taken down.
        held: Those of its files with a text.
        takedown: What is taken down of it.
    """

    venue_id: str
    papers: int
    contents: Mapping[str, str]
    links: Sequence[Link]
    held: frozenset[str]
    takedown: Takedown

    @cached_property
    def key(self) -> str:
        """A digest of all this."""
        gone = [sorted(ids) for ids in (self.takedown.forums, self.takedown.posts, self.takedown.files)]
        inputs = (INDEX_VERSION, self.venue_id, self.contents, self.links, sorted(self.held), gone)
        return hashlib.sha256(msgspec.json.encode(inputs)).hexdigest()


@dataclass(frozen=True, slots=True)
class Part:
    """A part that is indexed.

    Attributes:
        key: A digest of what it was made from.
        segments: Its segments, in the order of its papers.
        files: Names of their files.
        venues: Counts of each venue of which anything may be shown, but those that are read from `raw.db`.
    """

    key: str
    segments: list[Segment] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    venues: dict[str, VenueCounts] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PartJob:
    """A part that is to be indexed, by this process or another.

    Attributes:
        tables: Location of the tables.
        out: A folder that does not exist yet, which receives the files of the segments.
        venues: The venues of the part, in their order.
    """

    tables: Location
    out: Path
    venues: Sequence[VenueInputs]

    @property
    def papers(self) -> int:
        """Number of papers, those taken down among them."""
        return sum(venue.papers for venue in self.venues)


def read_contents(tables: Tables, venue_id: str) -> dict[str, str]:
    """Return what stands for a venue's rows of each table that is read for its documents."""
    return {name: tables.content(name, venue_id) for name in _TABLES_READ}


def read_inputs(tables: Tables, takedown: Takedown) -> Iterator[VenueInputs]:
    """Yield what the documents of each venue are made from, in the order of the venues."""
    held = {sha256 for venue_id in tables.venues("5-texts") for sha256 in _read_files(tables, "5-texts", venue_id)}
    links = _read_links(tables, takedown)
    for venue_id in tables.venues("1-papers"):
        files = frozenset(_read_files(tables, "4-versions", venue_id))
        taken = frozenset(find_taken(tables, venue_id, takedown))
        gone = Takedown(forums=takedown.forums & taken, posts=takedown.posts & taken, files=takedown.files & files)
        yield VenueInputs(
            venue_id=venue_id,
            papers=tables.count_committed("1-papers", venue_id),
            contents=read_contents(tables, venue_id),
            links=links.get(venue_id, ()),
            held=files & held,
            takedown=gone,
        )


def _read_files(tables: Tables, name: str, venue_id: str) -> Iterator[str]:
    for batch in tables.batches(name, venue_id, ["sha256"]):
        yield from filter(None, batch.column("sha256").to_pylist())


def _read_links(tables: Tables, takedown: Takedown) -> dict[str, list[Link]]:
    """Return the links of the papers of each venue, without those to a paper that is taken down."""
    links: dict[str, list[Link]] = {}
    for venue_id in tables.venues("8-links"):
        for link in tables.read(Link, venue_id):
            if takedown.forums.isdisjoint({link.forum_id, link.earlier_id}):
                for linked in dict.fromkeys((link.venue_id, link.earlier_venue_id)):
                    links.setdefault(linked, []).append(link)
    return links


def divide(venues: Iterable[VenueInputs]) -> Iterator[list[VenueInputs]]:
    """Divide venues into parts, in their order.

    Where a part ends follows from the names and sizes of its own venues and of the next one, so that a change of one
    venue leaves all parts but its own as they are, as a rule.
    """
    part: list[VenueInputs] = []
    for venue in venues:
        if part and sum(each.papers for each in part) + venue.papers > PART_PAPERS:
            yield part
            part = []
        part.append(venue)
        if int(hashlib.sha256(venue.venue_id.encode()).hexdigest()[:8], 16) % _ENDS_PART == 0:
            yield part
            part = []
    if part:
        yield part


def key_of(venues: Iterable[VenueInputs]) -> str:
    """Return the key of the part that has these venues."""
    return hashlib.sha256(" ".join(venue.key for venue in venues).encode()).hexdigest()


def make_part(job: PartJob, opened: Tables | None = None) -> Part:
    """Index the venues of a part, read from these tables, or from those that this process opens for all parts.

    Raises:
        TryLaterError: The tables are not what they were when the job was made.
        DamagedError: A table is damaged.
    """
    shutil.rmtree(job.out, ignore_errors=True)
    job.out.mkdir(parents=True)
    tables = opened or open_for_worker(job.tables, job.out.parent)
    part = Part(key_of(job.venues))
    documents = (sized for venue in job.venues for sized in _make_documents(tables, venue, part.venues))
    for folder in _write_segments(documents, job.out):
        for segment in json.loads((folder / _META).read_bytes())["segments"]:
            part.segments.append(segment)
            for path in sorted(folder.glob(f"{segment['segment_id'].replace('-', '')}.*")):
                part.files.append(path.rename(job.out / path.name).name)
    return part


def _make_documents(
    tables: Tables, venue: VenueInputs, counted: dict[str, VenueCounts]
) -> Iterator[tuple[tantivy.Document, int]]:
    """Yield the documents of a venue with their numbers of characters, and count the venue."""
    if read_contents(tables, venue.venue_id) != venue.contents:
        raise TryLaterError("The tables changed while the index was made; run the same command again.")
    links: dict[str, list[Link]] = {}
    for link in venue.links:
        for forum_id in (link.forum_id, link.earlier_id):
            links.setdefault(forum_id, []).append(link)
    counts = VenueCounts(venue.venue_id)
    for forum in public_forums(tables, venue.takedown, venue.venue_id):
        row = paper_row(forum, venue.held)
        counts.count(forum, row)
        yield make_document(forum, Stored(row, tuple(links.get(row.forum_id, ()))))
    if counts.papers:
        counted[venue.venue_id] = counts


def _write_segments(documents: Iterable[tuple[tantivy.Document, int]], out: Path) -> Iterator[Path]:
    """Write documents as segments, and yield the folder of each: there tantivy merges it with no other."""
    for number, group in groupby(_number_segments(documents), itemgetter(0)):
        folder = out / f"{number}"
        folder.mkdir()
        writer = tantivy.Index(make_schema(), path=str(folder)).writer(_HEAP_BYTES, 1)
        for _, document in group:
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        yield folder


def _number_segments(documents: Iterable[tuple[tantivy.Document, int]]) -> Iterator[tuple[int, tantivy.Document]]:
    """Yield each document with the number of the segment that it belongs to."""
    characters = 0
    for document, size in documents:
        yield characters // _SEGMENT_CHARACTERS, document
        characters += size


def join_parts(parts: Iterable[Part], folder: Path) -> None:
    """Make the segments of parts, whose files are in a folder, one index there."""
    tantivy.Index(make_schema(), path=str(folder))
    meta = json.loads((folder / _META).read_bytes())
    meta["segments"] = [segment for part in parts for segment in part.segments]
    (folder / _META).write_text(json.dumps(meta), encoding="utf-8")

"""Divide a corpus into parts that are indexed separately, and index one of them.

A part is one venue, or several consecutive small ones. Its key is a digest of everything that its documents are made
from, so that a part is made again only if one of its venues changed. A part is one or several segments of tantivy
of papers, and of points of reviews if it has any; those of all parts, in the order of the venues, are the two indexes
(`search_index`).
"""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
import tantivy

from peercorpus.corpus.forums import ForumReader
from peercorpus.corpus.points import public_points
from peercorpus.corpus.public_forums import public_forums, read_contents
from peercorpus.corpus.takedown import Takedown
from peercorpus.corpus.texts import TextStore
from peercorpus.errors import TryLaterError
from peercorpus.explorer.index_documents import make_document, make_schema
from peercorpus.explorer.paper_row import paper_row
from peercorpus.explorer.point_documents import make_point_document, make_point_schema
from peercorpus.explorer.querying.searched_fields import add_tokenizers
from peercorpus.explorer.venue_page import VenueCounts, count_paper
from peercorpus.records.papers import Link
from peercorpus.records.points import Point
from peercorpus.release.venue_groups import find_taken
from peercorpus.workspace.delta_tables import Tables, open_for_worker
from peercorpus.workspace.object_store import Location

INDEX_VERSION = f"10, tantivy {version('tantivy')}"
"""Changed when the same tables would give another index."""
PART_PAPERS = 1_000
"""Maximum number of papers of small venues in one part; a larger venue forms its own part."""
_ENDS_PART = 32
"""Average number of small venues in a part; whether a venue ends one depends on its name alone, so that a new venue
changes only its own part."""
_SEGMENT_CHARACTERS = 50_000_000
"""Characters of one segment, so that it fits into the writer's memory: 113 million of invented reviews filled 96 MB."""
_HEAP_BYTES = 128_000_000
"""Memory of the writer of papers."""
_POINTS_HEAP_BYTES = 96_000_000
"""Memory of the writer of points, which runs beside it."""
POINTS = "points"
"""Subfolder of an index, and of a part that is made, with the index of points."""
_META = "meta.json"

Segment = dict[str, Any]
"""The entry for a segment in tantivy's `meta.json`."""


@dataclass(frozen=True)
class VenueInputs:
    """Everything that the documents of a venue are made from.

    Attributes:
        papers: Number of its papers, including those taken down.
        contents: Digests of its rows, by table (`Tables.content`).
        links: The links of its papers, without those to a paper that is taken down.
    """

    venue_id: str
    papers: int
    contents: Mapping[str, str]
    links: Sequence[Link]
    held: frozenset[str]
    takedown: Takedown

    @cached_property
    def key(self) -> str:
        gone = [sorted(ids) for ids in (self.takedown.forums, self.takedown.posts, self.takedown.files)]
        inputs = (INDEX_VERSION, self.venue_id, self.contents, self.links, sorted(self.held), gone)
        return hashlib.sha256(msgspec.json.encode(inputs)).hexdigest()


@dataclass(frozen=True, slots=True)
class Segments:
    """The segments of one index that a part has.

    Attributes:
        entries: The entry for each in `meta.json`, in the order of its documents.
    """

    entries: list[Segment] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Part:
    """A part that is indexed.

    Attributes:
        key: A digest of what it was made from.
        venues: Counts of each venue with anything that may be shown, without those read from `raw.db`.
    """

    key: str
    papers: Segments
    points: Segments
    venues: dict[str, VenueCounts] = field(default_factory=dict)

    @property
    def places(self) -> tuple[tuple[str, Segments], ...]:
        """Its segments, by the subfolder of the index in which their files lie."""
        return ("", self.papers), (POINTS, self.points)


@dataclass(frozen=True, slots=True)
class PartJob:
    """A part that is to be indexed, by this process or another.

    Attributes:
        out: A folder that does not exist yet, which receives the files of the segments.
    """

    tables: Location
    out: Path
    venues: Sequence[VenueInputs]

    @property
    def papers(self) -> int:
        """Number of papers, those taken down among them."""
        return sum(venue.papers for venue in self.venues)


def read_inputs(tables: Tables, takedown: Takedown) -> Iterator[VenueInputs]:
    """Yield the inputs of each venue's documents, in the order of the venues."""
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
        for link in takedown.keep_links(tables.read(Link, venue_id)):
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
    return hashlib.sha256(" ".join(venue.key for venue in venues).encode()).hexdigest()


class SegmentWriter:
    """Writes documents as segments, each in a folder of its own first: there tantivy merges it with no other."""

    def __init__(self, schema: tantivy.Schema, out: Path, heap_bytes: int) -> None:
        """Write to a folder, which is made, and receives the files of all segments."""
        self._schema = schema
        self._out = out
        self._heap_bytes = heap_bytes
        self._writer: tantivy.IndexWriter | None = None
        self._number = -1
        self._characters = 0
        self._written = Segments()
        out.mkdir(parents=True)

    def add(self, document: tantivy.Document, characters: int) -> None:
        """Add a document with this number of characters."""
        number = self._characters // _SEGMENT_CHARACTERS
        if number != self._number:
            self._end_segment()
            self._number = number
            self._folder.mkdir()
            index = add_tokenizers(tantivy.Index(self._schema, path=str(self._folder)))
            self._writer = index.writer(self._heap_bytes, 1)
        if self._writer is not None:
            self._writer.add_document(document)
        self._characters += characters

    @property
    def _folder(self) -> Path:
        return self._out / f"{self._number}"

    def _end_segment(self) -> None:
        if self._writer is None:
            return
        self._writer.commit()
        self._writer.wait_merging_threads()
        self._writer = None
        for segment in json.loads((self._folder / _META).read_bytes())["segments"]:
            self._written.entries.append(segment)
            for path in sorted(self._folder.glob(f"{segment['segment_id'].replace('-', '')}.*")):
                self._written.files.append(path.rename(self._out / path.name).name)

    def finish(self) -> Segments:
        """Complete the last segment, and return all."""
        self._end_segment()
        return self._written


def make_part(job: PartJob, opened: Tables | None = None) -> Part:
    """Index the venues of a part, read from these tables, or from those that this process opens for all parts.

    Raises:
        TryLaterError: The tables have changed since the job was made.
        DamagedError: A table is damaged.
    """
    shutil.rmtree(job.out, ignore_errors=True)
    papers = SegmentWriter(make_schema(), job.out, _HEAP_BYTES)
    points = SegmentWriter(make_point_schema(), job.out / POINTS, _POINTS_HEAP_BYTES)
    tables = opened or open_for_worker(job.tables, job.out.parent)
    counted = [_index_venue(tables, venue, job.out, papers, points) for venue in job.venues]
    venues = {counts.venue_id: counts for counts in counted if counts.papers}
    return Part(key_of(job.venues), papers.finish(), points.finish(), venues)


def _index_venue(
    tables: Tables, venue: VenueInputs, scratch: Path, papers: SegmentWriter, points: SegmentWriter
) -> VenueCounts:
    if read_contents(tables, venue.venue_id) != venue.contents:
        raise TryLaterError("The tables changed while the index was made; run the same command again.")
    links: dict[str, list[Link]] = {}
    for link in venue.links:
        for forum_id in (link.forum_id, link.earlier_id):
            links.setdefault(forum_id, []).append(link)
    counts = VenueCounts(venue.venue_id)
    rows_of_points = ForumReader(tables.read(Point, venue.venue_id))
    with tempfile.TemporaryFile(dir=scratch) as file:
        texts = TextStore(file, tables, venue.venue_id, venue.held) if venue.held else None
        for forum in public_forums(tables, venue.takedown, venue.venue_id):
            row = paper_row(forum, venue.held)
            forum = replace(
                forum,
                links=links.get(row.forum_id, ()),
                points=public_points(forum, rows_of_points.take(row.forum_id)),
            )
            counts.add(count_paper(forum, row))
            counts.count_points(forum.points)
            text = texts.read(row.text_sha256) if texts and row.text_sha256 and row.text_sha256 in texts else ""
            papers.add(*make_document(forum, row, text))
            created = forum.paper.created_at
            for point in forum.points:
                points.add(*make_point_document(point, row, created.timestamp() if created else None))
    return counts


def join_parts(parts: Sequence[Part], folder: Path) -> None:
    """Make the segments of parts, whose files are in a folder and its subfolder, the two indexes there."""
    _join(make_schema(), folder, [part.papers for part in parts])
    _join(make_point_schema(), folder / POINTS, [part.points for part in parts])


def _join(schema: tantivy.Schema, folder: Path, parts: Iterable[Segments]) -> None:
    tantivy.Index(schema, path=str(folder))
    meta = json.loads((folder / _META).read_bytes())
    meta["segments"] = [segment for segments in parts for segment in segments.entries]
    (folder / _META).write_text(json.dumps(meta), encoding="utf-8")

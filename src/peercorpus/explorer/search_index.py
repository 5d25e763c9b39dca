"""The full-text index over what may be shown, made once for each state of the tables, in bounded memory."""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path

import msgspec
import tantivy

from peercorpus.errors import TableError
from peercorpus.explorer.paper_row import PaperRow, paper_row, words_of
from peercorpus.explorer.public_forums import PublicForum, public_forums
from peercorpus.explorer.venue_counts import VenueCounts, counting
from peercorpus.file_records import Link
from peercorpus.openreview.objects import blot_people
from peercorpus.progress import Meter, Show
from peercorpus.publish.takedown import Takedown
from peercorpus.publish.takedown_list import LIST
from peercorpus.tables import TABLES
from peercorpus.workspace import Workspace

VERSION = 1
"""Raised when the same tables would give another index."""
FOLDER = "explorer"
VENUES = "venues.json"
PARTIAL = "partial-"
HEAP_BYTES = 96_000_000
"""What the writer holds in memory before it writes."""
TEXTS = ("title", "abstract", "reviews", "answers", "others")
"""The fields that are searched where a query names none."""
WORDS = ("venue_id", "conference", "track", "status", "grade", "keywords")
NUMBERS = ("year", "reviews_count", "rating", "confidence", "rating_unit", "rating_spread", "turns", "created")
TRUTHS = ("has_rebuttal", "score_changed")
TOKENIZER = "en_stem"


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("forum_id", tokenizer_name="raw", index_option="basic")
    builder.add_bytes_field("row", stored=True)
    for name in TEXTS:
        builder.add_text_field(name, stored=True, tokenizer_name=TOKENIZER)
    for name in WORDS:
        builder.add_text_field(name, fast=True, tokenizer_name="raw", index_option="basic")
    for name in NUMBERS:
        builder.add_float_field(name, indexed=True, fast=True)
    for name in TRUTHS:
        builder.add_boolean_field(name, indexed=True, fast=True)
    return builder.build()


@dataclass(frozen=True, slots=True)
class OpenIndex:
    """An index that can be searched.

    Attributes:
        venues: The counts of each venue, by its id.
    """

    index: tantivy.Index
    searcher: tantivy.Searcher
    venues: Mapping[str, VenueCounts]

    @property
    def schema(self) -> tantivy.Schema:
        """Its fields."""
        return self.index.schema


@dataclass(frozen=True, slots=True)
class Stored:
    """What the index keeps of a paper: its row, and its links with other submissions of the same work."""

    row: PaperRow
    links: tuple[Link, ...]


def state_of(workspace: Workspace) -> str:
    """What stands for everything the index is made of: the content keys of the tables, and what is taken down."""
    digests = {name: workspace.tables.digests(name) for name in TABLES if name not in {"set-aside", "0-inspections"}}
    taken = workspace.folder / LIST
    listed = taken.read_bytes().hex() if taken.exists() else ""
    told = json.dumps([VERSION, digests, listed], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:20]


def open_index(workspace: Workspace, takedown: Takedown, show: Show) -> OpenIndex:
    """The index of the tables as they are now, made where there is none; older ones are removed.

    Raises:
        TableError: The tables are not built, or hold no papers.
    """
    workspace.tables.require("1-papers")
    if not workspace.tables.venues("1-papers"):
        raise TableError("The tables hold no papers; harvest a venue, then run 'peercorpus build'.")
    name = f"index-{state_of(workspace)}"
    folder = workspace.folder / FOLDER / name
    if not folder.is_dir():
        folder = _made(workspace, takedown, show, name)
    index = tantivy.Index.open(str(folder))
    index.config_reader("manual")
    index.reload()
    venues = msgspec.json.decode((folder / VENUES).read_bytes(), type=dict[str, VenueCounts])
    return OpenIndex(index, index.searcher(), venues)


def _made(workspace: Workspace, takedown: Takedown, show: Show, name: str) -> Path:
    """Make the index in a folder of its own, and give it its name when it is whole."""
    place = _writable(workspace.folder / FOLDER)
    _clear_partial(place)
    partial = Path(tempfile.mkdtemp(prefix=f"{PARTIAL}{os.getpid()}-", dir=place))
    try:
        _fill(workspace, takedown, show, partial)
        if not (place / name).is_dir():
            partial.rename(place / name)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    for older in place.glob("index-*"):
        if older.name != name:
            shutil.rmtree(older, ignore_errors=True)
    return place / name


def _clear_partial(place: Path) -> None:
    """Remove what processes that are gone had not written to its end."""
    for left in place.glob(f"{PARTIAL}*"):
        try:
            os.kill(int(left.name.split("-")[1]), 0)
        except (ProcessLookupError, ValueError, IndexError):
            shutil.rmtree(left, ignore_errors=True)
        except PermissionError:
            continue


def _writable(place: Path) -> Path:
    """The folder for indexes; a temporary one, gone with the process, where the workspace cannot be written."""
    try:
        place.mkdir(exist_ok=True)
        if os.access(place, os.W_OK):
            return place
    except OSError:
        pass
    temporary = tempfile.TemporaryDirectory(prefix="peercorpus-explorer-")
    _TEMPORARY.append(temporary)
    return Path(temporary.name)


_TEMPORARY: list[tempfile.TemporaryDirectory[str]] = []
"""Removed when the process ends."""


def _held_texts(workspace: Workspace) -> frozenset[str]:
    tables = workspace.tables
    batches = chain.from_iterable(tables.batches("5-texts", venue, ["sha256"]) for venue in tables.venues("5-texts"))
    return frozenset(sha256 for batch in batches for sha256 in batch.column("sha256").to_pylist())


def _all_links(workspace: Workspace, takedown: Takedown) -> dict[str, list[Link]]:
    """The links of each paper, without those to a paper that is taken down."""
    found: dict[str, list[Link]] = {}
    for venue_id in workspace.tables.venues("8-links"):
        for link in workspace.tables.read(Link, venue_id):
            if takedown.forums.isdisjoint({link.forum_id, link.earlier_id}):
                for forum_id in (link.forum_id, link.earlier_id):
                    found.setdefault(forum_id, []).append(link)
    return found


def _fill(workspace: Workspace, takedown: Takedown, show: Show, folder: Path) -> None:
    tables, held, links = workspace.tables, _held_texts(workspace), _all_links(workspace, takedown)
    writer = tantivy.Index(_schema(), path=str(folder)).writer(HEAP_BYTES, 1)
    venues: dict[str, VenueCounts] = {}
    for venue_id in tables.venues("1-papers"):
        meter, total = Meter(venue_id, "index", show), tables.count("1-papers", venue_id)
        counts = counting(workspace, venue_id)
        for done, forum in enumerate(public_forums(tables, takedown, venue_id), 1):
            row = paper_row(forum, held)
            writer.add_document(_document(forum, Stored(row, tuple(links.get(row.forum_id, ())))))
            counts.count(forum, row)
            meter.report(done, total)
        if counts.papers:
            venues[venue_id] = counts
    writer.commit()
    writer.wait_merging_threads()
    (folder / VENUES).write_bytes(msgspec.json.encode(venues))


def _document(forum: PublicForum, stored: Stored) -> tantivy.Document:
    row, document = asdict(stored.row), tantivy.Document()
    document.add_text("forum_id", stored.row.forum_id)
    document.add_bytes("row", msgspec.json.encode(stored))
    for name, text in _texts_of(forum, stored.row):
        document.add_text(name, text)
    for name in WORDS:
        for word in row[name] if name == "keywords" else (row[name],):
            if word:
                document.add_text(name, word.strip().lower())
    created = forum.paper.created_at
    numbers = row | {"reviews_count": row["reviews"], "created": created.timestamp() if created else None}
    for name in NUMBERS:
        if numbers[name] is not None:
            document.add_float(name, float(numbers[name]))
    for name in TRUTHS:
        if row[name] is not None:
            document.add_boolean(name, row[name])
    return document


def _texts_of(forum: PublicForum, row: PaperRow) -> Iterator[tuple[str, str]]:
    yield "title", row.title or ""
    yield "abstract", row.abstract or ""
    gathered: dict[str, list[str]] = {}
    for name, text in words_of(forum):
        gathered.setdefault(name, []).append(blot_people(text))
    for name, texts in gathered.items():
        yield name, "\n\n".join(texts)


def read_stored(document: tantivy.Document) -> Stored:
    """What the index keeps of a paper."""
    return msgspec.json.decode(bytes(document.get_first("row") or b""), type=Stored)


def find_stored(opened: OpenIndex, forum_id: str) -> Stored | None:
    """What the index keeps of the paper with this id; None where none has it."""
    query = tantivy.Query.term_query(opened.schema, "forum_id", forum_id)
    hits = opened.searcher.search(query, 1).hits
    return read_stored(opened.searcher.doc(hits[0][1])) if hits else None

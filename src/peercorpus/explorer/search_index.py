"""Build the tantivy index of a workspace, once for each state of its tables, and open it.

The index holds only what may be shown: public records that are not taken down.
"""

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

from peercorpus.corpus.public_forums import PublicForum, public_forums
from peercorpus.corpus.takedown import LIST, Takedown
from peercorpus.errors import TableError
from peercorpus.execution.progress import Meter, Show
from peercorpus.explorer.paper_row import PaperRow, paper_row, searched_texts
from peercorpus.explorer.venue_page import VenueCounts, start_counts
from peercorpus.records.papers import Link
from peercorpus.records.untrusted_text import redact_people
from peercorpus.workspace.delta_tables import TABLES
from peercorpus.workspace.private_files import require_own
from peercorpus.workspace.workspace import Workspace

_INDEX_VERSION = 2
"""Increased when the same tables would give another index."""
FOLDER = "explorer"
VENUES = "venues.json"
PARTIAL = "partial-"
_HEAP_BYTES = 96_000_000
"""Memory that the writer fills before it writes to disk."""
TEXTS = ("title", "abstract", "reviews", "answers", "others")
"""Fields that are searched if a query names none."""
WORDS = ("venue_id", "conference", "track", "status", "grade", "keywords")
NUMBERS = ("year", "reviews_count", "rating", "confidence", "rating_unit", "rating_spread", "turns", "created")
TRUTHS = ("has_rebuttal", "score_changed")
_TOKENIZER = "en_stem"


def _make_schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("forum_id", tokenizer_name="raw", index_option="basic")
    builder.add_bytes_field("row", stored=True)
    for name in TEXTS:
        builder.add_text_field(name, stored=True, tokenizer_name=_TOKENIZER)
    for name in WORDS:
        builder.add_text_field(name, fast=True, tokenizer_name="raw", index_option="basic")
    for name in NUMBERS:
        builder.add_float_field(name, indexed=True, fast=True)
    for name in TRUTHS:
        builder.add_boolean_field(name, indexed=True, fast=True)
    return builder.build()


@dataclass(frozen=True, slots=True)
class OpenIndex:
    """An index that is ready to be searched.

    Attributes:
        venues: Counts of each venue, by venue id.
    """

    index: tantivy.Index
    searcher: tantivy.Searcher
    venues: Mapping[str, VenueCounts]

    @property
    def schema(self) -> tantivy.Schema:
        """The fields of the index."""
        return self.index.schema


@dataclass(frozen=True, slots=True)
class Stored:
    """What the index stores of a paper: its row, and its links with other submissions of the same work."""

    row: PaperRow
    links: tuple[Link, ...]


def digest_inputs(workspace: Workspace) -> str:
    """Return a digest of everything the index is made from: content keys of the tables, and the take-down list."""
    digests = {name: workspace.tables.digests(name) for name in TABLES if name not in {"set-aside", "0-inspections"}}
    takedown_list = workspace.folder / LIST
    listed = takedown_list.read_bytes().hex() if takedown_list.exists() else ""
    inputs = json.dumps([_INDEX_VERSION, digests, listed], sort_keys=True)
    return hashlib.sha256(inputs.encode()).hexdigest()[:20]


def open_index(workspace: Workspace, takedown: Takedown, show: Show) -> OpenIndex:
    """Open the index of the tables as they are now; build it if it does not exist, and remove older ones.

    Raises:
        TableError: The tables have not been built, or have no papers.
    """
    workspace.tables.require("1-papers")
    if not workspace.tables.venues("1-papers"):
        raise TableError("The tables hold no papers; harvest a venue, then run 'peercorpus build'.")
    name = f"index-{digest_inputs(workspace)}"
    folder = workspace.folder / FOLDER / name
    if not folder.is_dir():
        folder = _build_index(workspace, takedown, show, name)
    index = tantivy.Index.open(str(folder))
    index.config_reader("manual")
    index.reload()
    venues = msgspec.json.decode((folder / VENUES).read_bytes(), type=dict[str, VenueCounts])
    return OpenIndex(index, index.searcher(), venues)


def _build_index(workspace: Workspace, takedown: Takedown, show: Show, name: str) -> Path:
    """Build the index in a temporary folder, and rename that when it is complete."""
    indexes = _choose_folder(workspace.folder / FOLDER)
    _clear_partial(indexes)
    partial = Path(tempfile.mkdtemp(prefix=f"{PARTIAL}{os.getpid()}-", dir=indexes))
    try:
        _fill(workspace, takedown, show, partial)
        if not (indexes / name).is_dir():
            partial.rename(indexes / name)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    for older in indexes.glob("index-*"):
        if older.name != name:
            shutil.rmtree(older, ignore_errors=True)
    return indexes / name


def _clear_partial(indexes: Path) -> None:
    """Remove the incomplete indexes of processes that have ended."""
    for left in indexes.glob(f"{PARTIAL}*"):
        try:
            os.kill(int(left.name.split("-")[1]), 0)
        except (ProcessLookupError, ValueError, IndexError):
            shutil.rmtree(left, ignore_errors=True)
        except PermissionError:
            continue


def _choose_folder(indexes: Path) -> Path:
    """Return the folder for indexes; if the workspace is read only, a temporary one that is removed at exit."""
    require_own(indexes)
    try:
        indexes.mkdir(exist_ok=True)
        if os.access(indexes, os.W_OK):
            return indexes
    except OSError:
        pass
    temporary = tempfile.TemporaryDirectory(prefix="peercorpus-explorer-")
    _TEMPORARY.append(temporary)
    return Path(temporary.name)


_TEMPORARY: list[tempfile.TemporaryDirectory[str]] = []
"""Kept alive until the process ends, which removes them."""


def _read_links(workspace: Workspace, takedown: Takedown) -> dict[str, list[Link]]:
    """Return the links of each paper, without those to a paper that is taken down."""
    links: dict[str, list[Link]] = {}
    for venue_id in workspace.tables.venues("8-links"):
        for link in workspace.tables.read(Link, venue_id):
            if takedown.forums.isdisjoint({link.forum_id, link.earlier_id}):
                for forum_id in (link.forum_id, link.earlier_id):
                    links.setdefault(forum_id, []).append(link)
    return links


def _fill(workspace: Workspace, takedown: Takedown, show: Show, folder: Path) -> None:
    tables = workspace.tables
    batches = chain.from_iterable(tables.batches("5-texts", venue, ["sha256"]) for venue in tables.venues("5-texts"))
    with_text = frozenset(sha256 for batch in batches for sha256 in batch.column("sha256").to_pylist())
    links = _read_links(workspace, takedown)
    writer = tantivy.Index(_make_schema(), path=str(folder)).writer(_HEAP_BYTES, 1)
    venues: dict[str, VenueCounts] = {}
    for venue_id in tables.venues("1-papers"):
        meter = Meter(venue_id, "index", show)
        total = tables.count("1-papers", venue_id)
        counts = start_counts(workspace, venue_id)
        for done, forum in enumerate(public_forums(tables, takedown, venue_id), 1):
            row = paper_row(forum, with_text)
            writer.add_document(_make_document(forum, Stored(row, tuple(links.get(row.forum_id, ())))))
            counts.count(forum, row)
            meter.report(done, total)
        if counts.papers:
            venues[venue_id] = counts
    writer.commit()
    writer.wait_merging_threads()
    (folder / VENUES).write_bytes(msgspec.json.encode(venues))


def _make_document(forum: PublicForum, stored: Stored) -> tantivy.Document:
    row = asdict(stored.row)
    document = tantivy.Document()
    document.add_text("forum_id", stored.row.forum_id)
    document.add_bytes("row", msgspec.json.encode(stored))
    for name, text in _collect_texts(forum, stored.row):
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


def _collect_texts(forum: PublicForum, row: PaperRow) -> Iterator[tuple[str, str]]:
    yield "title", row.title or ""
    yield "abstract", row.abstract or ""
    by_field: dict[str, list[str]] = {}
    for name, text in searched_texts(forum):
        by_field.setdefault(name, []).append(redact_people(text))
    for name, texts in by_field.items():
        yield name, "\n\n".join(texts)


def read_stored(document: tantivy.Document) -> Stored:
    """Decode what the index stores of a paper."""
    return msgspec.json.decode(bytes(document.get_first("row") or b""), type=Stored)


def find_stored(opened: OpenIndex, forum_id: str) -> Stored | None:
    """Return what the index stores of a paper, or None if no paper has this id."""
    query = tantivy.Query.term_query(opened.schema, "forum_id", forum_id)
    hits = opened.searcher.search(query, 1).hits
    return read_stored(opened.searcher.doc(hits[0][1])) if hits else None

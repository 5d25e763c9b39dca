"""Build the tantivy index of a workspace for the present state of its tables, and open it.

The index contains only what may be shown: public records that are not taken down. Parts whose venues did not change are
kept from the index before; the others are made by several processes.
"""

import hashlib
import json
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import tantivy

from peercorpus.corpus.public_forums import PublicForum
from peercorpus.corpus.takedown import LIST, Takedown
from peercorpus.errors import PeercorpusError, TableError
from peercorpus.execution.executor import Executor, Failure
from peercorpus.execution.progress import Meter, Show
from peercorpus.explorer.index_documents import read_forum, read_row
from peercorpus.explorer.index_parts import (
    INDEX_VERSION,
    POINTS,
    Part,
    PartJob,
    Segments,
    divide,
    join_parts,
    key_of,
    make_part,
    read_inputs,
)
from peercorpus.explorer.paper_row import PaperRow
from peercorpus.explorer.querying.searched_fields import OpenTexts, add_tokenizers
from peercorpus.explorer.venue_page import VenueCounts
from peercorpus.workspace.delta_tables import Tables
from peercorpus.workspace.private_files import require_own
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.table_reader import TABLES
from peercorpus.workspace.workspace import Workspace

FOLDER = "explorer"
VENUES = "venues.json"
PARTS = "parts.json"
SEGMENT_FILE = re.compile(r"[0-9a-f]{32}\.\w+(?:\.\w+)?")
"""Name of a file of a segment of tantivy: its id, and the kind of its content."""
PARTIAL = "partial-"
_NEW = "parts"
"""Subfolder of an incomplete index in which parts are made."""
_FEW_PAPERS = 1_000
"""Papers up to which this process indexes them sooner than others, which take time to start."""
_TIMEOUT_S = 3_600.0
"""Time limit for one part in seconds; 1,840 papers take three."""


@dataclass(frozen=True, slots=True)
class OpenIndex(OpenTexts):
    """The index of papers, and beside it the index of the points of their reviews.

    Attributes:
        folder: Where it is stored; its name is that of the state of the tables.
        points: The index of points; it is empty if no venue has the table `9-points`.
    """

    folder: Path
    points: OpenTexts
    venues: Mapping[str, VenueCounts]


def digest_inputs(workspace: Workspace) -> str:
    """Return a digest of everything the index is made from: content keys of the tables, and the take-down list."""
    return digest_state(workspace.tables, workspace.folder)


def digest_state(tables: Tables, folder: Path) -> str:
    """Return the same digest for tables, and for the folder that has the take-down list."""
    with tables.looking_once():
        digests = {name: tables.digests(name) for name in TABLES if name not in {"set-aside", "0-inspections"}}
    takedown_list = folder / LIST
    listed = takedown_list.read_bytes().hex() if takedown_list.exists() else ""
    inputs = json.dumps([INDEX_VERSION, digests, listed], sort_keys=True)
    return hashlib.sha256(inputs.encode()).hexdigest()[:20]


def name_index(digest: str) -> str:
    """Return the name of the index of a state of the tables by its digest."""
    return f"index-{digest}"


def open_index(workspace: Workspace, takedown: Takedown, show: Show, spread: Executor | None = None) -> OpenIndex:
    """Open the index of the tables as they are now; build it if it does not exist, and remove older ones.

    Without `spread`, parts of the index are made in this process.

    Raises:
        TableError: The tables have not been built, or have no papers.
        TryLaterError: The tables changed while the index was made.
    """
    workspace.tables.require("1-papers")
    if not workspace.tables.venues("1-papers"):
        raise TableError("The tables have no papers; harvest a venue, then run 'peercorpus build'.")
    name = name_index(digest_inputs(workspace))
    folder = workspace.folder / FOLDER / name
    if not folder.is_dir():
        folder = _build_index(workspace, takedown, show, spread, name)
    _clear_older(folder)
    index = _open_at(folder)
    venues = msgspec.json.decode((folder / VENUES).read_bytes(), type=dict[str, VenueCounts])
    points = _open_at(folder / POINTS)
    return OpenIndex(index, index.searcher(), folder, OpenTexts(points, points.searcher()), venues)


def _open_at(folder: Path) -> tantivy.Index:
    try:
        return _open_files(folder)
    except ValueError as error:
        if "Lockfile" not in str(error):
            raise
    # tantivy locks a file even to read, and so cannot open an index in a folder that is read only.
    beside = _make_temporary()
    for file in folder.iterdir():
        if file.is_file() and not file.name.endswith(".lock"):
            (beside / file.name).symlink_to(file.absolute())
    return _open_files(beside)


def _open_files(folder: Path) -> tantivy.Index:
    index = add_tokenizers(tantivy.Index.open(str(folder)))
    index.config_reader("manual")
    index.reload()
    return index


def _build_index(workspace: Workspace, takedown: Takedown, show: Show, spread: Executor | None, name: str) -> Path:
    """Build the index in a temporary folder, and rename that when it is complete."""
    indexes = _choose_folder(workspace.folder / FOLDER)
    _clear_partial(indexes)
    partial = Path(tempfile.mkdtemp(prefix=f"{PARTIAL}{os.getpid()}-", dir=indexes))
    try:
        _fill(workspace, takedown, show, spread, partial)
        if not (indexes / name).is_dir():
            partial.rename(indexes / name)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return indexes / name


def _clear_older(folder: Path) -> None:
    """Remove the indexes that were made before one, also those that a killed process left: what is taken down goes."""
    made_at = folder.stat().st_mtime_ns
    for older in folder.parent.glob("index-*"):
        if older.name != folder.name and older.stat().st_mtime_ns <= made_at:
            shutil.rmtree(older, ignore_errors=True)


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
    return _make_temporary()


def _make_temporary() -> Path:
    """Return a new folder that is removed when the process ends."""
    temporary = tempfile.TemporaryDirectory(prefix="peercorpus-explorer-")
    _TEMPORARY.append(temporary)
    return Path(temporary.name)


_TEMPORARY: list[tempfile.TemporaryDirectory[str]] = []
"""Kept alive until the process ends, which removes them."""


def _fill(workspace: Workspace, takedown: Takedown, show: Show, spread: Executor | None, folder: Path) -> None:
    """Write the index of a workspace to a folder; parts that an earlier index has are kept."""
    with workspace.tables.looking_once():
        divided = [tuple(venues) for venues in divide(read_inputs(workspace.tables, takedown))]
    (folder / POINTS).mkdir()
    kept = _keep_parts(workspace.folder / FOLDER, {key_of(venues) for venues in divided}, folder)
    jobs = [
        PartJob(workspace.tables.folder, folder / _NEW / f"{number}", venues)
        for number, venues in enumerate(divided)
        if key_of(venues) not in kept
    ]
    meter = Meter(workspace.folder.resolve().name, "indexing papers", show, total=sum(job.papers for job in jobs))
    for job, part in _make_parts(workspace, jobs, spread):
        for place, segments in part.places:
            for file in segments.files:
                (job.out / place / file).rename(folder / place / file)
        kept[part.key] = part
        meter.advance(job.papers)
    shutil.rmtree(folder / _NEW, ignore_errors=True)
    parts = [kept[key_of(venues)] for venues in divided]
    join_parts(parts, folder)
    (folder / PARTS).write_bytes(msgspec.json.encode(parts))
    (folder / VENUES).write_bytes(msgspec.json.encode(_complete_counts(workspace, parts)))


def _complete_counts(workspace: Workspace, parts: Sequence[Part]) -> dict[str, VenueCounts]:
    """Return the counts of all venues, with those that are read from `raw.db`."""
    return {
        venue_id: replace(
            counts,
            is_listed=workspace.raw.state.is_listed(venue_id),
            records=workspace.raw.count(RawKind.PUBLISHED, venue_id),
        )
        for part in parts
        for venue_id, counts in part.venues.items()
    }


def _make_parts(
    workspace: Workspace, jobs: Sequence[PartJob], spread: Executor | None
) -> Iterator[tuple[PartJob, Part]]:
    """Make parts, the largest first, so that no process waits long for another at the end."""
    ordered = sorted(jobs, key=lambda job: -job.papers)
    if spread is None or len(jobs) < 2 or sum(job.papers for job in jobs) <= _FEW_PAPERS:
        with workspace.tables.looking_once():
            yield from ((job, make_part(job, workspace.tables)) for job in ordered)
        return
    workers = min(os.cpu_count() or 1, len(jobs))
    for job, part in spread(make_part, ordered, timeout_s=_TIMEOUT_S, workers=workers):
        if isinstance(part, Failure):
            said = f"The index of '{job.venues[0].venue_id}' could not be made. {part.detail}"
            raise part.error or PeercorpusError(said)
        yield job, part


def _keep_parts(indexes: Path, wanted: set[str], folder: Path) -> dict[str, Part]:
    """Put the files of those parts that an earlier index has into a folder, and return the parts by key."""
    kept: dict[str, Part] = {}
    for earlier in sorted(indexes.glob(f"index-*/{PARTS}")):
        if earlier.parent.is_symlink() or earlier.is_symlink():
            continue
        try:
            parts = msgspec.json.decode(earlier.read_bytes(), type=list[Part])
        except (OSError, msgspec.MsgspecError):
            continue  # Another process removed it, or another version wrote it.
        for part in (each for each in parts if each.key in wanted - kept.keys()):
            if all(_take_segments(segments, earlier.parent / place, folder / place) for place, segments in part.places):
                kept[part.key] = part
    return kept


def _take_segments(segments: Segments, earlier: Path, folder: Path) -> bool:
    """Link the files of segments into a folder, or copy them; return whether they are all there.

    The list of files is that of a workspace which somebody else may have given: only names of files of segments count.
    """
    if earlier.is_symlink() or not all(map(SEGMENT_FILE.fullmatch, segments.files)):
        return False
    try:
        for file in segments.files:
            if not stat.S_ISREG((earlier / file).lstat().st_mode):
                return False
            try:
                (folder / file).hardlink_to(earlier / file)
            except OSError:
                with (earlier / file).open("rb") as source, (folder / file).open("xb") as target:
                    shutil.copyfileobj(source, target)
    except OSError:
        return False
    return True


def _find_document(opened: OpenIndex, forum_id: str) -> tantivy.Document | None:
    query = tantivy.Query.term_query(opened.schema, "forum_id", forum_id)
    hits = opened.searcher.search(query, 1).hits
    return opened.searcher.doc(hits[0][1]) if hits else None


def find_row(opened: OpenIndex, forum_id: str) -> PaperRow | None:
    """Return the summary of a paper, or None if no paper has this id."""
    document = _find_document(opened, forum_id)
    return None if document is None else read_row(document)


def find_paper(opened: OpenIndex, forum_id: str) -> tuple[PaperRow, PublicForum] | None:
    """Return the summary of a paper, and what may be shown of it; None as above."""
    document = _find_document(opened, forum_id)
    return None if document is None else (read_row(document), read_forum(document))

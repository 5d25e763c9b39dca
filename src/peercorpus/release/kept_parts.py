"""Reuse the files of an earlier release whose rows would be the same, with the counts taken while writing them.

The workspace has `parts/<sha256 of release.json>` for each release that is still on this machine. Without it, a release
is written completely.
"""

import hashlib
import logging
import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import msgspec
import zstandard

from peercorpus.corpus.resubmissions import Attempt, group_into_works, make_attempt, number_attempts, read_links
from peercorpus.errors import PeercorpusError
from peercorpus.records.enums import LinkKind
from peercorpus.release.counts import ReviewBenchCounts, RowCounts
from peercorpus.release.folder import FILE, open_release
from peercorpus.release.record_rows import as_row
from peercorpus.release.rows import ForumRows
from peercorpus.release.shards import EVERY_CONFIG, FileRecord, ShardFile, Writers
from peercorpus.workspace.delta_tables import Tables
from peercorpus.workspace.object_store import file_digest
from peercorpus.workspace.private_files import OWNER_ONLY, make_private_folder, replacing, require_own

DIGEST_BYTES = 16


class MetPaper(msgspec.Struct, frozen=True, array_like=True):
    """The data on a published paper that links need.

    Attributes:
        split: The split of its rows.
        texts: Digests of its texts, each once.
        submission: The paper as the only submission of its work, with its public ratings.
    """

    forum_id: str
    split: str
    texts: tuple[bytes, ...]
    submission: Attempt


def meet_paper(split: str, rows: ForumRows) -> MetPaper:
    """Return the data on a paper that links need, from its rows."""
    texts = [rows.paper["markdown"], *(text["markdown"] for text in rows.texts)]
    digests = [
        hashlib.blake2b(markdown.encode(), digest_size=DIGEST_BYTES).digest()
        for markdown in dict.fromkeys(filter(None, texts))
    ]
    ratings = [(review["rating"], review["rating_unified"]) for review in rows.reviews]
    return MetPaper(rows.paper["forum_id"], split, tuple(digests), make_attempt(rows.paper, ratings))


class WorkLinks:
    """The links of a workspace, and those within a release.

    Attributes:
        kinds: Number of links written, by kind.
        left_out: Number of links with a paper that is missing from the release.
    """

    def __init__(self, tables: Tables) -> None:
        self._links = read_links(tables)
        self._pairs = [(link.earlier_id, link.forum_id) for link in self._links]
        self._works = group_into_works(self._pairs)
        self._texts: dict[bytes, str] = {}
        self.kinds = Counter[LinkKind]()
        self.left_out = 0
        self._here: dict[str, tuple[str, Attempt]] = {}

    def meet(self, papers: Iterable[MetPaper]) -> None:
        """Record papers of the release."""
        for paper in papers:
            for digest in paper.texts:
                first_id = self._texts.setdefault(digest, paper.forum_id)
                if first_id != paper.forum_id:
                    self._pairs.append((first_id, paper.forum_id))
            if paper.forum_id in self._works:
                self._here[paper.forum_id] = paper.split, paper.submission

    def groups(self) -> dict[str, str]:
        """The work of every paper that must share a split with others, by forum id.

        Linked submissions belong to one work, and so do papers with an identical text in any version, whatever their
        titles. Submissions outside the release connect others too. The id of a work may be that of a submission that
        was taken down; it is never published.
        """
        return group_into_works(pair for pair in self._pairs if pair[0] != pair[1])

    def write(self, writers: Writers) -> None:
        """Write the configurations `links` and `tries`, restricted to papers of the release."""
        attempts = number_attempts((attempt for _, attempt in self._here.values()), self._works)
        works = {attempt.forum_id: attempt.work_id for attempt in attempts}
        for link in self._links:
            if link.forum_id not in works or link.earlier_id not in works:
                self.left_out += 1
                continue
            split, later = self._here[link.forum_id]
            work_columns = {"conference": later.conference, "year": later.year, "work_id": works[link.forum_id]}
            writers.add("links", split, as_row(link) | work_columns)
            self.kinds[link.kind] += 1
        for attempt in attempts:
            writers.add("tries", self._here[attempt.forum_id][0], as_row(attempt))


PARTS = "parts"
"""Folder of a workspace with one file for each of its releases."""
SCRATCH = ".kept"
"""Folder in an unfinished release for files that are being copied."""
_LEVEL = 3
_SHA256_BYTES = 32
_SPLIT = re.compile(r"[\w-]+")
_OWN_NAME = re.compile(r"[0-9a-f]{64}")
"""Matches our names in the folder of parts; other files there are not ours."""
_CHUNK_BYTES = 1 << 20
logger = logging.getLogger(__name__)


EDITION: Literal[2] = 2
"""Raised with every new count, so that a part written before there was this count is made again, not read as 0."""


class Part(msgspec.Struct, kw_only=True):
    """The contribution of a group of venues to a release.

    Attributes:
        edition: `EDITION` of the code that wrote it.
        files: Its Parquet files in order, without those of task configurations.
        counts: Counts of its rows, without the workspace's data on its venues.
        taken: Records taken down, by venue and kind.
        papers: The data on its papers that links need; empty in the layout `reviewbench`.
        reviewbench: Counts of the rows of that layout; None in the other layout.
    """

    edition: Literal[2]
    files: list[FileRecord]
    counts: RowCounts
    taken: dict[str, Counter[str]]
    papers: list[MetPaper]
    reviewbench: ReviewBenchCounts | None = None


class TaskPart(msgspec.Struct):
    """The Parquet files of task configurations of a group of venues, in their order."""

    files: list[FileRecord]


PartT = TypeVar("PartT", Part, TaskPart)


def _decode_counter(kind: Any, counted: Any) -> Any:  # noqa: ANN401 -- called by msgspec
    if getattr(kind, "__origin__", None) is not Counter:
        raise NotImplementedError
    (key,) = get_args(kind)
    return Counter({msgspec.convert(name, key): count for name, count in counted.items()})


class _Held:
    """An existing release, with its stored parts."""

    def __init__(self, folder: Path, parts: Path) -> None:
        release = open_release(folder, is_whole=False)
        self.sha256, self.folder = release.sha256, folder
        files = release.manifest.files.items()
        self._paths = {sha256: folder / name for name, sha256 in files if FILE.fullmatch(name)}
        self._parts: dict[str, bytes] = msgspec.msgpack.decode(
            (parts / release.sha256).read_bytes(), type=dict[str, bytes]
        )

    def __contains__(self, key: str) -> bool:
        return key in self._parts

    def read(self, key: str, kind: type[PartT]) -> PartT:
        """Return a part.

        Raises:
            ValueError: It has changed since it was written.
        """
        sha256, packed = self._parts[key][:_SHA256_BYTES], self._parts[key][_SHA256_BYTES:]
        if hashlib.sha256(packed).digest() != sha256:
            raise ValueError(key)
        part = msgspec.msgpack.decode(
            zstandard.ZstdDecompressor().decompress(packed), type=kind, dec_hook=_decode_counter
        )
        if not all(record.config in EVERY_CONFIG and _SPLIT.fullmatch(record.split) for record in part.files):
            raise ValueError(key)
        return part

    def bring(self, record: FileRecord, path: Path, *, may_link: bool) -> ShardFile | None:
        """Copy or link a file to a path; None if it no longer exists or has changed."""
        source = self._paths.get(record.sha256)
        if source is None:
            return None
        try:
            may_link = may_link and _is_alone(source, self.folder)
            sha256 = _link(source, path) if may_link else _copy(source, path)
        except OSError:
            return None
        return ShardFile(path, record) if sha256 == record.sha256 else None


def _is_alone(file: Path, release: Path) -> bool:
    """Return whether a file is in the release's own folder and no link leads to or from it."""
    status = file.lstat()
    is_inside = file.resolve() == release.resolve() / file.relative_to(release)
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1 and is_inside


def _link(source: Path, path: Path) -> str:
    """Link a file to a second path, which remains when the replaced release is removed; return its sha256."""
    path.unlink(missing_ok=True)
    try:
        path.hardlink_to(source)
    except OSError:  # Not every file system has links.
        return _copy(source, path)
    return file_digest(path)


def _copy(source: Path, path: Path) -> str:
    """Copy a file and return its sha256."""
    digest = hashlib.sha256()
    path.unlink(missing_ok=True)
    with source.open("rb") as origin, path.open("wb") as copied:
        while chunk := origin.read(_CHUNK_BYTES):
            digest.update(chunk)
            copied.write(chunk)
    return digest.hexdigest()


@dataclass(slots=True)
class KeptParts:
    """Parts of earlier releases and of the release being written.

    Files are copied, because editing a linked file in one release would change the other. Files of a replaced release
    are linked, since it is removed at the end, unless other links to them exist.

    Attributes:
        workspace: Its folder.
        replaced: The release to be replaced, if there is one.
        folders: Further releases, in order of preference.
        scratch: A folder on the same disk as the release, which need not exist and may be removed at the end.
        kept: Number of reused files.
    """

    workspace: Path
    replaced: Path
    folders: list[Path]
    scratch: Path = Path(SCRATCH)
    kept: int = 0
    _held: list[_Held] | None = None
    _own: dict[str, bytes] = field(default_factory=dict)

    def take(self, key: str | None, kind: type[PartT], writers: Writers) -> tuple[PartT, list[ShardFile]] | None:
        """Add the files of an earlier release to this one, and return the rest of their part.

        Args:
            key: Digest of everything the rows depend on; None if they can never be reused.
            kind: Type of the part.
            writers: Writers that receive the files.

        Returns:
            None if no release has them, or one of their files has changed since.
        """
        if key is None:
            return None
        for held in self._open():
            if key in held:
                try:
                    part = held.read(key, kind)
                except (ValueError, msgspec.MsgspecError, zstandard.ZstdError, LookupError, TypeError):
                    continue  # It is damaged, or was written by another version.
                files = self._copy_all(held, part.files)
                if files is not None:
                    writers.adopt(files)
                    self.kept += len(files)
                    self.put(key, part)
                    return part, files
        return None

    def _open(self) -> list[_Held]:
        if self._held is None:
            self._held = list(_open_all([self.replaced, *self.folders], self.workspace / PARTS))
        return self._held

    def _copy_all(self, held: _Held, records: Iterable[FileRecord]) -> list[ShardFile] | None:
        self.scratch.mkdir(exist_ok=True)
        files: list[ShardFile] = []
        for number, record in enumerate(records):
            file = held.bring(record, self.scratch / str(number), may_link=held.folder == self.replaced)
            if file is None:
                return None
            files.append(file)
        return files

    def put(self, key: str | None, part: Part | TaskPart) -> None:
        """Record a part of this release."""
        if key is not None:
            encoded = msgspec.msgpack.encode(part)
            packed = zstandard.ZstdCompressor(level=_LEVEL).compress(encoded)
            self._own[key] = hashlib.sha256(packed).digest() + packed

    def save(self, release: Path) -> None:
        """Store the parts of the written release, and delete those of releases that no longer exist.

        If the workspace cannot be written, the next release is written completely.
        """
        folder = self.workspace / PARTS
        require_own(folder)
        sha256 = open_release(release, is_whole=False).sha256
        here = {sha256, *_list_digests(self.folders)}
        try:
            make_private_folder(folder)
            _replace(folder / sha256, msgspec.msgpack.encode(self._own))
            for path in folder.iterdir():
                if path.name not in here and _OWN_NAME.fullmatch(path.name):
                    path.unlink()
        except OSError as error:
            logger.warning(
                "The parts that the next release could reuse were not recorded in '%s': %s.", folder, error.strerror
            )


def _open_all(folders: Iterable[Path], parts: Path) -> Iterator[_Held]:
    opened: set[Path] = set()
    for folder in folders:
        if folder.resolve() in opened:
            continue
        opened.add(folder.resolve())
        try:
            yield _Held(folder, parts)
        except (PeercorpusError, OSError, msgspec.DecodeError):
            continue  # It was edited, or written before parts were stored: nothing of it is reused.


def _list_digests(folders: Iterable[Path]) -> Iterator[str]:
    for folder in folders:
        with suppress(PeercorpusError):
            yield open_release(folder, is_whole=False).sha256


def _replace(path: Path, content: bytes) -> None:
    with replacing(path, OWNER_ONLY) as partial, partial.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())

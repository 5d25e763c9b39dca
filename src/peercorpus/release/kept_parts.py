"""Keep the files of an earlier release whose rows would be the same, and what was counted while they were written.

The workspace holds `parts/<sha256 of release.json>` for each release that is still on this machine. A release can be
written whole without it.
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
from typing import Any, TypeVar, get_args

import msgspec
import zstandard

from peercorpus.errors import PeercorpusError
from peercorpus.release.card.reviewbench_card import ReviewBenchCounts
from peercorpus.release.counts import RowCounts
from peercorpus.release.folder import FILE, open_release
from peercorpus.release.shards import EVERY_CONFIG, FileRecord, ShardFile, Writers
from peercorpus.release.work_links import MetPaper
from peercorpus.workspace.object_store import file_digest
from peercorpus.workspace.private_files import OWNER_ONLY, make_private_folder, require_own

PARTS = "parts"
"""Folder of a workspace with one file for each of its releases."""
SCRATCH = ".kept"
"""Folder in an unfinished release for files that are being copied."""
_LEVEL = 3
_SHA256_BYTES = 32
_SPLIT = re.compile(r"[\w-]+")
_OWN_NAME = re.compile(r"[0-9a-f]{64}(?:\.partial)?")
"""Names in the folder of parts; other files there are somebody else's."""
_CHUNK_BYTES = 1 << 20
logger = logging.getLogger(__name__)


class Part(msgspec.Struct, kw_only=True):
    """What a group of venues adds to a release.

    Attributes:
        files: Its Parquet files in their order; those of task configurations are not among them.
        counts: What its rows say; of its venues without what the workspace says of them.
        taken: Records taken down, by venue and kind.
        papers: What links need to know of its papers; empty in the layout `reviewbench`.
        reviewbench: Counts of the rows of that layout; None in the other.
    """

    files: list[FileRecord]
    counts: RowCounts
    taken: dict[str, Counter[str]]
    papers: list[MetPaper]
    reviewbench: ReviewBenchCounts | None = None


class TaskPart(msgspec.Struct):
    """The Parquet files of task configurations of a group of venues, in their order."""

    files: list[FileRecord]


PartT = TypeVar("PartT", Part, TaskPart)


def _decode_counter(kind: Any, counted: Any) -> Any:  # noqa: ANN401 -- as msgspec calls it
    if getattr(kind, "__origin__", None) is not Counter:
        raise NotImplementedError
    (key,) = get_args(kind)
    return Counter({msgspec.convert(name, key): count for name, count in counted.items()})


class _Held:
    """A release that is still there, with what was kept of it."""

    def __init__(self, folder: Path, parts: Path) -> None:
        release = open_release(folder)
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
            ValueError: It is not what was written.
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
        """Bring a file to a path; None where it is not there any more, or is not what it was."""
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
    """Return whether a file is one of the release's own folder, which no link leads to or from."""
    status = file.lstat()
    is_inside = file.resolve() == release.resolve() / file.relative_to(release)
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1 and is_inside


def _link(source: Path, path: Path) -> str:
    """Give a file another name, for when its first one is removed with the release that it is in; return its sha256."""
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
    """Parts of earlier releases, and those of the release that is being written.

    Files are copied: whoever edits one release in its place would else change the other. Those of the release that is
    replaced are linked, as it is removed at the end, unless somebody else has a link to them.

    Attributes:
        workspace: Its folder.
        replaced: The release that will be replaced, if there is one.
        folders: Further releases, those first whose files are taken first.
        scratch: A folder on the disk of the release, which need not exist and may be removed at the end.
        kept: Files that were kept.
    """

    workspace: Path
    replaced: Path
    folders: list[Path]
    scratch: Path = Path(SCRATCH)
    kept: int = 0
    _held: list[_Held] | None = None
    _own: dict[str, bytes] = field(default_factory=dict)

    def take(self, key: str | None, kind: type[PartT], writers: Writers) -> tuple[PartT, list[ShardFile]] | None:
        """Add the files of an earlier release to this one, and return what else is known of them.

        Args:
            key: What the rows depend on; None where they can never be kept.
            kind: What is looked for.
            writers: Get the files.

        Returns:
            None where no release has them, or one of their files was changed since.
        """
        if key is None:
            return None
        for held in self._open():
            if key in held:
                try:
                    part = held.read(key, kind)
                except (ValueError, msgspec.MsgspecError, zstandard.ZstdError, LookupError, TypeError):
                    continue  # It was damaged, or another version wrote it.
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
        """Remember a part of this release."""
        if key is not None:
            encoded = msgspec.msgpack.encode(part)
            packed = zstandard.ZstdCompressor(level=_LEVEL).compress(encoded)
            self._own[key] = hashlib.sha256(packed).digest() + packed

    def save(self, release: Path) -> None:
        """Keep the parts of the release that was written, and forget those of releases that are gone.

        Where the workspace cannot be written, the next release is written whole.
        """
        folder = self.workspace / PARTS
        require_own(folder)
        sha256 = open_release(release).sha256
        here = {sha256, *_list_digests(self.folders)}
        try:
            make_private_folder(folder)
            _replace(folder / sha256, msgspec.msgpack.encode(self._own))
            for path in folder.iterdir():
                if path.name not in here and _OWN_NAME.fullmatch(path.name):
                    path.unlink()
        except OSError as error:
            logger.warning("What the next release could keep was not noted in '%s': %s.", folder, error.strerror)


def _open_all(folders: Iterable[Path], parts: Path) -> Iterator[_Held]:
    opened: set[Path] = set()
    for folder in folders:
        if folder.resolve() in opened:
            continue
        opened.add(folder.resolve())
        try:
            yield _Held(folder, parts)
        except (PeercorpusError, OSError, msgspec.DecodeError):
            continue  # It was edited, or written before parts were kept: nothing of it is kept.


def _list_digests(folders: Iterable[Path]) -> Iterator[str]:
    for folder in folders:
        with suppress(PeercorpusError):
            yield open_release(folder).sha256


def _replace(path: Path, content: bytes) -> None:
    partial = path.with_name(f"{path.name}.partial")
    partial.unlink(missing_ok=True)
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)

"""Write a release folder as a whole, and open one for reading.

`release.json` names every other file with its sha256; its own digest therefore identifies a release.
"""

import hashlib
import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NoReturn

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from peercorpus.errors import PeercorpusError
from peercorpus.release.columns import DEFAULT_OF_REVIEWBENCH
from peercorpus.release.shards import EVERY_CONFIG, read_shard_rows
from peercorpus.release.split_file import SplitFile, read_split_file
from peercorpus.workspace.object_store import file_digest
from peercorpus.workspace.workspace import find_inner_folder

MANIFEST = "release.json"
"""Names every other file of a release with its sha256."""
NOTHING_KNOWN: Mapping[str, str] = MappingProxyType({})


def _read_manifest_names(folder: Path, name: str) -> set[str]:
    """Return the files named in a manifest, including itself; empty if the folder is not a release."""
    try:
        manifest = json.loads((folder / name).read_text(encoding="utf-8"))
        return {name, *manifest["files"]} if manifest["generator"] == "peercorpus" else set()
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def check_replaceable(folder: Path, kind: str = "a release", manifest: str = MANIFEST) -> None:
    """Check that replacing a folder would delete nothing but an earlier release.

    Args:
        folder: The folder to replace.
        kind: Name for the new content, for the error.
        manifest: The file that identifies an earlier one.

    Raises:
        PeercorpusError: It is a file, or a folder with other files.
    """
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise PeercorpusError(f"'{folder}' is a file or a link; name a new folder, or one that contains {kind}.")
    if (folder / "raw.db").exists():
        raise PeercorpusError(f"'{folder}' is a workspace, which is never replaced; name another folder.")
    listed = _read_manifest_names(folder, manifest) if folder.exists() else set()
    for path in folder.rglob("*") if folder.exists() else ():
        name = path.relative_to(folder).as_posix()
        if name not in listed and not path.is_dir():
            raise PeercorpusError(
                f"'{folder}' contains '{name}', which is not part of {kind}; name a new folder, or move it away."
            )


def check_outside(out: Path, release: Path) -> None:
    """Check that output made from a release is not written into it.

    Raises:
        PeercorpusError: `out` is inside the release.
    """
    if out.resolve().is_relative_to(release.resolve()):
        raise PeercorpusError(f"'{out}' is inside the release, which is never changed; name a folder outside it.")


def _write_manifest(folder: Path, name: str, known: Mapping[str, str]) -> None:
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())
    files = {path: known.get(path) or file_digest(folder / path) for path in names}
    manifest = {"generator": "peercorpus", "version": version("peercorpus"), "files": files}
    (folder / name).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


@contextmanager
def lock_folder(folder: Path, out: Path) -> Iterator[int]:
    """Lock a folder for this run, and yield its descriptor; the lock of a run that was killed is free.

    The folder itself is locked, so that no lock file is left in it. On Windows nothing is locked, and the descriptor is
    -1.

    Args:
        folder: An existing folder.
        out: What the run writes, for the error.

    Raises:
        PeercorpusError: Another run has locked it.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        yield -1
        return
    with ExitStack() as until_done:
        opened = os.open(folder, os.O_RDONLY)
        until_done.callback(os.close, opened)
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PeercorpusError(
                f"Another run is writing '{out}'; wait until it ends, or stop it, then try again."
            ) from None
        yield opened


@contextmanager
def own_folder(folder: Path, out: Path) -> Iterator[None]:
    """Create a folder for this run alone, in place of what a killed run left; if it is still there, it is removed.

    Args:
        folder: The folder.
        out: What the run writes, for the error.

    Raises:
        OSError: It cannot be created.
        PeercorpusError: Another run has it.
    """
    with suppress(FileNotFoundError, NotADirectoryError), lock_folder(folder, out):
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    with lock_folder(folder, out) as opened:
        try:
            yield
        finally:
            # Once it has another name, another run may have a folder of this name.
            if opened < 0 or (folder.exists() and os.path.samestat(folder.stat(), os.fstat(opened))):
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def replace_folder(
    folder: Path, kind: str = "a release", manifest: str = MANIFEST, known: Mapping[str, str] = NOTHING_KNOWN
) -> Iterator[Path]:
    """Yield a new folder for writing a release; it replaces `folder` at the end, or leaves no trace after an error.

    Args:
        folder: The final folder.
        kind: Name for the new content, for errors.
        manifest: The file that will name all others with their sha256.
        known: Known sha256 of files, by path, added by the code that writes them; others are computed.

    Raises:
        PeercorpusError: `folder` contains other files, or cannot be written, or another run is writing it.
    """
    named, folder = folder, folder.absolute()
    partial, replaced = (folder.with_name(f".{folder.name}.{state}") for state in ("partial", "replaced"))
    with ExitStack() as until_done:
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            until_done.enter_context(own_folder(partial, folder))
            _put_back(replaced, folder)
            check_replaceable(named, kind, manifest)
        except OSError as error:
            raise PeercorpusError(f"The folder '{named}' cannot be written: {error.strerror}.") from None
        until_done.callback(_put_back, replaced, folder)
        yield partial
        _write_manifest(partial, manifest, known)
        shutil.rmtree(replaced, ignore_errors=True)
        if folder.exists():
            folder.rename(replaced)
        partial.rename(folder)
        shutil.rmtree(replaced, ignore_errors=True)


def _put_back(replaced: Path, folder: Path) -> None:
    """Restore a folder's name if a run was stopped between moving it away and naming its replacement."""
    if replaced.is_dir() and not replaced.is_symlink() and not folder.exists():
        replaced.rename(folder)


FILE = re.compile(r"data/(?:([\w-]+)/)?([\w-]+)-\d{5}-of-\d{5}\.parquet")
"""Matches the path of a Parquet file; the groups are its configuration, if it names one, and its split."""


_NAMES_RECORDS = re.compile(r"_ids?$|sha256$|^replies$")
"""Matches columns that name records or files."""


class Manifest(msgspec.Struct, frozen=True):
    """The content of `release.json`.

    Attributes:
        version: Version of peercorpus that wrote the release.
        files: Every other file with its sha256.
    """

    generator: Literal["peercorpus"]
    version: str
    files: dict[str, str]


@dataclass(frozen=True, slots=True, order=True)
class Shard:
    """One Parquet file of a release.

    Attributes:
        name: Its path in the release.
    """

    config: str
    split: str
    name: str
    path: Path

    def schema(self) -> pa.Schema:
        """Return the columns of the file."""
        return pq.read_schema(self.path)

    def rows(self, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
        """Yield the rows of the file, whether it is intact or not; None for all columns."""
        return read_shard_rows(self.path, columns)


@dataclass(frozen=True, slots=True)
class Release:
    """A release on disk. A file is compared with the manifest before anything is read from it.

    Attributes:
        sha256: Digest of the manifest, which holds those of all files and so identifies the release.
    """

    folder: Path
    manifest: Manifest
    sha256: str
    _compared: set[str] = field(default_factory=set, compare=False, repr=False)

    @property
    def version(self) -> str:
        """The version of peercorpus that wrote it."""
        return self.manifest.version

    def shards(self, config: str | None = None, split: str | None = None) -> list[Shard]:
        """Return the Parquet files named in the manifest, in order; of one configuration or split if given."""
        named = ((name, FILE.fullmatch(name)) for name in self.manifest.files)
        shards = [
            Shard(config=parts[1] or DEFAULT_OF_REVIEWBENCH, split=parts[2], name=name, path=self.folder / name)
            for name, parts in named
            if parts
        ]
        return sorted(shard for shard in shards if config in {None, shard.config} and split in {None, shard.split})

    def check(self, name: str) -> None:
        """Compare a file with the manifest, the first time that it is asked for.

        Raises:
            PeercorpusError: It is missing, cannot be read, or is not as it was published.
        """
        if name in self._compared:
            return
        path = self.folder / name
        try:
            sha256 = file_digest(path)
        except OSError as error:
            raise _explain_unreadable(path, error) from None
        if sha256 != self.manifest.files[name]:
            raise PeercorpusError(
                f"'{path}' of the release is damaged: it is not as {MANIFEST} states; take an intact copy."
            )
        self._compared.add(name)

    def split_files(self) -> list[Path]:
        """Return the files that state the split of each paper."""
        return [self.folder / name for name in sorted(self.manifest.files) if re.fullmatch(r"splits/\w+\.json", name)]

    def of_what_is_there(self) -> "Release":
        """Return the release without files named in the manifest that do not exist."""
        there = {name: sha256 for name, sha256 in self.manifest.files.items() if (self.folder / name).is_file()}
        return replace(self, manifest=msgspec.structs.replace(self.manifest, files=there))

    def count(self, config: str, split: str) -> int:
        """Return the number of rows of a split; 0 if the release has no such split.

        Raises:
            PeercorpusError: A file named in the manifest cannot be read.
        """
        rows = 0
        for shard in self.shards(config, split):
            with self._reading(shard):
                rows += pq.read_metadata(shard.path).num_rows
        return rows

    def rows(self, config: str, split: str | None, columns: Sequence[str] | None) -> Iterator[dict[str, Any]]:
        """Yield the rows of a split in order, or of all splits.

        Args:
            config: The configuration.
            split: None for all.
            columns: None for all.

        Raises:
            PeercorpusError: A file cannot be read, or lacks a column.
        """
        for shard in self.shards(config, split):
            with self._reading(shard):
                absent = sorted(set(columns or ()) - set(shard.schema().names))
                if absent:
                    raise PeercorpusError(f"'{shard.path}' has no column '{absent[0]}'; publish the release again.")
                yield from shard.rows(columns)

    def id_rows(self) -> Iterator[dict[str, Any]]:
        """Yield every row of all configurations with only those columns that name records or files.

        Raises:
            PeercorpusError: A file cannot be read.
        """
        for shard in self.shards():
            with self._reading(shard):
                yield from shard.rows([name for name in shard.schema().names if _NAMES_RECORDS.search(name)])

    def splits(self) -> SplitFile | None:
        """Return the file that states the split of each paper; None if the release has none.

        Raises:
            PeercorpusError: The file cannot be read.
        """
        paths = self.split_files()
        if not paths:
            return None
        self.check(paths[0].relative_to(self.folder).as_posix())
        return read_split_file(paths[0])

    @contextmanager
    def _reading(self, shard: Shard) -> Iterator[None]:
        self.check(shard.name)
        try:
            yield
        except (pa.ArrowException, OSError) as error:
            raise _explain_unreadable(shard.path, error) from None


def _explain_unreadable(path: Path, error: Exception) -> PeercorpusError:
    # Arrow raises an OSError without a number for a file that it cannot decode.
    is_damaged = getattr(error, "errno", None) is None
    state = "is damaged" if is_damaged else "cannot be read"
    return PeercorpusError(f"'{path}' of the release {state} ({error}); take an intact copy.")


def open_release(folder: Path, *, is_whole: bool = True) -> Release:
    """Open a release by its manifest.

    Args:
        folder: The release.
        is_whole: Whether to compare each of its files with the manifest at once, pages in Markdown excepted. Without
            it, a file is compared when it is read: of a release on the Hub, only the needed files are downloaded.

    Raises:
        PeercorpusError: The folder is not a release, its manifest cannot be read, or a file is missing or changed.
    """
    try:
        content = (folder / MANIFEST).read_bytes()
        manifest = msgspec.json.decode(content, type=Manifest)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        _refuse_folder(folder)
    release = Release(folder, manifest, hashlib.sha256(content).hexdigest())
    if is_whole:
        with ThreadPoolExecutor() as pool:
            list(pool.map(release.check, (name for name in manifest.files if not name.endswith(".md"))))
    return release


def _refuse_folder(folder: Path) -> NoReturn:
    """Report that a folder is not a release.

    Raises:
        PeercorpusError: Always.
    """
    if not folder.exists():
        raise PeercorpusError(f"'{folder}' does not exist; name a folder that 'peercorpus publish' wrote.") from None
    if (folder / "raw.db").is_file():
        raise PeercorpusError(
            f"'{folder}' is a workspace, not a release; open it with `peercorpus.open`, or make a release and name"
            f" that: peercorpus publish -w {shlex.quote(str(folder))} --out RELEASE"
        ) from None
    inner = find_inner_folder(folder, MANIFEST)
    if inner is not None:
        raise PeercorpusError(
            f"'{folder}' is not a release (it has no {MANIFEST} of peercorpus); did you mean '{inner}'?"
        ) from None
    raise PeercorpusError(
        f"'{folder}' is not a release (it has no {MANIFEST} of peercorpus); name a folder that 'peercorpus"
        " publish' wrote."
    ) from None


def key_columns(config: str, schema: pa.Schema) -> tuple[str, ...]:
    """Return the columns that identify a row; all columns if none do."""
    if config in EVERY_CONFIG:
        key = EVERY_CONFIG[config].key
    else:
        key = tuple(name for name in schema.names if name.endswith("_id") and name != "venue_id")
    return key if key and set(key) <= set(schema.names) else tuple(schema.names)

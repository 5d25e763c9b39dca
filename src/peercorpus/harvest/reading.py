"""Files to import: which there are, and the JSON values in each, a line or a file at a time."""

import gzip
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path

from peercorpus.errors import DumpError
from peercorpus.openreview.jsontext import checked
from peercorpus.published.hub import fetch_dataset, repository_of

LINES = (".jsonl", ".ndjson")
WHOLE = (".json",)
TABLES = (".parquet",)
ARCHIVES = (".zip",)
MANUSCRIPT = "Initial_manuscript_md/Initial_manuscript.md"
"""Where Re² keeps the text of a paper, below the paper's folder."""


@dataclass(frozen=True, slots=True)
class DumpFile:
    """One file to import, or all manuscripts of a folder.

    Attributes:
        name: How messages and `raw.db` call it.
        is_named: Whether the user named it; False where it was found in a named folder.
        manuscripts: The texts found in the folder `path`; empty for a file.
        beside: How many other files lie in the papers' own folders; they are not read.
    """

    path: Path
    name: str
    is_named: bool
    manuscripts: tuple[Path, ...] = ()
    beside: int = 0

    @property
    def _suffixes(self) -> tuple[str, ...]:
        return tuple(self.path.suffixes) if self.path.suffix != ".gz" else tuple(self.path.suffixes[:-1])

    @property
    def is_json(self) -> bool:
        """Whether its name says that it holds JSON."""
        return not self.path.name.startswith(".") and self._suffixes[-1:] != () and self._suffixes[-1] in LINES + WHOLE

    @property
    def holds_lines(self) -> bool:
        """Whether its name says that every line is a value of its own."""
        return self._suffixes[-1:] != () and self._suffixes[-1] in LINES

    @property
    def is_table(self) -> bool:
        """Whether its name says that it is a Parquet file."""
        return self.path.suffix in TABLES

    @property
    def is_archive(self) -> bool:
        """Whether its name says that it is a zip file."""
        return self.path.suffix in ARCHIVES

    @property
    def is_known(self) -> bool:
        """Whether its name says that it may hold something to import."""
        return self.is_json or self.is_table or self.is_archive or bool(self.manuscripts)


def list_files(paths: Sequence[Path]) -> list[DumpFile]:
    """The files named, and those in the folders and in the datasets of the Hub named, in order of their path.

    Raises:
        DumpError: A path does not exist, or is neither a file nor a folder.
        SourceError: A dataset could not be fetched.
    """
    found: dict[Path, DumpFile] = {}
    for path in paths:
        repository = repository_of(path)
        if repository is not None:
            folder = fetch_dataset(repository)
            files = list(_inside(folder, f"{path.as_posix()}@{folder.name[:12]}", links=True))
        elif not path.exists():
            raise DumpError(f"'{path}' does not exist; name a file or a folder.")
        elif path.is_dir():
            files = list(_inside(path, path.resolve().name, links=False))
        elif path.is_file():
            texts = (path,) if path.absolute().as_posix().endswith(f"/{MANUSCRIPT}") else ()
            files = [DumpFile(path, path.name, is_named=True, manuscripts=texts)]
        else:
            raise DumpError(f"'{path}' is neither a file nor a folder.")
        for file in files:
            key = file.path.resolve()
            if key not in found or file.is_named:
                found[key] = file
    return list(found.values())


def _inside(folder: Path, name: str, *, links: bool) -> Iterator[DumpFile]:
    """What a folder holds; the Hub's cache alone is full of links."""
    files = sorted(inner for inner in folder.rglob("*") if inner.is_file() and (links or not inner.is_symlink()))
    texts = tuple(inner for inner in files if inner.as_posix().endswith(f"/{MANUSCRIPT}"))
    papers = {inner.parents[1] for inner in texts}
    others = [inner for inner in files if papers.isdisjoint(inner.parents)]
    if texts:
        beside = len(files) - len(others) - len(texts)
        yield DumpFile(folder, f"{name}/**/{MANUSCRIPT}", is_named=False, manuscripts=texts, beside=beside)
    for inner in others:
        yield DumpFile(inner, f"{name}/{inner.relative_to(folder).as_posix()}", is_named=False)


@contextmanager
def opened(dump: DumpFile) -> Iterator[BufferedIOBase]:
    """The bytes of a file, unpacked.

    Raises:
        DumpError: It cannot be opened or read, or not be unpacked.
    """
    try:
        with gzip.open(dump.path) if dump.path.suffix == ".gz" else dump.path.open("rb") as content:
            yield content
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise DumpError(f"'{dump.name}' cannot be unpacked: it is cut off or no gzip file; fetch it again.") from None
    except OSError as error:
        raise DumpError(f"'{dump.name}' cannot be read: {error.strerror}.") from None


def read_values(dump: DumpFile) -> Iterator[bytes]:
    """The JSON values of a file: one a line, or one in all; a line that is empty is passed over.

    Raises:
        DumpError: It cannot be read, is cut off, or is no JSON; the message names file and place.
    """
    with opened(dump) as lines:
        if dump.holds_lines:
            yield from _read_lines(dump, lines)
            return
        content = lines.read()
    yield from _read_whole(dump, content)


def _read_lines(dump: DumpFile, lines: Iterable[bytes]) -> Iterator[bytes]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                value = checked(line.strip())
            except ValueError as error:
                raise DumpError(f"'{dump.name}', line {number}, cannot be read: {error}.") from None
            yield value


def _read_whole(dump: DumpFile, content: bytes) -> Iterator[bytes]:
    try:
        yield checked(content)
    except ValueError as error:
        # Crawlers write lines of JSON into files named .json as well.
        lines = [line.strip() for line in content.splitlines() if line.strip()]
        if len(lines) < 2 or not all(line.startswith(b"{") and line.endswith(b"}") for line in lines):
            raise DumpError(f"'{dump.name}' cannot be read: {error}.") from None
        yield from _read_lines(dump, lines)

"""Dump files: which there are, and the JSON values in each, a line or a file at a time."""

import gzip
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path

from peercorpus.errors import DumpError
from peercorpus.openreview.jsontext import checked

LINES = (".jsonl", ".ndjson")
WHOLE = (".json",)


@dataclass(frozen=True, slots=True)
class DumpFile:
    """One file to import.

    Attributes:
        name: How messages and `raw.db` call it.
        is_named: Whether the user named it; False where it was found in a named folder.
    """

    path: Path
    name: str
    is_named: bool

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


def list_files(paths: Sequence[Path]) -> list[DumpFile]:
    """The files named, and those in the folders named, in order of their path.

    Raises:
        DumpError: A path does not exist, or is neither a file nor a folder.
    """
    found: dict[Path, DumpFile] = {}
    for path in paths:
        if not path.exists():
            raise DumpError(f"'{path}' does not exist; name a file or a folder.")
        if path.is_dir():
            inside = sorted(inner for inner in path.rglob("*") if inner.is_file() and not inner.is_symlink())
            for inner in inside:
                name = (Path(path.resolve().name) / inner.relative_to(path)).as_posix()
                found.setdefault(inner.resolve(), DumpFile(inner, name, is_named=False))
        elif path.is_file():
            found[path.resolve()] = DumpFile(path, path.name, is_named=True)
        else:
            raise DumpError(f"'{path}' is neither a file nor a folder.")
    return list(found.values())


def read_values(dump: DumpFile) -> Iterator[bytes]:
    """The JSON values of a file: one a line, or one in all; a line that is empty is passed over.

    Raises:
        DumpError: It cannot be read, is cut off, or is no JSON; the message names file and place.
    """
    try:
        with _open(dump.path) as lines:
            if dump.holds_lines:
                yield from _read_lines(dump, lines)
                return
            content = lines.read()
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise DumpError(f"'{dump.name}' cannot be unpacked: it is cut off or no gzip file; fetch it again.") from None
    except OSError as error:
        raise DumpError(f"'{dump.name}' cannot be read: {error.strerror}.") from None
    yield from _read_whole(dump, content)


def _open(path: Path) -> BufferedIOBase:
    return gzip.open(path) if path.suffix == ".gz" else path.open("rb")


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

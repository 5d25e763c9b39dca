"""Find files to import, local or from the Hugging Face Hub, and read the JSON values in them."""

import gzip
import json
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BufferedIOBase, BytesIO
from pathlib import Path
from typing import Any

from peercorpus.errors import DumpError
from peercorpus.importers.datasets import find_folders, find_table
from peercorpus.importers.json_items import MOST_BYTES, Item, read_items, read_list
from peercorpus.importers.notes import has_flat_notes, sift
from peercorpus.importers.re2 import MANUSCRIPT
from peercorpus.importers.reader import Source
from peercorpus.importers.reviewbench import COLUMNS
from peercorpus.importers.tables import LINES, is_table, list_columns, read_first_rows
from peercorpus.openreview.response_body import check_json, split_items
from peercorpus.wording.counted_nouns import plural
from peercorpus.wording.untrusted_text import show_path
from peercorpus.workspace.hub_datasets import SCHEME, fetch_dataset, parse_repository
from peercorpus.workspace.object_store import local_path

WANTED = ("*.parquet", "REVIEWS_*.json", "REBUTTAL_*.json", "papers.zip", "*/Initial_manuscript.md")
"""Patterns of files with published records; `*` also matches folders."""
FIRST_LINES = 5
"""Number of lines that show whether a file has a JSON object in each."""


@dataclass(frozen=True, slots=True)
class DumpFile:
    """One file to import, or all manuscripts of a folder.

    Attributes:
        is_named: Whether the user named it; False if it was found in a named folder.
        manuscripts: Manuscripts found in the folder `path`; empty for other files.
        beside: Number of other files in the papers' folders, which are not read.
        source: The same as files of another dataset's format; None for other files.
        is_flat: Whether it is a table whose columns are the members of notes.
        is_link: Whether it is a link in a named folder, which is not followed because it may lead out of the folder.
        dump: The outermost named folder that contains it, else its own folder: its files are one dump.
    """

    path: Path
    name: str
    is_named: bool
    manuscripts: tuple[Path, ...] = ()
    beside: int = 0
    source: Source | None = None
    is_flat: bool = False
    is_link: bool = False
    dump: Path = Path()

    @property
    def shown(self) -> str:
        """Name used in errors: the path as the user typed it, except for files of the Hub."""
        return show_path(self.path) if self.is_named else self.name

    @property
    def suffix(self) -> str:
        """Suffix of the name, without `.gz`."""
        return Path(self.path.stem).suffix if self.path.suffix == ".gz" else self.path.suffix

    @property
    def is_json(self) -> bool:
        """Whether the name is that of a JSON file."""
        return not self.path.name.startswith(".") and self.suffix in {*LINES, ".json"}

    @property
    def is_known(self) -> bool:
        """Whether the name is that of a file that may contain something to import."""
        is_read = self.is_json or self.path.suffix in {".parquet", ".zip"}
        return not self.is_link and (is_read or bool(self.manuscripts or self.source or self.is_flat))


def list_files(paths: Sequence[Path]) -> list[DumpFile]:
    """List the named files, and those in named folders and datasets of the Hub, ordered by path.

    Raises:
        DumpError: A path does not exist, or is neither a file nor a folder.
        SourceError: A dataset could not be downloaded.
    """
    folders = sorted(folder.resolve() for folder in map(local_path, map(str, paths)) if folder.is_dir())
    files_by_path: dict[tuple[Path, object, bool], DumpFile] = {}
    for named in paths:
        dataset = parse_repository(named)
        path = local_path(str(named))
        if dataset is not None:
            folder = fetch_dataset(dataset, WANTED)
            files = list(_list_folder(folder, f"{SCHEME}{dataset.name}@{folder.name[:12]}", links=True))
        elif not path.exists():
            raise DumpError(f"'{show_path(path)}' does not exist; name a file or a folder.")
        elif path.is_dir():
            files = list(_list_folder(path, show_path(path.resolve().name), links=False))
        elif path.is_file():
            texts = (path,) if path.absolute().as_posix().endswith(f"/{MANUSCRIPT}") else ()
            files = [_recognise(DumpFile(path, show_path(path.name), is_named=True, manuscripts=texts))]
        else:
            raise DumpError(f"'{show_path(path)}' is neither a file nor a folder.")
        for file in files:
            # Several formats may have the same root, and a link differs from its target.
            place = file.path.absolute() if file.is_link else file.path.resolve()
            key = place, file.source and (file.source.reader.dataset, file.source.table), bool(file.manuscripts)
            if key not in files_by_path or file.is_named:
                dump = next((outer for outer in folders if place.is_relative_to(outer)), place.parent)
                files_by_path[key] = replace(file, dump=dump if dataset is None else folder)
    return list(files_by_path.values())


def _list_folder(folder: Path, name: str, *, links: bool) -> Iterator[DumpFile]:
    """Yield the files of a folder; links are only named, except in the Hub's cache, which consists of links."""
    found = sorted(folder.rglob("*"))
    skipped = [] if links else [inner for inner in found if inner.is_symlink()]
    files = [inner for inner in found if inner.is_file() and (links or not inner.is_symlink())]
    ours = _find_own_files(files)
    files = [inner for inner in files if inner not in ours]
    texts = tuple(inner for inner in files if inner.as_posix().endswith(f"/{MANUSCRIPT}"))
    papers = {inner.parents[1] for inner in texts}
    others = [inner for inner in files if papers.isdisjoint(inner.parents)]
    if texts:
        beside = len(files) - len(others) - len(texts)
        yield DumpFile(folder, f"{name}/**/{MANUSCRIPT}", is_named=False, manuscripts=texts, beside=beside)
    for source in [*find_folders(others)]:
        # The files of a source may be in the named folder, and its root above.
        root = source.root.relative_to(folder).parts if source.root.is_relative_to(folder) else ()
        shown = f"{'/'.join([name, *map(show_path, root)])} ({source.reader.dataset.value})"
        yield DumpFile(source.root, shown, is_named=False, source=source)
        held = {*source.files}
        others = [inner for inner in others if inner not in held]
    for inner in sorted([*others, *skipped]):
        dump = DumpFile(inner, f"{name}/{show_path(inner.relative_to(folder))}", is_named=False)
        yield replace(dump, is_link=True) if inner.is_symlink() and not links else _recognise(dump)


def _find_own_files(files: Sequence[Path]) -> set[Path]:
    """Return the files of our own exports and releases that contain no record, or those of the papers once more."""
    ours = set[Path]()
    for path in files:
        if path.name == "export.json" and _read_own_manifest(path):
            ours |= {path, path.with_name("README.md")}
        elif path.name == "release.json":
            named = _read_own_manifest(path).get("files")
            names = list(named) if isinstance(named, dict) else []
            # In ReviewBench's layout the papers are the only configuration, and lie in `data` itself.
            papers = [name for name in names if name.startswith(_PAPERS)] or [
                name for name in names if name.startswith("data/")
            ]
            ours |= {path.parent / name for name in (path.name, *names) if names} - {*map(path.parent.joinpath, papers)}
    return ours


_PAPERS = ("data/papers/", "data/papers_full/")
"""Folders of a release with its papers, each row with all that other folders have of it."""


def _read_own_manifest(path: Path) -> dict[str, Any]:
    """Return what a manifest of peercorpus says; empty if it is another program's, or cannot be read."""
    try:
        manifest = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    is_ours = isinstance(manifest, dict) and manifest.get("generator") == "peercorpus"
    return manifest if is_ours else {}


def _recognise(dump: DumpFile) -> DumpFile:
    """Return a file with its format, if it is a table of another dataset or of notes."""
    if dump.manuscripts or not is_table(dump.path):
        return dump
    rows = read_first_rows(dump.path)
    columns = list_columns(rows)
    if has_flat_notes(columns):
        return replace(dump, is_flat=True)
    of_ours = len({*COLUMNS} & {*columns})
    # A table that lacks one column of ReviewBench is damaged, and the error names that column.
    is_ours = of_ours > len(COLUMNS) // 2 or {"paper_id", "messages"} <= {*columns}
    is_ours = is_ours or {"paper_id", "reviews"} <= {*columns}
    return dump if is_ours else replace(dump, source=find_table(dump.path, rows))


@contextmanager
def open_unpacked(dump: DumpFile) -> Iterator[BufferedIOBase]:
    """Open a file, unpacked if its name ends in `.gz`.

    Raises:
        DumpError: The file cannot be opened, read or unpacked.
    """
    try:
        with gzip.open(dump.path) if dump.path.suffix == ".gz" else dump.path.open("rb") as content:
            yield content
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise DumpError(f"'{dump.shown}' cannot be unpacked: it is truncated or not gzip; fetch it again.") from None
    except OSError as error:
        raise DumpError(f"'{dump.shown}' cannot be read: {error.strerror}.") from None


def read_values(dump: DumpFile, most_bytes: int = MOST_BYTES) -> Iterator[Item]:
    """Yield the JSON values of a file: one per line, or the whole file as one; empty lines are skipped.

    A file larger than `most_bytes` is read item by item: the items of its list, or the members of its object.

    Raises:
        DumpError: The file cannot be read, is truncated, or is not JSON; the message names the file and the position.
    """
    with open_unpacked(dump) as file:
        if dump.suffix in LINES:
            yield from _read_lines(dump, file, most_bytes)
            return
        content = file.read(most_bytes + 1)
    if len(content) <= most_bytes:
        yield from _read_whole(dump, content)
        return
    with open_unpacked(dump) as file:
        are_lines = _are_objects(content.splitlines()[:-1])
        yield from _read_lines(dump, file, most_bytes) if are_lines else _read_parts(dump, file, most_bytes)


def _read_lines(dump: DumpFile, file: BufferedIOBase, most_bytes: int) -> Iterator[Item]:
    for number, line in enumerate(iter(lambda: file.readline(most_bytes + 1), b""), 1):
        if len(line) > most_bytes:
            raise DumpError(f"'{dump.shown}', line {number}, is longer than {most_bytes:,} bytes; split the file.")
        if line.strip():
            for item in _check_item(Item(None, line.strip())):
                yield item if item.problem is None else Item(None, b"", f"line {number}: {item.problem}")


def _check_item(item: Item) -> Iterator[Item]:
    """Yield an item without the parts that are not JSON, and the problem of each of those."""
    problems: list[str] = []
    content = sift(item.content, problems.append)
    if content is not None:
        yield Item(item.name, content)
    for problem in problems:
        yield Item(None, b"", problem)


def _are_objects(lines: Sequence[bytes]) -> bool:
    """Return whether the lines of a file are JSON objects: crawlers also write those to files named .json."""
    first = [text for line in lines[:FIRST_LINES] if (text := line.strip())]
    return all(text.startswith(b"{") for text in first[:1]) and any(split_items(text) is not None for text in first)


def _read_whole(dump: DumpFile, content: bytes) -> Iterator[Item]:
    content = content.removeprefix(BOM_UTF8)
    try:
        yield Item(None, check_json(content))
    except ValueError as error:
        lines = content.strip().splitlines()
        if len(lines) > 1 and _are_objects(lines):
            yield from _read_lines(dump, BytesIO(content), len(content))
        elif split_items(content) is None:
            yield from _read_parts(dump, BytesIO(content), len(content), str(error))
        else:
            yield from _check_item(Item(None, content.strip()))


def _read_parts(
    dump: DumpFile, file: BufferedIOBase, most_bytes: int, explanation: str | None = None
) -> Iterator[Item]:
    """Yield the items of a list, or the members of an object, up to its damage."""
    number = 0
    try:
        for number, item in enumerate(read_items(file, most_bytes), 1):  # noqa: B007 (named in the message)
            yield from _check_item(item)
    except ValueError as error:
        after = f" after {plural(number, 'record')}" if number else ""
        raise DumpError(f"'{dump.shown}' cannot be read{after}: {explanation or error}.") from None


def read_elements(dump: DumpFile, most_bytes: int = MOST_BYTES) -> Iterator[bytes]:
    """Yield the elements of a file that contains one JSON list, each as its verbatim text.

    If a file is damaged, the elements before the damage are yielded; elements are not checked for being valid JSON.

    Raises:
        DumpError: The file cannot be unpacked.
        OSError: It cannot be read.
        ValueError: It is not one JSON list, it is truncated, or an element is larger than `most_bytes`.
    """
    with open_unpacked(dump) as file:
        yield from read_list(file, most_bytes)

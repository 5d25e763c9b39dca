"""The records of published datasets in a file, whatever kind of file it is: a table, a list, texts, an archive."""

import re
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import PurePath
from typing import NamedTuple
from zipfile import BadZipFile, ZipFile, ZipInfo

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from peercorpus.errors import DumpError
from peercorpus.harvest.jsonlist import read_elements
from peercorpus.harvest.reading import MANUSCRIPT, DumpFile, opened
from peercorpus.openreview.jsontext import checked, compact, is_object, read_members
from peercorpus.published.datasets import REVIEWBENCH_COLUMNS, Dataset, Re2Text

BATCH_ROWS = 32
READ_BYTES = 1 << 16
"""Read at a time from a column; pyarrow's own default holds a row group."""
LONGEST_TEXT_BYTES = 1 << 26
"""Of one manuscript; a longer one is not read."""
PACKED = re.compile(rf"(?:.*/)?[^/]+/{re.escape(MANUSCRIPT)}")
YEAR = re.compile(r"(?:19|20)\d\d")


class Found(NamedTuple):
    """One record of a published dataset.

    Attributes:
        place: Where in its file it stands.
        problem: Why it cannot be taken; None where it can.
    """

    dataset: Dataset
    body: bytes
    place: str
    problem: str | None = None


def missing_column(dump: DumpFile) -> str | None:
    """The first of ReviewBench's columns that a Parquet file has not.

    Raises:
        DumpError: It is no Parquet file, or cut off.
    """
    with _told(dump), pq.ParquetFile(dump.path) as file:
        names = set(file.schema_arrow.names)
    return next((name for name in REVIEWBENCH_COLUMNS if name not in names), None)


def read_published(dump: DumpFile) -> Iterator[Found] | None:
    """The published records of a file, one at a time; None where it is no file of a published dataset.

    Raises:
        DumpError: It cannot be read, or not to its end.
    """
    if dump.manuscripts:
        return _read_manuscripts(dump)
    if dump.is_table:
        return _read_table(dump)
    if dump.is_archive:
        return _read_archive(dump)
    return _read_list(dump) if dump.is_json and not dump.holds_lines and _is_re2(dump) else None


def _read_table(dump: DumpFile) -> Iterator[Found]:
    number = 0
    with _told(dump), pq.ParquetFile(dump.path, pre_buffer=False, buffer_size=READ_BYTES) as file:
        for batch in file.iter_batches(BATCH_ROWS):
            for row in batch.to_pylist():
                number += 1
                yield Found(Dataset.REVIEWBENCH, msgspec.json.encode(row), f"row {number}")


def _is_re2(dump: DumpFile) -> bool:
    """Whether the file is one list, and its first element a record of Re²."""
    try:
        with closing(_read_list(dump)) as records:
            found = next(records, None)
    except DumpError:
        return False
    return found is not None and found.problem is None


def _read_list(dump: DumpFile) -> Generator[Found, None, None]:
    with _told(dump), opened(dump) as content:
        for number, element in enumerate(read_elements(content), 1):
            yield _read_element(element, f"record {number}")


def _read_element(element: bytes, place: str) -> Found:
    body = compact(checked(element))
    members = read_members(body) if is_object(body) else {}
    dataset = Dataset.RE2_REBUTTAL if "messages" in members else Dataset.RE2_REVIEWS
    is_record = "paper_id" in members and ("messages" in members or "reviews" in members)
    return Found(dataset, body, place, None if is_record else "no record of Re² (no paper_id with reviews or messages)")


def _read_manuscripts(dump: DumpFile) -> Iterator[Found]:
    for path in dump.manuscripts:
        with _told(dump):
            size_bytes = path.stat().st_size
            content = path.read_bytes() if size_bytes <= LONGEST_TEXT_BYTES else None
        yield _read_manuscript(path.absolute(), content)


def _read_archive(dump: DumpFile) -> Iterator[Found]:
    with _told(dump), ZipFile(dump.path) as archive:
        for member in archive.infolist():
            if PACKED.fullmatch(member.filename):
                yield _read_manuscript(PurePath("/", member.filename), _unpack(archive, member))


def _unpack(archive: ZipFile, member: ZipInfo) -> bytes | None:
    """A member, unless it is longer than any manuscript, whatever length the archive states."""
    with archive.open(member) as packed:
        content = packed.read(LONGEST_TEXT_BYTES + 1)
    return content if len(content) <= LONGEST_TEXT_BYTES else None


def _read_manuscript(path: PurePath, content: bytes | None) -> Found:
    paper = path.parents[1]
    place = f"{paper.parent.name}/{paper.name}/{MANUSCRIPT}"
    track = paper.parent.name if YEAR.search(paper.parent.name) else None
    if content is None:
        return Found(Dataset.RE2_TEXT, b"", place, f"a manuscript longer than {LONGEST_TEXT_BYTES:,} bytes")
    try:
        text = Re2Text(paper.name, place, content.decode(), track)
    except UnicodeDecodeError:
        return Found(Dataset.RE2_TEXT, b"", place, "a manuscript that is not UTF-8 text")
    return Found(Dataset.RE2_TEXT, msgspec.json.encode(text), place)


@contextmanager
def _told(dump: DumpFile) -> Iterator[None]:
    """What is wrong with a file, told in one sentence.

    Raises:
        DumpError: It cannot be read, or holds what its kind of file never does.
    """
    try:
        yield
    except (pa.ArrowException, BadZipFile, zlib.error, NotImplementedError, RuntimeError, TypeError) as error:
        raise DumpError(f"'{dump.name}' cannot be read: it is cut off or damaged ({_first_line(error)}).") from None
    except ValueError as error:
        raise DumpError(f"'{dump.name}' cannot be read: {error}.") from None
    except OSError as error:
        raise DumpError(f"'{dump.name}' cannot be read: {error.strerror or _first_line(error)}.") from None


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")

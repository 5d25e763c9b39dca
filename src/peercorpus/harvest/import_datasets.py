"""Turn the records of published datasets, ReviewBench and Re², into rows of `raw.db`."""

import re
import zlib
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import NamedTuple
from zipfile import BadZipFile, ZipFile

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from peercorpus.errors import DumpError
from peercorpus.harvest.dump_objects import NOT_JSON
from peercorpus.harvest.import_files import MANUSCRIPT, DumpFile, read_elements
from peercorpus.harvest.raw_rows import RawOrigin
from peercorpus.openreview.response_body import check_json, compact, is_list, is_object, read_items, read_members
from peercorpus.records.layouts.parquet_rows import read_parquet_rows
from peercorpus.records.layouts.recognise import Layout
from peercorpus.records.layouts.stated import DamagedRow
from peercorpus.records.published_datasets import (
    DATASETS_WITH_TEXT,
    REVIEWBENCH_COLUMNS,
    Dataset,
    Id,
    Re2Text,
    find_stated_split,
    non_empty,
)
from peercorpus.records.untrusted_text import show_path
from peercorpus.venues.dataset_names import venue_named
from peercorpus.workspace.raw_store import RawKind, RawObject

LONGEST_TEXT_BYTES = 1 << 26
"""Largest manuscript that is read."""
PACKED = re.compile(rf"(?:.*/)?[^/]+/{re.escape(MANUSCRIPT)}")
YEAR = re.compile(r"(?:19|20)\d\d")


class PublishedRecord(NamedTuple):
    """One record of a published dataset.

    Attributes:
        place: Description of its position in the file.
        problem: Why it cannot be imported; None if it can.
        files: Number of files that it consists of, if papers have separate files.
    """

    dataset: Dataset
    body: bytes
    place: str
    problem: str | None = None
    files: int = 1


def find_column_fault(dump: DumpFile) -> str | None:
    """Return the problem with the first of ReviewBench's columns that a Parquet file lacks or has with another type.

    None if there is no problem; further columns do not matter.

    Raises:
        DumpError: The file is not Parquet, or is truncated.
    """
    with _translate_errors(dump), pq.ParquetFile(dump.path) as file:
        schema = file.schema_arrow
    for name in REVIEWBENCH_COLUMNS:
        fields = [field for field in schema if field.name == name]
        if len(fields) != 1:
            return f"the column '{name}' is {'present twice' if fields else 'missing'}"
        wanted = _KINDS.get(name, "texts")
        if not _is_of_kind(fields[0].type, wanted):
            return f"the column '{name}' has the type {fields[0].type}, not {wanted}"
    return None


_KINDS = dict.fromkeys(("year", "paper_number", "num_reviews", "markdown_chars"), "whole numbers") | dict.fromkeys(
    ("authors", "keywords"), "lists of texts"
)
"""Types of ReviewBench's columns that do not contain texts."""


def _is_of_kind(kind: pa.DataType, wanted: str) -> bool:
    if pa.types.is_null(kind):
        return True
    if wanted == "whole numbers":
        # Pandas writes whole numbers with gaps as floats.
        return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
    if wanted == "lists of texts":
        is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
        return bool(is_list and _is_of_kind(kind.value_type, "texts"))
    if pa.types.is_dictionary(kind):
        return _is_of_kind(kind.value_type, wanted)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def read_published_records(dump: DumpFile) -> Iterator[PublishedRecord] | None:
    """Return an iterator over the records of a published dataset; None if the file is not part of one.

    Raises:
        DumpError: The file cannot be read, or not to the end.
    """
    if dump.manuscripts:
        return _read_manuscripts(dump)
    if dump.is_table and dump.layout is None:
        return _read_table(dump)
    if dump.is_archive:
        return _read_archive(dump)
    if dump.layout is not None:
        return _read_layout(dump, dump.layout)
    return _read_list(dump) if dump.is_json and not dump.holds_lines and _is_re2(dump) else None


def _read_table(dump: DumpFile) -> Iterator[PublishedRecord]:
    with _translate_errors(dump):
        for number, row in enumerate(read_parquet_rows(dump.path), 1):
            problem = row.reason if isinstance(row, DamagedRow) else None
            yield PublishedRecord(Dataset.REVIEWBENCH, encode_row(row), f"row {number}", problem)


def _read_layout(dump: DumpFile, layout: Layout) -> Iterator[PublishedRecord]:
    with _translate_errors(dump):
        for record in layout.records():
            body = b"" if record.body is None else encode_row(record.body)
            is_nameless = record.body is not None and not record.body.paper_id
            problem = "it names no paper" if is_nameless else record.problem
            yield PublishedRecord(layout.dataset, body, record.place, problem, record.files)


def encode_row(row: object) -> bytes:
    """Return a row as JSON; a value that JSON has no form for, such as a number of NumPy, is written as text."""
    return msgspec.json.encode(row, enc_hook=str)


def _is_re2(dump: DumpFile) -> bool:
    """Return whether a file is one JSON list whose first element is a record of Re²."""
    try:
        with closing(_read_list(dump)) as records:
            first_record = next(records, None)
    except DumpError:
        return False
    return first_record is not None and first_record.problem is None


def _read_list(dump: DumpFile) -> Generator[PublishedRecord, None, None]:
    with _translate_errors(dump):
        for number, element in enumerate(read_elements(dump), 1):
            yield _read_element(element, f"record {number}")


def _read_element(element: bytes, place: str) -> PublishedRecord:
    try:
        body = compact(check_json(element))
    except ValueError as error:
        return PublishedRecord(Dataset.RE2_REVIEWS, b"", f"{place}: {error}", NOT_JSON)
    members = read_members(body) if is_object(body) else {}
    dataset = Dataset.RE2_REBUTTAL if "messages" in members else Dataset.RE2_REVIEWS
    is_record = "paper_id" in members and ("messages" in members or "reviews" in members)
    return PublishedRecord(
        dataset=dataset,
        body=body,
        place=place,
        problem=None if is_record else "not a record of Re² (no paper_id with reviews or messages)",
    )


def _read_manuscripts(dump: DumpFile) -> Iterator[PublishedRecord]:
    for path in dump.manuscripts:
        with _translate_errors(dump):
            size_bytes = path.stat().st_size
            content = path.read_bytes() if size_bytes <= LONGEST_TEXT_BYTES else None
        yield _read_manuscript(path.absolute(), content)


def _read_archive(dump: DumpFile) -> Iterator[PublishedRecord]:
    with _translate_errors(dump), ZipFile(dump.path) as archive:
        for member in archive.infolist():
            if PACKED.fullmatch(member.filename):
                # The size stated by the archive may be wrong.
                with archive.open(member) as packed:
                    content = packed.read(LONGEST_TEXT_BYTES + 1)
                is_too_long = len(content) > LONGEST_TEXT_BYTES
                yield _read_manuscript(PurePath("/", member.filename), None if is_too_long else content)


def _read_manuscript(path: PurePath, content: bytes | None) -> PublishedRecord:
    venue, paper = (show_path(folder.name) for folder in (path.parents[2], path.parents[1]))
    place = f"{venue}/{paper}/{MANUSCRIPT}"
    track = venue if YEAR.search(venue) else None
    if content is None:
        return PublishedRecord(
            dataset=Dataset.RE2_TEXT,
            body=b"",
            place=place,
            problem=f"a manuscript longer than {LONGEST_TEXT_BYTES:,} bytes",
        )
    try:
        text = Re2Text(paper_id=paper, path=place, markdown=content.decode(), conference_year_track=track)
    except UnicodeDecodeError:
        return PublishedRecord(
            dataset=Dataset.RE2_TEXT, body=b"", place=place, problem="a manuscript that is not UTF-8 text"
        )
    return PublishedRecord(Dataset.RE2_TEXT, msgspec.json.encode(text), place)


DAMAGE = (pa.ArrowException, ArithmeticError, BadZipFile, EOFError, zlib.error, RuntimeError, TypeError)
"""Exceptions that reading a damaged file may raise, apart from `ValueError` and `OSError`."""


@contextmanager
def _translate_errors(dump: DumpFile) -> Iterator[None]:
    """Turn the errors of reading a file into a `DumpError` that names it.

    Raises:
        DumpError: The file cannot be read, or is damaged.
    """
    try:
        yield
    except DAMAGE as error:
        raise DumpError(f"'{dump.shown}' cannot be read: it is truncated or damaged ({_first_line(error)}).") from None
    except ValueError as error:
        raise DumpError(f"'{dump.shown}' cannot be read: {error}.") from None
    except OSError as error:
        raise DumpError(f"'{dump.shown}' cannot be read: {error.strerror or _first_line(error)}.") from None


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")


class _Header(msgspec.Struct):
    """Fields that identify a record: forum and venue in ReviewBench; paper, conference and reviewer in Re².

    The lists of Re² are only checked for being lists: in another revision of its files they may be something else.
    """

    forum_id: Id | None = None
    venue_id: str | None = None
    conference: str | None = None
    year: int | None = None
    track: str | None = None
    paper_id: Id | None = None
    conference_year_track: str | None = None
    reviewer_id: str | None = None
    reviews: list[msgspec.Raw] | None = None
    messages: list[msgspec.Raw] | None = None


NAMES = {
    Dataset.REVIEWBENCH: "ReviewBench",
    Dataset.RE2_REVIEWS: "Re²",
    Dataset.RE2_REBUTTAL: "Re²",
    Dataset.RE2_TEXT: "Re²",
    Dataset.PEERREAD: "PeerRead",
    Dataset.NLPEER: "NLPeer",
    Dataset.PAPER_LIST: "lists of papers",
    Dataset.REVIEW_TABLE: "tables of reviews",
    Dataset.TEXT_FOLDER: "tables of decisions with texts",
}
"""Names of datasets; Re² has three kinds of records."""


@dataclass(slots=True)
class DatasetCounts:
    """Counts of the contents of one dataset's records, each counted once per occurrence in a file.

    Attributes:
        papers: Forum ids of papers that have a record.
        splits: Number of records by the task and split that their file states.
        venues: Ids of the venues named, including stand-ins.
    """

    papers: set[str] = field(default_factory=set)
    reviews: int = 0
    conversations: int = 0
    texts: int = 0
    splits: Counter[tuple[str, str]] = field(default_factory=Counter)
    venues: set[str] = field(default_factory=set)

    def count(self, dataset: Dataset, row: RawObject) -> None:
        """Add one record."""
        content = msgspec.json.decode(row.body, type=_Content)
        self.papers.add(row.forum_id)
        self.venues.add(row.venue_id)
        self.conversations += dataset is Dataset.RE2_REBUTTAL
        self.reviews += content.count_reviews()
        self.texts += dataset in DATASETS_WITH_TEXT and content.has_text
        if (split := find_stated_split(dataset, row.source)) is not None:
            self.splits[split] += 1

    def add(self, other: "DatasetCounts") -> None:
        """Add the counts of another file."""
        self.papers |= other.papers
        self.reviews += other.reviews
        self.conversations += other.conversations
        self.texts += other.texts
        self.splits += other.splits
        self.venues |= other.venues


class _Content(msgspec.Struct):
    """Members that are counted, whatever their type: those of ReviewBench, Re² and other layouts."""

    num_reviews: msgspec.Raw = msgspec.Raw(b"null")
    reviews: msgspec.Raw = msgspec.Raw(b"null")
    markdown: msgspec.Raw = msgspec.Raw(b"null")
    text: msgspec.Raw = msgspec.Raw(b"null")

    def count_reviews(self) -> int:
        if is_list(self.reviews):
            return len(list(read_items(self.reviews)))
        return int(bytes(self.num_reviews)) if bytes(self.num_reviews).isdigit() else 0

    @property
    def has_text(self) -> bool:
        return any(bytes(text) not in {b"null", b'""'} for text in (self.markdown, self.text))


def build_published(dataset: Dataset, body: bytes, origin: RawOrigin) -> RawObject:
    """Build the row of a published record.

    Raises:
        msgspec.ValidationError: The record names no paper, or the type of a field differs from the dataset's
            declaration.
    """
    header = msgspec.json.decode(body, type=_Header)
    forum_id = header.forum_id if dataset is Dataset.REVIEWBENCH else header.paper_id
    if forum_id is None:
        raise msgspec.ValidationError("It names no paper")
    record_id = f"{dataset.prefix}{forum_id}"
    if dataset is Dataset.RE2_REBUTTAL:
        record_id += f"/{header.reviewer_id or 'unknown'}"
    return RawObject(
        kind=RawKind.PUBLISHED,
        object_id=record_id,
        api=0,
        venue_id=_venue_of(header),
        forum_id=forum_id,
        subject_id=forum_id,
        modified_ms=0,
        seen_ms=origin.seen_ms,
        source=origin.source,
        body=body,
    )


def _venue_of(header: _Header) -> str:
    """Return the venue that a record names, or the one named by its conference, year and track."""
    if non_empty(header.venue_id):
        return str(header.venue_id)
    if non_empty(header.conference_year_track):
        return venue_named(str(header.conference_year_track))
    parts = [non_empty(header.conference), str(header.year or ""), non_empty(header.track)]
    return venue_named(" ".join(part for part in parts if part))

"""The published datasets: their readers, and their records as rows of `raw.db`."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from peercorpus.importers import nlpeer, paper_lists, peerread, review_tables
from peercorpus.importers.notes import has_flat_notes
from peercorpus.importers.re2 import Re2Text
from peercorpus.importers.reader import Id, Reader, Row, Source
from peercorpus.importers.reviewbench import ReviewBenchRow
from peercorpus.importers.tables import list_columns
from peercorpus.openreview.raw_rows import RawOrigin
from peercorpus.openreview.response_body import is_list, read_items
from peercorpus.records.datasets import Dataset, find_stated_split, non_empty, parse_dataset
from peercorpus.venues.venue_names import venue_named
from peercorpus.workspace.raw_store import RawKind, RawObject

READERS: dict[Dataset, Reader] = {
    reader.dataset: reader
    for reader in (
        peerread.READER,
        nlpeer.READER,
        review_tables.READER,
        paper_lists.LIST_READER,
        paper_lists.TEXT_READER,
    )
}
"""Readers of whole papers; a table of reviews may look like a list of papers too, so its reader comes first."""
_RE2 = (Dataset.RE2_REVIEWS, Dataset.RE2_REBUTTAL, Dataset.RE2_TEXT)
NAMES = {Dataset.REVIEWBENCH: "ReviewBench"} | dict.fromkeys(_RE2, "Re²") | {one: READERS[one].name for one in READERS}
"""Names of datasets; Re² has three kinds of records."""
FORMATS = (
    "OpenReview's notes as JSON, JSON Lines, or a table with columns such as content.title",
    *("ReviewBench", "Re²"),
    *(reader.described for reader in READERS.values()),
)
"""What can be imported, as listed in errors."""
DATASETS_WITH_TEXT = (
    *(Dataset.REVIEWBENCH, Dataset.RE2_TEXT),
    *(reader.dataset for reader in READERS.values() if reader.has_text),
)
"""Datasets whose records may contain the text of a paper."""


def find_folders(files: Sequence[Path]) -> Iterator[Source]:
    """Yield the folders in one of the formats among these files; a file may belong to several."""
    for reader in READERS.values():
        if reader.find is not None:
            yield from reader.find(reader, files)


def find_table(path: Path, rows: Sequence[Row]) -> Source | None:
    """Return a file that is in one of the formats, judging by its first rows; None if it is in none, or has notes."""
    columns = list_columns(rows)
    if not columns or "content" in columns or has_flat_notes(columns) or paper_lists.OF_A_MODEL.search(path.name):
        return None
    suiting = (reader for reader in READERS.values() if reader.suits is not None and reader.suits(rows))
    return next((Source(reader, path, (path,)) for reader in suiting), None)


def read_text(record_id: str, body: bytes) -> str | None:
    """Return the paper's text in a published record; None if it has none.

    Raises:
        msgspec.DecodeError: The record does not have the structure of its dataset.
    """
    dataset = parse_dataset(record_id)
    if dataset in READERS:
        return READERS[dataset].read_body(body).text
    if dataset is Dataset.REVIEWBENCH:
        return non_empty(msgspec.json.decode(body, type=ReviewBenchRow).markdown)
    return non_empty(msgspec.json.decode(body, type=Re2Text).markdown)


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

"""Count a release in the quantities that the cards of ReviewBench and Re² print, in bounded memory."""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from peercorpus.errors import PeercorpusError
from peercorpus.records.documents import PAGE_BREAK
from peercorpus.records.enums import ConversationKind
from peercorpus.release.columns import type_name
from peercorpus.release.folder import Release
from peercorpus.release.schemas import ReviewBench
from peercorpus.release.splits import Split

PAPER_FILE = re.compile(r"data/(?:papers/)?(?P<split>\w+)-\d{5}-of-\d{5}\.parquet")
"""Matches the path of a file of papers, in the layout of ReviewBench and in our own."""
COLUMNS = tuple(ReviewBench.schema.names)
BATCH_ROWS = 64
READ_BYTES = 1 << 16
"""Bytes read at a time from a column; by default, pyarrow keeps a whole row group in memory."""
NOTHING = frozenset({b'""', b"null", b"{}", b"[]"})
"""JSON of empty answers."""


class Place(NamedTuple):
    """Split, venue and year of papers."""

    split: str
    venue_id: str
    conference: str
    year: int | None
    track: str


@dataclass(slots=True)
class PlaceCounts:
    """Counts of the papers of one place.

    Attributes:
        pages: Pages of their texts, counted by the page separators.
        texts: Papers with a text.
        size_bytes: Size of the twenty columns in Arrow's memory format.
    """

    papers: int = 0
    reviews: int = 0
    pages: int = 0
    texts: int = 0
    size_bytes: int = 0

    def add(self, other: "PlaceCounts") -> None:
        """Add the counts of another place."""
        self.papers += other.papers
        self.reviews += other.reviews
        self.pages += other.pages
        self.texts += other.texts
        self.size_bytes += other.size_bytes


@dataclass(slots=True)
class ReleaseMeasures:
    """Counts of a release.

    Attributes:
        columns: Columns of the files of papers with the names of their types, in order; empty if files differ.
        keys: Reviews that have a key in `reviews_json`, by key.
        filled: Conferences in which a key of `reviews_json` has a value, by key.
        unreadable: Papers whose `reviews_json` is not a list of objects.
        download_bytes: Size of the files of papers.
        rebuttals: Conversations with one reviewer; None if the release has no conversations.
        rebuttal_papers: Papers with such a conversation; None likewise.
        test_papers: Papers tested on, by task; empty without splits.
    """

    places: dict[Place, PlaceCounts] = field(default_factory=lambda: defaultdict(PlaceCounts))
    columns: dict[str, str] = field(default_factory=dict)
    keys: Counter[str] = field(default_factory=Counter)
    filled: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    unreadable: int = 0
    download_bytes: int = 0
    rebuttals: int | None = None
    rebuttal_papers: int | None = None
    test_papers: dict[str, int] = field(default_factory=dict)

    def total(self, split: str | None = None) -> PlaceCounts:
        """Return the counts of a split, or of all splits."""
        total = PlaceCounts()
        for place, counts in self.places.items():
            if split in {None, place.split}:
                total.add(counts)
        return total

    @property
    def splits(self) -> list[str]:
        """Splits with papers, in alphabetical order."""
        return sorted({place.split for place in self.places})


def measure_release(release: Release) -> ReleaseMeasures:
    """Count a release.

    Raises:
        PeercorpusError: It has no papers with the columns of ReviewBench, or a file cannot be read.
    """
    measures = ReleaseMeasures()
    named = sorted((match["split"], name) for name in release.manifest.files if (match := PAPER_FILE.fullmatch(name)))
    if not named:
        raise PeercorpusError(f"The release '{release.folder}' has no papers; publish it again.")
    kinds = []
    for split, name in named:
        path = release.folder / name
        try:
            kinds.append(_measure_file(measures, split, path))
        except (pa.ArrowException, OSError) as error:
            raise PeercorpusError(f"'{path}' of the release cannot be read ({error}); take an intact copy.") from None
    measures.columns = kinds[0] if all([*kind.items()] == [*kinds[0].items()] for kind in kinds) else {}
    _count_conversations(measures, release)
    splits = release.splits()
    if splits is not None:
        measures.test_papers = {task.value: counts.get(Split.TEST, 0) for task, counts in splits.sizes.items()}
    return measures


def _measure_file(measures: ReleaseMeasures, split: str, path: Path) -> dict[str, str]:
    """Add the papers of one file, and return its columns with their types."""
    measures.download_bytes += path.stat().st_size
    with pq.ParquetFile(path, pre_buffer=False, buffer_size=READ_BYTES) as file:
        schema = file.schema_arrow
        missing = [name for name in COLUMNS if name not in schema.names]
        if missing:
            raise PeercorpusError(f"'{path}' of the release has no column '{missing[0]}'; publish it again.")
        for batch in file.iter_batches(BATCH_ROWS, columns=list(COLUMNS)):
            _measure_batch(measures, split, batch)
    return {column.name: type_name(column.type) for column in schema}


def _measure_batch(measures: ReleaseMeasures, split: str, batch: pa.RecordBatch) -> None:
    marks = pc.count_substring(batch.column("markdown"), PAGE_BREAK).to_pylist()
    names = ("venue_id", "conference", "year", "track", "num_reviews", "reviews_json", "markdown_chars")
    rows = zip(*(batch.column(name).to_pylist() for name in names), marks, strict=True)
    bytes_of_a_row = batch.nbytes / max(1, batch.num_rows)
    for venue_id, conference, year, track, reviews, reviews_json, characters, page_marks in rows:
        counts = measures.places[Place(split, venue_id or "", conference or "", year, track or "")]
        counts.papers += 1
        counts.reviews += reviews or 0
        counts.texts += bool(characters)
        counts.pages += page_marks + 1 if characters else 0
        counts.size_bytes += round(bytes_of_a_row)
        _count_keys(measures, conference or "", reviews_json or "[]")


def _count_keys(measures: ReleaseMeasures, conference: str, reviews_json: str) -> None:
    try:
        reviews = msgspec.json.decode(reviews_json, type=list[dict[str, msgspec.Raw]])
    except msgspec.DecodeError:
        measures.unreadable += 1
        return
    for review in reviews:
        measures.keys.update(review.keys())
        for name, answer in review.items():
            if bytes(answer) not in NOTHING:
                measures.filled[name].add(conference)


def _count_conversations(measures: ReleaseMeasures, release: Release) -> None:
    if not release.shards("conversations"):
        return
    forum_ids = [
        row["forum_id"]
        for row in release.rows("conversations", None, ["forum_id", "kind"])
        if row["kind"] == ConversationKind.REVIEW
    ]
    measures.rebuttals, measures.rebuttal_papers = len(forum_ids), len(set(forum_ids))

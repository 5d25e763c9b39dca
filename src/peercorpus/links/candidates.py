"""Find candidate pairs of papers by MinHash, and read the texts of the papers that are compared.

`find_candidates` compares MinHash signatures band by band, so the cost grows with the number of papers and matching
pairs rather than with all pairs; the signatures are in a file, and only one band of them is in memory. `Passages` then
provides the texts of two papers for comparison in another process.
"""

import operator
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from io import SEEK_END
from itertools import combinations, islice, pairwise
from typing import IO, TypeVar, overload

import msgspec
from rensa import RMinHash

from peercorpus.corpus.texts import TextStore
from peercorpus.links.similarity import (
    SAME_AUTHORS,
    Author,
    RareTerms,
    TitleAndAbstract,
    find_word_runs,
    normalise_head,
    text_share,
)
from peercorpus.records.enums import Grade
from peercorpus.workspace.delta_tables import Tables

SEED = 1
HASH_BYTES = array("I").itemsize
SIGNATURE_BATCH = 200
"""Number of papers whose signatures are computed at once."""

CACHED_SIGNATURES = 1_024
"""Number of signatures in memory."""

MAX_FULLY_PAIRED = 50
"""Largest number of papers in one band that are all paired (1,225 pairs); otherwise only neighbours are paired."""

NEIGHBOURS = 3
"""Number of papers following in title order with which each paper of a larger band is paired."""

Tokens = Collection[str]
Pair = tuple[int, int]
"""Positions of two papers in the list, the smaller first."""

KeyT = TypeVar("KeyT", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Banding:
    """Shape of MinHash signatures, and the required similarity of two.

    Attributes:
        rows: Number of hashes in a band, all of which must be equal.
        bands: Number of bands in a signature, one of which must be equal.
        least: Minimum share of equal hashes in two whole signatures, on [0, 1]; it estimates the Jaccard index.
    """

    rows: int
    bands: int
    least: float

    @property
    def numbers(self) -> int:
        """Number of hashes in a signature."""
        return self.rows * self.bands


# The share of invented pairs that these find is measured in benchmarks/results/links-rules.json, column "candidates".
TITLES = Banding(rows=4, bands=32, least=0.35)
"""For the rare words of titles."""

ABSTRACTS = Banding(rows=3, bands=85, least=0.07)
"""For the rare word pairs of abstracts; the estimate varies, so `least` is below the 0.1 required afterwards."""


def find_candidates(tokens: Iterable[Tokens], banding: Banding, order: Sequence[str], scratch: IO[bytes]) -> set[Pair]:
    """Return the pairs of papers whose tokens are similar enough for a closer comparison; none without tokens.

    `order` decides if more than 50 papers agree in a band.
    """
    signatures = Signatures(scratch, tokens, banding)
    read = lru_cache(CACHED_SIGNATURES)(signatures.read)
    pairs: set[Pair] = set()
    for band in range(banding.bands):
        keys = signatures.read_band(band)
        for group in _group_by_key(zip(signatures.papers, keys, strict=True), Counter(keys)):
            for pair in _pair_group(group, order):
                if pair not in pairs and _estimate_overlap(*map(read, pair)) >= banding.least:
                    pairs.add(pair)
    return pairs


def find_equal_keys(keys: Iterable[str], order: Sequence[str]) -> set[Pair]:
    """Return the pairs of papers with the same key; papers with an empty key are in no pair.

    Keys are compared by a digest of 128 bits, as they may be as long as an abstract.
    """
    keyed = [(index, blake2b(key.encode(), digest_size=16).digest()) for index, key in enumerate(keys) if key]
    groups = _group_by_key(keyed, Counter(key for _, key in keyed))
    return {pair for group in groups for pair in _pair_group(group, order)}


def find_shared_authors(authors: Iterable[Sequence[Author]], order: Sequence[str]) -> set[Pair]:
    """Return the pairs of papers that have half of the shorter list of authors in common, by surname and initial."""
    names = array("Q")
    ends = array("Q", [0])
    for listed in authors:
        by_initial = (min(author, key=lambda name: ", " not in name) for author in listed)
        names.extend({int.from_bytes(blake2b(name.encode(), digest_size=8).digest()) for name in by_initial})
        ends.append(len(names))
    keys = [(paper, name) for paper, span in enumerate(pairwise(ends)) for name in names[slice(*span)]]
    groups = _group_by_key(keys, Counter(names))
    pairs = {pair for group in groups for pair in _pair_group(group, order)}
    return {pair for pair in pairs if _share_half(*({*names[ends[paper] : ends[paper + 1]]} for paper in pair))}


def _share_half(one: Set[int], other: Set[int]) -> bool:
    return len(one & other) >= SAME_AUTHORS * min(len(one), len(other))


class Signatures:
    """MinHash signatures of papers in a scratch file, in batches: those of a batch by band, then paper by paper.

    Attributes:
        papers: Position of each paper that has tokens.
    """

    def __init__(self, scratch: IO[bytes], tokens: Iterable[Tokens], banding: Banding) -> None:
        self._scratch = scratch
        self._begins = scratch.seek(0, SEEK_END)
        self._width = HASH_BYTES * banding.rows
        self._size = HASH_BYTES * banding.numbers
        self.papers = array("I")
        with_tokens = ((index, each) for index, each in enumerate(tokens) if each)
        while batch := list(islice(with_tokens, SIGNATURE_BATCH)):
            self.papers.extend(index for index, _ in batch)
            digests = RMinHash.digests_from_token_sets([list(each) for _, each in batch], banding.numbers, SEED)
            rows = [array("I", row).tobytes() for row in digests]
            for start in range(0, self._size, self._width):
                scratch.write(b"".join(row[start : start + self._width] for row in rows))
            scratch.write(b"".join(rows))

    def read_band(self, band: int) -> list[bytes]:
        """Return one band of every signature, in the order of `papers`."""
        keys: list[bytes] = []
        for first in range(0, len(self.papers), SIGNATURE_BATCH):
            number = min(SIGNATURE_BATCH, len(self.papers) - first)
            block = self._read(first, band * number * self._width, number * self._width)
            keys.extend(block[start : start + self._width] for start in range(0, len(block), self._width))
        return keys

    def read(self, paper: int) -> bytes:
        """Return the signature of a paper that has tokens."""
        first, place = divmod(bisect_left(self.papers, paper), SIGNATURE_BATCH)
        number = min(SIGNATURE_BATCH, len(self.papers) - first * SIGNATURE_BATCH)
        return self._read(first * SIGNATURE_BATCH, (number + place) * self._size, self._size)

    def _read(self, first: int, offset: int, size: int) -> bytes:
        """Return bytes of the batch that begins with this paper; each batch has its signatures twice."""
        self._scratch.seek(self._begins + 2 * first * self._size + offset)
        return self._scratch.read(size)


def _group_by_key(keys: Iterable[tuple[int, KeyT]], counts: Mapping[KeyT, int]) -> Collection[list[int]]:
    groups: dict[KeyT, list[int]] = defaultdict(list)
    for index, key in keys:
        if counts[key] > 1:
            groups[key].append(index)
    return groups.values()


def _pair_group(group: Sequence[int], order: Sequence[str]) -> Iterator[Pair]:
    if len(group) <= MAX_FULLY_PAIRED:
        yield from combinations(group, 2)
        return
    ordered = sorted(group, key=lambda index: order[index])
    for rank, paper in enumerate(ordered):
        for neighbour in ordered[rank + 1 : rank + 1 + NEIGHBOURS]:
            yield min(paper, neighbour), max(paper, neighbour)


def _estimate_overlap(one: bytes, other: bytes) -> float:
    """Return the share of equal hashes, an estimate of the Jaccard index of the sets."""
    left = memoryview(one).cast("I")
    right = memoryview(other).cast("I")
    equal: int = sum(map(operator.eq, left, right))
    return equal / len(left)


CACHED_TEXTS = 16
"""Number of texts whose runs a process caches: pairs with the same paper are consecutive."""

SAMPLED_TEXTS = 500
"""Number of texts in the sample that determines which runs of words are common (decision record 11)."""

MAX_RARE_SHARE = 0.02
"""Share of the sampled texts above which a run is too common to distinguish papers: more than 10 of 500."""

PaperKey = tuple[str, str]
"""Venue id and forum id of a paper."""


@dataclass(frozen=True, slots=True)
class TextPair:
    """Two texts to compare, as sent to another process; `telling` determines which runs of words are rare."""

    one: str
    other: str
    telling: RareTerms


def pair_share(pair: TextPair) -> float | None:
    """Return the share of rare runs that two texts have in common; None if one has too few."""
    return text_share(*(pair.telling.of(_cached_runs(text)) for text in (pair.one, pair.other)))


_cached_runs = lru_cache(maxsize=CACHED_TEXTS)(find_word_runs)


class Passages:
    """One text per paper: that of the version that reviewers read, otherwise of the last version with a text.

    Runs of words that are common in a sample of all texts are left out of comparisons.
    """

    def __init__(self, scratch: IO[bytes], tables: Tables, forum_ids: Mapping[str, Set[str]]) -> None:
        self._files: dict[PaperKey, str] = {}
        self._stores: dict[str, TextStore] = {}
        sample = _sample_files(tables) if forum_ids else {}
        for venue_id in sorted({*forum_ids, *sample}):
            files = _choose_files(tables, venue_id, forum_ids.get(venue_id, frozenset()))
            self._files |= {(venue_id, forum_id): sha256 for forum_id, sha256 in files.items()}
            needed = {*files.values(), *sample.get(venue_id, ())}
            if needed:
                self._stores[venue_id] = TextStore(scratch, tables, venue_id, needed)
        texts = (self._stores[venue_id].read(sha256) for venue_id, files in sample.items() for sha256 in files)
        self._rare_runs = RareTerms(map(find_word_runs, texts), MAX_RARE_SHARE)

    def __contains__(self, paper: object) -> bool:
        return paper in self._files

    def pair(self, one: PaperKey, other: PaperKey) -> TextPair:
        """Return the texts of two papers, both of which must be in this collection."""
        return TextPair(self._read(one), self._read(other), self._rare_runs)

    def _read(self, paper: PaperKey) -> str:
        venue_id, _ = paper
        return self._stores[venue_id].read(self._files[paper])


def _sample_files(tables: Tables) -> dict[str, list[str]]:
    files = sorted(
        (sha256, venue_id)
        for venue_id in tables.venues("5-texts")
        for sha256 in _find_files_with_text(tables, venue_id)
    )
    sample: dict[str, list[str]] = defaultdict(list)
    for sha256, venue_id in files[:: -(-len(files) // SAMPLED_TEXTS) or 1]:
        sample[venue_id].append(sha256)
    return sample


def _find_files_with_text(tables: Tables, venue_id: str) -> set[str]:
    return {row["sha256"] for batch in tables.batches("5-texts", venue_id, ["sha256"]) for row in batch.to_pylist()}


def _choose_files(tables: Tables, venue_id: str, forum_ids: Set[str]) -> dict[str, str]:
    """Return, by forum, the file with a text to compare: the initial one of the best grade, otherwise the last."""
    with_text = _find_files_with_text(tables, venue_id)
    chosen: dict[str, str] = {}
    ranks: dict[str, int] = {}
    for batch in tables.batches("4-versions", venue_id, ["forum_id", "sha256", "is_initial", "grade"]):
        for row in batch.to_pylist():
            forum_id = row["forum_id"]
            rank = Grade(row["grade"]).rank if row["is_initial"] else len(Grade)
            held = ranks.get(forum_id, len(Grade))
            is_better = rank < held or rank == held == len(Grade)
            if is_better and forum_id in forum_ids and row["sha256"] in with_text:
                chosen[forum_id] = row["sha256"]
                ranks[forum_id] = rank
    return chosen


COLUMNS = ["forum_id", "title", "abstract", "authors", "created_at", "decided_at", "extra"]
NO_HEAD = TitleAndAbstract((), "")
BLOCK = 256
"""Number of papers read from the file at once."""


@dataclass(frozen=True, slots=True)
class ComparedPaper:
    """The fields of a paper that comparing and linking need.

    Attributes:
        created_at: When it was submitted; None if unknown.
        decided_at: When its decision was posted; None if unknown.
        head: Its normalised title, abstract and authors.
        extra: Its other fields, as in `Paper.extra`, including those that name earlier submissions.
    """

    forum_id: str
    venue_id: str
    created_at: datetime | None
    decided_at: datetime | None
    head: TitleAndAbstract
    extra: str = "{}"

    @property
    def key(self) -> PaperKey:
        """Venue id and forum id, unique across all venues."""
        return self.venue_id, self.forum_id

    @property
    def is_at_workshop(self) -> bool:
        """Whether the id of its venue names a workshop."""
        return "workshop" in self.venue_id.casefold()

    def without_text(self) -> "ComparedPaper":
        """Return what a link needs: the paper without title, abstract, authors and other fields."""
        return replace(self, head=NO_HEAD, extra="{}")


def read_submissions(tables: Tables, venue_id: str) -> Iterator[ComparedPaper]:
    """Yield the papers of a venue in the order of their forum ids."""
    rows = tables.rows("1-papers", venue_id, COLUMNS)
    for forum_id, title, abstract, authors, created_at, decided_at, extra in rows:
        yield ComparedPaper(
            forum_id=forum_id,
            venue_id=venue_id,
            created_at=created_at,
            decided_at=decided_at,
            head=normalise_head(title, abstract, authors),
            extra=extra,
        )


class StoredPapers(Sequence[ComparedPaper]):
    """Papers in a scratch file, which must not be used for anything else meanwhile."""

    def __init__(self, scratch: IO[bytes], papers: Iterable[ComparedPaper]) -> None:
        self._scratch = scratch
        self._ends = array("Q", [0])
        self._decode = msgspec.msgpack.Decoder(ComparedPaper).decode
        encode = msgspec.msgpack.Encoder().encode
        for paper in papers:
            self._ends.append(self._ends[-1] + scratch.write(encode(paper)))

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, place: int) -> ComparedPaper: ...

    @overload
    def __getitem__(self, place: slice) -> list[ComparedPaper]: ...

    def __getitem__(self, place: int | slice) -> ComparedPaper | list[ComparedPaper]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        place = range(len(self))[place]
        return next(self._read(place, place + 1))

    def __iter__(self) -> Iterator[ComparedPaper]:
        for start in range(0, len(self), BLOCK):
            yield from self._read(start, min(start + BLOCK, len(self)))

    def _read(self, start: int, stop: int) -> Iterator[ComparedPaper]:
        """Yield the papers of a range; it is read at once, so that others can be read before it ends."""
        begins = self._ends[start]
        self._scratch.seek(begins)
        content = memoryview(self._scratch.read(self._ends[stop] - begins))
        for place in range(start, stop):
            yield self._decode(content[self._ends[place] - begins : self._ends[place + 1] - begins])


@dataclass(frozen=True, slots=True)
class Heads:
    """Titles, abstracts and authors of papers, read anew in each iteration."""

    papers: Sequence[ComparedPaper]

    def __iter__(self) -> Iterator[TitleAndAbstract]:
        return (paper.head for paper in self.papers)

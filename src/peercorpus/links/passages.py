"""Texts of papers of several venues, by pairs, and what two of them have in common; only those wanted are read."""

from collections import defaultdict
from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import IO

from peercorpus.links.alike import runs_of, text_share
from peercorpus.links.shelf import Shelf
from peercorpus.links.telling import Telling
from peercorpus.tables import Tables

KEPT = 16
"""Texts whose runs a process holds: pairs of one paper follow each other."""

SAMPLE = 500
"""Texts that say which runs of words many texts have."""

MOST_SHARE = 0.02
"""Share of these from which on a run tells nothing."""

NONE: frozenset[str] = frozenset()
PaperKey = tuple[str, str]
"""The venue of a paper, and its forum."""


@dataclass(frozen=True, slots=True)
class TextPair:
    """Two texts, as they go to another process, or another machine.

    Attributes:
        telling: Which runs of words few texts have.
    """

    one: str
    other: str
    telling: Telling


def pair_share(pair: TextPair) -> float | None:
    """The share of runs of words that two texts have in common; None where one is too short."""
    return text_share(*(pair.telling.of(_kept_runs(text)) for text in (pair.one, pair.other)))


@lru_cache(maxsize=KEPT)
def _kept_runs(text: str) -> frozenset[str]:
    return runs_of(text)


class Passages:
    """The texts of some papers, one a paper: of the version the reviewers read, else of the last one held.

    Runs of words that many texts have are left out; a sample of all texts, wanted or not, says which they are.
    """

    def __init__(self, scratch: IO[bytes], tables: Tables, wanted: Mapping[str, Set[str]]) -> None:
        self._files: dict[PaperKey, str] = {}
        self._shelves: dict[str, Shelf] = {}
        sampled = _sample(tables) if wanted else {}
        for venue_id in sorted({*wanted, *sampled}):
            files = _files_of(tables, venue_id, wanted.get(venue_id, NONE))
            self._files |= {(venue_id, forum_id): sha256 for forum_id, sha256 in files.items()}
            here = {*files.values(), *sampled.get(venue_id, ())}
            if here:
                self._shelves[venue_id] = Shelf(scratch, tables, venue_id, here)
        texts = (self._shelves[venue_id].read(one) for venue_id, found in sampled.items() for one in found)
        self._telling = Telling(map(runs_of, texts), MOST_SHARE)

    def __contains__(self, paper: object) -> bool:
        return paper in self._files

    def pair(self, one: PaperKey, other: PaperKey) -> TextPair:
        """The texts of two papers that were wanted, and have one."""
        return TextPair(self._read(one), self._read(other), self._telling)

    def _read(self, paper: PaperKey) -> str:
        return self._shelves[paper[0]].read(self._files[paper])


def _sample(tables: Tables) -> dict[str, list[str]]:
    """Files whose text is held, by venue: every so many of all, in the order of their hashes."""
    held = sorted((sha256, venue_id) for venue_id in tables.venues("5-texts") for sha256 in _held(tables, venue_id))
    sampled: dict[str, list[str]] = defaultdict(list)
    for sha256, venue_id in held[:: -(-len(held) // SAMPLE) or 1]:
        sampled[venue_id].append(sha256)
    return sampled


def _held(tables: Tables, venue_id: str) -> set[str]:
    return {row["sha256"] for batch in tables.batches("5-texts", venue_id, ["sha256"]) for row in batch.to_pylist()}


def _files_of(tables: Tables, venue_id: str, forum_ids: Set[str]) -> dict[str, str]:
    """The file that stands for each of some papers of a venue, where it has one whose text is held."""
    held = _held(tables, venue_id)
    found: dict[str, str] = {}
    initial: set[str] = set()
    for batch in tables.batches("4-versions", venue_id, ["forum_id", "sha256", "is_initial"]):
        for row in batch.to_pylist():
            forum_id = row["forum_id"]
            if forum_id in forum_ids and row["sha256"] in held and forum_id not in initial:
                found[forum_id] = row["sha256"]
                initial |= {forum_id} if row["is_initial"] else set()
    return found

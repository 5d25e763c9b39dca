"""Texts of papers of several venues as the runs of words that they are compared by; only those wanted are read."""

from collections import OrderedDict
from collections.abc import Mapping, Set
from typing import IO

from peercorpus.links.alike import runs_of
from peercorpus.links.shelf import Shelf
from peercorpus.tables import Tables

KEPT = 64
"""Texts whose runs are held in memory."""

NONE: frozenset[str] = frozenset()


class Passages:
    """The texts of some papers, one a paper: of the version the reviewers read, else of the last one held."""

    def __init__(self, scratch: IO[bytes], tables: Tables, wanted: Mapping[str, Set[str]]) -> None:
        self._files: dict[tuple[str, str], str] = {}
        self._shelves: dict[str, Shelf] = {}
        self._kept: OrderedDict[tuple[str, str], frozenset[str]] = OrderedDict()
        for venue_id, forum_ids in wanted.items():
            files = _files_of(tables, venue_id, forum_ids)
            self._files |= {(venue_id, forum_id): sha256 for forum_id, sha256 in files.items()}
            if files:
                self._shelves[venue_id] = Shelf(scratch, tables, venue_id, set(files.values()))

    def read(self, venue_id: str, forum_id: str) -> frozenset[str]:
        """The runs of a paper's text; none where no text of it is held."""
        key = venue_id, forum_id
        if key not in self._files:
            return NONE
        runs = self._kept.pop(key, None)
        self._kept[key] = runs = runs_of(self._shelves[venue_id].read(self._files[key])) if runs is None else runs
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return runs


def _files_of(tables: Tables, venue_id: str, forum_ids: Set[str]) -> dict[str, str]:
    """The file that stands for each of some papers of a venue, where it has one whose text is held."""
    texts = tables.batches("5-texts", venue_id, ["sha256"])
    held = {row["sha256"] for batch in texts for row in batch.to_pylist()}
    found: dict[str, str] = {}
    initial: set[str] = set()
    for batch in tables.batches("4-versions", venue_id, ["forum_id", "sha256", "is_initial"]):
        for row in batch.to_pylist():
            forum_id = row["forum_id"]
            if forum_id in forum_ids and row["sha256"] in held and forum_id not in initial:
                found[forum_id] = row["sha256"]
                initial |= {forum_id} if row["is_initial"] else set()
    return found

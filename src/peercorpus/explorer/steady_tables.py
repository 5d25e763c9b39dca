"""The tables as they were when they were first read: what a page shows is what its index was made of."""

from collections.abc import Mapping

from deltalake import DeltaTable

from peercorpus.store import Place
from peercorpus.tables import Tables


class SteadyTables(Tables):
    """Tables whose commits are read once: opening one takes longer than reading a paper's rows from it.

    Files that a later build replaced stay on disk; where they are gone, reading them says so.
    """

    def __init__(self, tables: Tables) -> None:
        super().__init__(tables.folder, tables.scratch)
        self._opened: dict[str, DeltaTable | None] = {}
        self._found: dict[tuple[str, tuple[tuple[str, str], ...]], list[Place]] = {}

    def _table(self, name: str) -> DeltaTable | None:
        if name not in self._opened:
            self._opened[name] = super()._table(name)
        return self._opened[name]

    def _files(self, name: str, partition: Mapping[str, str]) -> list[Place]:
        key = name, tuple(partition.items())
        if key not in self._found:
            self._found[key] = super()._files(name, partition)
        return self._found[key]

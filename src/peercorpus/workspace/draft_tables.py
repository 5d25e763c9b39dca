"""A worker's view of the tables: the given state of a few venues, plus its own uncommitted changes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from peercorpus.workspace.delta_tables import Tables
from peercorpus.workspace.object_store import Location
from peercorpus.workspace.table_state import PartitionChange, TablePart, TableState

HeldTables = Mapping[str, TableState]
"""State of tables, by name; a missing table is left out."""


class DraftTables(Tables):
    """Tables that are never reloaded and never committed: files are written, and changes are collected.

    The process that has locked the workspace applies the changes to its own tables.
    """

    def __init__(self, folder: Location, scratch: Path) -> None:
        super().__init__(folder, scratch, is_steady=True)
        self._changes: list[PartitionChange] = []
        self._held: dict[str, TableState] = {}
        self._reader.keeps = True

    def start(self, held: HeldTables) -> None:
        """Start from the needed part of the tables' state, and discard collected changes."""
        self._held = {name: state.copy() for name, state in held.items()}
        self._changes = []

    def take_changes(self) -> list[PartitionChange]:
        """Return the changes since the last call, in order."""
        changes, self._changes = self._changes, []
        return changes

    def _state(self, name: str) -> TableState | None:
        return self._held.get(name)

    def apply(self, change: PartitionChange) -> None:
        """Collect a change; later reads include it."""
        state = self._held.setdefault(change.name, TableState({}, {}))
        numbers = self._number(change)
        if change.replaces:
            for part in state.parts_of(change.partition):
                state.remove(part)
        for action, rows in change.files:
            state.add(TablePart(action.path, change.partition, rows, action.size))
        state.numbers |= numbers
        self._changes.append(change)

    def commit_due(self) -> None:
        """Commit nothing."""


def hold(tables: Tables, names: Iterable[str], venue_id: str, stages: Sequence[str]) -> HeldTables:
    """Return the state of these tables for a venue, to start `DraftTables` from."""
    states = ((name, tables.state_of(name, venue_id, stages)) for name in names)
    return {name: state for name, state in states if state is not None}


def join_ranges(ranges: Sequence[Sequence[PartitionChange]]) -> list[PartitionChange]:
    """Combine a stage's changes for each range of a venue's forums into changes for the venue, in order."""
    if len(ranges) == 1:
        return list(ranges[0])
    return [
        replace(
            together[0],
            files=tuple(file for change in together for file in change.files),
            content=sum(change.content for change in together),
        )
        for together in zip(*ranges, strict=True)
    ]

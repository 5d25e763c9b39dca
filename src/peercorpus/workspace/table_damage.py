"""Find damage in the tables: in the log of commits, and in the Parquet files that it names."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import msgspec

from peercorpus.errors import DamagedError
from peercorpus.workspace.delta_tables import Tables
from peercorpus.workspace.object_store import Location, list_below, read_file
from peercorpus.workspace.parquet import find_fault
from peercorpus.workspace.table_logs import LOG, damaged_table, digest_log_file, list_log


class _Named(msgspec.Struct):
    path: str


class _Transaction(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    app_id: str
    version: int
    last_updated: int | None = None


class _Action(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """One line of a commit: an action of a kind that ours have; Delta Lake itself ignores unknown ones."""

    add: _Named | None = None
    remove: _Named | None = None
    txn: _Transaction | None = None
    commit_info: dict[str, object] | None = None
    meta_data: dict[str, object] | None = None
    protocol: dict[str, object] | None = None


@dataclass(frozen=True, slots=True)
class TableFault:
    """Damage in a table.

    Attributes:
        venue_id: The venue with a damaged partition; None if it is the log.
    """

    venue_id: str | None
    detail: str


def check_table(tables: Tables, name: str, *, opens: bool = True) -> Iterator[TableFault | None]:
    """Yield one value for each Parquet file of a table, None if it is intact; and faults of its log.

    Unless `opens`, a file is not opened to compare its rows with the log if its digest matches its name and every file
    of the log is the recorded one, in which case the log's number is correct too.

    Raises:
        StoreError: The store is out of order or refuses.
    """
    try:
        loss = tables.find_loss(name, tables.version(name))
        parts = tables.parts(name)
    except DamagedError as error:
        yield TableFault(None, error.fault)
        return
    log = tables.folder / name / LOG
    recorded = tables.logs.read(name) if tables.logs else {}
    # Old files of a log may have been deleted.
    kept = {path.name: path for path in list_log(log)}
    changed = next((file for file in kept if file in recorded and digest_log_file(kept[file]) != recorded[file]), None)
    change = None if changed is None else f"'{changed}' of its log has changed since it was written"
    detail = loss or change or _find_log_fault(log)
    if detail is not None:
        yield TableFault(None, detail)
        return
    is_proven = not opens and kept.keys() <= recorded.keys()
    for part in parts:
        steps = [f"{column}={quote(value, safe='')}" for column, value in part.values.items()]
        if part.relative.split("/")[:-1] != steps:
            yield TableFault(None, f"its log places '{part.relative}' elsewhere than its name")
            return
    for part in parts:
        fault = find_fault(tables.folder / name / part.relative, part.rows, opens=not is_proven)
        yield TableFault(part.values["venue_id"], fault) if fault else None


def require_whole(tables: Tables, name: str) -> None:
    """Check by hashing that a table on this machine is intact, for readers that do not verify it.

    In a store, this would download everything, so only `check` does it.

    Raises:
        DamagedError: It is not intact.
    """
    if isinstance(tables.folder, Path):
        fault = next(filter(None, check_table(tables, name, opens=False)), None)
        if fault is not None:
            raise damaged_table(tables.folder / name, fault.detail)


def _find_log_fault(log: Location) -> str | None:
    """Return what is wrong with the commits of a log; None if nothing."""
    commits = sorted((path for path, _ in list_below(log) if path.name.endswith(".json")), key=str)
    is_whole = bool(commits) and commits[0].stem.strip("0") == ""
    added: set[str] = set()
    for commit in commits:
        try:
            actions = [msgspec.json.decode(line, type=_Action) for line in read_file(commit).splitlines()]
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return f"its commit '{commit.name}' has changed since it was written"
        added |= {action.add.path for action in actions if action.add}
        removed = {action.remove.path for action in actions if action.remove}
        if is_whole and removed - added:
            return f"its commit '{commit.name}' removes what was never written"
    return None

"""Check that the content of a workspace is unchanged since it was stored; set damaged parts aside to be remade."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from peercorpus.execution.progress import Meter, Show
from peercorpus.texts.convert import ENDING, FOLDER, find_text_fault
from peercorpus.workspace.object_store import Location, read_file, write_whole
from peercorpus.workspace.private_files import make_private_folder
from peercorpus.workspace.raw_damage import DamagedObject
from peercorpus.workspace.raw_store import OPEN
from peercorpus.workspace.table_damage import check_table
from peercorpus.workspace.table_reader import TABLES
from peercorpus.workspace.workspace import Workspace

ALL = "workspace"
"""Shown as the venue in the progress of a check."""

ASIDE = "damaged"
"""Folder of the workspace for damaged files."""


class Held(StrEnum):
    """Kinds of content of a workspace."""

    DATABASE = "database"
    """The file `raw.db`, as SQLite sees it."""
    KEY = "key"
    """The key of the pseudonyms."""
    OBJECT = "object"
    """One version of an object in `raw.db`."""
    FILE = "file"
    """A PDF."""
    TEXT = "text"
    """What an engine read in a PDF, as cached for the next build."""
    TABLE = "table"
    """A Parquet file of a table, or its log."""


@dataclass(frozen=True, slots=True)
class Damage:
    """Content that has changed since it was stored.

    Attributes:
        venue_id: Its venue; None for the database, the key, and the log of a table.
        source: The request or file that an object came from; empty for other content.
        stored: The object's row; None for other content.
    """

    held: Held
    name: str
    venue_id: str | None
    detail: str
    source: str = ""
    stored: DamagedObject | None = None


@dataclass(frozen=True, slots=True)
class Integrity:
    """The result of a check.

    Attributes:
                lost: Objects set aside by an earlier repair and not received again since.
    """

    objects: int
    files: int
    texts: int
    tables: int
    damages: Sequence[Damage]
    lost: Sequence[DamagedObject]


def check_workspace(workspace: Workspace, show: Show) -> Integrity:
    """Read all content of a workspace and compare it with the hashes taken when it was stored.

    Bodies, PDFs, cached texts and the files of tables are hashed, and the logs of tables are read commit by commit.
    Missing PDFs do not count as damage: the stages set them aside as missing, and a harvest fetches them.
    """
    faults = workspace.raw.damaged.database_faults()
    damages = [Damage(Held.DATABASE, "raw.db", None, fault) for fault in faults]
    if faults:
        # Nothing else that SQLite returns from such a file can be relied on.
        return Integrity(0, 0, 0, 0, damages, ())
    fault = workspace.raw.pseudonyms.find_fault()
    damages += [Damage(Held.KEY, "pseudonyms", None, fault)] if fault else []
    objects = Meter(ALL, "checking objects", show, total=workspace.raw.damaged.count())
    damages += _check_objects(workspace, objects)
    files = Meter(ALL, "checking files", show)
    damages += _check_files(workspace, files)
    texts = Meter(ALL, "checking texts", show)
    damages += _check_texts(workspace, texts)
    tables = Meter(ALL, "checking tables", show)
    for name in TABLES:
        for table_fault in check_table(workspace.tables, name):
            tables.advance()
            if table_fault is not None:
                damages.append(Damage(Held.TABLE, name, table_fault.venue_id, table_fault.detail))
    return Integrity(objects.done, files.done, texts.done, tables.done, damages, workspace.raw.damaged.not_back())


def _check_objects(workspace: Workspace, meter: Meter) -> Iterator[Damage]:
    for damaged in workspace.raw.damaged.check_each():
        meter.advance()
        if damaged is not None:
            yield Damage(
                Held.OBJECT,
                f"{damaged.kind} {damaged.object_id}",
                damaged.venue_id,
                "its body differs from the one received",
                damaged.source.removesuffix(OPEN),
                damaged,
            )


def _check_files(workspace: Workspace, meter: Meter) -> Iterator[Damage]:
    venue_of = {
        stored.sha256: venue_id
        for venue_id in workspace.raw.venues()
        for stored in workspace.raw.state.files(venue_id)
        if stored.sha256 is not None
    }
    present = [sha256 for sha256 in sorted(venue_of) if workspace.files.has(sha256)]
    for sha256 in present:
        fault = _find_file_fault(workspace.files.path(sha256), sha256)
        meter.advance(total=len(present))
        if fault:
            yield Damage(Held.FILE, sha256, venue_of[sha256], fault)


def _check_texts(workspace: Workspace, meter: Meter) -> Iterator[Damage]:
    for path in sorted((workspace.folder / FOLDER).rglob(f"*{ENDING}")):
        fault = find_text_fault(path)
        meter.advance()
        if fault:
            yield Damage(Held.TEXT, path.relative_to(workspace.folder).as_posix(), None, fault)


def _find_file_fault(location: Location, sha256: str) -> str | None:
    try:
        content = read_file(location)
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    return None if hashlib.sha256(content).hexdigest() == sha256 else "it was cut or changed after it was stored"


@dataclass(frozen=True, slots=True)
class Repair:
    """The result of a repair.

    Attributes:
        set_aside: Content that was set aside and is no longer read.
        harvest: Venues whose objects or files a harvest fetches again.
        imported: Files to import again, because damaged content came from them.
        has_new_key: Whether the key of the pseudonyms was lost, so that a new one was made.
    """

    set_aside: Sequence[Damage]
    harvest: Sequence[str]
    imported: Sequence[str]
    build: bool
    has_new_key: bool


def repair(workspace: Workspace, integrity: Integrity) -> Repair:
    """Set damaged content aside, so that the next harvest or import fetches it and the next build remakes it.

    Nothing is deleted: objects go to the table `damaged` of `raw.db`, PDFs to the folder `damaged`. Tables are made
        from these, so a damaged partition is emptied. The key of the pseudonyms is restored from its other copy. A
        damaged database is left unchanged.
    """
    damages = integrity.damages
    is_key_damaged = any(damage.held is Held.KEY for damage in damages)
    has_key = workspace.raw.pseudonyms.repair() if is_key_damaged else True
    objects = [damage.stored for damage in damages if damage.stored is not None]
    if objects:
        with workspace.raw.transaction():
            workspace.raw.damaged.set_aside(objects)
    for damage in damages:
        if damage.held is Held.FILE:
            location, aside = workspace.files.path(damage.name), workspace.folder / ASIDE / f"{damage.name}.pdf"
            make_private_folder(aside.parent)
            write_whole(aside, read_file(location))
            location.unlink()
        elif damage.held is Held.TEXT:
            path = workspace.folder / damage.name
            make_private_folder(workspace.folder / ASIDE)
            path.replace(workspace.folder / ASIDE / path.name)
        elif damage.held is Held.TABLE and damage.venue_id is not None:
            workspace.tables.empty(damage.name, damage.venue_id)
        elif damage.held is Held.TABLE:
            workspace.tables.set_log_aside(damage.name, workspace.folder / ASIDE)
    done = [damage for damage in damages if damage.held is not Held.DATABASE]
    fetched = [damage for damage in done if damage.held is Held.FILE or damage.source.startswith("http")]
    return Repair(
        set_aside=done,
        harvest=sorted({str(damage.venue_id) for damage in fetched}),
        imported=sorted({damage.source for damage in done if damage.stored and damage not in fetched}),
        build=bool(done),
        has_new_key=not has_key,
    )

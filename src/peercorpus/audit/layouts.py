"""Read the papers to audit from other datasets' folders: PeerRead, NLPeer, texts with a table of decisions."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from peercorpus.audit.papers import AuditSource, SourceRecord
from peercorpus.errors import TableError
from peercorpus.importers.datasets import find_folders
from peercorpus.importers.reader import PaperParts, Source, StatedPaper
from peercorpus.records.enums import Status

UNUSABLE = (ArithmeticError, AttributeError, KeyError, TypeError, ValueError, OSError, msgspec.DecodeError)
"""Exceptions that reading a damaged file, or one of another structure, may raise."""
DECIDED = {Status.ACCEPTED: "accepted", Status.REJECTED: "rejected"}


def layout_source(path: Path) -> AuditSource | None:
    """Return the papers of a folder in one of these layouts; None if it is in none of them.

    Raises:
        TableError: A file is damaged.
    """
    files = sorted(inner for inner in path.rglob("*") if inner.is_file()) if path.is_dir() else []
    try:
        layouts = [*find_folders(files)]
    except (ValueError, OSError) as error:
        raise _damaged(path, error) from None
    if not layouts:
        return None

    def entries() -> Iterator[SourceRecord]:
        for layout in layouts:
            yield from _read(layout)

    taken = {inner for layout in layouts for inner in layout.files}
    others = tuple(inner.relative_to(path).as_posix() for inner in files if inner not in taken)
    names = ", ".join(sorted({layout.reader.dataset.value for layout in layouts}))
    return AuditSource(path.resolve().name, f"texts of {names}", f"decisions of {names}", entries, None, others)


def _read(layout: Source) -> Iterator[SourceRecord]:
    """Yield the papers of a layout.

    Raises:
        TableError: A file is damaged.
    """
    try:
        for record in layout.records():
            body = msgspec.json.decode(record.body, type=PaperParts)  # Empty if it cannot be read.
            stated = layout.reader.read(body.parts)
            decision = stated.decision or DECIDED.get(stated.status or _read_label(stated))
            yield SourceRecord(body.paper_id or None, stated.text, decision, {})
    except UNUSABLE as error:
        raise _damaged(layout.root, error) from None


def _damaged(path: Path, error: Exception) -> TableError:
    what = "one of its files is damaged or has an unexpected structure"
    return TableError(f"'{path.name}' cannot be read: {what} ({type(error).__name__}).")


def _read_label(stated: StatedPaper) -> Status:
    """Return what a dataset itself uses as the decision if it knows none, as PeerRead does for arXiv papers."""
    label = stated.extra.get("accepted")
    return (Status.ACCEPTED if label else Status.REJECTED) if isinstance(label, bool) else Status.UNKNOWN

"""PDFs to read: one that is named, or all below a folder or the prefix of a store."""

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from peercorpus.errors import PeercorpusError
from peercorpus.store import Place, S3Path, fail


def find_pdfs(place: Place) -> Iterator[Place]:
    """The file named, or every `*.pdf` below the folder or prefix named, as they are listed; hidden ones are left out.

    Raises:
        PeercorpusError: There is nothing there.
        OSError: A folder or a bucket cannot be read.
    """
    if isinstance(place, S3Path):
        yield from _stored_pdfs(place)
    elif place.is_dir():
        yield from _pdfs_below(place)
    elif place.exists():
        yield place
    else:
        raise PeercorpusError(f"'{place}' does not exist; name a PDF, or a folder that holds some.")


def _stored_pdfs(place: S3Path) -> Iterator[S3Path]:
    if place.key and place.exists():
        yield place
        return
    is_empty, above = True, len(PurePosixPath(place.key).parts)
    for found in place.walk():
        is_empty = False
        parts = PurePosixPath(found.key).parts[above:]
        if found.name.lower().endswith(".pdf") and not any(part.startswith(".") for part in parts):
            yield found
    if is_empty:
        raise PeercorpusError(f"There is nothing at '{place}'; name an object, or what the keys of several begin with.")


def _pdfs_below(folder: Path) -> Iterator[Path]:
    for where, folders, files in os.walk(folder, onerror=fail):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(where, name)
            if name.lower().endswith(".pdf") and not name.startswith(".") and (path.is_file() or path.is_symlink()):
                yield path

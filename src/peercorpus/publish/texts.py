"""The texts of a venue that may be published, by the hash of their file."""

import tempfile
from pathlib import Path
from types import TracebackType

from peercorpus.kinds import PUBLISHABLE_GRADES
from peercorpus.links.shelf import Shelf
from peercorpus.records import PaperVersion
from peercorpus.tables import Tables


def is_publishable(version: PaperVersion) -> bool:
    """Whether a version is known to be the one the reviewers read; a later PDF never is."""
    return version.is_initial and version.grade in PUBLISHABLE_GRADES and version.sha256 is not None


class Texts(Shelf):
    """Texts of a venue's publishable files; use it as a context manager."""

    def __init__(self, tables: Tables, venue_id: str, scratch: Path) -> None:
        versions = tables.read(PaperVersion, venue_id)
        wanted = {version.sha256 for version in versions if version.sha256 is not None and is_publishable(version)}
        self._file = tempfile.TemporaryFile(dir=scratch)  # noqa: SIM115 -- closed by __exit__
        super().__init__(self._file, tables, venue_id, wanted)

    def __enter__(self) -> "Texts":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()

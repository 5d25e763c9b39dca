"""The pairs in a folder of converted PDFs: `NAME.md`, the text, and `NAME.json`, its measures.

The text of a pair is renamed into its place last, after the JSON that tells of it, and a text that it replaces is taken
away first: after a kill at any instant a text that is there is the one its JSON tells of.
"""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from peercorpus.errors import PeercorpusError
from peercorpus.file_records import TextHeading, TextQuality
from peercorpus.kinds import Reason
from peercorpus.store import PARTIAL, Place, write_whole
from peercorpus.texts.engine import Converted

CONVERTED, FAILED = "converted", "failed"


@dataclass(frozen=True, slots=True)
class Measures:
    """What `NAME.json` tells of one PDF.

    Attributes:
        source: The name of the PDF, without its folders.
        path: Where it lay, as seen from the folder of the pair; the whole address where one of the two is in a store.
        sha256: Of its content; None where it could not be opened.
        page_marks: Whether the Markdown shows where pages end.
        status: "converted" or "failed".
        reason: Why there is no Markdown, and `detail`, a sentence of it; None where there is.
        pages: Number of pages; this and all that follows is None where there is no Markdown.
        characters: Of all pages, the marks between them not counted.
        figures: The text inside figures, which is not in the Markdown; one entry for each page that has any.
        ocr_pages: Pages whose text was recognised from their image, from 1.
        heavier_pages: Pages that the engine `auto` had read by a heavier engine, from 1.
        seconds: How long it took to read.
    """

    source: str
    path: str
    sha256: str | None
    engine: str
    engine_version: str
    page_marks: bool
    status: str = FAILED
    reason: Reason | None = None
    detail: str | None = None
    pages: int | None = None
    characters: int | None = None
    headings: tuple[TextHeading, ...] | None = None
    quality: TextQuality | None = None
    problems: tuple[str, ...] | None = None
    figures: tuple[str, ...] | None = None
    ocr_pages: tuple[int, ...] | None = None
    heavier_pages: tuple[int, ...] | None = None
    seconds: float | None = None

    def failed(self, reason: Reason, detail: str) -> "Measures":
        """The same PDF, which did not become text."""
        return replace(self, status=FAILED, reason=reason, detail=detail)

    def converted(self, found: Converted, seconds: float | None) -> "Measures":
        """The same PDF, which became text."""
        return replace(
            self,
            status=CONVERTED,
            pages=found.pages,
            characters=found.characters,
            headings=found.headings,
            quality=found.quality,
            problems=found.problems,
            figures=found.figures,
            ocr_pages=found.ocr_pages,
            heavier_pages=found.heavier_pages,
            seconds=None if seconds is None else round(seconds, 3),
        )


class Pairs:
    """The pairs of one folder that this run alone writes to."""

    def __init__(self, folder: Place) -> None:
        self.folder = folder

    def has_text(self, name: str) -> bool:
        """Whether there is a text of this name."""
        return (self.folder / f"{name}.md").is_file()

    def retell(self, name: str, path: str) -> None:
        """Say that the PDF of a pair lies elsewhere now."""
        place = self.folder / f"{name}.json"
        told = msgspec.json.decode(place.read_bytes()) | {"path": path}
        write_whole(place, msgspec.json.format(msgspec.json.encode(told)) + b"\n")

    def write(self, name: str, measures: Measures, text: str | None) -> None:
        """Write a pair in place of an earlier one; where there is no text, its JSON alone."""
        told = msgspec.json.format(msgspec.json.encode(_plain(measures))) + b"\n"
        place = self.folder / f"{name}.md"
        place.unlink(missing_ok=True)
        write_whole(self.folder / f"{name}.json", told)
        if text is not None:
            write_whole(place, f"{text}\n".encode())


def _plain(measures: Measures) -> Measures:
    """The same, its PDF's name as any reader of JSON can take it: a byte that is no UTF-8 becomes a question mark."""
    return replace(measures, source=measures.source.encode(errors="replace").decode())


def path_from(folder: Place, source: Place) -> str:
    """Where a PDF lies, as seen from a folder, so that both can be moved together; bytes that are no UTF-8 escaped.

    >>> path_from(Path("/data/texts"), Path("/data/pdfs/one.pdf"))
    '../pdfs/one.pdf'
    """
    if not isinstance(source, Path):
        return str(source)
    path = os.path.relpath(source, folder) if isinstance(folder, Path) else os.path.abspath(source)  # noqa: PTH100 -- links stay
    return os.fsencode(path).decode(errors="backslashreplace")


@contextmanager
def open_pairs(folder: Place) -> Iterator[Pairs]:
    """Hold a folder alone, and see that it can be written to; made where it is not there.

    What is in a store cannot be held.

    Raises:
        PeercorpusError: It is a file, or another run is writing to it.
        OSError: It cannot be written to.
    """
    if not isinstance(folder, Path):
        _try_to_write(folder)
        yield Pairs(folder)
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise PeercorpusError(f"'{folder}' is a file, or lies in one; name a folder with --out.") from None
    held = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PeercorpusError(
                f"Another run is writing to '{folder}'; wait until it ends, or stop it, then try again."
            ) from None
        for partial in folder.glob(f".*{PARTIAL}"):
            partial.unlink(missing_ok=True)
        _try_to_write(folder)
        yield Pairs(folder)
    finally:
        os.close(held)


def _try_to_write(folder: Place) -> None:
    """Write nothing and leave nothing: better to fail now than after an hour.

    Raises:
        OSError: It cannot be written to.
    """
    if isinstance(folder, Path):
        tempfile.TemporaryFile(dir=folder).close()
        return
    trial = folder / f".trial{PARTIAL}"
    trial.write_bytes(b"")
    trial.unlink(missing_ok=True)

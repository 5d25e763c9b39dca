"""Write pairs of `NAME.md` and `NAME.json` to a folder of converted PDFs, and choose their names.

On request, a third file `NAME.tex` has the text as LaTeX, and the folder `NAME-figures` the images.
"""

import hashlib
import os
import re
import tempfile
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from peercorpus.errors import PeercorpusError
from peercorpus.records.blocks import FigureImage, TextBlock
from peercorpus.texts.text_json import Measures, StoredPair, compute_markdown_sha256, format_measures, read_stored
from peercorpus.workspace.object_store import Location, list_below, write_whole
from peercorpus.workspace.private_files import PARTIAL, name_final

if TYPE_CHECKING:
    from peercorpus.latex.document import LatexText

LOCK = ".peercorpus.lock"
_MAX_LABEL_CHARACTERS = 40
_IMAGE_NAME = re.compile(r"\d{2,}-[a-z0-9-]+\.webp")
"""Matches results of `name_image`; other files in the folder of images are not ours."""


class FilePairs:
    """The pairs of files in one folder, which only this run writes to."""

    def __init__(self, folder: Location) -> None:
        self.folder = folder

    def has_text(self, name: str) -> bool:
        """Return whether there is a text of this name."""
        return (self.folder / f"{name}.md").is_file()

    def replace_path(self, name: str, path: str) -> None:
        """Replace the path of the PDF in the JSON of a pair."""
        self._replace(name, {"path": path})

    def _replace(self, name: str, values: Mapping[str, object]) -> None:
        json_path = self.folder / f"{name}.json"
        content = msgspec.json.decode(json_path.read_bytes()) | msgspec.to_builtins(values)
        write_whole(json_path, format_measures(content))

    @staticmethod
    def name_image_folder(name: str) -> str:
        """Return the name of the folder with the images of a pair."""
        return f"{name}-figures"

    def check_image_folder(self, name: str) -> None:
        """Raise a PeercorpusError if a file has the name of the folder for the images of a pair."""
        folder = self.folder / self.name_image_folder(name)
        if isinstance(folder, Path) and folder.exists() and not folder.is_dir():
            raise PeercorpusError(
                f"'{folder}' is a file, but the images need a folder of this name; move it, or name another folder"
                " with --out."
            )

    def _find_images(self, name: str) -> dict[str, Location]:
        folder = self.folder / self.name_image_folder(name)
        if isinstance(folder, Path) and not folder.is_dir():
            return {}
        return {
            f"{folder.name}/{path.name}": path
            for path, _ in list_below(folder)
            if path.parent == folder and _IMAGE_NAME.fullmatch(name_final(path.name))
        }

    def has_images(self, name: str, made_with: str) -> bool:
        """Return whether the images of a pair exist, made with the same code and limits."""
        stored = read_stored(self.folder / f"{name}.json")
        if stored.images is None or stored.images_made_with != made_with:
            return False
        files = {image.file for image in stored.images if image.file is not None}
        return not files or files <= self._find_images(name).keys()

    def read_blocks(self, name: str) -> tuple[TextBlock, ...]:
        """Return the blocks in the JSON of a pair; empty if its engine reports none."""
        return read_stored(self.folder / f"{name}.json").read_blocks() or ()

    def write_images(
        self, name: str, images: Mapping[str, bytes], figures: Sequence[FigureImage], made_with: str
    ) -> None:
        """Write the images of a pair by file name, then their list in its JSON, replacing earlier ones."""
        folder = self.folder / self.name_image_folder(name)
        self._replace(name, {"images": None, "images_made_with": None})
        self._remove_images(name)
        if images and isinstance(folder, Path):
            folder.mkdir(exist_ok=True)
        for file_name, image in images.items():
            write_whole(folder / file_name, image)
        self._replace(name, {"images": figures, "images_made_with": made_with})

    def _remove_images(self, name: str) -> None:
        folder = self.folder / self.name_image_folder(name)
        for path in self._find_images(name).values():
            path.unlink(missing_ok=True)
        if isinstance(folder, Path) and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()

    def _read_latex_start(self, name: str) -> bytes:
        path = self.folder / f"{name}.tex"
        return path.read_bytes().partition(b"\n")[0] if path.is_file() else b""

    def _remove_latex(self, name: str) -> None:
        first = self._read_latex_start(name)
        if not first:
            return
        from peercorpus.latex.document import MARK

        if first.startswith(MARK.encode()):
            (self.folder / f"{name}.tex").unlink()

    def check_latex(self, name: str) -> bool:
        """Return whether the LaTeX of a text exists, written by this version of `peercorpus.latex`.

        Raises:
            PeercorpusError: `NAME.tex` was not written by peercorpus.
        """
        from peercorpus.latex.document import MARK, VERSION

        first = self._read_latex_start(name)
        if not first.startswith(MARK.encode()) and (self.folder / f"{name}.tex").is_file():
            raise PeercorpusError(
                f"'{self.folder / f'{name}.tex'}' was not written by peercorpus; move it, or name another folder with"
                " --out."
            )
        return first == f"{MARK}{VERSION}.".encode()

    def write_latex(self, name: str) -> "LatexText":
        """Write `NAME.tex` from the Markdown of a pair, replacing an earlier one."""
        from peercorpus.latex.document import write_latex

        written = write_latex((self.folder / f"{name}.md").read_bytes().decode())
        write_whole(self.folder / f"{name}.tex", written.latex.encode())
        return written

    def write(self, name: str, measures: Measures, text: str | None) -> None:
        """Write a pair, replacing an earlier one; only the JSON if there is no text."""
        # JSON must be valid UTF-8, so other bytes of a file name become question marks.
        source = measures.source.encode(errors="replace").decode()
        markdown = None if text is None else f"{text}\n"
        digest = None if markdown is None else compute_markdown_sha256(markdown)
        content = format_measures(msgspec.to_builtins(replace(measures, source=source, markdown_sha256=digest)))
        text_path = self.folder / f"{name}.md"
        text_path.unlink(missing_ok=True)
        self._remove_latex(name)
        self._remove_images(name)
        write_whole(self.folder / f"{name}.json", content)
        if markdown is not None:
            write_whole(text_path, markdown.encode())


def name_image(number: int, label: str, ending: str) -> str:
    """Return a file name that is safe for any label of a caption.

    >>> name_image(3, "Table A.1", "webp")
    '03-table-a-1.webp'
    """
    words = re.sub(r"[^a-z0-9]+", "-", label.lower())[:_MAX_LABEL_CHARACTERS].strip("-")
    return f"{number:02d}-{words}.{ending}"


def path_from(folder: Location, source: Location) -> str:
    """Return the path of a PDF relative to a folder, so that both can be moved together; invalid UTF-8 is escaped.

    >>> path_from(Path("/data/texts"), Path("/data/pdfs/one.pdf"))
    '../pdfs/one.pdf'
    """
    if not isinstance(source, Path):
        return str(source)
    path = os.path.relpath(source, folder) if isinstance(folder, Path) else os.path.abspath(source)  # noqa: PTH100 -- links stay
    return os.fsencode(path).decode(errors="backslashreplace")


@contextmanager
def open_pairs(folder: Location) -> Iterator[FilePairs]:
    """Lock a folder for this run and make sure that it is writable; create it if missing.

    A prefix in an object store is not locked.

    Raises:
        PeercorpusError: The path is a file, or another run is writing to the folder.
        OSError: The folder is not writable.
    """
    if not isinstance(folder, Path):
        _try_to_write(folder)
        yield FilePairs(folder)
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise PeercorpusError(f"'{folder}' is a file, or inside one; name a folder with --out.") from None
    with ExitStack() as until_done:
        try:
            _lock(folder, until_done)
        except (BlockingIOError, TimeoutError):
            raise PeercorpusError(
                f"Another run is writing to '{folder}'; wait until it ends, or stop it, then try again."
            ) from None
        for partial in folder.glob(f".*{PARTIAL}"):
            partial.unlink(missing_ok=True)
        _try_to_write(folder)
        yield FilePairs(folder)


def _lock(folder: Path, until_done: ExitStack) -> None:
    """Lock the folder itself, so that no lock file is left in it; on Windows, a file in it."""
    try:
        import fcntl
    except ImportError:  # Windows
        from filelock import FileLock

        until_done.enter_context(FileLock(folder / LOCK, timeout=0, thread_local=False))
        return
    opened = os.open(folder, os.O_RDONLY)
    until_done.callback(os.close, opened)
    fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _try_to_write(folder: Location) -> None:
    """Create and remove an empty file, so that an unwritable folder fails now and not after an hour."""
    if isinstance(folder, Path):
        tempfile.TemporaryFile(dir=folder).close()
        return
    trial = folder / f".trial{PARTIAL}"
    trial.write_bytes(b"")
    trial.unlink(missing_ok=True)


MAX_NAME_BYTES = 150
"""Maximum bytes of a name without its ending: file systems allow 255, and a SHA-256 may be appended."""

UNFIT = re.compile("[\x00-\x1f\x7f/\\\\\ud800-\udfff]")
"""Matches characters that a file name should not contain; Python reads bytes that are not UTF-8 as surrogates."""


def fit_name(stem: str) -> str:
    r"""Return a file name that is valid on any file system, at most 150 bytes long.

    >>> fit_name("paper"), fit_name("a\nb"), len(fit_name("é" * 300).encode())
    ('paper', 'a_b', 150)
    """
    name = UNFIT.sub("_", stem).encode()[:MAX_NAME_BYTES].decode(errors="ignore").strip(" ")
    return name or "_"


@dataclass(frozen=True, slots=True)
class FolderPdf:
    """A PDF, and the name of the files made from it once it has one; `sha256` is None if it cannot be opened."""

    source: Location
    path: str
    sha256: str | None
    name: str = ""

    @property
    def digest(self) -> str:
        """SHA-256 of its content, or of its path if it cannot be opened."""
        return self.sha256 or hashlib.sha256(self.path.encode()).hexdigest()


class FolderNames:
    """The names in one folder: those in use, and those assigned in this run."""

    def __init__(self, folder: Location) -> None:
        self._folder = folder
        self._digests: dict[str, str] = {}
        self._read: dict[str, StoredPair | None] = {}

    def read(self, name: str) -> StoredPair | None:
        """Return the data that an earlier run wrote under this name; None if there are none, or they are unreadable."""
        if name not in self._read:
            try:
                self._read[name] = read_stored(self._folder / f"{name}.json")
            except (FileNotFoundError, msgspec.DecodeError, UnicodeDecodeError):
                self._read[name] = None
        return self._read[name]

    def give(self, pdfs: Sequence[FolderPdf]) -> list[tuple[FolderPdf, bool]]:
        """Return each PDF with its name, and whether this run has already assigned that to the same content.

        A PDF keeps its name even if its content has changed; others are named in the order of their paths.
        """
        names = {pdf.path: (name, False) for pdf in pdfs if (name := self._find_kept_name(pdf)) is not None}
        for pdf in sorted(pdfs, key=lambda pdf: pdf.path):
            if pdf.path not in names:
                names[pdf.path] = self._find_free_name(pdf)
        paths_named: set[str] = set()
        named: list[tuple[FolderPdf, bool]] = []
        for pdf in pdfs:
            name, was_given = names[pdf.path]
            named.append((replace(pdf, name=name), was_given or pdf.path in paths_named))
            paths_named.add(pdf.path)
        return named

    def _find_kept_name(self, pdf: FolderPdf) -> str | None:
        for name in _propose_names(pdf):
            earlier = self.read(name)
            if earlier is not None and earlier.path == pdf.path and _fold_name(name) not in self._digests:
                self._digests[_fold_name(name)] = pdf.digest
                return name
        return None

    def _find_free_name(self, pdf: FolderPdf) -> tuple[str, bool]:
        for name in _propose_names(pdf)[:-1]:
            if _fold_name(name) in self._digests:
                if self._digests[_fold_name(name)] == pdf.digest:
                    return name, True
            elif self._is_free(name, pdf.digest):
                self._digests[_fold_name(name)] = pdf.digest
                return name, False
        name = _propose_names(pdf)[-1]
        self._digests[_fold_name(name)] = pdf.digest
        return name, False

    def _is_free(self, name: str, digest: str) -> bool:
        earlier = self.read(name)
        if earlier is not None:
            return earlier.sha256 == digest
        return not any((self._folder / f"{name}{ending}").exists() for ending in (".json", ".md"))


def _propose_names(pdf: FolderPdf) -> tuple[str, str, str]:
    stem = fit_name(pdf.source.stem)
    path_digest = hashlib.sha256(pdf.path.encode()).hexdigest()
    return stem, f"{stem}-{path_digest[:8]}", f"{stem}-{path_digest}"


def _fold_name(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()

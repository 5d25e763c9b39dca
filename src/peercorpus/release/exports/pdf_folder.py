"""Copy the PDFs that reviewers read into a folder, under readable names, with a table of them.

A name is made from the conference, the year, the forum id and words of the title, using only ASCII letters, digits, `-`
and `_`, so that it is valid on every file system and OpenReview's texts cannot choose a path.
"""

import csv
import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from peercorpus.corpus.initial_pdfs import InitialPdf, NoPdf, PdfList
from peercorpus.errors import PeercorpusError, UnreadablePdfError
from peercorpus.execution.progress import Meter, Show, show_nothing
from peercorpus.records.enums import Grade
from peercorpus.records.papers import Paper
from peercorpus.release.folder import lock_folder
from peercorpus.wording.untrusted_text import escape_csv_cell
from peercorpus.workspace.object_store import file_digest, read_pdf
from peercorpus.workspace.workspace import Workspace

TABLE = "pdfs.csv"
"""File beside the PDFs with a row for each paper."""
COLUMNS = ("file", "forum_id", "venue_id", "title", "grade", "version_at", "sha256", "licence", "left_out")
_PARTIAL = "partial.pdf.part"
_MOST_TITLE = 60
_MOST_ID = 40
_PLAIN_ID = re.compile(r"[A-Za-z0-9_-]*")
_SAFE_NAME = re.compile(r"[A-Za-z0-9_-]{1,160}\.pdf")
"""Matches names made by `name_files`; only such files of an earlier run are replaced or removed."""


@dataclass(slots=True)
class PdfFolder:
    """Counts of a folder of PDFs.

    Attributes:
        grades: Files in the folder, by grade.
        new: Files written by this run; the others were there already.
        removed: Files of an earlier run that are no longer chosen.
        left_out: Papers without a file, by reason.
    """

    grades: Counter[Grade] = field(default_factory=Counter)
    new: int = 0
    removed: int = 0
    left_out: Counter[NoPdf] = field(default_factory=Counter)
    taken_down: int = 0


def _slug(text: str, longest: int) -> str:
    """Return the words of a text in ASCII, joined by "-", with at most `longest` characters; empty if it has none.

    >>> _slug("Naïve Bayes: is it *really* naïve?", 20), _slug("../../etc/passwd", 60), _slug("深度学习", 60)
    ('naive-bayes-is-it', 'etc-passwd', '')
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    joined = "-".join(re.findall(r"[a-z0-9]+", plain.replace("'", "")))
    return joined if len(joined) <= longest else joined[: longest + 1].rpartition("-")[0] or joined[:longest]


def _name_id(forum_id: str) -> str:
    """Return a forum id as part of a file name; an unusual id gets its digest appended."""
    safe = re.sub(r"[^A-Za-z0-9_-]", "-", forum_id)[:_MOST_ID]
    return safe if safe == forum_id else f"{safe}-{hashlib.sha256(forum_id.encode()).hexdigest()[:8]}"


def name_files(pdfs: Iterable[InitialPdf]) -> list[str]:
    """Return the file name of each PDF: `ICLR2024_<forum id>_words-of-the-title.pdf`.

    Names that differ only by case would be the same file on some file systems, so the later ones get a digest.
    """
    names, used = [], set[str]()
    for pdf in pdfs:
        conference = _slug(pdf.conference, 20).upper() or "PAPER"
        parts = [f"{conference}{pdf.year or ''}", _name_id(pdf.forum_id), _slug(pdf.title or "", _MOST_TITLE)]
        name = "_".join(filter(None, parts))
        if name.lower() in used:
            name = f"{name}-{hashlib.sha256(pdf.forum_id.encode()).hexdigest()[:8]}"
        used.add(name.lower())
        names.append(f"{name}.pdf")
    return names


def write_pdf_folder(
    workspace: Workspace, listed: PdfList, folder: Path, *, link: bool = False, show: Show = show_nothing
) -> PdfFolder:
    """Write the listed PDFs to a folder, with `pdfs.csv`; intact files already there are kept.

    Afterwards the folder contains only the listed PDFs: files of an earlier run that are not listed are removed.

    Args:
        workspace: The workspace of the PDFs.
        listed: The PDFs.
        folder: An empty or new folder, or one written by an earlier run.
        link: Make symbolic links to the workspace's files instead of copies.
        show: Receives the number of files done.

    Raises:
        PeercorpusError: The folder contains other files, cannot be written, or is written by another run; or links are
            requested and the files are in an object store.
        StoreError: The store fails or refuses the request.
    """
    if link and not isinstance(workspace.files.folder, Path):
        raise PeercorpusError(
            f"The files of '{workspace.folder}' are in an object store, which links cannot point to; leave out --link."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with lock_folder(folder, folder):
            earlier = _read_earlier(folder)
            return _write(workspace, listed, folder, earlier, link=link, show=show)
    except OSError as error:
        raise PeercorpusError(f"'{folder}' cannot be written: {error.strerror}.") from None


def _write(
    workspace: Workspace, listed: PdfList, folder: Path, earlier: Sequence[str], *, link: bool, show: Show
) -> PdfFolder:
    names = name_files(listed.pdfs)
    without = [_row_without(paper, reason, grade) for paper, reason, grade in listed.without]
    # The table comes first: if this run is interrupted, the next one sees in it which files are ours.
    rows = [_row(pdf, name) for pdf, name in zip(listed.pdfs, names, strict=True)]
    _write_table(folder, [*rows, *without, *({"file": name} for name in earlier if name not in names)])
    counts = PdfFolder(left_out=listed.reasons, taken_down=listed.taken_down)
    for name in set(earlier) - set(names):
        counts.removed += (folder / name).is_file()
        (folder / name).unlink(missing_ok=True)
    meter = Meter(workspace.folder.resolve().name, "copying PDFs", show)
    for done, (pdf, name) in enumerate(zip(listed.pdfs, names, strict=True)):
        try:
            counts.new += _put(workspace, pdf, folder / name, link=link)
            counts.grades[pdf.grade] += 1
        except UnreadablePdfError:
            (folder / name).unlink(missing_ok=True)
            counts.left_out[NoPdf.UNREADABLE] += 1
            rows[done] |= {"file": "", "left_out": NoPdf.UNREADABLE.value}
        meter.report(done + 1, len(names))
    _write_table(folder, [*rows, *without])
    return counts


def _read_earlier(folder: Path) -> list[str]:
    """Return the names of the files that an earlier run wrote or began to write.

    Raises:
        PeercorpusError: The folder contains other files and no table of an earlier run.
    """
    (folder / _PARTIAL).unlink(missing_ok=True)
    table = folder / TABLE
    if not table.is_file():
        if any(folder.iterdir()):
            raise PeercorpusError(f"'{folder}' contains other files and no {TABLE}; name an empty or a new folder.")
        return []
    with table.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            raise PeercorpusError(f"'{table}' was not written by this command; name an empty or a new folder.")
        names = [row.get("file") or "" for row in reader]
    return [name for name in names if _SAFE_NAME.fullmatch(name)]


def _row(pdf: InitialPdf, name: str) -> dict[str, str]:
    return {
        "file": name,
        "forum_id": pdf.forum_id,
        "venue_id": pdf.venue_id,
        "title": pdf.title or "",
        "grade": pdf.grade.value,
        "version_at": pdf.created_at.isoformat() if pdf.created_at else "",
        "sha256": pdf.sha256,
        "licence": pdf.licence or "",
    }


def _row_without(paper: Paper, reason: NoPdf, grade: Grade | None) -> dict[str, str]:
    stated = {"forum_id": paper.forum_id, "venue_id": paper.venue_id, "title": paper.title or ""}
    return stated | {"grade": grade.value if grade else "", "licence": paper.licence or "", "left_out": reason.value}


def _write_table(folder: Path, rows: Iterable[Mapping[str, str]]) -> None:
    partial = folder / f"{TABLE}.part"
    partial.unlink(missing_ok=True)
    with partial.open("x", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    partial.replace(folder / TABLE)


def _cell(text: str) -> str:
    """Return a text as a cell that no spreadsheet executes as a formula; an id such as `-aB3` is unchanged."""
    return text if _PLAIN_ID.fullmatch(text) else escape_csv_cell(text)


def _put(workspace: Workspace, pdf: InitialPdf, path: Path, *, link: bool) -> bool:
    """Write one file, completely or not at all; return False if it already existed."""
    source = workspace.files.path(pdf.sha256)
    if path.is_file() and path.is_symlink() is link and file_digest(path) == pdf.sha256:
        return False
    content = read_pdf(source, pdf.sha256)
    partial = path.with_name(_PARTIAL)
    if link and isinstance(source, Path):
        partial.symlink_to(source.resolve())
    else:
        partial.write_bytes(content)
    partial.replace(path)
    return True

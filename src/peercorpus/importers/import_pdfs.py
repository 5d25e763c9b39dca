"""Import PDFs that a user already has, from a folder, and assign each to the version of a paper that it is.

A file is named after a forum, an edit or a reference, or is listed in a CSV file of the folder. Names are only
compared, with each other and with ids: they never become part of a path.
"""

import csv
import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from peercorpus.errors import DumpError
from peercorpus.openreview.client import MOST_FILE_BYTES, is_pdf, is_whole
from peercorpus.openreview.objects import FILES, Edit, decode_leniently, decode_note, file_path, to_time
from peercorpus.workspace.harvest_state import SUPPLIED, StoredFile, Supplied
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import Workspace

COLUMNS = ("forum_id", "file")
"""Columns that a CSV file must have; `version` and `when` are optional."""

UPLOAD_YEARS = range(2000, 2200)
"""Years in which a PDF may have been uploaded; any other year is mistyped."""

CURRENT = "current"
"""Word for the current PDF of a submission."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One file with its stated paper, version and time.

    Attributes:
        paper: Id of a forum, of an author's own note, or of an edit.
        version: Id of an edit, OpenReview's path of a PDF, `current`, or any other words; empty if not stated.
        when: When the version was uploaded; None if not stated.
    """

    name: str
    paper: str
    version: str = ""
    when: datetime | None = None


@dataclass(slots=True)
class PdfImport:
    """Result of an import of PDFs.

    Attributes:
        tied: Number of files that are a version known to the workspace.
        own: Number of files that became new versions.
        known: Number of files that the workspace already had.
        aside: One sentence on each file that was not imported, naming it.
    """

    tied: int = 0
    own: int = 0
    known: int = 0
    aside: list[str] = field(default_factory=list)

    @property
    def taken(self) -> int:
        """Return the number of these files that are now in the workspace."""
        return self.tied + self.own + self.known

    def leave_out(self, name: str, problem: str) -> None:
        """Add the sentence on a file that was not imported."""
        self.aside.append(f"'{name}' was set aside: {problem}.")


_Claim = tuple[str, StoredFile]
"""The name of a file of the folder, and the version that it is."""


@dataclass(slots=True)
class _Paper:
    """The known PDFs of a submission: edit (the forum's id for the current PDF), path and time."""

    forum_id: str
    venue_id: str
    pdfs: list[tuple[str, str, datetime | None]] = field(default_factory=list)


def import_pdfs(workspace: Workspace, folder: Path) -> PdfImport:
    """Store the PDFs of a folder and assign them to the versions of papers.

    A file named after an edit belongs to that edit. One named after a forum is the paper's PDF if the workspace knows
    exactly one; otherwise it becomes a new version, because it is unknown which one it is.

    Raises:
        DumpError: The folder cannot be read, its CSV files are not as expected, or none of its files can be imported.
    """
    found = PdfImport()
    if not folder.is_dir():
        raise DumpError(f"'{folder}' is not a folder; name one that contains PDFs.")
    inside = sorted(folder.iterdir())
    files = {inner.name: inner for inner in inside if inner.is_file() and not inner.is_symlink()}
    table = _find_table(folder, files)
    listed = [*_read_table(files[table])] if table else [Listed(name, Path(name).stem) for name in files]
    papers = _read_papers(workspace)
    claims = [claim for one in listed if (claim := _place(one, files, papers, found)) is not None]
    for inner in inside:
        if inner.name not in files:
            found.leave_out(inner.name, "it is a link or a folder, not a file")
    for name in sorted(files.keys() - {one.name for one in listed} - {table}) if table else ():
        found.leave_out(name, f"'{table}' does not list it")
    held = _read_held(workspace, {stored.venue_id for _, stored in claims})
    with workspace.raw.transaction():
        for name, stored in _drop_rivals(claims, found):
            _keep(workspace, files[name], stored, held, found)
    if not found.taken:
        first, *others = found.aside or ["it contains no file that ends in .pdf."]
        more = f" {len(others):,} more {'was' if len(others) == 1 else 'were'} set aside." if others else ""
        raise DumpError(f"No PDF in '{folder}' was imported: {first}{more}")
    return found


def _find_table(folder: Path, files: Iterable[str]) -> str | None:
    tables = [name for name in files if name.lower().endswith(".csv")]
    if len(tables) > 1:
        raise DumpError(
            f"'{folder}' contains several CSV files ({', '.join(tables)}); keep the one that lists the PDFs."
        )
    return tables[0] if tables else None


def _read_table(path: Path) -> Iterator[Listed]:
    try:
        rows = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig")), strict=True)
        missing = [name for name in COLUMNS if name not in (rows.fieldnames or ())]
        if missing:
            raise DumpError(f"'{path.name}' lacks the column '{missing[0]}'; it needs forum_id and file.")
        number = 1
        for number, row in enumerate(rows, 2):
            yield Listed(
                (row["file"] or "").strip(),
                (row["forum_id"] or "").strip(),
                (row.get("version") or "").strip(),
                _read_time(path.name, number, (row.get("when") or "").strip()),
            )
    except (UnicodeDecodeError, csv.Error) as error:
        raise DumpError(f"'{path.name}' is not a CSV file in UTF-8: {error}.") from None
    if number == 1:
        raise DumpError(f"'{path.name}' lists no file; add a line for each PDF.")


def _read_time(name: str, number: int, text: str) -> datetime | None:
    """Return a time in UTC; one without a time zone is assumed to be in UTC."""
    if not text:
        return None
    try:
        read = datetime.fromisoformat(text)
        time = read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
    except (ValueError, OverflowError):
        time = None
    if time is None or time.year not in UPLOAD_YEARS:
        raise DumpError(f"'{name}', line {number}: '{text}' is not an upload time; write it as 2019-09-25T18:00:00Z.")
    return time


def _read_papers(workspace: Workspace) -> dict[str, list[tuple[_Paper, str | None]]]:
    """Return, by every id that can name them, the papers and the edit that is meant."""
    named: dict[str, list[tuple[_Paper, str | None]]] = {}
    for venue_id in workspace.raw.venues():
        papers = {forum_id: _Paper(forum_id, venue_id) for forum_id in workspace.raw.roots(venue_id)}
        for kind in (RawKind.REFERENCE, RawKind.EDIT, RawKind.NOTE):
            for stored in workspace.raw.latest(kind, venue_id):
                paper = papers.get(stored.forum_id)
                subject_id = stored.object_id if kind is RawKind.NOTE else stored.subject_id
                if paper is None or subject_id != stored.forum_id:
                    continue
                note = decode_note(kind, stored.body)
                path = file_path(note, "pdf")
                if path is not None and path.startswith(FILES):
                    made = decode_leniently(Edit, stored.body).tcdate if kind is RawKind.EDIT else note.tcdate
                    time = None if kind is RawKind.NOTE else to_time(made)
                    paper.pdfs.append((stored.object_id, path, time))
                if kind is not RawKind.NOTE:
                    named.setdefault(stored.object_id, []).append((paper, stored.object_id))
                elif note.original:
                    named.setdefault(note.original, []).append((paper, None))
        for forum_id, paper in papers.items():
            named.setdefault(forum_id, []).insert(0, (paper, None))
    return named


def _read_held(workspace: Workspace, venue_ids: set[str]) -> dict[tuple[str, str], str]:
    return {
        (stored.forum_id, stored.path): stored.sha256
        for venue_id in sorted(venue_ids)
        for stored in workspace.raw.state.files(venue_id)
        if stored.sha256 is not None and workspace.files.has(stored.sha256)
    }


def _place(
    listed: Listed,
    files: Mapping[str, Path],
    papers: Mapping[str, Sequence[tuple[_Paper, str | None]]],
    found: PdfImport,
) -> _Claim | None:
    """Return the version that a file is, or None if it is set aside."""
    problem, content = _read_pdf(listed.name, files)
    meant = papers.get(listed.paper, ())
    if problem is None and not meant:
        problem = (
            f"the workspace has no submission or edit '{listed.paper}' from OpenReview; harvest or import it first"
        )
    elif problem is None and len({paper.forum_id for paper, _ in meant}) > 1:
        problem = f"'{listed.paper}' names several papers; list the file with its forum_id in a CSV file"
    if problem is not None:
        found.leave_out(listed.name, problem)
        return None
    paper, edit_id = meant[0]
    edit_id, path = _find_version(listed, paper, edit_id)
    sha256 = hashlib.sha256(content).hexdigest()
    return listed.name, StoredFile(edit_id, path, paper.venue_id, paper.forum_id, sha256, len(content), None)


def _read_pdf(name: str, files: Mapping[str, Path]) -> tuple[str | None, bytes]:
    """Return the problem with a file, or None, and its content."""
    path = files.get(name)
    if path is None:
        return "the folder contains no file with that name; name it without folders", b""
    if path.stat().st_size > MOST_FILE_BYTES:
        return f"it is larger than {MOST_FILE_BYTES >> 20} MiB", b""
    content = path.read_bytes()
    if not is_pdf(content):
        return "it is not a PDF", b""
    return (None if is_whole(content) else "it is truncated: it does not end like a PDF; fetch it again"), content


def _find_version(listed: Listed, paper: _Paper, edit_id: str | None) -> tuple[str, str]:
    """Return the edit and path of the version that a file is; those of a new version if it is not a known one."""
    wanted = listed.version or edit_id or ""
    current = [pdf for pdf in paper.pdfs if pdf[0] == paper.forum_id]
    if wanted == CURRENT:
        matching = current
    elif wanted:
        matching = [pdf for pdf in paper.pdfs if wanted in pdf[:2]]
    elif listed.when is not None:
        second = listed.when.replace(microsecond=0)
        matching = [pdf for pdf in paper.pdfs if pdf[2] is not None and pdf[2].replace(microsecond=0) == second]
    else:
        matching = current or paper.pdfs if len({pdf[1] for pdf in paper.pdfs}) == 1 else []
    if matching and len({pdf[1] for pdf in matching}) == 1:
        return matching[0][:2]
    return Supplied(paper.forum_id, listed.when, listed.version).names()


def _keep(
    workspace: Workspace, file: Path, stored: StoredFile, held: dict[tuple[str, str], str], found: PdfImport
) -> None:
    """Store a file, unless the workspace has another one for the same version."""
    before = held.get((stored.forum_id, stored.path))
    if before is not None and before != stored.sha256:
        found.leave_out(file.name, f"the workspace has another file for that version ({stored.edit_id})")
        return
    if workspace.files.add(file.read_bytes()) != stored.sha256:
        raise DumpError(f"'{file.name}' changed while it was imported; run the command again.")
    workspace.raw.state.add_file(stored)
    if before is not None:
        found.known += 1
    elif stored.path.startswith(SUPPLIED):
        found.own += 1
    else:
        found.tied += 1
    held[stored.forum_id, stored.path] = str(stored.sha256)


def _drop_rivals(claims: Sequence[_Claim], found: PdfImport) -> list[_Claim]:
    """Return the claims without repeated ones, and without those of different files for the same version."""
    files: dict[tuple[str, str], set[str | None]] = {}
    for _, stored in claims:
        files.setdefault((stored.forum_id, stored.path), set()).add(stored.sha256)
    left: dict[_Claim, None] = {}
    for name, stored in claims:
        if (name, stored) in left:
            found.leave_out(name, "it is listed twice as the same version, which counts once")
        elif len(files[stored.forum_id, stored.path]) == 1:
            left[name, stored] = None
        else:
            problem = f"another file in the folder is for the same version ({stored.edit_id})"
            found.leave_out(name, f"{problem}; keep one, or state the version of each in a CSV file")
    return list(left)

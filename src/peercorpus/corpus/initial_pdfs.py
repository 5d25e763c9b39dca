"""List the PDF of each paper that its reviewers read, by grade, and state why a paper has none.

The list contains nothing that is taken down: neither the papers nor other papers' copies of the same file.
"""

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from peercorpus.corpus.forums import ForumReader
from peercorpus.corpus.takedown import Takedown, read_takedown
from peercorpus.errors import PeercorpusError
from peercorpus.records.enums import PUBLISHABLE_GRADES, Grade
from peercorpus.records.papers import Paper, PaperVersion
from peercorpus.wording.suggestions import suggest_name
from peercorpus.workspace.workspace import Workspace

PROVEN = "proven"
"""Name for the worst grade that proves that the reviewers read a PDF."""
PDF_GRADES: Mapping[str, Grade] = {PROVEN: PUBLISHABLE_GRADES[-1]} | {
    grade.value: grade for grade in Grade if grade not in {Grade.STATED, Grade.UNSTATED, Grade.UNAVAILABLE}
}
"""Name that a user can give → the worst grade accepted. The missing grades belong to texts without a PDF."""


class NoPdf(StrEnum):
    """Why a paper has no PDF in a list of initial ones."""

    NONE_KNOWN = "no PDF of it is known"
    NOT_FETCHED = "its PDFs are known, but none was fetched"
    NO_GRADE = "it is not known which of its PDFs the reviewers read, or that PDF was not fetched"
    WORSE_GRADE = "the grade of its PDF is worse than the requested one"
    UNREADABLE = "its file is missing or was altered; run 'peercorpus check' on the workspace"


@dataclass(frozen=True, slots=True)
class InitialPdf:
    """The PDF of one paper that its reviewers read, as certain as `grade` states.

    Attributes:
        licence: Licence stated on the submission; None if none is stated.
        edit_id: The edit that uploaded the file.
        created_at: When it was uploaded; None if unknown.
        path: Location of the file in the workspace: a path, or the URL of an object in its store.
    """

    forum_id: str
    venue_id: str
    conference: str
    year: int | None
    title: str | None
    licence: str | None
    grade: Grade
    edit_id: str
    created_at: datetime | None
    sha256: str
    path: str


@dataclass(slots=True)
class PdfList:
    """Initial PDFs of a workspace, and the papers that have none.

    Attributes:
        pdfs: One for each paper, in order of venue and forum id.
        without: Papers without one, each with the reason and the grade of their best PDF.
        taken_down: Number of papers left out because they, or the files of all their PDFs, are taken down.
    """

    pdfs: list[InitialPdf] = field(default_factory=list)
    without: list[tuple[Paper, NoPdf, Grade | None]] = field(default_factory=list)
    taken_down: int = 0

    @property
    def reasons(self) -> Counter[NoPdf]:
        """Number of papers without a PDF, by reason."""
        return Counter(reason for _, reason, _ in self.without)


def worst_pdf_grade(name: str) -> Grade:
    """Return the worst grade that is accepted for a key of `PDF_GRADES`.

    Raises:
        PeercorpusError: There is no such grade for a PDF.
    """
    if name not in PDF_GRADES:
        raise PeercorpusError(f"'{name[:80]}' is not a grade of a PDF; {suggest_name(name, PDF_GRADES)}")
    return PDF_GRADES[name]


def list_initial_pdfs(
    workspace: Workspace,
    venue_ids: Sequence[str],
    worst_grade: Grade = PUBLISHABLE_GRADES[-1],
    chosen: Container[str] | None = None,
) -> PdfList:
    """List the initial PDFs of some venues of a workspace whose tables are built.

    `chosen` are the forum ids of the papers to list; None lists all. Other papers are not counted at all.

    Raises:
        PeercorpusError: A line of `takedown.txt` is not an id.
    """
    takedown = read_takedown(workspace)
    listed = PdfList()
    for venue_id in venue_ids:
        for paper, versions in _read_papers(workspace, venue_id):
            if chosen is None or paper.forum_id in chosen:
                _add(listed, workspace, takedown, paper, versions, worst_grade)
    return listed


def _read_papers(workspace: Workspace, venue_id: str) -> Iterator[tuple[Paper, list[PaperVersion]]]:
    versions = ForumReader(workspace.tables.read(PaperVersion, venue_id))
    for paper in workspace.tables.read(Paper, venue_id):
        yield paper, versions.take(paper.forum_id)


def _add(
    listed: PdfList,
    workspace: Workspace,
    takedown: Takedown,
    paper: Paper,
    versions: Sequence[PaperVersion],
    worst_grade: Grade,
) -> None:
    pdfs = [version for version in versions if version.is_pdf]
    kept = [version for version in pdfs if version.sha256 not in takedown.files]
    if paper.forum_id in takedown.forums or (pdfs and not kept):
        listed.taken_down += 1
        return
    best = _choose(kept)
    if best is None or best.sha256 is None or best.grade is None or best.grade.rank > worst_grade.rank:
        listed.without.append((paper, _explain(kept, best), best.grade if best else None))
        return
    listed.pdfs.append(
        InitialPdf(
            forum_id=paper.forum_id,
            venue_id=paper.venue_id,
            conference=paper.conference,
            year=paper.year,
            title=paper.title,
            licence=paper.licence,
            grade=best.grade,
            edit_id=best.edit_id,
            created_at=best.created_at,
            sha256=best.sha256,
            path=str(workspace.files.path(best.sha256)),
        )
    )


def _choose(pdfs: Sequence[PaperVersion]) -> PaperVersion | None:
    """Return the fetched PDF with the best grade, or None."""
    graded = [
        (version.grade.rank, number, version)
        for number, version in enumerate(pdfs)
        if version.grade is not None and version.grade is not Grade.UNAVAILABLE and version.sha256 is not None
    ]
    return min(graded)[2] if graded else None


def _explain(pdfs: Sequence[PaperVersion], best: PaperVersion | None) -> NoPdf:
    if best is not None:
        return NoPdf.WORSE_GRADE
    if not pdfs:
        return NoPdf.NONE_KNOWN
    return NoPdf.NO_GRADE if any(version.sha256 for version in pdfs) else NoPdf.NOT_FETCHED

"""The command `pdfs`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from peercorpus.cli.console import Named, ProgressLines, WorkspaceFolder, require_outside, say
from peercorpus.errors import ExitCode
from peercorpus.wording.counted_nouns import plural

if TYPE_CHECKING:
    from peercorpus.release.exports.pdf_folder import PdfFolder

PdfGrade = Literal[
    "proven",
    "exact",
    "exact_attachment",
    "unrevised",
    "only_before_review",
    "unrevised_likely",
    "before_first_review",
]


def pdfs(
    workspace: WorkspaceFolder,
    *,
    to: Annotated[Path, Named],
    grade: PdfGrade = "proven",
    where: Annotated[tuple[str, ...], Parameter(show_default=False)] = (),
    link: bool = False,
) -> int:
    """Copy the PDFs that the reviewers read into a folder, under readable names, with a table of them.

    Each is named by conference, year, forum id and title: ICLR2024_AbCdEfGhIj_words-of-the-title.pdf. The table
    pdfs.csv has grade, SHA-256 and time of each, and says why other papers have no file. Run the command again to
    continue, or to bring the folder up to date: files that are not chosen any more are removed. Exit with 1 if there is
    no file, or one could not be read.

    Parameters
    ----------
    to
        Folder to write: a new or an empty one, or one that this command wrote.
    grade
        Worst grade to accept. proven: every grade that proves that the PDF is what the reviewers read, which is the
        same as only_before_review.
    where
        Only papers that meet a condition, as for 'peercorpus report'. May be repeated.
    link
        Make symbolic links to the workspace's files instead of copies.
    """
    from peercorpus.corpus.initial_pdfs import NoPdf, list_initial_pdfs, worst_pdf_grade
    from peercorpus.pipeline.build import require_built
    from peercorpus.release.exports.pdf_folder import write_pdf_folder
    from peercorpus.release.publish import choose_venues
    from peercorpus.report.write_report import choose_papers
    from peercorpus.workspace.workspace import open_workspace

    require_outside(to, workspace, "--to")
    chosen = choose_papers(workspace, where)
    with open_workspace(workspace, write=False) as opened, ProgressLines() as lines:
        require_built(opened)
        listed = list_initial_pdfs(opened, choose_venues(opened.tables), worst_pdf_grade(grade), chosen)
        written = write_pdf_folder(opened, listed, to, link=link, show=lines.show)
    say(describe_folder(written, to))
    is_whole = written.grades.total() and not written.left_out[NoPdf.UNREADABLE]
    return ExitCode.DONE if is_whole else ExitCode.FOUND


def describe_folder(folder: "PdfFolder", to: Path) -> str:
    """Return how many PDFs of each grade are in a folder, what was left out and why, and what helps."""
    from peercorpus.corpus.initial_pdfs import NoPdf
    from peercorpus.release.exports.pdf_folder import TABLE

    total = folder.grades.total()
    lines = [f"{plural(total, 'PDF')} in {to}, {folder.new:,} of them new; {TABLE} lists them."]
    if not total:
        lines = [f"There is no PDF to write; {to / TABLE} says why for each paper."]
    lines += [f"  {folder.grades[grade]:,} {grade.value}" for grade in sorted(folder.grades, key=lambda one: one.rank)]
    lines += [f"  removed {folder.removed:,}: not chosen any more"] if folder.removed else []
    lines += [f"  left out {folder.left_out[reason]:,}: {reason.value}" for reason in NoPdf if folder.left_out[reason]]
    lines += [f"  left out {folder.taken_down:,}: taken down"] if folder.taken_down else []
    if folder.left_out[NoPdf.WORSE_GRADE]:
        lines.append("Accept a worse grade with --grade, such as --grade before_first_review.")
    return "\n".join(lines)

"""The command `pdfs`."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from peercorpus.cli.console import Named, ProgressLines, WorkspaceFolder, require_outside, say
from peercorpus.errors import ExitCode

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
    where: Annotated[tuple[str, ...], Parameter(show_default=False, negative=())] = (),
    link: Annotated[bool, Parameter(negative=())] = False,
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
    from peercorpus.cli.text import pdfs as pdf_texts
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
    say(pdf_texts.written(written, to))
    is_whole = written.grades.total() and not written.left_out[NoPdf.UNREADABLE]
    return ExitCode.DONE if is_whole else ExitCode.FOUND

"""Texts of `pdfs`."""

from pathlib import Path

from peercorpus.corpus.initial_pdfs import NoPdf
from peercorpus.records.counted_nouns import plural
from peercorpus.release.exports.pdf_folder import TABLE, PdfFolder


def written(folder: PdfFolder, to: Path) -> str:
    """Return how many PDFs of each grade are in a folder, what was left out and why, and what helps."""
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

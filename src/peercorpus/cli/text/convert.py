"""Texts of `convert`: which PDFs became Markdown, and which did not and why."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from peercorpus.cli.text.formatting import duration
from peercorpus.records.counted_nouns import plural
from peercorpus.records.untrusted_text import escape_controls

if TYPE_CHECKING:
    from peercorpus.texts.folder import FolderSummary
    from peercorpus.texts.folder_images import ImageSummary
    from peercorpus.workspace.object_store import Location

_SHOWN_FILES = 20
"""Files named in the text; the JSON next to each has the same information."""


def _file_lines(files: Sequence[tuple["Location", str]]) -> list[str]:
    lines = [
        f"  {escape_controls(str(source), 500)}: {escape_controls(detail, 200)}"
        for source, detail in files[:_SHOWN_FILES]
    ]
    return lines if len(files) <= _SHOWN_FILES else [*lines, f"  and {plural(len(files) - _SHOWN_FILES, 'other')}"]


def _image_lines(images: "ImageSummary") -> list[str]:
    lines = []
    if images.cut:
        without = f"; {plural(images.without_image, 'caption')} without an image" if images.without_image else ""
        lines.append(
            f"{plural(images.images, 'image')} of figures and tables cut out of {plural(images.cut, 'PDF')}{without}."
        )
    if images.already:
        lines.append(f"The images of {plural(images.already, 'PDF')} were there before.")
    if images.failures:
        lines.append(f"The figures of {plural(len(images.failures), 'PDF')} could not be cut:")
        lines += _file_lines(images.failures)
    return lines


def converted(summary: "FolderSummary", out: "Location") -> str:
    """Return how many PDFs were converted, which could not be and why, and where the texts are."""
    lines = []
    if summary.converted:
        pace = f"{plural(summary.pages, 'page')} in {duration(summary.seconds)}"
        if summary.seconds > 0:
            pace += f", {summary.pages / summary.seconds:.1f} pages/s"
        lines.append(f"{plural(summary.converted, 'PDF')} became Markdown: {pace}.")
    if summary.already:
        lines.append(f"{plural(summary.already, 'PDF')} had been converted before.")
    if summary.latex:
        as_text = summary.formulas_as_text.total()
        shown = f" {as_text:,} of {plural(summary.formulas, 'formula')} shown there as text." if as_text else ""
        lines.append(f"{plural(summary.latex, 'text')} written as LaTeX.{shown}")
    if summary.images is not None:
        lines += _image_lines(summary.images)
    if summary.repeated:
        lines.append(f"{plural(summary.repeated, 'PDF')} named twice, with the same content and name.")
    if summary.renamed:
        lines.append(
            f"{plural(len(summary.renamed), 'PDF')} written under another name, because their own is taken or not"
            " allowed:"
        )
        lines += _file_lines([(source, name) for source, name in summary.renamed])
    if summary.failures:
        reasons = ", ".join(f"{reason} {number:,}" for reason, number in sorted(summary.failed.items()))
        lines.append(f"{plural(len(summary.failures), 'PDF')} could not be converted ({reasons}):")
        lines += _file_lines(summary.failures)
    return "\n".join([*lines, f"The texts and their quality reports are in '{escape_controls(str(out), 500)}'."])

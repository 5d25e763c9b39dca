"""What `peercorpus convert` says in the end."""

from collections.abc import Sequence

from peercorpus.store import Place
from peercorpus.texts.folder import FolderSummary
from peercorpus.wording import duration, plural, printable

SHOWN = 20
"""Files that are named; the JSON of each tells the same."""


def _listed(found: Sequence[tuple[Place, str]]) -> list[str]:
    lines = [f"  {printable(str(source), 500)}: {printable(what, 200)}" for source, what in found[:SHOWN]]
    return lines if len(found) <= SHOWN else [*lines, f"  and {plural(len(found) - SHOWN, 'other')}"]


def converted(summary: FolderSummary, out: Place) -> str:
    """What became of the PDFs, why some did not become text, and where the texts lie."""
    lines = []
    if summary.converted:
        pace = f"{plural(summary.pages, 'page')} in {duration(summary.seconds)}"
        if summary.seconds > 0:
            pace += f", {summary.pages / summary.seconds:.1f} pages/s"
        lines.append(f"{plural(summary.converted, 'PDF')} became Markdown: {pace}.")
    if summary.already:
        lines.append(f"{plural(summary.already, 'PDF')} had become Markdown before.")
    if summary.repeated:
        lines.append(f"{plural(summary.repeated, 'PDF')} named again, with the same content and the same name.")
    if summary.renamed:
        lines.append(
            f"{plural(len(summary.renamed), 'PDF')} under another name, as another file has theirs or it is unfit:"
        )
        lines += _listed([(source, name) for source, name in summary.renamed])
    if summary.failures:
        reasons = ", ".join(f"{reason} {number:,}" for reason, number in sorted(summary.failed.items()))
        lines.append(f"{plural(len(summary.failures), 'PDF')} did not become text ({reasons}):")
        lines += _listed(summary.failures)
    return "\n".join([*lines, f"The texts and their measures lie in '{printable(str(out), 500)}'."])

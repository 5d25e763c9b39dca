"""Texts of `import`: the contents of each file, and what was set aside and why."""

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from peercorpus.cli.text.losses import lost
from peercorpus.importers.venue_names import is_stand_in
from peercorpus.records.counted_nouns import plural
from peercorpus.records.suggestions import find_close
from peercorpus.records.untrusted_text import escape_controls
from peercorpus.workspace.raw_store import UNPLACED, RawKind

if TYPE_CHECKING:
    from peercorpus.importers.datasets import DatasetCounts
    from peercorpus.importers.import_dumps import ImportSummary
    from peercorpus.importers.import_pdfs import PdfImport
    from peercorpus.importers.tally import FileImport, ImportCounts
    from peercorpus.pipeline.losses import SourceLoss


MOST_REASONS = 10
"""Number of reasons that are printed for each file."""


def unknown_venue(venue_id: str, known: Sequence[str]) -> str:
    """Return that the catalogue does not know a venue that the user named, with the nearest one that it knows.

    >>> unknown_venue("ICLR.cc/2019/Conferense", ["ICLR.cc/2019/Conference"])
    "The catalogue knows no venue 'ICLR.cc/2019/Conferense'; did you mean 'ICLR.cc/2019/Conference'?"
    """
    close = find_close(venue_id, known)
    hint = f"did you mean '{close}'?" if close else "it is taken as you wrote it; 'peercorpus venues' lists those."
    return f"The catalogue knows no venue '{escape_controls(venue_id)}'; {hint}"


def _taken(kind: RawKind, counts: "ImportCounts") -> str:
    noun = "published record" if kind is RawKind.PUBLISHED else kind.value
    return f"{plural(counts.total, noun)} ({counts.new:,} new)"


def imported(summary: "ImportSummary", losses: Sequence["SourceLoss"] = ()) -> str:
    """Return the files that will mostly be set aside, if any, then the contents of each file, and what was set aside.

    The last lines count what was stored, and say so if nothing of it can be used, and all items.
    """
    lines = lost(losses, is_built=False)
    for file in summary.files:
        imports = [_taken(kind, counts) for kind, counts in file.taken.items()]
        lines.append(f"{file.name}: {', '.join(imports) or 'nothing imported'}")
        if file.unnamed and file.venue_id:
            how = ", by the name of the file" if file.is_venue_of_name else ""
            lines.append(f"  venue, where the notes of a forum name none: {file.venue_id}{how}")
        lines += _set_aside(file)
        if file.problem and (file.is_damaged or not file.left_out):
            lines.append(f"  left out: {file.problem}")
    lines += [_dataset(name, counts) for name, counts in summary.datasets.items()]
    sums = ((kind, summary.taken(kind)) for kind in RawKind)
    totals = [_taken(kind, total) for kind, total in sums if total.total]
    begins = "Stored, but not usable as it is" if is_useless(summary, losses) else "Imported in total"
    return "\n".join([*lines, f"{begins}: {', '.join(totals) or 'nothing'}.", _sum(summary)])


def _set_aside(file: "FileImport") -> Iterator[str]:
    """Yield the most frequent reasons for which items of a file are set aside, with the first item of each."""
    by_number = sorted(file.left_out.items(), key=itemgetter(1), reverse=True)
    for reason, number in by_number[:MOST_REASONS]:
        first = escape_controls(file.first.get(reason, ""), 200)
        which = f" (first: {first})" if first and number > 1 else f" ({first})" if first else ""
        yield f"  set aside: {number:,}, {escape_controls(reason, 300)}{which}"
    if others := by_number[MOST_REASONS:]:
        yield f"  set aside: {sum(number for _, number in others):,}, for {len(others):,} other reasons"


def _sum(summary: "ImportSummary") -> str:
    """Return that every item was stored, was there already, or is set aside."""
    taken = [summary.taken(kind) for kind in RawKind]
    new, known = sum(counts.new for counts in taken), sum(counts.known for counts in taken)
    aside = sum(summary.left_out.values())
    return f"Items: {new + known + aside:,} = {new:,} new + {known:,} already there + {aside:,} set aside."


def _dataset(name: str, counts: "DatasetCounts") -> str:
    """Return the contents of one dataset's records, and which of its venues the catalogue does not name."""
    held = [plural(len(counts.papers), "paper"), plural(counts.reviews, "review")]
    # ReviewBench has none as records: a build makes them of the reviews and the authors' answers within them.
    held += [plural(counts.conversations, "conversation")] if counts.conversations else []
    held.append(plural(counts.texts, "text"))
    splits = ", ".join(f"{number:,} {task} {split}" for (task, split), number in sorted(counts.splits.items()))
    unnamed = sorted(venue_id for venue_id in counts.venues if is_stand_in(venue_id) or venue_id == UNPLACED)
    named = plural(len(counts.venues) - len(unnamed), "venue")
    names = ", ".join(escape_controls(venue_id, 100) for venue_id in unnamed)
    listed = f", {len(unnamed):,} not in the catalogue: {names}" if unnamed else ""
    if UNPLACED in unnamed:
        listed += f" ('{UNPLACED}': papers whose venue the records do not state; a build finds it, or sets them aside)"
    stated = f"; splits stated: {splits}" if splits else ""
    return f"{name}: {', '.join(held)}{stated}; {named}{listed}"


def is_useless(summary: "ImportSummary", losses: Sequence["SourceLoss"]) -> bool:
    """Return whether all that an import stored will be set aside."""
    useless = {loss.source for loss in losses if loss.total == loss.records}
    return bool(useless) and all(file.name in useless for file in summary.files if file.taken)


def imported_pdfs(found: "PdfImport") -> str:
    """Return how many PDFs were imported and as what, and a sentence on each that was not."""
    aside = (f"  left out: {escape_controls(sentence, 400)}" for sentence in found.aside)
    counts = (
        f"{found.tied:,} assigned to a known version, {found.own:,} as new versions,"
        f" {found.known:,} already in the workspace; {len(found.aside):,} left out"
    )
    return "\n".join([*aside, f"Imported {plural(found.taken, 'PDF')}: {counts}."])

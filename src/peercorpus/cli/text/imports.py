"""Texts of `import`: the contents of each file, and what was left out and why."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from peercorpus.cli.text.harvest import harvested
from peercorpus.cli.text.losses import lost
from peercorpus.records.counted_nouns import plural
from peercorpus.records.suggestions import find_close
from peercorpus.records.untrusted_text import escape_controls
from peercorpus.venues.dataset_names import is_stand_in
from peercorpus.workspace.raw_store import UNPLACED, RawKind

if TYPE_CHECKING:
    from peercorpus.harvest.import_cassettes import CassetteImport
    from peercorpus.harvest.import_datasets import DatasetCounts
    from peercorpus.harvest.import_dumps import ImportCounts, ImportSummary
    from peercorpus.harvest.import_pdfs import PdfImport
    from peercorpus.pipeline.losses import SourceLoss


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
    """Return the files that will mostly be set aside, if any, then the contents of each file, and what was left out.

    The last line counts what was stored; it says so if nothing of it can be used.
    """
    lines = lost(losses, is_built=False)
    for file in summary.files:
        imports = [_taken(kind, counts) for kind, counts in file.taken.items()]
        lines.append(f"{file.name}: {', '.join(imports) or 'nothing imported'}")
        if file.unnamed and file.venue_id:
            how = ", by the name of the file" if file.is_venue_of_name else ""
            lines.append(f"  venue, where the notes of a forum name none: {file.venue_id}{how}")
        lines.extend(f"  left out: {number:,}, {reason}" for reason, number in file.left_out.items())
        if file.problem and not file.left_out:
            lines.append(f"  left out: {file.problem}")
    lines += [_dataset(name, counts) for name, counts in summary.datasets.items()]
    sums = ((kind, summary.taken(kind)) for kind in RawKind)
    totals = [_taken(kind, total) for kind, total in sums if total.total]
    if is_useless(summary, losses):
        return "\n".join([*lines, f"Stored, but not usable as it is: {', '.join(totals) or 'nothing'}."])
    return "\n".join([*lines, f"Imported in total: {', '.join(totals) or 'nothing'}."])


def _dataset(name: str, counts: "DatasetCounts") -> str:
    """Return the contents of one dataset's records, and which of its venues the catalogue does not name."""
    held = [plural(len(counts.papers), "paper"), plural(counts.reviews, "review")]
    # ReviewBench has none as records: a build makes them of the reviews and the authors' answers within them.
    held += [plural(counts.conversations, "conversation")] if counts.conversations else []
    held.append(plural(counts.texts, "text"))
    splits = ", ".join(f"{number:,} {task} {split}" for (task, split), number in sorted(counts.splits.items()))
    unnamed = sorted(venue_id for venue_id in counts.venues if is_stand_in(venue_id) or venue_id == UNPLACED)
    named = plural(len(counts.venues) - len(unnamed), "venue")
    listed = f", {len(unnamed):,} not in the catalogue: {', '.join(map(_name, unnamed))}" if unnamed else ""
    if UNPLACED in unnamed:
        listed += f" ('{UNPLACED}': papers whose venue the records do not state; a build finds it, or sets them aside)"
    stated = f"; splits stated: {splits}" if splits else ""
    return f"{name}: {', '.join(held)}{stated}; {named}{listed}"


def _name(venue_id: str) -> str:
    return escape_controls(venue_id, 100)


def is_useless(summary: "ImportSummary", losses: Sequence["SourceLoss"]) -> bool:
    """Return whether all that an import stored will be set aside."""
    useless = {loss.source for loss in losses if loss.total == loss.records}
    return bool(useless) and all(file.name in useless for file in summary.files if file.taken)


def imported_pdfs(found: "PdfImport") -> str:
    """Return how many PDFs were imported and as what, and a sentence on each that was not."""
    counts = (
        f"{found.tied:,} assigned to a known version, {found.own:,} as new versions,"
        f" {found.known:,} already in the workspace; {len(found.aside):,} left out"
    )
    return "\n".join([*map(_printable, found.aside), f"Imported {plural(found.taken, 'PDF')}: {counts}."])


def imported_cassettes(found: "CassetteImport") -> str:
    """Return the contents of the cassettes by venue, and what is missing."""
    lines = [_printable(sentence) for sentence in found.damage]
    for venue in found.venues:
        if venue.summary is not None:
            lines.append(harvested(venue.summary))
        if venue.is_complete:
            continue
        problem = f" ({escape_controls(venue.problem, 400)})" if venue.problem else ""
        missing = f": {plural(venue.missing, 'request')} without an answer" if venue.missing else ""
        lines.append(f"{_name(venue.venue_id)} is not complete{missing}{problem}.")
        lines += [f"  missing: {escape_controls(request, 400)}" for request in venue.named]
        if venue.missing > len(venue.named):
            lines.append(f"  missing: {venue.missing - len(venue.named):,} more")
    lines.append(f"Read {plural(found.answers, 'answer')} to requests at {plural(len(found.venues), 'venue')}.")
    return "\n".join(lines)


def _printable(sentence: str) -> str:
    return f"  left out: {escape_controls(sentence, 400)}"

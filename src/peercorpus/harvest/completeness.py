"""How complete a venue is in a workspace: what is held, what is missing and why, and what in it may mislead."""

from collections.abc import Container, Sequence
from dataclasses import dataclass

from peercorpus.harvest.coverage import Coverage, PdfCoverage, read_coverage, read_pdf_coverage, read_statuses
from peercorpus.harvest.inventory import Inventory, take_inventory
from peercorpus.harvest.traps import (
    Caution,
    traps_of_lists,
    traps_of_papers,
    traps_of_pdfs,
    traps_of_references,
    traps_of_venue,
)
from peercorpus.tables import TABLES
from peercorpus.venues.catalogue import row_of
from peercorpus.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Completeness:
    """How complete a venue is.

    Attributes:
        held: As received.
        notes: As the tables have it; None where they are not built, or older than what was received.
        pdfs: As the table of versions has it; None as above.
        cautions: What may mislead.
        remark: What the catalogue says of its numbers, in a sentence; None where it says nothing.
    """

    venue_id: str
    held: Inventory
    notes: Coverage | None
    pdfs: PdfCoverage | None
    cautions: Sequence[Caution]
    remark: str | None


def read_completeness(workspace: Workspace, venue_id: str, finished: Container[str] = TABLES) -> Completeness:
    """Count what is held of a venue, and what is missing.

    Args:
        workspace: Read only.
        venue_id: The venue.
        finished: The tables that are up to date; only those are read.
    """
    raw, tables, row = workspace.raw, workspace.tables, row_of(venue_id)
    held, notes, pdfs = take_inventory(raw, venue_id), None, None
    cautions = list(traps_of_lists(held))
    if "2-reviews" in finished:
        statuses = read_statuses(tables, venue_id)
        notes = read_coverage(tables, venue_id, statuses)
        cautions += [*traps_of_papers(notes), *traps_of_venue(notes, row.visibility if row else None)]
        cautions += traps_of_references(raw, venue_id, statuses)
    if "4-versions" in finished:
        asked = raw.select("SELECT path FROM files WHERE venue_id = ? AND problem IS NOT NULL", venue_id)
        pdfs = read_pdf_coverage(tables, venue_id, frozenset(path for (path,) in asked))
        cautions += traps_of_pdfs(pdfs)
    return Completeness(venue_id, held, notes, pdfs, cautions, row.remark if row else None)

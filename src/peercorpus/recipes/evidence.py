"""Read from a workspace why a release has fewer papers than a card prints: missing data, and rows set aside.

Nothing is inferred here: each entry is a count from the workspace. Anything that no entry explains stays unknown.
"""

from collections import Counter
from collections.abc import Set
from dataclasses import dataclass, field

from peercorpus.corpus.takedown import read_takedown
from peercorpus.recipes.recipe import Recipe
from peercorpus.records.enums import Reason
from peercorpus.records.papers import PaperVersion, SetAside
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import Workspace

NORMALISE = "normalise"
"""Name of the stage that makes papers."""


@dataclass(slots=True)
class VenueEvidence:
    """Counts of one venue in a workspace.

    Attributes:
        records: Records of the published dataset.
        is_listed: Whether OpenReview's listings of it were read completely; None if it was not harvested.
        papers: Papers in the tables.
        set_aside: Submissions and records of papers that did not become papers, by reason.
        taken_down: Papers named in the takedown list.
        pdfs: PDFs of its papers' versions.
    """

    records: int = 0
    is_listed: bool | None = None
    papers: int = 0
    set_aside: Counter[Reason] = field(default_factory=Counter)
    taken_down: int = 0
    pdfs: int = 0


def read_evidence(workspace: Workspace, recipe: Recipe) -> dict[str, VenueEvidence]:
    """Return the evidence on each venue of a workspace, by venue id."""
    taken = read_takedown(workspace).forums
    return {venue_id: _read_venue(workspace, recipe, venue_id, taken) for venue_id in workspace.venues()}


def _read_venue(workspace: Workspace, recipe: Recipe, venue_id: str, taken: Set[str]) -> VenueEvidence:
    tables = workspace.tables
    evidence = VenueEvidence(
        records=count_records(workspace, recipe, venue_id), is_listed=workspace.raw.state.is_listed(venue_id)
    )
    forum_ids = {forum_id for (forum_id,) in tables.tuples("1-papers", venue_id, ["forum_id"])}
    evidence.papers = len(forum_ids)
    evidence.taken_down = len(forum_ids & taken)
    evidence.pdfs = count_pdfs(workspace, venue_id)
    for row in tables.read(SetAside, venue_id):
        is_paper = row.record_id == row.forum_id or row.record_id.startswith(recipe.dataset.prefix)
        if row.stage == NORMALISE and is_paper and row.forum_id not in forum_ids:
            evidence.set_aside[row.reason] += 1
    return evidence


def count_pdfs(workspace: Workspace, venue_id: str) -> int:
    """Return the number of PDFs that are versions of a venue's papers."""
    versions = workspace.tables.read(PaperVersion, venue_id)
    return len({version.sha256 for version in versions if version.sha256 is not None and version.is_pdf})


def count_records(workspace: Workspace, recipe: Recipe, venue_id: str) -> int:
    """Return the number of a venue's paper records from the recipe's dataset in a workspace."""
    return workspace.raw.count(RawKind.PUBLISHED, venue_id, recipe.dataset.prefix)

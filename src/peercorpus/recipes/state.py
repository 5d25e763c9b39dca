"""Record the progress of a recipe and its evidence: `recipe.json` in the workspace, `steps.json` beside its products.

Both are replaced as a whole after each step, so the same command continues after an interruption.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from peercorpus.corpus.takedown import read_takedown
from peercorpus.errors import WorkspaceError
from peercorpus.recipes.recipe import Recipe, RecipeName
from peercorpus.records.enums import Reason
from peercorpus.records.papers import PaperVersion, SetAside
from peercorpus.workspace.object_store import write_whole
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
        set_aside: Submissions and records of papers that did not become papers, by reason.
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


STATE = "recipe.json"
STEPS = "steps.json"


class RecipeState(msgspec.Struct, frozen=True, kw_only=True):
    """The data that a recipe has added to a workspace.

    Attributes:
        source: The published files, as named by the user; None before an import.
        revision: Their commit of the dataset on the Hugging Face Hub; None for local files.
        files: sha256 of each imported file, by its path below the source.
        harvested: Venues harvested completely.
    """

    recipe: RecipeName
    source: str | None = None
    revision: str | None = None
    files: dict[str, str] = {}
    harvested: tuple[str, ...] = ()


def read_state(workspace: Path) -> RecipeState | None:
    """Return the state of a recipe in a workspace; None if none was run.

    Raises:
        WorkspaceError: The file cannot be read.
    """
    path = workspace / STATE
    if not path.exists():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=RecipeState)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        raise WorkspaceError(f"'{path}' cannot be read; restore it, or start with a new workspace.") from None


def write_state(workspace: Path, state: RecipeState) -> None:
    """Replace the file with the state of a recipe."""
    write_whole(workspace / STATE, msgspec.json.format(msgspec.json.encode(state), indent=1) + b"\n")


def check_scope(workspace: Workspace, recipe: Recipe, state: RecipeState | None) -> None:
    """Check that a workspace belongs to the recipe, or has nothing outside its scope.

    Raises:
        WorkspaceError: It belongs to another recipe, or has a venue that is neither in the scope nor in the dataset.
    """
    if state is not None and state.recipe is not recipe.name:
        raise WorkspaceError(
            f"The workspace '{workspace.folder}' belongs to the recipe {state.recipe}; name another workspace for"
            f" {recipe.name}."
        )
    if state is not None:
        return
    for venue_id in workspace.venues():
        if not recipe.holds(venue_id) and not count_records(workspace, recipe, venue_id):
            raise WorkspaceError(
                f"The workspace '{workspace.folder}' contains '{venue_id}', which is not in the scope of"
                f" {recipe.title};"
                " name another workspace."
            )


class StepLog:
    """The steps done in a folder, with their keys; a step with the same key need not run again."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / STEPS

    def _read(self) -> dict[str, str]:
        try:
            steps = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            # A missing or damaged log only means that its steps run again.
            return {}
        return steps if isinstance(steps, dict) else {}

    def is_done(self, step: str, key: str) -> bool:
        """Return whether a step was done with this key."""
        return self._read().get(step) == key

    def record(self, step: str, key: str) -> None:
        """Record that a step was done with this key."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        content = json.dumps({**self._read(), step: key}, indent=1, sort_keys=True)
        write_whole(self._path, f"{content}\n".encode())


def make_key(**parts: object) -> str:
    """Return a key from everything that determines a step."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def find_changed(files: Mapping[str, str], state: RecipeState) -> str | None:
    """Return the first file that was imported with different content; None if there is none."""
    return next((name for name in sorted(files) if state.files.get(name, files[name]) != files[name]), None)

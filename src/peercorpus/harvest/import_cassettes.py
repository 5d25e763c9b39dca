"""Import cassettes: repeat the recorded harvests with the recorded responses instead of the network."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from peercorpus.errors import BusyError, DumpError, EmptyVenueError, SourceError
from peercorpus.execution.progress import Show, show_nothing
from peercorpus.harvest.harvest import HarvestSummary, harvest
from peercorpus.openreview.cassette import RecordedHarvest, read_version
from peercorpus.openreview.cassette_answers import Cassettes, CassetteTransport
from peercorpus.openreview.client import Client
from peercorpus.openreview.retries import Patience
from peercorpus.workspace.workspace import Workspace

AT_ONCE = Patience(attempts=1, first_contact=1, first_wait_s=0.001, pauses_s=(), most_in_a_row=None)
"""A cassette responds at once, or never."""


@dataclass(frozen=True, slots=True)
class VenueImport:
    """Result of importing cassettes for one venue.

    Attributes:
        summary: Current state of the venue in the workspace; None if not even its list could be read to the end.
        problem: Why reading stopped early; None if it did not.
        missing: Number of requests that no cassette can answer.
        named: The first of these requests.
    """

    venue_id: str
    summary: HarvestSummary | None
    problem: str | None
    missing: int
    named: tuple[str, ...]

    @property
    def is_complete(self) -> bool:
        """Whether nothing was missing."""
        return self.summary is not None and self.summary.is_complete and not self.missing


@dataclass(frozen=True, slots=True)
class CassetteImport:
    """Result of an import of cassettes.

    Attributes:
        answers: Number of responses in the cassettes.
        damage: One sentence on each damaged place that was set aside.
        is_altered: Whether any damage is more than a truncated end, as after a kill.
    """

    answers: int
    damage: tuple[str, ...]
    is_altered: bool
    venues: tuple[VenueImport, ...]

    @property
    def is_complete(self) -> bool:
        """Whether nothing was missing or altered."""
        return not self.is_altered and all(venue.is_complete for venue in self.venues)


def is_cassette(path: Path) -> bool:
    """Return whether a path is a file that begins like a cassette."""
    return path.is_file() and read_version(path) is not None


def import_cassettes(workspace: Workspace, paths: Sequence[Path], *, progress: Show = show_nothing) -> CassetteImport:
    """Store what the harvests in some cassettes received; the order of cassettes does not matter.

    A venue is imported with the widest scope of its harvests: whole if one of them was, with files if one of them was.
    Missing objects can be added later, from another cassette or from OpenReview. Damaged parts are set aside.

    Raises:
        DumpError: A file is not a cassette or has a newer format, or no complete entry names a venue.
    """
    with Cassettes(paths) as cassettes:
        wanted = _join_harvests(cassettes.harvests)
        if not wanted:
            why = f": {cassettes.damage[0]}" if cassettes.damage else "; record it again."
            raise DumpError(f"'{paths[0].name}' names no harvested venue{why}")
        venues = tuple(_import_venue(workspace, cassettes, recorded, progress) for recorded in wanted)
        return CassetteImport(cassettes.answers, tuple(cassettes.damage), cassettes.is_altered, venues)


def _join_harvests(harvests: Sequence[RecordedHarvest]) -> list[RecordedHarvest]:
    """Return one harvest for each venue and service, with the widest scope, ordered by venue."""
    widest: dict[tuple[str, str, str], RecordedHarvest] = {}
    for one in harvests:
        key = one.venue_id, one.url_v1, one.url_v2
        other = widest.get(key, one)
        limit = None if one.limit is None or other.limit is None else max(one.limit, other.limit)
        widest[key] = RecordedHarvest(*key, limit=limit, files=one.files or other.files)
    return [widest[key] for key in sorted(widest)]


def _import_venue(workspace: Workspace, cassettes: Cassettes, recorded: RecordedHarvest, progress: Show) -> VenueImport:
    """Run the harvest of one venue; if it cannot resume from the state of the workspace, run it from the beginning."""
    is_begun = workspace.raw.state.is_listed(recorded.venue_id) is False
    found = _replay(workspace, cassettes, recorded, progress)
    if is_begun and found.summary is None:
        with workspace.raw.transaction():
            workspace.raw.state.forget_listings(recorded.venue_id)
        found = _replay(workspace, cassettes, recorded, progress)
    return found


def _replay(workspace: Workspace, cassettes: Cassettes, recorded: RecordedHarvest, progress: Show) -> VenueImport:
    transport = CassetteTransport(cassettes)
    summary = problem = None
    with Client(recorded.url_v1, recorded.url_v2, patience=AT_ONCE, transport=transport) as client:
        try:
            (summary,) = harvest(
                workspace,
                client,
                [recorded.venue_id],
                limit=recorded.limit,
                files=recorded.files,
                changes=False,
                progress=progress,
            )
        except BusyError:
            problem = "the response to a request that the rest depends on is missing"
        except (EmptyVenueError, SourceError) as error:
            problem = str(error)
    return VenueImport(recorded.venue_id, summary, problem, transport.missing, tuple(transport.named))

"""What a release was made of: enough to tell whether a workspace would give the same bytes again."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path

import msgspec

from peercorpus.code_version import code_version
from peercorpus.errors import PeercorpusError
from peercorpus.publish.split_files import Asked, read_earlier_digest
from peercorpus.publish.splits import Profile
from peercorpus.publish.takedown_list import digest_of_list
from peercorpus.raw import Kind
from peercorpus.tables import TABLES
from peercorpus.workspace import Workspace

INPUTS = "inputs.json"
UNREAD = {"set-aside"}
"""Tables whose partitions have no one key of a venue."""
LISTING, RECORDS = "listing", "records"
"""What the card tells of a venue beside its tables."""


class SidesInput(msgspec.Struct, frozen=True):
    """How sides were drawn.

    Attributes:
        test_after: The day after which `temporal` tests; None for `re2`.
        earlier: sha256 of the file whose sides were kept when they were drawn; None if there was none. The release's
            own file gives the same sides again.
    """

    profile: Profile
    test_after: date | None
    earlier: str | None


class VenueInput(msgspec.Struct, frozen=True):
    """What is held of a venue.

    Attributes:
        is_listed: Whether OpenReview's listings of it were read to their end; None where it was imported.
        records: Records of published datasets.
        tables: By table, what stands for the partition's content.
    """

    is_listed: bool | None
    records: int
    tables: dict[str, str]


class Inputs(msgspec.Struct, frozen=True):
    """Everything that decides about a release's bytes.

    Attributes:
        peercorpus: Its version, with a digest of its code.
        pyarrow: The version of what writes the Parquet files.
        titles: The model that gave titles; None where they are made of the posts' own.
        authors: Whether they are named.
        takedown: A salted hash of the ids that are taken down, which only who has the workspace can tell; None: none.
    """

    peercorpus: str
    pyarrow: str
    sides: SidesInput | None
    titles: str | None
    authors: bool
    takedown: str | None
    venues: dict[str, VenueInput]


@dataclass(frozen=True, slots=True)
class Moved:
    """Something that is not what a release was made of.

    Attributes:
        venue_id: None for what concerns all venues.
        what: A table, or another input by its name.
    """

    venue_id: str | None
    what: str


def _venue(workspace: Workspace, venue_id: str) -> VenueInput:
    names = sorted(name for name in TABLES if name not in UNREAD)
    return VenueInput(
        workspace.raw.is_listed(venue_id),
        workspace.raw.count(Kind.PUBLISHED, venue_id),
        {name: workspace.tables.digest(name, venue_id) for name in names},
    )


def write_inputs(
    folder: Path,
    workspace: Workspace,
    venue_ids: Sequence[str],
    sides: Asked | None,
    titles: str | None = None,
    *,
    authors: bool = True,
) -> None:
    """Write the file, once the sides are drawn."""
    drawn = None
    if sides is not None:
        drawn = SidesInput(sides.profile, sides.test_after, read_earlier_digest(sides.path(folder)))
    found = Inputs(
        code_version(),
        version("pyarrow"),
        drawn,
        titles,
        authors,
        digest_of_list(workspace.folder),
        {venue_id: _venue(workspace, venue_id) for venue_id in venue_ids},
    )
    (folder / INPUTS).write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")


def read_inputs(release: Path) -> Inputs | None:
    """What a release was made of; None where it does not say.

    Raises:
        PeercorpusError: The file cannot be read.
    """
    path = release / INPUTS
    if not path.exists():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=Inputs)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        raise PeercorpusError(f"'{path}' cannot be read; take an intact release.") from None


def find_moved(inputs: Inputs, workspace: Workspace) -> list[Moved]:
    """What of a workspace is not what a release was made of; nothing where it can be made again byte for byte."""
    now_made_with = {"peercorpus": code_version(), "pyarrow": version("pyarrow")}
    moved = [Moved(None, name) for name, now in now_made_with.items() if getattr(inputs, name) != now]
    if inputs.takedown != digest_of_list(workspace.folder):
        moved.append(Moved(None, "takedown.txt"))
    for venue_id, before in sorted(inputs.venues.items()):
        now = _venue(workspace, venue_id)
        names = sorted(before.tables.keys() | now.tables.keys())
        moved += [Moved(venue_id, name) for name in names if before.tables.get(name) != now.tables.get(name)]
        moved += [Moved(venue_id, LISTING)] if before.is_listed is not now.is_listed else []
        moved += [Moved(venue_id, RECORDS)] if before.records != now.records else []
    return moved

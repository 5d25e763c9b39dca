"""Write and compare `inputs.json`, which records the inputs of a release.

`publish` reads it to see whether a release is up to date, `verify` to compare it with the workspace.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import msgspec

from peercorpus.corpus.figures import TABLE as FIGURES
from peercorpus.corpus.points import TABLE as POINTS
from peercorpus.corpus.reminder_decisions import digest_file, read_decisions
from peercorpus.corpus.takedown import hash_list
from peercorpus.corpus.text_choice import TextChoice, is_grade_accepted
from peercorpus.errors import PeercorpusError
from peercorpus.records.enums import PUBLISHABLE_GRADES, Grade, WorstGrade
from peercorpus.release.request import Profile, ReleaseLayout, ReleaseRequest
from peercorpus.release.split_file import read_split_file, rename_splits
from peercorpus.venues.own_venues import digest_own_venues, read_own_row
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.table_reader import ON_DEMAND, TABLES
from peercorpus.workspace.workspace import OWN_VENUES, Workspace

INPUTS = "inputs.json"
VERSION = 19
"""Raised by hand whenever the same tables give a different release, after a change in this package or its libraries.

A release states the version that wrote it, and `publish` writes it again if that differs. `tests/golden/outputs.json`
records this version's output from recorded tables, and a test compares it.
"""
LINKS = "8-links"
"""The table whose rows all count for each venue: papers elsewhere connect submissions of the same work."""
LISTING, RECORDS = "listing", "records"
"""Names of the inputs of a venue that the card states in addition to its tables."""


class SplitsInput(msgspec.Struct, frozen=True):
    """Inputs of drawing the splits of a release.

    Attributes:
        test_after: The day after which `temporal` tests; None for other profiles.
        earlier: sha256 of the file whose splits were kept when they were drawn; None if there was none. The release's
            own file yields the same splits again.
    """

    profile: Profile
    test_after: date | None
    earlier: str | None


class RemindersInput(msgspec.Struct, frozen=True):
    """A person's decisions on which posts are reminders, which override the rule.

    Attributes:
        sha256: Digest of the workspace's `reminders.tsv`.
        decisions: Number of posts with a decision.
    """

    sha256: str
    decisions: int


class VenueInput(msgspec.Struct, frozen=True, omit_defaults=True):
    """The workspace's data on a venue.

    Attributes:
        is_listed: Whether OpenReview's listings of it were read completely; None if it was imported.
        records: Records of published datasets.
        tables: Digest of the venue's rows, by table.
        own: The complete row of the workspace's `venues.toml`; None without one.
    """

    is_listed: bool | None
    records: int
    tables: dict[str, str]
    own: dict[str, Any] | None = None


class Inputs(msgspec.Struct, frozen=True, omit_defaults=True):
    """Everything that determines the bytes of a release.

    Code enters through declared version numbers, not through its text, so that moving a module or rewording a comment
    does not cause a release to be written again. The version of publishing is declared here. Tables enter through their
    rows, however they were made, so that equal tables of two workspaces give equal releases.

    Attributes:
        peercorpus: The version of the package, which a release names; in releases older than the field `publishing`,
            followed by a plus sign and a digest of its modules.
        pyarrow: The version of pyarrow, which writes the Parquet files.
        titles: The model that gave titles; None if they are made from the posts' own.
        authors: Whether authors are named.
        figures: Whether figures are published.
        points: Whether the points of reviews are published.
        points_model: The model that labelled what rules left open in them; None for none.
        layout: The layout of the release.
        takedown: A salted hash of the ids taken down, which cannot be computed without the workspace; None for none.
        publishing: `VERSION` of the code that wrote it; None for a release older than this field.
        venues_toml: sha256 of the workspace's `venues.toml`, including comments, if a venue has a row in it; else None.
            Only the rows of the venues decide whether the release can be reproduced.
        reminders: The workspace's `reminders.tsv`; None without a decision. Its effect is already in the tables.
        texts: Which texts are published.
        grade: The worst grade of a text that the configurations for tasks accept.
        latex: Whether the texts are included as LaTeX, too.
        blocks: Whether they are included block by block, too.
    """

    peercorpus: str
    pyarrow: str
    splits: SplitsInput | None
    titles: str | None
    authors: bool
    takedown: str | None
    venues: dict[str, VenueInput]
    publishing: int | None = None
    venues_toml: str | None = None
    figures: bool = False
    points: bool = False
    points_model: str | None = None
    reminders: RemindersInput | None = None
    layout: ReleaseLayout = ReleaseLayout.PEERCORPUS
    texts: TextChoice = TextChoice.INITIAL
    grade: Grade = PUBLISHABLE_GRADES[-1]
    latex: bool = False
    blocks: bool = False

    @property
    def request(self) -> ReleaseRequest:
        """The request that this release answers, without what cannot be repeated: a model, and splits of elsewhere."""
        return ReleaseRequest(
            titles="posts" if self.titles is None else "model",
            splits="none" if self.splits is None else self.splits.profile.value,
            test_after=None if self.splits is None else self.splits.test_after,
            no_authors=not self.authors,
            texts=self.texts,
            grade=cast("WorstGrade", self.grade.value),
            latex=self.latex,
            blocks=self.blocks,
            layout=self.layout,
            figures=self.figures,
            points="model" if self.points_model else self.points,
        )


@dataclass(frozen=True, slots=True)
class ChangedInput:
    """An input that has changed since a release was made.

    Attributes:
        venue_id: The venue; None for an input of all venues.
        what: The name of a table or of another input.
    """

    venue_id: str | None
    what: str


def read_venue_inputs(workspace: Workspace, venue_ids: Iterable[str], request: ReleaseRequest) -> dict[str, VenueInput]:
    """Return the workspace's data on each venue; tables of figures and points count only if published."""
    asked = {name for name, is_asked in ((FIGURES, request.figures), (POINTS, request.points)) if is_asked}
    left_out = {LINKS, *ON_DEMAND} - asked
    names = sorted(TABLES.keys() - left_out)
    links = workspace.tables.content(LINKS, None)
    return {
        venue_id: VenueInput(
            workspace.raw.state.is_listed(venue_id),
            workspace.raw.count(RawKind.PUBLISHED, venue_id),
            dict(sorted([(LINKS, links), *((name, workspace.tables.content(name, venue_id)) for name in names)])),
            read_own_row(workspace, venue_id),
        )
        for venue_id in venue_ids
    }


def write_inputs(
    folder: Path,
    workspace: Workspace,
    venues: dict[str, VenueInput],
    request: ReleaseRequest,
    *,
    titles: str | None,
    points_model: str | None,
) -> None:
    """Write `inputs.json` into a release whose splits are drawn; the models are those that had a part in it."""
    drawn, splits = None, request.drawn
    if splits is not None:
        drawn = SplitsInput(splits.profile, splits.test_after, read_split_file(splits.path(folder)).made.earlier)
    digest, decisions = digest_file(workspace.folder), read_decisions(workspace.folder)
    inputs = Inputs(
        peercorpus=version("peercorpus"),
        pyarrow=version("pyarrow"),
        splits=drawn,
        titles=titles,
        authors=not request.no_authors,
        layout=request.layout,
        takedown=hash_list(workspace.folder),
        venues=venues,
        publishing=VERSION,
        figures=request.figures,
        points=bool(request.points),
        points_model=points_model,
        venues_toml=digest_own_venues(workspace) if any(entry.own for entry in venues.values()) else None,
        reminders=RemindersInput(digest, len(decisions)) if digest and decisions else None,
        texts=request.texts,
        grade=Grade(request.grade),
        latex=request.latex,
        blocks=request.blocks,
    )
    (folder / INPUTS).write_bytes(msgspec.json.format(msgspec.json.encode(inputs), indent=1) + b"\n")


def read_inputs(release: Path) -> Inputs | None:
    """Return the inputs of a release; None if it has no such file.

    Raises:
        PeercorpusError: The file cannot be read.
    """
    path = release / INPUTS
    if not path.exists():
        return None
    try:
        return msgspec.json.decode(rename_splits(path.read_bytes()), type=Inputs)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        raise PeercorpusError(f"'{path}' cannot be read; take an intact copy of the release.") from None


def read_worst_grade(release: Path) -> Grade:
    """Return the worst grade of a text that the tasks of a release accept: the worst proven one if it does not say.

    Raises:
        PeercorpusError: `inputs.json` cannot be read.
    """
    inputs = read_inputs(release)
    return PUBLISHABLE_GRADES[-1] if inputs is None else inputs.grade


def check_worst_grade(release: Path, asked: Grade) -> None:
    """Check that the tasks of a release can contain texts of the requested grade if it is not a proven one.

    Raises:
        PeercorpusError: They contain only better ones, or `inputs.json` cannot be read.
    """
    if asked in PUBLISHABLE_GRADES:
        return
    accepted = read_worst_grade(release)
    if not is_grade_accepted(asked, accepted):
        raise PeercorpusError(
            f"The release '{release}' was published with --grade {accepted}, so its tasks have no text of grade"
            f" '{asked}'; publish it with --grade {asked}, or name a grade no worse than {accepted}."
        )


def find_moved(inputs: Inputs, workspace: Workspace) -> list[ChangedInput]:
    """Return the inputs that differ between a release and a workspace; empty if the release can be reproduced."""
    now_made_with = {"peercorpus": version("peercorpus"), "pyarrow": version("pyarrow"), "publishing": VERSION}
    moved = [ChangedInput(None, name) for name, now in now_made_with.items() if getattr(inputs, name) != now]
    if inputs.takedown != hash_list(workspace.folder):
        moved.append(ChangedInput(None, "takedown.txt"))
    now_held = read_venue_inputs(workspace, inputs.venues, inputs.request)
    for venue_id, before in sorted(inputs.venues.items()):
        now = now_held[venue_id]
        names = sorted(before.tables.keys() | now.tables.keys())
        moved += [ChangedInput(venue_id, name) for name in names if before.tables.get(name) != now.tables.get(name)]
        moved += [ChangedInput(venue_id, LISTING)] if before.is_listed is not now.is_listed else []
        moved += [ChangedInput(venue_id, RECORDS)] if before.records != now.records else []
        moved += [ChangedInput(venue_id, OWN_VENUES)] if before.own != now.own else []
    return moved

"""The commands `harvest` and `import`."""

import shlex
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from cyclopts import Parameter

from peercorpus.cli.console import (
    OPENREVIEW,
    AtLeastOne,
    Connection,
    ProgressLines,
    WorkspaceFolder,
    say,
)
from peercorpus.cli.extras import require_extra
from peercorpus.cli.options import read_venue_ids
from peercorpus.errors import ExitCode, NotGivenError, PeercorpusError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import NoReturn

    from peercorpus.harvest.harvest import HarvestSummary
    from peercorpus.openreview.client import Client
    from peercorpus.workspace.workspace import Workspace

VenuesToHarvest = Annotated[
    list[str] | None,
    Parameter(
        name="VENUE_ID",
        help="Short names such as ICLR2024, group ids such as ICLR.cc/2024/Conference, or the URLs of their pages.",
    ),
]


def harvest(
    venue_ids: VenuesToHarvest = None,
    /,
    *,
    workspace: WorkspaceFolder,
    scope: Literal["reviewbench", "re2"] | None = None,
    limit: Annotated[int | None, AtLeastOne] = None,
    files: bool = True,
    refresh: Annotated[bool, Parameter(negative=())] = False,
    plan: Annotated[bool, Parameter(negative=())] = False,
    share_budget: Annotated[bool, Parameter(negative=())] = False,
    connection: Connection = OPENREVIEW,
) -> int:
    """Fetch venues from OpenReview into a workspace. The same command continues an interrupted run.

    Exit with 1 if OpenReview refused all requests of one kind, with 3 if some requests have to be repeated later.
    A later harvest fetches only what is new, changed or deleted since. It signs in with --token-file, PEERCORPUS_TOKEN,
    the token that `peercorpus login` stored, or PEERCORPUS_USER and PEERCORPUS_PASSWORD, in this order.

    Parameters
    ----------
    scope
        Also harvest all venues of a published dataset, which 'peercorpus recipe' lists.
    limit
        Only the first N submissions of each venue.
    files
        Fetch the PDFs too.
    refresh
        List everything again, and retry files that were refused.
    plan
        Print how many requests, hours and gigabytes the harvest will take, and stop.
    share_budget
        Continue although another harvest or another machine uses the same account, and share its request budget.
    """
    from peercorpus.cli.text import harvest as harvest_texts
    from peercorpus.harvest.harvest import harvest as run_harvest
    from peercorpus.harvest.plan import plan_harvest
    from peercorpus.openreview.page_urls import is_forum_page, read_forum_id

    for name in filter(is_forum_page, venue_ids or ()):
        _explain_forum(read_forum_id(name), workspace, connection)
    venues = _name_venues(venue_ids or [], scope, workspace)
    if not venues:
        raise PeercorpusError("Nothing to harvest was named; name a VENUE_ID, or the scope of a dataset with --scope.")
    # A plan asks for so little that it may go beside a harvest.
    asking = _asking(connection, workspace, is_held=not plan, is_shared=share_budget or plan)
    with asking as (opened, client, lines):
        if plan:
            say(harvest_texts.planned(plan_harvest(opened, client, venues, limit=limit, files=files)))
            return ExitCode.DONE
        show = lines.show
        summaries = run_harvest(opened, client, venues, limit=limit, files=files, refresh=refresh, progress=show)
    return _report_harvest(summaries, workspace)


def _name_venues(names: list[str], scope: str | None, workspace: Path) -> list[str]:
    """Return the ids of the venues that were named, and of those of a published dataset."""
    from peercorpus.recipes.recipe import RecipeName, read_recipe
    from peercorpus.workspace.workspace import read_held_venues

    in_scope = read_recipe(RecipeName(scope)).venue_ids if scope else ()
    return [*read_venue_ids(names, read_held_venues(workspace)), *in_scope]


def _explain_forum(forum_id: str, workspace: Path, connection: Connection) -> "NoReturn":
    """Report the venue of a paper, since papers are harvested by venue; look it up on OpenReview if necessary.

    Raises:
        PeercorpusError: Always.
    """
    from peercorpus.openreview.objects import Note, stated_venues
    from peercorpus.openreview.response_body import UNREADABLE
    from peercorpus.workspace.workspace import open_workspace

    venue_id = None
    if (workspace / "raw.db").is_file():
        with open_workspace(workspace, write=False) as held:
            venue_id = held.raw.roots_among([forum_id]).get(forum_id)
    if venue_id is None:
        asking = _asking(connection, workspace, is_held=False, is_shared=True)
        with asking as (_, client, _):
            for api in (2, 1):
                with suppress(NotGivenError, *UNREADABLE):
                    notes = msgspec.json.decode(client.get_json(api, "/notes", {"id": forum_id}).members["notes"])
                    note = msgspec.convert(notes[0], Note) if notes else Note()
                    venue_id = next(stated_venues(note), None)
                if venue_id is not None:
                    break
    if venue_id is None:
        raise PeercorpusError(f"OpenReview shows no paper '{forum_id}'; name the venue that it was submitted to.")
    typed = shlex.join(["peercorpus", "harvest", venue_id, "-w", str(workspace)])
    raise PeercorpusError(f"Papers are harvested by venue, and '{forum_id}' belongs to '{venue_id}'; run: {typed}")


def _report_harvest(summaries: "list[HarvestSummary]", workspace: Path) -> ExitCode:
    """Print the result of a harvest, and return whether something must be requested again later.

    Raises:
        RefusedAlikeError: All requests of one kind were refused alike; the message states the consequence.
    """
    from peercorpus.cli.text import formatting
    from peercorpus.cli.text import harvest as harvest_texts
    from peercorpus.harvest.harvest import check_refusals, is_complete

    for summary in summaries:
        say(harvest_texts.harvested(summary))
    say(formatting.next_step("build", workspace))
    check_refusals(summaries)
    return ExitCode.DONE if is_complete(summaries) else ExitCode.LATER


@contextmanager
def open_harvest(connection: Connection, folder: Path) -> "Iterator[tuple[Workspace, Client]]":
    """Open the workspace and a client as `harvest` does, with the request budget locked for the whole run."""
    with _asking(connection, folder, is_held=True, is_shared=False) as (opened, client, _):
        yield opened, client


@contextmanager
def _asking(
    connection: Connection,
    folder: Path,
    *,
    is_held: bool,
    is_shared: bool,
) -> "Iterator[tuple[Workspace, Client, ProgressLines]]":
    """Open the workspace and a client with the best available sign-in.

    Args:
        connection: Base URLs of both APIs and a file with a token, if the user named them.
        folder: Folder of the workspace, created if it is missing.
        is_held: Whether to take the lock on the request budget for the whole run.
        is_shared: Whether other runs may use the same budget.
    """
    from peercorpus.harvest.session import Access, open_client

    access = Access(
        url_v1=connection.url_v1,
        url_v2=connection.url_v2,
        token_file=connection.token_file,
        is_held=is_held,
        is_shared=is_shared,
    )
    with ProgressLines() as lines, open_client(folder, access, lines.warn, lines.wait) as (opened, client):
        yield opened, client, lines


def import_(
    paths: Annotated[
        list[Path] | None,
        Parameter(name="PATH", help="File, folder of files, or hf:OWNER/NAME for a dataset on the Hugging Face Hub."),
    ] = None,
    /,
    *,
    workspace: WorkspaceFolder,
    pdfs: Path | None = None,
    keep_going: bool = False,
    venue: str | None = None,
) -> int:
    """Import recorded API responses, published datasets or tables of papers and reviews into a workspace.

    API responses are JSON or JSONL, optionally gzipped, of API v1 or v2, or a table with columns such as
    `content.title`. ReviewBench is Parquet; Re² is `REVIEWS_*.json`, `REBUTTAL_*.json` and manuscripts, in `papers.zip`
    or in a folder. PeerRead and NLPeer are read from their folders, lists of papers with ratings (paperlists) and
    tables of reviews from JSON, JSONL, CSV or Parquet, and texts from a folder beside a table of decisions.

    Every item is new, already there, or set aside with a reason; the last line has the sum. Exit with 1 if
    a file or a record cannot be read, if no record can be used, or if a PDF was left out.

    Parameters
    ----------
    pdfs
        Folder of PDFs that you have: files named FORUM.pdf or by the id of an edit or reference, or listed in one CSV
        file of the folder with the columns forum_id and file, and optionally version (id of an edit, OpenReview's path,
        `current`, or your own words) and when. Papers must be in the workspace, or imported in the same run.
    keep_going
        Exit with 0 although a file or a record cannot be read, if others can.
    venue
        Venue of notes that name none, such as reviews stored without their metadata: a group id such as
        ICLR.cc/2019/Conference. Without it, the venue is the one that the other notes of their forum agree on, or the
        one that the file's name states.
    """
    from peercorpus.cli.text import formatting, imports
    from peercorpus.errors import DumpError
    from peercorpus.importers.import_pdfs import import_pdfs
    from peercorpus.workspace.hub_datasets import parse_repository
    from peercorpus.workspace.workspace import open_workspace

    if not paths and pdfs is None:
        raise DumpError("Nothing to import was named; name a file or folder, or a folder of PDFs with --pdfs.")
    if not paths and (keep_going or venue is not None):
        raise DumpError("--keep-going and --venue are for dumps and datasets; name one, or leave them out.")
    if any(map(parse_repository, paths or ())):
        require_extra("hf", "huggingface_hub")
    is_taken, is_whole = False, True
    with open_workspace(workspace, create=True) as opened:
        if paths:
            is_taken, is_read = _import_dumps(opened, paths, venue)
            is_whole = is_taken and (is_read or keep_going)
        if pdfs is not None:
            imported = import_pdfs(opened, pdfs)
            say(imports.imported_pdfs(imported))
            is_taken, is_whole = True, is_whole and not imported.aside
    if is_taken:
        say(formatting.next_step("build", workspace))
    return ExitCode.DONE if is_whole else ExitCode.FOUND


def _import_dumps(opened: "Workspace", paths: list[Path], venue: str | None) -> tuple[bool, bool]:
    """Import dumps and datasets and print their contents; return whether any of it can be used, and all was read."""
    from peercorpus.cli.text import imports
    from peercorpus.importers.import_dumps import import_dumps
    from peercorpus.pipeline.losses import foresee_losses
    from peercorpus.venues import catalogue
    from peercorpus.venues.short_names import read_venue_id

    venue_id = None if venue is None else read_venue_id(venue, opened.venues())
    summary = import_dumps(opened, paths, venue_id=venue_id)
    losses = foresee_losses(opened, summary)
    say(imports.imported(summary, losses))
    known = [row.id for row in catalogue.rows()]
    if venue_id is not None and venue_id not in known:
        say(imports.unknown_venue(venue_id, known))
    is_useful = any(file.taken for file in summary.files) and not imports.is_useless(summary, losses)
    return is_useful, all(file.is_whole for file in summary.files)

"""The commands `harvest` and `import`."""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from cyclopts import Parameter

from peercorpus.cli.console import OPENREVIEW, Connection, ProgressLines, WorkspaceFolder, say
from peercorpus.cli.options import require_extra
from peercorpus.cli.text.formatting import duration, size
from peercorpus.errors import ExitCode, NotGivenError, PeercorpusError
from peercorpus.execution.requests import EVERYTHING, HarvestRequest
from peercorpus.wording.counted_nouns import plural
from peercorpus.wording.suggestions import find_close
from peercorpus.wording.untrusted_text import escape_controls
from peercorpus.workspace.raw_store import UNPLACED, RawKind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import NoReturn

    from peercorpus.harvest.harvest import HarvestSummary
    from peercorpus.harvest.plan import PlannedStep, VenuePlan
    from peercorpus.importers.datasets import DatasetCounts
    from peercorpus.importers.import_dumps import ImportSummary
    from peercorpus.importers.import_pdfs import PdfImport
    from peercorpus.importers.tally import FileImport, ImportCounts
    from peercorpus.openreview.client import Client
    from peercorpus.pipeline.losses import SourceLoss
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
    request: Annotated[HarvestRequest, Parameter(name="*")] = EVERYTHING,
    plan: bool = False,
    connection: Connection = OPENREVIEW,
) -> int:
    """Fetch venues from OpenReview into a workspace. The same command continues an interrupted run.

    Exit with 1 if OpenReview refused all requests of one kind, with 3 if some requests have to be repeated later.
    A later harvest fetches only what is new, changed or deleted since. It signs in with --token-file, PEERCORPUS_TOKEN,
    the token that `peercorpus login` stored, or PEERCORPUS_USER and PEERCORPUS_PASSWORD, in this order.

    Parameters
    ----------
    plan
        Print how many requests, hours and gigabytes the harvest will take, and stop.
    """
    from peercorpus.harvest.harvest import harvest as run_harvest
    from peercorpus.harvest.plan import plan_harvest
    from peercorpus.openreview.page_urls import is_forum_page, read_forum_id

    for name in filter(is_forum_page, venue_ids or ()):
        _explain_forum(read_forum_id(name), workspace, connection)
    venues = _name_venues(venue_ids or [], request.scope, workspace)
    if not venues:
        raise PeercorpusError("Nothing to harvest was named; name a VENUE_ID, or the scope of a dataset with --scope.")
    # A plan asks for so little that it may go beside a harvest.
    asking = _asking(connection, workspace, is_held=not plan, is_shared=request.share_budget or plan)
    with asking as (opened, client, lines):
        if plan:
            say(planned(plan_harvest(opened, client, venues, request)))
            return ExitCode.DONE
        summaries = run_harvest(opened, client, venues, request, lines.show)
    return _report_harvest(summaries, workspace)


def _name_venues(names: list[str], scope: str | None, workspace: Path) -> list[str]:
    from peercorpus.recipes.recipe import RecipeName, read_recipe
    from peercorpus.venues.venue_names import read_venue_ids
    from peercorpus.workspace.workspace import read_held_venues

    in_scope = read_recipe(RecipeName(scope)).venue_ids if scope else ()
    return [*read_venue_ids(names, read_held_venues(workspace)), *in_scope]


def _explain_forum(forum_id: str, workspace: Path, connection: Connection) -> "NoReturn":
    """Report the venue of a paper, since papers are harvested by venue; look it up on OpenReview if necessary."""
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
    """Print the result of a harvest, and return whether something must be requested again later."""
    from peercorpus.cli.text import formatting
    from peercorpus.harvest.harvest import check_refusals, is_complete

    for summary in summaries:
        say(harvested(summary))
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
    connection: Connection, folder: Path, *, is_held: bool, is_shared: bool
) -> "Iterator[tuple[Workspace, Client, ProgressLines]]":
    """Open the workspace and a client with the best available sign-in."""
    from peercorpus.harvest.session import open_client

    urls, token = (connection.url_v1, connection.url_v2), connection.token_file
    with ProgressLines() as lines:
        access = open_client(folder, urls, token, lines.warn, lines.wait, is_held=is_held, is_shared=is_shared)
        with access as (opened, client):
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
        Folder of PDFs that you have: files named FORUM.pdf or by the id of an edit, or listed in one CSV file of the
        folder with the columns forum_id, file and, optionally, version (id of an edit, OpenReview's path, `current`, or
        your own words) and when. Papers must be in the workspace or the same run.
    keep_going
        Exit with 0 although a file or a record cannot be read, if others can.
    venue
        Id of the venue of notes that name none. Without it, the other notes of their forum or the file's name decide.
    """
    from peercorpus.cli.text import formatting
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
            say(imported_pdfs(imported))
            is_taken, is_whole = True, is_whole and not imported.aside
    if is_taken:
        say(formatting.next_step("build", workspace))
    return ExitCode.DONE if is_whole else ExitCode.FOUND


def _import_dumps(opened: "Workspace", paths: list[Path], venue: str | None) -> tuple[bool, bool]:
    """Import dumps and datasets and print their contents; return whether any of it can be used, and all was read."""
    from peercorpus.importers.import_dumps import import_dumps
    from peercorpus.pipeline.losses import foresee_losses
    from peercorpus.venues import catalogue
    from peercorpus.venues.venue_names import read_venue_id

    venue_id = None if venue is None else read_venue_id(venue, opened.venues())
    summary = import_dumps(opened, paths, venue_id=venue_id)
    losses = foresee_losses(opened, summary)
    say(imported(summary, losses))
    known = [row.id for row in catalogue.rows()]
    if venue_id is not None and venue_id not in known:
        say(unknown_venue(venue_id, known))
    is_useful = any(file.taken for file in summary.files) and not is_useless(summary, losses)
    return is_useful, all(file.is_whole for file in summary.files)


def harvested(summary: "HarvestSummary") -> str:
    """Return what the workspace has of a venue after a harvest, and what the harvest brought."""
    contents = [
        plural(summary.submissions, "submission"),
        plural(summary.replies, "reply"),
        plural(summary.edits, "edit"),
        plural(summary.files, "file"),
    ]
    reasons = ", ".join(f"{reason}: {number:,}" for reason, number in summary.files_not_had.items())
    missing = f", not available: {plural(sum(summary.files_not_had.values()), 'file')} ({reasons})" if reasons else ""
    brought = [f"{summary.came:,} new or changed"] if summary.came else []
    brought += [f"{plural(summary.files_came, 'file')} fetched"] if summary.files_came else []
    came = ", ".join(brought) or "nothing new"
    asked = f"{plural(summary.requests, 'request')}, {came}"
    line = f"{summary.venue_id} (API v{summary.api}): {', '.join(contents)}{missing}; {asked}."
    return "\n".join([line, *(f"  {remark}" for remark in summary.remarks)])


def planned(plans: Sequence["VenuePlan"]) -> str:
    """Return the requests, waiting time and size of each step of a planned harvest, and in total."""
    lines: list[str] = []
    for plan in plans:
        lines.append(f"{plan.venue_id} (API v{plan.api})")
        lines.extend(_planned_step(step) for step in plan.steps)
    steps = [step for plan in plans for step in plan.steps]
    rough = "at least " if any(step.is_rough for step in steps) else ""
    requests = sum(step.requests for step in steps)
    size_bytes = sum(step.size_bytes for step in steps)
    waits = duration(sum(step.seconds for step in steps))
    lines.append(
        f"In total {rough}{plural(requests, 'request')}, {waits} of waiting for the rate limit,"
        f" about {size(size_bytes)}. Nothing was fetched; leave out --plan to begin."
    )
    if rough:
        lines.append("Earlier versions and their files are not included: plan again once the submissions are listed.")
    if not all(step.is_announced for step in steps):
        lines.append("For limits that OpenReview has not announced yet, those seen in 2026 are assumed.")
    return "\n".join(lines)


def _planned_step(step: "PlannedStep") -> str:
    unit = {"listing": "submission", "versions": "note", "files": "file"}[step.what]
    rough = "at least " if step.is_rough else ""
    limit, window_s = step.allowed
    source = "announced" if step.is_announced else "not announced yet"
    wait = f"waits {duration(step.seconds)}" if step.seconds >= 1 else "no waiting"
    megabytes = f", about {size(step.size_bytes)}" if step.size_bytes else ""
    asked = f"{rough}{plural(step.requests, 'request')} for {rough}{plural(step.things, unit)}"
    if step.fewest is not None and step.most is not None and step.fewest < step.most:
        asked += f" ({step.fewest:,} to {step.most:,}, by the length of their replies)"
    way = ", from the list of the venue's edits" if step.by_venue else ""
    way = f", one by one (OpenReview's list of the venue's edits: {step.refusal})" if step.refusal else way
    return f"  {step.what:<9} {asked}{way}{megabytes}: {wait} ({limit:,} in {duration(window_s)}, {source})"


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
    from peercorpus.cli.text.losses import lost

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
    taken = [summary.taken(kind) for kind in RawKind]
    new, known = sum(counts.new for counts in taken), sum(counts.known for counts in taken)
    aside = sum(summary.left_out.values())
    return f"Items: {new + known + aside:,} = {new:,} new + {known:,} already there + {aside:,} set aside."


def _dataset(name: str, counts: "DatasetCounts") -> str:
    """Return the contents of one dataset's records, and which of its venues the catalogue does not name."""
    from peercorpus.venues.venue_names import is_stand_in

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

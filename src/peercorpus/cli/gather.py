"""`peercorpus harvest` and `peercorpus import`: how data comes into a workspace."""

import os
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import parse_qs

from cyclopts import Parameter
from cyclopts.validators import Number

from peercorpus.cli.app import AtLeastOne, UrlV1, UrlV2, WorkspaceFolder, app
from peercorpus.cli.console import ProgressLines, say
from peercorpus.errors import VenueNotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from peercorpus.openreview.client import Client, Patience
    from peercorpus.openreview.token_cache import Urls
    from peercorpus.workspace import Workspace


@app.command
def harvest(
    venue_ids: Annotated[
        list[str],
        Parameter(name="VENUE_ID", help="Group ids such as ICLR.cc/2024/Conference, or addresses of their pages."),
    ],
    /,
    *,
    workspace: WorkspaceFolder,
    limit: Annotated[int | None, AtLeastOne] = None,
    files: bool = True,
    refresh: Annotated[bool, Parameter(negative=())] = False,
    plan: Annotated[bool, Parameter(negative=())] = False,
    max_wait_s: Annotated[float, Parameter(validator=Number(gte=0))] = 7200.0,
    share_budget: Annotated[bool, Parameter(negative=())] = False,
    url_v1: UrlV1 = None,
    url_v2: UrlV2 = None,
    token_file: Path | None = None,
) -> None:
    """Fetch venues from OpenReview into a workspace; stopped at any moment, it continues where it was.

    What is here already is not fetched again: only what is new, changed or gone since. It signs in with --token-file,
    with the token in PEERCORPUS_TOKEN, as `peercorpus login` did, or with PEERCORPUS_USER and PEERCORPUS_PASSWORD.

    Parameters
    ----------
    limit
        Only the first so many submissions of each venue.
    files
        Fetch the PDFs too.
    refresh
        List everything again, and ask again for files that were refused.
    plan
        Say how many requests, hours and gigabytes it will take, and stop.
    max_wait_s
        The longest single wait for OpenReview's request budget; asked for more, it ends and says when to go on.
    share_budget
        Go on where another harvest or another machine uses the same account, whose budget it then shares.
    token_file
        A file that holds a token and that nobody else may read (mode 0600).
    """
    from peercorpus import wording
    from peercorpus.harvest.plan import plan_harvest
    from peercorpus.harvest.run import harvest as run_harvest
    from peercorpus.openreview.client import URL_V1, URL_V2, Patience

    venues = list(map(read_venue_id, venue_ids))
    urls, patience = (url_v1 or URL_V1, url_v2 or URL_V2), Patience(longest_wait_s=max_wait_s)
    # A plan asks for so little that it may go beside a harvest.
    asking = _asking(urls, token_file, workspace, patience, is_held=not plan, is_shared=share_budget or plan)
    with asking as (opened, client, lines):
        if plan:
            say(wording.planned(plan_harvest(opened, client, venues, limit=limit, files=files)))
            return
        show = lines.show
        summaries = run_harvest(opened, client, venues, limit=limit, files=files, refresh=refresh, progress=show)
    for summary in summaries:
        say(wording.harvested(summary))
    say(wording.next_step("build", workspace))


@contextmanager
def _asking(
    urls: "Urls", token_file: Path | None, folder: Path, patience: "Patience", *, is_held: bool, is_shared: bool
) -> "Iterator[tuple[Workspace, Client, ProgressLines]]":
    """A workspace, and a client that is signed in as well as can be, and holds the budget where it is to be held."""
    from peercorpus.openreview.account import owner_of, read_account
    from peercorpus.openreview.budget_lock import hold_budget, state_folder
    from peercorpus.openreview.client import Client
    from peercorpus.openreview.others import Tally
    from peercorpus.workspace import open_workspace

    with ExitStack() as until_done:
        lines = until_done.enter_context(ProgressLines())
        account = read_account(urls, token_file, os.environ, on_wait=lines.wait)
        if is_held:
            states, owner = state_folder(os.environ), owner_of(account)
            until_done.enter_context(hold_budget(states, urls, owner, folder, is_shared=is_shared, warn=lines.say))
        opened = until_done.enter_context(open_workspace(folder, create=True))
        tally = Tally(lines.say, is_shared=is_shared)
        client = Client(*urls, account, patience=patience, ledger=opened.ledger, on_wait=lines.wait, tally=tally)
        yield opened, until_done.enter_context(client), lines


@app.command(name="import")
def import_(
    paths: Annotated[
        list[Path], Parameter(name="PATH", help="A file, a folder of files, or hf:owner/name: a dataset of the Hub.")
    ],
    /,
    *,
    workspace: WorkspaceFolder,
    keep_going: bool = False,
) -> None:
    """Take recorded API dumps into a workspace, or what others published: ReviewBench and Re².

    Dumps are JSON or JSONL, plain or gzip, of API v1 or v2. ReviewBench is Parquet; Re² is `REVIEWS_*.json`,
    `REBUTTAL_*.json`, and manuscripts, packed as `papers.zip` or not.

    Parameters
    ----------
    keep_going
        Leave out what cannot be read, and say so, instead of stopping.
    """
    from peercorpus import wording
    from peercorpus.harvest.dumps import import_dumps
    from peercorpus.workspace import open_workspace

    with open_workspace(workspace, create=True) as opened:
        summary = import_dumps(opened, paths, keep_going=keep_going)
    say(wording.imported(summary))
    if any(file.taken for file in summary.files):
        say(wording.next_step("build", workspace))


def read_venue_id(text: str) -> str:
    """The id of a venue's group, also where the address of its page was given.

    Raises:
        VenueNotFoundError: Nothing was given.
    """
    _, is_address, query = text.strip().partition("#")[0].partition("openreview.net/group?")
    venue_id = parse_qs(query).get("id", [""])[0] if is_address else text.strip()
    if not venue_id:
        raise VenueNotFoundError(f"'{text}' names no venue; give the id of its group, such as ICLR.cc/2024/Conference.")
    return venue_id.rstrip("/") or venue_id

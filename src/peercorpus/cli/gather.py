"""`peercorpus harvest` and `peercorpus import`: how data comes into a workspace."""

import os
from pathlib import Path
from typing import Annotated
from urllib.parse import parse_qs

from cyclopts import Parameter

from peercorpus.cli.app import AtLeastOne, UrlV1, UrlV2, WorkspaceFolder, app
from peercorpus.cli.console import ProgressLines, say
from peercorpus.errors import SignInError, VenueNotFoundError

TOKEN_VARIABLE = "PEERCORPUS_TOKEN"


@app.command
def harvest(
    venue_ids: Annotated[
        list[str], Parameter(name="VENUE_ID", help="The venue's group id, such as ICLR.cc/2024/Conference.")
    ],
    /,
    *,
    workspace: WorkspaceFolder,
    limit: Annotated[int | None, AtLeastOne] = None,
    files: bool = True,
    refresh: bool = False,
    url_v1: UrlV1 = None,
    url_v2: UrlV2 = None,
    token_file: Path | None = None,
) -> None:
    """Fetch venues from OpenReview into a workspace; stopped at any moment, it continues where it was.

    The token of an account is read from the environment variable PEERCORPUS_TOKEN, or from a file.

    Parameters
    ----------
    token_file
        A file that holds the token and that nobody else may read (mode 0600).
    limit
        Only the first so many submissions of each venue.
    files
        Fetch the PDFs too.
    refresh
        List again what was listed completely before.
    """
    from peercorpus import wording
    from peercorpus.harvest.run import harvest as run_harvest
    from peercorpus.openreview.client import URL_V1, URL_V2, Client
    from peercorpus.workspace import open_workspace

    token = read_token(token_file)
    with (
        ProgressLines() as lines,
        open_workspace(workspace, create=True) as opened,
        Client(url_v1 or URL_V1, url_v2 or URL_V2, token, on_wait=lines.wait) as client,
    ):
        summaries = run_harvest(
            opened,
            client,
            list(map(read_venue_id, venue_ids)),
            limit=limit,
            files=files,
            refresh=refresh,
            progress=lines.show,
        )
    for summary in summaries:
        say(wording.harvested(summary))
    say(wording.next_step("build", workspace))


@app.command(name="import")
def import_(
    paths: Annotated[list[Path], Parameter(name="PATH", help="A file, or a folder of files.")],
    /,
    *,
    workspace: WorkspaceFolder,
    keep_going: bool = False,
) -> None:
    """Take recorded API dumps into a workspace: JSON or JSONL, plain or gzip, of API v1 or v2.

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
    return venue_id


def read_token(file: Path | None) -> str | None:
    """The token of the file named, else of the environment; None where there is none.

    Raises:
        SignInError: The file cannot be read, or others may read it.
    """
    if file is None:
        return os.environ.get(TOKEN_VARIABLE) or None
    try:
        mode, token = file.stat().st_mode, file.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise SignInError(f"The token file '{file}' cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise SignInError(f"The token file '{file}' holds no text.") from None
    if mode & 0o077:
        raise SignInError(f"Others may read the token file '{file}'; close it with: chmod 600 '{file}'")
    return token

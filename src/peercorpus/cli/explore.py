"""`peercorpus explore`: the corpus in a browser."""

import os
import sys
import webbrowser
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from peercorpus.cli.app import WorkspaceFolder, app
from peercorpus.cli.console import ProgressLines, say
from peercorpus.errors import MissingExtraError, PeercorpusError


@app.command
def explore(
    *,
    workspace: WorkspaceFolder,
    host: str = "127.0.0.1",
    port: Annotated[int, Parameter(validator=Number(gte=0, lte=65_535))] = 8642,
    no_browser: Annotated[bool, Parameter(negative=())] = False,
    select: str | None = None,
    out: Path | None = None,
) -> None:
    """Search and read the corpus in a browser, on this machine; or write the papers of one of its pages to a file.

    The first start after a build makes a search index, a minute or so for every 15,000 papers.

    Parameters
    ----------
    host
        The address to listen on; only this machine can reach the default.
    port
        The port to listen on; 0 for any that is free.
    no_browser
        Do not open a browser.
    select
        Start nothing: write the papers that a page of the explorer shows, named by what stands behind the '?' in its
        address; empty for all.
    out
        With --select: the file, whose name ends in .csv, .jsonl or .parquet.
    """
    try:
        from peercorpus.explorer.exporting import write_selection
        from peercorpus.explorer.guard import is_loopback
        from peercorpus.explorer.selection import read_selection
        from peercorpus.explorer.serving import open_explorer, serve
    except ModuleNotFoundError as missing:
        raise MissingExtraError(str(missing.name), "web") from None
    from peercorpus.workspace import open_workspace

    if (select is None) != (out is None):
        raise PeercorpusError("--select says which papers and --out where to write them; give both, or neither.")
    asked = read_selection((select or "").removeprefix("?"))
    if asked.faults:
        raise PeercorpusError(" ".join(asked.faults))
    with open_workspace(workspace, write=False) as opened, ProgressLines() as lines:
        explorer = open_explorer(opened, lines.show)
        if select is not None and out is not None:
            count = write_selection(explorer.index, asked, out)
            say(f"{count:,} papers in {out}")
            return
        if not is_loopback(host):
            lines.say(
                f"WARNING: on '{host}' whoever can reach this machine can read the whole corpus, without a password."
            )

        def ready(address: str) -> None:
            say(f"The corpus is at {address} until you press Ctrl-C.")
            if not no_browser and _has_screen():
                webbrowser.open(address)

        serve(explorer, host, port, ready)


def _has_screen() -> bool:
    return sys.platform in {"darwin", "win32"} or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))

"""The command line: the only module that prints or exits."""

import logging
import os
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn, Self
from urllib.parse import parse_qs

from cyclopts import App, CycloptsError, Parameter
from cyclopts.validators import Number

from peercorpus.errors import PeercorpusError, SignInError, VenueNotFoundError

if TYPE_CHECKING:
    from peercorpus.progress import Progress

TOKEN_VARIABLE = "PEERCORPUS_TOKEN"
STOPPED = 130
"""The exit code of a command ended by Ctrl-C."""

FEWEST_PAPERS = 5
"""Of a demo: one for each simulated venue, as a venue without a paper is an error."""

app = App(
    name="peercorpus",
    suppress_keyboard_interrupt=False,
    help="The public peer-review record on OpenReview as a corpus that can be trusted.",
)

WorkspaceFolder = Annotated[Path, Parameter(name=["--workspace", "-w"], help="The folder that holds the corpus.")]
AtLeastOne = Parameter(validator=Number(gte=1))
UrlV1 = Annotated[str | None, Parameter(help="Base URL of API v1.", env_var="PEERCORPUS_URL_V1")]
UrlV2 = Annotated[str | None, Parameter(help="Base URL of API v2.", env_var="PEERCORPUS_URL_V2")]


@app.command
def simulate(
    *,
    port: Annotated[int, Parameter(validator=Number(gte=1, lte=65534))] = 3000,
    papers: Annotated[int, AtLeastOne] = 12,
    seed: int = 0,
    venues: Annotated[tuple[str, ...], Parameter(consume_multiple=True, negative=())] = (),
) -> None:
    """Run an invented OpenReview on this machine that any client can harvest, until it is stopped.

    Parameters
    ----------
    port
        Where API v1 listens; API v2 listens on the next port.
    papers
        How many papers the venues have together.
    seed
        The same seed gives the same world.
    venues
        Only these venues.
    """
    from peercorpus.simulator.server import Service, serve_forever
    from peercorpus.simulator.venues import VENUES
    from peercorpus.simulator.world import build_world

    world = build_world(papers=papers, seed=seed, venues=venues or None)

    notes = [*world.v1.notes.values(), *world.v2.notes.values()]
    created_by = {str(note.get("invitation") or note.get("invitations")) for note in notes}
    held = [venue.venue_id for venue in VENUES if any(f"{venue.venue_id}/" in name for name in created_by)]

    def ready(service: Service) -> None:
        _print(f"API v1: {service.base_url_v1}\nAPI v2: {service.base_url_v2}\nVenues: {', '.join(held)}")
        _print(f"No token is needed; clients that sign in do so as {world.user}, {world.password}. Stop with Ctrl-C.")
        _print(
            f"Harvest it: peercorpus harvest {held[0]} --workspace DIR --url-v1 {service.base_url_v1} "
            f"--url-v2 {service.base_url_v2}"
        )

    serve_forever(world, port, ready)


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

    token = _token(token_file)
    with (
        ProgressLines() as lines,
        open_workspace(workspace, create=True) as opened,
        Client(url_v1 or URL_V1, url_v2 or URL_V2, token, on_wait=lines.wait) as client,
    ):
        summaries = run_harvest(
            opened,
            client,
            list(map(_venue_id, venue_ids)),
            limit=limit,
            files=files,
            refresh=refresh,
            progress=lines.show,
        )
    for summary in summaries:
        _print(wording.harvested(summary))
    _print(wording.next_step("build", workspace))


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
    _print(wording.imported(summary))
    _print(wording.next_step("build", workspace))


@app.command
def build(
    venue_ids: Annotated[
        list[str] | None, Parameter(name="VENUE_ID", help="All venues held, if none is named.")
    ] = None,
    /,
    *,
    workspace: WorkspaceFolder,
    workers: Annotated[int | None, AtLeastOne] = None,
    pdf_timeout_s: Annotated[float, Parameter(validator=Number(gt=0))] = 60.0,
    retry: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """Bring a workspace's tables up to date; only what changed is rebuilt.

    Parameters
    ----------
    workers
        Processes that read PDFs; one per core if not named.
    pdf_timeout_s
        Seconds a single PDF may take.
    retry
        Read PDFs again that took too long, whose reading crashed, or whose file was missing.
    """
    from peercorpus import wording
    from peercorpus.pipeline import build as run_build
    from peercorpus.stage import Options
    from peercorpus.workspace import open_workspace

    options = Options(workers=workers, pdf_timeout_s=pdf_timeout_s, retry=retry)
    with open_workspace(workspace) as opened, ProgressLines() as lines:
        steps = run_build(opened, venue_ids or (), options, lines.show)
    _print(wording.built(steps))
    _print(wording.next_step("publish", workspace, "--out DIR"))


@app.command
def publish(
    venue_ids: Annotated[
        list[str] | None, Parameter(name="VENUE_ID", help="All venues built, if none is named.")
    ] = None,
    /,
    *,
    workspace: WorkspaceFolder,
    out: Path,
) -> None:
    """Write a dataset that `datasets.load_dataset` opens.

    Parameters
    ----------
    out
        The folder to write; one that holds an earlier release of ours is replaced.
    """
    from peercorpus import wording
    from peercorpus.pipeline import require_built
    from peercorpus.publish.run import publish as run_publish
    from peercorpus.workspace import open_workspace

    with ProgressLines() as lines, open_workspace(workspace, write=False) as opened:
        require_built(opened, venue_ids or ())
        summary = run_publish(opened, out, venue_ids or None, lines.show)
    _print(wording.published(summary, out))


@app.command
def status(*, workspace: WorkspaceFolder) -> int:
    """Show rows in, rows out and rows set aside of every stage; exit with 1 if a sum does not agree."""
    from peercorpus import wording
    from peercorpus.pipeline import read_standing
    from peercorpus.workspace import open_workspace

    with open_workspace(workspace, write=False) as opened:
        standing = read_standing(opened)
    _print(wording.standing(standing))
    return 0 if standing.holds else 1


@app.command
def demo(
    *, out: Path = Path("demo"), papers: Annotated[int, Parameter(validator=Number(gte=FEWEST_PAPERS))] = 12
) -> int:
    """Simulate OpenReview, harvest it over HTTP, build, publish and check, offline, in under a minute.

    Parameters
    ----------
    out
        A folder of the demo's own; what an earlier demo left there is replaced.
    papers
        How many papers the simulated venues have together.
    """
    from peercorpus import wording
    from peercorpus.demo import run_demo

    with ProgressLines() as lines:
        result = run_demo(out, papers, lines.say, lines.show)
    _print(wording.standing(result.standing))
    _print(wording.demo_summary(result))
    _print(wording.how_to_load(result.release))
    _print(wording.real_venue(_own_name()))
    return 0 if result.standing.holds else 1


def _venue_id(text: str) -> str:
    """The id of a venue's group, also where the address of its page was given.

    Raises:
        VenueNotFoundError: Nothing was given.
    """
    _, is_address, query = text.strip().partition("#")[0].partition("openreview.net/group?")
    venue_id = parse_qs(query).get("id", [""])[0] if is_address else text.strip()
    if not venue_id:
        raise VenueNotFoundError(f"'{text}' names no venue; give the id of its group, such as ICLR.cc/2024/Conference.")
    return venue_id


def _token(file: Path | None) -> str | None:
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


def _own_name() -> str:
    """How this program is called from here."""
    return "peercorpus" if shutil.which("peercorpus") else sys.argv[0]


def _print(text: str) -> None:
    print(text, flush=True)


class ProgressLines:
    """Progress on standard error: one line rewritten on a terminal, a line now and then elsewhere."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._last_at, self._width = time.monotonic(), 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end_line()

    def _end_line(self) -> None:
        if self._width:
            print(file=sys.stderr, flush=True)
        self._width = 0

    def say(self, sentence: str) -> None:
        """Say what happens next."""
        self._end_line()
        print(sentence, file=sys.stderr, flush=True)

    def wait(self, sentence: str) -> None:
        """Say why nothing moves; on a terminal only, as it is no news once it is over."""
        if self._is_terminal:
            self._show(sentence)

    def show(self, progress: "Progress") -> None:
        """Show how far a piece of work is: often on a terminal; elsewhere at its end, and every ten seconds before."""
        from peercorpus import wording

        is_over = progress.done == progress.total
        patience_s = 0.1 if self._is_terminal else 10
        if is_over or time.monotonic() - self._last_at >= patience_s:
            self._show(wording.progress_line(progress))

    def _show(self, line: str) -> None:
        self._last_at = time.monotonic()
        if not self._is_terminal:
            print(line, file=sys.stderr, flush=True)
            return
        print(f"\r{line:<{self._width}}", end="", file=sys.stderr, flush=True)
        self._width = len(line)


def _fail(error: Exception) -> NoReturn:
    sentence = " ".join(str(error).split())
    print(f"peercorpus: {sentence}", file=sys.stderr)
    sys.exit(2)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command; exit with 0, with 1 where a sum does not agree, with 2 where it cannot be done."""
    # It would say `stamina.retry_scheduled` on stderr before each new attempt.
    logging.getLogger("stamina").addHandler(logging.NullHandler())
    try:
        code = app(arguments, exit_on_error=False, print_error=False, result_action="return_value")
    except (PeercorpusError, CycloptsError) as error:
        _fail(error)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            # Whoever read the output has had enough of it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)
        where = f"'{error.filename}'" if error.filename else "The output, or a file of the workspace,"
        _fail(PeercorpusError(f"{where} cannot be read or written: {error.strerror}."))
    except KeyboardInterrupt:
        print("\nStopped; the same command continues where it was.", file=sys.stderr)
        sys.exit(STOPPED)
    sys.exit(code if isinstance(code, int) else 0)

"""The commands `simulate` and `demo`."""

import shlex
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from peercorpus.cli.console import AtLeastOne, Named, ProgressLines, say
from peercorpus.cli.options import require_extra
from peercorpus.errors import ExitCode, WorkspaceError
from peercorpus.records.enums import Role
from peercorpus.records.reviews import Conversation
from peercorpus.simulator.server.faults import FAULTS, faults_by_name
from peercorpus.simulator.server.service import Service, ServiceBudget, serve_forever, serve_simulator
from peercorpus.simulator.world.holdings import World
from peercorpus.simulator.world.venues import VENUES
from peercorpus.simulator.world.world import build_world, find_venues_with_papers
from peercorpus.wording.counted_nouns import plural

if TYPE_CHECKING:
    from peercorpus.workspace.workspace import Workspace


MIN_DEMO_PAPERS = 5
"""Fewest papers of a demo: one for each simulated venue, as harvesting a venue without a paper is an error."""


@dataclass(frozen=True, slots=True)
class Invented:
    """What the simulated OpenReview contains.

    Parameters
    ----------
    papers
        Number of papers at all venues together.
    seed
        Seed of the invented content; the same seed gives the same content.
    venues
        Only these venues, in their own year and earlier ones.
    large
        Make papers as long as real ones, each with its own text.
    """

    papers: Annotated[int, AtLeastOne] = 12
    seed: int = 0
    venues: Annotated[tuple[str, ...], Parameter(consume_multiple=True, show_default=False)] = ()
    large: bool = False

    def build(self) -> World:
        """Build the invented world.

        Raises:
            PeercorpusError: A venue is unknown.
        """
        return build_world(self.papers, self.seed, self.venues or None, is_large=self.large)


INVENTED = Invented()


def simulate(
    *,
    port: Annotated[int, Parameter(validator=Number(gte=1, lte=65534))] = 3000,
    invented: Annotated[Invented, Parameter(name="*")] = INVENTED,
    fault: Annotated[tuple[str, ...], Parameter(consume_multiple=True, show_default=False)] = (),
    sign_in: bool = False,
    mfa: bool = False,
    budget: Annotated[int, AtLeastOne] = 100_000,
) -> None:
    """Run a simulated OpenReview on this machine, which any client can harvest, until you press Ctrl-C.

    Parameters
    ----------
    port
        Port of API v1; API v2 uses the next port.
    fault
        Faults to inject, one or several: rate_limit, rate_limit_in_words, rate_limit_reset_time, rate_limit_gzip,
        rate_limit_silent, error_500, error_502_html, error_503_empty, dropped, cut_off, slow, truncated_json,
        truncated_file, expired_token, challenge, browser_check, wrong_host, no_count, ignores_after, no_offset,
        no_offset_notes, no_offset_edits, no_offset_references, no_offset_invitations, sort_allowlist, no_domain,
        ignores_domain, unknown_domain, edits_lost, edits_repeated, edits_of_others, edits_of_unlisted, shifting_list,
        note_vanishes, unreadable_too_deep, unreadable_not_utf8, unreadable_half_surrogate, unreadable_nan,
        unreadable_huge_number, unreadable_infinite_number, unreadable_bare_line_break, unreadable_no_value,
        unreadable_nul, unreadable_unmatched_brackets, drips, not_a_pdf, not_a_pdf_inside, zip_without_member,
        zip_of_other, zip_bomb, huge_file, login_429.
    sign_in
        Require a sign-in for notes and files, as OpenReview does.
    mfa
        Require a second factor for signing in.
    budget
        Requests allowed per route in an hour.
    """
    require_extra("demo", "typst", load=True)
    faults = faults_by_name(*fault)
    world = invented.build()
    venue_ids = find_venues_with_papers(world)

    serve_forever(
        serve_simulator(
            world,
            port,
            sign_in_required=sign_in,
            mfa=mfa,
            faults=faults,
            budget=ServiceBudget(budget),
        ),
        lambda service: say(simulating(service, world, venue_ids, fault, asks=sign_in, mfa=mfa)),
    )


def demo(
    *,
    out: Annotated[Path, Named] = Path("demo"),
    papers: Annotated[int, Parameter(validator=Number(gte=MIN_DEMO_PAPERS))] = 12,
) -> int:
    """Try everything offline in under a minute: simulate OpenReview, harvest it, build, publish and check.

    Exit with 1 if rows are missing, as `peercorpus status` does.

    Parameters
    ----------
    out
        Folder of the demo; an earlier demo in it is replaced.
    papers
        Number of papers at all simulated venues together, at least 5.
    """
    require_extra("demo", "typst", load=True)
    from peercorpus.cli.text import publish, status_table
    from peercorpus.harvest.harvest import harvest
    from peercorpus.openreview.client import Client
    from peercorpus.pipeline.build import build
    from peercorpus.pipeline.status import read_status
    from peercorpus.release.publish import publish_release
    from peercorpus.release.published import remember_folder
    from peercorpus.workspace.workspace import open_workspace

    folder = _prepare_output_folder(out)
    release = folder / "release"
    with ProgressLines() as lines, open_workspace(folder / "corpus", create=True) as workspace:
        lines.say("Simulating OpenReview on this machine.")
        with serve_simulator(build_world(papers=papers)) as service:
            lines.say("Harvesting it over HTTP.")
            with Client(service.base_url_v1, service.base_url_v2) as client:
                harvest(workspace, client, [venue.venue_id for venue in VENUES], progress=lines.show)
        lines.say("Building the tables.")
        build(workspace, progress=lines.show)
        lines.say("Publishing the dataset.")
        publish_release(workspace, release, show=lines.show)
        remember_folder(workspace.folder, release)
        standing, made = read_status(workspace), _describe_demo(workspace)
    say(status_table.overview(standing))
    say(f"{made}\nThe corpus is in {folder / 'corpus'}, the dataset in {release}.")
    say(publish.how_to_load(release))
    say(real_venue(_name_program()))
    return ExitCode.DONE if standing.holds else ExitCode.FOUND


def _name_program() -> str:
    """Return how the program can be called: by its name, or otherwise by the path that was called."""
    if shutil.which("peercorpus") is not None:
        return "peercorpus"
    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        return f"{shlex.quote(sys.executable)} -m peercorpus"
    return shlex.quote(str(called)) if called.name == "peercorpus" else "peercorpus"


def simulating(
    service: Service, world: World, venue_ids: Sequence[str], faults: Iterable[str], *, asks: bool, mfa: bool
) -> str:
    """Return the URLs, venues, accounts and faults of a running simulator, and how to harvest it.

    `asks` states that notes and files need a sign-in, `mfa` that a sign-in needs a second factor.
    """
    urls = f"--url-v1 {service.base_url_v1} --url-v2 {service.base_url_v2}"
    need = "Notes and files need a sign-in" if asks else "No token is needed"
    code = f", code {world.code}" if mfa else ""
    return "\n".join(
        [
            f"API v1: {service.base_url_v1}",
            f"API v2: {service.base_url_v2}",
            f"Venues: {', '.join(venue_ids)}",
            f"{need}; sign in as {world.user}, {world.password}{code}."
            f" {world.insider}, with the same password, sees what only the venues may see. Stop with Ctrl-C.",
            *(f"Fault {name}: {FAULTS[name].help}" for name in faults),
            f"Harvest it: peercorpus harvest {venue_ids[0]} --workspace DIR {urls}",
        ]
    )


def _describe_demo(workspace: "Workspace") -> str:
    """Return what a demo made: its liveliest conversation, and the counts."""
    from peercorpus.cli.text.formatting import conversation_lines

    tables, venues = workspace.tables, workspace.raw.venues()
    papers, reviews = (sum(tables.count(name, venue) for venue in venues) for name in ("1-papers", "2-reviews"))
    held = (conversation for venue in venues for conversation in tables.read(Conversation, venue))
    conversations = [conversation for conversation in held if conversation.is_with_reviewer]
    example = conversation_lines(max(conversations, key=_liveliness))
    talks = f"{plural(len(conversations), 'conversation')} with reviewers"
    return f"\n{example}\n\nMade {plural(papers, 'paper')}, {plural(reviews, 'review')}, {talks}."


def real_venue(program: str) -> str:
    """Return the commands for a real venue."""
    return (
        "For a real venue, with an OpenReview account:\n"
        f"  {program} login\n"
        f"  {program} harvest ICLR2024 -w corpus --limit 20\n"
        f"  {program} build -w corpus\n"
        f"  {program} publish -w corpus --out release"
    )


MARK = ".peercorpus-demo"
"""File that marks a folder as the demo's own, which a later demo may empty."""


def _prepare_output_folder(out: Path) -> Path:
    """Create the demo's folder, or empty it if an earlier demo made it."""
    if out.exists() and not out.is_dir():
        raise WorkspaceError(f"'{out}' is a file; name another folder with --out.")
    if out.is_dir() and any(out.iterdir()):
        if not (out / MARK).exists():
            raise WorkspaceError(f"'{out}' contains something other than a demo; name another folder with --out.")
        shutil.rmtree(out)
    out.mkdir(parents=True, exist_ok=True)
    (out / MARK).touch()
    return out


def _liveliness(conversation: Conversation) -> tuple[int, int]:
    """Return a sort key: the number of turns, then the number of author posts merged into them."""
    merged = sum(len(turn.post_ids) for turn in conversation.turns if turn.role is Role.AUTHOR)
    return len(conversation.turns), merged

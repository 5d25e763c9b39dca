"""Whatever goes wrong at the service, a harvest ends complete, or reports what is missing and resumes next time."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from peercorpus.errors import PeercorpusError, SignInError
from peercorpus.execution.progress import Progress
from peercorpus.execution.requests import HarvestRequest
from peercorpus.harvest.harvest import HarvestSummary, harvest
from peercorpus.openreview import listing
from peercorpus.openreview.account import CachedAccount, Credentials, ServiceConnection
from peercorpus.openreview.client import Client
from peercorpus.openreview.retries import Patience
from peercorpus.openreview.tokens import TokenCache
from peercorpus.pipeline.inventory import take_inventory
from peercorpus.simulator.server.damage import CUT_OFF, DROPPED, TRUNCATED, Fault, html_page, server_error
from peercorpus.simulator.server.faults import FAULTS, Faults, faults_by_name, on_path
from peercorpus.simulator.server.requests import Request, write_token
from peercorpus.simulator.server.responses import forbidden, invalid
from peercorpus.simulator.server.service import Service, serve_simulator
from peercorpus.simulator.world.holdings import World
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import Workspace, open_workspace
from standing_clock import StandingClock

Digests = dict[str, str]

HASTY = Patience(attempts=4, first_wait_s=0.001, longest_wait_s=3.0, pauses_s=(0.001,))
MOST_S = 60
"""A harvest of a few papers that takes longer has hung."""

SAYS_A_SECOND = frozenset({"rate_limit", "rate_limit_in_words", "rate_limit_reset_time", "rate_limit_gzip"})
"""Faults that demand a wait of a second, which the clock of these tests skips."""

SAID: dict[str, str] = {
    "challenge": "peercorpus login",
    "browser_check": "peercorpus login",
    "expired_token": "refused the token",
    "wrong_host": "check the id",
    "not_a_pdf": "the same command",
    "not_a_pdf_inside": "the same command",
}
"""The user's message if a harvest cannot end complete; under every other fault it does."""

SLOWER = {"no_domain": "(400 Validation), so the edits", "unknown_domain": "(an empty list of edits), so the edits"}
"""The user's message if a harvest ends complete but takes more requests."""

CHANGES_THE_WORLD = frozenset({"shifting_list", "note_vanishes"})
WITHOUT_BOUNDS = frozenset({"huge_file", "zip_bomb"})
"""Harvested in a separate process, whose memory is measured."""

ELSEWHERE = frozenset({"drips", "login_429", *(name for name in FAULTS if name.startswith("unreadable_"))})
"""Tested separately: here, or in `test_client` and `test_unreadable_objects`."""


@pytest.fixture(autouse=True)
def _in_time() -> Iterator[None]:
    def stop(_: int, __: object) -> None:
        raise TimeoutError(f"not at its end after {MOST_S} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(MOST_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(autouse=True)
def _short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "PAGE_WITH_REPLIES", 2)


@pytest.fixture(scope="module")
def world() -> World:
    return build_world(papers=16)


@pytest.fixture(scope="module")
def undisturbed(world: World, venue_ids: list[str], tmp_path_factory: pytest.TempPathFactory) -> Digests:
    folder = tmp_path_factory.mktemp("undisturbed") / "corpus"
    with serve_simulator(world) as service, open_workspace(folder, create=True) as workspace:
        assert attempt(workspace, service, venue_ids).is_said == ""
        assert {request.path for request in service.requests} >= {*PATHS}
        assert any("," in request.query.get("ids", "") for request in service.requests)
        return take_digests(workspace, venue_ids)


def hastened(faults: Faults) -> Faults:
    """The same faults, with delays a tenth as long."""

    def choose(request: Request) -> Fault | None:
        fault = faults(request)
        return None if fault is None else replace(fault, delay_s=fault.delay_s / 10)

    return choose


def take_digests(workspace: Workspace, venue_ids: list[str]) -> Digests:
    raw, kinds = workspace.raw, [kind.value for kind in RawKind]
    found = {f"{venue} {kind}": raw.digest(kind, venue) for venue in venue_ids for kind in kinds}
    return found | {f"{venue} files": raw.state.files_digest(venue) for venue in venue_ids}


@dataclass(frozen=True)
class Ended:
    """The outcome of a harvest; `waited_s` by the clock of the client."""

    error: PeercorpusError | None
    summaries: list[HarvestSummary]
    problems: list[str]
    waited_s: float

    @property
    def is_said(self) -> str:
        """Return everything reported to the user as missing."""
        remarks = [remark for summary in self.summaries for remark in summary.remarks]
        return " ".join([str(self.error or ""), *remarks, *self.problems]).strip()


def attempt(
    workspace: Workspace,
    service: Service,
    venue_ids: list[str],
    account: CachedAccount | str | None = None,
    *,
    refresh: bool = False,
) -> Ended:
    error, summaries, clock = None, [], StandingClock()
    with Client(service.base_url_v1, service.base_url_v2, account, patience=HASTY, clock=clock) as client:
        try:
            summaries = harvest(workspace, client, venue_ids, request=HarvestRequest(refresh=refresh))
        except PeercorpusError as raised:
            error = raised
    return Ended(error, summaries, problems_of(workspace, venue_ids), clock.waited_s)


def problems_of(workspace: Workspace, venue_ids: list[str]) -> list[str]:
    """Return what the workspace records as not fetched."""
    files = [one.problem for venue in venue_ids for one in workspace.raw.state.files(venue) if one.problem]
    return [*files, *(cause for venue in venue_ids for cause in take_inventory(workspace.raw, venue).edits_not_had)]


def assert_every_file_is_right(workspace: Workspace, world: World, venue_ids: list[str]) -> None:
    held = {path.stem for path in (workspace.folder / "files").rglob("*.pdf")}
    stored = [one for venue in venue_ids for one in workspace.raw.state.files(venue) if one.sha256]
    assert held == {one.sha256 for one in stored}
    for one in stored:
        read = world.v1.files.get(one.path) or world.v2.files[one.path]
        assert workspace.files.read(one.sha256 or "") == read(), one
    assert list(workspace.files.partial.glob("*")) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(FAULTS.keys() - CHANGES_THE_WORLD - WITHOUT_BOUNDS - ELSEWHERE))
@pytest.mark.fault(
    "service",
    "36 of the simulator's 52 named faults, in turn ([all](cli/simulate.md#faults))",
    "the harvest ends complete, or one sentence says what is missing and the same command goes on",
    times=36,
)
def test_a_faulty_harvest_names_what_lacks(
    name: str, world: World, workspace: Workspace, venue_ids: list[str], undisturbed: Digests
) -> None:
    token = write_token(world) if name == "expired_token" else None
    with serve_simulator(world, faults=hastened(faults_by_name(name))) as service:
        ended = attempt(workspace, service, venue_ids, token)
    assert ended.waited_s >= (1 if name in SAYS_A_SECOND else 0)
    assert_every_file_is_right(workspace, world, venue_ids)
    if name not in SAID:
        assert (ended.is_said == "") == (name not in SLOWER)
        assert SLOWER.get(name, "") in ended.is_said
        assert take_digests(workspace, venue_ids) == undisturbed
        return
    assert SAID[name] in ended.is_said
    assert take_digests(workspace, venue_ids) != undisturbed
    with serve_simulator(world) as service:
        again = attempt(workspace, service, venue_ids)
    assert again.is_said == ""
    assert take_digests(workspace, venue_ids) == undisturbed


@pytest.mark.parametrize("name", ["challenge", "browser_check", "expired_token"])
def test_a_required_sign_in_is_reported(name: str, world: World, workspace: Workspace, venue_ids: list[str]) -> None:
    token = write_token(world) if name == "expired_token" else None
    with serve_simulator(world, faults=faults_by_name(name, every=1)) as service:
        ended = attempt(workspace, service, venue_ids, token)
    assert isinstance(ended.error, SignInError)
    assert "PEERCORPUS_TOKEN" in str(ended.error)
    assert "\n" not in str(ended.error)
    assert token is None or token not in str(ended.error)


@pytest.mark.slow
def test_a_temporarily_refused_sign_in_is_tried_again(
    world: World, workspace: Workspace, venue_ids: list[str], undisturbed: Digests, tmp_path: Path
) -> None:
    with serve_simulator(world, sign_in_required=True, faults=faults_by_name("login_429")) as service:
        clock = StandingClock()
        door = ServiceConnection((service.base_url_v1, service.base_url_v2), HASTY, clock=clock)
        account = CachedAccount(door, TokenCache(tmp_path / "settings"), Credentials(world.user, world.password))
        assert attempt(workspace, service, venue_ids, account).is_said == ""
    assert 1 <= clock.waited_s < 60
    assert take_digests(workspace, venue_ids) == undisturbed


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(CHANGES_THE_WORLD))
@pytest.mark.fault("service", "a list that changes between two of its pages", "the list is read again", times=2)
def test_a_changing_list_loses_nothing(
    name: str, world: World, workspace: Workspace, venue_ids: list[str], tmp_path: Path
) -> None:
    with serve_simulator(world, faults=faults_by_name(name)) as service:
        first = attempt(workspace, service, venue_ids)
        assert all(summary.expected == summary.submissions for summary in first.summaries)
        assert_every_file_is_right(workspace, world, venue_ids)
        # What appeared before the current position in the list comes with the next harvest.
        assert attempt(workspace, service, venue_ids).error is None
        with open_workspace(tmp_path / "fresh", create=True) as fresh:
            attempt(fresh, service, venue_ids)
            vanished = {venue: workspace.raw.state.gone(venue) for venue in venue_ids}
            assert len([venue for venue in venue_ids if vanished[venue]]) >= 2
            for venue, gone in vanished.items():
                shown = {note_id for note_id, forum_id in notes(workspace, venue) if not gone & {note_id, forum_id}}
                assert shown == {note_id for note_id, _ in notes(fresh, venue)}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ignores_after", "no_count"])
def test_a_resumed_list_loses_nothing(
    name: str, world: World, workspace: Workspace, venue_ids: list[str], undisturbed: Digests
) -> None:
    def stop(progress: Progress) -> None:
        if progress.what == "listing submissions" and progress.done == 2:
            raise KeyboardInterrupt

    stopped = 0
    with (
        serve_simulator(world, faults=faults_by_name(name)) as service,
        Client(service.base_url_v1, service.base_url_v2, patience=HASTY) as client,
    ):
        for venue in venue_ids:
            with suppress(KeyboardInterrupt):
                harvest(workspace, client, [venue], progress=stop)
            stopped += workspace.raw.state.is_listed(venue) is False
        assert stopped >= 2
        assert attempt(workspace, service, venue_ids).is_said == ""
    assert take_digests(workspace, venue_ids) == undisturbed


def notes(workspace: Workspace, venue_id: str) -> set[tuple[str, str]]:
    return {(note.object_id, note.forum_id) for note in workspace.raw.latest(RawKind.NOTE, venue_id)}


LASTING: dict[str, Fault] = {
    "500": server_error(),
    "dropped": DROPPED,
    "cut off": CUT_OFF,
    "truncated": TRUNCATED,
    "a page": html_page(),
    "400": Fault(invalid("id", "x", "must be something else").answer()),
    "403": Fault(forbidden("Note", "x", "Guest").answer()),
}
FILES = ("/pdf", "/attachment", "/references/pdf", "/notes/edits/attachment")
PATHS = ("/groups", "/invitations", "/notes", "/notes/edits", "/references", *FILES)


@pytest.mark.slow(36)
@pytest.mark.parametrize(
    ("path", "fault"),
    # Half a PDF that arrives unchanged a second time may be all there is.
    [(path, fault) for path in PATHS for fault in LASTING if fault != "truncated" or path not in FILES],
)
def test_a_failing_path_is_retried_later(
    path: str, fault: str, world: World, workspace: Workspace, venue_ids: list[str], undisturbed: Digests
) -> None:
    with serve_simulator(world, faults=on_path(path, LASTING[fault], times=10**6)) as service:
        ended = attempt(workspace, service, venue_ids)
    assert_every_file_is_right(workspace, world, venue_ids)
    if take_digests(workspace, venue_ids) != undisturbed:
        assert ended.is_said != ""
    with serve_simulator(world) as service:
        # Permanent refusals are requested again only if the user asks for that.
        again = attempt(workspace, service, venue_ids, refresh=fault in {"400", "403"})
    assert again.is_said == ""
    assert take_digests(workspace, venue_ids) == undisturbed


MEASURED = """
import json, re, sys
from pathlib import Path
from peercorpus.harvest.harvest import harvest
from peercorpus.openreview.client import Client
from peercorpus.workspace.workspace import open_workspace


def peak_kb():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

before_kb = peak_kb()
folder, url_v1, url_v2, *venue_ids = sys.argv[1:]
with open_workspace(Path(folder), create=True) as workspace, Client(url_v1, url_v2) as client:
    summaries = harvest(workspace, client, venue_ids)
print(json.dumps([peak_kb() - before_kb, [remark for summary in summaries for remark in summary.remarks]]))
"""
"""Prints the kB that a harvest adds to its peak (`getrusage` would start at the peak of the tests' process), and its
remarks."""


def harvest_apart(folder: Path, service: Service, venue_ids: list[str]) -> tuple[int, list[str]]:
    """Harvest in a separate process; return the bytes of memory used, and the remarks."""
    urls = [service.base_url_v1, service.base_url_v2]
    command = [sys.executable, "-c", MEASURED, str(folder), *urls, *venue_ids]
    run = subprocess.run(command, check=True, timeout=MOST_S, capture_output=True, text=True)
    taken_kb, remarks = json.loads(run.stdout)
    return taken_kb * 1024, remarks


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(WITHOUT_BOUNDS))
@pytest.mark.fault(
    "service", "a PDF of endless size, a zip bomb", "the file is set aside with its reason", times=2, lost="that file"
)
def test_an_endless_file_costs_itself_alone(
    name: str, world: World, venue_ids: list[str], undisturbed: Digests, tmp_path: Path
) -> None:
    folder = tmp_path / "corpus"
    with serve_simulator(world, faults=faults_by_name(name)) as service:
        taken_bytes, remarks = harvest_apart(folder, service, venue_ids)
    # Files of more than 200 MB are not read.
    assert taken_bytes < 250_000_000
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < 20_000_000
    with open_workspace(folder) as workspace:
        assert_every_file_is_right(workspace, world, venue_ids)
        said = " ".join([*remarks, *problems_of(workspace, venue_ids)])
        if name == "huge_file":
            assert "200 MB" in said
            assert take_digests(workspace, venue_ids) != undisturbed
            with serve_simulator(world) as service:
                # A file that is too large is requested again only if the user asks for that.
                assert attempt(workspace, service, venue_ids, refresh=True).is_said == ""
        else:
            assert said == ""
        assert take_digests(workspace, venue_ids) == undisturbed

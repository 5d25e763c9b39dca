"""The lock of a budget: one harvest at a time for each account and service, released however a run ends."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import pytest

from peercorpus.errors import SharedBudgetError
from peercorpus.openreview.account import Credentials, name_budget_owner, read_account
from peercorpus.openreview.budget import hold_budget, state_folder
from peercorpus.simulator.server.requests import write_token
from peercorpus.simulator.world.world import build_world

URLS = ("https://api.example", "https://api2.example")
HOLDER = """
import signal, sys
from pathlib import Path
from peercorpus.openreview.budget import hold_budget

with hold_budget(Path(sys.argv[1]), ("a", "b"), "me", Path("first"), is_shared=False, warn=print):
    print("held", flush=True)
    signal.pause()
"""


class Locks:
    """Holds budgets as one user would, and records every warning."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.said = folder, list[str]()

    def hold(
        self, owner: str = "me", urls: tuple[str, str] = URLS, workspace: str = "corpus", *, is_shared: bool = False
    ) -> AbstractContextManager[None]:
        return hold_budget(self.folder, urls, owner, Path(workspace), is_shared=is_shared, warn=self.said.append)


@pytest.fixture
def locks(tmp_path: Path) -> Locks:
    return Locks(tmp_path / "state")


@pytest.fixture
def held(locks: Locks) -> Iterator[None]:
    with locks.hold(workspace="/somewhere/first"):
        yield


@pytest.mark.usefixtures("held")
def test_a_second_harvest_is_refused_with_the_process_that_uses_the_budget_and_advice(locks: Locks) -> None:
    with pytest.raises(SharedBudgetError) as caught, locks.hold():
        pass
    sentence = str(caught.value)
    assert "'/somewhere/first'" in sentence
    assert f"process {os.getpid()})" in sentence
    assert " me;" in sentence
    assert "--share-budget" in sentence


@pytest.mark.usefixtures("held")
@pytest.mark.parametrize(
    "other", [("you", URLS), ("me", (URLS[0], "https://api3.example")), ("me", ("http://127.0.0.1:1", URLS[1]))]
)
def test_another_account_or_service_is_not_locked(locks: Locks, other: tuple[str, tuple[str, str]]) -> None:
    with locks.hold(*other):
        assert locks.said == []


@pytest.mark.usefixtures("held")
def test_an_address_is_the_same_however_it_is_written(locks: Locks) -> None:
    with pytest.raises(SharedBudgetError), locks.hold("ME", ("https://API.example/", "https://api2.example/")):
        pass


def test_a_sharing_harvest_runs_beside_others_and_blocks_exclusive_ones(locks: Locks) -> None:
    with ExitStack() as first:
        first.enter_context(locks.hold(is_shared=True))
        with locks.hold(is_shared=True):
            first.close()
            with pytest.raises(SharedBudgetError), locks.hold():
                pass
    with ExitStack() as first:
        first.enter_context(locks.hold())
        with locks.hold(is_shared=True):
            first.close()
            with pytest.raises(SharedBudgetError) as caught, locks.hold():
                pass
    assert "into the workspace" not in str(caught.value)
    with locks.hold():
        pass
    assert locks.said == []


def test_an_owner_name_that_cannot_be_written_is_only_left_out(locks: Locks) -> None:
    with locks.hold(workspace="/not \udcff utf-8"), pytest.raises(SharedBudgetError), locks.hold():
        pass


@pytest.mark.fault("kill", "a process that holds the request budget, by SIGKILL", "the next one is not held up")
def test_a_killed_process_leaves_no_lock(locks: Locks) -> None:
    command = [sys.executable, "-c", HOLDER, str(locks.folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(SharedBudgetError, match=rf"process {process.pid}\)"), locks.hold("me", ("a", "b")):
            pass
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=30)
        with locks.hold("me", ("a", "b")):
            pass


def test_lock_files_are_readable_by_their_owner_only(locks: Locks) -> None:
    with locks.hold():
        assert locks.folder.stat().st_mode & 0o777 == 0o700
        assert [path.stat().st_mode & 0o777 for path in locks.folder.iterdir()] == [0o600] * 2


def test_an_unwritable_lock_folder_is_reported_and_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    locks = Locks(tmp_path / "file" / "state")
    with locks.hold(), locks.hold():
        pass
    (said, _) = locks.said
    assert f"'{locks.folder}' (Not a directory)" in said


def test_a_failing_harvest_is_not_mistaken_for_a_failing_lock(locks: Locks) -> None:
    with pytest.raises(OSError, match="of the harvest"), locks.hold():
        raise OSError("of the harvest")
    assert locks.said == []


def test_locks_are_in_the_users_state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert state_folder({"PEERCORPUS_CONFIG": str(tmp_path)}) == tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_folder({}) == tmp_path / "peercorpus"
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert state_folder({}).is_relative_to(Path.home())


def test_an_account_is_the_same_owner_by_token_cache_and_password(tmp_path: Path) -> None:
    world, environ = build_world(papers=1), {"PEERCORPUS_CONFIG": str(tmp_path)}
    token = write_token(world, 3600)
    by_token = read_account(URLS, None, {**environ, "PEERCORPUS_TOKEN": token})
    own = Credentials(world.user, world.password)
    by_password = read_account(URLS, None, {**environ, "PEERCORPUS_USER": own.user, "PEERCORPUS_PASSWORD": "x"})
    assert name_budget_owner(by_token) == name_budget_owner(by_password) == f"the account '{world.user}'"
    assert name_budget_owner(None) == "guests at this address"
    assert token not in name_budget_owner(by_token)
    assert name_budget_owner("opaque").startswith("the token ")
    assert "opaque" not in name_budget_owner("opaque")

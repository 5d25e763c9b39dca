"""One harvest at a time on this machine for each budget of a service: a lock in the user's own folder of states."""

import fcntl
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import IO

import msgspec
from msgspec import field

from peercorpus.errors import SharedBudgetError
from peercorpus.openreview.token_cache import CONFIG_VARIABLE, Urls


class _Holder(msgspec.Struct):
    """Who holds a budget, as the file of the lock says."""

    workspace: str
    process: int
    machine: str = field(default_factory=socket.gethostname)


@contextmanager
def hold_budget(
    folder: Path, urls: Urls, owner: str, workspace: Path, *, is_shared: bool, warn: Callable[[str], None]
) -> Iterator[None]:
    """Hold the budget of an account at a service; a process that ends, in whatever way, holds none.

    Args:
        folder: Where the locks of a user lie; made, for its owner alone, where it is not there.
        urls: The service.
        owner: Whom the service gives the budget; see `account.owner_of`.
        workspace: What it is held for; told to others.
        is_shared: Go on beside others that hold it; those that do not share it are refused all the same.
        warn: Told in a sentence where no lock can be had there; then all goes on without one.

    Raises:
        SharedBudgetError: Another process holds it.
    """
    with ExitStack() as until_done:
        try:
            present = until_done.enter_context(_opened(folder, urls, owner, "present"))
            alone = None if is_shared else until_done.enter_context(_opened(folder, urls, owner, "alone"))
            is_held = alone is not None and not _has_locked(alone)
            is_shared_by_others = alone is not None and not is_held and not _has_locked(present)
            # Who shares it is seen by those that come later, whoever ends first.
            fcntl.flock(present, fcntl.LOCK_SH)
        except OSError as error:
            warn(
                f"No lock can be had in '{folder}' ({error.strerror}): see to it that no other harvest uses the same"
                " account."
            )
        else:
            if is_held or is_shared_by_others:
                raise SharedBudgetError(_refusal(_read(alone) if alone and is_held else None, owner))
            if alone is not None:
                _write(alone, _Holder(os.fsencode(workspace.absolute()).decode("utf-8", "replace"), os.getpid()))
        yield


def _opened(folder: Path, urls: Urls, owner: str, what: str) -> IO[bytes]:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    key = " ".join([*(url.rstrip("/") for url in urls), owner]).casefold()
    path = folder / f"budget-{sha256(key.encode()).hexdigest()[:16]}.{what}.lock"
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b")


def _has_locked(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _write(file: IO[bytes], holder: _Holder) -> None:
    """Say who holds it: a courtesy, without which the lock holds as well."""
    with suppress(OSError):
        file.truncate()
        file.write(msgspec.json.encode(holder))
        file.flush()


def _read(file: IO[bytes]) -> _Holder | None:
    """Who holds it; None where that is just being written."""
    try:
        return msgspec.json.decode(file.read(), type=_Holder)
    except msgspec.DecodeError:
        return None


def _refusal(holder: _Holder | None, owner: str) -> str:
    where = ""
    if holder is not None:
        machine = "" if holder.machine == socket.gethostname() else f" on {holder.machine}"
        where = f" into the workspace '{holder.workspace}' (process {holder.process}{machine})"
    return (
        f"Another harvest{where} is spending the request budget that OpenReview gives {owner}; wait until it ends, name"
        " the venues of both in one command, or go on beside it with --share-budget."
    )


def state_folder(environ: Mapping[str, str]) -> Path:
    """The folder of a user's locks: below the folder of the token cache where that was named.

    Source: XDG Base Directory Specification 0.8, by which a relative `XDG_STATE_HOME` is ignored.
    """
    if named := environ.get(CONFIG_VARIABLE):
        return Path(named) / "state"
    states = Path(environ.get("XDG_STATE_HOME", ""))
    return (states if states.is_absolute() else Path.home() / ".local" / "state") / "peercorpus"

"""Refuse a command, before it begins, if a limit of the address space (`ulimit -v`) is too low for its libraries.

Below what they need, Polars, Delta Lake and OpenBLAS end the process themselves, hang, or report an intact file
as damaged.
"""

import os
from collections.abc import Sequence

from peercorpus.errors import PeercorpusError

_LEAST_MIB = 512
"""Address space of commands that open no table, in MiB: at 400 a library could not be loaded, at 600 all of them ran
(November 2026)."""
_TABLES_MIB = 4096
"""Address space of all other commands, in MiB: `build` of 12 papers reserves 3,700 on two cores, and ended by itself at
3,000; most of it is never used."""

_LIGHT = {"convert", "harvest", "import", "login", "logout", "simulate", "venues", "--help", "-h", "--version"}
"""Commands that open no table."""
_HELP = {"--help", "-h"}

_FEW_THREADS_MIB = 16_384
_FEW_THREADS = {
    "OPENBLAS_NUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
    "TOKIO_WORKER_THREADS": "1",
    "_RJEM_MALLOC_CONF": "background_thread:false",
}
"""Settings of the libraries below that limit: otherwise each starts a thread per core, which reserves up to 72 MiB."""


def read_limit_mib() -> int | None:
    """Return the limit of this process's address space in MiB; None if there is none."""
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    limit_bytes, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit_bytes == resource.RLIM_INFINITY else limit_bytes >> 20


def prepare_for_limit(arguments: Sequence[str]) -> None:
    """Make libraries start fewer threads if the address space is limited.

    Args:
        arguments: The command and its arguments.

    Raises:
        PeercorpusError: The limit is too low for the command.
    """
    limit_mib = read_limit_mib()
    if limit_mib is None:
        return
    needed_mib = _LEAST_MIB if not arguments or arguments[0] in _LIGHT or arguments[-1] in _HELP else _TABLES_MIB
    if limit_mib < needed_mib:
        raise PeercorpusError(
            f"'ulimit -v' limits this process to {limit_mib:,} MiB of address space, and this command needs"
            f" {needed_mib:,}; raise the limit, such as with 'ulimit -v unlimited'."
        )
    if limit_mib < _FEW_THREADS_MIB:
        for name, value in _FEW_THREADS.items():
            os.environ.setdefault(name, value)


def explain_memory_limit(error: Exception) -> str | None:
    """Return that memory is limited, if that may be why no library could be loaded or no thread started; else None."""
    is_memory = isinstance(error, ImportError | MemoryError) or str(error) == "can't start new thread"
    limit_mib = read_limit_mib()
    if limit_mib is None or not is_memory or isinstance(error, ModuleNotFoundError):
        return None
    cause = f" ({error})" if str(error) else ""
    return (
        f"There is too little memory{cause}: this process may use {limit_mib:,} MiB of address space; raise the limit,"
        " such as with 'ulimit -v unlimited'."
    )

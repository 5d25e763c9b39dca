"""Run the command line: register all commands and turn errors into messages and exit codes."""

import logging
import os
import signal
import sqlite3
import sys
from collections.abc import Sequence
from typing import NoReturn

from cyclopts import CycloptsError

from peercorpus.cli import (
    audit,
    benchmark,
    build,
    finetune,
    harvest,
    login,
    mcp,
    recipe,
    release,
    report,
    simulate,
    venues,
    workspace,
)
from peercorpus.cli.console import app
from peercorpus.errors import PeercorpusError

__all__ = [
    "app",
    "audit",
    "benchmark",
    "build",
    "finetune",
    "harvest",
    "login",
    "main",
    "mcp",
    "recipe",
    "release",
    "report",
    "simulate",
    "venues",
    "workspace",
]

STOPPED = 130
"""Exit code of a command that Ctrl-C or SIGTERM ended: 128 + SIGINT, as shells report it."""


def _fail(error: Exception) -> NoReturn:
    from peercorpus.records.untrusted_text import escape_controls

    sentence = " ".join(str(error).split())
    print(f"peercorpus: {escape_controls(sentence, len(sentence))}", file=sys.stderr)
    sys.exit(2)


def _stop(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and exit.

    Exit codes: 0 for success; 1 if a check failed or something could not be done for every item; 2 if the command
    cannot be carried out, with one sentence on standard error; 130 if it was interrupted.

    Args:
        arguments: Arguments of the command line; None takes them from `sys.argv`.
    """
    # stamina logs a warning before each new attempt. Without a handler Python prints it on stderr, and Inspect's
    # handler of the root logger prints it on stdout.
    retries = logging.getLogger("stamina")
    retries.addHandler(logging.NullHandler())
    retries.propagate = False
    # Schedulers send SIGTERM before they kill a process; treat it like Ctrl-C.
    signal.signal(signal.SIGTERM, _stop)
    try:
        code = app(arguments, exit_on_error=False, print_error=False, result_action="return_value")
    except (PeercorpusError, CycloptsError) as error:
        _fail(error)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            # The reader, such as `head`, closed the pipe: not an error.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)
        where = f"'{error.filename}'" if error.filename else "The output, or a file of the workspace,"
        _fail(PeercorpusError(f"{where} cannot be read or written: {error.strerror or error}."))
    except sqlite3.Error as error:
        from peercorpus.workspace.workspace import translate_database_error

        _fail(translate_database_error(error, "raw.db"))
    except KeyboardInterrupt:
        print("\nStopped; run the same command again to continue.", file=sys.stderr)
        sys.exit(STOPPED)
    sys.exit(code if isinstance(code, int) else 0)

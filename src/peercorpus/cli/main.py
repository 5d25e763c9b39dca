"""Run the command line: register all commands and turn errors into messages and exit codes."""

import logging
import os
import signal
import sqlite3
import sys
import traceback
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
from peercorpus.errors import ExitCode, PeercorpusError

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


def _fail(sentence: str, code: ExitCode) -> NoReturn:
    from peercorpus.records.untrusted_text import escape_controls

    sentence = " ".join(sentence.split())
    print(f"peercorpus: {escape_controls(sentence, len(sentence))}", file=sys.stderr)
    sys.exit(code)


def _stop(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and exit.

    The exit code is an `ExitCode`. If a command cannot be carried out, standard error says why in one sentence.

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
    except PeercorpusError as error:
        _fail(str(error), error.exit_code)
    except CycloptsError as error:
        _fail(str(error), ExitCode.REFUSED)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            # The reader, such as `head`, closed the pipe: not an error.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(ExitCode.DONE)
        where = f"'{error.filename}'" if error.filename else "The output, or a file of the workspace,"
        # An object store that cannot be reached is a ConnectionError.
        is_network = isinstance(error, ConnectionError | TimeoutError)
        _fail(
            f"{where} cannot be read or written: {error.strerror or error}.",
            ExitCode.LATER if is_network else ExitCode.REFUSED,
        )
    except sqlite3.Error as error:
        _fail(
            f"The workspace's raw.db cannot be read or written ({error}); check that its disk has room.",
            ExitCode.REFUSED,
        )
    except KeyboardInterrupt:
        print("\nStopped; run the same command again to continue.", file=sys.stderr)
        sys.exit(ExitCode.STOPPED)
    except Exception:  # noqa: BLE001 -- Python's own code for it is 1, which says that something was found
        traceback.print_exc()
        _fail("This is a defect of peercorpus; please report it with the lines above.", ExitCode.DEFECT)
    sys.exit(code if isinstance(code, int) else ExitCode.DONE)

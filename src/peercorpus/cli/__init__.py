"""The command line: the only room that prints or exits."""

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
    audit_grades,
    bench,
    catalogue,
    convert,
    dialogues,
    explore,
    export,
    finetune,
    forms,
    gather,
    make,
    move,
    pushing,
    releasing,
    report,
    show,
    signing,
    simulate,
    takedown,
)
from peercorpus.cli.app import app
from peercorpus.errors import PeercorpusError

__all__ = [
    "app",
    "audit",
    "audit_grades",
    "bench",
    "catalogue",
    "convert",
    "dialogues",
    "explore",
    "export",
    "finetune",
    "forms",
    "gather",
    "main",
    "make",
    "move",
    "pushing",
    "releasing",
    "report",
    "show",
    "signing",
    "simulate",
    "takedown",
]

STOPPED = 130
"""The exit code of a command ended by Ctrl-C."""


def _fail(error: Exception) -> NoReturn:
    sentence = " ".join(str(error).split())
    print(f"peercorpus: {sentence}", file=sys.stderr)
    sys.exit(2)


def _stop(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command; exit with 0, with 1 where a sum does not agree, with 2 where it cannot be done."""
    # It would say `stamina.retry_scheduled` on stderr before each new attempt.
    logging.getLogger("stamina").addHandler(logging.NullHandler())
    # What a scheduler sends before it kills ends a command as Ctrl-C does.
    signal.signal(signal.SIGTERM, _stop)
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
        _fail(PeercorpusError(f"{where} cannot be read or written: {error.strerror or error}."))
    except sqlite3.Error as error:
        _fail(
            PeercorpusError(f"The workspace's raw.db cannot be read or written ({error}); see that its disk has room.")
        )
    except KeyboardInterrupt:
        print("\nStopped; run the same command again to go on.", file=sys.stderr)
        sys.exit(STOPPED)
    sys.exit(code if isinstance(code, int) else 0)

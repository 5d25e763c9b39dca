"""Run the command line: turn errors and signals into messages and exit codes."""

import logging
import sqlite3
import sys
from collections.abc import Sequence
from typing import NoReturn

from peercorpus.cli.interrupts import STOPPED, catch_signals
from peercorpus.cli.streams import discard, prepare_streams, print_notice
from peercorpus.errors import PeercorpusError


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and exit.

    Exit codes: 0 for success; 1 if a check failed or something could not be done for every item; 2 if the command
    cannot be carried out, with one sentence on standard error; 130 if it was interrupted.

    Args:
        arguments: Arguments of the command line; None takes them from `sys.argv`.
    """
    catch_signals()
    prepare_streams()
    # stamina logs a warning before each new attempt. Without a handler Python prints it on stderr, and Inspect's
    # handler of the root logger prints it on stdout.
    retries = logging.getLogger("stamina")
    retries.addHandler(logging.NullHandler())
    retries.propagate = False
    try:
        sys.exit(_run(arguments))
    except KeyboardInterrupt:
        print_notice("\nStopped; run the same command again to continue.")
        sys.exit(STOPPED)


def _run(arguments: Sequence[str] | None) -> int:
    """Run one command and return its exit code."""
    # Imported here, so that an interrupt during the imports ends the command like any other.
    from cyclopts import CycloptsError

    from peercorpus.cli.commands import app

    try:
        code = app(arguments, exit_on_error=False, print_error=False, result_action="return_value")
    except (PeercorpusError, CycloptsError) as error:
        return _fail(str(error))
    except BrokenPipeError:
        discard(sys.stdout)  # The reader, such as `head`, closed the pipe: not an error.
        return 0
    except OSError as error:
        where = f"'{error.filename}'" if error.filename else "The output, or a file of the workspace,"
        return _fail(f"{where} cannot be read or written: {error.strerror or error}.")
    except sqlite3.Error as error:
        return _fail(f"The workspace's raw.db cannot be read or written ({error}); check that its disk has room.")
    return code if isinstance(code, int) else 0


def _fail(message: str) -> int:
    from peercorpus.records.untrusted_text import escape_controls

    sentence = " ".join(message.split())
    print_notice(f"peercorpus: {escape_controls(sentence, len(sentence))}")
    return 2

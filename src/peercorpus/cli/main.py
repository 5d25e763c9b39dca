"""Run the command line: turn errors and signals into messages and exit codes."""

import logging
import sqlite3
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

from peercorpus.cli.interrupts import catch_signals, prefer_interrupt, settle_interrupt
from peercorpus.cli.streams import discard, prepare_streams, print_notice
from peercorpus.errors import ExitCode, PeercorpusError


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and exit.

    The exit code is an `ExitCode`. If a command cannot be carried out, standard error says why in one sentence.

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
        settle_interrupt()
        print_notice("\nStopped; run the same command again to continue.")
        sys.exit(ExitCode.STOPPED)


def _run(arguments: Sequence[str] | None) -> int:
    """Run one command and return its exit code."""
    # Imported here, so that an interrupt during the imports ends the command like any other.
    from cyclopts import CycloptsError

    from peercorpus.cli.commands import app

    try:
        with prefer_interrupt():
            code = app(arguments, exit_on_error=False, print_error=False, result_action="return_value")
    except PeercorpusError as error:
        return _fail(str(error), error.exit_code)
    except CycloptsError as error:
        return _fail(str(error))
    except BrokenPipeError:
        discard(sys.stdout)  # The reader, such as `head`, closed the pipe: not an error.
        return ExitCode.DONE
    except OSError as error:
        where = f"'{error.filename}'" if error.filename else "The output, or a file of the workspace,"
        # An object store that cannot be reached is a ConnectionError.
        is_network = isinstance(error, ConnectionError | TimeoutError)
        code = ExitCode.LATER if is_network else ExitCode.REFUSED
        return _fail(f"{where} cannot be read or written: {error.strerror or error}.", code)
    except sqlite3.Error as error:
        from peercorpus.workspace.workspace import translate_database_error

        return _fail(str(translate_database_error(error, "raw.db")))
    except Exception as error:  # noqa: BLE001 -- Python's own code for it is 1, which says that something was found
        limited = _explain_memory_limit(error)
        if limited is not None:
            return _fail(limited)
        traceback.print_exc()
        return _fail("This is a defect of peercorpus; please report it with the lines above.", ExitCode.DEFECT)
    return code if isinstance(code, int) else ExitCode.DONE


def _explain_memory_limit(error: Exception) -> str | None:
    """Return that memory is limited, if that may be why no library could be loaded or no thread started; else None."""
    if sys.platform == "win32" or isinstance(error, ModuleNotFoundError):
        return None
    import resource

    limit_bytes, _ = resource.getrlimit(resource.RLIMIT_AS)
    is_memory = isinstance(error, ImportError | MemoryError) or str(error) == "can't start new thread"
    if limit_bytes == resource.RLIM_INFINITY or not is_memory:
        return None
    return (
        f"There is too little memory ({error}): this process may use {limit_bytes >> 20:,} MiB of address space; raise"
        " the limit, such as with 'ulimit -v unlimited'."
    )


def _fail(message: str, code: ExitCode = ExitCode.REFUSED) -> ExitCode:
    from peercorpus.records.untrusted_text import escape_controls

    sentence = " ".join(message.split())
    print_notice(f"peercorpus: {escape_controls(sentence, len(sentence))}")
    return code

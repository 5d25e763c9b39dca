"""Run one command: turn errors into messages and exit codes."""

import logging
import os
import shlex
import sqlite3
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from peercorpus.cli.interrupts import catch_signals, prefer_interrupt
from peercorpus.cli.streams import discard, prepare_streams, print_notice
from peercorpus.errors import ExitCode, PeercorpusError
from peercorpus.wording.suggestions import find_close

if TYPE_CHECKING:
    from cyclopts import CycloptsError
    from cyclopts.exceptions import MissingArgumentError


def run_command(arguments: Sequence[str] | None) -> int:
    """Run one command and return its exit code; if it cannot be carried out, print why in one sentence.

    Raises:
        KeyboardInterrupt: The command was interrupted.
    """
    catch_signals()
    prepare_streams()
    # stamina logs a warning before each new attempt. Without a handler Python prints it on stderr, and Inspect's
    # handler of the root logger prints it on stdout.
    retries = logging.getLogger("stamina")
    retries.addHandler(logging.NullHandler())
    retries.propagate = False
    try:
        with prefer_interrupt():
            code = _call(arguments)
    except PeercorpusError as error:
        return _fail(str(error), error.exit_code)
    except BrokenPipeError:
        discard(sys.stdout)  # The reader, such as `head`, closed the pipe: not an error.
        return ExitCode.DONE
    except OSError as error:
        if (absent := _find_absent_folder(error)) is not None:
            return _fail(f"'{error.filename}' cannot be written: there is no folder '{absent}'; create it.")
        where = f"'{error.filename}'" if error.filename else "The output, or a file of the workspace,"
        # An object store that cannot be reached is a ConnectionError.
        is_network = isinstance(error, ConnectionError | TimeoutError)
        code = ExitCode.LATER if is_network else ExitCode.REFUSED
        return _fail(f"{where} cannot be read or written: {error.strerror or error}.", code)
    except sqlite3.Error as error:
        from peercorpus.workspace.workspace import translate_database_error

        return _fail(str(translate_database_error(error, "raw.db")))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: BLE001 -- Python would exit with 1, which says that something was found
        return _fail_by_defect()
    return code if isinstance(code, int) else ExitCode.DONE


def _call(arguments: Sequence[str] | None) -> object:
    # Imported here, so that an import that is interrupted or fails ends the command like any other error.
    from cyclopts import CycloptsError

    from peercorpus.cli.commands import call_command

    _require_folder()
    _forget_blank_variables()
    try:
        return call_command(arguments)
    except CycloptsError as error:
        raise PeercorpusError(_explain_arguments(error, sys.argv[1:] if arguments is None else arguments)) from None


def _find_absent_folder(error: OSError) -> Path | None:
    """Return the folder without which a file cannot be written; None if something else is wrong."""
    if not isinstance(error, FileNotFoundError) or not isinstance(error.filename, str):
        return None
    folder = Path(error.filename).parent
    return None if folder.exists() else folder


def _require_folder() -> None:
    """Check that the current folder exists, as relative paths begin there."""
    try:
        Path.cwd()
    except FileNotFoundError:
        raise PeercorpusError(
            "The current folder was deleted; change to another folder and run the command again."
        ) from None


def _forget_blank_variables() -> None:
    """Take an empty variable of ours for one that is not set, here and in processes that are started."""
    for name, value in list(os.environ.items()):
        if name.startswith("PEERCORPUS_") and not value.strip():
            del os.environ[name]


MOST_TYPED = 200
"""Longest command that a message repeats, in characters; our choice."""


NEEDS_ARGUMENT = frozenset({"harvest", "import", "takedown"})
"""Commands whose argument may be left out only for an option that replaces it."""


def _name_workspace(error: "MissingArgumentError", arguments: Sequence[str]) -> str:
    """Return the message that no workspace was named, with the command to type, including all else that it lacks."""
    command = error.command_chain or ()
    folder = next((token for token in arguments if token not in command and Path(token).is_dir()), None)
    left = [token for token in arguments if token not in command and token != folder]
    typed = " ".join([shlex.join([*command, *left]), *_list_missing(error, left)])
    if len(typed) > MOST_TYPED:
        typed = f"{shlex.join(command)} …"
    named = f"-w {'FOLDER' if folder is None else shlex.quote(folder)}"
    return f"No workspace was named; type: peercorpus {typed} {named}. Or set PEERCORPUS_WORKSPACE."


def _list_missing(error: "MissingArgumentError", given: Sequence[str]) -> Iterator[str]:
    """Yield what a command needs beside a workspace and was not given, in capital letters."""
    command = " ".join(error.command_chain or ())
    collection = error.app.assemble_argument_collection() if error.app is not None else ()
    for argument in collection:
        if argument.name in {"--workspace", "*"}:  # "*" are options in a class of their own.
            continue
        if not argument.name.startswith("-"):
            if (argument.required or command in NEEDS_ARGUMENT) and not given:
                yield argument.name
        elif argument.required and not {*argument.names}.intersection(given):
            yield f"{argument.name} {argument.name.strip('-').upper()}"


def _explain_missing(error: "MissingArgumentError", arguments: Sequence[str]) -> str:
    """Return which option or argument is missing, or which option lacks its value."""
    command = " ".join(["peercorpus", *(error.command_chain or ())])
    name = "An argument" if error.argument is None else error.argument.name
    if error.argument is not None and {*error.argument.names}.intersection(arguments):
        return f"Option {name} has no value; write it behind the option. See '{command} --help'."
    kind = "Option " if name.startswith("-") else ""
    return f"{kind}{name} is missing; see '{command} --help'."


def _explain_unknown(token: str, names: Iterable[str]) -> str:
    """Return that there is no such option or command, with the nearest one."""
    kind = "option" if token.startswith("-") else "command"
    close = find_close(token, names)
    hint = "see 'peercorpus --help'." if close is None else f"did you mean '{close}'?"
    return f"Unknown {kind} '{token}'; {hint}"


def _explain_arguments(error: "CycloptsError", arguments: Sequence[str]) -> str:
    """Return what is wrong with the arguments, and what to do if Cyclopts does not say so."""
    from cyclopts.exceptions import (
        MissingArgumentError,
        RepeatArgumentError,
        UnknownCommandError,
        UnusedCliTokensError,
    )

    if isinstance(error, MissingArgumentError):
        is_workspace = error.argument is not None and error.argument.name == "--workspace"
        return _name_workspace(error, arguments) if is_workspace else _explain_missing(error, arguments)
    if isinstance(error, UnknownCommandError) and error.unused_tokens and error.app is not None:
        return _explain_unknown(error.unused_tokens[0], error.app)
    if isinstance(error, UnusedCliTokensError):
        tokens = ", ".join(f"'{token}'" for token in error.unused_tokens or ())
        command = " ".join(["peercorpus", *(error.command_chain or ())])
        hint = "a workspace is named once, and its venues with --venue" if _takes_venues(error) else "leave them out"
        return f"Too many arguments: {tokens}; {hint}. See '{command} --help'."
    if isinstance(error, RepeatArgumentError) and error.token.keyword:
        return f"{error.token.keyword} was given more than once; leave all but one of them out."
    return str(error)


def _takes_venues(error: "CycloptsError") -> bool:
    if error.app is None:
        return False
    names = {name for argument in error.app.assemble_argument_collection() for name in argument.names}
    return {"--workspace", "--venue"} <= names


def _fail_by_defect() -> ExitCode:
    traceback.print_exc()
    return _fail("This is a defect of peercorpus; please report it with the lines above.", ExitCode.DEFECT)


def _fail(message: str, code: ExitCode = ExitCode.REFUSED) -> ExitCode:
    from peercorpus.wording.untrusted_text import escape_controls

    sentence = " ".join(message.split())
    print_notice(f"peercorpus: {escape_controls(sentence, len(sentence))}")
    return code

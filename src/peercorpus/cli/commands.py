"""The app: all commands by name, each imported on first use."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

from cyclopts import App, Group, Parameter

from peercorpus.cli.console import Named
from peercorpus.cli.reporting import Reporting, reporting

HELP = "Help and completion"
COMMANDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "Try it": {
            "demo": "simulate:demo",
            "simulate": "simulate:simulate",
        },
        "Harvest and build": {
            "harvest": "harvest:harvest",
            "import": "harvest:import_",
            "build": "build:build",
            "status": "build:status",
            "login": "login:login",
            "logout": "login:logout",
            "convert": "build:convert",
        },
        "Look into a corpus": {
            "explore": "report:explore",
            "report": "report:report",
            "show": "workspace:show",
            "sql": "sql:sql",
            "audit": "audit:audit",
            "pdfs": "pdfs:pdfs",
            "mcp": "report:mcp",
            "venues": "venues:venues",
            "forms": "venues:forms",
        },
        "Publish": {
            "publish": "build:publish",
            "verify": "release:verify",
            "diff": "release:diff",
            "push": "release:push",
            "export": "release:export",
            "site": "site:site",
            "recipe": "recipe:recipe",
            "table1": "report:table1",
        },
        "Benchmark and fine-tune": {
            "bench": "benchmark_re2:bench",
            "finetune": "finetune:finetune",
        },
        "Maintain a workspace": {
            "takedown": "takedown:takedown",
            "reminders": "workspace:reminders",
            "check": "workspace:check",
            "move": "workspace:move",
        },
        HELP: {
            "completion": "completion:completion",
        },
    }
)
"""Heading in the help → its commands, in the order of their use → the module and function of each."""

EVERY_COMMAND = Group(
    "Options of every command",
    help="They may be anywhere on the command line.",
    sort_key=1_000,
)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A command with its arguments, and how much it is to say."""

    tokens: tuple[str, ...]
    chosen: Reporting


def _take_reporting(
    *tokens: Annotated[str, Parameter(show=False, allow_leading_hyphen=True)],
    quiet: Annotated[
        bool,
        Parameter(
            group=EVERY_COMMAND,
            name=["--quiet", "-q"],
            env_var="PEERCORPUS_QUIET",
            help="Show no progress, only results, warnings and errors.",
        ),
    ] = False,
    verbose: Annotated[
        bool,
        Parameter(
            group=EVERY_COMMAND,
            name=["--verbose", "-v"],
            env_var="PEERCORPUS_VERBOSE",
            help="Show every request and step on standard error, with its time.",
        ),
    ] = False,
    log: Annotated[
        Path | None,
        Named,
        Parameter(
            group=EVERY_COMMAND,
            env_var="PEERCORPUS_LOG",
            help="File to which the same is appended, one JSON object per line, with times in UTC and without secrets.",
        ),
    ] = None,
) -> _Asked:
    """Take the options that every command has, and leave the others to the command."""
    return _Asked(tokens, Reporting(quiet=quiet, verbose=verbose, log=log))


def make_app() -> App:
    """Return the app with all commands."""
    made = App(
        name="peercorpus",
        default_parameter=Parameter(negative=()),  # `--no-…` exists only where it is declared.
        suppress_keyboard_interrupt=False,
        version_format="plaintext",  # The default, Markdown, imports 0.1 s more of rich.
        help="Build trustworthy datasets of scientific peer review from OpenReview.",
    )
    made.meta.default(_take_reporting)
    for number, (heading, commands) in enumerate(COMMANDS.items()):
        group = Group(heading, sort_key=number)
        for order, (name, target) in enumerate(commands.items()):
            made.command(f"peercorpus.cli.{target}", name=name, group=group, sort_key=order)
        if heading == HELP:
            for name in ("--help", "--version"):
                made[name].group = (group,)
    return made


app = make_app()


def list_commands() -> list[str]:
    """Return the names of all commands."""
    return [name for commands in COMMANDS.values() for name in commands]


def call_command(arguments: Sequence[str] | None) -> object:
    """Call the command that the arguments name and return its result; None takes them from `sys.argv`.

    Raises:
        CycloptsError: The arguments name no command, or are not valid for it.
    """
    tokens = list(sys.argv[1:] if arguments is None else arguments)
    if not tokens or tokens[0] in app.help_flags:
        for name in list_commands():
            _ = app[name]  # Imported for its first sentence, which the list shows.
    # What stands behind "--" is the command's alone.
    end = tokens.index("--") if "--" in tokens else len(tokens)
    reader = app.meta
    if not {*app.help_flags, *app.version_flags}.intersection(tokens[:end]):
        # Without commands, none of which may then take one of these options for an argument of its own.
        reader = App(help_flags=(), version_flags=())
        reader.default(_take_reporting)
    asked = reader(tokens[:end], exit_on_error=False, print_error=False, result_action="return_value")
    if not isinstance(asked, _Asked):  # the help or the version, which is printed by now
        return asked
    command = [*asked.tokens, *tokens[end:]]
    with reporting(asked.chosen, tokens):
        return app(command, exit_on_error=False, print_error=False, result_action="return_value")

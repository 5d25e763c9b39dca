"""The app: all commands by name, each imported when it is asked for or listed."""

import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from cyclopts import App

COMMANDS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "audit": ["audit"],
        "benchmark_commands": ["bench"],
        "build": ["build", "publish", "status", "convert"],
        "finetune": ["finetune"],
        "harvest": ["harvest", "import_"],
        "login": ["login", "logout"],
        "mcp": ["mcp"],
        "recipe": ["recipe"],
        "release": ["diff", "verify", "push", "export"],
        "report": ["report", "table1", "explore"],
        "simulate": ["simulate", "demo"],
        "takedown": ["takedown"],
        "venues": ["venues", "forms"],
        "workspace": ["show", "move", "check", "reminders"],
    }
)
"""Module of this package → its commands, as functions or as apps with commands of their own."""

app = App(
    name="peercorpus",
    suppress_keyboard_interrupt=False,
    version_format="plaintext",  # The default, Markdown, would import 0.1 s more of rich.
    help="Build trustworthy datasets of scientific peer review from OpenReview.",
)
for module, functions in COMMANDS.items():
    for function in functions:
        app.command(f"peercorpus.cli.{module}:{function}")


def call_command(arguments: Sequence[str] | None) -> object:
    """Call the command that the arguments name and return its result; None takes them from `sys.argv`.

    Raises:
        CycloptsError: The arguments name no command, or not what it takes.
    """
    tokens = sys.argv[1:] if arguments is None else arguments
    if not tokens or tokens[0] in app.help_flags:
        app.resolved_commands()  # The help lists the first sentence of each.
    return app(tokens, exit_on_error=False, print_error=False, result_action="return_value")

"""The app: all commands by name, each imported on first use.

The list of commands needs none of them: their first sentences are repeated here, and a test compares them.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

from cyclopts import App, Group, Parameter

from peercorpus.cli.config_file import apply_config_file
from peercorpus.cli.console import Named
from peercorpus.cli.reporting import Reporting, reporting

COMMANDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "audit": {
            "audit": "Check a corpus or any other dataset for flaws that would invalidate results on it.",
        },
        "benchmark_commands": {
            "bench": "Benchmark language models on a release: acceptance, scores, review, rebuttal, meta_review.",
        },
        "completion": {
            "completion": "Print the script that completes commands and options in bash, zsh or fish.",
        },
        "build": {
            "build": "Bring a workspace's tables up to date; only what changed is rebuilt.",
            "publish": (
                "Write a dataset that `datasets.load_dataset` opens. If nothing changed, the existing release is kept."
            ),
            "status": ("Show how complete each venue is in a table, and below it what is missing or may mislead."),
            "convert": (
                "Convert PDFs to Markdown: each becomes a `NAME.md` and a `NAME.json` with headings, quality and "
                "problems."
            ),
        },
        "finetune": {
            "finetune": "Fine-tune a model with LoRA on a release, with the prompts of the benchmark.",
        },
        "harvest": {
            "harvest": (
                "Fetch venues from OpenReview into a workspace. The same command continues an interrupted run."
            ),
            "import_": (
                "Import recorded API responses, published datasets or tables of papers and reviews into a workspace."
            ),
        },
        "login": {
            "login": (
                "Sign in to OpenReview. The token is stored in a file that only you can read, and later harvests "
                "renew it."
            ),
            "logout": "Delete the token that `peercorpus login` stored. It stays valid at OpenReview until it expires.",
        },
        "mcp": {
            "mcp": (
                "Let assistants query the corpus: a read-only server for the Model Context Protocol on standard input "
                "and output."
            ),
        },
        "pdfs": {
            "pdfs": (
                "Copy the PDFs that the reviewers read into a folder, under readable names, with a table of them."
            ),
        },
        "recipe": {
            "recipe": "Rebuild ReviewBench or Re², and compare the result with the numbers in its card or paper.",
        },
        "release": {
            "diff": (
                "Compare two releases: rows added, changed and removed by venue, papers whose split changed, columns "
                "that differ."
            ),
            "verify": (
                "Check a release against its own statements: checksums, columns, ids, splits, links, takedowns and "
                "leaks."
            ),
            "push": (
                "Upload a release to the Hugging Face Hub in one commit. Without --yes, only print what would be "
                "uploaded."
            ),
            "export": (
                "Write the train, validation and test rows of a release as files that a trainer can load directly."
            ),
        },
        "report": {
            "report": "Draw the statistics of a corpus: one web page, and each figure as PDF, SVG, PNG and CSV.",
            "table1": ("Print the row that Table 1 of the Re² paper would have for a corpus, above the printed rows."),
            "explore": (
                "Search and read the corpus in a browser on this machine, or write a selection of papers to a file."
            ),
        },
        "simulate": {
            "simulate": (
                "Run a simulated OpenReview on this machine, which any client can harvest, until you press Ctrl-C."
            ),
            "demo": (
                "Try everything offline in under a minute: simulate OpenReview, harvest it, build, publish and check."
            ),
        },
        "site": {
            "site": (
                "Write a release as a web site: pages and a search that any static host serves, or a browser opens from"
                " disk."
            ),
        },
        "sql": {
            "sql": (
                "Run a SELECT over the public tables of a workspace or a release, and print the result as text, CSV or"
                " JSON."
            ),
        },
        "takedown": {
            "takedown": (
                "Exclude papers, posts or everything by an author from all later exports. Nothing is deleted from "
                "the workspace."
            ),
        },
        "venues": {
            "venues": (
                "List the catalogue of known venues: API, deadlines, which reviews are public, and how certain each"
                " row is."
            ),
            "forms": "List the known review forms and their venues, or show the fields of one form.",
        },
        "workspace": {
            "show": (
                "Show one paper: versions, other submissions of the same work, scores, conversations, and rows set "
                "aside."
            ),
            "move": (
                "Move a workspace's PDFs and tables to an S3-compatible store, or back. All commands then work as "
                "before."
            ),
            "check": (
                "Check that nothing in a workspace has changed since it was stored: objects in raw.db, PDFs, tables."
            ),
            "reminders": (
                "List the authors' posts that do little but urge reviewers to reply, and decide which to drop."
            ),
        },
    }
)
"""Module of this package → its commands, functions or apps with subcommands, each with its first sentence."""

HELP = "Help and completion"
HEADINGS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Try it": ("demo", "simulate"),
        "Harvest and build": ("harvest", "import", "build", "status", "login", "logout", "convert"),
        "Look into a corpus": ("explore", "report", "show", "sql", "audit", "pdfs", "mcp", "venues", "forms"),
        "Publish": ("publish", "verify", "diff", "push", "export", "site", "recipe", "table1"),
        "Benchmark and fine-tune": ("bench", "finetune"),
        "Maintain a workspace": ("takedown", "reminders", "check", "move"),
        HELP: ("completion",),
    }
)
"""Heading in the help → its commands, in the order of their use."""

EVERY_COMMAND = Group(
    "Options of every command",
    help="They may be anywhere on the command line, or in peercorpus.toml.",
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
            negative=(),
            env_var="PEERCORPUS_QUIET",
            help="Show no progress, only results, warnings and errors.",
        ),
    ] = False,
    verbose: Annotated[
        bool,
        Parameter(
            group=EVERY_COMMAND,
            name=["--verbose", "-v"],
            negative=(),
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


def make_app(*, is_listed: bool = False) -> App:
    """Return the app with all commands.

    Args:
        is_listed: Whether the commands are only listed; otherwise the help of each is that of its module.
    """
    made = App(
        name="peercorpus",
        suppress_keyboard_interrupt=False,
        version_format="plaintext",  # The default, Markdown, imports 0.1 s more of rich.
        help="Build trustworthy datasets of scientific peer review from OpenReview.",
        help_format="plaintext" if is_listed else None,
        config=apply_config_file,
    )
    made.meta.default(_take_reporting)
    listed = {
        _name_command(function): (f"peercorpus.cli.{module}:{function}", sentence)
        for module, functions in COMMANDS.items()
        for function, sentence in functions.items()
    }
    for number, (heading, names) in enumerate(HEADINGS.items()):
        group = Group(heading, sort_key=number)
        for order, name in enumerate(names):
            target, sentence = listed[name]
            shown = sentence.replace("`", "") if is_listed else None
            made.command(target, help=shown, group=group, sort_key=order)
        if heading == HELP:
            for name in ("--help", "--version"):
                made[name].group = (group,)
    return made


def _name_command(function: str) -> str:
    """Return the name of a command, of which Python's keywords end with an underscore in code."""
    return function.rstrip("_").replace("_", "-")


def list_commands() -> list[str]:
    """Return the names of all commands."""
    return [name for names in HEADINGS.values() for name in names]


app = make_app()


def call_command(arguments: Sequence[str] | None) -> object:
    """Call the command that the arguments name and return its result; None takes them from `sys.argv`.

    Raises:
        CycloptsError: The arguments name no command, or are not valid for it.
    """
    tokens = list(sys.argv[1:] if arguments is None else arguments)
    called = make_app(is_listed=True) if not tokens or tokens[0] in app.help_flags else app
    # What stands behind "--" is the command's alone.
    end = tokens.index("--") if "--" in tokens else len(tokens)
    reader = called.meta
    if not {*called.help_flags, *called.version_flags}.intersection(tokens[:end]):
        # Without commands, none of which may then take one of these options for an argument of its own.
        reader = App(help_flags=(), version_flags=(), config=apply_config_file)
        reader.default(_take_reporting)
    asked = reader(tokens[:end], exit_on_error=False, print_error=False, result_action="return_value")
    if not isinstance(asked, _Asked):  # the help or the version, which is printed by now
        return asked
    command = [*asked.tokens, *tokens[end:]]
    with reporting(asked.chosen, tokens):
        return called(command, exit_on_error=False, print_error=False, result_action="return_value")

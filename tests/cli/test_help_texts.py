"""Every option of every command describes what it does in its own sentence."""

from collections.abc import Iterator

import pytest
from cyclopts import App

from peercorpus.cli.commands import app


def list_options(command: App, *path: str) -> Iterator[tuple[str, str]]:
    """Yield each option of a command and its subcommands, with its help."""
    if command.default_command is not None:
        for option in command.assemble_argument_collection(parse_docstring=True):
            if option.parameter.show is not False and option.name != "*":
                yield f"{' '.join(path)} {option.name}", option.parameter.help or ""
    for name in command:
        if not name.startswith("-"):
            yield from list_options(command[name], *path, name)


OPTIONS = dict(list_options(app))


def test_all_commands_were_checked() -> None:
    assert len(OPTIONS) > 200


@pytest.mark.parametrize(
    ("what", "is_so"),
    [
        ("says nothing", lambda text: len(text.split()) < 2),
        ("does not end as a sentence", lambda text: not text.rstrip().endswith((".", ")", "'"))),
        ("needs the option before it to be understood", lambda text: text.startswith(("Of ", "The same", "As before"))),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_no_option_lacks_a_help_text(what: str, is_so: object) -> None:
    assert callable(is_so)
    assert [name for name, text in OPTIONS.items() if is_so(text)] == [], what

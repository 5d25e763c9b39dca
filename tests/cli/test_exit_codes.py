"""A scheduler can act on the exit code: 1 for findings, 2 to change the command or its input, 3 to try again later."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from cyclopts import App

from commands import Run, assert_refused
from peercorpus.cli import commands as command_line
from peercorpus.errors import PeercorpusError

LATER = {
    "BusyError",
    "ModelUnavailableError",
    "NotJsonError",
    "SharedBudgetError",
    "SignInLaterError",
    "StoreUnavailableError",
    "TryLaterError",
    "UnreachableError",
    "WorkspaceLockedError",
}
FOUND = {"RefusedAlikeError"}
PAGE = (Path(__file__).parents[2] / "docs/cli.md").read_text()


def kinds_below(kind: type[PeercorpusError]) -> Iterator[type[PeercorpusError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from kinds_below(below)


def commands_of(app: App, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], App]]:
    for name in app:
        if not name.startswith("-"):
            yield (*path, name), app[name]
            yield from commands_of(app[name], (*path, name))


ARGUMENTS: dict[str, tuple[object, ...]] = {
    "MissingExtraError": ("typst", "demo"),
    "NotGivenError": ("It broke.", "a reason"),
    "NotJsonError": ("It broke.", "https://api2.openreview.net/notes", b"[}"),
    "TooLargeError": ("It broke.", "a reason"),
}
KINDS = sorted({kind for kind in kinds_below(PeercorpusError) if kind.__module__ == "peercorpus.errors"}, key=str)
COMMANDS = dict(commands_of(command_line.app))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_each_error_ends_a_command_with_its_code_and_one_sentence(
    run: Run, monkeypatch: pytest.MonkeyPatch, kind: type[PeercorpusError]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise kind(*ARGUMENTS.get(kind.__name__, ("It broke.",)))

    monkeypatch.setattr(command_line, "call_command", fail)
    ended = run("status")
    assert ended.code == (3 if kind.__name__ in LATER else 1 if kind.__name__ in FOUND else 2)
    assert (ended.err.startswith("peercorpus: "), ended.err.count("\n")) == (True, 1)
    assert re.search(rf"^\| {ended.code} \|.*`{kind.__name__}`", PAGE, re.MULTILINE)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConnectionError(5, "The store cannot be reached"), 3),
        (TimeoutError(110, "timed out"), 3),
        (OSError(28, "No space left on device"), 2),
        (KeyboardInterrupt(), 130),
        (ZeroDivisionError(), 70),
    ],
)
def test_pythons_own_errors_have_an_exit_code_too(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(command_line, "call_command", fail)
    assert run("status").code == code
    assert f"\n| {code} |" in PAGE


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_an_unknown_option_of_any_command_ends_with_2(run: Run, command: tuple[str, ...]) -> None:
    assert_refused(run(*command, "--no-such-option"))


def test_commands_that_can_exit_with_1_say_when() -> None:
    says, can = set(), set()
    for path, command in COMMANDS.items():
        function = command.default_command
        if function is None:
            continue
        name = " ".join(path)
        if inspect.signature(function).return_annotation is int:
            can.add(name)
        if re.search(r"xits?\s+(code\s+is|with)\s+1", function.__doc__ or ""):
            says.add(name)
            assert f"`{name}`" in PAGE
    assert says == can

"""Completion scripts name everything to complete, every option says what it does, and its values are known."""

import os
import pty
import select
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import get_args

import pytest
from cyclopts import App

from commands import Run, assert_refused

COMPLETE = """
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
COMP_LINE="$*"
COMP_POINT=${#COMP_LINE}
_peercorpus
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from peercorpus.cli.commands import app

    path = tmp_path_factory.mktemp("completion") / "peercorpus.bash"
    path.write_text(app.generate_completion(shell="bash"), encoding="utf-8")
    return path


def complete(script: Path, *words: str) -> set[str]:
    """Return bash's suggestions for the last word."""
    command = ["bash", "--norc", "-c", COMPLETE, "bash", str(script), "peercorpus", *words]
    ended = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    assert ended.stderr == ""
    return set(ended.stdout.split())


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_commands_options_and_values(script: Path) -> None:
    assert complete(script, "ver") == {"verify"}
    assert {"build", "status", "harvest", "completion", "takedown"} <= complete(script, "")
    assert complete(script, "audit", "") >= {"leaks", "grades"}
    assert "--engine" in complete(script, "build", "--e")
    assert complete(script, "harvest", "x", "--scope", "") == {"reviewbench", "re2"}
    assert complete(script, "build", "--ocr", "a") == {"auto"}
    assert complete(script, "no") == set()


ZSHRC = """
fpath=("$ZDOTDIR" $fpath)
autoload -Uz compinit && compinit -u -d "$ZDOTDIR/dump"
{then}
keep-line() {{ print -r -- "$BUFFER" > "$ZDOTDIR/line.new"; mv "$ZDOTDIR/line.new" "$ZDOTDIR/line"; }}
zle -N keep-line
bindkey '^X' keep-line
PS1=READY
"""


def type_in_zsh(home: Path, typed: str) -> str:
    """Return the command line of an interactive zsh after a text, the tab key and the end of the completion."""
    process_id, terminal = pty.fork()
    if process_id == 0:
        os.execvpe("zsh", ["zsh", "-d", "-i"], os.environ | {"ZDOTDIR": str(home), "TERM": "dumb"})
    try:
        read_until(terminal, b"READY")
        os.write(terminal, typed.encode() + b"\t\x18")
        read_until(terminal, lambda: (home / "line").exists())
        return (home / "line").read_text(encoding="utf-8")
    finally:
        os.close(terminal)
        os.waitpid(process_id, 0)


def read_until(terminal: int, end: bytes | Callable[[], bool]) -> None:
    """Read what a terminal shows until it shows a mark, or until a condition is met."""
    shown, limit = b"", time.monotonic() + 60
    while time.monotonic() < limit:
        if select.select([terminal], [], [], 0.1)[0]:
            shown += os.read(terminal, 65536)
        if end() if callable(end) else end in shown:
            return
    pytest.fail(f"zsh showed only {shown!r}")


@pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
@pytest.mark.parametrize("then", ["", 'source "$ZDOTDIR/_peercorpus"'], ids=["in $fpath", "sourced"])
def test_zsh_completes_commands_and_options(run: Run, tmp_path: Path, then: str) -> None:
    (tmp_path / "_peercorpus").write_text(run("completion", "zsh").out, encoding="utf-8")
    (tmp_path / ".zshrc").write_text(ZSHRC.format(then=then), encoding="utf-8")
    assert type_in_zsh(tmp_path, "peercorpus bu") == "peercorpus build \n"
    (tmp_path / "line").unlink()
    assert type_in_zsh(tmp_path, "peercorpus build --ven") == "peercorpus build --venue \n"


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_script_names_every_command(run: Run, tmp_path: Path, shell: str) -> None:
    from peercorpus.cli.commands import list_commands

    ended = run("completion", shell)
    assert (ended.code, ended.err) == (0, "")
    assert [name for name in list_commands() if name not in ended.out] == []
    assert ended.out.count("workspace") > 20
    path = tmp_path / f"script.{shell}"
    path.write_text(ended.out, encoding="utf-8")
    if shutil.which(shell) is not None:
        subprocess.run([shell, "-n", str(path)], check=True, timeout=60)


def test_another_shell_is_refused(run: Run) -> None:
    assert_refused(run("completion", "tcsh"), "tcsh")
    assert_refused(run("completion"), "SHELL")


@pytest.mark.parametrize("shell", ["fish", "zsh"])
def test_a_negating_option_is_described(run: Run, shell: str) -> None:
    script = run("completion", shell).out
    described = {"fish": "-l no-files -d 'Turn --files off.'", "zsh": "'--no-files[Turn --files off.]'"}
    assert described[shell] in script
    assert script.count("Do not open a browser.") == 1
    kept = [line for line in script.splitlines() if "no-system" in line and "system prompt" in line]
    assert kept == []


def choices(annotation: object) -> set[str]:
    """Return the strings among the values of a type, however nested."""
    return {each for part in get_args(annotation) for each in ([part] if isinstance(part, str) else choices(part))}


def list_options(command: App, *path: str) -> Iterator[tuple[str, str]]:
    """Yield each option of a command and its subcommands, with its help."""
    if command.default_command is not None:
        for option in command.assemble_argument_collection(parse_docstring=True):
            if option.parameter.show is not False and option.name != "*":
                yield f"{' '.join(path)} {option.name}", option.parameter.help or ""
    for name in command:
        if not name.startswith("-"):
            yield from list_options(command[name], *path, name)

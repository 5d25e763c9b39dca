"""Completion scripts: each names everything to complete, and bash completes with its script."""

import shutil
import subprocess
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_script_names_every_command_and_is_well_formed(run: Run, tmp_path: Path, shell: str) -> None:
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

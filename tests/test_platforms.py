"""Everything that runs on Windows works without the modules of POSIX systems."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from invented_pdfs import by_hand, lines, put

POSIX_ONLY = ("fcntl", "grp", "pwd", "resource", "termios")
WITHOUT = f"import sys; sys.modules.update(dict.fromkeys({POSIX_ONLY!r}))\n"
CONVERT = "from peercorpus.cli.main import main; main(['convert', sys.argv[1], '--out', sys.argv[2]])"
LOCKED = """
from pathlib import Path
from peercorpus.errors import PeercorpusError
from peercorpus.texts.folder_files import open_pairs

with open_pairs(Path(sys.argv[1])):
    try:
        with open_pairs(Path(sys.argv[1])):
            print("held twice")
    except PeercorpusError:
        print("refused")
"""
READ = """
import peercorpus

corpus = peercorpus.open(sys.argv[1])
print(corpus.papers().collect().height)
"""
EXPLORE = """
from pathlib import Path
from starlette.testclient import TestClient
from peercorpus.explorer.server import make_app, open_explorer
from peercorpus.execution.progress import show_nothing
from peercorpus.workspace.workspace import open_workspace

with open_workspace(Path(sys.argv[1]), write=False) as workspace:
    answer = TestClient(make_app(open_explorer(workspace, show_nothing), "127.0.0.1"), "http://127.0.0.1").get("/")
    print(answer.status_code)
"""


def run_without_posix(script: str, *arguments: Path) -> str:
    """Run a script in a Python without the POSIX modules; return its output."""
    command = [sys.executable, "-c", WITHOUT + script, *map(str, arguments)]
    ended = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=os.environ)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize(
    "module",
    [
        "peercorpus",
        "peercorpus.cli.main",
        "peercorpus.pipeline.build",
        "peercorpus.release.verify.verify",
        "peercorpus.release.publish",
        "peercorpus.execution.local_processes",
    ],
)
def test_a_module_loads_on_windows(module: str) -> None:
    run_without_posix(f"import {module}")


@pytest.mark.slow
def test_a_pdf_is_converted_on_windows(tmp_path: Path) -> None:
    put(tmp_path, "paper", by_hand([lines("A sentence.")]))
    run_without_posix(CONVERT, tmp_path / "paper.pdf", tmp_path / "out")
    assert "A sentence." in (tmp_path / "out" / "paper.md").read_text()


def test_a_folder_of_texts_is_written_by_one_run_at_a_time_on_windows(tmp_path: Path) -> None:
    assert run_without_posix(LOCKED, tmp_path) == "refused"


@pytest.mark.slow
def test_a_workspace_is_read_on_windows(demo_folder: Path) -> None:
    assert int(run_without_posix(READ, demo_folder / "corpus")) > 0


@pytest.mark.slow
def test_the_explorer_shows_a_workspace_on_windows(demo_folder: Path, tmp_path: Path) -> None:
    corpus = shutil.copytree(demo_folder / "corpus", tmp_path / "corpus")
    assert run_without_posix(EXPLORE, corpus) == "200"

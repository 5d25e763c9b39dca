"""README, tutorial and how-to pages are correct: their commands run on the demo, and print what the pages show.

Every block of `sh` and `python` runs, in order and in one folder, unless a comment above it says why not:
`<!-- not run: needs the network -->`. Each line of a block of `text` below one that ran is a line of its
output, in order; spaces do not count, and a line that ends with … is the beginning of one.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [
    DOCS / "install.md",
    DOCS / "gallery.md",
    DOCS / "sql.md",
    *sorted((DOCS / "tutorial").glob("*.md")),
    *sorted((DOCS / "howto").glob("*.md")),
]
FENCE = re.compile(r"^(?:<!-- not run: (?P<reason>.+?) -->\n)?```(?P<language>\w+)\n(?P<code>.*?)^```$", re.M | re.S)


@dataclass(frozen=True)
class Block:
    """A fenced block that runs, and the output that its page shows."""

    language: str
    code: str
    printed: tuple[str, ...]


def blocks(page: str) -> list[Block]:
    """Return the blocks of a page that run."""
    fences = list(FENCE.finditer(page))
    following = [*fences[1:], None]
    return [
        Block(fence["language"], fence["code"], printed_below(following_fence))
        for fence, following_fence in zip(fences, following, strict=True)
        if fence["language"] in {"sh", "python"} and not fence["reason"]
    ]


def printed_below(fence: re.Match[str] | None) -> tuple[str, ...]:
    """Return the lines of a block of text; none of any other block."""
    lines = fence["code"].splitlines() if fence and fence["language"] == "text" else []
    return tuple(" ".join(line.split()) for line in lines)


def missing_lines(printed: tuple[str, ...], output: str) -> list[str]:
    """Return the lines that do not occur in an output after the preceding ones."""
    rest = iter([" ".join(line.split()) for line in output.splitlines()])
    return [line for line in printed if not any(is_shown(line, candidate) for candidate in rest)]


def is_shown(line: str, printed: str) -> bool:
    """Whether a line of a page is one of the output, or the beginning of one."""
    beginning = line.removesuffix("…")
    return printed.startswith(beginning.rstrip()) if line.endswith("…") else printed == beginning


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of a user who has this version on the path and no network."""
    programs = folder / "bin"
    programs.mkdir()
    program = programs / "peercorpus"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m peercorpus "$@"\n')
    program.chmod(0o755)
    offline = {"HF_HOME": str(folder / "hub"), "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
    return {**os.environ, **offline, "COLUMNS": "200", "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}


def run_block(block: Block, before: list[str], folder: Path, variables: dict[str, str]) -> str:
    """Run a block and return its output; Python continues after the preceding blocks of Python."""
    if block.language == "sh":
        command = ["sh", "-eu", "-c", block.code]
    else:
        command = [sys.executable, "-c", "\n".join([*before, "print('\\x1e')", block.code])]
    run = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert run.returncode == 0, f"{block.code}\n{run.stdout}\n{run.stderr}"
    return run.stderr + run.stdout.rpartition("\x1e")[2]


@pytest.mark.slow(76)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_on_a_page_run_and_print_what_it_shows(page: Path, demo_folder: Path, tmp_path: Path) -> None:
    runs = blocks(page.read_text())
    if not runs:
        return
    shutil.copytree(demo_folder, tmp_path / "demo")
    variables = environment(tmp_path)
    before: list[str] = []
    for block in runs:
        output = run_block(block, before, tmp_path, variables)
        assert missing_lines(block.printed, output) == [], f"{block.code}\n{output}"
        before += [block.code] if block.language == "python" else []


def test_a_block_that_prints_something_else_or_in_another_order_is_found() -> None:
    page = "```sh\nls\n```\n\n```text\none\ntwo\n```\n\n<!-- not run: needs a moon -->\n```sh\nfly\n```\n"
    (block,) = blocks(page)
    assert block == Block("sh", "ls\n", ("one", "two"))
    assert missing_lines(block.printed, "one\n  two\n") == []
    assert missing_lines(block.printed, "one\n  two  of 2\n") == ["two"]
    assert missing_lines(("one", "two …"), "one\n  two  of 2\n") == []
    assert missing_lines(block.printed, "two\none\n") == ["two"]


@pytest.mark.slow
def test_the_notebook_prints_its_recorded_output(
    demo_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(demo_folder.parent)
    notebook = json.loads((DOCS / "tutorial" / "first-finding.ipynb").read_text())
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 3
    namespace: dict[str, object] = {}
    for number, cell in enumerate(cells, start=1):
        assert cell["execution_count"] == number
        exec("".join(cell["source"]), namespace)
        held = ["".join(output["text"]) for output in cell["outputs"]]
        assert "".join(held) == capsys.readouterr().out


def test_the_tutorial_and_the_notebook_have_the_same_python() -> None:
    notebook = json.loads((DOCS / "tutorial" / "first-finding.ipynb").read_text())
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    tutorial = [block.code.rstrip() for block in blocks((DOCS / "tutorial" / "first-corpus.md").read_text())]
    assert set(cells[:3]) <= set(tutorial)


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120


@pytest.mark.slow
def test_the_readmes_example_prints_paths_and_a_dataset(demo_folder: Path, tmp_path: Path) -> None:
    (block,) = blocks((ROOT / "README.md").read_text())
    shutil.copytree(demo_folder, tmp_path / "demo")
    output = run_block(block, [], tmp_path, environment(tmp_path))
    assert missing_lines(block.printed, output) == []
    (path, *_) = re.findall(r"\S+\.pdf", output)
    assert (tmp_path / path).read_bytes().startswith(b"%PDF")
    assert "DatasetDict" in output

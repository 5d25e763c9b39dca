"""Each page in `docs/for` works: its commands run in order, and print what the page shows."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from model_endpoint import completion, serving

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "for"
BLOCK = re.compile(r"(?:^<!-- (?P<note>[^\n]*) -->\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
ADDRESS = "http://HOST:8000/v1"
ANSWER = "## Summary\n\nKites.\n\n## Weaknesses\n\n- No ablation of the second component.\n\nrating: 6"


@dataclass(frozen=True)
class Block:
    """A block of a page, with the note above it."""

    kind: str
    text: str
    note: str


def blocks(page: str) -> Iterator[Block]:
    for found in BLOCK.finditer((PAGES / page).read_text()):
        yield Block(found["kind"], found["text"], found["note"] or "")


def execute(block: Block, folder: Path, address: str) -> str:
    """Run the commands or the Python of a block; return what it prints."""
    shell = ["bash", "-e", "-o", "pipefail", "-c"]
    command = [sys.executable, "-c"] if block.kind == "python" else shell
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    binaries = f"{folder / '.bin'}{os.pathsep}{kept['PATH']}"
    environment = {**kept, "PATH": binaries, "PYTHONPATH": str(ROOT / "src"), "HF_HUB_OFFLINE": "1"}
    text = block.text.replace(ADDRESS, address)
    ended = subprocess.run(
        [*command, text], cwd=folder, env=environment, capture_output=True, text=True, timeout=240, check=False
    )
    wanted = re.fullmatch(r"ends with (\d)", block.note)
    assert ended.returncode == (int(wanted[1]) if wanted else 0), f"{block.text}\n{ended.stdout}\n{ended.stderr}"
    return ended.stdout


def missing(shown: str, printed: str) -> list[str]:
    """Return the lines that a page shows but that were not printed in this order; … ends a beginning."""
    lines = iter(printed.splitlines())
    return [line for line in shown.splitlines() if line and not any(is_shown(line, each.rstrip()) for each in lines)]


def is_shown(line: str, printed: str) -> bool:
    beginning = line.rstrip().removesuffix("…")
    return printed.startswith(beginning) if line.rstrip().endswith("…") else printed == beginning


def make_folder(page: str, demo_folder: Path, folder: Path) -> None:
    """Create what the reader of a page has."""
    (folder / ".bin").mkdir()
    program = folder / ".bin" / "peercorpus"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m peercorpus "$@"\n')
    program.chmod(0o755)
    if page != "maintainer.md":
        shutil.copytree(demo_folder, folder / "demo")


def test_half_a_line_is_missing_unless_the_page_says_that_it_goes_on() -> None:
    printed = "papers,reviews,area\n1,3,Speech and language\n"
    assert missing("papers,reviews\n1,3", printed) == ["papers,reviews", "1,3"]
    assert missing("papers,reviews,…\n1,3,Speech and language", printed) == []


@pytest.mark.slow(65)
@pytest.mark.parametrize("page", sorted(path.name for path in PAGES.glob("*.md")))
def test_each_command_of_a_page_prints_what_the_page_shows(page: str, demo_folder: Path, tmp_path: Path) -> None:
    if page == "engineer.md":
        pytest.importorskip("inspect_ai")
        pytest.importorskip("openai")
    make_folder(page, demo_folder, tmp_path)
    printed, ran = "", 0
    with serving(rule=lambda _: completion(ANSWER)) as endpoint:
        for block in blocks(page):
            if block.note.startswith("file: "):
                (tmp_path / block.note.removeprefix("file: ")).write_text(block.text)
            elif block.kind in {"sh", "python"} and not block.note.startswith("not run: "):
                printed, ran = execute(block, tmp_path, endpoint.url), ran + 1
            elif block.kind == "text":
                assert missing(block.text, printed) == [], printed
    assert ran > 0


def test_every_block_of_commands_is_run_or_has_a_reason_why_not() -> None:
    notes = {block.note for path in PAGES.glob("*.md") for block in blocks(path.name) if block.kind == "sh"}
    assert [note for note in notes if note and not re.fullmatch(r"not run: \S.+|ends with \d", note)] == []

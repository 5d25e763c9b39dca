"""The documents agree with the code: every command, record and reserved word is there, and the example runs."""

import os
import re
import subprocess
import sys
from dataclasses import is_dataclass
from enum import StrEnum
from pathlib import Path

import pytest

from peercorpus import file_records, kinds, records
from peercorpus.cli import app
from peercorpus.finetune.recipe import Lora, Recipe
from peercorpus.kinds import Grade

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text()
RECIPE = (ROOT / "docs" / "recipe.md").read_text()
CLI = (ROOT / "docs" / "cli.md").read_text()

COMMANDS = [name for name in app if not name.startswith("-")]
RECORDS = [
    name
    for name, found in {**vars(records), **vars(file_records), **vars(kinds)}.items()
    if is_dataclass(found) or (isinstance(found, type) and found is not StrEnum and issubclass(found, StrEnum))
]
RESERVED = [
    *("note", "edit", "reference", "group", "invitation", "forum", "venue", "form", "scale", "verbatim", "extra"),
    *(
        "harvest",
        "stage",
        "build",
        "publish",
        "set aside",
        "content key",
        "finished",
        "engine",
        "executor",
        "simulator",
    ),
    *("workspace", "raw", "table", "partition", "release", "paper", "review", "score", "section", "post", "version"),
    *("text", "conversation", "turn", "status", "decision", "role", "aspect", "phase", "grade", "initial", "reason"),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_documented(command: str) -> None:
    assert f"\n## peercorpus {command}\n" in CLI


@pytest.mark.parametrize("record", RECORDS)
def test_every_record_has_an_entry_in_the_glossary(record: str) -> None:
    assert f"`{record}`" in GLOSSARY


@pytest.mark.parametrize("word", RESERVED)
def test_every_reserved_word_has_one_entry_in_the_glossary(word: str) -> None:
    assert len(re.findall(rf"^- \*\*{word}\*\*: ", GLOSSARY, re.MULTILINE)) == 1


@pytest.mark.parametrize("grade", Grade)
def test_every_grade_is_explained(grade: Grade) -> None:
    assert f"  - `{grade.value}`: " in GLOSSARY


@pytest.mark.parametrize("line", re.findall(r"^peercorpus .*$", README, re.MULTILINE))
def test_the_readme_names_commands_and_options_that_exist(line: str) -> None:
    command, *words = line.partition("#")[0].split()[1:]
    assert command in COMMANDS
    if f"\n## peercorpus {command} {(words or [''])[0]}\n" in CLI:
        command += f" {words.pop(0)}"
    section = CLI.split(f"\n## peercorpus {command}\n")[1].split("\n## ")[0]
    assert [word for word in words if word.startswith("--") and word not in section] == []


@pytest.mark.parametrize("setting", [*Recipe.__struct_fields__, *(f"lora.{name}" for name in Lora.__struct_fields__)])
def test_every_setting_of_a_recipe_is_explained(setting: str) -> None:
    assert f"\n| `{setting}` | " in RECIPE or setting == "lora"


def links(page: Path) -> list[str]:
    """The files that a page of Markdown links to."""
    found = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text())
    return [link for link in found if not link.startswith("http")]


@pytest.mark.parametrize("page", [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")], ids=lambda page: page.name)
def test_no_link_between_documents_is_broken(page: Path) -> None:
    assert [link for link in links(page) if not (page.parent / link).exists()] == []


def test_the_example_of_the_readme_runs_as_it_stands(demo_folder: Path, tmp_path: Path) -> None:
    (example,) = re.findall(r"<!-- example: .*? -->\n```python\n(.*?)```", README, re.DOTALL)
    environment = {**os.environ, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
    command = [sys.executable, "-c", example]
    run = subprocess.run(command, cwd=demo_folder.parent, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "accepted" in run.stdout
    assert "DatasetDict" in run.stdout

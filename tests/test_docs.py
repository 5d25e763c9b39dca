"""The documents agree with the code: every command, record and reserved word is there."""

import re
import tomllib
from collections import Counter
from pathlib import Path

from peercorpus.cli.commands import app, list_commands
from peercorpus.finetune.recipe import Lora, Recipe
from peercorpus.records import enums
from peercorpus.records.enums import Grade
from peercorpus.workspace.table_reader import ON_DEMAND, TABLES

ROOT = Path(__file__).parents[1]
INSTALL = (ROOT / "docs" / "install.md").read_text()
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text()
DATASET = (ROOT / "docs" / "dataset.md").read_text()
RECIPE = (ROOT / "docs" / "recipe.md").read_text()
SEEDS = (ROOT / "docs" / "seeds.md").read_text()
CLI = "\n".join(path.read_text() for path in sorted((ROOT / "docs" / "cli").glob("*.md")))
PIPELINE = (ROOT / "docs" / "pipeline.svg").read_text()

COMMANDS = [name for name in app if not name.startswith("-")]
VOCABULARIES = [
    name for name, kind in vars(enums).items() if isinstance(kind, type) and kind.__module__ == enums.__name__
]
RESERVED = [
    *("note", "edit", "reference", "group", "invitation", "forum", "venue", "form", "scale", "verbatim", "extra"),
    *(
        "harvest",
        "stage",
        "build",
        "publish",
        "set aside",
        "engine",
        "simulator",
    ),
    *("workspace", "raw", "table", "release", "paper", "review", "score", "section", "post", "version"),
    *("text", "conversation", "turn", "status", "decision", "role", "aspect", "phase", "grade", "initial", "reason"),
]


def test_every_command_is_documented() -> None:
    assert len(COMMANDS) > 10
    index = (ROOT / "docs" / "cli.md").read_text()
    assert [command for command in COMMANDS if f"\n| [`{command}`](cli/{command}.md) | " not in index] == []
    assert [path.stem for path in sorted((ROOT / "docs" / "cli").glob("*.md"))] == sorted(COMMANDS)


def test_every_command_is_under_one_heading_of_the_help() -> None:
    assert list_commands() == COMMANDS


def test_every_table_and_vocabulary_has_an_entry_in_the_reference() -> None:
    assert [table for table in TABLES if f"| `{table}` |" not in DATASET] == []
    assert len(VOCABULARIES) > 20
    in_no_release = {"PaperSource", "Unseen", "VenueSource", "FieldType", "SignKind"}
    in_a_column = {"Phase", "AtDecision", "AiCertainty", "FigureKind", "MentionKind", "YearSource", "ConversationKind"}
    assert {name for name in VOCABULARIES if f"\n**{name}**: " not in DATASET} == in_no_release | in_a_column


def test_every_reserved_word_has_one_entry_in_the_glossary() -> None:
    entries = Counter(re.findall(r"^- \*\*(.+?)\*\*: ", GLOSSARY, re.MULTILINE))
    assert {word: entries[word] for word in RESERVED if entries[word] != 1} == {}


def test_no_word_is_defined_twice_in_the_glossary() -> None:
    entries = re.findall(r"^ *- (\*\*.+(?:\n(?! *- |\n|#).+)*)", GLOSSARY, re.MULTILINE)
    words = Counter(word.lower().removesuffix("s") for entry in entries for word in re.findall(r"\*\*(.+?)\*\*", entry))
    assert len(words) > 45
    assert [word for word, count in words.items() if count > 1] == []


def test_every_grade_is_explained() -> None:
    page = (ROOT / "docs" / "initial-version.md").read_text()
    assert [grade.value for grade in Grade if f"\n| `{grade.value}` | " not in page] == []


def test_pages_name_commands_and_options_that_exist() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "howto").glob("*.md")]
    blocks = [block for page in pages for block in re.findall(r"^```sh\n(.*?)```", page.read_text(), re.M | re.S)]
    lines = [line for block in blocks for line in re.findall(r"^peercorpus .*$", block.replace("\\\n", " "), re.M)]
    assert len(lines) > 50
    assert {line: unknown for line in lines if (unknown := unknown_words(line))} == {}


def test_the_page_on_seeds_uses_existing_commands_and_options() -> None:
    rows = [line.split(" | ") for line in SEEDS.splitlines() if line.startswith("| ") and not line.startswith("| item")]
    assert len(rows) > 50
    assert [row for row in rows if len(row) != 3 or not (row[1] == "-" or row[1].startswith("`peercorpus "))] == []
    lines = [line for row in rows for line in re.findall(r"`(peercorpus [^`]+)`", row[1])]
    assert {line: unknown for line in lines if (unknown := unknown_words(line))} == {}
    assert [row[0] for row in rows if row[1] == "-" and "not there" not in row[2]] == []


def unknown_words(line: str) -> list[str]:
    """Return what a line of a page names that the pages in `docs/cli` do not: the command, or its options."""
    command, *words = line.partition("#")[0].split()[1:]
    if command not in COMMANDS:
        return [command]
    if f"\n## peercorpus {command} {(words or [''])[0]}\n" in CLI:
        command += f" {words.pop(0)}"
    section = re.split(rf"^##? peercorpus {command}\n", CLI, flags=re.MULTILINE)[1]
    section = re.split(r"^##? peercorpus ", section, maxsplit=1, flags=re.MULTILINE)[0]
    return [word for word in words if word.startswith("--") and word.partition(".")[0] not in section]


def test_every_setting_of_a_recipe_is_explained() -> None:
    settings = {*Recipe.__struct_fields__, *(f"lora.{name}" for name in Lora.__struct_fields__)} - {"lora"}
    assert sorted(setting for setting in settings if f"\n| `{setting}` | " not in RECIPE) == []


def links(page: Path) -> list[str]:
    """The files that a page of Markdown links to."""
    found = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text())
    return [link for link in found if not link.startswith("http")]


def test_the_index_lists_every_page_once_with_a_line_of_its_own() -> None:
    paths = [path for path in (ROOT / "docs").rglob("*.md") if path.parent.name not in {"cli", "decisions"}]
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in paths} - {"index.md"}
    rows = re.findall(
        r"^\| \[[^\]]+\]\(([^)]+)\) \| (\S.*\S) \|$", (ROOT / "docs" / "index.md").read_text(), re.MULTILINE
    )
    assert sorted(page for page, _ in rows) == sorted(pages)
    assert len({line for _, line in rows}) == len(pages)


def test_readme_and_contributing_link_to_the_index() -> None:
    assert [name for name in ("README.md", "CONTRIBUTING.md") if "docs/index.md" not in links(ROOT / name)] == []


def test_the_page_on_installing_says_what_every_extra_is_for() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    listed = re.findall(r"^\| `(\w+)` \| \S.* \| \S.* \|$", INSTALL, re.MULTILINE)
    assert sorted(listed) == sorted(extras.keys() - {"dev", "docs", "extras"})


def test_no_link_between_documents_is_broken() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    assert len(pages) > 10
    assert [f"{page.name}: {link}" for page in pages for link in links(page) if not (page.parent / link).exists()] == []


def test_the_diagram_of_the_pipeline_names_every_table() -> None:
    drawn = re.findall(r'<rect class="(?:table|table asked|aside)".*\n +<text [^>]*>([^<]+)<', PIPELINE)
    built = {name.partition("-")[2] if name[0].isdigit() else name for name in TABLES}
    assert {name.lower().replace(" ", "-") for name in drawn} == built


def test_optional_tables_are_drawn_with_a_dashed_line() -> None:
    drawn = re.findall(r'<rect class="table asked".*\n +<text [^>]*>([^<]+)<', PIPELINE)
    assert {f"-{name}" for name in drawn} == {name[1:] for name in ON_DEMAND}

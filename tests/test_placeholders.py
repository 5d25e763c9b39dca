"""Nothing that users read contains a placeholder that was not filled in, such as {NAME}."""

import ast
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from commands import run_command
from explored import HOST
from peercorpus.execution.progress import show_nothing
from peercorpus.explorer.server import make_app, open_explorer
from peercorpus.workspace.workspace import open_workspace

UNFILLED = re.compile(r"(?<!\$)\{_?[A-Z][A-Z_]{2,}\}")
"""`${NAME}` in a script is JavaScript's own."""
MODULES = sorted((Path(__file__).parents[1] / "src").rglob("*.py"))
LOGS = Path(__file__).parent / "golden" / "bench"
TEXTS = {".html", ".md", ".json", ".csv", ".js", ".txt", ".bib", ".cff"}
LINK = re.compile(r'href="(/(?:papers|paper|text|changes|points|venues|venue|about)\b[^"#]*)"')


def assigned_names(module: ast.Module) -> set[str]:
    """Return the names of a module's constants."""
    targets = (
        node.targets if isinstance(node, ast.Assign) else [node.target]
        for node in module.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
    )
    return {target.id for several in targets for target in several if isinstance(target, ast.Name)}


def plain_strings(module: ast.Module) -> Iterator[ast.Constant]:
    """Yield the strings that are not formatted, including parts of f-strings with doubled braces."""
    yield from (node for node in ast.walk(module) if isinstance(node, ast.Constant) and isinstance(node.value, str))


def test_no_plain_string_names_a_constant_of_its_module_in_braces() -> None:
    left = []
    for path in MODULES:
        module = ast.parse(path.read_text(encoding="utf-8"))
        names = assigned_names(module)
        for node in plain_strings(module):
            left += [(path.name, node.lineno, name) for name in names if f"{{{name}}}" in str(node.value)]
    assert left == []


def unfilled_in(folder: Path) -> list[tuple[str, str]]:
    """Return each placeholder left in a text of a folder, with the name of its file."""
    paths = [path for path in sorted(folder.rglob("*")) if path.suffix in TEXTS]
    assert paths
    return [(path.name, found) for path in paths for found in UNFILLED.findall(path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(
    "command",
    [("report", "corpus"), ("report", "release"), ("report", "corpus", "--profile", "re2"), ("site", "release")],
    ids=" ".join,
)
def test_no_product_of_the_demo_contains_an_unfilled_placeholder(
    command: tuple[str, ...], demo_folder: Path, tmp_path: Path
) -> None:
    name, source, *options = command
    ended = run_command(name, demo_folder / source, "--out", tmp_path / "product", *options)
    assert ended.code == 0, ended.err
    assert unfilled_in(tmp_path / "product") == []
    assert UNFILLED.findall(ended.out) == []


def test_no_card_contains_an_unfilled_placeholder(demo_folder: Path) -> None:
    assert (demo_folder / "release" / "README.md").is_file()
    assert unfilled_in(demo_folder / "release") == []


def test_no_leaderboard_contains_an_unfilled_placeholder(tmp_path: Path) -> None:
    logs = shutil.copytree(LOGS, tmp_path / "logs")
    ended = run_command("bench", "table", logs)
    assert ended.code == 0, ended.err
    assert {path.suffix for path in logs.iterdir()} >= {".md", ".csv", ".html"}
    assert unfilled_in(logs) == []


def test_no_page_of_the_explorer_contains_an_unfilled_placeholder(example_folder: Path) -> None:
    with (
        open_workspace(example_folder / "corpus", write=False) as workspace,
        TestClient(make_app(open_explorer(workspace, show_nothing), "127.0.0.1"), base_url=HOST) as client,
    ):
        seen: dict[str, str] = {}
        waiting = {"/", "/papers"}
        while waiting and len(seen) < 60:
            page = waiting.pop()
            seen[page] = client.get(page).text
            waiting |= set(LINK.findall(seen[page])) - set(seen)
    assert {page: found for page, text in seen.items() if (found := UNFILLED.findall(text))} == {}

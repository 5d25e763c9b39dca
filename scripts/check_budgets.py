"""Checks what no linter checks: sizes, names, summaries, one version everywhere, and no traces of a particular machine.

Usage: check_budgets.py [FOLDER] [--tag TAG]. Prints `path:line: what is wrong` and exits with 1 if anything is. With
`--tag`, the version must also match a git tag such as v0.1.0.
"""

import argparse
import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

FILE_LINES = 600
FUNCTION_LINES = 60
BANNED_NAMES = {"utils", "helpers", "common", "misc", "base", "manager"}
MACHINE = re.compile(r"/(?:work|farm|root|tmp/bash_jobs)[/.]|index[-_]url")
"""What is specific to one machine: its folders, and where it gets its packages."""

Problem = tuple[int, str]


def tracked_files(folder: Path) -> list[Path]:
    """Return every file in the repository, or that git would add, relative to it."""
    command = ["git", "-C", str(folder), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8").stdout
    paths = [Path(name) for name in sorted(set(listed.split("\0"))) if name]
    return [path for path in paths if (folder / path).is_file()]


def name_problems(path: Path) -> Iterator[Problem]:
    """Yield a problem if the name does not describe the content."""
    if path.stem.strip("_") in BANNED_NAMES:
        yield 1, f"'{path.name}' describes nothing; give it a name from the domain"


def machine_problems(text: str) -> Iterator[Problem]:
    """Yield a problem for each place that exists on one machine only."""
    for number, line in enumerate(text.splitlines(), start=1):
        if found := MACHINE.search(line):
            yield number, f"names '{found[0]}', which exists on one machine only"


def size_problems(text: str, tree: ast.Module) -> Iterator[Problem]:
    """Yield a problem for each file or function that is too long."""
    length = text.count("\n")
    if length > FILE_LINES:
        yield FILE_LINES + 1, f"{length} lines; a file has at most {FILE_LINES}"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LINES:
                yield node.lineno, f"'{node.name}' has {length} lines; a function has at most {FUNCTION_LINES}"


def summary_problems(tree: ast.Module) -> Iterator[Problem]:
    """Yield a problem if the module's docstring lacks a one-line summary."""
    summary, _, rest = (ast.get_docstring(tree) or "").partition("\n")
    if not summary.endswith((".", "?", "!")) or (rest.strip() and not rest.startswith("\n")):
        yield 1, "no summary: begin the module with a one-line description that ends with a full stop"


def collection_problems(path: Path, tree: ast.Module) -> Iterator[Problem]:
    """Yield a problem for each test in a file that pytest does not collect."""
    if path.name.startswith("test_"):
        return
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name.lower().startswith("test"):
            yield node.lineno, f"'{node.name}' never runs; name the file test_*.py"


def released(change_log: str) -> tuple[str, str] | None:
    """Return the version and the day of the newest release in a change log; None if it has none.

    >>> released("## [0.2.0] - 2027-01-31")
    ('0.2.0', '2027-01-31')
    """
    found = re.search(r"^## \[(\d[^\]]*)\] - (\d{4}-\d\d-\d\d)$", change_log, re.MULTILINE)
    return (found[1], found[2]) if found else None


def version_problems(folder: Path, tag: str | None) -> Iterator[str]:
    """Yield a problem for each version or day that differs from the newest release in CHANGELOG.md."""
    if not (folder / "CHANGELOG.md").exists():
        return
    newest = released((folder / "CHANGELOG.md").read_text(encoding="utf-8"))
    if newest is None:
        yield "CHANGELOG.md:1: lists no release; expected a heading such as '## [0.1.0] - 2026-11-22'"
        return
    version, day = newest
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    cited = (folder / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    versions_agree = {
        "pyproject.toml": project["version"] == version,
        "CITATION.cff": {f"version: {version}", f"date-released: {day}"} <= set(cited),
        f"tag {tag}": tag in (None, f"v{version}"),
    }
    for name, is_same in versions_agree.items():
        if not is_same:
            yield f"{name}:1: does not give {version} ({day}), the newest release in CHANGELOG.md"


def problems(folder: Path, path: Path) -> Iterator[Problem]:
    """Yield all problems of one file."""
    yield from name_problems(path)
    content = (folder / path).read_bytes()
    if b"\0" in content:
        return
    text = content.decode(errors="replace")
    yield from machine_problems(text)
    if path.suffix == ".py":
        tree = ast.parse(text, str(path))
        yield from size_problems(text, tree)
        if path.parts[0] == "src":
            yield from summary_problems(tree)
        if path.parts[0] == "tests":
            yield from collection_problems(path, tree)


def main(folder: Path, tag: str | None) -> int:
    """Print every problem of a repository; return 1 if there are any."""
    found = [f"{path}:{line}: {what}" for path in tracked_files(folder) for line, what in problems(folder, path)]
    found += version_problems(folder, tag)
    print("\n".join(found) if found else "Budgets kept.")
    return 1 if found else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, nargs="?", default=Path(__file__).parents[1])
    parser.add_argument("--tag")
    given = parser.parse_args()
    sys.exit(main(given.folder, given.tag))

"""Every text file is read and written as UTF-8, whatever the machine's locale."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "scripts", "benchmarks")
TEXT_MODES = {repr(mode) for mode in ("r", "w", "a", "x", "rt", "wt", "r+", "w+", "a+")}


def calls_without_encoding(tree: ast.AST) -> Iterator[int]:
    """Yield the line of every call that opens text and leaves its encoding to the locale."""
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        named = {keyword.arg for keyword in call.keywords}
        function = getattr(call.func, "attr", getattr(call.func, "id", ""))
        # `text` is also a word of our own records, so only True counts.
        is_text = any(keyword.arg == "text" and ast.unparse(keyword.value) == "True" for keyword in call.keywords)
        if "encoding" not in named and (is_text or opens_text(ast.unparse(call.func), function, call.args)):
            yield call.lineno


def opens_text(called: str, function: str, arguments: list[ast.expr]) -> bool:
    """Return whether a call without `encoding=` opens a file as text of the locale."""
    if function in {"read_text", "write_text"}:
        return len(arguments) == (function == "write_text")
    # The mode comes first in `path.open`, and after the file in `open` and `os.fdopen`.
    mode = arguments[called in {"open", "os.fdopen"} :][:1]
    return function in {"open", "fdopen"} and [ast.unparse(argument) in TEXT_MODES for argument in mode] == [True]


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS)
def test_every_text_file_names_its_encoding(folder: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line in calls_without_encoding(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("code", "is_found"),
    [
        ("path.read_text()", True),
        ("path.read_text('utf-8')", False),
        ("path.read_text(encoding='utf-8')", False),
        ("path.write_text(text)", True),
        ("path.write_text(text, 'utf-8')", False),
        ("path.open('w')", True),
        ("path.open('wb')", False),
        ("archive.open(name, 'w')", False),
        ("open(path, 'a')", True),
        ("open(path, 'a', encoding='utf-8')", False),
        ("subprocess.run(command, text=True)", True),
        ("subprocess.run(command, text=True, encoding='utf-8')", False),
        ("Section(text=answer)", False),
    ],
)
def test_a_call_without_encoding_is_found(code: str, *, is_found: bool) -> None:
    assert list(calls_without_encoding(ast.parse(code))) == [1] * is_found

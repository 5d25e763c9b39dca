"""docs/errors.md: every sentence of an error in the source, with what is filled in as words instead of code."""

import ast
import operator
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "peercorpus"
ARITHMETIC = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.RShift: operator.rshift}
COPIED = {"join", "sorted", "str", "repr", "map", "iter", "next", "quote", "sum", "name_fault"}
"""Functions that change only how a value is written."""


def escape(text: str) -> str:
    """Return a text escaped so that a cell of a Markdown table shows it unchanged."""
    return re.sub(r"([\\|*_`<>\[\]])", r"\\\1", text)


def raised_messages(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the class and the text of every error that a module raises, with its placeholders in braces."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            text = template(node.args[0])
            if node.func.id.endswith("Error") and text:
                yield node.func.id, text


def template(node: ast.expr) -> str:
    """Return a string, or an f-string with its placeholders in words; '' for any other expression."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if not isinstance(node, ast.JoinedStr):
        return ""
    parts = (
        str(part.value) if isinstance(part, ast.Constant) else placeholder(part.value)
        for part in node.values
        if isinstance(part, ast.Constant | ast.FormattedValue)
    )
    return "".join(parts)


def placeholder(node: ast.expr) -> str:
    """Return what an f-string fills in: the value of a constant, else words in braces.

    >>> [placeholder(ast.parse(code, mode="eval").body) for code in ("error.strerror or error", "len(too_long)")]
    ['{error}', '{number of too long}']
    >>> [placeholder(ast.parse(code, mode="eval").body) for code in ("', '.join(sorted(OPTIONS))", "release.folder")]
    ['{options}', '{release folder}']
    """
    value = constant_value(node)
    if value is not None:
        return f"{value:g}"
    words = named_in(node).split()
    return f"{{{' '.join(word for word, last in zip(words, ['', *words], strict=False) if word != last)}}}"


def constant_value(node: ast.expr) -> float | None:
    """Return the number that an expression of constants of the package gives, or None."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    if isinstance(node, ast.Name) and node.id.lstrip("_").isupper():
        return constants().get(node.id)
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        left, right = constant_value(node.left), constant_value(node.right)
        return None if left is None or right is None else ARITHMETIC[type(node.op)](left, right)
    return None


@cache
def constants() -> dict[str, float]:
    """Return the number of each constant of the package; those of one name and several values are left out."""
    found: dict[str, set[float]] = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            named = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            value = getattr(node, "value", None)
            if isinstance(named, ast.Name) and isinstance(value, ast.Constant) and isinstance(value.value, int | float):
                found.setdefault(named.id, set()).add(value.value)
    return {name: values.pop() for name, values in found.items() if len(values) == 1}


def named_in(node: ast.expr) -> str:
    """Return words for the value of an expression, from the names in it."""
    match node:
        case ast.Name(id=name) | ast.Constant(value=str(name)):
            return name.strip("_").lower().replace("_", " ")
        case ast.Attribute(value=ast.Name(id="self" | "os"), attr=name):
            return named_in(ast.Name(name))
        case ast.Attribute(value=owner, attr="strerror" | "detail" | "message" | "name"):
            return named_in(owner)
        case ast.Attribute(value=owner, attr=name):
            return f"{named_in(owner)} {named_in(ast.Name(name))}"
        case ast.Subscript(slice=ast.Constant(value=str()) as key):
            return named_in(key)
        case ast.Subscript(value=inner) | ast.BinOp(op=ast.Div(), right=inner) | ast.BinOp(left=inner):
            return named_in(inner)
        case ast.BoolOp(values=[inner, *_]) | ast.IfExp(body=inner) | ast.GeneratorExp(elt=inner):
            return named_in(inner)
        case ast.Call():
            return named_by_call(node)
    return "value"


def named_by_call(node: ast.Call) -> str:
    """Return words for what a call gives."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name == "plural":
        return f"number of {named_in(node.args[1])}s"
    if name == "len":
        return f"number of {named_in(node.args[0])}"
    if "suggest" in name:
        return "suggestion"
    if isinstance(node.func, ast.Attribute) and name not in COPIED:
        return named_in(node.func.value)
    return named_in(node.args[-1]) if node.args else named_in(ast.Name(name))


def errors_lines(notice: str) -> Iterator[str]:
    """Yield every error message that can reach a user, by package."""
    yield from (
        "# Errors",
        "",
        notice,
        "",
        "Every error that peercorpus raises, with words in braces for what differs. The command line prints the",
        "sentence on stderr and exits with the code of its class, see [cli.md](cli.md#exit-codes). In Python each is a",
        "`peercorpus.errors.PeercorpusError`.",
    )
    packages = sorted(path.parent for path in PACKAGE.glob("*/__init__.py"))
    for package in packages:
        found = {pair for path in package.rglob("*.py") for pair in raised_messages(path)}
        rows = sorted((name, " ".join(text.split())) for name, text in found if " " in text)
        if rows:
            yield from ("", f"## {package.name}", "", "| error | sentence |", "|---|---|")
            yield from (f"| `{name}` | {escape(text)} |" for name, text in rows)

"""The public Python interface as a page: each name with its signature, what it does, and its example."""

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from textwrap import dedent
from typing import Any

import peercorpus

INTRODUCTION = """\
`import peercorpus` is quick: each name is imported when it is first used. `help()` of a name shows its arguments,
errors and an example; errors are `peercorpus.errors.PeercorpusError`. The examples run as tests, beside the folder
that `peercorpus demo` makes, with `pl` for `polars`, `corpus = peercorpus.open("corpus")` and
`release = peercorpus.load_release("release")`."""


def interface_lines() -> Iterator[str]:
    """Yield the lines of the page: functions first, then classes with their methods."""
    yield from (*INTRODUCTION.splitlines(), "", "## Functions")
    found = {name: getattr(peercorpus, name) for name in peercorpus.__all__ if name != "__version__"}
    for name, one in found.items():
        if not inspect.isclass(one):
            yield from entry(name, one)
    yield from ("", "`peercorpus.__version__` is the version of the package, as a string.", "", "## Classes")
    for name, one in found.items():
        if inspect.isclass(one):
            yield from entry(name, one)
            listed = [method_line(vars(one)[method_name], method) for method_name, method in methods(one)]
            yield from ("", *listed) if listed else ()


def method_line(member: object, method: Callable[..., Any]) -> str:
    """Return a list item: a method with its signature, or a property, and what it does."""
    shown = " ".join(signature(method).split()).replace("( ", "(").replace(", )", ")")
    name = method.__name__ if isinstance(member, property) else shown
    return f"- `{name}`: {summary_of(method)}"


def summary_of(one: object) -> str:
    """Return the first paragraph of a docstring."""
    return (inspect.getdoc(one) or "").partition("\n\n")[0].replace("\n", " ")


def methods(kind: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the public methods and properties of a class, in source order."""
    for name, value in vars(kind).items():
        method = value.fget if isinstance(value, property) else value
        if inspect.isfunction(method) and not name.startswith("_"):
            yield name, method


def entry(name: str, one: Callable[..., Any]) -> Iterator[str]:
    """Yield the entry of a function or class; a class's entry includes its attributes."""
    text = inspect.getdoc(one) or ""
    yield from ("", f"### peercorpus.{name}", "")
    if not inspect.isclass(one):
        yield from ("```python", *signature(one).splitlines(), "```", "")
    yield summary_of(one)
    if command := re.search(r"the options of `peercorpus (\w+)`", text):
        fields = (item.partition(":")[0].removeprefix("- ") for item in described(text))
        yield from ("", f"[Explained there](cli/{command[1]}.md): {', '.join(fields)}.")
    elif section(text, "Attributes"):
        yield from ("", *described(text))
    if not inspect.isclass(one):
        yield from further_lines(one)
    example = section(text, "Example")
    if example:
        yield from ("", "```python", *example.splitlines(), "```")


def described(text: str) -> Iterator[str]:
    """Yield a list item for each attribute in a docstring."""
    for field, meaning in re.findall(r"^(\w+): (.+(?:\n .+)*)", section(text, "Attributes"), re.MULTILINE):
        yield f"- `{field}`: {' '.join(meaning.split())}"


def further_lines(function: Callable[..., Any]) -> Iterator[str]:
    """Yield what a function's further keyword arguments are, as its docstring says."""
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            said = re.search(rf"^{name}: (.+(?:\n .+)*)", section(inspect.getdoc(function) or "", "Args"), re.MULTILINE)
            yield from ("", f"`{name}`: {' '.join(said[1].split())}") if said else ()


def signature(one: Callable[..., Any]) -> str:
    """Return name and signature as in the source, without `self`, and without quotes around types."""
    source = dedent(inspect.getsource(inspect.unwrap(one)))
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    lines = source.splitlines()[function.lineno - 1 : function.body[0].lineno - 1]
    shown = re.sub(r":(?:  # .*)?$", "", "\n".join(lines)).removeprefix("def ")
    shown = re.sub(r"\(\s*self(?:, )?", "(", shown) if "\n" not in shown else re.sub(r"\n    self,", "", shown)
    return re.sub(r'"(pl\.\w+|[A-Z]\w+)"', r"\1", shown)


def section(text: str, name: str) -> str:
    r"""Return the content of a section of a docstring; empty if it has none.

    >>> section("Do it.\n\nExample:\n    >>> 1\n    1", "Example")
    '>>> 1\n1'
    """
    found = re.search(rf"^{name}:\n((?:[ ]+.*\n?|\n)+)", text, re.MULTILINE)
    return dedent(found[1]).strip("\n") if found else ""

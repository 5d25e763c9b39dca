"""Check that the packages of an extra are installed before a command reads or writes anything."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

from peercorpus.errors import MissingExtraError

_TABLE_PACKAGES = frozenset({"deltalake", "numpy", "polars", "pyarrow"})
"""Packages of the extras `release` and `corpus`, which most commands import."""
_EXTRA_OF: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(("audit leaks", "diff", "export", "push", "table1", "verify"), "release")
    | {"bench": "bench", "finetune": "finetune", "mcp": "mcp", "report": "report", "site": "web", "sql": "sql"}
)
"""Command → the extra with which it reads releases; every other command reads workspaces."""


def find_missing_extra(error: ModuleNotFoundError, arguments: Sequence[str]) -> MissingExtraError | None:
    """Return the error that names the extra with which a command can read tables; None if something else is missing.

    Args:
        error: The exception that an import raised.
        arguments: Arguments of the command line; options may come before the command.
    """
    package = str(error.name).partition(".")[0]
    if package not in _TABLE_PACKAGES:
        return None
    words = [token for token in arguments if not token.startswith("-")]
    named = (_EXTRA_OF.get(" ".join(words[:2])) or _EXTRA_OF.get(words[0])) if words else None
    extras = [named] if named else []
    if package == "deltalake" or not named:
        extras.insert(0, "corpus")
    return MissingExtraError(package, ",".join(extras))


def require_report(folder: Path) -> None:
    """Check that a report of a workspace or a release can be drawn; what is missing is named at once.

    Raises:
        MissingExtraError: A package is not installed.
    """
    needed: dict[str, tuple[str, ...]] = {"report": ("matplotlib", "polars", "pyarrow")}
    if (folder / "raw.db").is_file():
        needed["corpus"] = ("deltalake",)
    missing = {extra: [name for name in names if find_spec(name) is None] for extra, names in needed.items()}
    extras = sorted(extra for extra, names in missing.items() if names)
    if extras:
        raise MissingExtraError(missing[extras[0]][0], ",".join(extras))


def require_extra(extra: str, *packages: str, load: bool = False) -> None:
    """Check that packages which a command needs later are installed.

    Args:
        extra: The extra that installs them.
        packages: Their import names.
        load: Import them now: a package that threads import on demand may not find enough memory there.

    Raises:
        MissingExtraError: One is not.
    """
    for package in packages:
        if find_spec(package) is None:
            raise MissingExtraError(package, extra)
        if load:
            import_module(package)


@contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """Raise a `MissingExtraError` if a package is missing that the imports inside need.

    Args:
        extra: The extra that installs it.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        package = str(missing.name).partition(".")[0]
        if package == "peercorpus":
            raise
        raise MissingExtraError(package, extra) from None

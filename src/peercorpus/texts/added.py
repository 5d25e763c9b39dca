"""PDF engines of other packages: each names its class in the entry-point group `peercorpus.engines`.

A worker process may import this module; what another package brings is imported only when its engine is chosen.
"""

import re
from collections.abc import Callable, Collection, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, cast

from peercorpus.errors import EngineError, MissingExtraError, PeercorpusError

GROUP = "peercorpus.engines"

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
LONGEST_VERSION = 100
"""A version becomes the name of a folder."""


def why_unfit(name: object, version: object) -> str | None:
    """Why an engine cannot have this name or this version; None where it can."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        return f"The name {name!r} is not lower-case words and digits joined by hyphens."
    fits = isinstance(version, str) and version.isprintable() and version.isascii()
    if not fits or not 0 < len(cast(str, version)) <= LONGEST_VERSION:
        return f"The version {version!r} is not 1 to {LONGEST_VERSION} printable ASCII characters."
    return None


def added_engines(own: Collection[str]) -> Mapping[str, EntryPoint]:
    """The engines of other packages that are installed, by name; none of them is imported.

    Args:
        own: The names that are taken.

    Raises:
        PeercorpusError: A name is taken, or two packages have it.
    """
    found: dict[str, EntryPoint] = {}
    for entry in _entries():
        if entry.name in own or entry.name in found:
            other = found[entry.name].dist if entry.name in found else None
            also = f"as '{other.name}' does" if other else "which is one of peercorpus itself"
            raise PeercorpusError(
                f"The package '{_package(entry)}' adds a PDF engine '{entry.name}', {also}; uninstall it, or have it"
                " renamed."
            )
        found[entry.name] = entry
    return found


@cache
def _entries() -> tuple[EntryPoint, ...]:
    return tuple(sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, _package(entry))))


def packages() -> Mapping[str, str]:
    """The packages that add engines, each with its version."""
    return {entry.dist.name: entry.dist.version for entry in _entries() if entry.dist is not None}


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else entry.value


def make_added(entry: EntryPoint, make: Callable[[Any], Any], options: Collection[str]) -> Any:  # noqa: ANN401 -- no type of ours
    """Make the engine of another package.

    Args:
        entry: Where its class is.
        make: Makes the engine of its class.
        options: The names of the options that an engine may take.

    Raises:
        EngineError: It cannot be imported or made, or is no engine.
    """
    try:
        engine = make(entry.load())
    except (EngineError, MissingExtraError):
        raise
    except Exception as error:  # noqa: BLE001 -- code of others may raise anything
        told = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise _not_an_engine(entry, f"it cannot be made ({told})") from None
    unfit = _why_no_engine(engine, entry.name, options)
    if unfit is not None:
        raise _not_an_engine(entry, unfit)
    return engine


def _why_no_engine(engine: object, name: str, options: Collection[str]) -> str | None:
    own = getattr(engine, "name", None)
    unfit = why_unfit(own, getattr(engine, "version", None))
    if unfit is not None:
        return unfit[0].lower() + unfit[1:-1]
    if own != name:
        return f"it calls itself '{own}'"
    if not callable(getattr(engine, "convert", None)):
        return "it has no method 'convert'"
    takes: object = getattr(engine, "takes", frozenset())
    if not isinstance(takes, frozenset | set | tuple | list):
        return "its 'takes' is not the names of options"
    unknown = sorted(map(str, set(takes) - set(options)))
    return f"there is no option '{unknown[0]}' that it could take" if unknown else None


def _not_an_engine(entry: EntryPoint, why: str) -> EngineError:
    return EngineError(f"The PDF engine '{entry.name}' of the package '{_package(entry)}' cannot be used: {why}.")

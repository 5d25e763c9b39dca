"""Find, check and create the PDF engines that other packages add by entry point."""

import re
from collections.abc import Callable, Collection, Mapping
from importlib.metadata import EntryPoint
from typing import Any, cast

from peercorpus.errors import EngineError, MissingExtraError, PeercorpusError
from peercorpus.execution.code_version import engine_entry_points, entry_point_package

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
MAX_VERSION_CHARACTERS = 100
"""Maximum characters of an engine's version, which becomes the name of a folder."""


def explain_invalid_name(name: object, version: object) -> str | None:
    """Return why this name or version is invalid for an engine, as a sentence; None if both are valid."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        return f"The name {name!r} must consist of lower-case words and digits joined by hyphens."
    fits = isinstance(version, str) and version.isprintable() and version.isascii()
    if not fits or not 0 < len(cast(str, version)) <= MAX_VERSION_CHARACTERS:
        return f"The version {version!r} must consist of 1 to {MAX_VERSION_CHARACTERS} printable ASCII characters."
    return None


def find_added_engines(own: Collection[str]) -> Mapping[str, EntryPoint]:
    """Return the installed engines of other packages by name, without importing them; raises PeercorpusError if two
    have one name.
    """
    engines: dict[str, EntryPoint] = {}
    for entry in engine_entry_points():
        if entry.name in own or entry.name in engines:
            other = engines[entry.name].dist if entry.name in engines else None
            also = f"as does '{other.name}'" if other else "which is the name of one of peercorpus's own"
            raise PeercorpusError(
                f"The package '{entry_point_package(entry)}' adds a PDF engine '{entry.name}', {also}; uninstall the"
                " package, or ask its authors to rename the engine."
            )
        engines[entry.name] = entry
    return engines


def make_added(entry: EntryPoint, make: Callable[[Any], Any], options: Collection[str]) -> Any:  # noqa: ANN401 -- no type of ours
    """Create the engine of another package; raises EngineError if it lacks something that an engine needs."""
    try:
        engine = make(entry.load())
    except (EngineError, MissingExtraError):
        raise
    except Exception as error:  # noqa: BLE001 -- foreign code may raise any exception
        cause = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise _make_invalid_engine_error(entry, f"it cannot be created ({cause})") from None
    unfit = _explain_invalid(engine, entry.name, options)
    if unfit is not None:
        raise _make_invalid_engine_error(entry, unfit)
    return engine


def _explain_invalid(engine: object, name: str, options: Collection[str]) -> str | None:
    own_name = getattr(engine, "name", None)
    unfit = explain_invalid_name(own_name, getattr(engine, "version", None))
    if unfit is not None:
        return unfit[0].lower() + unfit[1:-1]
    if own_name != name:
        return f"it calls itself '{own_name}'"
    if not callable(getattr(engine, "convert", None)):
        return "it has no method 'convert'"
    takes: object = getattr(engine, "takes", frozenset())
    if not isinstance(takes, frozenset | set | tuple | list):
        return "its 'takes' does not contain names of options"
    unknown = sorted(map(str, set(takes) - set(options)))
    return f"there is no option '{unknown[0]}' for it to support" if unknown else None


def _make_invalid_engine_error(entry: EntryPoint, why: str) -> EngineError:
    return EngineError(
        f"The PDF engine '{entry.name}' of the package '{entry_point_package(entry)}' cannot be used: {why}."
    )

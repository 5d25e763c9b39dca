"""Read the arguments of the Python interface: one sentence for each of a wrong type, or empty."""

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from peercorpus.errors import PeercorpusError
from peercorpus.workspace.object_store import local_path


def read_path(path: str | Path, name: str, what: str = "folder") -> Path:
    """Return a path.

    Args:
        path: The argument.
        name: Name of the argument.
        what: What the path is of, for the sentence on an empty one.

    Raises:
        PeercorpusError: It is empty, which would silently mean the current folder, or neither a text nor a path.
    """
    if not isinstance(path, str | PathLike):
        raise PeercorpusError(f"{name} must be a text or a path, got {path!r}.")
    text = str(path)
    if not text.strip():
        here = ", or '.' for the current one" if what == "folder" else ""
        raise PeercorpusError(f"{name} is empty; name a {what}{here}.")
    if "\0" in text:
        raise PeercorpusError(f"{name} contains a null character, which no path may, got {text!r}.")
    return local_path(text)


def read_optional_path(path: str | Path | None, name: str, what: str = "folder") -> Path | None:
    """Return a path, or None for None; errors as for `read_path`."""
    return None if path is None else read_path(path, name, what)


def list_venues(names: str | Iterable[str], name: str = "venue_ids") -> list[str]:
    """Return the venues of an argument that takes one name or several.

    Raises:
        PeercorpusError: It is neither a text nor several texts.
    """
    if isinstance(names, str):
        return [names]
    listed = list(names) if isinstance(names, Iterable) else [names]
    if not isinstance(names, Iterable) or not all(isinstance(one, str) for one in listed):
        raise PeercorpusError(f"{name} must be the name of a venue or a list of names, got {names!r}.")
    return listed


def require_whole_number(name: str, number: int) -> None:
    """Require a whole number.

    Raises:
        PeercorpusError: It is something else, such as True.
    """
    if isinstance(number, bool) or not isinstance(number, int):
        raise PeercorpusError(f"{name} must be a whole number, got {number!r}.")

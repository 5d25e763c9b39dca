"""Read the arguments of the Python interface: one sentence for each of a wrong type, or empty."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from enum import StrEnum
from itertools import chain
from math import inf
from os import PathLike
from pathlib import Path
from types import NoneType
from typing import TypeVar, get_args, get_type_hints

from peercorpus.errors import PeercorpusError
from peercorpus.execution.progress import Progress, Show, show_nothing
from peercorpus.workspace.object_store import local_path

RequestT = TypeVar("RequestT")
Field = str | bool | float | date | Path | None
"""Value of a field of a request."""


def read_path(path: object, name: str, what: str = "folder") -> Path:
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
    return list_texts(names, name, "the name of a venue or a list of names")


def list_texts(texts: str | Iterable[str], name: str, expected: str = "a text or a list of texts") -> list[str]:
    """Return the texts of an argument that takes one or several.

    Raises:
        PeercorpusError: It is neither a text nor several texts.
    """
    if isinstance(texts, str):
        return [texts]
    listed = list(texts) if isinstance(texts, Iterable) else [texts]
    if not isinstance(texts, Iterable) or not all(isinstance(one, str) for one in listed):
        raise PeercorpusError(f"{name} must be {expected}, got {texts!r}.")
    return listed


def require_whole_number(name: str, number: object) -> None:
    """Require a whole number.

    Raises:
        PeercorpusError: It is something else, such as True.
    """
    if isinstance(number, bool) or not isinstance(number, int):
        raise PeercorpusError(f"{name} must be a whole number, got {number!r}.")


def require_text(**values: object) -> None:
    """Require a text, or None.

    Raises:
        PeercorpusError: One is something else, or empty.
    """
    for name, value in values.items():
        if value is not None and not isinstance(value, str):
            raise PeercorpusError(f"{name} must be a text, got {value!r}.")
        if value is not None and not value.strip():
            raise PeercorpusError(f"{name} is empty; leave it out, or give a value.")


def require_positive(**numbers: object) -> None:
    """Require a number above 0, or None.

    Raises:
        PeercorpusError: One is something else.
    """
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, int | float | None):
            raise PeercorpusError(f"{name} must be a number, got {number!r}.")
        if number is not None and not 0 < number < inf:
            raise PeercorpusError(f"{name} must be a finite number, more than 0, got {number:g}.")


def require_positive_whole(**numbers: object) -> None:
    """Require a whole number above 0, or None.

    Raises:
        PeercorpusError: One is something else.
    """
    for name, number in numbers.items():
        if number is not None:
            require_whole_number(name, number)
    require_positive(**numbers)


def require_one_of(name: str, value: object, values: Iterable[str]) -> None:
    """Require one of some values.

    Raises:
        PeercorpusError: It is another one.
    """
    values = tuple(values)
    if value not in values:
        raise PeercorpusError(f"{name} must be one of {', '.join(values)}, got '{value}'.")


def make_request(kind: type[RequestT], function: str, fields: Mapping[str, object]) -> RequestT:
    """Return the request that the keyword arguments of a function describe.

    Args:
        kind: Class of the request; its annotations say what each field takes.
        function: Name of the function, for the error.
        fields: The keyword arguments.

    Raises:
        TypeError: There is no such field.
        PeercorpusError: A value is not one that the field takes, or excludes another.
    """
    hints = get_type_hints(kind)
    unknown = next((name for name in fields if name not in hints), None)
    if unknown is not None:
        raise TypeError(f"{function}() got an unexpected keyword argument '{unknown}'")
    read = {name: _read_field(name, value, get_args(hints[name]) or (hints[name],)) for name, value in fields.items()}
    with naming_parameters():
        return kind(**read)


def _read_field(name: str, value: object, types: Sequence[object]) -> object:
    """Return the value of a field that takes these types."""
    if (value is None and NoneType in types) or (isinstance(value, bool) and bool in types):
        return value
    literals = [*(one for one in types if isinstance(one, str)), *chain(*map(get_args, types))]
    enums = [one for one in types if isinstance(one, type) and issubclass(one, StrEnum)]
    if literals or enums:
        require_one_of(name, value, [*literals, *chain(*enums)])
        return enums[0](str(value)) if enums else value
    if bool in types:
        raise PeercorpusError(f"{name} must be True or False, got {value!r}.")
    if int in types:
        require_positive_whole(**{name: value})
    elif float in types:
        require_positive(**{name: value})
    elif date in types:
        return _read_date(name, value)
    elif Path in types:
        return read_path(value, name)
    else:
        require_text(**{name: value})
    return value


def _read_date(name: str, day: object) -> date:
    """Return a date; a text must be one in the form of ISO 8601."""
    try:
        return day if isinstance(day, date) else date.fromisoformat(str(day))
    except ValueError:
        raise PeercorpusError(f"{name} must be a date such as 2024-10-01, got {day!r}.") from None


_OPTION = re.compile(r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)(?: (all|model|none|reviewbench|temporal)\b)?")
"""Matches an option of a command in an error, with its value if that is one of these."""


@contextmanager
def naming_parameters() -> Iterator[None]:
    """Rename options of commands in errors to the parameters of the same meaning: `--engine-url` to `engine_url`.

    For checks of arguments that commands and functions share; errors that advise to run a command must pass outside.
    """
    try:
        yield
    except PeercorpusError as error:
        if error.args:
            error.args = (_OPTION.sub(_name_parameter, str(error.args[0])), *error.args[1:])
        raise


def _name_parameter(option: re.Match[str]) -> str:
    name = option[1].replace("-", "_")
    return name if option[2] is None else f'{name}="{option[2]}"'


def make_receivers(progress: Callable[[str], None] | None) -> tuple[Callable[[str], None], Show]:
    """Return the functions that receive sentences and the progress of steps."""
    if progress is None:
        return (lambda _: None), show_nothing
    report = progress

    def show(step: Progress) -> None:
        report(str(step))

    return report, show

"""Read `peercorpus.toml`: options that are always the same, unless the arguments or the environment state others."""

import os
import re
import shlex
import stat
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import urlsplit

from cyclopts.config import Dict

from peercorpus.errors import PeercorpusError
from peercorpus.records.suggestions import suggest_name

if TYPE_CHECKING:
    from cyclopts import App
    from cyclopts.argument import Argument, ArgumentCollection

FILE_NAME = "peercorpus.toml"
"""Searched for in the current folder, then in the folders above it; only the first one found is read."""

REPORTING = ("quiet", "verbose", "log")
SHARED = ("workspace", *REPORTING, "url_v1", "url_v2", "token_file")
"""Keys outside tables: options of every command that has them."""

_SECRET = re.compile(r"(?:^|_)(?:tokens?|password|passwd|secrets?|key|code|user)$")
_PASSWORD_IN_URL = re.compile(r"(?<!\w)\w++://[^/@\s:]*+:[^/@\s]*+@")
_ASKED = ("url", "model_url", "engine_url")
"""Beginnings of the names of options that name a host which gets a token or a key."""
_NOT_SECRET = frozenset({"max_tokens"})
_SCHEMES = ("hf:", "s3:", "file:", "http:", "https:")


def find_config_file() -> Path | None:
    """Return the `peercorpus.toml` of the current folder, or else of the nearest one above it; None if there is none.

    Raises:
        PeercorpusError: It belongs to another user, or others may write it: their settings must not decide where tokens
            are sent.
    """
    here = Path.cwd()
    found = next((folder / FILE_NAME for folder in (here, *here.parents) if (folder / FILE_NAME).is_file()), None)
    if found is not None and hasattr(os, "getuid") and found.lstat().st_uid not in {os.getuid(), 0}:
        raise PeercorpusError(
            f"'{found}' belongs to another user and is not used; delete it, or work in another folder."
        )
    if found is not None and hasattr(os, "getuid") and _is_open_to_others(found):
        raise PeercorpusError(
            f"Other users may write '{found}', so it is not used; run: chmod go-w {shlex.quote(str(found))}"
        )
    return found


def _is_open_to_others(path: Path) -> bool:
    """Return whether users other than its owner can change a file.

    They can if every user may write it, or if its group may and it is in a folder of another user. In one's own folder
    the group may: on many systems it has no other member, and new files get this mode.
    """
    mode = path.stat().st_mode
    is_elsewhere = path.parent.stat().st_uid not in {os.getuid(), 0}
    return bool(mode & stat.S_IWOTH) or (bool(mode & stat.S_IWGRP) and is_elsewhere)


def read_config_file(path: Path) -> dict[str, Any]:
    """Return the content of the file, with `_` for `-` in all keys.

    Raises:
        PeercorpusError: It is not TOML, states a secret or a host that would get one, or a key outside its tables is
            not one of `SHARED`.
    """
    from peercorpus.cli.commands import list_commands

    try:
        content: dict[str, Any] = _spell(tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PeercorpusError(f"'{path}' is not TOML: {error}; correct it.") from None
    for name, value in _walk(content):
        if _SECRET.search(name.lower()) and name.lower() not in _NOT_SECRET:
            raise PeercorpusError(
                f"'{name}' in '{path}' is a secret, which this file must not contain; delete it there, and set it in"
                " the environment, or run 'peercorpus login'."
            )
        if isinstance(value, str) and _PASSWORD_IN_URL.search(value):
            raise PeercorpusError(f"The URL of '{name}' in '{path}' contains a password; delete the password there.")
        if isinstance(value, str) and name.lower().startswith(_ASKED) and not _is_trusted(value):
            raise PeercorpusError(
                f"'{name}' in '{path}' is a host other than OpenReview's or this machine, and would get your token or"
                " key; state it among the arguments, since such a file may come with a folder from somebody else."
            )
    commands = {_spell_key(name) for name in list_commands()}
    for name, value in content.items():
        is_table = isinstance(value, dict)
        if name not in SHARED and not (is_table and name in commands):
            kind = "table" if is_table else "key outside a table"
            known = commands if is_table else SHARED
            raise PeercorpusError(f"Unknown {kind} '{name}' in '{path}'; {suggest_name(name, known)}")
        if name in SHARED and is_table:
            raise PeercorpusError(f"'{name}' in '{path}' must be a value, not a table.")
    return content


def _is_trusted(url: str) -> bool:
    """Return whether a URL is one of OpenReview or of this machine."""
    host = urlsplit(url).hostname or ""
    return host in {"localhost", "127.0.0.1", "::1", "openreview.net"} or host.endswith(".openreview.net")


def apply_config_file(app: "App", commands: tuple[str, ...], arguments: "ArgumentCollection") -> None:
    """Fill in, from the nearest `peercorpus.toml`, the options that are neither among the arguments nor in the
    environment; Cyclopts calls this for each command.

    Paths are relative to the folder of the file. A workspace outside the tables counts for commands that need one.

    Raises:
        PeercorpusError: The file is invalid, or has a key that the command does not take.
    """
    path = find_config_file()
    if path is None:
        return
    content = read_config_file(path)
    options = {_spell_key(name): option for option in arguments for name in option.names if name.startswith("--")}
    stated = {name: content[name] for name in (SHARED if commands else REPORTING) if name in content}
    values = {name: value for name, value in stated.items() if name in options and _is_needed(name, options[name])}
    values |= _read_table(content, app, commands, options, path)
    spelled = {
        options[name].name.removeprefix("--"): _resolve(value, options[name], path) for name, value in values.items()
    }
    nested: dict[str, Any] = spelled
    for command in reversed(commands):
        nested = {command: nested}
    Dict(nested, source=str(path))(app, commands, arguments)


def _read_table(
    content: Mapping[str, Any], app: "App", commands: tuple[str, ...], options: Mapping[str, object], path: Path
) -> dict[str, Any]:
    """Return the values of a command's own table; an unknown key is an error."""
    table: Any = content
    for command in commands:
        table = table.get(_spell_key(command), {})
    if not commands:
        return {}
    within = {_spell_key(name) for name in app if not name.startswith("-")}
    values = {name: value for name, value in table.items() if name not in within}
    unknown = next((name for name in values if name not in options), None)
    if unknown is not None:
        where = ".".join(commands)
        raise PeercorpusError(f"Unknown key '{unknown}' in [{where}] of '{path}'; {suggest_name(unknown, options)}")
    return values


def _is_needed(name: str, option: "Argument") -> bool:
    """Return whether a command that can do without a workspace is left without one, as its work is then another."""
    return name != "workspace" or option.required


def _resolve(value: Any, option: "Argument", path: Path) -> Any:  # noqa: ANN401 -- whatever TOML holds
    """Return a relative path as one that begins at the folder of the file; any other value as it is."""
    if isinstance(value, list):
        return [_resolve(item, option, path) for item in value]
    if not isinstance(value, str) or value.startswith(_SCHEMES) or not value.strip():
        return value
    return str(path.parent / Path(value).expanduser()) if _is_path(option.hint) else value


def _is_path(hint: object) -> bool:
    return hint is Path or any(map(_is_path, get_args(hint)))


def _spell_key(name: str) -> str:
    return name.lstrip("-").replace("-", "_")


def _spell(content: dict[str, Any]) -> dict[str, Any]:
    return {_spell_key(name): _spell(value) if isinstance(value, dict) else value for name, value in content.items()}


def _walk(content: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield every key with its value, those of tables and of tables in lists too."""
    for name, value in content.items():
        yield name, value
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, dict):
                yield from _walk(inner)

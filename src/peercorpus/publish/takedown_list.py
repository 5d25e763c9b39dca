"""`takedown.txt` of a workspace: the ids that no export may show, one a line, and the salt that hides them."""

import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path

from peercorpus.errors import PeercorpusError, WorkspaceError

LIST = "takedown.txt"
SALT = "takedown.salt"
SALT_BYTES = 32
OWNER_ONLY = 0o600
NOTE_ID = re.compile(r"[A-Za-z0-9_:./-]+")
"""A note's id; those made for published records have colons and slashes too."""
AUTHOR_ID = re.compile(r"~\S+?\d+|[^\s@/]+@[^\s@/]+\.[^\s@/]+")
"""A profile, `~Ada_Example1`, or the address under which an author without one is recorded."""


def is_author_id(listed: str) -> bool:
    """Whether an id names a person.

    >>> is_author_id("~Ada_Example1"), is_author_id("ada@example.org"), is_author_id("rkgO66VKDS")
    (True, True, False)
    """
    return AUTHOR_ID.fullmatch(listed) is not None


def is_id(listed: str) -> bool:
    """Whether it can be the id of a note or of a person."""
    return NOTE_ID.fullmatch(listed) is not None or is_author_id(listed)


def _id_of(line: str) -> str:
    """What stands before a comment; empty for a line without an id."""
    return line.partition("#")[0].strip()


def _lines(folder: Path) -> list[str]:
    try:
        return (folder / LIST).read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        return []
    except UnicodeDecodeError:
        raise PeercorpusError(f"'{folder / LIST}' is no text in UTF-8; save it as such.") from None


def read_list(folder: Path) -> list[str]:
    """The ids that a workspace lists, each once, in their order; none where it has no list.

    Raises:
        PeercorpusError: A line can be no id.
    """
    found: dict[str, None] = {}
    for number, line in enumerate(_lines(folder), 1):
        listed = _id_of(line)
        if listed and not is_id(listed):
            raise PeercorpusError(
                f"Line {number} of '{folder / LIST}' can be no id of a paper, a note or an author; correct it or put a"
                " '#' before it."
            )
        if listed:
            found[listed] = None
    return list(found)


def check_ids(ids: Iterable[str]) -> None:
    """Make sure that each can be an id.

    Raises:
        PeercorpusError: One cannot.
    """
    for listed in ids:
        if not is_id(listed):
            raise PeercorpusError(f"'{listed}' can be no id of a paper, a note or an author; nothing was changed.")


def add_to_list(folder: Path, ids: Sequence[str]) -> None:
    """Add ids that are not listed yet, each on a line of its own at the end."""
    check_ids(ids)
    held = set(read_list(folder))
    new = [listed for listed in dict.fromkeys(ids) if listed not in held]
    if new:
        _write(folder, [*_lines(folder), *new])


def take_from_list(folder: Path, ids: Sequence[str]) -> list[str]:
    """Remove the lines of some ids; those of them that were not listed."""
    check_ids(ids)
    held = set(read_list(folder))
    if held & set(ids):
        _write(folder, [line for line in _lines(folder) if _id_of(line) not in ids])
    return [listed for listed in dict.fromkeys(ids) if listed not in held]


def _write(folder: Path, lines: Sequence[str]) -> None:
    """Replace the list, whole or not at all: half a list would publish what was taken down."""
    partial = folder / f"{LIST}.partial"
    with partial.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(folder / LIST)


def _salt(folder: Path) -> bytes:
    """The workspace's own salt, made when it is first asked for; nobody but its owner may read it."""
    path = folder / SALT
    if not path.exists():
        partial = folder / f".{SALT}.{os.getpid()}"
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY), "wb") as file:
            file.write(secrets.token_bytes(SALT_BYTES))
        try:
            path.hardlink_to(partial)
        except FileExistsError:
            pass  # Another run made it meanwhile.
        finally:
            partial.unlink()
    salt = path.read_bytes()
    if len(salt) != SALT_BYTES:
        raise WorkspaceError(f"'{path}' does not hold the salt of this workspace; move it away, and a new one is made.")
    return salt


def salted(folder: Path, ids: Iterable[str]) -> list[str]:
    """Each id as a hash from which only who has the workspace's salt can tell it, in no order of the ids."""
    listed = list(ids)
    salt = _salt(folder) if listed else b""
    return sorted(hmac.new(salt, one.encode(), hashlib.sha256).hexdigest() for one in listed)


def digest_of_list(folder: Path) -> str | None:
    """A salted hash that stands for all ids of a workspace's list, whatever their order; None where it has none.

    Without the salt it would tell who tries the ids of all papers which one is listed.
    """
    listed = read_list(folder)
    return salted(folder, ["\n".join(["list", *sorted(listed)])])[0] if listed else None

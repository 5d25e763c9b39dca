"""Which name a PDF's Markdown has in a folder: the PDF's own, unless another file has it already."""

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from peercorpus.store import Place

LONGEST_NAME = 150
"""Bytes of a name before its ending; file systems take 255, a sha256 may follow."""

UNFIT = re.compile("[\x00-\x1f\x7f/\\\\\ud800-\udfff]")
"""What no name of a file should hold; a byte that is no UTF-8 is read as a surrogate."""


class Held(msgspec.Struct, frozen=True):
    """What the JSON of an earlier run tells of its file.

    Attributes:
        sha256: None where the file could not be opened.
        path: Where the file lay, as seen from this folder; None where its version of peercorpus did not tell.
        page_marks: Whether the Markdown shows where pages end.
        reason: Why there is no Markdown, and `detail`, a sentence of it; None where there is.
    """

    sha256: str | None
    engine: str
    engine_version: str
    page_marks: bool
    status: str
    reason: str | None
    detail: str | None
    path: str | None = None


def fit_name(stem: str) -> str:
    r"""A name for a file, on any file system.

    >>> fit_name("paper"), fit_name("a\nb"), len(fit_name("é" * 300).encode())
    ('paper', 'a_b', 150)
    """
    name = UNFIT.sub("_", stem).encode()[:LONGEST_NAME].decode(errors="ignore").strip(" ")
    return name or "_"


@dataclass(frozen=True, slots=True)
class Met:
    """A PDF to name.

    Attributes:
        path: Where it lies, as its JSON tells it: which PDF it is, whatever its content.
        digest: Of its content, or of its path where it cannot be opened: 64 hexadecimal digits.
    """

    source: Place
    path: str
    digest: str


class Names:
    """The names in one folder: those that are taken there, and those given in this run."""

    def __init__(self, folder: Place) -> None:
        self._folder = folder
        self._given: dict[str, str] = {}
        self._read: dict[str, Held | None] = {}

    def read(self, name: str) -> Held | None:
        """What an earlier run wrote of the file of this name; None where none did."""
        if name not in self._read:
            try:
                held = msgspec.json.decode((self._folder / f"{name}.json").read_bytes(), type=Held)
            except (FileNotFoundError, msgspec.DecodeError, UnicodeDecodeError):
                held = None
            self._read[name] = held
        return self._read[name]

    def give(self, found: Sequence[Met]) -> list[tuple[str, bool]]:
        """The name of each PDF, and whether the same content was given the same name before, in this run.

        A PDF keeps the name that it has, whatever it holds now; the others are named in the order of their paths, so
        that the order in which they come changes nothing.
        """
        names = {met.path: (name, False) for met in found if (name := self._kept(met)) is not None}
        for met in sorted(found, key=lambda met: met.path):
            if met.path not in names:
                names[met.path] = self._free(met)
        given: set[str] = set()
        told = []
        for met in found:
            name, was_given = names[met.path]
            told.append((name, was_given or met.path in given))
            given.add(met.path)
        return told

    def _kept(self, met: Met) -> str | None:
        """The name under which an earlier run wrote of this PDF; None where none did."""
        for name in _candidates(met):
            held = self.read(name)
            if held is not None and held.path == met.path and _key(name) not in self._given:
                self._given[_key(name)] = met.digest
                return name
        return None

    def _free(self, met: Met) -> tuple[str, bool]:
        for name in _candidates(met)[:-1]:
            if _key(name) in self._given:
                if self._given[_key(name)] == met.digest:
                    return name, True
            elif self._is_free(name, met.digest):
                self._given[_key(name)] = met.digest
                return name, False
        name = _candidates(met)[-1]
        self._given[_key(name)] = met.digest
        return name, False

    def _is_free(self, name: str, digest: str) -> bool:
        """Whether nothing has a name, or a PDF of the same content, which lay elsewhere."""
        held = self.read(name)
        if held is not None:
            return held.sha256 == digest
        return not any((self._folder / f"{name}{ending}").exists() for ending in (".json", ".md"))


def _candidates(met: Met) -> tuple[str, str, str]:
    """The names that a PDF may have; the first that is free is taken."""
    stem, mark = fit_name(met.source.stem), hashlib.sha256(met.path.encode()).hexdigest()
    return stem, f"{stem}-{mark[:8]}", f"{stem}-{mark}"


def _key(name: str) -> str:
    """What two names have in common that are one name on some file system."""
    return unicodedata.normalize("NFC", name).casefold()

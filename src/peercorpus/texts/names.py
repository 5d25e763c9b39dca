"""Which name a PDF's Markdown has in a folder: the PDF's own, unless another file has it already."""

import re
import unicodedata

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


def fit_name(stem: str) -> str:
    r"""A name for a file, on any file system.

    >>> fit_name("paper"), fit_name("a\nb"), len(fit_name("é" * 300).encode())
    ('paper', 'a_b', 150)
    """
    name = UNFIT.sub("_", stem).encode()[:LONGEST_NAME].decode(errors="ignore").strip(" ")
    return name or "_"


class Names:
    """The names in one folder: those that are taken there, and those given in this run."""

    def __init__(self, folder: Place) -> None:
        self._folder = folder
        self._given: dict[str, str] = {}

    def read(self, name: str) -> Held | None:
        """What an earlier run wrote of the file of this name; None where none did."""
        try:
            return msgspec.json.decode((self._folder / f"{name}.json").read_bytes(), type=Held)
        except (FileNotFoundError, msgspec.DecodeError, UnicodeDecodeError):
            return None

    def _owner(self, name: str) -> str | None:
        """The file a name belongs to; None where it is free, empty where it is not ours."""
        if not any((self._folder / f"{name}{ending}").exists() for ending in (".json", ".md")):
            return None
        held = self.read(name)
        return held.sha256 if held else ""

    def give(self, source: Place, digest: str) -> tuple[str, bool]:
        """The name of a file, and whether the same file was given it before, in this run.

        Args:
            source: Where the file lies.
            digest: Of its content: 64 hexadecimal digits.
        """
        stem = fit_name(source.stem)
        for name in (stem, f"{stem}-{digest[:8]}"):
            key = unicodedata.normalize("NFC", name).casefold()
            if key in self._given:
                if self._given[key] == digest:
                    return name, True
            elif self._owner(name) in (None, digest):
                self._given[key] = digest
                return name, False
        self._given[f"{stem}-{digest}".casefold()] = digest
        return f"{stem}-{digest}", False

"""Every text that an engine has read, by file, engine and the engine's version, so that none is read twice.

It lies in the workspace beside the tables: `texts/<engine>/<version>/ab/ab12….json.zst`. Venues that hold the same file
share it, and it outlives a change of engine and the tables themselves. What is in it can be derived again: deleting it,
or any part of it, costs time and changes nothing. A file in it that was damaged counts as not there.

What earlier versions of an engine have read is removed once a venue has been read with the new one; what other engines
have read stays, as does what was read of files that no version names any more.
"""

import shutil
import tempfile
from pathlib import Path
from urllib.parse import quote

import msgspec
import zstandard

from peercorpus.texts.engine import Converted, Engine
from peercorpus.workspace import Workspace

FOLDER = "texts"


def _name(version: str) -> str:
    """A version as the name of a folder: as it is, apart from the signs that such a name should not have.

    >>> _name("1+pypdfium2-5.15.0"), _name("../2")
    ('v1+pypdfium2-5.15.0', 'v..%2F2')
    """
    return f"v{quote(version, safe='+')}"


class TextCache:
    """What one version of one engine has read.

    Attributes:
        folder: Of this engine and version.
    """

    def __init__(self, workspace: Workspace, engine: Engine) -> None:
        self.folder = workspace.folder / FOLDER / quote(engine.name, safe="") / _name(engine.version)
        self._partial = workspace.files.partial

    def _path(self, sha256: str) -> Path:
        return self.folder / sha256[:2] / f"{sha256}.json.zst"

    def read(self, sha256: str) -> Converted | None:
        """The text of a file; None where it has not been read, or what was kept of it is damaged."""
        try:
            packed = self._path(sha256).read_bytes()
        except FileNotFoundError:
            return None
        try:
            return msgspec.json.decode(zstandard.decompress(packed), type=Converted)
        except (zstandard.ZstdError, msgspec.DecodeError):
            return None

    def write(self, sha256: str, converted: Converted) -> None:
        """Keep the text of a file, whole or not at all."""
        path = self._path(sha256)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._partial.mkdir(parents=True, exist_ok=True)
        packed = zstandard.ZstdCompressor(write_checksum=True).compress(msgspec.json.encode(converted))
        with tempfile.NamedTemporaryFile(dir=self._partial, delete=False) as partial:
            partial.write(packed)
        Path(partial.name).rename(path)

    def trim(self) -> None:
        """Remove what this engine read when its own code was another; what it read with other help stays."""
        _, _, help_ = self.folder.name.partition("+")
        for path in self.folder.parent.glob("*"):
            if path != self.folder and path.name.partition("+")[2] == help_:
                shutil.rmtree(path)

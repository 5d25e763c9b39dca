"""Runs the command line of peercorpus from any source folder, in an environment that is the same every time."""

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

COMMAND_TIMEOUT_S = 600
FROZEN = {
    "COLUMNS": "100",
    "HF_HUB_OFFLINE": "1",
    "LC_ALL": "C.UTF-8",
    "NO_COLOR": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONWARNINGS": "ignore",
    "SOURCE_DATE_EPOCH": "1700000000",
    "TZ": "UTC",
}
"""Environment variables of every command."""
ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/?")


class CommandFailedError(Exception):
    """A command failed that everything else depends on."""


@dataclass(frozen=True, slots=True)
class Finished:
    """What a command returned."""

    exit_code: int
    output: str
    errors: str


@dataclass(frozen=True, slots=True)
class Product:
    """One version of peercorpus.

    Attributes:
        source: The folder put first on PYTHONPATH.
        scratch: Folder for the metadata of that source, and for what commands keep in the user's home.
    """

    source: Path
    scratch: Path

    def prepare(self) -> None:
        """Write the package metadata of the source, which would otherwise be that of the installed version.

        Entry points name modules, and modules move.
        """
        (self.scratch / "home").mkdir(parents=True, exist_ok=True)
        described = self.source.parent / "pyproject.toml"
        if not described.is_file():
            return
        project = tomllib.loads(described.read_text(encoding="utf-8"))["project"]
        folder = self.scratch / "metadata" / f"{project['name']}-{project['version']}.dist-info"
        folder.mkdir(parents=True, exist_ok=True)
        named = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
        (folder / "METADATA").write_text(named, encoding="utf-8")
        groups = {"console_scripts": project.get("scripts", {}), **project.get("entry-points", {})}
        points = (
            f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in entries.items())
            for group, entries in groups.items()
        )
        (folder / "entry_points.txt").write_text("\n".join(points), encoding="utf-8")

    def _environment(self) -> dict[str, str]:
        own = {name: value for name, value in os.environ.items() if not name.startswith(("PEERCORPUS_", "INSPECT_"))}
        paths = f"{self.scratch / 'metadata'}{os.pathsep}{self.source}"
        kept = {"MPLCONFIGDIR": own.get("MPLCONFIGDIR", str(Path(tempfile.gettempdir()) / "sameness-matplotlib"))}
        return own | kept | FROZEN | {"HOME": str(self.scratch / "home"), "PYTHONPATH": paths}

    def run(self, folder: Path, arguments: Sequence[str], *, must_work: bool = False) -> Finished:
        """Run a command in a folder.

        Raises:
            CommandFailedError: The command must work but failed.
        """
        ran = subprocess.run(
            [sys.executable, "-m", "peercorpus", *arguments],
            cwd=folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=COMMAND_TIMEOUT_S,
            check=False,
        )
        if must_work and ran.returncode:
            raise CommandFailedError(f"peercorpus {shlex.join(arguments)} ended with {ran.returncode}:\n{ran.stderr}")
        return Finished(ran.returncode, ran.stdout, ran.stderr)

    @contextmanager
    def serving(self, folder: Path, arguments: Sequence[str]) -> Iterator[str]:
        """Run a server command until the block ends; yields the first address that it prints.

        Raises:
            CommandFailedError: The command ended without printing an address.
        """
        with subprocess.Popen(
            [sys.executable, "-u", "-m", "peercorpus", *arguments],
            cwd=folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        ) as running:
            try:
                yield self._address(running, arguments)
            finally:
                running.send_signal(signal.SIGINT)
                running.communicate()

    @staticmethod
    def _address(running: subprocess.Popen[str], arguments: Sequence[str]) -> str:
        for line in running.stdout or ():
            if found := ADDRESS.search(line):
                return found[0].rstrip("/")
        raise CommandFailedError(f"peercorpus {shlex.join(arguments)} ended without listening")


def free_port() -> int:
    """Return a free port whose successor is free too."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port = int(first.getsockname()[1])
            try:
                second.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port

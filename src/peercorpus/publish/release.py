"""The folder of a release: written beside its place, moved there whole, and replaced only if it is ours."""

import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from peercorpus.errors import PeercorpusError

MANIFEST = "release.json"
"""Names every other file of a release with its sha256."""


def _files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}


def _listed(folder: Path, name: str) -> set[str]:
    """The files that the manifest of a release names; none where it is no release."""
    try:
        manifest = json.loads((folder / name).read_text())
        return {name, *manifest["files"]} if manifest["generator"] == "peercorpus" else set()
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def check_replaceable(folder: Path, kind: str = "a release", manifest: str = MANIFEST) -> None:
    """Make sure that a release put here would delete nothing but a release.

    Args:
        folder: The place.
        kind: What is put here, in words.
        manifest: The file that tells it from other folders.

    Raises:
        PeercorpusError: It is a file, or a folder that holds other files.
    """
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise PeercorpusError(f"'{folder}' is not a folder; name a new one.")
    listed = _listed(folder, manifest) if folder.exists() else set()
    for found in folder.rglob("*") if folder.exists() else ():
        name = found.relative_to(folder).as_posix()
        if name not in listed and not found.is_dir():
            raise PeercorpusError(
                f"'{folder}' holds '{name}', which is not part of {kind}; name a new folder, or move it away."
            )


def check_outside(out: Path, release: Path) -> None:
    """Make sure that what is made of a release is not written into it.

    Raises:
        PeercorpusError: It would be.
    """
    if out.resolve().is_relative_to(release.resolve()):
        raise PeercorpusError(f"'{out}' lies in the release, which stays as it is; name a folder beside it.")


def digest_of(path: Path) -> str:
    """The sha256 of a file."""
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _write_manifest(folder: Path, name: str) -> None:
    files = {path: digest_of(folder / path) for path in sorted(_files(folder))}
    manifest = {"generator": "peercorpus", "version": version("peercorpus"), "files": files}
    (folder / name).write_text(json.dumps(manifest, indent=1) + "\n")


@contextmanager
def releasing(folder: Path, kind: str = "a release", manifest: str = MANIFEST) -> Iterator[Path]:
    """Give a new folder to write a release in; it takes the place of `folder` at the end, or leaves no trace.

    Args:
        folder: The place.
        kind: What is written, in words.
        manifest: The file that will name all others with their sha256.

    Raises:
        PeercorpusError: `folder` holds other files, or cannot be written.
    """
    folder = folder.absolute()
    check_replaceable(folder, kind, manifest)
    partial, replaced = (folder.with_name(f".{folder.name}.{state}") for state in ("partial", "replaced"))
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
    except OSError as error:
        raise PeercorpusError(f"The folder '{folder}' cannot be written: {error.strerror}.") from None
    try:
        yield partial
        _write_manifest(partial, manifest)
        shutil.rmtree(replaced, ignore_errors=True)
        if folder.exists():
            folder.rename(replaced)
        partial.rename(folder)
        shutil.rmtree(replaced, ignore_errors=True)
    finally:
        shutil.rmtree(partial, ignore_errors=True)

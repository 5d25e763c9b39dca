"""Identify the code that results depend on: a digest of this package, and the versions of the packages it uses."""

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from importlib.metadata import EntryPoint, entry_points, version
from pathlib import Path

_DIGITS = 12
"""Hexadecimal digits shown of a digest."""


@cache
def code_version() -> str:
    """Return the version of peercorpus and a digest of its modules, such as `0.1.0+1a2b3c4d5e6f`."""
    folder = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return f"{version('peercorpus')}+{digest.hexdigest()[:_DIGITS]}"


ENGINES_ENTRY_POINT_GROUP = "peercorpus.engines"
"""Entry point group by which other packages add PDF engines."""


@cache
def engine_entry_points() -> tuple[EntryPoint, ...]:
    return tuple(
        sorted(
            entry_points(group=ENGINES_ENTRY_POINT_GROUP), key=lambda entry: (entry.name, entry_point_package(entry))
        )
    )


def engine_packages() -> Mapping[str, str]:
    """Return the packages that add PDF engines, with their versions."""
    return {entry.dist.name: entry.dist.version for entry in engine_entry_points() if entry.dist is not None}


def entry_point_package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else entry.value


@cache
def package_versions() -> Mapping[str, str]:
    """Return the version of each package that results depend on: this one, its requirements, and added engines.

    Packages of optional extras that are not installed are omitted.
    """
    versions = {"peercorpus": code_version()}
    try:
        requirements = metadata.requires("peercorpus") or []
    except metadata.PackageNotFoundError:
        requirements = []  # The package itself is not installed.
    for requirement in requirements:
        if re.search(r"""extra\s*==\s*["']dev["']""", requirement):
            continue
        name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
        try:
            versions.setdefault(name, metadata.version(name))
        except metadata.PackageNotFoundError:
            continue
    return {**versions, **engine_packages()}

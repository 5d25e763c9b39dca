"""Prints the lowest versions that pyproject.toml declares, as a constraints file for pip.

Usage: lowest_versions.py. Covers the package itself and the extra `dev`; their dependencies are not pinned.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?:\[(?P<extras>[\w,]+)\])?\s*(?P<bounds>[^;]*)")
LOWEST = re.compile(r"[=>]=\s*([\w.]+)")


def requirements(project: dict[str, Any], extra: str) -> Iterator[str]:
    """Yield the requirements of an extra, including those of extras that it names."""
    for requirement in project["optional-dependencies"][extra]:
        named = REQUIREMENT.match(requirement)
        assert named is not None
        if named["name"] == project["name"]:
            for other in named["extras"].split(","):
                yield from requirements(project, other)
        else:
            yield requirement


def lowest(requirement: str) -> str:
    """Return `name==version` for the lowest version that a requirement allows.

    Raises:
        ValueError: The requirement names no lowest version.

    >>> lowest("inspect_ai>=0.3.285,<0.4")
    'inspect_ai==0.3.285'
    """
    named = REQUIREMENT.match(requirement)
    bound = named and LOWEST.search(named["bounds"])
    if not named or not bound:
        raise ValueError(f"{requirement!r} must name a lowest version, such as 'polars>=2.1'")
    return f"{named['name']}=={bound[1]}"


def main() -> int:
    """Print one line for each package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [*project["dependencies"], *requirements(project, "dev")]
    print(*sorted({lowest(requirement) for requirement in needed}), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What pyproject.toml declares, constraints.txt pins and the workflows call fit together."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PINS = [Requirement(line) for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
PYTHONS = [text.rpartition(" ")[2] for text in PROJECT["classifiers"] if ":: Python :: 3." in text]
TARGETS = set(re.findall(r"^([a-z][\w. -]*):(?!=)", (ROOT / "Makefile").read_text(), re.MULTILINE))


def needed(extra: str) -> Iterator[Requirement]:
    """Everything an extra needs by name, other extras of ours included."""
    for requirement in map(Requirement, PROJECT["optional-dependencies"][extra]):
        if requirement.name == PROJECT["name"]:
            for other in requirement.extras:
                yield from needed(other)
        else:
            yield requirement


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("system", ["linux", "darwin"])
def test_every_declared_package_is_pinned_once_to_a_version_that_is_allowed(python: str, system: str) -> None:
    environment = {"python_version": python, "python_full_version": f"{python}.9", "sys_platform": system}
    pins = [pin for pin in PINS if pin.marker is None or pin.marker.evaluate(environment)]
    versions = {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in pins}
    assert len(versions) == len(pins)
    declared = [*map(Requirement, PROJECT["dependencies"]), *needed("extras")]
    assert [
        str(requirement)
        for requirement in declared
        if requirement.name != "torch"
        and versions.get(canonicalize_name(requirement.name), "none") not in requirement.specifier
    ] == []


def test_pins_name_no_place_and_no_build_of_pytorch() -> None:
    assert [pin.name for pin in PINS if pin.url or pin.name in {"torch", "triton"} or "nvidia" in pin.name] == []


def test_the_lowest_versions_are_those_declared() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "lowest_versions.py")]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    lowest = {Requirement(line).name: str(Requirement(line).specifier) for line in listed}
    declared = [*map(Requirement, PROJECT["dependencies"]), *needed("dev")]
    assert set(lowest) == {requirement.name for requirement in declared}
    assert lowest["polars"] == "==2.1"
    assert lowest["inspect_ai"] == "==0.3.285"


@pytest.mark.parametrize(
    "page", [".ci/run", ".github/workflows/ci.yml", ".github/workflows/release.yml", "CONTRIBUTING.md"]
)
def test_every_target_of_make_that_is_called_exists(page: str) -> None:
    known = {name for names in TARGETS for name in names.split()}
    called = re.findall(
        r"(?:^|run: |`)make ([a-z][a-z0-9. -]*)(?= [A-Z]+=|$|`|  #)", (ROOT / page).read_text(), re.MULTILINE
    )
    assert called
    assert [name for line in called for name in line.split() if name not in known] == []

"""The declarations of pyproject.toml, the pins of constraints.txt and the workflows fit together."""

import inspect
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from peercorpus.cli.report import explore

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PINS = [Requirement(line) for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
PYTHONS = [text.rpartition(" ")[2] for text in PROJECT["classifiers"] if ":: Python :: 3." in text]
TARGETS = set(re.findall(r"^([a-z][\w. -]*):(?!=)", (ROOT / "Makefile").read_text(), re.MULTILINE))


def needed(extra: str) -> Iterator[Requirement]:
    """Return all requirements of an extra by name, including those of our other extras."""
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


def test_pins_have_no_url_and_no_pytorch_build() -> None:
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
def test_every_make_target_that_is_called_exists(page: str) -> None:
    known = {name for names in TARGETS for name in names.split()}
    called = re.findall(
        r"(?:^|run: |`)make ([a-z][a-z0-9. -]*)(?= [A-Z]+=|$|`|  #)", (ROOT / page).read_text(), re.MULTILINE
    )
    assert called
    assert [name for line in called for name in line.split() if name not in known] == []


CONTAINERFILE = (ROOT / "Containerfile").read_text()
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_harvest_build_and_publish_need_no_extra() -> None:
    own = {Requirement(text).name for text in PROJECT["dependencies"]}
    assert {"deltalake", "numpy", "polars", "pyarrow"} <= own


def test_every_python_of_the_classifiers_is_a_lane_and_a_target() -> None:
    (lanes,) = re.findall(r"python: \[(.*)\]", (ROOT / ".github" / "workflows" / "ci.yml").read_text())
    pythons = [python for python in PYTHONS if "." in python]
    assert set(pythons) <= set(re.findall(r"[\d.]+", lanes))
    known = {name for names in TARGETS for name in names.split()}
    assert [python for python in pythons if f"python{python}" not in known] == []


def test_the_sdist_has_the_package_and_no_tests() -> None:
    built = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]
    paths = built["sdist"]["only-include"]
    assert set(built["wheel"]["packages"]) <= set(paths)
    assert [path for path in paths if not (ROOT / path).exists()] == []
    assert not {"tests", "benchmarks", "scripts"} & {path.partition("/")[0] for path in paths}


def test_the_container_file_copies_existing_files_that_are_not_ignored() -> None:
    copied = [
        path for paths in re.findall(r"^COPY (?!--)(.+) \S+$", CONTAINERFILE, re.MULTILINE) for path in paths.split()
    ]
    assert {"pyproject.toml", "src"} <= set(copied)
    assert [path for path in copied if not (ROOT / path).exists()] == []
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert sorted(line.removeprefix("!") for line in ignored if line.startswith("!")) == sorted(copied)


def test_the_container_runs_without_root_on_a_volume_and_listens_only_where_told() -> None:
    last = CONTAINERFILE.rpartition("\nFROM ")[2]
    steps = [line.split(maxsplit=1) for line in last.splitlines() if re.match(r"[A-Z]+ ", line)]
    names = dict(reversed([step for step in steps if len(step) == 2]))
    assert names["USER"] == "peercorpus"
    assert names["VOLUME"] == names["WORKDIR"] == "/data"
    assert (names["ENTRYPOINT"], names["CMD"]) == ('["peercorpus"]', '["--help"]')
    assert "0.0.0.0" not in last
    port = inspect.signature(explore).parameters["port"].default
    assert names["EXPOSE"] == str(port)
    assert f"-p 127.0.0.1:{port}:{port} " in CONTAINERFILE
    extras = re.search(r"'\.\[([a-z,]+)\]'", CONTAINERFILE)
    assert extras
    assert set(extras[1].split(",")) <= set(PROJECT["optional-dependencies"])


@pytest.mark.parametrize("path", WORKFLOWS, ids=[path.stem for path in WORKFLOWS])
def test_a_workflow_is_yaml_whose_jobs_have_limits_and_steps(path: Path) -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML, which comes with the extra 'hf', is not installed")
    jobs = yaml.safe_load(path.read_text())["jobs"]
    for job in jobs.values():
        assert job["runs-on"]
        assert all("uses" in step or "run" in step for step in job["steps"])
        needs = job.get("needs", [])
        assert set([needs] if isinstance(needs, str) else needs) <= jobs.keys()


def test_only_a_tag_publishes_and_only_tested_wheels() -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML, which comes with the extra 'hf', is not installed")
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())
    assert workflow[True] == {"push": {"tags": ["v*"]}}  # YAML 1.1 parses the key `on` as true.
    assert workflow["permissions"] == {"contents": "read"}
    publish = workflow["jobs"]["publish"]
    assert publish["needs"] == ["build", "install"]
    assert publish["permissions"] == {"id-token": "write"}
    commands = [step.get("run", "") for step in workflow["jobs"]["build"]["steps"]]
    assert {"python -m build", "twine check --strict dist/*", "check-wheel-contents dist/*.whl"} <= set(commands)

"""Python functions take what the commands of their names take, and venues by the same names."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

import peercorpus
from commands import Run
from peercorpus.cli.build import build, publish
from peercorpus.cli.harvest import harvest
from peercorpus.cli.simulate import simulate
from peercorpus.errors import PeercorpusError, VenueNotFoundError
from peercorpus.execution.requests import BuildRequest, HarvestRequest, PlanRequest
from peercorpus.release.request import ReleaseRequest
from peercorpus.simulator.server.service import Service, serve_simulator
from peercorpus.simulator.world.world import build_world

RENAMED = {"workspace": "folder", "venue": "venue_ids", "venues": "venue_ids"}
"""Option → parameter that is the same."""

ONLY_COMMAND = {("harvest", "plan"): "`peercorpus.plan_harvest`, as it returns something else"}
"""Function and option that only the command has, with the reason."""

REQUESTS = {"build": BuildRequest, "harvest": HarvestRequest, "plan_harvest": PlanRequest, "publish": ReleaseRequest}
"""Function → the class whose fields it takes as keywords."""

ONLY_PYTHON = {"progress": "commands always show their progress"}


def options_of(command: Callable[..., Any]) -> set[str]:
    """Return the options of a command; those of a group are the fields of its class."""
    parameters = inspect.signature(command).parameters.values()
    groups = [one.default for one in parameters if is_dataclass(one.default)]
    single = {one.name for one in parameters if not is_dataclass(one.default)}
    names = single | {field.name for group in groups for field in fields(group)}
    return {RENAMED.get(name, name) for name in names}


def parameters_of(function: Callable[..., Any]) -> set[str]:
    """Return the names of the arguments of a function, with the fields of its request."""
    parameters = inspect.signature(function).parameters.values()
    single = {one.name for one in parameters if one.kind is not inspect.Parameter.VAR_KEYWORD}
    request = REQUESTS.get(function.__name__)
    return single if request is None else single.union(field.name for field in fields(request))


@pytest.mark.parametrize("command", [harvest, build, publish, simulate])
def test_a_function_takes_what_its_command_takes(command: Callable[..., Any]) -> None:
    name = command.__name__
    parameters = parameters_of(getattr(peercorpus, name))
    excepted = {option for function, option in ONLY_COMMAND if function == name}
    options = options_of(command)
    assert excepted <= options, "an exception names no option"
    assert not excepted & parameters, "an exception is no longer needed"
    assert options - excepted - parameters == set()
    assert parameters - options - ONLY_PYTHON.keys() == set()


def test_a_plan_takes_what_a_harvest_takes() -> None:
    planned, harvested = parameters_of(peercorpus.plan_harvest), parameters_of(peercorpus.harvest)
    # A plan stores nothing, shows no progress, and always goes beside other harvests.
    assert harvested - planned == {"refresh", "progress", "share_budget"}
    assert planned <= harvested


@pytest.fixture
def service() -> Iterator[Service]:
    with serve_simulator(build_world(papers=10)) as running:
        yield running


def urls(service: Service) -> dict[str, Any]:
    return {"url_v1": service.base_url_v1, "url_v2": service.base_url_v2}


def test_a_scope_names_all_venues_needed(service: Service, tmp_path: Path) -> None:
    with pytest.raises(PeercorpusError, match=r"No venue was named"):
        peercorpus.plan_harvest((), tmp_path / "corpus", **urls(service))
    with pytest.raises(PeercorpusError, match=r"scope must be one of reviewbench, re2, got 'all'"):
        peercorpus.harvest((), tmp_path / "corpus", scope="all", **urls(service))
    with pytest.raises(VenueNotFoundError, match=r"has no venue 'NeurIPS\.cc/2022/Conference'"):
        peercorpus.plan_harvest((), tmp_path / "corpus", scope="re2", **urls(service))


@pytest.mark.parametrize(
    ("name", "says", "is_asked"),
    [
        ("ICLR2024", r"has no venue 'ICLR\.cc/2024/Conference'", True),
        ("iclr 2024", r"has no venue 'ICLR\.cc/2024/Conference'", True),
        ("ICLR", r"ICLR\.cc/2024/Conference|year", False),
        ("Kites 2024", r"Kites 2024", False),
    ],
)
def test_short_names_mean_the_same(
    name: str, says: str, is_asked: bool, service: Service, tmp_path: Path, run: Run
) -> None:
    with pytest.raises(VenueNotFoundError, match=says) as refused:
        peercorpus.harvest(name, tmp_path / "python", **urls(service))
    assert bool(service.requests) is is_asked
    connection = ("--url-v1", service.base_url_v1, "--url-v2", service.base_url_v2)
    ended = run("harvest", name, "-w", str(tmp_path / "command"), *connection)
    assert ended.code != 0
    assert str(refused.value) in ended.err

"""Options of engines, clusters, figures, models and the simulator from Python reach what uses them, or are refused."""

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import peercorpus
from invented_tables import ICLR, a_forum, invented
from model_endpoint import completion, serving
from peercorpus.errors import ModelError, PeercorpusError
from peercorpus.execution.executor import EXECUTORS
from peercorpus.execution.requests import BuildRequest
from peercorpus.importers.import_dumps import import_dumps
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import open_workspace

ENDPOINT = {"engine": "vision", "engine_url": "http://127.0.0.1:9/v1", "engine_model": "kite-1"}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    with invented(tmp_path / "corpus", {ICLR: a_forum("p")}) as workspace:
        workspace.raw.add([RawObject(RawKind.NOTE, "p", 2, ICLR, "p", "p", 1, 1, "invented", b"{}")])
    return tmp_path / "corpus"


@pytest.fixture
def built(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[BuildRequest, Any]]:
    """Return the options and the executor that a build's stages would get."""

    def call(**options: Any) -> tuple[BuildRequest, Any]:
        given: list[tuple[BuildRequest, Any]] = []

        def run(
            _workspace: object, _venues: object, chosen: BuildRequest, _show: object, spread: object
        ) -> list[object]:
            given.append((chosen, spread))
            return []

        monkeypatch.setattr("peercorpus.pipeline.build.build", run)
        peercorpus.build(corpus, **options)
        return given[0]

    return call


@pytest.mark.parametrize(
    "options",
    [
        {**ENDPOINT, "max_pages": 7},
        {**ENDPOINT, "engine": "auto", "heavier": "vision"},
        {"figures": True},
        {"ocr": "off", "points": True, "retry": True, "workers": 2, "pdf_timeout_s": 5.0},
        {"engine_url": None, "max_pages": None, "heavier": None, "models": None},
    ],
)
def test_an_option_reaches_the_stages(options: dict[str, Any], built: Callable[..., tuple[BuildRequest, Any]]) -> None:
    chosen, _ = built(**options)
    assert {name: getattr(chosen, name) for name in options} == options


def test_the_work_goes_to_the_named_executor(
    built: Callable[..., tuple[BuildRequest, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "peercorpus.execution.executor"
    monkeypatch.setattr(f"{module}.find_spec", find_spec if find_spec("ray") else lambda _: object())
    monkeypatch.setattr(f"{module}.EXECUTORS", {**EXECUTORS, "ray": "peercorpus.execution.ray_cluster:RayExecutor"})
    _, spread = built(executor="ray", address="head:6379")
    assert (type(spread).__name__, spread.address) == ("RayExecutor", "head:6379")
    assert type(built()[1]).__name__ == "LocalExecutor"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"max_pages": 3}, r"does not support max_pages; .* 'vision'"),
        ({"engine": "vision"}, r"needs engine_url, .*, and engine_model\.$"),
        ({"engine": "auto", "heavier": "auto"}, r"with heavier\.$"),
        ({**ENDPOINT, "max_pages": 0}, r"^max_pages must be a finite number, more than 0"),
        ({**ENDPOINT, "max_pages": 1.5}, r"^max_pages must be a whole number"),
        ({**ENDPOINT, "engine_url": 3}, r"^engine_url must be a text"),
        ({**ENDPOINT, "engine_model": ""}, r"^engine_model is empty"),
        ({"engine": "docling", "models": "no-such-folder"}, r"^models must be a folder .* 'no-such-folder'"),
        ({"executor": "dask"}, r"^executor must be one of local, ray, got 'dask'"),
        ({"address": "head:6379"}, r"omit address, or choose 'ray'"),
        ({**ENDPOINT, "executor": "ray"}, r"omit executor\."),
    ],
)
def test_bad_options_of_a_build_are_named(options: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises(PeercorpusError, match=says) as refused:
        peercorpus.build(tmp_path, **options)
    assert "--" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_option_is_a_type_error(tmp_path: Path) -> None:
    for function in (peercorpus.build, peercorpus.publish):
        with pytest.raises(TypeError, match=r"got an unexpected keyword argument 'engin'"):
            function(tmp_path, engin="vision")


def note(note_id: str, signer: str, reply_to: str | None, at: int, **content: Any) -> dict[str, Any]:
    kind = "Submission" if reply_to is None else ("Official_Review" if "rating" in content else "Official_Comment")
    return {
        "id": note_id,
        "forum": "p1",
        "replyto": reply_to,
        "invitations": [f"{ICLR}/-/{kind}" if reply_to is None else f"{ICLR}/Submission1/-/{kind}"],
        "signatures": [f"{ICLR}/Submission1/{signer}"],
        "readers": ["everyone"],
        "tcdate": at * 86_400_000,
        "tmdate": at * 86_400_000,
        "content": {name: {"value": value} for name, value in content.items()},
    }


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    """A built workspace with two conversations, in each of which the authors answer in two posts."""
    notes = [
        note("p1", "Authors", None, 1, title="On kites", abstract="We fly kites."),
        note("r1", "Reviewer_A1bC", "p1", 10, summary="Kites are flown.", rating=5),
        note("a2", "Authors", "r1", 20, title="Response (2/2)", comment="And tails."),
        note("a1", "Authors", "r1", 21, title="Response (1/2)", comment="They fly."),
        note("r2", "Reviewer_D3eF", "p1", 11, summary="Tails are long.", rating=3),
        note("b2", "Authors", "r2", 22, title="Response (2/2)", comment="And of silk."),
        note("b1", "Authors", "r2", 23, title="Response (1/2)", comment="They are long."),
    ]
    (tmp_path / "notes.json").write_text(json.dumps(notes))
    with open_workspace(tmp_path / "talk", create=True) as workspace:
        import_dumps(workspace, [tmp_path / "notes.json"])
    peercorpus.build(tmp_path / "talk", workers=1, points=True)
    return tmp_path / "talk"


def test_a_model_writes_titles_within_limits(talk: Path, tmp_path: Path) -> None:
    with serving(completion("On kites and tails"), completion("On silk")) as stand:
        asked: Any = {"titles": "model", "model": "kite-1", "model_url": stand.url}
        with pytest.raises(ModelError, match="questions: 1,"):
            peercorpus.publish(talk, tmp_path / "out", max_questions=1, **asked)
        result = peercorpus.publish(talk, tmp_path / "out", **asked)
        assert len(stand.bodies) == 2
    rows = peercorpus.load_release(result.folder).table("conversations").collect()
    titles = {
        (turn["title"], turn["title_model"]) for turns in rows["turns"] for turn in turns if len(turn["titles"]) > 1
    }
    assert titles == {("On kites and tails", "kite-1"), ("On silk", "kite-1")}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"titles": "mine"}, r"^titles must be one of posts, model"),
        ({"points": "all"}, r"^points must be one of rules, model"),
        ({"max_questions": 0}, r"^max_questions must be a finite number, more than 0"),
        ({"model_url": b"x"}, r"^model_url must be a text"),
        ({"titles": "model", "layout": "reviewbench"}, r'^titles cannot be used with layout="reviewbench"'),
        ({"splits": "none", "new_splits": True}, r'^new_splits cannot be used with splits="none"'),
        ({"splits": "temporal"}, r"give it with test_after"),
    ],
)
def test_bad_options_of_a_publication_are_named(options: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises(PeercorpusError, match=says) as refused:
        peercorpus.publish(tmp_path, **options)
    assert "--" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"model": "kite-1"}, r'^model, model_url and max_questions need titles="model" or points="model"'),
        ({"titles": "model"}, r'^titles="model" and points="model" need .*\(model_url\).*\(model\)'),
    ],
)
def test_a_model_needs_use_and_address(options: dict[str, Any], says: str, corpus: Path) -> None:
    with pytest.raises(ModelError, match=says):
        peercorpus.publish(corpus, **options)


def answer_of(url: str) -> int:
    """Return the status of the answer to a request."""
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_a_simulation_has_the_requested_faults() -> None:
    with peercorpus.simulate(papers=1, fault=["error_500"]) as openreview:
        group = f"{openreview.url_v1}/groups?id=Aurora.cc/2020/Conference"
        assert 500 in [answer_of(group) for _ in range(5)]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"budget": 0}, r"^budget must be a finite number, more than 0"),
        ({"fault": 3}, r"^fault must be a text or a list of texts"),
        ({"fault": "gremlins"}, r"has no fault 'gremlins'"),
    ],
)
def test_bad_options_of_a_simulation_are_named(options: dict[str, Any], says: str) -> None:
    with pytest.raises(PeercorpusError, match=says):
        peercorpus.simulate(**options).__enter__()


def test_a_model_labels_points(talk: Path, tmp_path: Path) -> None:
    with serving(completion("{}")) as stand:
        peercorpus.publish(talk, tmp_path / "out", points="model", model="kite-1", model_url=stand.url)
    inputs = json.loads((tmp_path / "out" / "inputs.json").read_text())
    assert (inputs["points"], inputs["points_model"]) == (True, "kite-1")

"""Runs against an OpenAI-compatible endpoint that fails as real ones do, by our command and by `inspect eval`."""

import csv
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import list_eval_logs, read_eval_log

from commands import Run
from invented_bench import Told, right_answers
from model_endpoint import Reply, StandIn, completion, refusal, serving
from peercorpus.benchmark.leaderboard import make_boards
from peercorpus.benchmark.logs import read_runs

pytestmark = [pytest.mark.usefixtures("quietly"), pytest.mark.slow(27)]
KEY = "a-key-that-nobody-else-has"
CASES = 8 + 8 + 8 + 16
"""Cases of all four tasks."""


def told(body: dict[str, Any]) -> Told:
    return tuple((one["role"], one["content"]) for one in body["messages"])


class Service:
    """Knows the right answers, but fails on some requests.

    Attributes:
        failures: Responses sent instead, by the number of the request.
    """

    def __init__(self, known: dict[Told, str], failures: dict[int, Reply]) -> None:
        self._known, self.failures, self.asked = known, failures, 0

    def __call__(self, body: dict[str, Any]) -> Reply:
        self.asked += 1
        return self.failures.get(self.asked) or completion(self._known[told(body)])


@pytest.fixture
def service(bench_data: Path) -> Service:
    return Service(right_answers(bench_data), {})


@pytest.fixture
def endpoint(service: Service, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    with serving(rule=service) as stand:
        monkeypatch.setenv("LOCAL_API_KEY", KEY)
        monkeypatch.setenv("LOCAL_BASE_URL", stand.url)
        yield stand


def table(logs: Path) -> list[dict[str, str]]:
    with (logs / "leaderboard.csv").open() as file:
        return list(csv.DictReader(file))


def holds(folder: Path, secret: str) -> list[Path]:
    """Return the logs that contain a word, whatever their compression."""
    logs = (Path(info.name.removeprefix("file://")) for info in list_eval_logs(str(folder)))
    return [path for path in logs if secret in read_eval_log(str(path)).model_dump_json()]


def test_inspect_finds_all_four_tasks_by_the_entry_point(bench_data: Path, tmp_path: Path, endpoint: StandIn) -> None:
    tasks = [f"peercorpus/{name}" for name in ("acceptance", "scores", "review", "rebuttal")]
    told = ["--model", "openai-api/local/x", "-T", f"release={bench_data}", "--log-dir", str(tmp_path)]
    command = [sys.executable, "-m", "inspect_ai", "eval", *tasks, *told, "--display", "none"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path, stdin=subprocess.DEVNULL)
    assert ended.returncode == 0, ended.stderr + ended.stdout
    boards = make_boards(read_runs(tmp_path)).boards
    assert {board.protocol.task.value: board.rows[0].n for board in boards} == {
        "acceptance": 8,
        "scores": 8,
        "review": 8,
        "rebuttal": 16,
    }
    names = {"acceptance": "accuracy", "scores": "MAE, normalised", "review": "BLEU", "rebuttal": "BLEU"}
    values = {}
    for board in boards:
        places = {measure.name: place for place, measure in enumerate(board.measures)}
        cell = board.rows[0].cells[places[names[board.protocol.task.value]]]
        values[board.protocol.task.value] = cell and cell.value
    assert values == {"acceptance": 100, "scores": 0, "review": pytest.approx(100), "rebuttal": pytest.approx(100)}
    assert len(endpoint.bodies) == CASES


def test_refusals_and_malformed_answers_change_no_number(
    run: Run, bench_data: Path, tmp_path: Path, endpoint: StandIn, service: Service
) -> None:
    command = ("bench", "--release", bench_data, "--model", "openai-api/local/x", "--no-baselines")
    whole = run(*map(str, command), "--logs", tmp_path / "whole")
    assert whole.code == 0, whole.err + whole.out
    assert (service.asked, len(endpoint.bodies)) == (CASES, CASES)
    broken = 200, {"content-type": "application/json"}, b'{"id": "c1", "choices": [{"mess'
    service.asked = 0
    service.failures = {
        2: refusal(429, retry_after="0.01"),
        3: refusal(500, retry_after="0.01"),
        11: broken,
        20: refusal(503, retry_after="0.01"),
        21: refusal(429, retry_after="0.01"),
    }
    faulty = run(*map(str, command), "--logs", tmp_path / "faulty")
    assert faulty.code == 0, faulty.err + faulty.out
    assert service.asked == CASES + len(service.failures)
    assert table(tmp_path / "faulty") == table(tmp_path / "whole")
    assert {row["unscored"] for row in table(tmp_path / "faulty")} == {"0"}
    assert {row["authorization"] for row in endpoint.headers} == {f"Bearer {KEY}"}
    assert not holds(tmp_path, KEY)
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert KEY not in faulty.out + faulty.err + whole.out + whole.err
    assert len(holds(tmp_path, "openai-api/local/x")) == len(list(tmp_path.rglob("*.eval"))) == 8


def test_a_providers_error_is_retried_next_time(
    run: Run, bench_data: Path, tmp_path: Path, endpoint: StandIn, service: Service
) -> None:
    # Under a different name, as inspect_ai caches a model with its address for the lifetime of the process.
    asked = ("bench", "acceptance", "--release", bench_data, "--model", "openai-api/local/other", "--no-baselines")
    command = [*map(str, asked), "--logs", tmp_path, "--max-connections", "1"]
    # A case that ends in an error is retried after all others.
    service.failures = dict.fromkeys((3, 9), refusal(400))
    broken = run(*command)
    assert broken.code == 1
    assert "Error, 1 time: " in broken.out
    assert "refused with 400" in broken.out
    assert "(acceptance by openai-api/local/other) is left out: " in broken.out
    assert "command again" in broken.out
    assert table(tmp_path) == []
    before = service.asked
    whole = run(*command)
    assert whole.code == 0, whole.out
    assert service.asked == before + 1
    assert {row["n"] for row in table(tmp_path)} == {"8"}
    assert len(endpoint.bodies) == 8 + 2

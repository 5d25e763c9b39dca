"""Anything that cannot be run, read or compared is refused in one sentence that states what to do."""

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from commands import Run, assert_refused
from invented_releases import a_release
from peercorpus.benchmark.baselines.baseline import load_baseline
from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.tasks import acceptance
from peercorpus.errors import ExitCode, PeercorpusError

pytestmark = pytest.mark.usefixtures("quietly")
LOGS = Path(__file__).parents[1] / "golden" / "bench"
# What is missing is reported first: the packages, or the folder of the model.
NO_ENCODER = "'./nowhere'" if find_spec("transformers") else "'torch' is not installed"
MOCK = ("--model", "mockllm/m")


def a_log(task: str, number: int = 0) -> Path:
    """Return one of the stored logs."""
    return sorted(LOGS.glob(f"*_{task}_*.eval"))[number]


REFUSED = {
    "task": (("acceptances", *MOCK), 'Invalid value "acceptances" for TASK'),
    "option": (("acceptance", *MOCK, "--splits", "test"), "Unknown option: --splits"),
    "split": (("acceptance", *MOCK, "--split", "tset"), 'Invalid value "tset" for --split'),
    "venue": (("review", *MOCK, "--venue", "nips"), "'review' (papers: of another venue: 8)"),
    "grade": (("review", *MOCK, "--grade", "latest"), 'Invalid value "latest" for --grade'),
    "adapter": (("review", *MOCK, "--adapter", "seb"), "'seb'; choose one of"),
    "nobody": (("review",), "--model"),
    "provider": (("review", "--model", "nobody/m"), "Model API nobody of model 'nobody/m' not recogn"),
    "no provider": (("review", "--model", "gpt4"), "--model openai-api/local/gpt4 --model-url http://HOST:PORT/v1"),
    "no service": (("review", "--model", "openai-api/x"), "--model openai-api/local/x --model-url http"),
    "no provider of the judge": (("review", *MOCK, "--grader", "gpt4"), "--grader-arg.base_url http://HOST:PORT/v1"),
    "no URL": (
        ("review", "--model", "openai-api/local/x", "--model-url", "127.0.0.1:9"),
        "'127.0.0.1:9' is not the URL",
    ),
    "nobody at the URL": (
        ("review", "--model", "openai-api/local/x", "--model-url", "http://127.0.0.1:9/v1"),
        "http://127.0.0.1:9/v1 cannot be reached (connection refused)",
    ),
    "key": (("review", "--model", "openai/gpt-4o"), "OPENAI_API_KEY"),
    "address of a service": (("review", "--model", "openai-api/nowhere/x"), "NOWHERE_BASE_URL"),
    "key of the judge": (("review", *MOCK, "--grader", "openai/gpt-4o"), "'openai/gpt-4o'"),
    "judge": (("review", *MOCK, "--grader", "nobody/m"), "'nobody/m'"),
    "budget": (("review", *MOCK, "--paper-tokens", "3"), "64, got 3"),
    "encoder": (("review", *MOCK, "--bert-score", "./nowhere"), NO_ENCODER),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", REFUSED)
def test_impossible_runs_are_refused(what: str, run: Run, bench_data: Path, tmp_path: Path) -> None:
    arguments, sentence = REFUSED[what]
    ended = run("bench", *arguments, "--release", bench_data, "--logs", tmp_path / "logs", "--no-baselines")
    assert_refused(ended, sentence, code=ExitCode.LATER if what == "nobody at the URL" else 2)
    assert "[bold]" not in ended.err
    assert not (tmp_path / "logs").exists()


OF_MODELS = {
    "--model-url": "127.0.0.1:8931",
    "--model-arg.revision": "main",
    "--adapter": "openreviewer",
    "--wordings": "prompts",
    "--paper-tokens": "900",
}


@pytest.mark.parametrize("option", OF_MODELS)
def test_options_of_a_model_are_refused_without_one(option: str, run: Run, bench_data: Path, tmp_path: Path) -> None:
    ended = run("bench", "review", "--release", bench_data, "--logs", tmp_path / "logs", option, OF_MODELS[option])
    assert_refused(ended, f"{option.partition('.')[0]} applies only to a model; name one with --model")


# Executed in another process: no module of this one tells what a command imports.
IMPORTS = """
import sys
from peercorpus.cli.main import main
for line in sys.argv[1:]:
    try:
        main(["bench", *line.split()])
    except SystemExit as ended:
        print(ended.code, "inspect_ai" in sys.modules)
"""


@pytest.mark.slow
def test_a_refusal_needs_no_inspect_ai(bench_data: Path, tmp_path: Path) -> None:
    lines = [
        f"--model gpt4 --release {bench_data}",
        f"--model-url http://127.0.0.1:9/v1 --release {bench_data}",
        f"--model openai-api/local/x --model-url 127.0.0.1:9 --release {bench_data}",
        "--release nowhere",
        "table nowhere",
        "rank nowhere",
        "compare one.eval other.eval",
        "judge one.eval",
    ]
    command = [sys.executable, "-c", IMPORTS, *lines]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120, stdin=subprocess.DEVNULL)
    assert ended.stdout.splitlines() == ["2 False"] * len(lines), ended.stderr


@pytest.mark.slow
def test_a_missing_release_or_one_without_splits_is_refused(run: Run, tmp_path: Path) -> None:
    nowhere = run("bench", "acceptance", *MOCK, "--release", tmp_path / "nowhere", "--logs", tmp_path)
    assert_refused(nowhere, "nowhere'")
    whole = run("bench", "acceptance", *MOCK, "--release", a_release(tmp_path / "r"), "--logs", tmp_path)
    assert_refused(whole, "--splits")


def test_a_provider_with_a_missing_package_is_refused(
    run: Run, bench_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "anthropic", None)
    model = ("--model", "anthropic/claude")
    ended = run("bench", "review", *model, "--release", bench_data, "--logs", tmp_path, "--no-baselines")
    assert_refused(ended, "pip install anthropic")


def test_unfit_options_are_refused(bench_data: Path) -> None:
    with pytest.raises(PeercorpusError, match=r"'splits'.*: release, split"):
        acceptance(str(bench_data), splits="test")
    with pytest.raises(PeercorpusError, match="'tset'"):
        acceptance(str(bench_data), split="tset")
    with pytest.raises(PeercorpusError, match=r"'acceptance'.*'best'.*: majority"):
        acceptance(str(bench_data), baseline="best")
    with pytest.raises(PeercorpusError, match="'majority'"):
        load_baseline("majority", BenchTask.REVIEW)


@pytest.mark.slow
def test_missing_or_incomplete_logs_are_refused(run: Run, tmp_path: Path) -> None:
    assert_refused(run("bench", "table", tmp_path), f"'{tmp_path}'", "'peercorpus bench'")
    assert_refused(run("bench", "table", tmp_path / "nowhere"), "nowhere'", "'peercorpus bench'")
    cut = tmp_path / a_log("acceptance").name
    cut.write_bytes(a_log("acceptance").read_bytes()[:9_000])
    assert_refused(run("bench", "table", tmp_path), f"'{cut}'", "move it away")
    assert_refused(run("bench", "compare", cut, a_log("acceptance", 1)), f"'{cut}'", "move it away")
    assert_refused(run("bench", "compare", a_log("acceptance"), tmp_path / "no.eval"), "no.eval'", "'peercorpus bench'")


@pytest.mark.fault("disk", "parts of a benchmark log are zeroed", "one sentence that names the log")
def test_a_damaged_log_is_reported(run: Run, tmp_path: Path) -> None:
    whole = bytearray(a_log("acceptance").read_bytes())
    for place in range(200, len(whole) - 2_000, 3_000):
        whole[place : place + 40] = b"\0" * 40
    (tmp_path / a_log("acceptance").name).write_bytes(whole)
    assert_refused(run("bench", "table", tmp_path), a_log("acceptance").name, "move it away")


@pytest.mark.slow
def test_runs_on_other_cases_are_not_compared(run: Run) -> None:
    assert_refused(
        run("bench", "compare", a_log("acceptance"), a_log("scores")),
        a_log("acceptance").name,
        a_log("scores").name,
        " task",
    )
    same = run("bench", "compare", a_log("acceptance"), a_log("acceptance", 1))
    assert same.code == 0
    assert "mockllm/middling minus mockllm/oracle" in same.out
    # Two of eight answers have no score; three of the other six are wrong.
    assert "2 of 8 cases by mockllm/middling, 0 by mockllm/oracle" in same.out
    assert "accuracy: -0.5000 [" in same.out


@pytest.mark.slow
def test_a_log_of_something_else_is_skipped_or_refused(run: Run, tmp_path: Path) -> None:
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import Sample

    from invented_bench import saying

    (log,) = evaluate(Task(dataset=[Sample("Hello?")], name="acceptance"), saying("Hello."), log_dir=str(tmp_path))
    assert_refused(run("bench", "table", tmp_path), f"'{tmp_path}'")
    assert_refused(run("bench", "compare", log.location, a_log("acceptance")), Path(log.location).name)
    shutil.copy(a_log("acceptance"), tmp_path)
    assert run("bench", "table", tmp_path).code == 0

"""What `bench` prints: few lines without a terminal, unambiguous columns, and what is the matter with a service."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.leaderboard_render import COLUMNS
from peercorpus.benchmark.run import Bench, _describe_error, _find_reason, rehearse

GOLDEN = Path(__file__).parents[1] / "golden" / "bench"


def test_without_a_terminal_progress_is_a_few_lines(bench_data: Path, tmp_path: Path) -> None:
    command = ["bench", "acceptance", "--release", str(bench_data), "--logs", str(tmp_path)]
    run = subprocess.run(
        [sys.executable, "-m", "peercorpus", *command],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    assert len(run.stderr.splitlines()) < 20, run.stderr
    assert not set("╭│╰─") & set(run.stderr)
    asked = re.findall(r"^benchmark: answering (\d+) of (\d+)$", run.stderr, re.MULTILINE)
    assert asked == [("64", "64")]
    assert "--limit" not in run.stderr
    assert run.stdout.lstrip().startswith(("# Leaderboard", "Calibration"))


@pytest.mark.parametrize(("settings", "is_named"), [({}, False), ({"limit": 2}, True)])
@pytest.mark.usefixtures("quietly")
def test_limit_is_named_only_if_it_was_given(
    settings: dict[str, int], bench_data: Path, tmp_path: Path, *, is_named: bool
) -> None:
    said: list[str] = []
    rehearse(Bench([BenchTask.ACCEPTANCE], bench_data, tmp_path, "mockllm/m", settings=settings, say=said.append))
    assert ["omit --limit" in sentence for sentence in said] == [is_named]


def test_no_table_has_two_columns_of_one_name() -> None:
    lines = (GOLDEN / "leaderboard.md").read_text().splitlines()
    heads = [
        lines[place - 1].strip("| ").split(" | ") for place, line in enumerate(lines) if line.startswith("| --- |")
    ]
    assert len(heads) > 4
    assert [head for head in heads if len(set(head)) < len(head)] == []
    assert len(set(COLUMNS)) == len(COLUMNS)
    assert any("prompt" in head and "length (words)" in head for head in heads)


def test_the_treatments_of_failures_are_listed_one_by_one() -> None:
    sections = (GOLDEN / "leaderboard.md").read_text().split("\n## ")
    (acceptance,) = (text for text in sections if text.startswith("acceptance\n"))
    listed = [line for line in acceptance.partition("\n| ")[0].splitlines() if line.startswith("- Failures ")]
    assert [line.partition(":")[0] for line in listed] == ["- Failures left out", "- Failures counted as uninformed"]


RETRY = "RetryError(<Future at 0x7f5ff090d790 state=finished raised {name}>)"


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("APIConnectionError", "cannot be reached"),
        ("RateLimitError", "is too busy"),
        ("KeyError", "fails"),
    ],
)
def test_a_request_in_vain_names_the_service(name: str, what: str) -> None:
    said = _describe_error(f"Error while asking\n\n{RETRY.format(name=name)}", "http://127.0.0.1:9/v1")
    assert said == f"http://127.0.0.1:9/v1 {what} ({name}), although asked several times"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("BadRequestError('the whole question\\n\\nrefused (code 400)')", "refused (code 400)"),
        ("TimeoutError(3)", "TimeoutError(3)"),
    ],
)
def test_brackets_of_a_reason_are_closed(error: str, reason: str) -> None:
    assert _find_reason(error) == reason

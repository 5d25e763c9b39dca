"""The tables of a comparison, from handmade runs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.leaderboard_render import COLUMNS
from peercorpus.benchmark.logs import Protocol, TaskRun
from peercorpus.benchmark.outcomes import CaseOutcome, DecisionRecord, Scored
from peercorpus.benchmark.re2.comparison import ComparedModel
from peercorpus.benchmark.re2.printed import PrintedRows, printed_tables, read_printed
from peercorpus.benchmark.re2.tables import lay_out, make_tables
from peercorpus.benchmark.run import Bench, _describe_error, _find_reason, rehearse

PROTOCOL = Protocol(BenchTask.ACCEPTANCE, "r", "re2", "test", "c", "whole papers", "1 (d)")


def decided(*right: bool, unscored: str | None = None) -> TaskRun:
    outcomes = [
        CaseOutcome(f"p{place}", f"p{place}", DecisionRecord(True, is_right, None), unscored)
        for place, is_right in enumerate(right)
    ]
    return TaskRun(Path("run.eval"), PROTOCOL, "model", False, outcomes={Scored.DECISION: outcomes})


def test_a_mute_model_keeps_its_row() -> None:
    mute = ComparedModel("mute", {BenchTask.ACCEPTANCE: [decided(True, False, unscored="no_object")]})
    tables = lay_out(make_tables([mute]), [])
    shown = tables.to_markdown()
    assert "| mute | - | - | - | - | - | - | 2 of 2 | 0 |" in shown
    assert "2,acceptance" not in shown
    assert "2,mute,acceptance,Accuracy,mean,,,,0,2,2" in tables.to_csv().splitlines()


def test_a_deviation_is_over_runs() -> None:
    runs = [decided(True, True, True, False), decided(True, True, False, False)]
    (table,) = make_tables([ComparedModel("one", {BenchTask.ACCEPTANCE: runs})])
    accuracy = table.rows[0][1][0]
    assert accuracy is not None
    assert list(accuracy.values) == [75, 50]
    assert round(accuracy.deviation or 0, 2) == 17.68
    low, high = accuracy.bounds or (100, 0)
    assert low < accuracy.mean < high


PAPER = Path(__file__).parents[3] / "shared" / "seeds" / "003_dadfd69eaaab54c8.txt"
NAMES = ("acceptance", "scores", "review", "rebuttal", "judge")
SIGNS = re.compile(r"[{}$\\\s]|pm|scriptstyle|underline|overline|textbf|±")


def parts() -> dict[str, PrintedRows]:
    return {name: getattr(read_printed(), name) for name in NAMES}


def test_each_table_has_all_rows_and_columns() -> None:
    assert {name: (len(part.rows), len(part.columns)) for name, part in parts().items()} == {
        "acceptance": (8, 4),
        "scores": (8, 2),
        "review": (8, 5),
        "rebuttal": (4, 5),
        "judge": (4, 5),
    }
    for part in parts().values():
        assert {len(row) for row in part.rows} == {1 + len(part.columns)}
        assert all(re.fullmatch(r"\d+\.\d{2,3} ± (\d\.\d{2,3}|\?)", cell) for _, *cells in part.rows for cell in cells)


def test_six_deviations_are_stated_as_unknown() -> None:
    unknown = [cell for part in parts().values() for row in part.rows for cell in row if cell.endswith("?")]
    assert unknown == ["66.24 ± ?", "59.76 ± ?", "58.60 ± ?", "60.21 ± ?", "8.032 ± ?", "7.677 ± ?"]
    assert any("± ?" in sentence for sentence in read_printed().differences)


def test_the_judges_table_is_shown_only_with_judged_discussions() -> None:
    _, judged = printed_tables(BenchTask.REBUTTAL, is_judged=True)
    assert judged.title.startswith("Re²: judged, 1 to 10 (")
    assert len(printed_tables(BenchTask.REBUTTAL, is_judged=False)) == 1
    assert len(printed_tables(BenchTask.REVIEW, is_judged=True)) == 1


@pytest.mark.real
@pytest.mark.skipif(not PAPER.is_file(), reason="the paper is not beside this checkout, in ../shared/seeds")
def test_every_number_is_in_the_paper() -> None:
    text = PAPER.read_text(encoding="utf-8")
    tables = SIGNS.sub("", text[text.index("3.2 Experimental Results") : text.index("4 Related Work")])
    cells = [cell for part in parts().values() for _, *numbers in part.rows for cell in numbers]
    # Two cells are joined by a typesetting mark: the number and its deviation are separate.
    apart = {"8.229 ± 0.003", "8.297 ± 0.000", "7.944 ± 0.000"}
    wanted = [SIGNS.sub("", cell.removesuffix("?")) for cell in cells if cell not in apart]
    assert [cell for cell in wanted if cell not in tables] == []
    assert all(cell.partition(" ")[0] in tables for cell in apart)


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

"""The results of benchmarks are whole, and docs/benchmarks.md and other pages say what stands in them."""

import json
import re
import subprocess
import sys
from pathlib import Path

import benchmarks_page
import msgspec
import pytest
import scale_page

import covering
import recording
from apart import run_apart
from measured import RESULTS, Cell, Place, Result, Samples, Stage, Table, Target, find_problems, load_results, settle

ROOT = Path(__file__).parents[1]
NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
PRINTED = "2 papers\n\n| pass | s CPU |\n|---|---:|\n| ours | 2.00 |\n| theirs | 1.00 |\n"


def a_result() -> Result:
    """A result whose target is that ours takes at most three times as long as theirs."""
    target = Target(
        says="Time, times theirs",
        sense="at most",
        bound=3.0,
        of=Place(row="ours", column="s CPU"),
        by=Place(row="theirs", column="s CPU"),
    )
    result = Result(
        title="A pass",
        stage=Stage.BUILD,
        measured="A pass over two papers.",
        command="python benchmarks/run.py pass",
        date="2026-11-01",
        commit="0123456",
        source="run",
        machine=recording.find_machine(),
        load="at rest",
        samples=Samples(n=3, shown="the best"),
        limits="Two papers are few.",
        tables=[Table(columns=["pass", "s CPU"], rows=[["ours", 5.0], ["theirs", 1.0]], peers={"theirs": "ours"})],
        targets=[target],
    )
    settle(result)
    return result


def write(folder: Path, name: str, result: Result) -> None:
    """Write a file of results, valid or not."""
    (folder / f"{name}.json").write_bytes(msgspec.json.encode(result))


def test_every_file_is_a_complete_result() -> None:
    assert len(load_results()) > 40


def test_no_file_names_a_machine_or_a_path() -> None:
    for path in RESULTS.glob("*.json"):
        assert not re.search(r"/(?:home|root|work|tmp|Users)/|localhost|127\.0", path.read_text()), path.name


@pytest.mark.parametrize(
    ("field", "value"),
    [("limits", ""), ("load", "quiet"), ("stage", "Cooking"), ("command", 3), ("tables", [{"columns": ["a"]}])],
)
def test_an_incomplete_file_is_refused_by_name(tmp_path: Path, field: str, value: object) -> None:
    fields = msgspec.to_builtins(a_result()) | {field: value}
    (tmp_path / "pass.json").write_text(json.dumps(fields))
    with pytest.raises(ValueError, match=r"^pass\.json: "):
        load_results(tmp_path)


def test_whether_a_target_is_met_follows_from_the_table() -> None:
    result = a_result()
    assert (result.targets[0].measured, result.targets[0].met) == (5.0, False)
    result.targets[0].met = True
    assert find_problems(result) == ["the target 'Time, times theirs' does not follow from the tables"]


def test_the_worst_of_several_numbers_counts() -> None:
    result = a_result()
    result.targets[0].of, result.targets[0].by = Place(row="", column="s CPU"), None
    settle(result)
    assert result.targets[0].measured == 5.0
    result.targets[0].sense = "at least"
    settle(result)
    assert result.targets[0].measured == 1.0


def test_a_number_can_be_taken_from_another() -> None:
    result = a_result()
    result.targets[0].by, result.targets[0].less = None, result.targets[0].by
    settle(result)
    assert result.targets[0].measured == 4.0


@pytest.mark.slow
def test_the_memory_of_a_command_excludes_the_measuring_process() -> None:
    held = bytearray(300_000_000)
    held[::4096] = b"x" * len(held[::4096])
    assert run_apart([sys.executable, "-I", "-S", "-c", "pass"]).peak_mb < 100
    assert run_apart([sys.executable, "-I", "-S", "-c", "b'x' * 150_000_000"]).peak_mb > 140


def test_a_run_replaces_the_numbers_and_keeps_the_description(tmp_path: Path) -> None:
    write(tmp_path, "pass", a_result())
    recording.record("pass", recording.Run(PRINTED, 90.0, 0.5), tmp_path)
    result = load_results(tmp_path)["pass"]
    assert result.tables[0].rows == [["ours", 2.0], ["theirs", 1.0]]
    assert (result.title, result.minutes, result.load, result.lines) == (
        "A pass",
        1.5,
        "beside other work",
        ["2 papers"],
    )
    assert (result.targets[0].measured, result.targets[0].met) == (2.0, True)
    assert result.commit != "0123456"


def test_a_program_is_run_and_recorded(tmp_path: Path) -> None:
    write(tmp_path, "pass", a_result())
    program = [sys.executable, "-c", f"print({PRINTED!r})"]
    recorder = [sys.executable, str(ROOT / "benchmarks" / "recording.py"), "--out", str(tmp_path), "pass"]
    run = subprocess.run([*recorder, *program], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("2 papers\n")
    assert load_results(tmp_path)["pass"].tables[0].rows[0] == ["ours", 2.0]
    failing = subprocess.run([*recorder, sys.executable, "-c", "raise SystemExit(2)"], capture_output=True, text=True)
    assert failing.returncode == 1
    assert failing.stderr.endswith(" failed.\n")


def test_a_run_that_does_not_fit_its_description_leaves_the_file(tmp_path: Path) -> None:
    write(tmp_path, "pass", a_result())
    with pytest.raises(ValueError, match="does not follow"):
        recording.record("pass", recording.Run(PRINTED.replace("s CPU", "s"), 90.0, 0.0), tmp_path)
    assert load_results(tmp_path)["pass"].tables[0].rows[0] == ["ours", 5.0]
    assert (tmp_path / "unfit" / "pass.json").is_file()


def test_a_measurement_without_a_description_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="describes this measurement"):
        recording.record("pass", recording.Run(PRINTED, 90.0, 0.0), tmp_path)


def test_per_cent_of_a_whole_column_is_a_number() -> None:
    tables, _ = recording.read_tables("| a | b |\n|---|---|\n| x | 99.8 % |\n| y | 5% |\n| z | - |\n")
    assert (tables[0].columns, [row[1] for row in tables[0].rows]) == (["a", "b, %"], [99.8, 5, None])


def test_the_pages_are_those_of_the_results() -> None:
    for name, lines in (("benchmarks.md", benchmarks_page.benchmarks_lines), ("scale.md", scale_page.scale_lines)):
        page = (ROOT / "docs" / name).read_text()
        notice = next(line for line in page.splitlines() if line.startswith("<!-- Generated"))
        assert page == "\n".join(lines(notice)) + "\n", f"{name} is out of date; run make docs"


def numbers_of(value: object) -> set[str]:
    """Return all numbers of a file of results, as the page shows them."""
    if isinstance(value, dict):
        return set().union(*(numbers_of(item) for pair in value.items() for item in pair))
    if isinstance(value, list):
        return set().union(*map(numbers_of, value), {benchmarks_page.show(value)} if is_samples(value) else set())
    if isinstance(value, int | float):
        return set(NUMBER.findall(benchmarks_page.show(value)))
    return set(NUMBER.findall(str(value)))


def is_samples(value: list[object]) -> bool:
    return bool(value) and all(isinstance(one, float) for one in value)


def test_the_coverage_of_intervals_is_summed_up_as_it_was_simulated() -> None:
    results = load_results()
    for name in ("coverage", "paired-coverage"):
        path = ROOT / "benchmarks" / f"{name.replace('-', '_')}.json"
        (table,), _ = recording.read_tables(covering.summarise(json.loads(path.read_text())["rows"]))
        assert (table.columns, table.rows) == (results[name].tables[0].columns, results[name].tables[0].rows)


PAGES = [
    path
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if path.name not in {"benchmarks.md", "scale.md"}
]
MEASURED = re.compile(rf"({NUMBER.pattern}) ?(?:%|s|ms|kB|MB|GB|minutes|hours|times|papers|reviews|of)\b")


def linked_sentences(page: str) -> list[tuple[str, str]]:
    """Return the sentences of a page that link to a file of results, with its name."""
    sentences = re.split(r"(?<=[.!?:;])\s+(?=[A-Z`*(|])|\n\n|\n(?=\|)", page)
    found = [(re.search(r"benchmarks/results/([\w-]+)\.json", one), one) for one in sentences]
    return [(match[1], one) for match, one in found if match]


def test_numbers_beside_a_link_are_those_of_the_measurement() -> None:
    results = load_results()
    wrong = []
    for path in PAGES:
        for name, sentence in linked_sentences(path.read_text()):
            known = numbers_of(msgspec.to_builtins(results[name]))
            wrong += [f"{path.name}: {number}" for number in MEASURED.findall(sentence) if number not in known]
    assert wrong == []


QUOTED = {
    "points.md": ("points", "points-read", "point-match"),
    "conversations.md": ("reminders",),
}
"""Pages whose tables repeat rows of results, with the names of these."""


def rows_of(page: str) -> list[tuple[str, list[str]]]:
    """Return the rows of all tables of a page, each with the name of its table's first column."""
    rows, heading = [], ""
    for line in page.splitlines():
        cells = [cell.strip().replace("**", "") for cell in line.strip("|").split("|")]
        heading = "" if not line.startswith("|") else heading or cells[0]
        rows.append((heading, cells))
    return [(name, cells) for name, cells in rows if name]


def agrees(shown: list[str], measured: list[list[Cell]]) -> bool:
    """Whether each number of a row is one of the rows of its name, rounded as it is shown."""
    known = [float(text.replace(",", "")) for row in measured for cell in row for text in NUMBER.findall(str(cell))]
    for text in NUMBER.findall(" ".join(shown[1:])):
        digits = len(text.partition(".")[2])
        least = 0.5 * 10**-digits + 1e-9
        if not any(abs(value - float(text.replace(",", ""))) <= least for value in known):
            return False
    return True


def test_tables_of_other_pages_repeat_the_results() -> None:
    results = load_results()
    compared = 0
    for name, sources in QUOTED.items():
        tables = [table for source in sources for table in results[source].tables]
        rows = [(table.columns[0], row) for table in tables for row in table.rows]
        for heading, shown in rows_of((ROOT / "docs" / name).read_text()):
            measured = [row for column, row in rows if (column, row[0]) == (heading, shown[0])]
            compared += bool(measured)
            assert not measured or agrees(shown, measured), f"{name}: {' | '.join(shown)}"
    assert compared > 3

"""Labelled points of recorded threads: the labels are well formed, and the printed numbers are counted."""

import csv
import importlib.util
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from peercorpus.records.enums import SectionKind
from peercorpus.records.points import AnswerMethod, KindSource, Point, PointAnswer, PointKind

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
DATA = Path(__file__).parents[3] / "shared" / "data"
TEXT = "The clouds are grey. Why are they grey?"


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    """The module that reads and counts the labels."""
    spec = importlib.util.spec_from_file_location("points_read", BENCHMARKS / "points_read.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["points_read"] = module
    spec.loader.exec_module(module)
    return module


def _point(start: int, end: int, *answers: PointAnswer) -> Point:
    return Point(
        *("r/1", "f", "V", "r", "Reviewer_1", 1, "review", SectionKind.ASSESSMENT, start, end, TEXT[start:end]),
        kind=PointKind.QUESTION,
        kind_source=KindSource.WORDS,
        label=None,
        aspect=None,
        answers=answers,
    )


def _answer(start: int, end: int) -> PointAnswer:
    return PointAnswer("a", start, end, "x" * (end - start), AnswerMethod.ORDER, 0.54, False, None)


def test_the_labels_hold_no_text(benchmark: ModuleType) -> None:
    read = benchmark.read_points()
    assert len({(one.review_id, one.field, one.start) for one in read}) == 150
    assert max(Counter(one.review_id for one in read).values()) <= 3
    assert Counter(one.is_answered is None for one in read) == {True: 75, False: 75}
    assert {one.span for one in read} == set(benchmark.SPANS)
    assert all(one.start < one.end and len(one.sha256) == 64 for one in read)
    with (BENCHMARKS / "points_read.tsv").open(encoding="utf-8") as lines:
        rows = [*csv.DictReader(lines, delimiter="\t")]
    assert len({row["venue_id"] for row in rows}) >= 8
    assert max(len(cell) for row in rows for cell in row.values()) == 64


def test_an_annotated_point_is_matched(benchmark: ModuleType) -> None:
    read = replace(benchmark.read_points()[0], review_id="r", field="review", start=21, end=39)
    first, second = _point(0, 25), _point(25, 39)
    assert benchmark.judge(read, [first, second], []).found is second
    assert not benchmark.judge(read, [first, second], []).is_same
    assert benchmark.judge(replace(read, start=25), [first, second], []).is_same


def test_a_judged_answer_is_matched(benchmark: ModuleType) -> None:
    judged = [benchmark.ReadAnswer("r", "review", (21, 39), "a", (0, 100), "", is_right=False)]
    point = _point(21, 39)
    assert benchmark.judge_answer(point, _answer(0, 100), judged) is False
    assert benchmark.judge_answer(point, _answer(10, 100), judged) is False
    assert benchmark.judge_answer(point, _answer(60, 160), judged) is None
    assert benchmark.judge_answer(_point(0, 21), _answer(0, 100), judged) is None


@pytest.mark.slow
@pytest.mark.real
@pytest.mark.skipif(not DATA.is_dir(), reason="the recorded data is not beside this checkout, in ../shared/data")
def test_every_annotated_text_is_in_the_recorded_data(tmp_path: Path) -> None:
    command = [sys.executable, str(BENCHMARKS / "run.py"), "points-read", "--out", str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    assert "150 of 150 points and 136 of 136 answers stand as they were read." in run.stdout

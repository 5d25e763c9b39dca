"""Tables split at the end of a model's training data: the effect of memory, and that of later papers on all models."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from random import Random

import pytest
from inspect_ai.model import ChatMessage

from commands import Run, assert_refused
from invented_bench import ACCEPT, REJECT, bench_release, quiet, scripted
from invented_releases import write_release
from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.cutoff import Cutoff, CutoffRow, CutoffTable, PaperDates, Period, read_dates
from peercorpus.benchmark.leaderboard import make_boards
from peercorpus.benchmark.leaderboard_render import lay_out
from peercorpus.benchmark.logs import Protocol, TaskRun
from peercorpus.benchmark.outcomes import CaseOutcome, DecisionRecord, Scored
from peercorpus.benchmark.run import Bench, run_tasks
from peercorpus.errors import PeercorpusError
from peercorpus.release.folder import open_release
from peercorpus.release.record_rows import Row

CUTOFF = date(2024, 6, 30)


def at(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("submitted", "closed", "period"),
    [
        ("2023-09-28", "2024-01-16", Period.BEFORE),
        ("2023-09-28", "2024-06-30T23:59", Period.BEFORE),
        (None, "2024-01-16", Period.BEFORE),
        ("2024-07-01", "2024-12-01", Period.AFTER),
        ("2024-07-01", None, Period.AFTER),
        ("2024-06-30T23:59", "2024-09-01", Period.BETWEEN),
        ("2024-05-22", "2024-07-01", Period.BETWEEN),
        ("2024-05-22", None, Period.UNKNOWN),
        (None, "2024-09-26", Period.UNKNOWN),
        (None, None, Period.UNKNOWN),
        ("2024-09-01", "2024-01-16", Period.UNKNOWN),
    ],
)
def test_no_period_is_guessed(submitted: str | None, closed: str | None, period: Period) -> None:
    assert PaperDates(at(submitted), at(closed)).place(CUTOFF) is period


def dated(name: str, submitted: str | None, decided: str | None, status: str = "accepted") -> Row:
    return {"forum_id": name, "created_at": at(submitted), "decided_at": at(decided), "status": status}


def test_an_undecided_paper_is_dated_by_reviews(tmp_path: Path) -> None:
    papers = [
        dated("decided", "2023-09-28", "2024-01-16"),
        dated("undated", "2023-09-28", None),
        dated("left", "2023-09-28", None, "withdrawn"),
        dated("unsure", "2023-09-28", None, "withdrawn"),
        dated("unreviewed", "2023-09-28", None, "withdrawn"),
    ]
    times: dict[str, list[str | None]] = {
        "undated": ["2023-11-01"],
        "left": ["2023-11-02", "2023-11-01"],
        "unsure": ["2023-11-01", None],
    }
    reviews = [
        {"forum_id": name, "review_id": f"{name}-{number}", "created_at": at(time)}
        for name, of_paper in times.items()
        for number, time in enumerate(of_paper)
    ]
    release = write_release(tmp_path / "r", {("papers_full", "iclr"): papers, ("reviews", "iclr"): reviews}, {})
    closed = {name: dates.closed_at for name, dates in read_dates(open_release(release)).items()}
    assert closed == {
        "decided": at("2024-01-16"),
        "left": at("2023-11-02"),
        **dict.fromkeys(("undated", "unsure", "unreviewed")),
    }


PAPERS = 200
"""Papers in each of the two groups of the invented runs."""
BEFORE = [f"b{number:03}" for number in range(PAPERS)]
AFTER = [f"a{number:03}" for number in range(PAPERS)]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    papers = [dated(name, "2023-09-28", "2024-01-16") for name in BEFORE]
    papers += [dated(name, "2024-09-28", "2025-01-22") for name in AFTER]
    papers += [dated("between", "2024-05-22", "2024-09-26"), dated("undated", None, None)]
    return write_release(tmp_path_factory.mktemp("dated") / "release", {("papers_full", "iclr"): papers}, {})


Share = Callable[[str], float]
"""Return the share of papers like this one for which the answer is right."""


def answering(name: str, release: Path, right: Share, *, is_baseline: bool = False) -> TaskRun:
    """Return a run that decides at random, but is right with the given frequency."""
    chance = Random(name)
    outcomes = []
    for number, paper in enumerate([*BEFORE, *AFTER, "between", "undated"]):
        accepted = number % 2 == 0
        record = DecisionRecord(accepted, accepted is (chance.random() < right(paper)), None)
        outcomes.append(CaseOutcome(paper, paper, record))
    sha256 = open_release(release).sha256
    protocol = Protocol(BenchTask.ACCEPTANCE, sha256, "re2", "test", "c", "whole papers", "p")
    path = Path(f"{name}.eval")
    return TaskRun(path, protocol, name, is_baseline, outcomes={Scored.DECISION: outcomes}, release=release)


def remembers(paper: str) -> float:
    """Right about papers it has seen, at chance level about others."""
    return 1.0 if paper in BEFORE else 0.5


def reads(_: str) -> float:
    return 0.8


def finds_later_ones_harder(paper: str) -> float:
    return 0.8 if paper in BEFORE else 0.6


def split(release: Path, right: Share, of_baseline: Share) -> CutoffTable:
    runs = [
        answering("m", release, right),
        answering("tfidf-paper", release, of_baseline, is_baseline=True),
    ]
    (board,) = make_boards(runs, cutoff=Cutoff(CUTOFF)).boards
    assert board.cutoff is not None
    return board.cutoff


def accuracy_of(table: CutoffTable, name: str = "m") -> CutoffRow:
    return next(row for row in table.rows if (row.name, row.measure.name) == (name, "accuracy"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("right", "of_baseline", "change", "beyond"),
    [
        (remembers, reads, -50, -50),
        (reads, reads, 0, 0),
        (finds_later_ones_harder, finds_later_ones_harder, -20, 0),
        (remembers, finds_later_ones_harder, -50, -30),
    ],
    ids=["remembers", "reads", "harder for both", "remembers, and harder"],
)
def test_a_memorising_model_changes_beyond_the_baseline(
    right: Share, of_baseline: Share, change: float, beyond: float, release: Path
) -> None:
    row = accuracy_of(split(release, right, of_baseline))
    for expected, found in ((change, row.change), (beyond, row.beyond)):
        assert found is not None
        assert found.bounds is not None
        assert found.bounds[0] < expected < found.bounds[1]
        assert (found.bounds[1] < 0) is (expected < 0)
        assert found.papers == PAPERS
    before, after = row.cells[Period.BEFORE], row.cells[Period.AFTER]
    assert before is not None
    assert after is not None
    assert row.change is not None
    assert row.change.value == pytest.approx(after.value - before.value)


@pytest.mark.slow
def test_papers_in_between_are_separate(release: Path) -> None:
    table = split(release, reads, reads)
    assert table.papers == {Period.BEFORE: PAPERS, Period.AFTER: PAPERS, Period.BETWEEN: 1, Period.UNKNOWN: 1}
    cells = accuracy_of(table).cells
    assert {period: cell.papers for period, cell in cells.items() if cell} == table.papers


def test_the_reference_learnt_from_other_papers(release: Path) -> None:
    runs = [answering("m", release, reads), answering("majority", release, reads, is_baseline=True)]
    boards = make_boards(runs, cutoff=Cutoff(CUTOFF))
    (board,) = boards.boards
    assert board.cutoff is not None
    assert board.cutoff.reference is None
    assert accuracy_of(board.cutoff).beyond is None
    assert accuracy_of(board.cutoff, "majority").change is not None
    assert "it is unknown how much harder later papers are" in lay_out(boards).to_markdown()


@pytest.mark.slow
def test_a_difference_needs_both_runs(release: Path) -> None:
    """A measure of only some answers, such as their contradictions, is compared on those that both have."""
    run, baseline = (answering(name, release, reads, is_baseline=name != "m") for name in ("m", "tfidf-paper"))
    for of_run, missing in ((run, "b000"), (baseline, "a000")):
        of_run.outcomes[Scored.DECISION] = [
            replace(
                outcome,
                found=DecisionRecord(True, True, 0.7),
                unscored="empty" if outcome.case_id == missing else None,
            )
            for outcome in of_run.outcomes[Scored.DECISION]
        ]
    (board,) = make_boards([run, baseline], cutoff=Cutoff(CUTOFF)).boards
    assert board.cutoff is not None
    row = next(row for row in board.cutoff.rows if (row.name, row.measure.name) == ("m", "contradictory"))
    assert row.beyond is not None
    assert row.beyond.papers == PAPERS - 1


@pytest.mark.fault("input", "a release that is not where logs say, or another one", "its digest, and how to name it")
def test_a_moved_release_can_be_named(release: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(release, copy)
    runs = [replace(answering("m", release, reads), release=tmp_path / "gone")]
    assert make_boards(runs, cutoff=Cutoff(CUTOFF, copy)).boards[0].cutoff is not None
    other = write_release(tmp_path / "other", {}, {"p00": "CC BY 4.0"})
    for given in (None, other):
        with pytest.raises(PeercorpusError, match=r"gone'; name its folder with --release"):
            make_boards(runs, cutoff=Cutoff(CUTOFF, given))
    assert make_boards(runs).boards[0].cutoff is None


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of a model that remembers the papers of one venue, and of the baselines; all papers are dated."""
    folder = tmp_path_factory.mktemp("run")
    days = {0: ("2023-09-28", "2024-01-16"), 1: ("2024-09-28", "2025-01-22")}
    papers = [dated(f"p{number:02}", *days[number % 2]) for number in range(24)]
    release = bench_release(folder / "release", more={("papers_full", "iclr"): papers})

    def answer(asked: Sequence[ChatMessage]) -> str:
        number = int(asked[-1].text.partition("part ")[2].split()[0])
        is_right = number % 2 == 0 or number % 4 == 1
        return ACCEPT if (number % 3 == 1) is is_right else REJECT

    with quiet():
        run_tasks(Bench([BenchTask.ACCEPTANCE], release, folder / "logs", scripted(answer, "memory")))
    return folder / "logs"


@pytest.mark.slow
def test_existing_logs_are_split_without_asking_the_model(run: Run, logs: Path) -> None:
    arguments = ("bench", "table", logs)
    ended = run(*arguments, "--cutoff", "2024-06-30")
    assert ended.code == 0, ended.err
    assert "## acceptance: before and after 2024-06-30" in ended.out
    assert "Papers before (4): decided by that day" in ended.out
    assert "| accuracy (%) ↑ | mockllm/memory | 100.0 [51.0, 100.0]† | 50.0 [15.0, 85.0]† | -50.000" in ended.out
    assert "| accuracy (%) ↑ | tfidf-paper (baseline) |" in ended.out
    rows = (logs / "leaderboard.csv").read_text()
    assert '"accuracy, after minus before 2024-06-30, beyond tfidf-paper"' in rows
    assert "before and after" not in run(*arguments).out


@pytest.mark.slow
def test_an_invalid_cutoff_is_refused(run: Run, logs: Path) -> None:
    table = ("bench", "table", logs)
    assert_refused(run(*table, "--release", logs.parent / "release"), "name a day with --cutoff")
    assert_refused(run(*table, "--cutoff", "yesterday"), "--cutoff")

"""The table of `status`: a row per venue, exceptions only once, and a summary if there are many venues."""

import dataclasses
from datetime import UTC, datetime
from pathlib import Path

import pytest

from commands import Run, assert_refused
from peercorpus.cli.text.status_table import MOST_VENUES, TITLES, WIDTH, overview
from peercorpus.execution.stage import Balance
from peercorpus.harvest.submissions import List
from peercorpus.pipeline.inventory import Coverage, Inventory, NamedExamples, PdfCoverage
from peercorpus.pipeline.status import Completeness, IssueFound, KnownIssue, WorkspaceStatus, only_venues, read_status
from peercorpus.records.enums import Grade, Status
from peercorpus.workspace.object_store import Placement
from peercorpus.workspace.workspace import open_workspace

NONE = NamedExamples(0, [])
LONG = "NeurIPS.cc/2023/Track/Datasets_and_Benchmarks_of_Kites"


def a_venue(venue_id: str, papers: int = 7_404, *cautions: IssueFound, is_listed: bool = True) -> Completeness:
    lists = [List(f"{venue_id}/-/Submission", received=papers, expected=papers, is_complete=is_listed)]
    held = Inventory(2, is_listed, lists, datetime(2026, 11, 1, tzinfo=UTC), 0, 0, {}, 0, {}, NONE, NONE, NONE)
    statuses = {Status.ACCEPTED: papers - 1, Status.REJECTED: 1}
    notes = Coverage(statuses, {}, 4 * papers, 0, 0, 0, 0, NONE, NONE, {})
    grades = {Grade.EXACT: papers - 3, Grade.UNREVISED_LIKELY: 2, Grade.UNAVAILABLE: 1}
    return Completeness(venue_id, held, notes, PdfCoverage(papers, papers, papers, 0, grades, 0), cautions, None)


def a_status(*venues: Completeness, balances: tuple[Balance, ...] = ()) -> WorkspaceStatus:
    return WorkspaceStatus(venues, balances, [], {}, {}, ("pdfium-layout", "1"), Placement("corpus", None, ""))


def table_of(text: str) -> list[str]:
    return text.partition("\nproven, other, none:")[0].splitlines()


def test_one_venue_is_one_row_without_a_total() -> None:
    header, row = table_of(overview(a_status(a_venue("ICLR.cc/2024/Conference"))))
    assert header.split() == ["venue", "papers", "reviews", "proven", "other", "none", "state"]
    assert row.split() == ["ICLR.cc/2024/Conference", "7,404", "29,616", "7,401", "2", "1", "complete"]


def test_twelve_venues_fit_a_terminal_and_each_exception_is_shown_once() -> None:
    issue = IssueFound(KnownIssue.NO_DEADLINE, 3, 9, [])
    venues = [a_venue(f"Kites.org/{2010 + number}/Conference", 12_345, issue) for number in range(11)]
    text = overview(a_status(*venues, a_venue(LONG, is_listed=False)))
    table = table_of(text)
    assert len(table) == 14
    assert max(map(len, table)) <= WIDTH
    assert table[-1].split()[0] == "all"
    assert "NeurIPS.cc" in table[-2]
    assert "of_Kites" in table[-2]
    assert table[-2].endswith("incomplete")
    assert max(map(len, text.splitlines())) <= WIDTH
    said = " ".join(text.split())
    assert said.count(TITLES[KnownIssue.NO_DEADLINE]) == 1
    assert f"11 venues: {TITLES[KnownIssue.NO_DEADLINE]} (Kites.org/2010/Conference, " in said
    assert "and 8 more)" in said
    assert "without --limit" in said


def test_a_thousand_venues_are_counted_by_conference() -> None:
    venues = [a_venue(f"C{number % 100}x.org/{1970 + number // 100}/Conference", 10) for number in range(1_000)]
    text = overview(a_status(*venues))
    table = table_of(text)
    assert len(table) == MOST_VENUES + 2
    assert table[1].split()[1] == "(10)"
    assert "61 other conferences" in table[-2]
    assert table[-1].split()[:3] == ["all", "10,000", "40,000"]
    assert len(text.splitlines()) < MOST_VENUES + 10


def test_missing_rows_are_reported_first() -> None:
    balance = Balance("normalise", "ICLR.cc/2024/Conference", "notes", 3, 1, {})
    text = overview(a_status(a_venue("ICLR.cc/2024/Conference"), balances=(balance,)))
    assert table_of(text)[1].endswith("ROWS MISSING")
    assert "rows are missing" in text
    assert "Rows are missing" in text


def test_every_issue_has_a_title_of_a_few_words() -> None:
    assert set(TITLES) == set(KnownIssue)


def test_an_unbuilt_count_is_not_zero() -> None:
    venue = dataclasses.replace(a_venue("ICLR.cc/2024/Conference"), notes=None, pdfs=None)
    status = dataclasses.replace(a_status(venue), unfinished=[("normalise", venue.venue_id)])
    assert table_of(overview(status))[1].split()[1:] == ["-", "-", "-", "-", "-", "to", "build"]


def test_names_with_control_characters_cannot_write_to_the_terminal() -> None:
    text = overview(a_status(a_venue("\x1b[2JX.org/2024/Conference", 5, is_listed=False)))
    assert "\x1b" not in text


@pytest.mark.slow
def test_the_command_shows_a_table_all_or_some_venues(run: Run, demo_folder: Path) -> None:
    corpus = demo_folder / "corpus"
    with open_workspace(corpus, write=False) as opened:
        status = read_status(opened)
    shown, every = run("status", corpus), run("status", corpus, "--all")
    assert shown.out.rstrip("\n") == overview(status)
    assert len(every.out.splitlines()) > 3 * len(shown.out.splitlines())
    some = run("status", corpus, "--venue", "borealis2024", "--venue", "JLE")
    assert some.out.rstrip("\n") == overview(only_venues(status, ["Borealis.cc/2024/Conference", "JLE"]))
    assert_refused(run("status", corpus, "--venue", "ICLR2024"), "'ICLR.cc/2024/Conference'")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "following"),
    [("build", "status"), ("publish", "explore")],
)
def test_a_command_ends_with_what_to_do_next(
    run: Run, demo_folder: Path, tmp_path: Path, command: str, following: str
) -> None:
    import shutil

    shutil.copytree(demo_folder / "corpus", tmp_path / "corpus")
    ended = run(command, tmp_path / "corpus")
    last = ended.out.splitlines()[-1]
    assert last.startswith(f"Next: peercorpus {following} -w {tmp_path / 'corpus'} (or ")
    assert ended.out.count("Next: ") == 1

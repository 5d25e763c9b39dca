"""The stage that reads texts: every file is read once or set aside in any case."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from in_this_process import InThisProcess
from invented_pdfs import HOSTILE, by_hand, lines
from naming import Naming
from peercorpus.errors import EngineError, PeercorpusError
from peercorpus.execution.executor import Failure, FailureKind
from peercorpus.execution.local_processes import LocalExecutor
from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import Stage, no_report
from peercorpus.records.documents import PaperText
from peercorpus.records.enums import Grade, Reason
from peercorpus.records.papers import Evidence, PaperVersion, SetAside
from peercorpus.texts import convert
from peercorpus.texts.engines.default_layout import DefaultLayout
from peercorpus.texts.layout import pdfium_layout as layout
from peercorpus.workspace.delta_tables import Tables
from peercorpus.workspace.workspace import Workspace, open_workspace

VENUE = "V.cc/2020/Conference"
KEY, LATER_KEY = "a" * 64, "b" * 64
NOON = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with open_workspace(tmp_path / "corpus", create=True) as opened:
        yield opened


def versions(workspace: Workspace, pdfs: Iterable[bytes | None]) -> list[str]:
    """Store PDFs as the versions of as many papers; None is a version that was not fetched."""
    sha256s = []
    with workspace.tables.replacing(("4-versions",), VENUE, "invent", KEY) as replacement:
        for number, pdf in enumerate(pdfs):
            sha256 = None if pdf is None else workspace.files.add(pdf)
            forum_id, evidence = f"f{number:03d}", Evidence(None, None, "invented", None)
            replacement.add(
                PaperVersion(forum_id, VENUE, f"e{number}", NOON, NOON, "/pdf/a", sha256, True, Grade.EXACT, evidence)
            )
            sha256s += [sha256] if sha256 else []
    return sha256s


def papers(count: int) -> list[bytes]:
    return [by_hand([lines(f"Paper {number}")]) for number in range(count)]


def run(workspace: Workspace, spread: Any, key: str = KEY) -> Stage[Workspace]:
    stage = convert.stage(spread)
    stage.run(workspace, VENUE, BuildRequest(), key, no_report)
    return stage


def texts(workspace: Workspace) -> dict[str, str]:
    return {text.sha256: text.markdown for text in workspace.tables.read(PaperText, VENUE)}


def is_finished(workspace: Workspace, key: str = KEY) -> bool:
    return workspace.tables.is_finished("5-texts", VENUE, "read_texts", key)


def test_every_file_is_converted_once_however_many_papers_have_it(workspace: Workspace) -> None:
    one, two = papers(2)
    spread = InThisProcess()
    sha256s = versions(workspace, [one, two, None, one])
    stage = run(workspace, spread)
    assert texts(workspace) == {sha256s[0]: "Paper 0", sha256s[1]: "Paper 1"}
    assert spread.read == sha256s[:2]
    (balance,) = stage.balance(workspace, VENUE)
    assert (balance.unit, balance.rows_in, balance.rows_out, balance.holds) == ("files", 2, 2, True)
    assert is_finished(workspace)


@pytest.mark.slow
def test_a_bad_file_is_set_aside_with_its_reason_and_the_others_are_read(workspace: Workspace) -> None:
    missing = by_hand([lines("Not on disk")])
    sha256s = versions(workspace, [*HOSTILE.values(), *papers(3), missing])
    workspace.files.path(sha256s[-1]).unlink()
    stage = run(workspace, LocalExecutor())
    assert sorted(texts(workspace).values()) == ["Paper 0", "Paper 1", "Paper 2"]
    (balance,) = stage.balance(workspace, VENUE)
    assert balance.holds
    assert balance.set_aside == {
        Reason.FILE_MISSING: 1,
        Reason.NOT_A_PDF: 3,
        Reason.PDF_DAMAGED: 3,
        Reason.PDF_ENCRYPTED: 1,
        Reason.PDF_WITHOUT_TEXT: 1,
    }
    left = list(workspace.tables.read(SetAside, VENUE))
    assert {(row.stage, row.venue_id) for row in left} == {("read_texts", VENUE)}
    assert all(row.forum_id and row.detail.endswith(".") and "\n" not in row.detail for row in left)


def test_every_failure_has_a_reason(workspace: Workspace) -> None:
    failures = tuple(Failure(kind, "It failed.") for kind in FailureKind)
    versions(workspace, papers(5))
    (balance,) = run(workspace, InThisProcess(failures=failures)).balance(workspace, VENUE)
    assert balance.set_aside == {Reason.PDF_CRASHED: 2, Reason.PDF_OUT_OF_MEMORY: 1, Reason.PDF_TIMEOUT: 1}
    assert balance.rows_out == 1


def test_a_text_of_a_damaged_file_is_marked(workspace: Workspace) -> None:
    (paper,) = papers(1)
    versions(workspace, [paper.replace(b"trailer", b"trailed")])
    run(workspace, InThisProcess())
    assert [text.problems for text in workspace.tables.read(PaperText, VENUE)] == [(Naming("repaired", "damaged"),)]


@pytest.mark.fault("kill", "the reading of PDFs, by Ctrl-C", "the next build goes on")
def test_a_killed_run_continues_where_it_was(workspace: Workspace) -> None:
    sha256s = versions(workspace, papers(10))
    with pytest.raises(KeyboardInterrupt):
        run(workspace, InThisProcess(stop_after=9))
    assert not is_finished(workspace)
    again = InThisProcess()
    run(workspace, again)
    assert again.read == sha256s[9:]
    assert set(texts(workspace)) == set(sha256s)
    assert workspace.tables.count("5-texts", VENUE) == 10


def test_texts_of_unused_files_are_removed_and_new_ones_added(workspace: Workspace) -> None:
    one, two, three = papers(3)
    versions(workspace, [one, two])
    run(workspace, InThisProcess())
    sha256s = versions(workspace, [two, three])
    spread = InThisProcess()
    stage = run(workspace, spread, LATER_KEY)
    assert spread.read == sha256s[1:]
    assert set(texts(workspace)) == set(sha256s)
    assert stage.balance(workspace, VENUE)[0].holds


def test_another_version_of_the_engine_reads_everything_again(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    sha256s = versions(workspace, papers(3))
    run(workspace, InThisProcess())
    monkeypatch.setattr(DefaultLayout, "version", "2")
    spread = InThisProcess()
    run(workspace, spread, LATER_KEY)
    assert spread.read == sha256s
    assert {text.engine_version for text in workspace.tables.read(PaperText, VENUE)} == {"2"}
    assert workspace.tables.count("5-texts", VENUE) == 3


def test_an_incomplete_run_leaves_the_texts_unchanged(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    versions(workspace, papers(3))
    run(workspace, InThisProcess())
    before = list(workspace.tables.read(PaperText, VENUE))
    monkeypatch.setattr(DefaultLayout, "version", "2")
    with pytest.raises(KeyboardInterrupt):
        run(workspace, InThisProcess(stop_after=2), LATER_KEY)
    assert list(workspace.tables.read(PaperText, VENUE)) == before
    assert is_finished(workspace, KEY)
    assert not is_finished(workspace, LATER_KEY)


def test_a_run_killed_while_changing_the_table_is_not_marked_as_finished(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions(workspace, papers(2))
    run(workspace, InThisProcess())
    sha256s = versions(workspace, papers(6))
    append = Tables.append

    def killed(self: Tables, *arguments: Any) -> None:
        append(self, *arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(convert, "BATCH_FILES", 2)
        patched.setattr(Tables, "append", killed)
        with pytest.raises(KeyboardInterrupt):
            run(workspace, InThisProcess(), LATER_KEY)
    assert len(texts(workspace)) == 4
    assert not is_finished(workspace, KEY)
    assert not is_finished(workspace, LATER_KEY)
    spread = InThisProcess()
    run(workspace, spread, LATER_KEY)
    assert (spread.read, set(texts(workspace))) == ([], set(sha256s))
    assert workspace.tables.count("5-texts", VENUE) == 6


def test_pages_read_by_a_heavier_engine_are_recorded(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    original = layout.PdfiumLayout.convert
    monkeypatch.setattr(
        layout.PdfiumLayout, "convert", lambda self, pdf: replace(original(self, pdf), heavier_pages=(1,))
    )
    versions(workspace, papers(1))
    run(workspace, InThisProcess())
    assert [text.heavier_pages for text in workspace.tables.read(PaperText, VENUE)] == [(1,)]


def test_an_option_that_the_engine_does_not_take_stops_the_run(workspace: Workspace) -> None:
    versions(workspace, papers(1))
    options = BuildRequest(engine="pdfium-text", ocr="auto")
    with pytest.raises(EngineError, match=r"'pdfium-text'.*--ocr"):
        convert.stage(InThisProcess()).run(workspace, VENUE, options, KEY, no_report)


def test_a_venue_without_files_is_finished_and_balances(workspace: Workspace) -> None:
    versions(workspace, [None])
    (balance,) = run(workspace, LocalExecutor()).balance(workspace, VENUE)
    assert (balance.rows_in, balance.rows_out, dict(balance.set_aside)) == (0, 0, {})
    assert is_finished(workspace)


def test_an_unknown_engine_stops_the_run_before_anything_is_changed(workspace: Workspace) -> None:
    versions(workspace, papers(1))
    with pytest.raises(PeercorpusError, match=r"'magic'.*pdfium-text"):
        convert.stage(InThisProcess()).run(workspace, VENUE, BuildRequest(engine="magic"), KEY, no_report)
    assert workspace.tables.paths("5-texts", VENUE) == []

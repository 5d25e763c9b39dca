"""The stage that inspects files: every file is inspected once or set aside in any case."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from in_this_process import InThisProcess
from invented_pdfs import HOSTILE, PICTURE, by_hand, encrypted, lines
from naming import Naming
from peercorpus.errors import UnreadablePdfError
from peercorpus.execution.local_processes import LocalExecutor
from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import Stage, no_report
from peercorpus.records.documents import Inspection
from peercorpus.records.enums import Reason, SignKind
from peercorpus.records.papers import SetAside
from peercorpus.versions import inspect
from peercorpus.versions.inspect import inspect_file, read_date
from peercorpus.workspace.harvest_state import StoredFile
from peercorpus.workspace.workspace import Workspace, open_workspace

VENUE = "V.cc/2020/Conference"
KEY, LATER_KEY = "a" * 64, "b" * 64
REVIEW = lines("Under review as a conference paper at V 2020", "A Title", "Anonymous authors", "Abstract")


def dated(pdf: bytes, **stated: str) -> bytes:
    """The same PDF, updated with metadata of its own."""
    entries = " ".join(f"/{key} ({value})" for key, value in stated.items())
    before = int(pdf.rsplit(b"startxref\n", 1)[1].split(b"\n")[0])
    info = f"99 0 obj\n<< {entries} >>\nendobj\n"
    table = (
        f"xref\n99 1\n{len(pdf) + 1:010d} 00000 n \ntrailer\n<< /Size 100 /Root 1 0 R /Info 99 0 R /Prev {before} >>\n"
    )
    return pdf + f"\n{info}{table}startxref\n{len(pdf) + 1 + len(info)}\n%%EOF\n".encode()


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with open_workspace(tmp_path / "corpus", create=True) as opened:
        yield opened


def hold(workspace: Workspace, pdfs: Iterable[bytes | None], first: int = 0) -> list[str]:
    """Store PDFs as fetched for as many papers; None is a file that could not be had."""
    sha256s = []
    for number, pdf in enumerate(pdfs, first):
        sha256 = None if pdf is None else workspace.files.add(pdf)
        size, problem = (None, "gone") if pdf is None else (len(pdf), None)
        edit_id, forum_id = f"e{number}", f"f{number:03d}"
        workspace.raw.state.add_file(StoredFile(edit_id, f"/pdf/{edit_id}.pdf", VENUE, forum_id, sha256, size, problem))
        sha256s += [sha256] if sha256 else []
    return sha256s


def papers(count: int) -> list[bytes]:
    return [by_hand([lines(f"Paper {number}")]) for number in range(count)]


def run(workspace: Workspace, spread: Any, key: str = KEY) -> Stage[Workspace]:
    stage = inspect.stage(spread)
    stage.run(workspace, VENUE, BuildRequest(), key, no_report)
    return stage


def found(workspace: Workspace) -> dict[str, Inspection]:
    return {row.sha256: row for row in workspace.tables.read(Inspection, VENUE)}


def test_every_file_is_inspected_once(workspace: Workspace) -> None:
    one, two = by_hand([REVIEW]), papers(1)[0]
    spread = InThisProcess()
    sha256s = hold(workspace, [one, two, None, one])
    stage = run(workspace, spread)
    assert spread.read == sha256s[:2]
    inspections = found(workspace)
    assert [(row.forum_id, row.pages, row.venue_id) for row in inspections.values()] == [
        ("f000", 1, VENUE),
        ("f001", 1, VENUE),
    ]
    assert [sign.kind for sign in inspections[sha256s[0]].signs] == [
        SignKind.UNDER_REVIEW,
        SignKind.ANONYMOUS_AUTHORS,
    ]
    (balance,) = stage.balance(workspace, VENUE)
    assert (balance.unit, balance.rows_in, balance.rows_out, balance.holds) == ("files", 2, 2, True)
    assert workspace.tables.is_finished("0-inspections", VENUE, "inspect_files", KEY)


def test_a_bad_file_is_not_inspected(workspace: Workspace) -> None:
    missing = by_hand([lines("Not on disk")])
    sha256s = hold(workspace, [*HOSTILE.values(), *papers(3), missing])
    workspace.files.path(sha256s[-1]).unlink()
    stage = run(workspace, LocalExecutor())
    (balance,) = stage.balance(workspace, VENUE)
    assert balance.holds
    assert balance.set_aside == {
        Reason.FILE_MISSING: 1,
        Reason.NOT_A_PDF: 3,
        Reason.PDF_DAMAGED: 3,
        Reason.PDF_ENCRYPTED: 1,
    }
    problems = [row.problems for row in found(workspace).values() if row.problems]
    assert problems == [("without text: page 1",)]
    left = list(workspace.tables.read(SetAside, VENUE))
    assert {(row.stage, row.venue_id) for row in left} == {("inspect_files", VENUE)}
    assert all(row.forum_id and row.detail.endswith(".") and "\n" not in row.detail for row in left)


def test_a_killed_run_continues_where_it_was(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect, "BATCH_FILES", 4)
    sha256s = hold(workspace, papers(10))
    with pytest.raises(KeyboardInterrupt):
        run(workspace, InThisProcess(stop_after=9))
    assert len(found(workspace)) == 8
    assert not workspace.tables.is_finished("0-inspections", VENUE, "inspect_files", KEY)
    again = InThisProcess()
    run(workspace, again)
    assert again.read == sha256s[8:]
    assert workspace.tables.count("0-inspections", VENUE) == 10


def test_only_new_files_are_inspected(workspace: Workspace) -> None:
    first = hold(workspace, papers(2))
    run(workspace, InThisProcess())
    later = hold(workspace, [papers(3)[2]], first=1)
    spread = InThisProcess()
    stage = run(workspace, spread, LATER_KEY)
    assert spread.read == later
    assert set(found(workspace)) == {first[0], *later}
    assert stage.balance(workspace, VENUE)[0].holds


def test_an_invalid_date_is_a_problem() -> None:
    page = by_hand([REVIEW])
    looked = inspect_file(
        dated(page, CreationDate="D:20210429164919-05'00'", ModDate="D:20219999", Producer="TeX a@b.c")
    )
    assert looked.made_at == datetime(2021, 4, 29, 21, 49, 19, tzinfo=UTC)
    assert (looked.changed_at, looked.producer) == (None, "TeX [e-mail]")
    assert looked.problems == ("ModDate is not a time",)
    assert (inspect_file(page).made_at, inspect_file(page).producer) == (None, None)


@pytest.mark.parametrize(
    ("stated", "iso"),
    [
        ("D:20180116065228Z", "2018-01-16T06:52:28+00:00"),
        ("D:20180116065228Z00'00'", "2018-01-16T06:52:28+00:00"),
        ("D:20250103100119+08'00'", "2025-01-03T02:01:19+00:00"),
        ("20250103100119+0800", "2025-01-03T02:01:19+00:00"),
        ("D:202501031001", "2025-01-03T10:01:00+00:00"),
        ("D:20250103", None),
        ("D:20251303100119Z", None),
        ("D:99991231235959-23'00'", None),
        ("D:20250103100119+99'00'", None),
        ("", None),
    ],
)
def test_a_date_is_never_guessed(stated: str, iso: str | None) -> None:
    read = read_date(stated)
    assert (read.isoformat() if read else None) == iso


@pytest.mark.parametrize("name", ["empty", "html", "noise", "header only", "encrypted", "no pages"])
def test_an_unreadable_pdf_is_reported(name: str) -> None:
    with pytest.raises(UnreadablePdfError):
        inspect_file(HOSTILE[name])
    with pytest.raises(UnreadablePdfError):
        inspect_file(encrypted(by_hand([REVIEW])))


def test_a_repaired_file_is_inspected() -> None:
    looked = inspect_file(by_hand([REVIEW]).replace(b"trailer", b"trailed"))
    assert (looked.pages, len(looked.signs), looked.problems) == (1, 2, (Naming("repaired", "damaged"),))


def test_later_pages_are_not_inspected() -> None:
    thanks = lines("Acknowledgements")
    plain, references = lines("Words"), lines("References")
    assert _thanks([REVIEW, plain, references, thanks])
    assert not _thanks([REVIEW, plain, references, plain, thanks])
    assert not _thanks([REVIEW, *[plain] * 40, thanks])
    assert _thanks([REVIEW, PICTURE, PICTURE, thanks])


def _thanks(pages: list[bytes]) -> bool:
    return SignKind.ACKNOWLEDGEMENTS in {sign.kind for sign in inspect_file(by_hand(pages)).signs}


def test_a_file_that_disappeared_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(UnreadablePdfError, match="No such file"):
        inspect.look_into_file(inspect.InspectionJob("0" * 64, tmp_path / "gone.pdf"))

"""The stage that reads texts: every file is read once or set aside in any case, and the cache only saves time."""

import hashlib
import shutil
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from in_this_process import InThisProcess
from invented_pdfs import HOSTILE, PICTURE, by_hand, lines
from peercorpus.errors import EngineError
from peercorpus.execution.local_processes import LocalExecutor
from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import Stage, no_report
from peercorpus.records.documents import PaperText, TextHeading, TextQuality
from peercorpus.records.enums import Grade, Reason
from peercorpus.records.papers import Evidence, PaperVersion, SetAside
from peercorpus.texts import convert
from peercorpus.texts.convert import TextCache
from peercorpus.texts.engine import Converted, load_engine
from peercorpus.texts.engines.pdfium_layout import DefaultLayout
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


def test_every_file_is_converted_once(workspace: Workspace) -> None:
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
def test_a_bad_file_is_set_aside(workspace: Workspace) -> None:
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


def test_unused_texts_are_removed(workspace: Workspace) -> None:
    one, two, three = papers(3)
    versions(workspace, [one, two])
    run(workspace, InThisProcess())
    sha256s = versions(workspace, [two, three])
    spread = InThisProcess()
    stage = run(workspace, spread, LATER_KEY)
    assert spread.read == sha256s[1:]
    assert set(texts(workspace)) == set(sha256s)
    assert stage.balance(workspace, VENUE)[0].holds


def test_another_engine_version_reads_again(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_killed_run_is_not_marked_finished(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_an_option_not_taken_stops_the_run(workspace: Workspace) -> None:
    versions(workspace, papers(1))
    options = BuildRequest(engine="pdfium-text", ocr="auto")
    with pytest.raises(EngineError, match=r"'pdfium-text'.*--ocr"):
        convert.stage(InThisProcess()).run(workspace, VENUE, options, KEY, no_report)


SHA256 = hashlib.sha256(b"invented").hexdigest()
FULL = Converted(
    markdown="Ä.\n\n---\n\nB.",
    pages=2,
    characters=4,
    problems=("A problem.",),
    headings=(TextHeading(1, "Ä.", 1),),
    figures=("axis",),
    quality=TextQuality(0.0, 0, 4, 0, None),
    ocr_pages=(2,),
)


def read(workspace: Workspace, engine: str = "pdfium-layout") -> list[str]:
    """Run the stage with an engine, and return the files that were read."""
    spread = InThisProcess()
    stage, key = convert.stage(spread), hashlib.sha256(engine.encode()).hexdigest()
    stage.run(workspace, VENUE, BuildRequest(engine=engine), key, no_report)
    assert stage.balance(workspace, VENUE)[0].holds
    return spread.read


def stored_texts(workspace: Workspace) -> list[PaperText]:
    return sorted(workspace.tables.read(PaperText, VENUE), key=lambda text: text.sha256)


@pytest.mark.fault("disk", "a cached text is cut", "the PDF is read again", times=4)
@pytest.mark.parametrize("kept", [slice(0), slice(20), slice(-1), slice(1, None)])
def test_a_damaged_cache_entry_counts_as_missing(workspace: Workspace, kept: slice) -> None:
    cache = TextCache(workspace, load_engine("pdfium-layout"))
    cache.write(SHA256, FULL)
    (path,) = cache.folder.rglob("*.zst")
    path.write_bytes(path.read_bytes()[kept])
    assert cache.read(SHA256) is None


@pytest.mark.fault("disk", "two cached texts are exchanged", "both PDFs are read again")
def test_exchanged_texts_are_read_again(workspace: Workspace) -> None:
    versions(workspace, papers(2))
    sha256s = read(workspace)
    before = stored_texts(workspace)
    first, second = workspace.folder.rglob("*.zst")
    swapped = first.read_bytes(), second.read_bytes()
    second.write_bytes(swapped[0])
    first.write_bytes(swapped[1])
    shutil.rmtree(workspace.folder / "tables")
    versions(workspace, papers(2))
    assert sorted(read(workspace)) == sorted(sha256s)
    assert stored_texts(workspace) == before


def test_a_text_of_another_engine_counts_as_missing(workspace: Workspace) -> None:
    layout_texts, plain_texts = (TextCache(workspace, load_engine(name)) for name in ("pdfium-layout", "pdfium-text"))
    layout_texts.write(SHA256, FULL)
    shutil.copytree(layout_texts.folder, plain_texts.folder)
    assert (layout_texts.read(SHA256), plain_texts.read(SHA256)) == (FULL, None)


def test_deleted_tables_are_restored_from_the_cache(workspace: Workspace) -> None:
    pdfs = [*papers(3), by_hand([PICTURE])]
    versions(workspace, pdfs)
    assert len(read(workspace)) == 4
    before = stored_texts(workspace)
    shutil.rmtree(workspace.folder / "tables")
    versions(workspace, pdfs)
    assert read(workspace) == []
    assert stored_texts(workspace) == before
    assert workspace.tables.set_aside_counts(VENUE, "read_texts") == {Reason.PDF_WITHOUT_TEXT: 1}


def test_a_failure_is_not_cached_and_is_retried(workspace: Workspace) -> None:
    sha256s = versions(workspace, [b"no PDF at all", *papers(1)])
    assert read(workspace) == sha256s
    assert read(workspace) == sha256s[:1]


def test_a_new_engine_version_replaces_texts(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    sha256s = versions(workspace, papers(2))
    read(workspace)
    read(workspace, engine="pdfium-text")
    help_ = layout.PdfiumLayout.version.partition("+")[2]
    with_more = workspace.folder / "texts" / "pdfium-layout" / f"v1+{help_}+rapidocr"
    with_more.mkdir()
    monkeypatch.setattr(DefaultLayout, "version", f"2/..+{help_}")
    assert read(workspace) == sha256s
    kept = {
        path.parent.name: [one.name for one in path.parent.iterdir()] for path in workspace.folder.glob("texts/*/*")
    }
    assert kept.keys() == {"pdfium-layout", "pdfium-text"}
    assert sorted(kept["pdfium-layout"]) == [with_more.name, f"v2%2F..+{help_}"]

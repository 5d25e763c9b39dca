"""A PDF that an engine has read is never read again, and deleting the cache only costs time."""

import hashlib
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from in_this_process import InThisProcess
from invented_pdfs import PICTURE, by_hand, lines
from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import no_report
from peercorpus.records.documents import PaperText, TextHeading, TextQuality
from peercorpus.records.enums import Grade, Reason
from peercorpus.records.papers import Evidence, PaperVersion
from peercorpus.texts import convert
from peercorpus.texts.convert import TextCache
from peercorpus.texts.engine import Converted, load_engine
from peercorpus.texts.engines.default_layout import DefaultLayout
from peercorpus.texts.layout import pdfium_layout as layout
from peercorpus.workspace.workspace import Workspace, open_workspace

VENUE, OTHER = "V.cc/2020/Conference", "W.cc/2021/Conference"
NOON = datetime(2020, 1, 1, tzinfo=UTC)
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


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with open_workspace(tmp_path / "corpus", create=True) as opened:
        yield opened


def hold(workspace: Workspace, venue_id: str, *pdfs: bytes) -> list[str]:
    """Store PDFs as the versions of as many papers."""
    with workspace.tables.replacing(("4-versions",), venue_id, "invent", "a" * 64) as replacement:
        sha256s = [workspace.files.add(pdf) for pdf in pdfs]
        for number, sha256 in enumerate(sha256s):
            evidence = Evidence(None, None, "invented", None)
            replacement.add(
                PaperVersion(f"f{number}", venue_id, "e", NOON, NOON, "/pdf/a", sha256, True, Grade.EXACT, evidence)
            )
    return sha256s


def read(workspace: Workspace, venue_id: str = VENUE, engine: str = "pdfium-layout") -> list[str]:
    """Run the stage, and return the files that were read."""
    spread = InThisProcess()
    key = hashlib.sha256(f"{venue_id} {engine}".encode()).hexdigest()
    convert.stage(spread).run(workspace, venue_id, BuildRequest(engine=engine), key, no_report)
    assert convert.stage(spread).balance(workspace, venue_id)[0].holds
    return spread.read


def texts(workspace: Workspace, venue_id: str = VENUE) -> list[PaperText]:
    return sorted(workspace.tables.read(PaperText, venue_id), key=lambda text: text.sha256)


def papers(count: int) -> list[bytes]:
    return [by_hand([lines(f"Paper {number}")]) for number in range(count)]


def test_a_cached_text_is_returned_unchanged(workspace: Workspace) -> None:
    cache = TextCache(workspace, load_engine("pdfium-layout"))
    assert cache.read(SHA256) is None
    cache.write(SHA256, FULL)
    assert cache.read(SHA256) == FULL


@pytest.mark.fault("disk", "a cached text is cut", "the PDF is read again", times=4)
@pytest.mark.parametrize("kept", [slice(0), slice(20), slice(-1), slice(1, None)])
def test_a_damaged_cache_entry_counts_as_missing(workspace: Workspace, kept: slice) -> None:
    cache = TextCache(workspace, load_engine("pdfium-layout"))
    cache.write(SHA256, FULL)
    (path,) = cache.folder.rglob("*.zst")
    path.write_bytes(path.read_bytes()[kept])
    assert cache.read(SHA256) is None


def test_a_file_shared_by_two_venues_is_read_once(workspace: Workspace) -> None:
    one, two, three = papers(3)
    hold(workspace, VENUE, one, two)
    hold(workspace, OTHER, two, three)
    assert len(read(workspace)) == 2
    assert read(workspace, OTHER) == [hashlib.sha256(three).hexdigest()]
    assert {text.markdown for text in texts(workspace, OTHER)} == {"Paper 1", "Paper 2"}
    assert {text.venue_id for text in texts(workspace, OTHER)} == {OTHER}


def test_switching_back_to_an_engine_reads_nothing_again(workspace: Workspace) -> None:
    sha256s = hold(workspace, VENUE, *papers(3))
    assert read(workspace) == sha256s
    first = texts(workspace)
    assert read(workspace, engine="pdfium-text") == sha256s
    assert {text.engine for text in texts(workspace)} == {"pdfium-text"}
    assert read(workspace) == []
    assert texts(workspace) == first


def test_deleted_tables_are_restored_from_the_cache(workspace: Workspace) -> None:
    pdfs = [*papers(3), by_hand([PICTURE])]
    hold(workspace, VENUE, *pdfs)
    assert len(read(workspace)) == 4
    before = texts(workspace)
    shutil.rmtree(workspace.folder / "tables")
    hold(workspace, VENUE, *pdfs)
    assert read(workspace) == []
    assert texts(workspace) == before
    assert workspace.tables.set_aside_counts(VENUE, "read_texts") == {Reason.PDF_WITHOUT_TEXT: 1}


def test_without_the_cache_the_same_tables_are_built(workspace: Workspace) -> None:
    pdfs = papers(3)
    sha256s = hold(workspace, VENUE, *pdfs)
    read(workspace)
    before = texts(workspace)
    shutil.rmtree(workspace.folder / "tables")
    shutil.rmtree(workspace.folder / "texts")
    hold(workspace, VENUE, *pdfs)
    assert read(workspace) == sha256s
    assert texts(workspace) == before


def test_a_failure_is_not_cached_and_is_retried(workspace: Workspace) -> None:
    sha256s = hold(workspace, VENUE, b"no PDF at all", *papers(1))
    assert read(workspace) == sha256s
    assert read(workspace) == sha256s[:1]


def test_a_new_version_of_the_engine_replaces_the_old_texts(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    sha256s = hold(workspace, VENUE, *papers(2))
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

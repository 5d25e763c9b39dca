"""Harmful files: each becomes a text or one row set aside with its cause, and the run continues after it."""

import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest

from harmful_pages import MEGABYTE, PAGE, WORDS, deflated, drawn, with_content
from hostile_pdfs import HOSTILE_PDFS
from invented_pdfs import by_hand, lines
from peercorpus.execution.local_processes import LocalExecutor
from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import Stage, no_report
from peercorpus.pdf.repair import REPAIRED
from peercorpus.records.documents import Inspection, PaperText
from peercorpus.records.enums import Grade, Reason
from peercorpus.records.papers import Evidence, PaperVersion, SetAside
from peercorpus.texts import convert
from peercorpus.versions import inspect
from peercorpus.workspace.harvest_state import StoredFile
from peercorpus.workspace.workspace import Workspace, open_workspace

VENUE = "V.cc/2020/Conference"
KEY = "a" * 64
NOON = datetime(2020, 1, 1, tzinfo=UTC)
MEMORY_BYTES = 384 << 20
"""Below the default: files that need more need far more, so the outcome is the same but quicker."""

ONE_OF_EACH_CAUSE = {
    "empty": Reason.NOT_A_PDF,
    "header only": Reason.PDF_DAMAGED,
    "user's password, RC4": Reason.PDF_ENCRYPTED,
    "blank pages": Reason.PDF_WITHOUT_TEXT,
    "two forms that draw each other": Reason.PDF_OUT_OF_MEMORY,
}
"""All causes except timeouts, which take time to provoke."""

SET_ASIDE = {
    Reason.NOT_A_PDF: ["empty", "a web page", "a zip", "noise", "zeros", "a header far behind"],
    Reason.PDF_DAMAGED: [
        *("header only", "header and noise", "header and zeros", "line ends changed"),
        *("high bits lost", "no pages", "a deep tree of pages", "fuzzed and packed, 2"),
    ],
    Reason.PDF_ENCRYPTED: [
        *("user's password, RC4", "user's password, AES-128", "user's password, AES-256", "unknown encryption"),
    ],
    Reason.PDF_WITHOUT_TEXT: [
        *("pictures", "scan", "blank pages", "content that is not there", "a stream that does not unpack"),
        "a million filters",
    ],
    Reason.PDF_OUT_OF_MEMORY: [
        *("two forms that draw each other", "forms that multiply"),
        *("a bomb of spaces", "a bomb in a bomb", "a bomb of text", "a bomb of objects that is cut off"),
    ],
}
EXPECTED = {name: reason for reason, names in SET_ASIDE.items() for name in names}

WITHOUT_FONT = "without one of its fonts, so letters may be wrong: page 1"

WITH_PROBLEMS = {
    "1 kB of a paper": (REPAIRED, "cannot be read to its end: page 4", "without text: page 4"),
    "half of a paper": (REPAIRED, "cannot be read to its end: page 2, 3, 4", "without text: page 2, 3, 4"),
    "a paper without its tail": (REPAIRED,),
    "nothing that is found": (REPAIRED, WITHOUT_FONT),
    "no tree of pages": (REPAIRED, WITHOUT_FONT),
    "no trailer": (REPAIRED, WITHOUT_FONT),
    "half of a plain file": (
        REPAIRED,
        "cannot be read to its end: page 12, 13, 14, 15, 16, 17, 18, 19, 20",
        "without text: page 12, 13, 14, 15, 16, 17, 18, 19, 20",
    ),
    "a plain file without its tail": (REPAIRED,),
    "fuzzed, 2": ("without text: page 17",),
    "fuzzed, 3": ("cannot be read: page 19", "without text: page 12"),
    "fuzzed, 4": (REPAIRED, "without text: page 1"),
    "fuzzed more, 53": (REPAIRED, "without text: page 1, 7, 8, 13, 14, 15, 17"),
    "half of a paper made for the web": ("cannot be read: page 2, 3, 4",),
    "a tree of pages that is its own branch": ("cannot be read: page 2",),
    "one bad page": (REPAIRED,),
}

SAYS = {
    "right to left": "שלום עולם",
    "a word of 300,000 characters": "w" * 30_000,
    "a line of 300,000 characters": "word " * 6_000,
    "300,000 characters on a page": "words and " * 1_000,
    "1,000 pages": "Leaf 999",
    "fuzzed much, 1": "^ords of awpaper",
}
"""The readable text, if it is not `WORDS`."""

NOT_YET = {"text turned about", "pages turned about, and text turned back"}
"""Text that the engine may read or leave out: these tests accept both."""


@dataclass
class Run:
    """The outcome for the files of one run.

    Attributes:
        kept: The row of each file that was read; `left` the row of each that was set aside.
        good: How many good files that followed a hostile one were read.
        most_bytes: Peak memory of any worker.
    """

    kept: dict[str, PaperText | Inspection] = field(default_factory=dict)
    left: dict[str, SetAside] = field(default_factory=dict)
    good: int = 0
    most_bytes: int = 0
    seconds: float = 0.0


@contextmanager
def watched(run: Run) -> Iterator[None]:
    """Measure the workers' memory and time."""
    done, here, began = threading.Event(), psutil.Process(), time.monotonic()

    def watch() -> None:
        while not done.wait(0.02):
            for child in here.children():
                try:
                    # Until it has become a worker, a child shares the memory of this process, and seems to use all of
                    # it.
                    if "--multiprocessing-fork" in child.cmdline():
                        run.most_bytes = max(run.most_bytes, child.memory_info().rss)
                except psutil.Error:
                    continue

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
        run.seconds = time.monotonic() - began


def good(number: int) -> bytes:
    return by_hand([lines(f"Good paper {number}")])


def hold(workspace: Workspace, pdfs: Mapping[str, bytes]) -> dict[str, str]:
    """Store the files as the versions of as many papers, a good one after each; return their names by hash."""
    names: dict[str, str] = {}
    with workspace.tables.replacing(("4-versions",), VENUE, "invent", KEY) as replacement:
        for number, (name, hostile) in enumerate(pdfs.items()):
            for forum_id, pdf in ((f"f{number:03d}a", hostile), (f"f{number:03d}b", good(number))):
                sha256, evidence = workspace.files.add(pdf), Evidence(None, None, "invented", None)
                workspace.raw.state.add_file(StoredFile(forum_id, "/pdf", VENUE, forum_id, sha256, len(pdf), None))
                replacement.add(
                    PaperVersion(forum_id, VENUE, forum_id, NOON, NOON, "/pdf/x", sha256, True, Grade.EXACT, evidence)
                )
                names[sha256] = name if pdf is hostile else f"good {number}"
    return names


def run_stage(
    folder: Path,
    stage: Stage[Workspace],
    row_type: type[PaperText] | type[Inspection],
    pdfs: Mapping[str, bytes],
    timeout_s: float,
) -> Run:
    """Run one stage over hostile files and good ones."""
    run = Run()
    with open_workspace(folder, create=True) as workspace:
        names = hold(workspace, pdfs)
        with watched(run):
            stage.run(workspace, VENUE, BuildRequest(pdf_timeout_s=timeout_s, workers=2), KEY, no_report)
        (balance,) = stage.balance(workspace, VENUE)
        assert balance.holds
        assert balance.rows_in == 2 * len(pdfs)
        for row in workspace.tables.read(row_type, VENUE):
            run.kept[names[row.sha256]] = row
        aside = Counter(names[row.record_id] for row in workspace.tables.read(SetAside, VENUE))
        assert set(aside.values()) <= {1}
        run.left = {names[row.record_id]: row for row in workspace.tables.read(SetAside, VENUE)}
    run.good = sum(f"good {number}" in run.kept for number in range(len(pdfs)))
    return run


@pytest.mark.slow
def test_each_cause_is_set_aside(tmp_path: Path) -> None:
    pdfs = {name: HOSTILE_PDFS[name]() for name in ONE_OF_EACH_CAUSE}
    run = run_stage(tmp_path / "corpus", convert.stage(LocalExecutor(MEMORY_BYTES)), PaperText, pdfs, 60)
    assert {name: row.reason for name, row in run.left.items()} == ONE_OF_EACH_CAUSE
    assert {row.stage for row in run.left.values()} == {"read_texts"}
    assert run.good == 5


@pytest.mark.slow
@pytest.mark.fault("input", "a PDF that takes too long", "it is set aside, and the next one is read", lost="its text")
def test_a_slow_file_is_stopped(tmp_path: Path) -> None:
    endless = by_hand([lines(*["words of a page"] * 40)] * 10_000)
    run = run_stage(tmp_path / "corpus", convert.stage(LocalExecutor()), PaperText, {"endless": endless}, 4)
    assert run.left["endless"].reason is Reason.PDF_TIMEOUT
    assert run.good == 1


@pytest.fixture(scope="module")
def pdfs() -> dict[str, bytes]:
    return {name: make() for name, make in HOSTILE_PDFS.items()}


@pytest.fixture(scope="module")
def texts(pdfs: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Run:
    stage = convert.stage(LocalExecutor(MEMORY_BYTES))
    return run_stage(tmp_path_factory.mktemp("texts"), stage, PaperText, pdfs, 30)


@pytest.fixture(scope="module")
def inspections(pdfs: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Run:
    stage = inspect.stage(LocalExecutor(MEMORY_BYTES))
    return run_stage(tmp_path_factory.mktemp("inspections"), stage, Inspection, pdfs, 30)


@pytest.mark.fault(
    "input",
    "PDFs that are cut off, encrypted, endless, circular or no PDF",
    "each is read, or set aside with its cause",
    times=94,
    lost="what cannot be read",
)
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in HOSTILE_PDFS if name not in NOT_YET])
def test_a_hostile_file_has_a_cause(name: str, texts: Run) -> None:
    if name in EXPECTED:
        assert name not in texts.kept
        row = texts.left[name]
        assert (row.reason, row.stage) == (EXPECTED[name], "read_texts")
        assert row.detail.endswith(".")
        assert "\n" not in row.detail
    else:
        text = texts.kept[name]
        assert isinstance(text, PaperText)
        assert name not in texts.left
        assert SAYS.get(name, WORDS) in text.markdown.replace("\n", " ")
        if name in WITH_PROBLEMS:
            assert text.problems == WITH_PROBLEMS[name]
        elif not name.startswith("fuzzed"):
            assert text.problems == ()


@pytest.mark.fault(
    "input",
    "the same PDFs, where versions are looked into",
    "each is read, or set aside with its cause",
    times=96,
    lost="what cannot be read",
)
@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE_PDFS)
def test_a_hostile_file_is_inspected_or_not(name: str, inspections: Run) -> None:
    reason = EXPECTED.get(name)
    row = inspections.left.get(name)
    assert (row is None) == (name in inspections.kept)
    if row is None:
        # A file is inspected if it opens; whether it contains text does not matter here.
        assert reason in {None, Reason.PDF_WITHOUT_TEXT, Reason.PDF_DAMAGED}
    else:
        assert (row.reason, row.stage) == (reason, "inspect_files")


@pytest.mark.slow
def test_memory_and_time_stay_bounded(texts: Run, inspections: Run) -> None:
    for run in (texts, inspections):
        # A worker may address three times the memory it may use.
        assert 0 < run.most_bytes < 3 * MEMORY_BYTES
        assert run.seconds < 120


@pytest.mark.slow
@pytest.mark.slow
def test_default_limits_allow_long_books(tmp_path: Path) -> None:
    bomb = with_content(deflated(PAGE, 4_096 * MEGABYTE))
    pdfs = {"paper": drawn(PAGE), "book": HOSTILE_PDFS["1,000 pages"](), "bomb": bomb}
    run = run_stage(tmp_path / "corpus", convert.stage(LocalExecutor()), PaperText, pdfs, 60)
    assert {"paper", "book"} <= set(run.kept)
    assert {name: row.reason for name, row in run.left.items()} == {"bomb": Reason.PDF_OUT_OF_MEMORY}

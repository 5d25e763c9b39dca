"""The stage that compares versions picks the right two; every paper has changes or a reason, in parallel or not."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from test_version_diff import CHANGED, PAPER, after

from in_this_process import InThisProcess
from peercorpus.execution.executor import Executor, Failure, FailureKind
from peercorpus.execution.local_processes import LocalExecutor
from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import no_report
from peercorpus.links import compare_versions as stage
from peercorpus.records.documents import Change, PaperText
from peercorpus.records.enums import Grade, Reason, VersionMoment
from peercorpus.records.papers import Evidence, PaperVersion, SetAside
from peercorpus.workspace.delta_tables import Tables
from peercorpus.workspace.workspace import open_workspace

VENUE, NOON = "Nephology.cc/2024/Conference", datetime(2024, 5, 1, 12, tzinfo=UTC)


def version(
    forum_id: str, sha256: str | None, grade: Grade | None = None, moment: VersionMoment | None = None
) -> PaperVersion:
    return PaperVersion(
        forum_id=forum_id,
        venue_id=VENUE,
        edit_id=f"edit-{sha256}",
        created_at=NOON,
        modified_at=NOON,
        path=f"/pdf/{sha256}.pdf",
        sha256=sha256,
        is_initial=grade is not None,
        grade=grade,
        evidence=Evidence(NOON, "the call", "invented", None),
        moment=moment,
    )


def text(sha256: str, markdown: str, engine: str = "pdfium-text") -> PaperText:
    return PaperText(sha256, VENUE, engine, "1", markdown, 1, 1.0, ())


@contextmanager
def compared(folder: Path, records: Sequence[object], spread: Executor | None = None) -> Iterator[Tables]:
    """A workspace with these versions and texts, its versions compared."""
    with open_workspace(folder, create=True) as workspace:
        names = ("4-versions", "5-texts")
        with workspace.tables.replacing(names, VENUE, "invent", "a" * 64) as out:
            for record in records:
                out.add(record)
        stage.compare_versions(spread or InThisProcess(), workspace, VENUE, BuildRequest(), "b" * 64, no_report)
        assert [one for one in stage.balance(workspace, VENUE) if not one.holds] == []
        yield workspace.tables


LATER = after(("17 clouds", "19 clouds"))


EARLY, FIRST, SECOND = version("f1", "early"), version("f1", "a", Grade.EXACT), version("f1", "b")
TWO_TEXTS = [text("a", PAPER), text("b", LATER)]


@pytest.mark.parametrize(
    ("moments", "chosen"),
    [
        ((None, None), "c"),
        ((VersionMoment.CAMERA_READY, VersionMoment.CURRENT), "b"),
        ((VersionMoment.DISCUSSION, VersionMoment.BEFORE_DEADLINE), "b"),
    ],
    ids=["the last", "the camera-ready one", "none from before the deadline"],
)
def test_the_reviewed_text_is_compared_with_a_later(
    tmp_path: Path, moments: tuple[VersionMoment | None, VersionMoment | None], chosen: str
) -> None:
    later = [version("f1", name, None, moment) for name, moment in zip("bc", moments, strict=True)]
    records = [EARLY, FIRST, *later, text("early", "Other."), *TWO_TEXTS, text("c", LATER)]
    with compared(tmp_path / "corpus", records) as tables:
        (row,) = tables.read(Change, VENUE)
    assert (row.forum_id, row.left_sha256, row.right_sha256, row.kind) == ("f1", "a", chosen, CHANGED)
    assert (row.number, row.changes) == (1, 1)
    assert (row.section, row.before) == ("3 Results", "The towns have 17 clouds.")


def many() -> list[object]:
    """Ten papers with two texts; those of the third are the same, those of the fifth come from two engines."""
    records: list[object] = []
    for number in range(10):
        forum_id, left, right = (f"{letter}{number}" for letter in "fab")
        later = PAPER if number == 2 else after(("17 clouds", f"{number} clouds"), ("above three", "over ten"))
        records += [version(forum_id, left, Grade.EXACT), version(forum_id, right)]
        records += [text(left, PAPER), text(right, later, "re2" if number == 4 else "pdfium-text")]
    return records


@pytest.mark.slow
def test_distributing_papers_changes_no_rows(tmp_path: Path) -> None:
    with compared(tmp_path / "one", many()) as tables:
        expected = [*tables.read(Change, VENUE)], [*tables.read(SetAside, VENUE)]
    with compared(tmp_path / "other", many(), LocalExecutor()) as tables:
        assert ([*tables.read(Change, VENUE)], [*tables.read(SetAside, VENUE)]) == expected
    changed, asides = expected
    forums = [row.forum_id for row in changed]
    assert forums == sorted(forums)
    assert len({*forums}) == 8
    assert [(one.forum_id, one.reason) for one in asides] == [
        ("f2", Reason.TEXT_UNCHANGED),
        ("f4", Reason.ENGINES_DIFFER),
    ]


@pytest.mark.parametrize("kind", FailureKind)
def test_a_failed_comparison_is_set_aside(tmp_path: Path, kind: FailureKind) -> None:
    with compared(tmp_path / "corpus", many(), InThisProcess(failures=(Failure(kind, "It was so."),))) as tables:
        first = next(tables.read(SetAside, VENUE))
        assert (first.record_id, first.reason, first.detail) == ("f0", Reason.NOT_COMPARED, "It was so.")
        assert {row.forum_id for row in tables.read(Change, VENUE)} == {
            f"f{number}" for number in (1, 3, 5, 6, 7, 8, 9)
        }
    assert stage.stage(InThisProcess()).passing == {Reason.NOT_COMPARED}


@pytest.mark.parametrize(
    "versions",
    [
        [version("f1", "a", Grade.EXACT)],
        [version("f1", "a", Grade.BEFORE_FIRST_REVIEW), version("f1", "b")],
        [version("f1", "b"), version("f1", "a", Grade.EXACT)],
        [version("f1", "a", Grade.EXACT), version("f1", "no text")],
        [version("f1", "no text", Grade.EXACT), version("f1", "b")],
        [version("f1", "a", Grade.EXACT), version("f1", None)],
        [version("f1", "a", Grade.EXACT), version("f1", "a")],
        [],
    ],
    ids=["one version", "not proven", "only an earlier one", "later unread", "first unread", "no file", "same", "none"],
)
def test_a_paper_needs_two_texts(tmp_path: Path, versions: list[PaperVersion]) -> None:
    with compared(tmp_path / "corpus", [*versions, *TWO_TEXTS]) as tables:
        assert tables.count("7-changes", VENUE) == 0
        assert tables.set_aside_counts(VENUE, stage.NAME) == {}

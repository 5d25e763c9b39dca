"""A report's cached counts of a venue's texts: the numbers equal those of one made from scratch."""

import json
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from invented_tables import ICLR, ICML, TABLES_BUILT, a_forum, two_conferences, what_follows
from peercorpus.execution.local_processes import LocalExecutor
from peercorpus.report import venue_counts
from peercorpus.report.source import TextKind
from peercorpus.report.write_report import open_source
from peercorpus.workspace.workspace import Workspace, open_workspace

pytestmark = pytest.mark.slow

keys = (f"{number:015x}{0:049x}" for number in count(1))


def numbers(folder: Path) -> str:
    """Return all counts of a workspace's texts, in order."""
    with open_source(folder) as source:
        frames = [source.review_tokens, source.paper_tokens]
        marked = [frame for kind in TextKind for frame in source.marked(kind)]
        return json.dumps([frame.write_json() for frame in (*frames, *marked)])


def numbers_anew(folder: Path) -> str:
    kept, aside = folder / "report", folder / "aside"
    kept.rename(aside)
    found = numbers(folder)
    for path in kept.iterdir():
        path.unlink()
    kept.rmdir()
    aside.rename(kept)
    return found


def put(workspace: Workspace, venue_id: str, records: list[object]) -> None:
    with workspace.tables.replacing(TABLES_BUILT, venue_id, "invent", next(keys)) as replacement:
        for record in records:
            replacement.add(record)


def kept(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_ino for path in (folder / "report").iterdir()}


def test_changed_numbers_equal_new_ones(tmp_path: Path) -> None:
    folder = two_conferences(tmp_path / "corpus")
    first = numbers(folder)
    assert numbers(folder) == first == numbers_anew(folder)
    with open_workspace(folder) as workspace:
        put(workspace, ICML, [*a_forum("m0", ICML), *what_follows("m0", ICML), *a_forum("m1", ICML, "# Two words")])
    second = numbers(folder)
    assert second != first
    assert second == numbers_anew(folder)
    for listed in ("f3\n", "f3\nf4-answer\n", "f4-R1\nm0-meta\n", ""):
        (folder / "takedown.txt").write_text(listed)
        assert numbers(folder) == numbers_anew(folder)
    with open_workspace(folder) as workspace:
        put(workspace, ICLR, [])
    assert numbers(folder) == numbers_anew(folder)


def test_only_the_changed_venue_is_counted_again(tmp_path: Path) -> None:
    folder = two_conferences(tmp_path / "corpus")
    numbers(folder)
    before = kept(folder)
    (folder / "takedown.txt").write_text("f3\n")
    numbers(folder)
    after = kept(folder)
    assert len(before) == len(after) == 2
    assert len(before.items() & after.items()) == 1
    assert not any(b"f3-R1" in path.read_bytes() for path in (folder / "report").iterdir())


def test_several_processes_count_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(venue_counts, "_FEW_BYTES", 0)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    folder = two_conferences(tmp_path / "corpus")
    with open_source(folder, by_venue=LocalExecutor()) as source:
        by_several = (source.review_tokens, source.paper_tokens)
    names = kept(folder)
    for path in (folder / "report").iterdir():
        path.unlink()
    with open_source(folder) as source:
        assert source.review_tokens.equals(by_several[0])
        assert source.paper_tokens.equals(by_several[1])
    assert names.keys() == kept(folder).keys()


def test_a_read_only_workspace_can_be_counted(tmp_path: Path) -> None:
    folder = two_conferences(tmp_path / "corpus")
    (folder / "report").write_text("in the way")
    with open_source(folder) as source:
        assert source.review_tokens.height == 18


@pytest.mark.parametrize(
    "spoil", [lambda held: held[:0], lambda held: held[:-1], lambda held: held[:40] + b"\x00" + held[41:]]
)
def test_damaged_counts_are_counted_again(tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
    folder = two_conferences(tmp_path / "corpus")
    before = numbers(folder)
    for path in (folder / "report").iterdir():
        path.write_bytes(spoil(path.read_bytes()))
    assert numbers(folder) == before


def test_a_taken_down_review_is_counted_nowhere(tmp_path: Path) -> None:
    folder = two_conferences(tmp_path / "corpus")
    with open_workspace(folder) as workspace:
        put(workspace, ICML, [*a_forum("m0", ICML), *a_forum("f3", ICML)])
    numbers(folder)
    (folder / "takedown.txt").write_text("f3\n")
    assert numbers(folder) == numbers_anew(folder)
    assert not any(b"f3-R1" in path.read_bytes() for path in (folder / "report").iterdir())

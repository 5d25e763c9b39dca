"""A partition of a table has its old rows or its new ones, whatever happens while it is written."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake

from peercorpus.api.corpus import Corpus
from peercorpus.errors import TableError
from peercorpus.records.documents import PaperText
from peercorpus.records.enums import Reason, Status
from peercorpus.records.papers import Paper, SetAside
from peercorpus.records.reviews import Turn
from peercorpus.workspace import delta_tables
from peercorpus.workspace.delta_tables import Replacement, Tables
from peercorpus.workspace.parquet import BATCH_ROWS
from peercorpus.workspace.table_reader import TABLES
from peercorpus.workspace.table_state import PartitionChange

KEYS = [f"{digit}" * 64 for digit in "1234"]
V, W = "Aurora.cc/2020/Conference", "Borealis.cc/2024/Conference"
NAMES = ("1-papers",)
STAGE = "normalise"
ODD = [
    "A venue with spaces",
    "it's",
    'the "best" venue',
    "A.cc/2024/Conference",
    "Universität Köln / 会议 🎓",
    "..",
    "../../outside",
    "100%2Fnot a slash%",
    "a=b&c?d#e",
    "back\\slash",
    "null",
]


def paper(number: int, venue_id: str = V, title: str = "old") -> Paper:
    forum_id = f"f{number:06}"
    texts = (None, None, None, Status.UNKNOWN, None, None, None, None, None, None)
    return Paper(forum_id, venue_id, "aurora", 2020, "main", number, title, None, (), (), *texts, "{}")


def text(number: int, venue_id: str = V) -> PaperText:
    return PaperText(f"{number:064x}", venue_id, "pdfium-text", "1", f"# {number}", 1, 3.0, ())


def write(tables: Tables, papers: Sequence[Paper], venue_id: str = V, key: str = KEYS[0]) -> None:
    with tables.replacing(NAMES, venue_id, STAGE, key) as out:
        for one in papers:
            out.add(one)


def titles(tables: Tables, venue_id: str = V) -> set[str | None]:
    return {one.title for one in tables.read(Paper, venue_id)}


def finished(tables: Tables, key: str, venue_id: str = V) -> list[bool]:
    return [tables.is_finished(name, venue_id, STAGE, key) for name in ("set-aside", *NAMES)]


def folder_of(tables: Tables) -> Path:
    assert isinstance(tables.folder, Path)
    return tables.folder


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    return Tables(tmp_path / "tables", tmp_path)


def test_replacing_leaves_other_venues(tables: Tables) -> None:
    write(tables, [paper(1), paper(2)])
    write(tables, [paper(3, W)], W, KEYS[1])
    write(tables, [paper(4, title="new")], key=KEYS[2])
    assert list(tables.read(Paper, V)) == [paper(4, title="new")]
    assert list(tables.read(Paper, W)) == [paper(3, W)]
    assert tables.venues("1-papers") == [V, W]
    assert finished(tables, KEYS[2]) == [True, True]
    assert finished(tables, KEYS[1], W) == [True, True]


def test_replacing_keeps_other_stages_rows(tables: Tables) -> None:
    for stage, note_id in (("first", "a"), ("second", "b"), ("first", "c")):
        with tables.replacing((), V, stage, KEYS[0]) as out:
            out.set_aside(note_id, None, Reason.NO_FORUM, "It names none.")
    assert sorted((row.stage, row.record_id) for row in tables.read(SetAside, V)) == [("first", "c"), ("second", "b")]


def test_rows_aside_come_by_stage(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    named = DeltaTable.partitions
    stages = [f"stage {letter}" for letter in "dbeca"]
    for stage in stages:
        with tables.replacing((), V, stage, KEYS[0]) as out:
            out.set_aside(f"n{stage}", "f1", Reason.NO_FORUM, "It names none.")
    read = []
    for sign in (1, -1):
        # Delta Lake names partitions in another order in every process.
        monkeypatch.setattr(DeltaTable, "partitions", lambda *asked, sign=sign, **more: named(*asked, **more)[::sign])
        read.append([row.stage for row in tables.read(SetAside, V)])
        read.append([row.stage for row in tables.of_forum(SetAside, V, "f1")])
    assert read == [sorted(stages)] * 4


@pytest.mark.parametrize("rows", [1, BATCH_ROWS + 1], ids=["before a row group is full", "after one is written"])
def test_failed_write_leaves_old_rows(tables: Tables, rows: int) -> None:
    write(tables, [paper(1)])
    before = sorted(folder_of(tables).rglob("*"))

    def fail(out: Replacement) -> None:
        for number in range(rows):
            out.add(paper(number, title="new"))
            out.set_aside(f"n{number}", None, Reason.NO_FORUM, "")
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"), tables.replacing(NAMES, V, STAGE, KEYS[1]) as out:
        fail(out)
    assert list(tables.read(Paper, V)) == [paper(1)]
    assert tables.set_aside_counts(V, STAGE) == {}
    assert [path for path in sorted(folder_of(tables).rglob("*")) if path.is_file()] == [
        path for path in before if path.is_file()
    ]
    assert finished(tables, KEYS[0]) == [True, True]
    assert finished(tables, KEYS[1]) == [False, False]


class KilledAfterCommits(Tables):
    """Tables whose process is killed after a number of commits."""

    commits_left = 0

    def apply(self, change: PartitionChange) -> None:
        super().apply(change)
        self.commits_left -= 1
        if self.commits_left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def run_until_killed(die: Callable[..., None], *arguments: object) -> None:
    """Run code that kills its own process in a separate one."""
    process = multiprocessing.get_context("spawn").Process(target=die, args=arguments)
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL


def die_after_rows(folder: Path, rows: int) -> None:
    with Tables(folder, folder).replacing(NAMES, V, STAGE, KEYS[1]) as out:
        for number in range(rows):
            out.add(paper(number, title="new"))
            out.set_aside(f"n{number}", None, Reason.NO_FORUM, "")
        os.kill(os.getpid(), signal.SIGKILL)


def die_after_commits(folder: Path, commits: int) -> None:
    tables = KilledAfterCommits(folder, folder)
    tables.commits_left = commits
    write(tables, [paper(number, title="new") for number in range(3)], key=KEYS[1])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("die", "at", "expected"),
    [
        (die_after_rows, 2 * BATCH_ROWS + 1, "old"),
        (die_after_commits, 1, "old"),
        (die_after_commits, 2, "new"),
    ],
    ids=["in the middle of the rows", "between two commits", "after the last commit"],
)
def test_kill_leaves_old_or_new_rows(tables: Tables, die: Callable[[Path, int], None], at: int, expected: str) -> None:
    write(tables, [paper(number) for number in range(5)])
    run_until_killed(die, folder_of(tables), at)
    assert titles(tables) == {expected}
    assert tables.count("1-papers", V) == (5 if expected == "old" else 3)
    assert all(finished(tables, KEYS[1])) is (expected == "new")
    write(tables, [paper(7, title="next")], key=KEYS[2])
    assert list(tables.read(Paper, V)) == [paper(7, title="next")]


def rewrite_for_ever(folder: Path) -> None:
    tables = Tables(folder, folder)
    for generation in range(10_000):
        rows = [paper(number, title=str(generation)) for number in range(BATCH_ROWS + 200)]
        write(tables, rows, key=f"{generation:015x}" + "0" * 49)


@pytest.mark.slow
@pytest.mark.parametrize("commits", [1, 4])
def test_kill_leaves_one_whole_generation(tables: Tables, commits: int) -> None:
    process = multiprocessing.get_context("spawn").Process(target=rewrite_for_ever, args=(folder_of(tables),))
    process.start()
    log = folder_of(tables) / "1-papers" / "_delta_log"
    while process.is_alive() and len(list(log.glob("*.json"))) <= commits:
        process.join(0.003)
    process.kill()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    (generation,) = titles(tables)
    assert tables.count("1-papers", V) == 1_200
    assert tables.is_finished("1-papers", V, STAGE, f"{int(generation or ''):015x}" + "0" * 49)


def test_last_commit_decides_what_is_finished(tables: Tables) -> None:
    assert finished(tables, KEYS[0]) == [False, False]
    write(tables, [paper(1)])
    assert finished(tables, KEYS[0]) == [True, True]
    assert finished(tables, KEYS[1]) == [False, False]
    assert finished(tables, KEYS[0], W) == [False, False]
    assert not tables.is_finished("set-aside", V, "another stage", KEYS[0])
    first = tables.digest("1-papers", V)
    write(tables, [paper(1)], key=KEYS[1])
    assert finished(tables, KEYS[0]) == [False, False]
    assert finished(tables, KEYS[1]) == [True, True]
    assert tables.digest("1-papers", V) != first


def test_appended_rows_finish_nothing(tables: Tables) -> None:
    tables.append("5-texts", V, "read_texts", [text(1), text(2)])
    tables.append("5-texts", V, "read_texts", [text(3)])
    assert not tables.is_finished("5-texts", V, "read_texts", KEYS[0])
    tables.finish("5-texts", V, "read_texts", KEYS[0])
    assert tables.is_finished("5-texts", V, "read_texts", KEYS[0])
    assert sorted(tables.read(PaperText, V), key=lambda one: one.sha256) == [text(1), text(2), text(3)]
    tables.append("5-texts", W, "read_texts", [text(4, W)])
    assert tables.is_finished("5-texts", V, "read_texts", KEYS[0])
    assert tables.count("5-texts", V) == 3


def test_equal_rows_have_equal_content(tables: Tables, tmp_path: Path) -> None:
    others = Tables(tmp_path / "others", tmp_path)
    tables.append("5-texts", V, "read_texts", [text(1), text(2)])
    tables.append("5-texts", V, "read_texts", [text(3)])
    tables.finish("5-texts", V, "read_texts", KEYS[0])
    with others.replacing(("5-texts",), V, "read_texts", KEYS[1]) as out:
        for number in (3, 1, 2):
            out.add(text(number))
    assert others.content("5-texts", V) == tables.content("5-texts", V)
    others.append("5-texts", W, "read_texts", [text(1, W)])
    assert others.content("5-texts", V) == tables.content("5-texts", V)
    assert others.content("5-texts", W) not in {others.content("5-texts", V), others.content("5-texts", None)}
    others.empty("5-texts", W)
    assert others.content("5-texts", None) == tables.content("5-texts", None)


def test_content_changes_with_values_and_duplicates(tables: Tables) -> None:
    contents = [tables.content("1-papers", V)]
    for papers in ([], [paper(1)], [paper(1), paper(1)], [paper(1), paper(1, title="new")], [paper(1)]):
        write(tables, papers)
        contents.append(tables.content("1-papers", V))
    assert contents[:2] == ["0" * 15] * 2
    assert len(set(contents[1:5])) == 4
    assert contents[5] == contents[2]


def test_content_includes_rows_set_aside(tables: Tables) -> None:
    contents = set()
    for stage, note_id in (("first", "a"), ("second", "b"), ("first", "c")):
        with tables.replacing((), V, stage, KEYS[0]) as out:
            out.set_aside(note_id, None, Reason.NO_FORUM, "It names none.")
        contents.add(tables.content("set-aside", V))
    assert len(contents) == 3


def test_content_of_earlier_versions_is_read(tables: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tables, [paper(1), paper(2, title="new")])
    tables.append("5-texts", V, "read_texts", [text(1), text(2)])
    earlier = Tables(tmp_path / "earlier", tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("peercorpus.workspace.delta_tables.content_of", lambda _: "something else")
        write(earlier, [paper(1), paper(2, title="new")])
        earlier.append("5-texts", V, "read_texts", [text(1)])
    earlier.append("5-texts", V, "read_texts", [text(2)])
    for name in ("1-papers", "5-texts", "6-conversations"):
        assert earlier.content(name, V) == tables.content(name, V)


def test_partition_may_finish_without_rows(tables: Tables) -> None:
    write(tables, [paper(1)])
    write(tables, [], key=KEYS[1])
    assert finished(tables, KEYS[1]) == [True, True]
    assert list(tables.read(Paper, V)) == []
    assert tables.count("1-papers", V) == 0
    assert tables.venues("1-papers") == []
    assert list(tables.batches("1-papers", V)) == []
    assert pl.scan_delta(str(tables.require("1-papers"))).collect().columns == list(Paper.__dataclass_fields__)


def test_missing_tables_are_empty(tables: Tables) -> None:
    assert list(tables.read(Paper, V)) == []
    assert (tables.count("1-papers", V), tables.venues("1-papers"), tables.paths("1-papers", V)) == (0, [], [])
    assert tables.set_aside_counts(V, STAGE) == {}
    with pytest.raises(TableError, match=r"'1-papers'"):
        tables.require("1-papers")
    with pytest.raises(TableError, match="'Turn'"):
        tables.name_of(Turn)


@pytest.mark.parametrize("venue_id", ODD)
def test_any_venue_id_names_a_partition(tables: Tables, venue_id: str) -> None:
    rows = [paper(1, venue_id), paper(2, venue_id)]
    with tables.replacing(NAMES, venue_id, STAGE, KEYS[0]) as out:
        for row in rows:
            out.add(row)
        out.set_aside("n1", "f1", Reason.DELETED, "")
    write(tables, [paper(3)], V)
    assert list(tables.read(Paper, venue_id)) == rows
    assert list(tables.read(Paper, V)) == [paper(3)]
    assert tables.set_aside_counts(venue_id, STAGE) == {Reason.DELETED: 1}
    assert tables.venues("1-papers") == sorted([V, venue_id])
    assert finished(tables, KEYS[0], venue_id) == [True, True]
    scanned = pl.scan_delta(str(tables.require("1-papers"))).filter(pl.col("venue_id") == venue_id)
    assert scanned.select("number").collect()["number"].to_list() == [1, 2]
    inside = folder_of(tables).resolve()
    paths = [Path(str(path)) for path in tables.paths("1-papers", venue_id)]
    assert all(path.resolve().is_relative_to(inside) for path in paths)
    assert [path.name for path in folder_of(tables).parent.iterdir()] == ["tables"]
    write(tables, [], venue_id, KEYS[1])
    assert tables.venues("1-papers") == [V]


def test_rows_aside_are_counted_by_reason(tables: Tables) -> None:
    with tables.replacing(NAMES, V, STAGE, KEYS[0]) as out:
        for number in range(BATCH_ROWS + 1):
            out.set_aside(f"n{number}", None, Reason.UNREADABLE, "broken")
        out.set_aside("last", "f1", Reason.DELETED, "gone")
    with tables.replacing((), V, "another", KEYS[0]) as out:
        out.set_aside("other", "f1", Reason.DELETED, "gone")
    assert tables.set_aside_counts(V, STAGE) == {Reason.DELETED: 1, Reason.UNREADABLE: 1_001}
    assert tables.set_aside_counts(V, "another") == {Reason.DELETED: 1}
    assert tables.set_aside_counts(W, STAGE) == {}


@pytest.mark.parametrize("rows", [BATCH_ROWS - 1, BATCH_ROWS, BATCH_ROWS + 1, 3 * BATCH_ROWS + 7])
def test_rows_keep_their_order(tables: Tables, rows: int) -> None:
    # An order that sorting would change.
    numbers = [number * 7919 % rows for number in range(rows)]
    write(tables, [paper(number) for number in numbers])
    assert [one.number for one in tables.read(Paper, V)] == numbers
    (path,) = tables.paths("1-papers", V)
    assert pq.read_metadata(path).num_row_groups == -(-rows // 1_000)
    assert tables.count("1-papers", V) == rows


def by_polars(table: Path) -> list[tuple[str, int]]:
    return [(row["venue_id"], row["number"]) for row in pl.scan_delta(str(table)).collect().to_dicts()]


def by_pandas(table: Path) -> list[tuple[str, int]]:
    frame = DeltaTable(str(table)).to_pandas()
    return list(zip(frame["venue_id"], frame["number"], strict=True))


def by_duckdb(table: Path) -> list[tuple[str, int]]:
    dataset = DeltaTable(str(table)).to_pyarrow_dataset()
    with duckdb.connect() as connection:
        connection.register("papers", dataset)
        found = connection.sql("FROM papers SELECT venue_id, number").fetchall()
    return [(venue_id, number) for venue_id, number in found]


@pytest.mark.parametrize("folder", ["My corpus", "Bücher 会议", "a#b?c", "[1]*", "s3:"])
def test_workspace_may_be_in_any_folder(tmp_path: Path, folder: str) -> None:
    tables = Tables(tmp_path / folder / "tables", tmp_path)
    write(tables, [paper(1)])
    write(tables, [paper(2)], key=KEYS[1])
    assert list(tables.read(Paper, V)) == [paper(2)]
    assert [path.is_file() for path in tables.paths("1-papers", V)] == [True]
    assert finished(tables, KEYS[1]) == [True, True]
    assert [path.name for path in tmp_path.iterdir()] == [folder]
    corpus = Corpus(tmp_path / folder, tables)
    assert corpus.papers().select("venue_id", "number").collect().rows() == [(V, 2)]


@pytest.mark.parametrize("read", [by_polars, by_pandas, by_duckdb])
def test_other_tools_can_read_the_tables(tables: Tables, read: Callable[[Path], list[tuple[str, int]]]) -> None:
    write(tables, [paper(9), paper(1)])
    write(tables, [paper(2), paper(3)], key=KEYS[1])
    write(tables, [paper(4, W)], W)
    assert sorted(read(folder_of(tables) / "1-papers")) == [(V, 2), (V, 3), (W, 4)]


def test_every_version_stays_readable(tables: Tables) -> None:
    for number, key in enumerate(KEYS):
        write(tables, [paper(number)], key=key)
    path = str(tables.require("1-papers"))
    newest = DeltaTable(path).version()
    read: Iterator[list[int]] = (
        pl.scan_delta(path, version=newest - back).collect()["number"].to_list() for back in range(len(KEYS))
    )
    assert list(read) == [[3], [2], [1], [0]]
    assert [commit["content_key"] for commit in DeltaTable(path).history(len(KEYS))] == KEYS[::-1]


@pytest.mark.slow
def test_many_small_commits_lose_no_row(tables: Tables) -> None:
    """Delta Lake writes a checkpoint every hundred commits or so; keys and rows must outlive it."""
    tables.append("5-texts", V, "read_texts", [text(0)])
    tables.finish("5-texts", V, "read_texts", KEYS[0])
    for number in range(1, 110):
        tables.append("5-texts", W, "read_texts", [text(number, W)])
    assert list((folder_of(tables) / "5-texts" / "_delta_log").glob("*.checkpoint*.parquet")) != []
    assert tables.is_finished("5-texts", V, "read_texts", KEYS[0])
    assert tables.count("5-texts", W) == 109
    assert list(tables.read(PaperText, V)) == [text(0)]


@pytest.mark.slow
def test_other_commits_are_seen_at_once(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[DeltaTable] = []
    update = DeltaTable.update_incremental

    def note(table: DeltaTable) -> None:
        looked.append(table)
        update(table)

    monkeypatch.setattr(DeltaTable, "update_incremental", note)
    other = Tables(tables.folder, tables.scratch)
    for number in range(20):
        write(other, [paper(1, title=f"title {number}")], key=KEYS[number % 4])
        assert titles(tables) == {f"title {number}"}
        assert finished(tables, KEYS[number % 4]) == [True, True]
        assert finished(tables, KEYS[number % 4 - 1]) == [False, False]
    assert titles(tables) == {"title 19"}
    looked.clear()
    assert titles(tables) == {"title 19"}
    assert looked == []


def test_unread_field_has_the_given_default(tables: Tables) -> None:
    write(tables, [paper(1)])
    assert [*tables.read(Paper, V, {"title": "not read"})] == [paper(1, title="not read")]


def test_every_record_has_its_table() -> None:
    assert [Tables.name_of(record_type) for record_type in TABLES.values()] == list(TABLES)


def test_table_with_other_columns_is_rebuilt(tables: Tables) -> None:
    old = folder_of(tables) / "1-papers"
    old.mkdir(parents=True)
    write_deltalake(str(old), pa.table({"venue_id": [V, W], "forum_id": ["a", "b"]}), partition_by=["venue_id"])
    assert (tables.venues("1-papers"), list(tables.read(Paper, V))) == ([], [])
    with pytest.raises(TableError, match=r"'1-papers'.*not been built"):
        tables.require("1-papers")
    write(tables, [paper(1)])
    assert titles(tables) == {"old"}
    assert len(list(old.rglob("*.parquet"))) == 1
    assert tables.venues("1-papers") == [V]


def write_together(tables: Tables) -> None:
    for number, venue_id in enumerate((V, W)):
        write(tables, [paper(number, venue_id, title="first")], venue_id, KEYS[0])
        write(tables, [paper(number, venue_id, title="new")], venue_id, KEYS[1])


def test_changes_together_are_one_commit(tables: Tables) -> None:
    write(tables, [paper(9, title="old")], key=KEYS[3])
    other = Tables(tables.folder, tables.scratch)
    with tables.together():
        write_together(tables)
        assert finished(tables, KEYS[1]) == finished(tables, KEYS[1], W) == [True, True]
        assert (titles(tables), titles(other)) == ({"new"}, {"old"})
        assert finished(other, KEYS[3]) == [True, True]
        assert other.venues("1-papers") == [V]
    assert (titles(tables), titles(other), titles(other, W)) == ({"new"}, {"new"}, {"new"})
    assert finished(other, KEYS[1]) == finished(other, KEYS[1], W) == [True, True]
    assert [other.content("1-papers", venue_id) for venue_id in (V, W)] == [
        tables.content("1-papers", venue_id) for venue_id in (V, W)
    ]
    table = DeltaTable(str(tables.folder / "1-papers"))
    assert table.version() == 1
    made_from = {"normalise": {V: KEYS[1], W: KEYS[1]}}
    assert table.history(1)[0]["made_from"] == made_from
    # What was replaced before it was committed is in no version of the table.
    assert len(list(folder_of(tables).glob("1-papers/*/*.parquet"))) == 3


def test_long_step_delays_no_commit(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    other = Tables(tables.folder, tables.scratch)
    with tables.together():
        write_together(tables)
        tables.commit_due()
        assert other.venues("1-papers") == []
        monkeypatch.setattr(delta_tables, "HOLD_S", 0.0)
        tables.commit_due()
        assert other.venues("1-papers") == [V, W]
        assert finished(other, KEYS[1]) == [True, True]


def interrupt(tables: Tables) -> None:
    with tables.together():
        write_together(tables)
        with tables.replacing(NAMES, V, STAGE, KEYS[2]) as out:
            out.add(paper(7))
            raise KeyboardInterrupt


@pytest.mark.fault("kill", "Ctrl-C while a build holds changes back", "what was finished is committed", lost="nothing")
def test_interrupt_commits_what_was_written(tables: Tables) -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupt(tables)
    for reader in (tables, Tables(tables.folder, tables.scratch)):
        assert (titles(reader), titles(reader, W)) == ({"new"}, {"new"})
        assert finished(reader, KEYS[1]) == [True, True]


def die_together(folder: Path, hold_s: float) -> None:
    delta_tables.HOLD_S = hold_s
    tables = Tables(folder, folder)
    with tables.together():
        write_together(tables)
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.fault("kill", "a build that holds changes back", "they are made again", times=2, lost="nothing")
@pytest.mark.parametrize(("hold_s", "expected"), [(600.0, "old"), (0.0, "new")])
def test_a_kill_loses_only_buffered_rows(tables: Tables, hold_s: float, expected: str) -> None:
    write(tables, [paper(number) for number in range(5)])
    run_until_killed(die_together, folder_of(tables), hold_s)
    assert titles(tables) == {expected}
    assert all(finished(tables, KEYS[0])) is (expected == "old")
    assert all(finished(tables, KEYS[1])) is all(finished(tables, KEYS[1], W)) is (expected == "new")


@pytest.mark.fault("disk", "the disk is full when changes of several venues are committed", "the table is as it was")
def test_failed_commit_leaves_the_table(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tables, [paper(1)])

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(DeltaTable, "create_write_transaction", fail)
        with pytest.raises(OSError, match="No space"), tables.together():
            write_together(tables)
    assert titles(tables) == {"old"}
    assert tables.venues("1-papers") == [V]
    assert finished(tables, KEYS[0]) == [True, True]
    write(tables, [paper(2, title="new")], key=KEYS[1])
    assert titles(tables) == {"new"}


@pytest.mark.slow
@pytest.mark.parametrize("hint", [True, False], ids=["with a hint at the checkpoint", "without"])
def test_table_without_first_commits_is_read(tables: Tables, hint: bool) -> None:
    write(tables, [paper(1)], key=KEYS[0])
    for number in range(2, 110):
        write(tables, [paper(number, W)], W, KEYS[number % 4])
    log = folder_of(tables) / "1-papers" / "_delta_log"
    for commit in sorted(log.glob("*.json"))[:90]:
        commit.unlink()
    if not hint:
        (log / "_last_checkpoint").unlink()
    fresh = Tables(tables.folder, tables.scratch)
    for reader in (fresh, tables):
        assert reader.is_finished("1-papers", V, STAGE, KEYS[0])
        assert reader.is_finished("1-papers", W, STAGE, KEYS[109 % 4])
        assert list(reader.read(Paper, W)) == [paper(109, W)]
    assert fresh._open("1-papers") is fresh._open("1-papers")

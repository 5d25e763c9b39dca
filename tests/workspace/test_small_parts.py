"""Small files of many venues that are read together give what each gives by itself, and hide no damage."""

from pathlib import Path

import pytest

from peercorpus.errors import DamagedError
from peercorpus.records.enums import Reason
from peercorpus.workspace import small_parts
from peercorpus.workspace.delta_tables import Tables
from peercorpus.workspace.small_parts import FEW_FILES, SmallParts

NAME = "set-aside"
COLUMNS = ["record_id", "reason", "forum_id", "detail"]
VENUES = [f"V{number}/it's [a] %2F?*.cc/20{number:02}" for number in range(FEW_FILES + 9)]
STAGES = ("normalise", "read texts")


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tables:
    """Many venues with some rows each; the third has a file that is not small."""
    monkeypatch.setattr(small_parts, "GROUP_BYTES", 20_000)
    made = Tables(tmp_path / "tables", tmp_path)
    with made.together():
        for number, venue_id in enumerate(VENUES):
            for stage in STAGES[: 1 + number % 2]:
                with made.replacing((), venue_id, stage, "1" * 64) as replacement:
                    for row in range(3_000 if number == 2 else 1 + number % 3):
                        forum_id = None if row % 2 else f"f{row}"
                        replacement.set_aside(f"{number}-{row}", forum_id, Reason.FILE_ALTERED, f"né {stage} {row}")
    monkeypatch.setattr(small_parts, "SMALL_BYTES", 5_000)
    return made


def read_all(tables: Tables) -> dict[str, list[object]]:
    return {
        venue_id: [
            list(tables.rows(NAME, venue_id, COLUMNS)),
            list(tables.rows(NAME, venue_id, ["detail"], STAGES[1])),
            tables.set_aside_counts(venue_id, STAGES[0]),
            tables.count(NAME, venue_id),
            tables.count("1-papers", venue_id),
        ]
        for venue_id in sorted(VENUES)
    }


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of files read together, each time; 0 where they were then read one by one."""
    numbers: list[int] = []
    load = SmallParts._load

    def count(self: SmallParts, name: str, table: small_parts._Table, columns: list[str]) -> bool:
        is_whole = load(self, name, table, columns)
        numbers.append(len(table.group) if is_whole else 0)
        return is_whole

    monkeypatch.setattr(SmallParts, "_load", count)
    return numbers


def test_venues_together_give_the_same_rows(tables: Tables, loads: list[int]) -> None:
    alone = read_all(tables)
    assert not loads
    with tables.reading_through():
        assert read_all(tables) == alone
    assert max(loads) > 1
    # Only the first files are read again, until the columns are known.
    later = loads[loads.index(max(loads)) :]
    assert sum(later) <= len(VENUES) * 2
    assert read_all(tables) == alone


def test_venues_may_come_in_any_order(tables: Tables) -> None:
    backwards = [list(tables.rows(NAME, venue_id, COLUMNS)) for venue_id in VENUES[::-1]]
    with tables.reading_through():
        assert [list(tables.rows(NAME, venue_id, COLUMNS)) for venue_id in VENUES[::-1]] == backwards


def test_few_files_are_read_singly(tables: Tables, loads: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_parts, "FEW_FILES", 2 * len(VENUES))
    with tables.reading_through():
        read_all(tables)
    assert not loads


@pytest.mark.fault("disk", "one of many small Parquet files is cut or gone", "one sentence names it", times=2)
@pytest.mark.parametrize("is_gone", [True, False], ids=["gone", "cut"])
def test_damaged_file_among_many_is_named(tables: Tables, is_gone: bool) -> None:
    (part,) = map(str, tables.paths(NAME, VENUES[4]))
    content = Path(part).read_bytes()
    Path(part).unlink() if is_gone else Path(part).write_bytes(content[:-30])
    with tables.reading_through(), pytest.raises(DamagedError) as raised:
        read_all(tables)
    assert part in str(raised.value)


def test_files_unlike_the_log_are_apart(tables: Tables, loads: list[int]) -> None:
    few, more = (Path(str(tables.paths(NAME, VENUES[number])[0])) for number in (3, 4))
    few.write_bytes(more.read_bytes())
    alone = read_all(tables)
    with tables.reading_through():
        assert read_all(tables) == alone
    assert loads.index(0) == len(loads) - 1

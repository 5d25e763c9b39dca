"""Rows of Parquet files whose cells unpack to more than fits in memory."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from peercorpus.importers import tables
from peercorpus.importers.reader import DamagedRow
from peercorpus.importers.tables import find_damage, read_parquet_rows


@pytest.fixture(autouse=True)
def limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read at most 1,000 bytes per row, 10,000 per row group, and a compression ratio of at most 5 beyond 2,000."""
    monkeypatch.setattr(tables, "MOST_BYTES", 1_000)
    monkeypatch.setattr(tables, "MOST_GROUP_BYTES", 10_000)
    monkeypatch.setattr(tables, "UNSUSPICIOUS_BYTES", 2_000)
    monkeypatch.setattr(tables, "MOST_PACKED", 5)
    monkeypatch.setattr(tables, "BATCH_BYTES", 500)


def write(path: Path, texts: Sequence[Any], **options: Any) -> Path:
    columns = {"forum_id": [f"kite{number}" for number in range(len(texts))], "markdown": texts}
    pq.write_table(pa.table(columns), path, compression="zstd", **options)
    return path


def noise(size: int) -> str:
    return os.urandom(size // 2).hex()


@pytest.mark.fault(
    "input",
    "a Parquet file of a few kB whose cells unpack to more than memory holds",
    "the file, the column and the rows are named",
)
def test_too_large_declared_sizes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", lambda *_, **__: pytest.fail("it was read"))
    large = write(tmp_path / "large.parquet", [noise(3_000), noise(3_000)])
    assert "rows 1 to 2: the column 'markdown' has" in str(find_damage(large))
    packed = write(tmp_path / "packed.parquet", [*["x"] * 9, "y" * 9_000])
    assert "rows 1 to 10:" in str(find_damage(packed))
    assert "the column 'markdown', unpack to" in str(find_damage(packed))
    group = write(tmp_path / "group.parquet", [noise(900) for _ in range(20)], use_dictionary=False)
    assert "rows 1 to 20: the row group has" in str(find_damage(group))


@pytest.mark.parametrize("use_dictionary", [True, False])
def test_a_large_cell_is_named(tmp_path: Path, use_dictionary: bool) -> None:
    path = write(
        tmp_path / "a.parquet", ["x", "y", "z", noise(1_600), "w"], row_group_size=4, use_dictionary=use_dictionary
    )
    assert find_damage(path) == "row 4: the column 'markdown' has a text of 1,600 bytes; at most 1,000 are read"


@pytest.mark.parametrize(
    "texts",
    [
        pa.array([b"x", noise(1_600).encode(), b"y", b"z"], pa.large_binary()),
        pa.array(["x", noise(1_600), "y", "z"]).dictionary_encode(),
        pa.array([["x"], [noise(400)] * 4, [], None]),
        pa.array([{"a": "x"}, {"a": noise(1_600)}, None, None]),
    ],
)
def test_a_value_of_any_type_is_measured(tmp_path: Path, texts: pa.Array) -> None:
    path = write(tmp_path / "a.parquet", texts)
    assert str(find_damage(path)).startswith("row 2: the column 'markdown' has a text of ")


def test_a_row_is_measured_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({name: ["x", noise(600)] for name in "ab"}), path)
    assert find_damage(path) == "row 2 has 1,200 bytes; at most 1,000 are read"


def test_shared_texts_are_not_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.parquet", ["y" * 900] * 60)
    sizes = list[int]()
    monkeypatch.setattr(tables, "_check_batch", lambda batch, _: sizes.append(batch.nbytes))
    assert [row["markdown"] for row in read_parquet_rows(path)] == ["y" * 900] * 60
    assert max(sizes) < 1_000


def test_columns_that_are_not_read_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"content.title": ["t"], "content.title2": [noise(3_000)]}), path)
    assert list(read_parquet_rows(path, ["content.title"])) == [{"content.title": "t"}]


def test_row_groups_follow_each_other(tmp_path: Path) -> None:
    texts = [noise(100) for _ in range(25)]
    path = write(tmp_path / "a.parquet", texts, row_group_size=7)
    assert [row["markdown"] for row in read_parquet_rows(path)] == texts
    empty = write(tmp_path / "b.parquet", pa.array([], pa.string()))
    assert list(read_parquet_rows(empty)) == []


def test_late_dates_are_kept_as_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    days = pa.array([0, 2**31 - 1], pa.date32())
    late = pa.array([0, 2**60], pa.timestamp("ms", tz="UTC"))
    pq.write_table(pa.table({"id": ["k1", "k2"], "day": days, "at": late}), path)
    first, second = read_parquet_rows(path)
    assert (first["id"], str(first["day"])) == ("k1", "1970-01-01")
    assert second == {"id": "k2", "day": 2**31 - 1, "at": 2**60}


def test_only_one_row_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": ["k1", "k2"], "text": pa.array([b"\xff", b"x"]).view(pa.string())}), path)
    damaged, sound = read_parquet_rows(path)
    assert isinstance(damaged, DamagedRow)
    assert damaged.name == "row 1, column 'text'"
    assert sound == {"id": "k2", "text": "x"}

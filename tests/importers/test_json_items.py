"""A JSON file is read item by item, whatever its items are and wherever the chunks end."""

import json
import tracemalloc
from collections.abc import Iterator
from io import BufferedIOBase, BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peercorpus.importers import json_items
from peercorpus.importers.json_items import TooLargeError, read_items, read_list
from peercorpus.importers.tables import find_damage, read_first_rows, read_rows

TEXTS = st.text(alphabet='a"\\[]{},: \n\u00e9', max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
INDENTS = st.sampled_from([None, 0, 2])


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_items, "CHUNK_BYTES", 3)


@pytest.mark.slow
@given(values=st.lists(VALUES, max_size=5), indent=INDENTS)
def test_a_list_gives_its_items(values: list[Any], indent: int | None) -> None:
    file = BytesIO(json.dumps(values, indent=indent).encode())
    assert [json.loads(item) for item in read_list(file)] == values


@pytest.mark.slow
@given(members=st.dictionaries(TEXTS, VALUES, max_size=5), indent=INDENTS)
def test_an_object_gives_its_members(members: dict[str, Any], indent: int | None) -> None:
    file = BytesIO(json.dumps(members, indent=indent).encode())
    assert {item.name: json.loads(item.content) for item in read_items(file)} == members


@pytest.mark.slow
@given(values=st.lists(VALUES, min_size=1, max_size=5), data=st.data())
def test_a_cut_list_gives_its_beginning(values: list[Any], data: st.DataObject) -> None:
    content = json.dumps(values).encode()
    read = read_list(BytesIO(content[: data.draw(st.integers(1, len(content) - 1))]))
    found: list[Any] = []
    with pytest.raises(ValueError, match="truncated"):
        found.extend(json.loads(item) for item in read)
    assert found == values[: len(found)]


@pytest.mark.parametrize("content", ['["%s"]', '[{"a": "%s"}]', '{"a": "%s"}', '{"a": {"b": ["%s"]}}', '["a", "%s'])
def test_too_large_an_item_is_refused(content: str) -> None:
    read = read_items(BytesIO((content % ("b" * 100)).encode()), 50)
    with pytest.raises(TooLargeError, match="larger than 50 bytes"):
        list(read)


def test_records_are_found_anywhere_in_a_wrapper() -> None:
    wrapper = {"count": 2, "venues": {"a": [{"id": 1}, {"id": 2}], "b": {"id": 3}}, "end": None}
    items = list(read_items(BytesIO(json.dumps(wrapper).encode()), 24))
    assert [(item.name, json.loads(item.content)) for item in items] == [
        *(("count", 2), (None, {"id": 1}), (None, {"id": 2}), ("b", {"id": 3}), ("end", None))
    ]


class Endless(BufferedIOBase):
    """A list of 30 MB that is never in memory as a whole."""

    def __init__(self, record: bytes) -> None:
        self.pieces: Iterator[bytes] = iter([b"[", *([record + b","] * 600), record, b"]"])

    def read1(self, _size: int = -1, /) -> bytes:
        return next(self.pieces, b"")


def test_memory_is_bounded_by_an_item() -> None:
    record = b'{"text": "' + b"[kites\\n" * 6000 + b'"}'
    tracemalloc.start()
    try:
        assert sum(map(len, read_list(Endless(record)))) == 601 * len(record)
        assert tracemalloc.get_traced_memory()[1] < 12 * len(record)
    finally:
        tracemalloc.stop()


@pytest.mark.fault("input", "a table with a row or record that no paper needs", "the file and the line are named")
@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.json", '[{"a": "%s"}]', "larger than 50 bytes"),
        ("a.jsonl", '{"a": "%s"}\n', "line 1 is longer than 50 characters"),
        ("a.csv", ",".join(map(str, range(11))) + "\n%.0s", "it has 11 columns; at most 10 are read"),
        ("a.csv", "a,%s\n1,2", "line 1 is longer than 50 characters"),
        ("a.csv", "a,b\n1,%s", "line 2 is longer than 50 characters"),
        ("a.csv", 'a,b\n1,"' + "bb\n" * 40 + "%.0s", "the row at line 2 is longer than 50 characters"),
        ("a.csv", "a,b\n1,2\n" + '"b\n","c\n"' * 6 + "%.0s", "the row at line 3 is longer than 50 characters"),
    ],
)
def test_a_row_that_is_too_large_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: str, sentence: str
) -> None:
    monkeypatch.setattr("peercorpus.importers.tables.MOST_BYTES", 50)
    monkeypatch.setattr("peercorpus.importers.tables.MOST_COLUMNS", 10)
    path = tmp_path / name
    path.write_text(content % ("b" * 100))
    assert sentence in str(find_damage(path))


def test_blank_lines_are_not_part_of_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("peercorpus.importers.tables.MOST_BYTES", 50)
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "\n" * 60 + "1,2\n")
    assert list(read_rows(path)) == [{"a": "1", "b": "2"}]


def test_batches_of_large_rows_are_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("peercorpus.importers.tables.FIRST_CHARACTERS", 250)
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": "%s"}\n' % ("b" * 100) * 9)
    assert len(read_first_rows(path)) == 3


def test_the_first_rows_are_read_without_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('[{"a": 1}, {"a": 2}, ' + "x" * 1000)
    rows = read_rows(path)
    assert [next(rows), next(rows)] == [{"a": 1}, {"a": 2}]
    with pytest.raises(ValueError, match="truncated"):
        next(rows)

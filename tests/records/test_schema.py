"""Records survive a round trip through Arrow and Parquet; the schemas of all tables are pinned."""

import os
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from peercorpus.records.arrow_schema import arrow_schema, from_arrow, to_arrow
from peercorpus.records.enums import Aspect, Phase, Reason, ScoreSource
from peercorpus.records.papers import SetAside
from peercorpus.records.reviews import Review
from peercorpus.records.scores import Score
from peercorpus.workspace.table_reader import TABLES

GOLDEN = Path(__file__).parents[1] / "golden" / "schemas.txt"
UPDATE = "UPDATE_GOLDEN"
NOON = datetime(2024, 1, 2, 12, 0, 0, 123456, UTC)

PLAIN: dict[Any, Callable[[], st.SearchStrategy[Any]]] = {
    str: lambda: st.text(max_size=8),
    int: lambda: st.integers(-(2**63), 2**63 - 1),
    float: lambda: st.floats(allow_nan=False),
    bool: st.booleans,
    bytes: lambda: st.binary(max_size=8),
    datetime: lambda: st.datetimes(timezones=st.just(UTC)),
}


def values(annotation: Any) -> st.SearchStrategy[Any]:
    """Any value that an annotation of a record allows."""
    if get_origin(annotation) is UnionType:
        return st.one_of(*(st.none() if part is NoneType else values(part) for part in get_args(annotation)))
    if get_origin(annotation) is tuple:
        return st.lists(values(get_args(annotation)[0]), max_size=3).map(tuple)
    if is_dataclass(annotation):
        return records(annotation)
    if issubclass(annotation, StrEnum):
        return st.sampled_from(list(annotation))
    return PLAIN[annotation]()


def records(record_type: Any) -> st.SearchStrategy[Any]:
    """Any record of a type."""
    hints = get_type_hints(record_type)
    return st.builds(record_type, *(values(hints[field.name]) for field in fields(record_type)))


def back(record_type: Any, table: pa.Table) -> list[Any]:
    return [record for batch in table.to_batches() for record in from_arrow(record_type, batch)]


@pytest.mark.slow
@pytest.mark.parametrize("record_type", TABLES.values(), ids=TABLES)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_any_records_survive_a_round_trip(record_type: Any, data: st.DataObject) -> None:
    written = data.draw(st.lists(records(record_type), max_size=4))
    table = to_arrow(record_type, written)
    table.validate(full=True)
    assert back(record_type, table) == written
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    file = pq.ParquetFile(pa.BufferReader(sink.getvalue()))
    assert [record for batch in file.iter_batches() for record in from_arrow(record_type, batch)] == written


@pytest.mark.parametrize("record_type", TABLES.values(), ids=TABLES)
def test_no_records_keep_the_schema(record_type: type) -> None:
    table = to_arrow(record_type, [])
    assert table.num_rows == 0
    assert table.schema == arrow_schema(record_type)


def score(value: float | None, label: str) -> Score:
    return Score(Aspect.OTHER, "Bewertung", value, None, None, label, Phase.INITIAL, ScoreSource.TEXT)


def review(created_at: datetime | None, scores: tuple[Score, ...] = ()) -> Review:
    return Review("r1", "f1", "V", "i", "R1", created_at, None, None, scores, (), None, None, True, False, "{}")


@pytest.mark.parametrize(
    "written",
    [
        review(None),
        review(NOON),
        review(NOON, (score(None, ""), score(6, "6: über der Schwelle — 接受 🎉"))),
        review(datetime(1, 1, 1, tzinfo=UTC)),
        review(datetime.max.replace(tzinfo=UTC)),
    ],
    ids=["nothing known", "a time with microseconds", "nested and unicode", "the first instant", "the last instant"],
)
def test_a_review_keeps_its_exact_types(written: Review) -> None:
    (read,) = back(Review, to_arrow(Review, [written]))
    assert repr(read).replace("zoneinfo.ZoneInfo(key='UTC')", "datetime.timezone.utc") == repr(written).replace(
        "value=6,", "value=6.0,"
    )


def test_times_are_stored_in_utc() -> None:
    (read,) = back(Review, to_arrow(Review, [review(NOON.astimezone(timezone(timedelta(hours=9))))]))
    assert read.created_at == NOON
    assert read.created_at.utcoffset() == timedelta(0)


def test_a_value_outside_an_enum_is_an_error() -> None:
    table = to_arrow(SetAside, [SetAside("n1", None, "V", "normalise", Reason.NO_FORUM, "")])
    other = table.set_column(4, table.schema.field("reason"), pa.array(["some_reason"]))
    with pytest.raises(KeyError, match="some_reason"):
        back(SetAside, other)


def _pinned() -> str:
    lines: list[str] = []
    for name, record_type in TABLES.items():
        lines.append(name)
        columns = arrow_schema(record_type)
        lines.extend(f"  {one.name}: {one.type}{'' if one.nullable else ' not null'}" for one in columns)
    return "\n".join(lines) + "\n"


def test_every_schema_is_the_published_one() -> None:
    """Set UPDATE_GOLDEN=1 to rewrite the file; a change of it is a change of the corpus format."""
    if os.environ.get(UPDATE):
        GOLDEN.write_text(_pinned())
    assert _pinned() == GOLDEN.read_text()


def test_golden_files_are_compared_not_rewritten() -> None:
    # A separate name: pytest shows the values of a failed comparison, and an environment may contain secrets.
    is_rewriting = UPDATE in os.environ
    assert not is_rewriting, f"unset {UPDATE} to test"

"""Convert record types to Arrow schemas, and records to Arrow tables and back.

Both directions work column by column, which is far faster than going through one dictionary per record.
"""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cache
from itertools import accumulate, chain, islice, repeat
from operator import attrgetter
from types import MappingProxyType, NoneType, UnionType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

import pyarrow as pa

RecordT = TypeVar("RecordT")

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
PLAIN = frozenset({str, int, float, bool, bytes})
"""Types whose values, including None, Arrow itself converts."""
NOTHING: Mapping[str, object] = MappingProxyType({})


def _split_optional(annotation: Any) -> tuple[Any, bool]:  # noqa: ANN401 -- an annotation is any object
    """Return the annotation without `| None`, and whether it had it."""
    if get_origin(annotation) is UnionType:
        (inner,) = (part for part in get_args(annotation) if part is not NoneType)
        return inner, True
    return annotation, False


def _is_record(annotation: Any) -> bool:  # noqa: ANN401
    return is_dataclass(annotation)


@cache
def _read_hints(record_type: Any) -> tuple[tuple[str, Any], ...]:  # noqa: ANN401
    hints = get_type_hints(record_type)
    return tuple((field.name, hints[field.name]) for field in fields(record_type))


@cache
def arrow_type(annotation: Any) -> pa.DataType:  # noqa: ANN401
    """Return the Arrow type of an annotation: enums are strings, tuples lists, record types structs, times UTC."""
    inner, _ = _split_optional(annotation)
    if get_origin(inner) is tuple:
        return pa.list_(arrow_type(get_args(inner)[0]))
    if _is_record(inner):
        return pa.struct([(name, arrow_type(hint)) for name, hint in _read_hints(inner)])
    if issubclass(inner, StrEnum):
        return pa.string()
    plain = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_(), bytes: pa.binary()}
    return pa.timestamp("us", tz="UTC") if inner is datetime else plain[inner]


@cache
def arrow_schema(record_type: Any) -> pa.Schema:  # noqa: ANN401
    """Return the Arrow schema of a record type; a field is nullable if its annotation allows None."""
    return pa.schema(
        [pa.field(name, arrow_type(hint), _split_optional(hint)[1]) for name, hint in _read_hints(record_type)]
    )


def _build_array(values: Sequence[Any], annotation: Any) -> pa.Array:  # noqa: ANN401
    """Return the values of one annotation as an Arrow array."""
    inner, _ = _split_optional(annotation)
    if get_origin(inner) is tuple:
        has_none = None in values
        lists = [value or () for value in values] if has_none else values
        offsets = pa.array(list(accumulate(map(len, lists), initial=0)), pa.int32())
        flat = list(chain.from_iterable(lists))
        mask = pa.array([value is None for value in values], pa.bool_()) if has_none else None
        return pa.ListArray.from_arrays(offsets, _build_array(flat, get_args(inner)[0]), mask=mask)
    if _is_record(inner):
        return _build_structs(values, inner)
    if inner is datetime:
        # Ten times as fast as Arrow's own conversion of aware datetimes.
        since = [None if value is None else (value - EPOCH) // MICROSECOND for value in values]
        return pa.array(since, pa.int64()).cast(arrow_type(inner))
    return pa.array(values, arrow_type(inner))


def _build_structs(values: Sequence[Any], record_type: Any) -> pa.Array:  # noqa: ANN401
    absent = [value is None for value in values]
    columns = []
    for name, hint in _read_hints(record_type):
        if any(absent):
            nothing = () if get_origin(_split_optional(hint)[0]) is tuple else None
            parts = [nothing if value is None else getattr(value, name) for value in values]
        else:
            parts = list(map(attrgetter(name), values))
        columns.append(_build_array(parts, hint))
    mask = pa.array(absent, pa.bool_()) if any(absent) else None
    return pa.StructArray.from_arrays(columns, fields=list(arrow_type(record_type)), mask=mask)


def repeat_text(text: str, rows: int) -> pa.Array:
    """Return a column with this text in every row; `pa.array` and `pa.scalar` would import pandas first.

    >>> repeat_text("né", 2).to_pylist(), repeat_text("", 2).to_pylist(), repeat_text("a", 0).to_pylist()
    (['né', 'né'], ['', ''], [])
    """
    encoded = text.encode()
    offsets = array("i", [number * len(encoded) for number in range(rows + 1)])
    return pa.Array.from_buffers(pa.string(), rows, [None, pa.py_buffer(offsets), pa.py_buffer(encoded * rows)])


def to_arrow(record_type: type, records: Sequence[Any]) -> pa.Table:
    """Return records of one type as an Arrow table."""
    columns = [_build_array(list(map(attrgetter(name), records)), hint) for name, hint in _read_hints(record_type)]
    return pa.Table.from_arrays(columns, schema=arrow_schema(record_type))


def _read_values(array: pa.Array, annotation: Any) -> list[Any]:  # noqa: ANN401
    """Return the values of an array made by `_build_array`."""
    inner, optional = _split_optional(annotation)
    if inner in PLAIN and (optional or not array.null_count):
        return cast(list[Any], array.to_pylist())
    if array.null_count:
        if not optional:
            raise TypeError(f"A null in a column of {annotation}, which does not allow None.")
        valid_values = iter(_read_values(array.drop_null(), inner))
        return [next(valid_values) if is_valid else None for is_valid in array.is_valid().to_pylist()]
    if get_origin(inner) is tuple:
        items = iter(_read_values(array.flatten(), get_args(inner)[0]))
        return [tuple(islice(items, length)) for length in array.value_lengths().to_pylist()]
    if _is_record(inner):
        parts = dict(zip((field.name for field in array.type), array.flatten(), strict=True))
        return list(map(inner, *(_read_values(parts[name], hint) for name, hint in _read_hints(inner))))
    if issubclass(inner, StrEnum):
        return list(map({member.value: member for member in inner}.__getitem__, array.to_pylist()))
    if inner is datetime:
        # Six times as fast as Arrow's own aware datetimes.
        return [EPOCH + since * MICROSECOND for since in array.cast(pa.int64()).to_pylist()]
    return cast(list[Any], array.to_pylist())


def from_arrow(
    record_type: type[RecordT], batch: pa.RecordBatch, unread: Mapping[str, object] = NOTHING
) -> Iterator[RecordT]:
    """Yield the records of a batch, which must have every column of their type except the unread ones.

    Args:
        record_type: The type.
        batch: The batch.
        unread: Fields that are not read, with the value for every record instead.

    Raises:
        TypeError: A column that does not allow None contains a null.
    """
    kind = cast(Any, record_type)
    columns = (
        repeat(unread[name], batch.num_rows)
        if name in unread
        else _read_values(batch.column(name).cast(arrow_type(hint)), hint)
        for name, hint in _read_hints(kind)
    )
    yield from map(record_type, *columns)

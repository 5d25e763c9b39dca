"""Declare the columns of published tables: a class for each configuration or struct, an annotation for each column.

An annotation has a column's type and, unless the name says everything, its meaning: `Annotated[str, "verbatim"]`. The
Arrow schema, the features by which `datasets` reads a table, the card, the Croissant metadata and the documentation are
made from it. Every column may be null.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import get_annotations
from typing import Annotated, Any, ClassVar, get_args, get_origin

import pyarrow as pa

from peercorpus.records.arrow_schema import arrow_type

DESCRIPTION = "description"
"""Key of a column's metadata under which its meaning is stored."""
DEFAULT_OF_REVIEWBENCH = "default"
IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
"""An image as `datasets` stores it: its feature `Image` decodes this struct."""
Count = Annotated[int, pa.int32()]
Image = Annotated[dict[str, object], IMAGE]


@dataclass(frozen=True, slots=True)
class Config:
    """One configuration (table) of the dataset.

    Attributes:
        per: Meaning of a row.
        group_rows: Maximum rows of a row group, which a reader keeps in memory and the writer buffers per split.
        key: The columns that identify a row; rows with the same key are compared as a group.
        is_task: Whether it is split into train, validation and test; otherwise by conference family.
    """

    name: str
    schema: pa.Schema
    per: str
    group_rows: int
    key: tuple[str, ...]
    is_task: bool

    @property
    def says(self) -> str:
        """Meaning of a row, as shown in the card."""
        return f"one row per {self.per}"

    @property
    def folder(self) -> str:
        """The folder of its files; those of the layout `reviewbench` are in `data` itself, since there is only one."""
        return "data" if self.name == DEFAULT_OF_REVIEWBENCH else f"data/{self.name}"


class Columns:
    """Columns of a table or fields of a struct: those of its bases in their order, then its own.

    With a name, the class declares a configuration; see `Config` for its arguments.
    """

    schema: ClassVar[pa.Schema]
    config: ClassVar[Config]

    def __init_subclass__(
        cls,
        name: str = "",
        per: str = "",
        group_rows: int = 0,
        key: tuple[str, ...] = ("forum_id",),
        is_task: bool = False,
    ) -> None:
        """Make the schema, and the configuration if it has a name."""
        cls.schema = pa.schema(_list_fields(cls))
        if name:
            cls.config = Config(name, cls.schema, per, group_rows, key, is_task)


def _collect_annotations(kind: type) -> dict[str, Any]:
    """Return the annotations of a class by name; a name declared again keeps its place."""
    found: dict[str, Any] = {}
    for base in kind.__bases__ if kind is not Columns else ():
        found |= _collect_annotations(base)
    return found | (get_annotations(kind) if kind is not Columns else {})


def _list_fields(kind: type) -> list[pa.Field]:
    fields = []
    for name, annotation in _collect_annotations(kind).items():
        extras = getattr(annotation, "__metadata__", ())
        says = "".join(extra for extra in extras if isinstance(extra, str))
        declared = next((extra for extra in extras if isinstance(extra, pa.DataType)), None)
        of_type = declared or _find_type(get_args(annotation)[0] if extras else annotation)
        fields.append(pa.field(name, of_type, metadata={DESCRIPTION: says} if says else None))
    return fields


def _find_type(annotation: Any) -> pa.DataType:  # noqa: ANN401 -- an annotation is any object
    """Return the Arrow type of an annotation; structs in it have the meanings of their fields."""
    args = get_args(annotation)
    if args:
        inner = _find_type(args[0])
        return pa.list_(inner) if get_origin(annotation) is tuple else inner
    return pa.struct(_list_fields(annotation)) if _collect_annotations(annotation) else arrow_type(annotation)


def column_meaning(field: pa.Field) -> str:
    """Return the meaning of a column; empty if the name says everything."""
    metadata: dict[bytes, bytes] = field.metadata or {}
    return metadata.get(DESCRIPTION.encode(), b"").decode()


def flatten_columns(fields: pa.Schema | pa.StructType, prefix: str = "") -> Iterator[tuple[str, pa.Field]]:
    """Yield every column and, after it, the fields of its structs, by dotted names."""
    for field in fields:
        yield prefix + field.name, field
        inner = field.type.value_type if pa.types.is_list(field.type) else field.type
        if pa.types.is_struct(inner):
            yield from flatten_columns(inner, f"{prefix}{field.name}.")


def item_type(kind: pa.DataType) -> pa.DataType:
    """Return the type inside a list or a list of lists; any other type unchanged."""
    while pa.types.is_list(kind):
        kind = kind.value_type
    return kind


def type_name(kind: pa.DataType) -> str:
    """Return the name of a type as the card shows it.

    >>> type_name(pa.list_(pa.struct([("a", pa.string())]))), type_name(pa.timestamp("us", tz="UTC"))
    ('list of struct', 'timestamp, UTC')
    """
    if pa.types.is_list(kind):
        return f"list of {type_name(kind.value_type)}"
    if pa.types.is_struct(kind):
        return "struct"
    return "timestamp, UTC" if pa.types.is_timestamp(kind) else str(kind)


def feature(kind: pa.DataType) -> dict[str, Any]:
    """Return an Arrow type as the JSON of `datasets.Features`.

    >>> feature(pa.list_(pa.string()))
    {'feature': {'dtype': 'string', '_type': 'Value'}, '_type': 'List'}
    """
    if kind == IMAGE:
        return {"_type": "Image"}
    if pa.types.is_struct(kind):
        return {field.name: feature(field.type) for field in kind}
    if pa.types.is_list(kind):
        return {"feature": feature(kind.value_type), "_type": "List"}
    return {"dtype": str(kind), "_type": "Value"}


def parquet_metadata(schema: pa.Schema) -> dict[str, str]:
    """Return the metadata from which `datasets` reads the features of a Parquet file."""
    features = {field.name: feature(field.type) for field in schema}
    return {"huggingface": json.dumps({"info": {"features": features}})}

"""Write `croissant.json`, the machine-readable metadata of a release (Croissant 1.1 with RAI)."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from peercorpus.release.card.cards import state_release
from peercorpus.release.card.facts import ReleaseFacts
from peercorpus.release.columns import Config, column_meaning, item_type
from peercorpus.release.counts import ReleaseCounts
from peercorpus.release.folder import NOTHING_KNOWN
from peercorpus.release.shards import CONFIGS, SplitShards
from peercorpus.workspace.object_store import file_digest

NAME = "croissant.json"
FORMAT = "application/x-parquet"
CONFORMS_TO = ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"]
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
} | {
    term: f"cr:{term}"
    for term in (
        *("arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "extract", "field", "fileObject"),
        *("fileProperty", "fileSet", "format", "includes", "isArray", "isLiveDataset", "jsonPath", "key", "md5"),
        *("parentField", "path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate"),
        *("separator", "source", "subField", "transform"),
    )
}
"""The JSON-LD context that the Croissant specification prescribes, verbatim."""
DATA_TYPES = (
    (pa.types.is_timestamp, "sc:DateTime"),
    (pa.types.is_integer, "sc:Integer"),
    (pa.types.is_floating, "sc:Float"),
    (pa.types.is_boolean, "sc:Boolean"),
)
"""Croissant's data types for columns that are not text."""
Node = dict[str, Any]


def data_type(kind: pa.DataType) -> str:
    """Return the Croissant name of an Arrow type; for a list, of its items.

    >>> data_type(pa.list_(pa.int32())), data_type(pa.timestamp("us", tz="UTC"))
    ('sc:Integer', 'sc:DateTime')
    """
    kind = item_type(kind)
    return next((name for is_it, name in DATA_TYPES if is_it(kind)), "sc:Text")


def _describe_shape(kind: pa.DataType) -> Node:
    """Return the properties of a list column with its number of dimensions; empty for other columns."""
    depth = 0
    while pa.types.is_list(kind):
        kind = kind.value_type
        depth += 1
    return {"isArray": True, "arrayShape": ",".join(["-1"] * depth)} if depth else {}


def _describe_field(config: str, path: Sequence[pa.Field]) -> Node:
    """Describe a column, or a part of one, given the path of fields to it."""
    *_, own = path
    inner = own.type.value_type if pa.types.is_list(own.type) else own.type
    node: Node = {"@type": "cr:Field", "@id": "/".join([config, *(column.name for column in path)]), "name": own.name}
    node |= {"description": column_meaning(own)} if column_meaning(own) else {}
    node |= _describe_shape(own.type)
    if pa.types.is_struct(inner):
        return node | {"subField": [_describe_field(config, [*path, part]) for part in inner]}
    source: Node = {"fileSet": {"@id": _join_file_set_id(config)}, "extract": {"column": path[0].name}}
    if len(path) > 1:
        # JSON path of the part within its column.
        steps = [part.name + "[*]" * pa.types.is_list(part.type) for part in path[1:-1]]
        source["transform"] = {"jsonPath": ".".join([*steps, own.name])}
    return node | {"dataType": data_type(own.type), "source": source}


def _join_file_set_id(config: str, split: str = "") -> str:
    return "-".join(filter(None, ("files", config, split)))


def _describe_split_field(config: Config, splits: Sequence[SplitShards]) -> Node:
    """Describe the field with a record's split, read from its file name; the pattern also matches its own result."""
    names = "|".join(split.name for split in splits)
    return {
        "@type": "cr:Field",
        "@id": f"{config.name}/split",
        "name": "split",
        "description": "train, validation or test, as a split"
        if config.is_task
        else "the conference family, as a split",
        "dataType": "sc:Text",
        "source": {
            "fileSet": {"@id": _join_file_set_id(config.name)},
            "extract": {"fileProperty": "fullpath"},
            "transform": {"regex": f"(?:data/{config.name}/)?({names})(?:-.*)?$"},
        },
        "references": {"field": {"@id": f"{config.name}_splits/name"}},
    }


def _describe_record_sets(config: Config, splits: Sequence[SplitShards]) -> list[Node]:
    name = f"{config.name}_splits"
    field = {"@type": "cr:Field", "@id": f"{name}/name", "name": "name", "dataType": "sc:Text"}
    rows = sum(split.rows for split in splits)
    return [
        {
            "@type": "cr:RecordSet",
            "@id": name,
            "name": name,
            "description": f"The splits of {config.name}.",
            "dataType": "cr:Split",
            "key": {"@id": f"{name}/name"},
            "field": [field],
            "data": [{f"{name}/name": split.name} for split in splits],
        },
        {
            "@type": "cr:RecordSet",
            "@id": config.name,
            "name": config.name,
            "description": f"{config.says}; {rows} rows",
            "field": [
                _describe_split_field(config, splits),
                *(_describe_field(config.name, [column]) for column in config.schema),
            ],
        },
    ]


def _describe_file_sets(config: Config, splits: Sequence[SplitShards]) -> Iterator[Node]:
    for split in ("", *(split.name for split in splits)):
        name = _join_file_set_id(config.name, split)
        pattern = f"data/{config.name}/{split and split + '-'}*.parquet"
        yield {"@type": "cr:FileSet", "@id": name, "name": name, "encodingFormat": FORMAT, "includes": pattern}


def _describe_file(folder: Path, path: Path, known: Mapping[str, str]) -> Node:
    name = path.relative_to(folder).as_posix()
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": path.name,
        "contentUrl": name,
        "contentSize": f"{path.stat().st_size} B",
        "encodingFormat": FORMAT,
        "sha256": known.get(name) or file_digest(path),
    }


def croissant(folder: Path, tally: ReleaseCounts, splits: Sequence[SplitShards], known: Mapping[str, str]) -> Node:
    """Return the metadata of a release as a JSON-LD node."""
    dataset, rai = state_release(ReleaseFacts(tally))
    configs = [
        (config, config_splits)
        for config in CONFIGS.values()
        if (config_splits := [split for split in splits if split.config == config.name])
    ]
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        **dataset,
        **{f"rai:{name}": value for name, value in rai.items()},
        "distribution": [
            *(_describe_file(folder, path, known) for path in sorted((folder / "data").rglob("*.parquet"))),
            *(node for pair in configs for node in _describe_file_sets(*pair)),
        ],
        "recordSet": [node for pair in configs for node in _describe_record_sets(*pair)],
    }


def write_croissant(
    folder: Path, tally: ReleaseCounts, splits: Sequence[SplitShards], known: Mapping[str, str] = NOTHING_KNOWN
) -> None:
    """Write `croissant.json` into a release whose Parquet files are written."""
    metadata = croissant(folder, tally, splits, known)
    (folder / NAME).write_bytes(msgspec.json.format(msgspec.json.encode(metadata), indent=1) + b"\n")

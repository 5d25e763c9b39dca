"""A release as Croissant metadata (JSON-LD, version 1.1): its files with their sums, its columns, and its RAI fields.

The files are named relative to `croissant.json`. Whatever is said in words is said in the card too, by `statements.py`.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from peercorpus.publish.release import digest_of
from peercorpus.publish.schemas import item_type, says
from peercorpus.publish.shards import CONFIGS, Config, Split
from peercorpus.publish.statements import state
from peercorpus.publish.tally import Tally

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
"""The context that every Croissant file of this version has, word for word."""
DATA_TYPES = (
    (pa.types.is_timestamp, "sc:DateTime"),
    (pa.types.is_integer, "sc:Integer"),
    (pa.types.is_floating, "sc:Float"),
    (pa.types.is_boolean, "sc:Boolean"),
)
"""Croissant's types of what is no text."""
Node = dict[str, Any]


def data_type(kind: pa.DataType) -> str:
    """An Arrow type by its name in Croissant; of a list, that of what is in it.

    >>> data_type(pa.list_(pa.int32())), data_type(pa.timestamp("us", tz="UTC"))
    ('sc:Integer', 'sc:DateTime')
    """
    kind = item_type(kind)
    return next((name for is_it, name in DATA_TYPES if is_it(kind)), "sc:Text")


def _shape(kind: pa.DataType) -> Node:
    """That a column is a list, and of how many dimensions; all of unknown length."""
    depth = 0
    while pa.types.is_list(kind):
        kind, depth = kind.value_type, depth + 1
    return {"isArray": True, "arrayShape": ",".join(["-1"] * depth)} if depth else {}


def _field(config: str, path: Sequence[pa.Field]) -> Node:
    """A column, or a part of one by the columns that lead to it."""
    *_, own = path
    inner = own.type.value_type if pa.types.is_list(own.type) else own.type
    node: Node = {"@type": "cr:Field", "@id": "/".join([config, *(one.name for one in path)]), "name": own.name}
    node |= {"description": says(own)} if says(own) else {}
    node |= _shape(own.type)
    if pa.types.is_struct(inner):
        return node | {"subField": [_field(config, [*path, part]) for part in inner]}
    source: Node = {"fileSet": {"@id": _files_of(config)}, "extract": {"column": path[0].name}}
    if len(path) > 1:
        source["transform"] = {"jsonPath": _json_path(path)}
    return node | {"dataType": data_type(own.type), "source": source}


def _json_path(path: Sequence[pa.Field]) -> str:
    """Where a part stands in an item of its column."""
    *above, own = path[1:]
    return ".".join([*(one.name + "[*]" * pa.types.is_list(one.type) for one in above), own.name])


def _files_of(config: str, split: str = "") -> str:
    return "-".join(filter(None, ("files", config, split)))


def _split_field(config: Config, splits: Sequence[Split]) -> Node:
    """The split that a record is in, as its file's name has it; the pattern also takes what it once gave."""
    names = "|".join(split.name for split in splits)
    return {
        "@type": "cr:Field",
        "@id": f"{config.name}/split",
        "name": "split",
        "description": "the side to use it on" if config.is_task else "the conference family, as a split",
        "dataType": "sc:Text",
        "source": {
            "fileSet": {"@id": _files_of(config.name)},
            "extract": {"fileProperty": "fullpath"},
            "transform": {"regex": f"(?:data/{config.name}/)?({names})(?:-.*)?$"},
        },
        "references": {"field": {"@id": f"{config.name}_splits/name"}},
    }


def _record_sets(config: Config, splits: Sequence[Split]) -> list[Node]:
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
            "field": [_split_field(config, splits), *(_field(config.name, [column]) for column in config.schema)],
        },
    ]


def _file_sets(config: Config, splits: Sequence[Split]) -> Iterator[Node]:
    for split in ("", *(split.name for split in splits)):
        name = _files_of(config.name, split)
        pattern = f"data/{config.name}/{split and split + '-'}*.parquet"
        yield {"@type": "cr:FileSet", "@id": name, "name": name, "encodingFormat": FORMAT, "includes": pattern}


def _file_object(folder: Path, path: Path) -> Node:
    name = path.relative_to(folder).as_posix()
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": path.name,
        "contentUrl": name,
        "contentSize": f"{path.stat().st_size} B",
        "encodingFormat": FORMAT,
        "sha256": digest_of(path),
    }


def croissant(folder: Path, tally: Tally, splits: Sequence[Split]) -> Node:
    """The metadata of the Parquet files of a release."""
    said = state(tally)
    held = [
        (config, found)
        for config in CONFIGS.values()
        if (found := [split for split in splits if split.config == config.name])
    ]
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        **said.dataset,
        **{f"rai:{name}": value for name, value in said.rai.items()},
        "distribution": [
            *(_file_object(folder, path) for path in sorted((folder / "data").rglob("*.parquet"))),
            *(node for pair in held for node in _file_sets(*pair)),
        ],
        "recordSet": [node for pair in held for node in _record_sets(*pair)],
    }


def write_croissant(folder: Path, tally: Tally, splits: Sequence[Split]) -> None:
    """Write `croissant.json` of a release whose Parquet files are written."""
    metadata = croissant(folder, tally, splits)
    (folder / NAME).write_text(json.dumps(metadata, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")

"""Write the YAML head of a card, and Markdown tables of columns and counts."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from peercorpus.release.columns import Config, column_meaning, flatten_columns, item_type, type_name
from peercorpus.release.shards import CONFIGS, REVIEWBENCH, SplitShards

DEFAULT = next(iter(CONFIGS))
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
"""Upper bounds, in rows, of the Hub's size categories."""


class OneLine(dict[str, Any]):
    """A mapping of scalars that is written on one line, as in JSON."""


def to_yaml(value: Any, indent: str = "") -> str:  # noqa: ANN401 -- any YAML value
    r"""Return mappings, lists and scalars as YAML; strings are quoted, so that none is read as another type.

    >>> to_yaml({"name": "no", "list": [{"a": 1, "b": []}, "x"]})
    'name: "no"\nlist:\n- a: 1\n  b: []\n- "x"\n'
    >>> to_yaml({"small": 1e-05})  # 1e-05 would be a string in YAML 1.1
    'small: 1.0e-05\n'
    """
    if isinstance(value, OneLine):
        return f"{indent}{{{','.join(f'{_format_scalar(key)}:{_format_scalar(one)}' for key, one in value.items())}}}\n"
    if isinstance(value, Mapping):
        return "".join(f"{indent}{key}:{_format_below(inner, indent)}" for key, inner in value.items())
    lines = (
        to_yaml(inner, indent + "  ") if _is_block(inner) else f"{indent}  {_format_scalar(inner)}\n" for inner in value
    )
    return "".join(f"{indent}- {line[len(indent) + 2 :]}" for line in lines)


def _is_block(value: object) -> bool:
    return isinstance(value, Mapping | list | tuple) and bool(value)


def _format_scalar(value: object) -> str:
    scalar = json.dumps(value, ensure_ascii=False)
    return re.sub(r"^(-?\d+)e", r"\1.0e", scalar) if isinstance(value, float) else scalar


def _format_below(value: object, indent: str) -> str:
    if not _is_block(value):
        return f" {_format_scalar(value)}\n"
    return "\n" + to_yaml(value, indent + "  " if isinstance(value, Mapping) else indent)


def _describe_splits(splits: Sequence[SplitShards]) -> list[dict[str, Any]]:
    return [OneLine(name=one.name, num_bytes=one.memory_bytes, num_examples=one.rows) for one in splits]


def _front_matter(name: str, categories: Sequence[str], tags: Sequence[str], papers: int, **more: object) -> str:
    """Return the YAML head of a card, between lines of dashes."""
    fields = {
        "pretty_name": name,
        "language": ["en"],
        "license": "other",
        "license_name": "per-record",
        "task_categories": ["text-generation", "text-classification", "summarization", *categories],
        "tags": ["peer-review", "openreview", *tags, "peercorpus"],
        "size_categories": [next((name for limit, name in SIZES if papers < limit), "1M<n<10M")],
    }
    return f"---\n{to_yaml(fields | more)}---\n"


def front_matter(splits: Sequence[SplitShards]) -> str:
    """Return the YAML head of the card of a release."""
    by_config = {
        config.name: own
        for config in CONFIGS.values()
        if (own := [split for split in splits if split.config == config.name])
    }
    configs = [
        {
            "config_name": name,
            **({"default": True} if name == DEFAULT else {}),
            "data_files": [OneLine(split=split.name, path=f"data/{name}/{split.name}-*.parquet") for split in own],
        }
        for name, own in by_config.items()
    ]
    return _front_matter(
        "Peer reviews from OpenReview",
        [],
        ["rebuttal", "scholarly-documents"],
        sum(split.rows for split in by_config.get(DEFAULT, [])),
        configs=configs,
        dataset_info=[{"config_name": name, "splits": _describe_splits(own)} for name, own in by_config.items()],
    )


def reviewbench_front_matter(splits: Sequence[SplitShards]) -> str:
    """Return the YAML head of a card in the layout of ReviewBench, with the same members as ReviewBench's own."""
    kinds = {field.name: field.type for field in REVIEWBENCH.schema}
    features = [
        OneLine(name=name, list="string") if pa.types.is_list(kind) else OneLine(name=name, dtype=str(kind))
        for name, kind in kinds.items()
    ]
    files = [OneLine(split=split.name, path=f"data/{split.name}-*") for split in splits]
    info = {
        "features": features,
        "splits": _describe_splits(splits),
        "download_size": sum(split.file_bytes for split in splits),
        "dataset_size": sum(split.memory_bytes for split in splits),
    }
    return _front_matter(
        "Peer reviews from OpenReview in the layout of ReviewBench",
        ["question-answering"],
        ["scientific-papers"],
        sum(split.rows for split in splits),
        configs=[{"config_name": REVIEWBENCH.name, "data_files": files}],
        dataset_info=info,
    )


def escape(text: str) -> str:
    """Return text escaped so that Markdown and HTML show it literally.

    >>> escape("A.cc/2020|<b>")
    'A.cc/2020&#124;&#60;b&#62;'
    """
    return re.sub(r"[^A-Za-z0-9./ -]", lambda match: f"&#{ord(match[0])};", text)


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[object]], text_columns: int = 1) -> str:
    """Return a Markdown table; columns after the first `text_columns` contain numbers, aligned right."""
    aligned = ["---"] * text_columns + ["---:"] * (len(header) - text_columns)
    lines = (
        [f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in line] for line in (header, aligned, *rows)
    )
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def columns_of(config: Config, meanings: Mapping[str, str]) -> str:
    """Return the table of a configuration's columns, and the parts of its structs, with their meanings.

    Args:
        config: The configuration.
        meanings: Meanings of columns that replace or complete those of the schema.
    """
    rows = (
        (f"`{name}`", type_name(field.type), meanings.get(name) or column_meaning(field))
        for name, field in flatten_columns(config.schema)
    )
    return markdown_table(("column", "type", "description"), rows, text_columns=3)


Row = tuple[str, str, str]
"""Name, type and meaning of a column or of a field of a struct."""


def describe_columns(configs: Sequence[Config]) -> tuple[str, dict[str, str]]:
    """Return the lists of what several configurations have alike, and of each configuration the other columns.

    A struct is described once; the type of a column that holds it names it.
    """
    structs = _name_structs(configs)
    rows = {config.name: list(_walk_columns(config.schema, structs)) for config in configs}
    times = Counter(row for own in rows.values() for row in dict.fromkeys(map(_by_last_part, own)))
    alike = {row[0]: row for row, number in reversed(times.most_common()) if number > 1}
    parts = [_list_of(row for row in times if row == alike.get(row[0]))]
    parts += [f"### Fields of {name}\n\n{_list_of(fields)}" for fields, name in structs.items() if name not in rows]
    others = {}
    for config, own in rows.items():
        is_above = [_by_last_part(row) == alike.get(_last_part(row[0])) for row in own]
        names = ", ".join(f"`{row[0]}`" for row, is_so in zip(own, is_above, strict=True) if is_so)
        listed = _list_of(row for row, is_so in zip(own, is_above, strict=True) if not is_so)
        others[config] = f"As [above](#columns-of-several-configurations): {names}.\n\n{listed}".strip()
    return "\n\n".join(parts), others


def _name_structs(configs: Sequence[Config]) -> dict[tuple[Row, ...], str]:
    """Return the structs that several columns hold, each with a name, or that are rows of a configuration, with its."""
    found: dict[tuple[Row, ...], list[str]] = {}
    for config in configs:
        for name, field in flatten_columns(config.schema):
            if pa.types.is_struct(item_type(field.type)):
                found.setdefault(_list_columns(item_type(field.type)), []).append(_last_part(name))
    tables = {config.name: set(_list_columns(config.schema)) for config in configs}
    held = {struct: names[0] for struct, names in found.items() if set(struct) <= tables.get(names[0], set())}
    return held | {struct: names[0].removesuffix("s") for struct, names in found.items() if len(names) > 1}


def _walk_columns(fields: Iterable[pa.Field], structs: Mapping[tuple[Row, ...], str]) -> Iterator[Row]:
    """Yield every column and, after it, the fields of its struct by dotted names unless the struct has a name."""
    for field in fields:
        inner = item_type(field.type)
        struct = _list_columns(inner) if pa.types.is_struct(inner) else ()
        yield field.name, type_name(field.type).replace("struct", structs.get(struct, "struct")), column_meaning(field)
        for name, kind, meaning in _walk_columns(inner, structs) if struct and struct not in structs else ():
            yield f"{field.name}.{name}", kind, meaning


def _list_columns(fields: Iterable[pa.Field]) -> tuple[Row, ...]:
    return tuple((field.name, type_name(field.type), column_meaning(field)) for field in fields)


def _list_of(rows: Iterable[Row]) -> str:
    """Return a list of columns; a type that is not named is a string."""
    return "\n".join(
        f"- `{name}`{f' ({kind})' if kind != 'string' else ''}{': ' if meaning else ''}{meaning}"
        for name, kind, meaning in rows
    )


def _by_last_part(row: Row) -> Row:
    return _last_part(row[0]), row[1], row[2]


def _last_part(name: str) -> str:
    return name.rpartition(".")[2]


def units(configs: Iterable[Config]) -> str:
    """Return the table of units, each with the columns of some configurations that use it."""
    columns_by_unit: dict[str, dict[str, None]] = {unit: {} for unit in UNITS}
    for config in configs:
        for name, field in flatten_columns(config.schema):
            unit = _find_unit(name, item_type(field.type))
            if unit:
                columns_by_unit[unit][f"`{_last_part(name)}`"] = None
    rows = [(UNITS[unit], ", ".join(names)) for unit, names in columns_by_unit.items() if names]
    return markdown_table(("unit", "columns"), rows, text_columns=2)


UNITS = {
    "own": "the venue's own scale, which differs from venue to venue: never average it over venues",
    "unified": "Re²'s scale of 1 to 10, whose accepting half begins at 6: the same for all venues",
    "whole": "whole numbers: calendar years, running numbers and counts",
    "share": "a share, on [0, 1]",
    "page": "points of 1/72 inch, from the lower left corner of the page",
    "days": "days",
    "time": "UTC",
}
"""Text of the card on each unit."""


def _find_unit(name: str, kind: pa.DataType) -> str:
    if pa.types.is_floating(kind):
        if name == "box" or ".boxes." in name:
            return "page"
        if name.endswith(("_similarity", ".sureness")):
            return "share"
        return "days" if name == "days" else "unified" if "unified" in name else "own"
    return "time" if pa.types.is_timestamp(kind) else "whole" if pa.types.is_integer(kind) else ""

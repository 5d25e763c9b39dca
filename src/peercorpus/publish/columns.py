"""The columns of every configuration as Markdown: in the card of a release, and in docs/dataset.md."""

import re
from collections.abc import Iterable, Sequence

import pyarrow as pa

from peercorpus.publish.schemas import flat, item_type, says, type_name
from peercorpus.publish.shards import Config


def escape(text: str) -> str:
    """Text that Markdown and HTML show as it is.

    >>> escape("A.cc/2020|<b>")
    'A.cc/2020&#124;&#60;b&#62;'
    """
    return re.sub(r"[^A-Za-z0-9./ -]", lambda found: f"&#{ord(found[0])};", text)


def table(header: Sequence[str], rows: Iterable[Sequence[object]], text_columns: int = 1) -> str:
    """A table in Markdown; all columns but the first ones hold numbers, whole ones with their thousands apart."""
    aligned = ["---"] * text_columns + ["---:"] * (len(header) - text_columns)
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in (header, aligned, *rows))


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def columns_of(config: Config) -> str:
    """Every column of a configuration, and every part of its structs, with what it holds."""
    rows = ((f"`{name}`", type_name(field.type), says(field)) for name, field in flat(config.schema))
    return table(("column", "type", "what it holds"), rows, text_columns=3)


def units(configs: Iterable[Config]) -> str:
    """What the numbers and times of some configurations are counted in, by their columns."""
    found: dict[str, dict[str, None]] = {unit: {} for unit in UNITS}
    for config in configs:
        for name, field in flat(config.schema):
            unit = _unit(name, item_type(field.type))
            if unit:
                found[unit][f"`{name.rpartition('.')[2]}`"] = None
    rows = [(UNITS[unit], ", ".join(names)) for unit, names in found.items() if names]
    return table(("unit", "columns"), rows, text_columns=2)


UNITS = {
    "own": "the venue's own scale, which differs from venue to venue: never average it over venues",
    "unified": "Re²'s scale of 1 to 10, whose accepting half begins at 6: the same for all venues",
    "whole": "whole numbers: calendar years, running numbers and counts",
    "share": "a share, on [0, 1]",
    "days": "days",
    "time": "UTC",
}
"""What each unit is."""


def _unit(name: str, kind: pa.DataType) -> str:
    if name.endswith("_similarity") or name == "days":
        return "days" if name == "days" else "share"
    if pa.types.is_floating(kind):
        return "unified" if "unified" in name else "own"
    return "time" if pa.types.is_timestamp(kind) else "whole" if pa.types.is_integer(kind) else ""

"""Render samples as rows of each layout, and write rows as JSON or JSON Lines."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from peercorpus.models.chat_messages import Message, Speaker


class ExportLayout(StrEnum):
    """The library or dataset whose file and field names are used."""

    JSONL = "jsonl"
    """The unchanged rows of a release, one object per paper."""
    TRL = "trl"
    """OpenAI's `messages`, as used by TRL."""
    LLAMA_FACTORY = "llama-factory"
    """`conversations` with `from` and `value` (ShareGPT)."""
    AXOLOTL = "axolotl"
    """`messages` with a flag for those to train on."""
    RE2 = "re2"
    """File and field names of Re²."""


@dataclass(frozen=True, slots=True)
class TrainingSample:
    """One dialogue with its origin.

    Attributes:
        about: Its origin (ids, grade, …), under names that training libraries ignore.
        re2: Values of Re²'s own fields, which only that layout has.
    """

    messages: Sequence[Message]
    about: Mapping[str, Any]
    re2: Mapping[str, Any] = field(default_factory=dict)


def _list_messages(sample: TrainingSample) -> list[dict[str, str]]:
    return [{"role": message.speaker.value, "content": message.text} for message in sample.messages]


def _as_messages(sample: TrainingSample) -> dict[str, Any]:
    return {"messages": _list_messages(sample)}


def _as_sharegpt(sample: TrainingSample) -> dict[str, Any]:
    names = {Speaker.USER: "human", Speaker.ASSISTANT: "gpt"}
    dialogue = [message for message in sample.messages if message.speaker is not Speaker.SYSTEM]
    system = [message.text for message in sample.messages if message.speaker is Speaker.SYSTEM]
    spoken = [{"from": names[message.speaker], "value": message.text} for message in dialogue]
    return {"conversations": spoken, "system": "".join(system)}


def _as_axolotl(sample: TrainingSample) -> dict[str, Any]:
    trained = (message.speaker is Speaker.ASSISTANT for message in sample.messages)
    return {
        "messages": [fields | {"train": train} for fields, train in zip(_list_messages(sample), trained, strict=True)]
    }


def _as_re2(sample: TrainingSample) -> dict[str, Any]:
    return {**sample.re2, "messages": _list_messages(sample)}


RENDERERS: dict[ExportLayout, Callable[[TrainingSample], dict[str, Any]]] = {
    ExportLayout.TRL: _as_messages,
    ExportLayout.LLAMA_FACTORY: _as_sharegpt,
    ExportLayout.AXOLOTL: _as_axolotl,
    ExportLayout.RE2: _as_re2,
}
"""Functions that render a sample; `jsonl` has none because it writes rows, not samples."""


def render_sample(sample: TrainingSample, layout: ExportLayout) -> dict[str, Any]:
    """Return one row: the messages in the form of a layout, then the fields of `sample.about`."""
    return {**RENDERERS[layout](sample), **sample.about}


def _encode(row: dict[str, Any]) -> str:
    """Return a row as JSON, with times in ISO 8601.

    >>> _encode({"é": datetime(2020, 1, 2)})
    '{"é": "2020-01-02T00:00:00"}'
    """
    return json.dumps(row, ensure_ascii=False, default=datetime.isoformat)


def _as_list(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    before = "[\n"
    for row in rows:
        yield before + _encode(row)
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def write_rows(path: Path, rows: Iterable[dict[str, Any]], *, as_list: bool) -> None:
    """Write rows one by one: as one array, or as one object per line."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(_as_list(rows) if as_list else (_encode(row) + "\n" for row in rows))

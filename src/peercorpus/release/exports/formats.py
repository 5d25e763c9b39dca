"""Render samples as rows of each layout, and write rows as JSON or JSON Lines."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from peercorpus.models.chat_messages import Message, Speaker
from peercorpus.records.enums import Aspect, ScoreSource
from peercorpus.records.scores import Score


class ExportLayout(StrEnum):
    """Whose files and fields are written."""

    JSONL = "jsonl"
    """The rows of a release as they are, one object per paper."""
    TRL = "trl"
    """OpenAI's `messages`, as TRL takes them."""
    LLAMA_FACTORY = "llama-factory"
    """`conversations` with `from` and `value` (ShareGPT)."""
    AXOLOTL = "axolotl"
    """`messages` that say which of them to train on."""
    RE2 = "re2"
    """File and field names of Re²."""


@dataclass(frozen=True, slots=True)
class TrainingSample:
    """One dialogue with what it was made from.

    Attributes:
        about: What it was made from (ids, grade, …), under names that no trainer reads.
        re2: The same in Re²'s fields, which only that layout has.
    """

    messages: Sequence[Message]
    about: Mapping[str, Any]
    re2: Mapping[str, Any]


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


def re2_place(conference: str | None, year: int | None, track: str | None) -> str:
    """Return where a paper was submitted, as Re² writes it.

    >>> re2_place("iclr", 2020, "main")
    'iclr 2020 main'
    """
    return " ".join(map(str, filter(None, (conference, year, track))))


def format_answer(score: Score) -> str:
    """Return what a reviewer answered, on one line: verbatim, or the number alone of a score found in running text.

    >>> told = Score(Aspect.RECOMMENDATION, "rating", 5, 1, 10, "from 5 to 6", "initial", ScoreSource.TEXT)
    >>> format_answer(told)
    '5'
    """
    is_told = score.source is ScoreSource.TEXT and score.value is not None
    return f"{score.value:g}" if is_told else " ".join(score.label.split())


def re2_scores(scores: Iterable[Score]) -> dict[str, Any] | None:
    """Return a reviewer's scores of one phase in Re²'s three fields; None where there is none."""
    scores_by_name: dict[str, str] = {}
    aspects: list[str] = []
    for score in scores:
        if score.aspect in {Aspect.RECOMMENDATION, Aspect.CONFIDENCE}:
            scores_by_name.setdefault(
                "rating" if score.aspect is Aspect.RECOMMENDATION else "confidence", format_answer(score)
            )
        else:
            aspects.append(f"{score.field}: {format_answer(score)}")
    if not scores_by_name and not aspects:
        return None
    return {"rating": None, "confidence": None, "aspect_score": "\n".join(aspects)} | scores_by_name


def _as_re2(sample: TrainingSample) -> dict[str, Any]:
    return {**sample.re2, "messages": _list_messages(sample)}


RENDERERS: dict[ExportLayout, Callable[[TrainingSample], dict[str, Any]]] = {
    ExportLayout.TRL: _as_messages,
    ExportLayout.LLAMA_FACTORY: _as_sharegpt,
    ExportLayout.AXOLOTL: _as_axolotl,
    ExportLayout.RE2: _as_re2,
}
"""Functions that render a sample; `jsonl` has none, as it writes rows and not samples."""


def render_sample(sample: TrainingSample, layout: ExportLayout) -> dict[str, Any]:
    """Return one row: the messages as a layout has them, then the fields of `sample.about`."""
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

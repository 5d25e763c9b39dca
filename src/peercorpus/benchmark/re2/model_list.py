"""Read a file that lists the models of a comparison."""

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from peercorpus.errors import PeercorpusError

if TYPE_CHECKING:
    from inspect_ai.model import Model

NOT_IN_FOLDERS = re.compile(r"[^A-Za-z0-9._-]+")


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    """A table of a TOML file."""

    model: str
    url: str | None = None
    args: dict[str, Any] = {}
    adapter: str | None = None
    wordings: str | None = None


@dataclass(frozen=True, slots=True)
class ListedModel:
    """One model of a comparison.

    Attributes:
        name: Name of its rows.
        model: Its name in inspect_ai, or a folder.
        url: URL of its endpoint.
        args: Further arguments for its provider.
        options: Options of the tasks for this model only: `adapter` and `wordings`.
    """

    name: str
    model: "str | Model"
    url: str | None = None
    args: dict[str, Any] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """Name of the folder of its logs."""
        return NOT_IN_FOLDERS.sub("-", self.name).strip("-.") or "model"


def read_model_list(path: Path) -> list[ListedModel]:
    """Read a list of models: a TOML file with a table for each, or any other text file with one model per line.

    Raises:
        PeercorpusError: The file cannot be read, names no model, does not have this format, or has a name twice.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise PeercorpusError(
            f"The list of models '{path}' cannot be read ({error}); name a text file with one model per line."
        ) from None
    models = _read_tables(path, text) if path.suffix == ".toml" else _read_lines(text)
    if not models:
        raise PeercorpusError(f"'{path}' names no model; write one per line, such as openai/gpt-5.")
    names = dict[str, str]()
    for model in models:
        if model.folder in names:
            raise PeercorpusError(
                f"'{path}' has two models whose logs would be in the folder '{model.folder}': '{names[model.folder]}'"
                f" and '{model.name}'; give each its own name."
            )
        names[model.folder] = model.name
    return models


def _read_lines(text: str) -> list[ListedModel]:
    lines = (line.partition(" #")[0].strip() for line in text.splitlines())
    return [ListedModel(line, line) for line in lines if line and not line.startswith("#")]


def _read_tables(path: Path, text: str) -> list[ListedModel]:
    try:
        entries = msgspec.convert(tomllib.loads(text), dict[str, _Entry])
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise PeercorpusError(
            f"The list of models '{path}' cannot be read ({error}); write a table for each model, with 'model', and"
            " 'url', 'args', 'adapter' and 'wordings' as needed."
        ) from None
    return [
        ListedModel(
            name=name,
            model=entry.model,
            url=entry.url,
            args=entry.args,
            options={
                option: value
                for option, value in (("adapter", entry.adapter), ("wordings", entry.wordings))
                if value is not None
            },
        )
        for name, entry in entries.items()
    ]

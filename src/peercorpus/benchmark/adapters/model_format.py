"""Read the format of a reviewer model, and find its prompts in its authors' files.

Formats are data (`formats/*.toml`). The prompts belong to the models' authors and are not redistributed: only their
digests are stored, from which they are recognised in the user's copy.
"""

import ast
import hashlib
import json
import re
import tomllib
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path

import msgspec

from peercorpus.errors import PeercorpusError
from peercorpus.records.enums import Aspect


@dataclass(frozen=True, slots=True)
class OwnScore:
    """A score that a model gives.

    Attributes:
        low: Lowest number of the scale that it was trained on.
        high: Highest number of this scale.
    """

    aspect: Aspect
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Wording:
    """A prompt by a model's authors, recognised by its digest.

    Attributes:
        file: File of the authors' publication that contains it.
        sha256: SHA-256 of the text in UTF-8; for an f-string, of the text with its expressions in braces.
    """

    file: str
    sha256: str


@dataclass(frozen=True, slots=True)
class ModelFormat:
    """Known facts about a model's format.

    Attributes:
        models: Ids on the Hugging Face Hub.
        home: Where its authors published the prompts.
        source: Sources and dates, and what is an inference.
        licence: Licence of the prompts and the model.
        context: Tokens of paper and answer together.
        prose: Sections that make up a review, in order.
        others: Sections that are neither prose of the review nor a score.
        last: The section with which a complete answer ends.
        scores: Scores that it gives, by section.
        wordings: Prompts, by purpose.
        generation: Its authors' generation settings.
    """

    models: tuple[str, ...]
    home: str
    source: str
    licence: str
    context: int
    prose: tuple[str, ...]
    others: tuple[str, ...]
    last: str
    scores: Mapping[str, OwnScore]
    wordings: Mapping[str, Wording]
    generation: Mapping[str, float | int] = field(default_factory=dict)

    @property
    def sections(self) -> str:
        """A regular expression that matches the name of any section."""
        return "|".join(re.escape(name) for name in (*self.prose, *self.scores, *self.others))


@cache
def read_format(name: str) -> ModelFormat:
    """Read the format in `formats/<name>.toml`."""
    path = files("peercorpus.benchmark.adapters") / "formats" / f"{name}.toml"
    return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), ModelFormat)


MAX_SEARCHED_BYTES = 2_000_000
"""Larger files are not searched for prompts."""


def _find_json_strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _find_json_strings(item)


def _find_python_strings(text: str) -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            parts = (
                f"{{{ast.unparse(part.value)}}}" if isinstance(part, ast.FormattedValue) else ast.literal_eval(part)
                for part in node.values
            )
            yield "".join(parts)


def _read_strings(path: Path) -> Iterator[str]:
    """Yield every text in a file: the whole content, and the string literals of Python or JSON."""
    try:
        if path.stat().st_size > MAX_SEARCHED_BYTES:
            return
        text = path.read_text(encoding="utf-8")
        yield from (text, text.removesuffix("\n"))
        if path.suffix == ".py":
            yield from _find_python_strings(text)
        elif path.suffix == ".json":
            yield from _find_json_strings(json.loads(text))
    except (OSError, ValueError, SyntaxError, RecursionError):
        return


def find_wordings(format: ModelFormat, location: Path) -> Mapping[str, str]:
    """Return the prompts of a format, by purpose.

    Args:
        format: Format of the model.
        location: A file that contains them, or a folder with the files, such as a copy of the authors' repository.

    Raises:
        PeercorpusError: The path does not exist or does not contain all prompts.
    """
    if not location.exists():
        raise PeercorpusError(f"'{location}' does not exist; get it from {format.home}.")
    names = {Path(wording.file).name for wording in format.wordings.values()}
    paths = [location] if location.is_file() else sorted(path for name in names for path in location.rglob(name))
    texts = [text for path in paths for text in _read_strings(path)]
    text_by_digest = {hashlib.sha256(text.encode("utf-8", "replace")).hexdigest(): text for text in texts}
    missing = sorted({wording.file for wording in format.wordings.values() if wording.sha256 not in text_by_digest})
    if missing:
        raise PeercorpusError(
            f"'{location}' does not contain the prompts that {format.models[0]} was trained with; they are in"
            f" {' and '.join(missing)} of {format.home}: name a folder with these files."
        )
    return {name: text_by_digest[wording.sha256] for name, wording in format.wordings.items()}

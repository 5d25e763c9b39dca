"""The format of a model as data: one TOML file in `formats/` a model, without the words that are its authors'."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

import msgspec

from peercorpus.kinds import Aspect


@dataclass(frozen=True, slots=True)
class OwnScore:
    """A number that a model gives.

    Attributes:
        low: Lowest number of the scale that it was trained on; `high` the highest.
    """

    aspect: Aspect
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Wording:
    """A text of a model's authors that it has to be told, and how it is known again.

    Attributes:
        file: Where it stands in what the authors published.
        sha256: Of the text in UTF-8; of an f-string with the expressions in braces.
    """

    file: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Format:
    """What is known of a model's format.

    Attributes:
        models: Ids on the Hugging Face Hub.
        home: Where its authors published the wordings.
        source: What was read where and when, and what is an inference.
        licence: Under which terms the authors gave the wordings and the model.
        context: Tokens of paper and answer together.
        prose: Sections that make up a review, in their order.
        others: Sections that are neither prose of the review nor a score.
        last: The section with which an answer ends.
        scores: What it gives, by the section.
        wordings: By what they are for.
        generation: Settings of its authors.
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
        """The name of any section, as a regular expression."""
        return "|".join(re.escape(name) for name in (*self.prose, *self.scores, *self.others))


@cache
def read_format(name: str) -> Format:
    """The format in `formats/<name>.toml`."""
    path = files("peercorpus.benchmark.adapters") / "formats" / f"{name}.toml"
    return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Format)

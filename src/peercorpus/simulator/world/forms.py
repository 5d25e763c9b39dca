"""Read the forms of the invented venues, and write them as invitations of both APIs."""

import tomllib
from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

from peercorpus.simulator.world.holdings import Json

Options: TypeAlias = tuple[tuple[int, str], ...] | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FormField:
    """A question of a form.

    Attributes:
        options: Possible answers: strings, or integers with their labels; empty for free text.
    """

    name: str
    description: str
    options: Options = ()
    optional: bool = False
    many: bool = False
    max_length: int = 200000

    def as_v1(self, order: int) -> Json:
        """Return the field in the form of an API v1 `reply.content`."""
        question: Json = {"order": order, "description": self.description, "required": not self.optional}
        if not self.options:
            return question | {"value-regex": f"[\\S\\s]{{1,{self.max_length}}}", "markdown": True}
        return question | {"values-checkbox" if self.many else "value-radio": list(self.options)}

    def as_v2(self, order: int) -> Json:
        """Return the field in the form of an API v2 note template."""
        return {"order": order, "description": self.description, "value": {"param": self._parameters()}}

    def _parameters(self) -> Json:
        missing: Json = {"optional": True, "deletable": True} if self.optional else {}
        if not self.options:
            return {"type": "string", "input": "textarea", "maxLength": self.max_length, "markdown": True} | missing
        if self.many:
            return {"type": "string[]", "input": "checkbox", "enum": list(self.options)} | missing
        if isinstance(self.options[0], str):
            return {"type": "string", "input": "radio", "enum": list(self.options)} | missing
        choices = [{"value": value, "description": label} for value, label in self.options]
        return {"type": "integer", "input": "radio", "enum": choices} | missing


Forms: TypeAlias = Mapping[str, tuple[FormField, ...]]


@cache
def read_venue_data() -> Mapping[str, Any]:
    """Return the content of `data/venues.toml`."""
    return tomllib.loads((files("peercorpus.simulator.world") / "data" / "venues.toml").read_text(encoding="utf-8"))


def read_forms(stages: Sequence[str], *names: str) -> Forms:
    """Return the forms of some stages, each from the first of the named venues that has it, or a shared one."""
    forms = ChainMap(*(read_venue_data()["forms"].get(name, {}) for name in (*names, "shared")))
    read: dict[str, tuple[FormField, ...]] = {}
    for stage, _, shared in (named.partition(": ") for named in stages):
        read[stage] = tuple(_read_field(name, question) for name, question in forms[shared or stage].items())
    return read


def _read_field(name: str, question: Mapping[str, Any]) -> FormField:
    given = question.get("options", ())
    texts = tuple(read_venue_data()["answers"][given] if isinstance(given, str) else given)
    numbered = tuple((int(text.partition(":")[0]), text) for text in texts) if "numbered" in question else ()
    shape = {key: value for key, value in question.items() if key in {"optional", "many", "max_length"}}
    return FormField(name, question["ask"], numbered or texts, **shape)

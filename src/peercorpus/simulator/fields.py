"""A field of a form, and the two ways in which OpenReview's invitations write it."""

from dataclasses import dataclass
from typing import TypeAlias

from peercorpus.simulator.holdings import Json

Options: TypeAlias = tuple[tuple[int, str], ...] | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """One question of a form.

    Attributes:
        options: What may be answered: strings, or integers with their labels; empty for free text.
        many: Whether several options may be chosen.
    """

    name: str
    description: str
    options: Options = ()
    optional: bool = False
    many: bool = False
    max_length: int = 200000

    def as_v1(self, order: int) -> Json:
        """Give the field as an API v1 `reply.content` writes it."""
        question: Json = {"order": order, "description": self.description, "required": not self.optional}
        if not self.options:
            return question | {"value-regex": f"[\\S\\s]{{1,{self.max_length}}}", "markdown": True}
        return question | {"values-checkbox" if self.many else "value-radio": list(self.options)}

    def as_v2(self, order: int) -> Json:
        """Give the field as an API v2 note template writes it."""
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


def text(name: str, description: str, *, optional: bool = False, max_length: int = 200000) -> Field:
    """Give a question answered in free text."""
    return Field(name, description, optional=optional, max_length=max_length)


def choice(name: str, description: str, *options: str, optional: bool = False) -> Field:
    """Give a question answered with one of a few strings."""
    return Field(name, description, options, optional=optional)


def boxes(name: str, description: str, *options: str) -> Field:
    """Give a question answered with any of a few strings."""
    return Field(name, description, options, many=True)


def number(name: str, description: str, *labels: str) -> Field:
    """Give a question answered with an integer; each label reads `6: weak accept`."""
    return Field(name, description, tuple((int(label.partition(":")[0]), label) for label in labels))

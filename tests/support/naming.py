"""Texts for which a test asserts what they name, not how they are worded."""

from collections.abc import Mapping
from typing import Self


class Naming(str):
    """Equals every text that contains all of these parts: an id, a number, a column, a command."""

    parts: tuple[str, ...]

    def __new__(cls, *parts: str) -> Self:
        """Return an object equal to every text that contains these parts.

        Raises:
            ValueError: No part is given, or an empty one: it would equal every text.
        """
        if not parts or not all(parts):
            raise ValueError("a text without a part would equal every other")
        naming = super().__new__(cls, " … ".join(parts))
        naming.parts = parts
        return naming

    def __eq__(self, text: object) -> bool:
        return isinstance(text, str) and all(part in text for part in self.parts)

    def __ne__(self, text: object) -> bool:
        return not self == text

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Naming{self.parts!r}"


def by_name(counts: Mapping[str, int], *names: str) -> dict[str, int]:
    """Return counts under these names instead of the sentences that contain them; each must contain exactly one."""
    named: dict[str, int] = {}
    for sentence, count in counts.items():
        (name,) = (name for name in names if name in sentence)
        if name in named:
            raise ValueError(f"two sentences hold '{name}'")
        named[name] = count
    return named

"""Read the card of a release together with the details beside it."""

from pathlib import Path


def read_card(release: Path) -> str:
    """Return the card, followed by its details."""
    return "\n".join((release / name).read_text(encoding="utf-8") for name in ("README.md", "details.md"))

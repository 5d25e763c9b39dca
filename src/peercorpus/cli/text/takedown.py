"""Texts of `takedown`: what an id removes, and what the next release leaves out."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from peercorpus.cli.text.formatting import counts_by_kind

if TYPE_CHECKING:
    from peercorpus.corpus.takedown import Takedown


def taken_down(takedown: "Takedown", counts: Mapping[str, int]) -> str:
    """Return what each id of the takedown list removes, and what the next release leaves out because of all of them."""
    lines = [
        f"{entry.listed}: {counts_by_kind({'papers': len(entry.forums), 'posts': len(entry.posts)})}"
        if entry.forums or entry.posts
        else f"{entry.listed}: nothing in the tables has this id; it stays listed."
        for entry in takedown.ids
    ]
    return "\n".join([*lines, f"The next release leaves out: {counts_by_kind(counts)}."])


def not_listed(listed: str) -> str:
    """Return that an id was not on the takedown list."""
    return f"{listed}: was not listed."

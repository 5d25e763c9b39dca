"""Check the ids to take down: an id that names nothing is refused, with a suggestion of what may be meant."""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from urllib.parse import unquote

from peercorpus.corpus.takedown import ID_COLUMNS, check_ids, find_removals, read_row_ids
from peercorpus.errors import PeercorpusError
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import Workspace

_IN_URL = re.compile(r"[?&](noteId|id)=([^&#\s]+)")
_PROFILES = re.compile(rb'"(~[^"\\\s]++)(?<=\d)"')
_MAX_CHANGED = 2
"""Number of neighbouring characters that may differ between the typed and the intended id."""


def check_known(workspace: Workspace, ids: Sequence[str]) -> None:
    """Check that each id names a paper, a post or an author of the workspace.

    Raises:
        PeercorpusError: One does not; the message suggests what may have been meant.
    """
    check_ids(ids)
    removals = find_removals(workspace, ids)
    unknown = [entry.listed for entry in removals.ids if not entry.forums and not entry.posts]
    if unknown:
        raise PeercorpusError(
            f"Nothing in the workspace has the id '{unknown[0]}'; {_suggest(workspace, unknown[0])}"
            " Nothing was changed; --force lists it anyway."
        )


def read_listed_id(typed: str) -> str:
    """Return the id in the URL of an OpenReview page (that of the post if it names one); any other text as it is.

    >>> read_listed_id("https://openreview.net/forum?id=abc&noteId=xyz"), read_listed_id("~Ada_Example1")
    ('xyz', '~Ada_Example1')
    >>> read_listed_id("https://openreview.net/profile?id=~Ada_Example1")
    '~Ada_Example1'
    """
    named = dict(_IN_URL.findall(typed))
    return unquote(named.get("noteId") or named.get("id") or typed)


def _suggest(workspace: Workspace, typed: str) -> str:
    """Return a clause that suggests what may be meant by an id that names nothing, to follow a semicolon."""
    if "@" in typed:
        return "authors who have a profile are listed by it (~Ada_Example1), not by their e-mail address."
    if meant := next((known for known in _read_known_ids(workspace) if is_mistyped(typed, known)), None):
        return f"did you mean '{meant}'?"
    return (
        "copy it from the URL of its page on OpenReview: for a paper the part after 'id=', for a post the part"
        " after 'noteId='."
    )


def is_mistyped(typed: str, meant: str) -> bool:
    """Return whether two ids differ in the case of letters, a "~", or at most two neighbouring characters.

    >>> is_mistyped("Ada_Example1", "~Ada_Example1"), is_mistyped("rkg066VKDS", "rkgO66VKDS"), is_mistyped("a", "b")
    (True, True, False)
    """
    if abs(len(typed) - len(meant)) > 1 or min(len(typed), len(meant)) <= 2 * _MAX_CHANGED:
        return False
    start = _count_common(typed, meant)
    end = _count_common(typed[start:][::-1], meant[start:][::-1])
    return typed.casefold() == meant.casefold() or max(len(typed), len(meant)) - start - end <= _MAX_CHANGED


def _count_common(first: str, second: str) -> int:
    """Return the length of the common prefix of two texts."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


def _read_known_ids(workspace: Workspace) -> Iterator[str]:
    """Yield the ids of all papers and posts, then the profiles that the notes name."""
    for name, column in ID_COLUMNS.items():
        for venue_id in workspace.tables.venues(name):
            for batch in workspace.tables.batches(name, venue_id, sorted({column, "forum_id"})):
                for pair in read_row_ids(batch, column):
                    yield from pair
    for venue_id in workspace.raw.venues():
        for received in workspace.raw.versions(RawKind.NOTE, venue_id):
            yield from (profile.decode() for profile in _PROFILES.findall(received.body))

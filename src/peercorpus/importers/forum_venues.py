"""Choose the venue of forums whose submission names none.

A forum belongs to the venue that its own notes name, if all agree. If they name none, it belongs to the venue that was
named when the notes were imported, or otherwise to the one in the file's name. If they name several, the forum stays
unplaced. The order of imports does not matter: all notes of a forum are examined again whenever one of them may add
information.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress

import msgspec

from peercorpus.openreview.objects import read_note, stated_venues
from peercorpus.venues.venue_names import venue_of_file
from peercorpus.workspace.raw_store import UNPLACED, RawObject, RawStore


def place_forums(
    raw: RawStore, by_user: Mapping[str, str], by_file: Mapping[str, str], others: Iterable[str] = ()
) -> None:
    """Assign a venue to forums whose submission names none: the one their notes agree on, or the one named for them.

    Args:
        raw: The store; `RawStore.place` has run.
        by_user: Venue named by the user, by forum id, for forums of notes that name none themselves.
        by_file: Venue from the names of the imported files, likewise.
        others: Forums with a note whose venue differs from that of its forum.
    """
    moves: list[tuple[str, str, str]] = []
    for forum_id, notes in raw.unsettled({*by_user, *by_file, *others}):
        venue_id = _choose_venue(forum_id, notes, by_user.get(forum_id), by_file.get(forum_id))
        moves += [(venue_id, held_id, forum_id) for held_id in sorted({note.venue_id for note in notes} - {venue_id})]
    raw.move(moves)


def _choose_venue(forum_id: str, notes: list[RawObject], by_user: str | None, by_file: str | None) -> str:
    """Return the venue of a forum from all versions of all its notes, latest last; `UNPLACED` if it is undecided.

    The submission takes precedence over replies, replies over the user, and the user over the names of files.
    """
    read = []
    for raw_note in notes:
        with suppress(msgspec.ValidationError):
            read.append((raw_note, read_note(raw_note.body)))
    roots = [(raw, note) for raw, note in read if raw.object_id == forum_id and (note.domain or note.created_by)]
    if roots:
        raw_root, root = roots[-1]
        return raw_root.venue_id if raw_root.venue_id != UNPLACED else next(stated_venues(root))
    stated = {venue_id for _, note in read for venue_id in stated_venues(note)}
    if stated:
        return stated.pop() if len(stated) == 1 else UNPLACED
    return by_user or _find_named(notes, by_file)


def _find_named(notes: list[RawObject], by_file: str | None) -> str:
    """Return the venue that a user named earlier, or otherwise the one that the names of the notes' files agree on."""
    named = [(note.venue_id, venue_of_file(note.origin)) for note in notes]
    placed = {venue_id for venue_id, _ in named} - {UNPLACED}
    by_files = {own for _, own in named if own}
    # If a note is at another venue than its file's name states, or the name states none, a user has named the venue.
    overruled = {venue_id for venue_id, own in named if own not in {None, venue_id}} - {UNPLACED}
    chosen = overruled or placed - by_files or by_files or ({by_file} if by_file else set())
    return chosen.pop() if len(chosen) == 1 else UNPLACED

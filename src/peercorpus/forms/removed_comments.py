"""Recognise public comments that a venue removed, such as those at ICLR 2026 from the days of the leak.

A dump from those days may contain them. The rule is in the catalogue (`removed_comments`), and a user's row cannot
override it.
"""

from datetime import datetime

from peercorpus.execution.stage import digest_of_data
from peercorpus.forms.vocabulary import VenueVocabulary
from peercorpus.openreview.objects import Note, invitation_name
from peercorpus.records.enums import Role
from peercorpus.venues.catalogue import RemovedComments, row_of
from peercorpus.workspace.raw_store import RawStore

_INVITATION = "public_comment"
"""Last element, in lower case, of the invitation for public comments."""


def is_removed(note: Note, venue_id: str, words: VenueVocabulary, raw: RawStore) -> bool:
    """Return whether a reply is a public comment from days whose comments its venue removed, and was not shown since.

    One posted earlier counts if it was changed on those days, and one without a time counts too.

    Args:
        note: The note.
        venue_id: Its venue.
        words: The venue's vocabulary, with its names of roles.
        raw: The store, which has the time when a listing last showed a note.
    """
    rule = _find_rule(venue_id)
    if rule is None or note.id == note.forum or not _is_public_comment(note, words):
        return False
    since_ms, until_ms = _to_ms(rule.since), _to_ms(rule.until)
    moments = [note.created_ms, note.modified_ms]
    is_of_those_days = note.created_ms is None or any(since_ms <= (one or 0) <= until_ms for one in moments)
    return is_of_those_days and raw.state.shown_ms(note.id or "") <= until_ms


def removed_comments_digest(venue_id: str, raw: RawStore) -> str:
    """Return the digest of the rule for which comments are set aside; empty for a venue that removed none."""
    rule = _find_rule(venue_id)
    if rule is None:
        return ""
    until_ms = _to_ms(rule.until)
    return digest_of_data([_to_ms(rule.since), until_ms, raw.state.shown_after(venue_id, until_ms)])


def _find_rule(venue_id: str) -> RemovedComments | None:
    row = row_of(venue_id)
    return row.removed_comments if row else None


def _to_ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1_000)


def _is_public_comment(note: Note, words: VenueVocabulary) -> bool:
    signers = (signature.rpartition("/")[2] for signature in note.signatures or ())
    by_invitation = invitation_name(note.created_by).lower() == _INVITATION
    return by_invitation or any(words.role(signer) is Role.PUBLIC for signer in signers)

"""Texts about sources whose records are mostly set aside: how many, why, and what to do."""

from collections.abc import Sequence

from peercorpus.pipeline.losses import LEFT_OUT, SourceLoss
from peercorpus.records.enums import Reason
from peercorpus.wording.counted_nouns import plural
from peercorpus.wording.untrusted_text import escape_controls

_IMPORT_WHOLE = "import the notes as OpenReview's API returns them, or harvest the venue"
REMEDIES: dict[str, str] = {
    LEFT_OUT: "name the files that contain notes, each with its id, forum and content",
    Reason.NO_VENUE: "import it again with --venue VENUE_ID, such as --venue ICLR.cc/2019/Conference",
    Reason.NO_INVITATION: (
        f"check that --venue, or the name of the file, is the venue that these notes belong to; else {_IMPORT_WHOLE}"
    ),
    Reason.NO_FORUM: _IMPORT_WHOLE,
    Reason.FORUM_MISSING: "import the submissions too, or harvest the venue",
    Reason.FORUM_SET_ASIDE: "nothing, unless their submission is set aside by mistake",
    Reason.OTHER_VENUE: "harvest the venue that they name, if you want it",
    Reason.NOT_PUBLIC: "nothing, if they are not meant for everyone",
    Reason.DELETED: "nothing, if they were deleted on purpose",
    Reason.NO_LONGER_SHOWN: "nothing; the venue has withdrawn them since",
    Reason.NOT_LISTED_SINCE: "harvest the venue",
    Reason.REMOVED_BY_VENUE: "nothing; a harvest of the venue brings back those that OpenReview still shows",
    Reason.SUPERSEDED: "nothing; each paper is made of one source, here of another one",
    Reason.UNREADABLE: _IMPORT_WHOLE,
    Reason.RECORD_UNREADABLE: "fetch the dataset again, and compare its columns with its card",
}
"""What to do, by the reason for which most records of a source are set aside."""


def lost(losses: Sequence[SourceLoss], *, is_built: bool) -> list[str]:
    """Return two lines for each source most of whose records are set aside."""
    return [line for loss in losses for line in _lost(loss, is_built=is_built)]


def _lost(loss: SourceLoss, *, is_built: bool) -> tuple[str, str]:
    share = "None" if loss.total == loss.records else f"Only {loss.records - loss.total:,}"
    verb = "are" if loss.records - loss.total > 1 else "is"
    will = verb if is_built else "will be"
    reasons = ", ".join(f"{reason} {number:,}" for reason, number in loss.aside.items())
    source = escape_controls(loss.source, 500)
    remedy = REMEDIES.get(next(iter(loss.aside)), _IMPORT_WHOLE)
    return (
        f"{share} of {plural(loss.records, 'record')} of '{source}' {will} used; {loss.total:,} set aside: {reasons}.",
        f"  {escape_controls(loss.detail, 300).rstrip('.')}. What to do: {remedy}.",
    )

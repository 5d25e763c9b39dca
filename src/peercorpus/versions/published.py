"""The texts of published records as versions: which version of the paper they are is not known, so none is initial."""

import hashlib
from collections.abc import Sequence

import msgspec

from peercorpus.kinds import Reason
from peercorpus.published.datasets import HOLD_TEXT, Dataset, dataset_of, read_text
from peercorpus.raw import Kind, RawObject
from peercorpus.records import Evidence, PaperVersion
from peercorpus.tables import Replacement

RULES = {
    Dataset.REVIEWBENCH: "ReviewBench does not state which version of the paper it read",
    Dataset.RE2_TEXT: "Re² calls its text the initial manuscript and shows no edit that proves it",
}


def read_published(
    objects: Sequence[RawObject], *, has_paper: bool, is_held: bool, venue_id: str, out: Replacement
) -> None:
    """Write a version for every text of a forum that a published record holds.

    Args:
        objects: All that is held of the forum.
        has_paper: Whether a paper was made of any of it.
        is_held: Whether OpenReview's own note of the paper is held: then no record counts.
        venue_id: The forum's venue.
        out: What is written.
    """
    for found in objects:
        if found.kind is not Kind.PUBLISHED or dataset_of(found.object_id) not in HOLD_TEXT:
            continue
        record_id, forum_id = found.object_id, found.forum_id
        if is_held:
            out.set_aside(record_id, forum_id, Reason.SUPERSEDED, "OpenReview's own notes of the paper are held.")
            continue
        if not has_paper:
            out.set_aside(record_id, forum_id, Reason.FORUM_MISSING, "No record of the paper itself was imported.")
            continue
        try:
            text = read_text(record_id, found.body)
        except msgspec.DecodeError as error:
            out.set_aside(record_id, forum_id, Reason.RECORD_UNREADABLE, str(error))
            continue
        if text is None:
            out.set_aside(record_id, forum_id, Reason.NO_TEXT, "The record holds no text of the paper.")
        else:
            out.add(_version(found, text, venue_id))


def _version(found: RawObject, text: str, venue_id: str) -> PaperVersion:
    return PaperVersion(
        forum_id=found.forum_id,
        venue_id=venue_id,
        edit_id=found.object_id,
        created_at=None,
        modified_at=None,
        path=found.object_id,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        is_initial=False,
        grade=None,
        evidence=Evidence(None, None, RULES[dataset_of(found.object_id)], None),
    )

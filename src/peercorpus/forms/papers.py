"""Read a submission's root note as a `Paper`, with its decision and status."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from peercorpus.forms import decisions, vocabulary
from peercorpus.forms.reviews import fields_to_json
from peercorpus.forms.vocabulary import VenueVocabulary
from peercorpus.openreview.objects import Note, invitation_name, to_time
from peercorpus.records.enums import PostKind, Status
from peercorpus.records.papers import Paper, read_year
from peercorpus.venues.venue_id import conference_of, track_of, year_of

TLDR_FIELDS = ("TLDR", "TL;DR", "tldr", "tl;dr", "one-sentence_summary")
AREA_FIELDS = ("primary_area", "subject_areas", "track", "Submission_Type", "area")
BLIND_AUTHORS = frozenset({"anonymous", "anonymous authors", "paper under double-blind review"})
_UNDECIDED = re.compile(r"\bsubmission$", re.IGNORECASE)
"""Matches the `venue` of a paper without a decision ("ACL ARR 2026 January Submission")."""
STATUS_BY_REPLY = {PostKind.WITHDRAWAL: Status.WITHDRAWN, PostKind.DESK_REJECTION: Status.DESK_REJECTED}


class PostedDecision(NamedTuple):
    """A decision as posted: its wording, time and comment, each None if missing."""

    decision: str | None
    decided_at: datetime | None
    comment: str | None


def _find_text(fields: Mapping[str, Any], *names: str) -> str | None:
    for name in names:
        if isinstance(text := fields.get(name), str):
            return text
    return None


def _read_names(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        value = re.split(r"[,;]\s*", value)
    if not isinstance(value, list):
        return ()
    named = (entry.get("fullname") if isinstance(entry, dict) else entry for entry in value)
    return tuple(name.strip() for name in named if isinstance(name, str) and name.strip())


def read_posted_decision(
    root: Note, replies: Sequence[tuple[PostKind, Note]], words: VenueVocabulary
) -> PostedDecision:
    """Return the latest decision posted.

    On API v1, where some venues posted no decisions, the latest meta-review with a recommendation counts as one;
    without either, the submission itself may state the decision, at an unknown time. The comment is that of the
    decision, or otherwise that of the meta-review.
    """
    decides = {PostKind.DECISION, PostKind.META_REVIEW} if root.is_of_v1 else {PostKind.DECISION}
    meta_text = None
    is_final = False
    posted = PostedDecision(None, None, None)
    for kind, note in replies:
        fields = note.fields
        if kind is PostKind.META_REVIEW:
            meta_text = _find_text(fields, "metareview", "comment") or meta_text
        if kind in decides:
            decision = _find_text(fields, *words.decision_fields)
            if decision and (kind is PostKind.DECISION or not is_final):
                posted = PostedDecision(decision, to_time(note.created_ms), _find_text(fields, "comment", "metareview"))
                is_final = kind is PostKind.DECISION
    if posted.decision is None and root.is_of_v1:
        posted = posted._replace(decision=_find_text(root.fields, *vocabulary.SUBMISSION_DECISION_FIELDS))
    return posted._replace(comment=posted.comment or meta_text)


def _read_note_status(root: Note, fields: Mapping[str, Any], venue_id: str, words: VenueVocabulary) -> Status:
    tail = words.kind(invitation_name(root.created_by))
    if tail in STATUS_BY_REPLY:
        return STATUS_BY_REPLY[tail]
    venueid = _find_text(fields, "venueid") or ""
    if root.is_of_v1:
        # API v1 put the bare venue id on rejected papers too (ICLR 2017, 2022, 2023; NeurIPS 2021, 2022).
        return words.own_status_of_venueid(venueid) or Status.UNKNOWN
    status = words.status(venueid, venue_id) if venueid else Status.UNKNOWN
    # The cycles of ACL Rolling Review put their own id on all papers, and accept none.
    is_open = venueid == venue_id and _UNDECIDED.search(_find_text(fields, "venue") or "") is not None
    return Status.UNKNOWN if is_open and words.own_status_of_venueid(venueid) is None else status


def _read_reply_status(replies: Sequence[tuple[PostKind, Note]]) -> Status:
    reverted: dict[PostKind, int] = {}
    for _, note in replies:
        if note.fields.keys().isdisjoint(vocabulary.REVERSIONS):
            continue
        for field in vocabulary.REVERSIONS.keys() & note.fields.keys():
            kind = vocabulary.REVERSIONS[field]
            reverted[kind] = max(reverted.get(kind, 0), note.created_ms or 0)
    # A reply with the same time as its reversion counts as reverted.
    left = (kind for kind, note in reversed(replies) if (note.created_ms or 0) > reverted.get(kind, -1))
    return next((STATUS_BY_REPLY[kind] for kind in left if kind in STATUS_BY_REPLY), Status.UNKNOWN)


def read_status(
    root: Note, venue_id: str, verdict: PostedDecision, replies: Sequence[tuple[PostKind, Note]], words: VenueVocabulary
) -> Status:
    """Return the status of a submission.

    The first source that states one decides: the note's own invitation and venue id, its replies, the decision, and the
    field `venue`. A decision that is not understood leaves the status unknown, not under review.
    """
    fields = root.fields
    status = _read_note_status(root, fields, venue_id, words)
    stated = words.own_status(verdict.decision or "")
    if status is Status.ACCEPTED and stated is not None:
        return stated  # The user's statement on a decision; a bare venue id may be on every paper.
    if status not in {Status.UNKNOWN, Status.UNDER_REVIEW}:
        return status
    if (_find_text(fields, "venueid") or "").rpartition("/")[2].lower() in vocabulary.REVOKED_VENUEIDS:
        return Status.UNKNOWN
    left = _read_reply_status(replies)
    if left is not Status.UNKNOWN:
        return left
    decided = words.status_of_decision(verdict.decision) if verdict.decision else Status.UNKNOWN
    if decided is Status.UNKNOWN:
        listed = _find_text(fields, "venue") or ""
        decided = words.status_of_venue(listed) if root.is_of_v1 else words.status_of_heading(listed)
        if verdict.decision and decided is Status.REJECTED and words.own_status(listed) is None:
            decided = Status.UNKNOWN  # One heading covers all but accepted papers.
    is_open = not verdict.decision or decisions.is_pending(verdict.decision)
    return status if decided is Status.UNKNOWN and is_open else decided


def read_paper(root: Note, venue_id: str, replies: Sequence[tuple[PostKind, Note]], words: VenueVocabulary) -> Paper:
    """Return one submission as a `Paper`."""
    fields = root.fields
    verdict = read_posted_decision(root, replies, words)
    authors = _read_names(fields.get("authors"))
    texts = ("title", "abstract", "venue", "primary_area", *TLDR_FIELDS)
    used = {name for name in texts if isinstance(fields.get(name), str)}
    used |= {name for name in ("authors", "keywords") if isinstance(fields.get(name), str | list)}
    created_at = to_time(root.created_ms)
    year, year_from = read_year(year_of(venue_id), verdict.decided_at, created_at)
    return Paper(
        forum_id=root.id or "",
        venue_id=venue_id,
        conference=conference_of(venue_id),
        year=year,
        track=track_of(venue_id),
        number=root.number,
        title=_find_text(fields, "title"),
        abstract=_find_text(fields, "abstract"),
        authors=() if {author.lower() for author in authors} <= BLIND_AUTHORS else authors,
        keywords=_read_names(fields.get("keywords")),
        tldr=_find_text(fields, *TLDR_FIELDS),
        primary_area=_find_text(fields, *AREA_FIELDS),
        venue=_find_text(fields, "venue"),
        status=read_status(root, venue_id, verdict, replies, words),
        decision=verdict.decision,
        decided_at=verdict.decided_at,
        decision_comment=verdict.comment,
        licence=root.license,
        created_at=created_at,
        modified_at=to_time(root.modified_ms),
        extra=fields_to_json({name: value for name, value in fields.items() if name not in used}),
        year_from=year_from,
    )

"""One root note and its replies → `Paper`: what was submitted, and what became of it."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from peercorpus.forms import vocabulary
from peercorpus.forms.reviews import as_json
from peercorpus.forms.words import Words
from peercorpus.kinds import PostKind, Status
from peercorpus.openreview.objects import Note, tail_of, to_time
from peercorpus.records import Paper
from peercorpus.venues.catalogue import conference_of, track_of, year_of

ONE_SENTENCE = ("TLDR", "TL;DR", "tldr", "tl;dr", "one-sentence_summary")
AREAS = ("primary_area", "subject_areas", "track", "Submission_Type", "area")
ACCOUNTS = frozenset({"authorids", "author_emails", "authors_emails", "contact_author_email", "reviewing_author"})
BLIND = frozenset({"anonymous", "anonymous authors", "paper under double-blind review"})
LEAVING = {PostKind.WITHDRAWAL: Status.WITHDRAWN, PostKind.DESK_REJECTION: Status.DESK_REJECTED}


class Verdict(NamedTuple):
    """A decision as posted: its words, when, and the text with it."""

    decision: str | None
    decided_at: datetime | None
    comment: str | None


def _text(fields: Mapping[str, Any], *names: str) -> str | None:
    return next((fields[name] for name in names if isinstance(fields.get(name), str)), None)


def _names(value: object) -> tuple[str, ...]:
    """People or words as a list has them; one string is split where commas separate."""
    if isinstance(value, str):
        value = re.split(r"[,;]\s*", value)
    if not isinstance(value, list):
        return ()
    named = (entry.get("fullname") if isinstance(entry, dict) else entry for entry in value)
    return tuple(name.strip() for name in named if isinstance(name, str) and name.strip())


def read_verdict(root: Note, replies: Sequence[tuple[PostKind, Note]], words: Words) -> Verdict:
    """The latest decision posted; on API v1, where some venues posted none, a meta-review that recommends is it.

    Where there is neither, it is what the submission itself states on API v1, at no known time. The text is the
    decision's own, else that of the meta-review.
    """
    decides = {PostKind.DECISION, PostKind.META_REVIEW} if root.invitation else {PostKind.DECISION}
    meta_text, is_final = None, False
    found = Verdict(None, None, None)
    for kind, note in replies:
        fields = note.fields
        if kind is PostKind.META_REVIEW:
            meta_text = _text(fields, "metareview", "comment") or meta_text
        if kind in decides:
            decision = _text(fields, *words.decision_fields)
            if decision and (kind is PostKind.DECISION or not is_final):
                found = Verdict(decision, to_time(note.created_ms), _text(fields, "comment", "metareview"))
                is_final = kind is PostKind.DECISION
    if found.decision is None and root.invitation:
        found = found._replace(decision=_text(root.fields, *vocabulary.SUBMISSION_DECISION_FIELDS))
    return found._replace(comment=found.comment or meta_text)


def _status_of_note(root: Note, fields: Mapping[str, Any], venue_id: str, words: Words) -> Status:
    tail = words.kind(tail_of(root.created_by))
    if tail in LEAVING:
        return LEAVING[tail]
    venueid = _text(fields, "venueid")
    # API v1 put the bare venue id on rejected papers too (ICLR 2017, 2022, 2023; NeurIPS 2021, 2022).
    return words.status(venueid, venue_id) if venueid and root.invitations else Status.UNKNOWN


def _status_of_replies(replies: Sequence[tuple[PostKind, Note]]) -> Status:
    """What the last withdrawal or desk rejection says that was not reverted afterwards; unknown where there is none."""
    reverted: dict[PostKind, int] = {}
    for _, note in replies:
        for field in vocabulary.REVERSIONS.keys() & note.fields.keys():
            kind = vocabulary.REVERSIONS[field]
            reverted[kind] = max(reverted.get(kind, 0), note.created_ms or 0)
    # What is reverted in the same instant came before its reversion.
    left = (kind for kind, note in reversed(replies) if (note.created_ms or 0) > reverted.get(kind, -1))
    return next((LEAVING[kind] for kind in left if kind in LEAVING), Status.UNKNOWN)


def read_status(
    root: Note, venue_id: str, verdict: Verdict, replies: Sequence[tuple[PostKind, Note]], words: Words
) -> Status:
    """What became of a submission: by where the note lies, else by its replies, the verdict, or API v1's `venue`."""
    fields = root.fields
    status = _status_of_note(root, fields, venue_id, words)
    if status not in {Status.UNKNOWN, Status.UNDER_REVIEW}:
        return status
    left = _status_of_replies(replies)
    if left is not Status.UNKNOWN:
        return left
    decided = words.status_of_decision(verdict.decision) if verdict.decision else Status.UNKNOWN
    if decided is Status.UNKNOWN and root.invitation:
        decided = vocabulary.status_of_venue(_text(fields, "venue") or "")
    return status if decided is Status.UNKNOWN else decided


def read_paper(root: Note, venue_id: str, replies: Sequence[tuple[PostKind, Note]], words: Words) -> Paper:
    """One submission.

    Args:
        root: The root note as it is now.
        venue_id: Its venue.
        replies: Its public, undeleted replies with their kinds, in time order.
        words: What the venue calls things.
    """
    fields = root.fields
    verdict = read_verdict(root, replies, words)
    authors = _names(fields.get("authors"))
    texts = ("title", "abstract", "venue", "primary_area", *ONE_SENTENCE)
    used = {name for name in texts if isinstance(fields.get(name), str)}
    used |= {name for name in ("authors", "keywords") if isinstance(fields.get(name), str | list)}
    return Paper(
        forum_id=root.id or "",
        venue_id=venue_id,
        conference=conference_of(venue_id),
        year=year_of(venue_id),
        track=track_of(venue_id),
        number=root.number,
        title=_text(fields, "title"),
        abstract=_text(fields, "abstract"),
        authors=() if {author.lower() for author in authors} <= BLIND else authors,
        keywords=_names(fields.get("keywords")),
        tldr=_text(fields, *ONE_SENTENCE),
        primary_area=_text(fields, *AREAS),
        venue=_text(fields, "venue"),
        status=read_status(root, venue_id, verdict, replies, words),
        decision=verdict.decision,
        decided_at=verdict.decided_at,
        decision_comment=verdict.comment,
        licence=root.license,
        created_at=to_time(root.created_ms),
        modified_at=to_time(root.modified_ms),
        extra=as_json({name: value for name, value in fields.items() if name not in used | ACCOUNTS}),
    )

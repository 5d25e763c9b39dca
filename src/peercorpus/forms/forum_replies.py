"""Find which replies of a forum are reviews, which their venue removed, and how many were never seen.

A reply without an invitation is a review if it answers the review form.

Public comments from the days of the leak at ICLR 2026 were removed by the venue, and a dump from those days may contain
them. The rule is in the catalogue (`removed_comments`), and a user's row cannot override it.

OpenReview numbers notes by the invitation that created them (its reference, "note fields"; the recorded forums count
from 1). In an invitation of one paper each number up to the largest one therefore belongs to a reply that was posted. A
gap does not show whether the reply is hidden or was deleted before anyone looked, and replies after the largest number
seen, or under an invitation none of whose replies is seen, leave no gap: the count is the least that is proven.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable
from datetime import datetime
from typing import NamedTuple

import msgspec

from peercorpus.execution.stage import digest_of_data
from peercorpus.forms import vocabulary
from peercorpus.forms.ai_reviews import set_apart
from peercorpus.forms.form import ReviewForm, find_contradiction
from peercorpus.forms.reply_kinds import find_reply_kind, signer_of
from peercorpus.forms.reviews import read_fields
from peercorpus.forms.venue_forms import FormOrigin, VenueReader, read_form_origin
from peercorpus.forms.vocabulary import VenueVocabulary
from peercorpus.openreview.objects import PAPER_GROUP, Note, decode_leniently, invitation_name
from peercorpus.records.enums import Aspect, FieldType, PostKind, Role, SectionKind
from peercorpus.venues.catalogue import row_of
from peercorpus.venues.committees import signs_for_several
from peercorpus.workspace.raw_store import RawStore

_REVIEWERS = frozenset({Role.REVIEWER, Role.PUBLIC, Role.UNKNOWN})
"""Roles that may sign a review: anyone but authors and chairs, as early venues let people review by name."""


def kind_of_reply(note: Note, reader: VenueReader, words: VenueVocabulary) -> PostKind | None:
    """Return the kind of a reply; None if it names no invitation and is not known to be a review."""
    if note.created_by:
        return find_reply_kind(note, reader.venue_id, words, reader.form_fields)
    is_on_top = note.replyto in {None, note.forum}
    role = words.role(signer_of(note))
    is_review = is_on_top and role in _REVIEWERS and answers_review_form(note, reader.form_of(note))
    return set_apart(note, reader.venue_id, reader.words) if is_review else None


def is_unnamed_review(kind: PostKind, note: Note, words: VenueVocabulary) -> bool:
    """Return whether a review names no single reviewer.

    It has no signature, and is known to be a review only from its content, or is signed by all reviewers together.
    """
    if kind is not PostKind.REVIEW:
        return False
    if not note.signatures:
        return not note.created_by
    return signs_for_several(note.signatures[0]) and words.role(signer_of(note)) is Role.REVIEWER


def answers_review_form(note: Note, form: ReviewForm) -> bool:
    """Return whether the content of a note is that of a review.

    The note must answer a score and a text of a known form, or two texts if the form has no score, and no answer must
    contradict the form. Without a known form, the note must rate the paper and have a text that only reviews have.
    """
    reading = read_fields(note.fields, form)
    if read_form_origin(form.form_id) is FormOrigin.INFERRED:
        is_rated = any(score.aspect is Aspect.RECOMMENDATION for score in reading.scores)
        known = (vocabulary.SECTIONS.get(section.field.lower()) for section in reading.sections)
        return is_rated and any(kind is not None and kind is not SectionKind.ETHICS for kind in known)
    scores = [score for score in reading.scores if score.field.lower() in form.lowered]
    texts = [section for section in reading.sections if section.field.lower() in form.lowered]
    if any(find_contradiction(name, answer, form) for name, answer in note.fields.items()):
        return False
    asks_scores = any(question.type is FieldType.SCORE or question.has_scale for question in form.questions.values())
    return bool(scores and texts) if asks_scores else len(texts) > 1


_INVITATION = "public_comment"
"""Last element, in lower case, of the invitation for public comments."""


def is_removed(note: Note, venue_id: str, words: VenueVocabulary, raw: RawStore) -> bool:
    """Return whether a reply is a public comment from days whose comments its venue removed, not shown since.

    One posted earlier counts if it was changed on those days, and one without a time counts too.
    """
    row = row_of(venue_id)
    rule = row.removed_comments if row else None
    if rule is None or note.id == note.forum or not _is_public_comment(note, words):
        return False
    since_ms, until_ms = _to_ms(rule.since), _to_ms(rule.until)
    moments = [note.created_ms, note.modified_ms]
    is_of_those_days = note.created_ms is None or any(since_ms <= (one or 0) <= until_ms for one in moments)
    return is_of_those_days and raw.state.shown_ms(note.id or "") <= until_ms


def removed_comments_digest(venue_id: str, raw: RawStore) -> str:
    """Return the digest of the rule for which comments are set aside; empty for a venue that removed none."""
    row = row_of(venue_id)
    rule = row.removed_comments if row else None
    if rule is None:
        return ""
    until_ms = _to_ms(rule.until)
    return digest_of_data([_to_ms(rule.since), until_ms, raw.state.shown_after(venue_id, until_ms)])


def _to_ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1_000)


def _is_public_comment(note: Note, words: VenueVocabulary) -> bool:
    signers = (signature.rpartition("/")[2] for signature in note.signatures or ())
    by_invitation = invitation_name(note.created_by).lower() == _INVITATION
    return by_invitation or any(words.role(signer) is Role.PUBLIC for signer in signers)


_REPLY_GROUP = re.compile(
    r"^(?P<paper>.*?/(?:Paper|Submission|paper)\d+)/(?P<name>[A-Za-z]\w{0,99}?)(?P<number>\d{1,6})/-/"
)
"""Matches the invitation to reply to one numbered note: `…/Submission7/Official_Review2/-/Rebuttal`."""

MOST = 10_000
"""Larger numbers count something other than the replies to one paper; our choice."""


class UnseenReplies(NamedTuple):
    """Replies that are not posts: at least so many never seen (None if unknown), and so many deleted or no longer
    shown.
    """

    not_shown: int | None
    deleted: int


class _Details(msgspec.Struct):
    replyCount: int | None = None  # noqa: N815 -- OpenReview's name


def count_unseen(forum_id: str, notes: Iterable[Note], gone: Container[str]) -> UnseenReplies:
    """Count the replies of a forum that were not seen or are gone: `gone` are ids that a later listing lacks."""
    numbers: defaultdict[str, set[int]] = defaultdict(set)
    seen: Counter[str] = Counter()
    answered: set[tuple[str, int]] = set()
    replies = deleted = 0
    bounds: list[int] = []
    for note in notes:
        if note.id == forum_id:
            stated = decode_leniently(_Details, bytes(note.details)).replyCount
            bounds += [] if stated is None else [stated]
            continue
        replies += 1
        deleted += note.ddate is not None or note.id in gone
        first = note.invitation or next(iter(note.invitations or ()), "")
        seen[first] += 1
        if PAPER_GROUP.search(first) and note.number is not None and 0 < note.number <= MOST:
            numbers[first].add(note.number)
        if group := _REPLY_GROUP.match(first):
            answered.add((f"{group['paper']}/-/{group['name']}", int(group["number"])))
    for invitation, number in answered:
        if invitation in numbers and 0 < number <= MOST:  # Otherwise it may be the number of a reviewer.
            numbers[invitation].add(number)
    bounds = [max(0, stated - replies) for stated in bounds]
    if numbers:
        # A note that was seen without its number has one too.
        bounds.append(sum(max(0, max(held) - max(len(held), seen[name])) for name, held in numbers.items()))
    return UnseenReplies(max(bounds, default=None), deleted)

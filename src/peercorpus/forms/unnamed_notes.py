"""Determine the kind of a reply; one without an invitation is a review if it answers the review form."""

from peercorpus.forms import vocabulary
from peercorpus.forms.ai_reviews import find_kind, speaks_for_ai
from peercorpus.forms.answer_checks import find_contradiction
from peercorpus.forms.form import ReviewForm
from peercorpus.forms.reviews import read_fields
from peercorpus.forms.venue_forms import FormOrigin, VenueReader, read_form_origin
from peercorpus.openreview.objects import Note
from peercorpus.records.enums import Aspect, FieldType, PostKind, Role, SectionKind

KindOfReply = tuple[PostKind, Note]

_REVIEWERS = frozenset({Role.REVIEWER, Role.PUBLIC, Role.UNKNOWN})
"""Roles that may sign a review: anyone but authors and chairs, as early venues let people review by name."""


def kind_of_reply(note: Note, reader: VenueReader) -> PostKind | None:
    """Return the kind of a reply; None if it names no invitation and is not known to be a review."""
    if note.created_by:
        return find_kind(note, reader.venue_id, reader.words)
    is_on_top = note.replyto in {None, note.forum}
    role = reader.words.role((note.signatures or [""])[0].rpartition("/")[2])
    may_review = role in _REVIEWERS and not speaks_for_ai(note, reader.venue_id, reader.words)
    is_review = is_on_top and may_review and answers_review_form(note, reader.form_of(note))
    return PostKind.REVIEW if is_review else None


def is_unsigned_review(kind: PostKind, note: Note) -> bool:
    """Return whether a note is known to be a review only from its content, and has no signature."""
    return kind is PostKind.REVIEW and not note.created_by and not note.signatures


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

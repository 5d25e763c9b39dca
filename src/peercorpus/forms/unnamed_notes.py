"""Determine the kind of each reply of a forum; one without an invitation is a review if it answers the review form."""

from peercorpus.forms import vocabulary
from peercorpus.forms.ai_reviews import set_apart
from peercorpus.forms.form import ReviewForm, find_contradiction
from peercorpus.forms.reply_kinds import find_reply_kind, signer_of
from peercorpus.forms.reviews import read_fields
from peercorpus.forms.venue_forms import FormOrigin, VenueReader, read_form_origin
from peercorpus.forms.vocabulary import VenueVocabulary
from peercorpus.openreview.objects import Note
from peercorpus.records.enums import Aspect, FieldType, PostKind, Role, SectionKind
from peercorpus.venues.committees import signs_for_several

_REVIEWERS = frozenset({Role.REVIEWER, Role.PUBLIC, Role.UNKNOWN})
"""Roles that may sign a review: anyone but authors and chairs, as early venues let people review by name."""


def kind_of_reply(note: Note, reader: VenueReader, words: VenueVocabulary) -> PostKind | None:
    """Return the kind of a reply; None if it names no invitation and is not known to be a review.

    Args:
        note: The reply.
        reader: The reader of its venue.
        words: The venue's vocabulary, perhaps with roles learned from the forum.
    """
    if note.created_by:
        return find_reply_kind(note, reader.venue_id, words, reader.asked)
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

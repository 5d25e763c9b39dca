"""Determine the kind of a reply: by its invitation's name or, if that is not known, by its place, signer and content.

Venues name invitations as they like ("Reply_Rebuttal_Comment", "Review_Round_2"). A name that the vocabulary does not
know therefore decides nothing: what a reviewer posts to the paper is a review if it contains a review's answers, and
what authors and reviewers post below another reply is part of a discussion. Posts by anyone else need more: they are
comments only if they answer another reply and contain nothing but one text, so that no form for chairs counts as one.
"""

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

import msgspec

from peercorpus.forms import vocabulary
from peercorpus.forms.ai_reviews import find_kind, find_signer, set_apart
from peercorpus.forms.form import ReviewForm, is_score
from peercorpus.forms.posts import is_prose_field
from peercorpus.forms.scales import label_number
from peercorpus.forms.vocabulary import VenueVocabulary
from peercorpus.openreview.objects import Note, invitation_name, is_path
from peercorpus.records.enums import Aspect, PostKind, Role, SectionKind
from peercorpus.venues.ai_reviews import SIGNERS, SURVEYS
from peercorpus.venues.committees import find_committee, holds_office, signs_for_several

KindOfReply = tuple[PostKind, Note]

JUDGING = frozenset({SectionKind.STRENGTHS, SectionKind.WEAKNESSES, SectionKind.ASSESSMENT})
"""Kinds of passages that only reviews have; a comment may also have a summary, or questions."""
_META_REVIEW = re.compile("|".join(vocabulary.META_REVIEW["text"]))
_TALKING = frozenset({Role.AUTHOR, Role.REVIEWER})


def is_unknown_name(name: str, words: VenueVocabulary) -> bool:
    """Return whether neither the vocabulary nor the venue or its user says what an invitation of this name asks for.

    >>> [is_unknown_name(name, VenueVocabulary()) for name in ("Reply_Rebuttal_Comment", "Official_Comment")]
    [True, False]
    """
    key = name.lower()
    is_known = key in words.kinds or key in SIGNERS or key in SURVEYS
    return not is_known and words.kind(name) is PostKind.OTHER


def signer_of(note: Note) -> str:
    """Return the last element of the first signature of a note; empty if it has none."""
    return (note.signatures or [""])[0].rpartition("/")[2]


def find_reply_kind(note: Note, venue_id: str, words: VenueVocabulary, form_fields: frozenset[str]) -> PostKind:
    """Return the kind of a reply that names its invitation."""
    kind = find_kind(note, venue_id, words)
    name = invitation_name(note.created_by)
    if kind is not PostKind.OTHER or not is_unknown_name(name, words):
        return kind
    if any(not is_unknown_name(part, words) for part in name.split("/")[:-1]):
        return kind  # `Official_Review/AnonReviewer3/Revision` is an edit of a review.
    is_on_top = note.replyto in {None, note.forum}
    if find_signer(note, venue_id, words) is not None:
        return PostKind.AI_REVIEW if is_on_top and holds_review(note.fields, words, form_fields) else kind
    role = words.role(signer_of(note))
    if not is_on_top:
        return PostKind.COMMENT if role in _TALKING or _is_one_text(note.fields) else kind
    if role is Role.AUTHOR:
        return PostKind.COMMENT if _is_one_text(note.fields) or _answers_in_prose(note.fields) else kind
    if role is Role.UNKNOWN and _rates_as_member(note):
        return set_apart(note, venue_id, words)
    if role is not Role.REVIEWER:
        return kind
    return set_apart(note, venue_id, words) if holds_review(note.fields, words, form_fields) else PostKind.COMMENT


def holds_review(answers: Mapping[str, Any], words: VenueVocabulary, form_fields: frozenset[str]) -> bool:
    """Return whether the answers are those of a review: a score, a passage only of reviews, or two of its form."""
    form = ReviewForm("", {}, aspects=words.aspects)
    for name, answer in answers.items():
        if form.aspect(name) not in {None, Aspect.OTHER} and is_score(name, answer, form):
            return True
    texts = {name.lower() for name, answer in answers.items() if isinstance(answer, str) and answer.strip()}
    kinds = {name: vocabulary.SECTIONS[name] for name in texts if name in vocabulary.SECTIONS}
    if not JUDGING.isdisjoint(kinds.values()):
        return True
    shared = form_fields.intersection(name.lower() for name in answers) - vocabulary.PROSE - vocabulary.ADMINISTRATIVE
    return len(shared | {name for name, kind in kinds.items() if kind is not SectionKind.ETHICS}) > 1


def _rates_as_member(note: Note) -> bool:
    """Return whether an anonymous member of an unknown committee gives the paper a number, as reviewers do."""
    committee = find_committee((note.signatures or [""])[0])
    if committee is None or holds_office(committee):
        return False
    form = ReviewForm("", {})
    rated = [
        name
        for name, answer in note.fields.items()
        if form.aspect(name) is Aspect.RECOMMENDATION and label_number(str(answer)) is not None
    ]
    return bool(rated) and not any(_META_REVIEW.fullmatch(name.lower()) for name in note.fields)


_ACTS = {
    PostKind.REVIEW: Role.REVIEWER,
    PostKind.META_REVIEW: Role.AREA_CHAIR,
    PostKind.ETHICS_REVIEW: Role.ETHICS_REVIEWER,
}
"""Roles of those who write such posts."""


def learn_roles(replies: Iterable[tuple[PostKind | None, Note]], words: VenueVocabulary) -> VenueVocabulary:
    """Return the vocabulary with the roles that anonymous members of unknown committees show by what they post.

    A member has the role of what they write, and one who writes nothing of that kind the role of the committee's
    other members, if these have only one.
    """
    acts: dict[str, set[Role]] = {}
    members: dict[str, str] = {}
    for kind, note in replies:
        signer = signer_of(note)
        committee = find_committee((note.signatures or [""])[0]) if words.role(signer) is Role.UNKNOWN else None
        if committee is None:
            continue
        members[signer] = committee
        if kind in _ACTS and not (kind is PostKind.REVIEW and holds_office(committee)):
            for one in (signer, committee):
                acts.setdefault(one, set()).add(_ACTS[kind])
    shown = {signer: acts.get(signer) or acts.get(committee) or set() for signer, committee in members.items()}
    learned = {signer: next(iter(roles)) for signer, roles in shown.items() if len(roles) == 1}
    return replace(words, roles={**words.roles, **learned}) if learned else words


def find_small_forms(
    kinds: Iterable[tuple[PostKind | None, Note]], words: VenueVocabulary
) -> list[tuple[PostKind | None, Note]]:
    """Return the replies of one forum with their kinds; a reviewer's small forms beside a review are comments.

    Such a form (`Score_Update`, `Reviewer_Checklist`) has an unknown name and none of the passages that only reviews
    have; one with them is the review of another round. Without such a review, also a deleted one, the forms that rate
    the paper are the reviews. One that updates an answer never is: what it updates may be hidden.
    """
    found = list(kinds)
    reviews = [note for kind, note in found if kind is PostKind.REVIEW]
    small = [note for note in reviews if note.signatures and _is_small_form(note, words)]
    beside = {id(note) for note in small if vocabulary.names_update(invitation_name(note.created_by))}
    of_signers: dict[str, list[Note]] = {}
    for note in reviews:
        if note.signatures and id(note) not in beside and not signs_for_several(note.signatures[0]):
            of_signers.setdefault(note.signatures[0], []).append(note)
    for own in of_signers.values():
        if len(own) > 1:
            beside |= {id(note) for note in own} - _find_main(own, {id(note) for note in small})
    return [(PostKind.COMMENT if id(note) in beside else kind, note) for kind, note in found]


def _find_main(reviews: Sequence[Note], small: Set[int]) -> set[int]:
    """Return which of one signer's reviews remain reviews, by `id`: whole ones, else those that rate the paper."""
    form = ReviewForm("", {})
    whole = [note for note in reviews if id(note) not in small]
    rated = [note for note in reviews if any(form.aspect(name) is Aspect.RECOMMENDATION for name in note.fields)]
    first = [note for note in rated if not vocabulary.names_final_score(invitation_name(note.created_by))]
    return {id(note) for note in whole or first or rated or reviews}


def _is_small_form(note: Note, words: VenueVocabulary) -> bool:
    if not is_unknown_name(invitation_name(note.created_by), words):
        return False
    kinds = {vocabulary.SECTIONS.get(name.lower()) for name, answer in note.fields.items() if isinstance(answer, str)}
    return JUDGING.isdisjoint(kinds)


def find_repeated(replies: Iterable[KindOfReply]) -> frozenset[str]:
    """Return the ids of reviews that repeat an earlier one of the same signer, with the same answers, in time order."""
    seen: set[tuple[str, bytes]] = set()
    repeated: set[str] = set()
    for kind, note in replies:
        if kind is not PostKind.REVIEW or not note.is_public or note.ddate is not None or not note.signatures:
            continue
        key = (note.signatures[0], msgspec.json.encode(note.fields, order="sorted"))
        if key in seen and find_committee(note.signatures[0]) is not None:
            repeated.add(note.id or "")
        seen.add(key)
    return frozenset(repeated)


def _is_one_text(answers: Mapping[str, Any]) -> bool:
    rest = [
        (name, answer)
        for name, answer in answers.items()
        if name.lower() not in vocabulary.TITLES and not (isinstance(answer, str) and is_path(answer))
    ]
    return len(rest) == 1 and is_prose_field(*rest[0]) and not _META_REVIEW.fullmatch(rest[0][0].lower())


def _answers_in_prose(answers: Mapping[str, Any]) -> bool:
    """Return whether a reply has a text in a field that replies use, such as `rebuttal`."""
    names = (name.lower() for name, answer in answers.items() if is_prose_field(name, answer))
    return not vocabulary.PROSE.isdisjoint(names)

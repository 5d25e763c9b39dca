"""Read replies as `Post` records, with the answers of meta-reviews, and find out who signed each."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from peercorpus.discussion.addressees import address_posts
from peercorpus.discussion.until_decision import is_after
from peercorpus.forms import vocabulary
from peercorpus.forms.form import ReviewForm, find_score
from peercorpus.forms.permissions import is_permission, read_permissions
from peercorpus.forms.reviews import fields_to_json
from peercorpus.forms.vocabulary import VenueVocabulary
from peercorpus.openreview.objects import Note, is_path, to_time
from peercorpus.records.enums import Addressee, Aspect, PostKind, Role, Status
from peercorpus.records.reviews import MetaReview, Post, Review, Section, join_prose, select_own
from peercorpus.venues.ai_reviews import holds_model_chat

IsProse = Callable[[str, object], bool]


def _match_any(patterns: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


_TEXT = _match_any(vocabulary.META_REVIEW["text"])
_JUSTIFICATION = _match_any(vocabulary.META_REVIEW["justification"])
_NO_JUSTIFICATION = _match_any(vocabulary.META_REVIEW["no_justification"])
_RECOMMENDATIONS = tuple(vocabulary.META_REVIEW["recommendation"])
_VERDICTS = frozenset(vocabulary.META_REVIEW["verdict"])


def holds_meta_review(kind: PostKind, fields: Mapping[str, Any]) -> bool:
    """Return whether a reply is a meta-review, or a decision with a meta-review's text in a separate field.

    ICLR 2023 posted its meta-reviews only inside its decisions.
    """
    if kind is PostKind.DECISION:
        return any(isinstance(answer, str) and _TEXT.fullmatch(name) for name, answer in fields.items())
    return kind is PostKind.META_REVIEW


def _find_recommendation(
    fields: Mapping[str, Any], kind: PostKind, form: ReviewForm, words: VenueVocabulary
) -> tuple[str, str] | None:
    """Return the field with the recommendation and the verbatim answer; the verdict of a decision does not count."""
    lowered = {name.lower(): name for name in fields}
    scores = [name for name in lowered if form.aspect(name) is Aspect.RECOMMENDATION]
    for name in (*_RECOMMENDATIONS, *(field.lower() for field in words.decision_fields), *scores):
        answer = fields.get(lowered.get(name, ""))
        if isinstance(answer, list) and len(answer) == 1:
            answer = answer[0]
        if kind is PostKind.DECISION and name in _VERDICTS:
            continue
        if isinstance(answer, str | int | float) and not isinstance(answer, bool) and str(answer).strip():
            return lowered[name], str(answer)
    return None


_UNDECIDED = re.compile(r"\b(or|if|unless|not|no)\b|\?", re.IGNORECASE)
"""Matches words that make an option ambiguous: "accept or reject", "accept if there is space"."""


def find_status(recommendation: str, words: VenueVocabulary) -> Status | None:
    """Return the status that a recommendation means, as a whole or by its only clause with a verdict; None if unknown.

    >>> find_status("3: Sound but not Exciting Enough: Accept to Findings", VenueVocabulary())
    <Status.ACCEPTED: 'accepted'>
    >>> find_status("Discuss: accept or reject", VenueVocabulary())
    """
    clauses = [clause for clause in recommendation.split(":") if not _UNDECIDED.search(clause)]
    statuses = {words.status_of_decision(clause) for clause in (recommendation, *clauses)} - {Status.UNKNOWN}
    return statuses.pop() if len(statuses) == 1 else None


def read_meta_review(
    fields: Mapping[str, Any], kind: PostKind, form: ReviewForm, words: VenueVocabulary, is_prose: IsProse
) -> MetaReview:
    """Return the answers of a meta-review."""
    in_order = sorted(fields.items(), key=lambda field: form.place(field[0]))
    scores = [
        score
        for name, answer in in_order
        if (score := find_score(name, answer, form)) is not None
        and not (kind is PostKind.DECISION and name.lower() in _VERDICTS)
    ]
    found = _find_recommendation(fields, kind, form, words)
    return MetaReview(
        field=found[0] if found else None,
        recommendation=found[1] if found else None,
        recommends=find_status(found[1], words) if found else None,
        scores=tuple(scores),
        justifications=tuple(
            Section(form.section(name), name, answer)
            for name, answer in in_order
            if _JUSTIFICATION.fullmatch(name) is not None
            and _NO_JUSTIFICATION.search(name) is None
            and is_prose(name, answer)
            and answer.strip()
        ),
    )


def is_prose_field(name: str, answer: object) -> bool:
    """Return whether a field of a reply other than a review contains prose, not a title, verdict, tick box or chat."""
    if not isinstance(answer, str) or not _may_be_prose(name) or is_path(answer) or is_permission(name, answer):
        return False
    return not (_asks_for_verdict(name) and len(answer.split()) <= _MAX_VERDICT_WORDS and "\n" not in answer.strip())


_MAX_VERDICT_WORDS = 20
"""Most words of a verdict to choose; the longest known one ("Accept with minor revisions, …") has fewer. Our choice."""


@lru_cache(maxsize=4_096)
def _may_be_prose(name: str) -> bool:
    is_named = (
        name.lower() in vocabulary.NO_PROSE or name.lower() in vocabulary.VERDICTS or vocabulary.is_personal(name)
    )
    return not is_named and not holds_model_chat(name)


@lru_cache(maxsize=4_096)
def _asks_for_verdict(name: str) -> bool:
    """Return whether a field's name is that of a verdict with more words, and none that asks for reasons.

    >>> _asks_for_verdict("recommendation_to_conference_track"), _asks_for_verdict("reason_for_recommendation")
    (True, False)
    """
    words = set(re.findall(r"[a-z]+", name.lower()))
    return not words.isdisjoint(vocabulary.VERDICTS) and words.isdisjoint(vocabulary.REASONS)


def read_post(
    note: Note,
    venue_id: str,
    kind: PostKind,
    speaker: tuple[Role, str],
    review: Review | None = None,
    *,
    meta_review: MetaReview | None = None,
    decided_at: datetime | None = None,
) -> Post:
    """Return one reply as a `Post`."""
    fields = note.fields
    if review is None:
        prose = {name: answer for name, answer in fields.items() if is_prose_field(name, answer)}
    else:
        prose = {section.field: section.text for section in select_own(review.sections)}
    title = fields.get("title")
    other_fields: dict[str, Any] = {name: answer for name, answer in fields.items() if name not in prose}
    if isinstance(title, str):
        other_fields.pop("title", None)
    role, signature = speaker
    licence, consent = (review.licence, review.consent) if review else read_permissions(note)
    # The text as first posted is stored only if a part of it is known to have changed.
    initial_sections = review.initial_sections if review else ()
    changed = {section.field: section.text for section in initial_sections if section.field in prose}
    return Post(
        post_id=note.id or "",
        forum_id=note.forum or "",
        venue_id=venue_id,
        reply_to=None if note.replyto in {None, note.forum} else note.replyto,
        kind=kind,
        role=role,
        invitation=note.created_by,
        signature=signature,
        created_at=to_time(note.created_ms),
        modified_at=to_time(note.modified_ms),
        title=title if isinstance(title, str) else None,
        text=join_prose(prose),
        readers_public=note.is_public,
        deleted=note.ddate is not None,
        extra=fields_to_json(other_fields),
        initial_text=join_prose({**prose, **changed}) if changed else None,
        holds_update=bool(review and review.updated_fields),
        posted_after_decision=is_after(to_time(note.created_ms), decided_at),
        licence=licence,
        consent=consent,
        meta_review=meta_review,
    )


def read_addressees(posts: Sequence[Post]) -> list[Post]:
    """Return all posts of a forum in the same order, with addressees added to those of the authors.

    A letter to the chairs counts as a comment even if it was posted as a rebuttal.
    """
    letters = (Addressee.CHAIRS,)
    return [
        replace(post, kind=PostKind.COMMENT)
        if post.kind is PostKind.REBUTTAL and post.addressed_to == letters
        else post
        for post in address_posts(posts)
    ]


def _single_reviewers(
    kinds: Sequence[tuple[PostKind, Note]], speakers: Mapping[str, tuple[Role, str]]
) -> frozenset[str]:
    reviewers = Counter(speakers[note.id or ""] for kind, note in kinds if kind is PostKind.REVIEW)
    own = (name for (role, name), reviews in reviewers.items() if role is Role.REVIEWER and reviews == 1)
    return frozenset(name for name in own if not name.endswith("Reviewers"))


def read_own_notes(
    kinds: Sequence[tuple[PostKind, Note]], speakers: Mapping[str, tuple[Role, str]], wanted: PostKind
) -> dict[str, list[Note]]:
    """Return each reviewer's public notes of one kind, by name, without names that several reviewers may share."""
    single = _single_reviewers(kinds, speakers)
    notes: dict[str, list[Note]] = {}
    for kind, note in kinds:
        name = speakers[note.id or ""][1]
        if kind is wanted and name in single and note.is_public and note.ddate is None:
            notes.setdefault(name, []).append(note)
    return notes


def read_answers_of_chair(note: Note, kind: PostKind, form: ReviewForm, words: VenueVocabulary) -> MetaReview | None:
    """Return the answers of a meta-review, including one inside a decision; None for any other reply."""
    if not holds_meta_review(kind, note.fields):
        return None
    return read_meta_review(note.fields, kind, form, words, is_prose_field)


def read_remarks(
    kinds: Sequence[tuple[PostKind, Note]], speakers: Mapping[str, tuple[Role, str]]
) -> dict[str, list[str]]:
    """Return the texts of each reviewer's other public posts, by name.

    Names that several reviewers may share are left out.
    """
    remarks: dict[str, list[str]] = {name: [] for name in _single_reviewers(kinds, speakers)}
    for kind, note in kinds:
        name = speakers[note.id or ""][1]
        if kind is not PostKind.REVIEW and name in remarks and note.is_public and note.ddate is None:
            remarks[name] += [answer for answer in note.fields.values() if isinstance(answer, str)]
    return remarks


def _read_author_accounts(root: Note) -> set[str]:
    author_ids = root.fields.get("authorids")
    people = root.fields.get("authors")
    accounts = list(author_ids) if isinstance(author_ids, list) else []
    if isinstance(people, list):
        accounts += [person.get("username") for person in people if isinstance(person, dict)]
    return {account for account in accounts if isinstance(account, str)}


def is_account(signature: str) -> bool:
    """Return whether a signature is a personal one: a profile or an e-mail address.

    >>> is_account("~Ada_Example1"), is_account("V/Paper1/(anonymous)")
    (True, False)
    """
    return signature.startswith("~") or "@" in signature


def read_speakers(
    root: Note,
    replies: Sequence[Note],
    words: VenueVocabulary,
    pseudonym: Callable[[str], str],
    *,
    venue_id: str = "",
    unnamed_reviews: Set[str] = frozenset(),
    of_ai: Set[str] = frozenset(),
) -> dict[str, tuple[Role, str]]:
    """Return the role and the name within the paper of each reply's signer, by note id.

    Only names of known anonymous roles are retained. A personal account becomes `public_<pseudonym>`, the same for all
    papers. Any other name, which several people may share, becomes `public_1`, `unknown_1`, … numbered in the order of
    `replies`. Authors who sign by name count as authors.
    """
    authors = _read_author_accounts(root)
    numbers: dict[str, int] = {}
    speakers: dict[str, tuple[Role, str]] = {}
    for note in replies:
        if note.id in unnamed_reviews:
            number = numbers.setdefault(note.id or "", len(numbers) + 1)
            speakers[note.id or ""] = (Role.REVIEWER, f"{Role.UNKNOWN.value}_{number}")
            continue
        signature = (note.signatures or [""])[0]
        name = signature.rpartition("/")[2]
        role = Role.AUTHOR if signature in authors else words.role(name)
        if note.id in of_ai:
            role = Role.AI
        if role is Role.UNKNOWN and signature and (root.created_by or venue_id).startswith(signature):
            role = Role.PROGRAM_CHAIR  # Early venues sign decisions with the venue's own group.
        if signature in authors:
            name = "Authors"
        elif role in {Role.PUBLIC, Role.UNKNOWN}:
            number = numbers.setdefault(signature, len(numbers) + 1)
            name = f"{role.value}_{pseudonym(name) if is_account(name) else number}"
        speakers[note.id or ""] = (role, name)
    return speakers

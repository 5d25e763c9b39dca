"""Separate reviews that an AI wrote or may have written, with all replies to them, from those by people.

They are recognised by invitation and signature alone (`venues.ai_reviews`), and read as `AiReview` records.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from peercorpus.forms import vocabulary
from peercorpus.forms.form import ReviewForm
from peercorpus.forms.permissions import read_permissions
from peercorpus.forms.posts import is_prose_field
from peercorpus.forms.reviews import fields_to_json, read_fields
from peercorpus.forms.vocabulary import VenueVocabulary
from peercorpus.openreview.objects import Note, invitation_name, to_time
from peercorpus.records.ai_reviews import AiReply, AiReview, SurveyAnswer
from peercorpus.records.enums import AiCertainty, PostKind, Role
from peercorpus.records.reviews import join_prose
from peercorpus.venues.ai_reviews import (
    SIGNERS,
    SURVEYS,
    is_posted_by_venue,
    may_sign_for_ai,
    names_ai,
    rate_answer,
    signs_for_ai,
)

OF_PEOPLE = frozenset(
    {
        PostKind.REVIEW,
        PostKind.META_REVIEW,
        PostKind.DECISION,
        PostKind.WITHDRAWAL,
        PostKind.DESK_REJECTION,
        PostKind.ETHICS_REVIEW,
        PostKind.RECOMMENDATION,
    }
)
"""Kinds of posts that people make about a paper, wherever they are in a thread; an AI's post is none of them."""
_OF_AI = frozenset({PostKind.AI_REVIEW, PostKind.SURVEY})


def asks_for_ai_review(name: str, words: VenueVocabulary) -> bool:
    """Return whether an invitation asks for an AI's review, by its name or as the venue or its user states."""
    stated = words.kinds.get(name.lower())
    return stated is PostKind.AI_REVIEW if stated is not None else name.lower() in SIGNERS


def find_signer(note: Note, venue_id: str, words: VenueVocabulary) -> AiCertainty | None:
    """Return how certain it is that an AI signed; None for a person, and for a committee of people with such a name."""
    signatures = [one for one in note.signatures or () if may_sign_for_ai(one, venue_id)]
    if not signatures or all(_names_people(signature.rpartition("/")[2], words) for signature in signatures):
        return None
    return AiCertainty.CERTAIN if signs_for_ai(note.signatures, venue_id) else AiCertainty.POSSIBLE


def _names_people(name: str, words: VenueVocabulary) -> bool:
    """Return whether a possible AI's name is that of a committee of people, as the user states or all who have that
    role show.
    """
    for roles, is_user in ((words.own_roles, True), (words.roles, False)):
        for own, role in roles.items():
            is_meant = name == own or (own[-1] == "_" and name.startswith(own))
            if is_meant and not names_ai(f"Reviewer_{name.removeprefix(own)}"):
                return is_user or all(names_ai(other) for other, of in roles.items() if of is role)
    return False


def find_kind(note: Note, venue_id: str, words: VenueVocabulary) -> PostKind:
    """Return the kind of a reply; `OTHER` if it asks for an AI's review and a person signed, or the reverse."""
    name = invitation_name(note.created_by)
    if asks_for_ai_review(name, words):
        is_ai = find_signer(note, venue_id, words) is not None or _is_posted_by_venue(note, venue_id, words)
        return PostKind.AI_REVIEW if is_ai else PostKind.OTHER
    kind = words.kind(name)
    if kind in _OF_AI:
        return PostKind.OTHER
    if kind is PostKind.REVIEW:
        return set_apart(note, venue_id, words)
    return PostKind.OTHER if kind in OF_PEOPLE and find_signer(note, venue_id, words) is not None else kind


def set_apart(note: Note, venue_id: str, words: VenueVocabulary) -> PostKind:
    """Return the kind of a reply that is a review: an AI's if the name of its signer or invitation says it may be."""
    name = invitation_name(note.created_by)
    is_named = names_ai(name) and name.lower() not in words.kinds
    is_ai = is_named or find_signer(note, venue_id, words) is not None
    return PostKind.AI_REVIEW if is_ai else PostKind.REVIEW


def _is_posted_by_venue(note: Note, venue_id: str, words: VenueVocabulary) -> bool:
    names = {signature.rpartition("/")[2] for signature in note.signatures or ()}
    name = invitation_name(note.created_by)
    return names.isdisjoint(words.roles) and is_posted_by_venue(name, note.signatures, venue_id)


def _find_certainty(note: Note, venue_id: str, words: VenueVocabulary) -> AiCertainty:
    is_documented = asks_for_ai_review(invitation_name(note.created_by), words) and _is_posted_by_venue(
        note, venue_id, words
    )
    return AiCertainty.CERTAIN if is_documented else find_signer(note, venue_id, words) or AiCertainty.POSSIBLE


@dataclass(slots=True)
class AiThread:
    """The note of an AI's review, and those of the replies to it with their kinds."""

    review: Note
    replies: list[tuple[PostKind, Note]] = field(default_factory=list)

    @property
    def notes(self) -> list[Note]:
        """All notes of the thread."""
        return [self.review, *(note for _, note in self.replies)]


def split_threads(replies: Sequence[tuple[PostKind, Note]]) -> tuple[list[tuple[PostKind, Note]], list[AiThread]]:
    """Return the replies that people exchange, and separately each AI's review with the replies below it.

    A post that people make about the paper by a form of its own is theirs wherever it is, and so are replies to it.
    """
    by_id = {note.id: (kind, note) for kind, note in replies}
    threads = {note.id: AiThread(note) for kind, note in replies if kind is PostKind.AI_REVIEW}
    if not threads:
        return list(replies), []
    left = []
    roots: dict[str | None, str | None] = {}
    for kind, note in replies:
        thread = threads.get(_find_root(note.id, by_id, roots))
        if thread is None:
            left.append((kind, note))
        elif thread.review is not note:
            thread.replies.append((kind, note))
    return left, list(threads.values())


def _find_root(
    note_id: str | None, by_id: Mapping[str | None, tuple[PostKind, Note]], roots: dict[str | None, str | None]
) -> str | None:
    """Return the id of the first post, from a note upwards, that is an AI's review or one of `OF_PEOPLE`."""
    way: list[str | None] = []
    at = note_id
    while at in by_id and at not in roots:
        kind, note = by_id[at]
        is_root = kind is PostKind.AI_REVIEW or kind in OF_PEOPLE
        roots[at] = at if is_root else None
        way.append(at)
        at = at if is_root else note.replyto
    root = roots.get(at)
    roots |= dict.fromkeys(way, root)
    return root


def read_ai_review(
    thread: AiThread, venue_id: str, form: ReviewForm, speakers: Mapping[str, tuple[Role, str]], words: VenueVocabulary
) -> AiReview:
    """Return an AI's review with the replies to it."""
    note = thread.review
    reading = read_fields(note.fields, form)
    extra = dict(reading.extra)
    if reading.final_justification is not None:
        extra["final_justification"] = reading.final_justification
    return AiReview(
        ai_review_id=note.id or "",
        forum_id=note.forum or "",
        venue_id=venue_id,
        form_id=form.form_id or None,
        kind=PostKind.AI_REVIEW,
        certainty=_find_certainty(note, venue_id, words),
        role=Role.AI,
        invitation=note.created_by,
        signature=(note.signatures or [""])[0].rpartition("/")[2],
        created_at=to_time(note.created_ms),
        modified_at=to_time(note.modified_ms),
        title=reading.title,
        scores=reading.scores,
        sections=reading.sections,
        readers_public=note.is_public,
        deleted=note.ddate is not None,
        licence=read_permissions(note)[0],
        extra=fields_to_json(extra),
        replies=tuple(_read_reply(reply, kind, speakers[reply.id or ""], words) for kind, reply in thread.replies),
    )


def _read_reply(note: Note, kind: PostKind, speaker: tuple[Role, str], words: VenueVocabulary) -> AiReply:
    name = invitation_name(note.created_by).lower()
    is_survey = name in SURVEYS or words.kinds.get(name) is PostKind.SURVEY
    fields = note.fields
    title = fields.get("title")
    survey = tuple(_read_survey(note)) if is_survey else ()
    prose = {} if is_survey else {one: answer for one, answer in fields.items() if is_prose_field(one, answer)}
    elsewhere = {*prose, *(answer.field for answer in survey), *(["title"] if isinstance(title, str) else [])}
    role, signature = speaker
    return AiReply(
        post_id=note.id or "",
        reply_to=note.replyto,
        kind=PostKind.SURVEY if is_survey else kind,
        role=role,
        invitation=note.created_by,
        signature=signature,
        created_at=to_time(note.created_ms),
        modified_at=to_time(note.modified_ms),
        title=title if isinstance(title, str) else None,
        text=join_prose(prose),
        readers_public=note.is_public,
        deleted=note.ddate is not None,
        extra=fields_to_json({one: answer for one, answer in fields.items() if one not in elsewhere}),
        survey=survey,
    )


def _read_survey(note: Note) -> Iterator[SurveyAnswer]:
    for name, answer in note.fields.items():
        if isinstance(answer, str) and name.lower() not in vocabulary.TITLES:
            yield rate_answer(name, answer)

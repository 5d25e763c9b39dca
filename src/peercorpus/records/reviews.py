"""Records of reviewing: reviews, posts, and the conversation with each reviewer."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated

from peercorpus.records.enums import (
    AddressedBy,
    AtDecision,
    ConversationKind,
    Phase,
    PostKind,
    Role,
    SectionKind,
    Status,
)
from peercorpus.records.scores import Score, ScoreChange


@dataclass(frozen=True, slots=True)
class Section:
    """One passage of a review."""

    kind: Annotated[SectionKind, "`summary`, `strengths`, `weaknesses`, …"]
    field: Annotated[str, "the form's own name of the field"]
    text: Annotated[str, "verbatim"]


@dataclass(frozen=True, slots=True)
class Review:
    """One official review.

    Attributes:
        review_id: The note's id on OpenReview, or the review's id in a published record.
        form_id: The form with which it was read: an invitation id; `declared:<name>` for a declared form if no
            invitation could be read; `inferred:<venue_id>` if there is neither.
        reviewer: The anonymous id within the paper (`Reviewer_AbCd`, `AnonReviewer3`).
        created_at: When the review was posted; None if unknown.
        modified_at: When the review was last changed; None if unknown.
        title: The reviewer's own heading, if the form has one.
        scores: The first scores, those at the decision, and the current ones, if known.
        sections: The passages, in their current state.
        final_justification: Text that the reviewer wrote in that field after the rebuttal; never part of the initial
            review.
        revised: Whether the reviewer changed the review, according to its readable edits and earlier harvested
            versions; None if no edit can be read and no earlier version differs.
        readers_public: Whether `everyone` may read it; only such reviews are published.
        deleted: Whether OpenReview marks it as deleted.
        extra: Fields of the note's `content` that are neither score nor section, as JSON.
        initial_sections: First text of the sections that have changed since, if an edit or an earlier harvested version
            shows it.
        updated_fields: Fields whose text states that a part was added later ("UPDATE:", "After the rebuttal:") and
            whose first text is unknown; they contain more than the initial review.
        score_changes: All score changes that readable edits show, in time order.
        justified_at: When the final justification was first written; None if no readable edit shows it.
        posted_after_decision: Whether it was posted after the decision on its paper; None if either time is unknown.
        at_decision: How its content at the decision is known, or why it is not.
        sections_at_decision: The passages at the decision of a review that was changed afterwards, if edits show them;
            empty for every other review.
        licence: Licence stated on the note or in its form, verbatim; None if none is stated.
        consent: Answer to a question for consent to publish the review, verbatim; several answers are headed by the
            names of their fields. None if there is no such question or no answer.
        form_conflict: Field and answer of a published record that the venue's declared form cannot have offered, which
            is why the review is read without that form; None otherwise.
    """

    review_id: str
    forum_id: str
    venue_id: str
    form_id: str
    reviewer: str
    created_at: datetime | None
    modified_at: datetime | None
    title: str | None
    scores: tuple[Score, ...]
    sections: tuple[Section, ...]
    final_justification: str | None
    revised: bool | None
    readers_public: bool
    deleted: bool
    extra: str
    initial_sections: tuple[Section, ...] = ()
    updated_fields: tuple[str, ...] = ()
    score_changes: tuple[ScoreChange, ...] = ()
    justified_at: datetime | None = None
    posted_after_decision: bool | None = None
    at_decision: AtDecision = AtDecision.NO_DECISION_TIME
    sections_at_decision: tuple[Section, ...] = ()
    licence: str | None = None
    consent: str | None = None
    form_conflict: str | None = None

    @property
    def first_sections(self) -> tuple[Section, ...]:
        """The passages as first posted, if known, without chats with a model."""
        first = {section.field: section for section in self.initial_sections}
        kept = tuple(first.pop(section.field, section) for section in self.sections)
        return select_own((*kept, *first.values()))


def select_own(sections: Iterable[Section]) -> tuple[Section, ...]:
    """Return the passages that the reviewer wrote: all but the chats with a model."""
    return tuple(section for section in sections if section.kind is not SectionKind.MODEL_CHAT)


@dataclass(frozen=True, slots=True)
class MetaReview:
    """Answers of a meta-review, read with its venue's form.

    Attributes:
        field: The form's own name for the field with the recommendation; None if it has none.
        recommendation: The recommendation, verbatim.
        recommends: The status that the recommendation means; None if its words are not clear.
        scores: Every score, including the recommendation and the confidence.
        justifications: The passages that give reasons for the recommendation, in the form's order.
    """

    field: str | None
    recommendation: str | None
    recommends: Status | None
    scores: tuple[Score, ...]
    justifications: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class Post:
    """Any reply in a forum, including reviews; a review by an AI is an `AiReview` instead, with the replies to it.

    Attributes:
        reply_to: Id of the post that this one replies to; None if it replies to the submission itself.
        kind: Kind of the post.
        role: Role of its author.
        invitation: The invitation that created it, verbatim; empty for a post from a published record.
        signature: Last path element of the signature (`Reviewer_AbCd`, `Authors`). For a person who signs with an
            account it is `public_<pseudonym>`, the same in the whole workspace; for a name that several people may use,
            `public_1` and so on. Empty if a published record does not state it.
        created_at: When it was posted; None if unknown.
        modified_at: When it was last changed; None if unknown.
        title: The post's own title; None if it has none.
        text: The prose, verbatim. If several fields contain prose, each is headed by its name as a Markdown heading.
        readers_public: Whether `everyone` may read it; only such posts are published.
        deleted: Whether OpenReview marks it as deleted.
        extra: Fields of the note's `content` that are not in `title` and `text`, as JSON.
        initial_text: First text of a review that was changed, if it is known; None if it is not known to differ.
        holds_update: Whether a review states that a part was added later and its first text is unknown.
        addressed_to: Addressees of a post by the authors: signatures of reviewers and others, or a value of
            `Addressee`. Empty if unknown, and for all other posts.
        addressed_by: Evidence for the addressees; None for a post that is not by the authors.
        greets: Reviewers addressed by title or greeting although the post is under another reviewer's post. They are
            those in `addressed_to` only if the post is certainly misplaced.
        posted_after_decision: Whether it was posted after the decision on the paper; None if either time is unknown.
        licence: Licence stated on the note or in its form, verbatim; None if none is stated.
        consent: As in `Review`.
        meta_review: Its answers if it is a meta-review, or a decision that contains one; None for all other posts, and
            for those from a published record.
    """

    post_id: str
    forum_id: str
    venue_id: str
    reply_to: str | None
    kind: PostKind
    role: Role
    invitation: str
    signature: str
    created_at: datetime | None
    modified_at: datetime | None
    title: str | None
    text: str
    readers_public: bool
    deleted: bool
    extra: str
    initial_text: str | None = None
    holds_update: bool = False
    addressed_to: tuple[str, ...] = ()
    addressed_by: AddressedBy | None = None
    greets: tuple[str, ...] = ()
    posted_after_decision: bool | None = None
    licence: str | None = None
    consent: str | None = None
    meta_review: MetaReview | None = None


def has_words(review: Review) -> bool:
    """Return whether a review contains any words: letters in a passage or in its final justification."""
    texts = (*(section.text for section in review.sections), review.final_justification or "")
    return any(letter.isalpha() for text in texts for letter in text)


def forget_decision(review: Review) -> Review:
    """Return a review without anything that reveals when the decision was posted, for uses that must not show it."""
    scores = tuple(score for score in review.scores if score.phase is not Phase.AT_DECISION)
    return replace(
        review,
        scores=scores,
        posted_after_decision=None,
        at_decision=AtDecision.NO_DECISION_TIME,
        sections_at_decision=(),
    )


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation: consecutive posts of one speaker, merged.

    A response to all reviewers ends the turn of anyone but the authors, and the decision ends every turn.

    Attributes:
        role: Role of the speaker.
        signature: Signature of the speaker, as in `Post`.
        title: One title for the turn: the common part of its posts' titles, without part markers such as "(1/2)".
        text: The texts of the merged posts, joined by a blank line; for a review its first text, if known. Empty if the
            reviewer changed a score or wrote the final justification without posting.
        created_at: When the first of the posts was posted; None if unknown.
        post_ids: The merged posts in reading order, numbered parts in their own order; empty if the conversation is
            from a published record.
        holds_update: Whether the text states that a part of it was written later.
        titles: Titles of the merged posts, verbatim.
        orphan_ids: Posts of the turn that reply to a post that is deleted, hidden or missing.
        moved: Posts of the turn that were posted under another reviewer's, each as its id and the reason.
        score_changes: Score changes that the reviewer made at this turn.
        final_justification: Text that the reviewer wrote in that field of the form at this turn.
        posted_after_decision: Whether a post of the turn, or a change without a post, came after the decision on the
            paper; None if either time is unknown.
        is_reminder: Whether the authors only remind the reviewer, who answered that; such a turn is a single post.
    """

    role: Role
    signature: str
    title: str | None
    text: str
    created_at: datetime | None
    post_ids: tuple[str, ...]
    holds_update: bool = False
    titles: tuple[str | None, ...] = ()
    orphan_ids: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    score_changes: tuple[ScoreChange, ...] = ()
    final_justification: str | None = None
    posted_after_decision: bool | None = None
    is_reminder: bool = False


@dataclass(frozen=True, slots=True)
class ContextPost:
    """A response of the authors to several or all reviewers, as context of one conversation.

    Attributes:
        post_id: Id of the response.
        before_turn: Index of the turn that it precedes, which is the number of turns begun when it became visible; None
            if the turns have no times.
        concerning: The passages that name this conversation's reviewer, verbatim and in order; if the response
            addresses only some reviewers, also those that name nobody.
        posted_after_decision: As in `Post`.
    """

    post_id: str
    before_turn: int | None
    concerning: tuple[str, ...] = ()
    posted_after_decision: bool | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """The exchange with one reviewer of one paper, or with someone else, in time order.

    Attributes:
        conversation_id: `<forum_id>/<reviewer>`.
        reviewer: The reviewer's anonymous id within the paper; for other kinds the person who began the exchange,
            `chairs` for all chairs together, `public` or `ethics` if the person is unknown, `everyone` if there is
            nobody.
        turns: The messages, in time order.
        context: The authors' responses to several or all reviewers, in reading order; they are never turns. Only
            conversations with a reviewer have context.
        undated_changes: Score changes whose turn is unknown.
        kind: The other party of the exchange.
        extra: Content of a published record of the exchange besides its turns, as JSON; `{}` for all others.
    """

    conversation_id: str
    forum_id: str
    venue_id: str
    reviewer: str
    turns: tuple[Turn, ...]
    context: tuple[ContextPost, ...]
    undated_changes: tuple[ScoreChange, ...] = ()
    kind: ConversationKind = ConversationKind.REVIEW
    extra: str = "{}"

    @property
    def is_with_reviewer(self) -> bool:
        """Whether it is with a reviewer; only such conversations are samples for models."""
        return self.kind is ConversationKind.REVIEW

    def group_context(self) -> dict[int | None, list[ContextPost]]:
        """Return the context by the index of the turn that it precedes; None if unknown."""
        groups: dict[int | None, list[ContextPost]] = {}
        for beside in self.context:
            groups.setdefault(beside.before_turn, []).append(beside)
        return groups


def join_prose(passages: Mapping[str, str]) -> str:
    r"""Join passages by field name: one is returned unchanged, several are headed by their names in Markdown.

    >>> join_prose({"comment": "Thank you."}), join_prose({"pros": "Clear.", "cons": "Short."})
    ('Thank you.', '### pros\n\nClear.\n\n### cons\n\nShort.')
    """
    if len(passages) <= 1:
        return "".join(passages.values())
    return "\n\n".join(f"### {name}\n\n{text}" for name, text in passages.items())

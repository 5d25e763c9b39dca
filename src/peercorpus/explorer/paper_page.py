"""Prepare the contents of a paper's page: conversations, score table, changed passages, JSON."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby

import msgspec

from peercorpus.corpus.points import keep_changes
from peercorpus.corpus.public_forums import PublicForum
from peercorpus.corpus.text_choice import TextRule
from peercorpus.explorer.rendering import GRADES, MOMENTS
from peercorpus.importers.reviewbench import drop_shape
from peercorpus.records.documents import Change
from peercorpus.records.enums import Aspect, AtDecision, ChangeKind, ConversationKind, Grade, Phase, Role
from peercorpus.records.reviews import ContextPost, Conversation, Post, Review, Turn
from peercorpus.records.scores import Score, ScoreChange, choose_first_and_last
from peercorpus.release.record_rows import Row, ai_review_rows, as_row, blotted_json
from peercorpus.wording.untrusted_text import redact_people

_NOT_IN_ANCHORS = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Spoken:
    """One turn of a conversation.

    Attributes:
        is_own: Whether the reviewer of the conversation speaks.
        now: The current text of posts that were changed since; None if none is known to differ.
    """

    anchor: str
    turn: Turn
    is_own: bool
    now: str | None


@dataclass(frozen=True, slots=True)
class ToAll:
    """A response to all reviewers at its position in a conversation; only its first occurrence is shown in full."""

    post: Post
    beside: ContextPost
    is_first: bool


@dataclass(frozen=True, slots=True)
class Dialogue:
    """The conversation with one reviewer, or with somebody else.

    Attributes:
        before: The overall recommendation as first given; None if not known.
        after: The current overall recommendation; None if not known.
        items: Turns and responses to all reviewers, in reading order.
        undated: Changes of scores whose time is not known.
    """

    anchor: str
    reviewer: str
    before: Score | None
    after: Score | None
    items: Sequence[Spoken | ToAll]
    undated: Sequence[ScoreChange]
    kind: ConversationKind = ConversationKind.REVIEW

    @property
    def turns(self) -> int:
        """Number of turns."""
        return sum(isinstance(item, Spoken) for item in self.items)


def anchors(names: Sequence[str], prefix: str) -> list[str]:
    """Return a unique HTML id for each name, of letters, digits, `-` and `_`, with a number if two are alike.

    >>> anchors(["Reviewer_AbCd", "a b", "a-b"], "conversation")
    ['conversation-Reviewer_AbCd', 'conversation-a-b', 'conversation-a-b.2']
    """
    uses: dict[str, int] = {}
    ids = []
    for name in names:
        plain = f"{prefix}-{_NOT_IN_ANCHORS.sub('-', name)[:80].strip('-') or 'unnamed'}"
        uses[plain] = uses.get(plain, 0) + 1
        ids.append(plain if uses[plain] == 1 else f"{plain}.{uses[plain]}")
    return ids


def read_dialogues(forum: PublicForum) -> list[Dialogue]:
    """Return the conversations of a paper, sorted by their first turn."""
    # The page shows meta-reviews and decisions as such, so that a conversation of nothing else is left out.
    spoken = {post.post_id for post in forum.spoken()}
    shown = (
        talk
        for talk in forum.conversations
        if talk.is_with_reviewer or not all(spoken.issuperset(turn.post_ids) for turn in talk.turns)
    )
    talks = sorted(shown, key=_start)
    seen: set[str] = set()
    anchors_of_talks = anchors([talk.reviewer for talk in talks], "conversation")
    return [_make_dialogue(talk, anchor, forum, seen) for talk, anchor in zip(talks, anchors_of_talks, strict=True)]


def _start(talk: Conversation) -> tuple[bool, bool, str, str]:
    first = talk.turns[0].created_at if talk.turns else None
    return not talk.is_with_reviewer, first is None, first.isoformat() if first else "", talk.reviewer


def _make_dialogue(talk: Conversation, anchor: str, forum: PublicForum, seen: set[str]) -> Dialogue:
    turn_anchors = anchors([turn.post_ids[0] if turn.post_ids else "change" for turn in talk.turns], f"{anchor}-turn")
    items: list[Spoken | ToAll] = []
    context = talk.group_context()
    for index, (turn, turn_anchor) in enumerate(zip(talk.turns, turn_anchors, strict=True)):
        items += _list_responses(context.get(index, ()), forum, seen)
        is_own = turn.role is Role.REVIEWER and turn.signature == talk.reviewer
        posts = [forum.by_id[post_id] for post_id in turn.post_ids if post_id in forum.by_id]
        changed = [post.text for post in posts if post.initial_text is not None and post.initial_text != post.text]
        now = "\n\n".join(changed) or None
        items.append(Spoken(anchor=turn_anchor, turn=turn, is_own=is_own, now=now))
    for index_after in (len(talk.turns), None):
        items += _list_responses(context.get(index_after, ()), forum, seen)
    own = next((review for review in forum.reviews if review.reviewer == talk.reviewer), None)
    before, after = choose_first_and_last(own.scores if own else (), Aspect.RECOMMENDATION, "rating")
    return Dialogue(
        anchor=anchor,
        reviewer=talk.reviewer,
        before=before,
        after=after,
        items=items,
        undated=talk.undated_changes,
        kind=talk.kind,
    )


def _list_responses(context: Sequence[ContextPost], forum: PublicForum, seen: set[str]) -> Iterator[ToAll]:
    for beside in context:
        if beside.post_id in forum.by_id:
            yield ToAll(forum.by_id[beside.post_id], beside, beside.post_id not in seen)
            seen.add(beside.post_id)


@dataclass(frozen=True, slots=True)
class ScoreCell:
    """One score of one review.

    Attributes:
        before: The score as first given; None if it is not known to differ.
        at_decision: The score at the decision; None if it is the current one, or is not known.
        label: The answer in the form's words.
    """

    before: str | None
    after: str
    at_decision: str | None
    label: str


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """The scores of a paper's reviews.

    Attributes:
        columns: Name of the form's field and its scale, such as "1 to 10".
        rows: For each review the reviewer and the cells; None if the review has no such score.
        worded: Fields whose answers are sentences, for which columns are too narrow: the name, and the cell of each
            reviewer with an answer.
        remarks: For reviews posted or changed after the decision, the reviewer and a description of that.
    """

    columns: Sequence[tuple[str, str]]
    rows: Sequence[tuple[str, Sequence[ScoreCell | None]]]
    worded: Sequence[tuple[str, Sequence[tuple[str, ScoreCell]]]] = ()
    remarks: Sequence[tuple[str, str]] = ()


_COLUMN_CHARACTERS = 24
"""Characters of an answer in a column of the table, at most."""
_REMARKS = {
    AtDecision.POSTED_AFTER: "posted this review after the decision",
    AtDecision.CHANGED_UNSEEN: "changed this review after the decision; its earlier content is not known",
    AtDecision.EDITS: "changed this review after the decision",
}


def score_table(reviews: Sequence[Review]) -> ScoreTable:
    """Return all scores of all reviews; the overall recommendation comes first."""
    scores = [score for review in reviews for score in review.scores]
    ranked = sorted(scores, key=lambda score: score.aspect is not Aspect.RECOMMENDATION)
    every = list(dict.fromkeys(score.key for score in ranked))
    long = {score.key for score in scores if len(format_score(score)) > _COLUMN_CHARACTERS}
    names = [name for name in every if name not in long]
    scales = {score.key: _format_scale(score) for score in scores if None not in (score.low, score.high)}
    rows = [(review.reviewer, [_make_cell(review, name) for name in names]) for review in reviews]
    worded = [(name, list(_list_answers(reviews, name))) for name in every if name in long]
    remarks = [(review.reviewer, _REMARKS[review.at_decision]) for review in reviews if review.at_decision in _REMARKS]
    return ScoreTable([(name, scales.get(name, "")) for name in names], rows, worded, remarks)


def _list_answers(reviews: Sequence[Review], name: str) -> Iterator[tuple[str, ScoreCell]]:
    for review in reviews:
        cell = _make_cell(review, name)
        if cell is not None:
            yield review.reviewer, cell


def _format_scale(score: Score) -> str:
    best = "" if score.higher_is_better is not False else f", {score.low:g} is best"
    return f"{score.low:g} to {score.high:g}{best}"


def _make_cell(review: Review, key: str) -> ScoreCell | None:
    by_phase = {score.phase: score for score in review.scores if score.key == key}
    first = by_phase.get(Phase.INITIAL)
    last = by_phase.get(Phase.FINAL)
    current = last or first
    if current is None:
        return None
    before = format_score(first) if first and last and format_score(first) != format_score(last) else None
    then = by_phase.get(Phase.AT_DECISION)
    at_decision = format_score(then) if then and format_score(then) != format_score(current) else None
    return ScoreCell(before, format_score(current), at_decision, current.label)


def format_score(score: Score) -> str:
    """Return the number of a score, or the answer itself if it has none."""
    return score.label if score.value is None else f"{score.value:g}"


_MAX_COMPARED_WORDS = 500
"""Longer passages are shown without marking single words, as comparing them takes long."""

Piece = tuple[str, bool]


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A changed passage before and after.

    Each side is a list of pieces: a text, and whether only this side has it.
    """

    number: int
    kind: ChangeKind
    before: Sequence[Piece]
    after: Sequence[Piece]
    later_section: str | None


def group_by_section(changes: Sequence[Change]) -> Iterator[tuple[str | None, list[ShownPassage]]]:
    """Yield the passages by section heading, in the order of the text."""
    ordered = sorted(changes, key=lambda change: change.number)
    for section, group in groupby(ordered, lambda change: change.section):
        yield section, [_make_passage(change) for change in group]


def _make_passage(change: Change) -> ShownPassage:
    before = change.before.split()
    after = change.after.split()
    if change.kind is not ChangeKind.CHANGED or max(len(before), len(after)) > _MAX_COMPARED_WORDS:
        sides = [(change.before, False)], [(change.after, False)]
        return ShownPassage(change.number, change.kind, *sides, change.later_section)
    left: list[Piece] = []
    right: list[Piece] = []
    for tag, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        is_same = tag == "equal"
        left += [(" ".join(before[i:j]) + " ", not is_same)] if j > i else []
        right += [(" ".join(after[k:m]) + " ", not is_same)] if m > k else []
    return ShownPassage(change.number, change.kind, left, right, change.later_section)


def whole_json(forum: PublicForum) -> bytes:
    """Return the records of a paper as indented JSON, under the names of the fields of `PublicForum`."""
    fields = ("reviews", "posts", "versions", "conversations", "ai_reviews", "links", "changes")
    records: dict[str, object] = {"paper": _to_row(forum.paper)}
    records |= {name: [_to_row(record) for record in getattr(forum, name)] for name in fields}
    records["ai_reviews"] = ai_review_rows(forum.ai_reviews)
    if forum.points:
        numbers = {change.number for change in forum.changes}
        records["points"] = [_to_row(keep_changes(point, numbers)) for point in forum.points]
    return msgspec.json.format(msgspec.json.encode(records), indent=1)


def _to_row(record: object) -> Row:
    row = as_row(record)
    if "extra" in row:
        row["extra"] = blotted_json(drop_shape(row["extra"]))
    blotted: Row = redact_people(row)
    return blotted


def name_text(forum: PublicForum, sha256: str | None) -> str:
    """Return which version the text of a file is: how sure it is that the reviewers read it, or its time."""
    version = next((one for one in TextRule().rank_versions(forum.versions) if one.sha256 == sha256), None)
    if version is not None and version.grade is not None and version.grade is not Grade.UNAVAILABLE:
        return GRADES[version.grade][0]
    return MOMENTS[version.moment] if version is not None and version.moment is not None else "version not known"

"""Merge the records of several published datasets on one paper, by a table of which dataset takes precedence.

Reviews are matched by rules that cannot match two different ones: by id, by the reviewer's own name on OpenReview, or
by text of one that the other contains. If two records disagree, the value with precedence goes into the row and the
other into the paper's `conflicts`. The order of imports does not matter.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

import msgspec

from peercorpus.forms.published_records import PublishedPaper
from peercorpus.forms.reviews import fields_to_json
from peercorpus.records.datasets import Dataset
from peercorpus.records.enums import Aspect, Phase, PostKind, Status
from peercorpus.records.papers import Conflict, MergedPost, Paper
from peercorpus.records.reviews import Post, Review
from peercorpus.records.scores import Score
from peercorpus.wording.untrusted_text import redact_people

PRECEDENCE = (
    Dataset.REVIEWBENCH,
    Dataset.RE2_REVIEWS,
    Dataset.PEERREAD,
    Dataset.NLPEER,
    Dataset.TEXT_FOLDER,
    Dataset.REVIEW_TABLE,
    Dataset.PAPER_LIST,
)
"""Datasets in order of precedence for a paper, its reviews and posts: those with more columns first."""
PRECEDENCE_ON_REVIEWERS = (
    Dataset.RE2_REVIEWS,
    *(dataset for dataset in PRECEDENCE if dataset is not Dataset.RE2_REVIEWS),
)
"""The same for first scores and reviewers' names: Re² is about first scores, and its conversations use its names."""

_FIELDS = ("year", "number", "title", "abstract", "authors", "keywords", "tldr", "primary_area", "venue", "status")
_DECISION_FIELDS = ("decision", "decision_comment")
_MAY_BE_SHORTER = frozenset({"abstract", "venue", *_DECISION_FIELDS})
"""Fields in which one record may have part of the other's value ("Accept" and "Accept (poster)")."""
_LISTS = frozenset({Dataset.TEXT_FOLDER, Dataset.REVIEW_TABLE, Dataset.PAPER_LIST})
"""Datasets whose "decision" may be only a paper's status; a word for a status is not a decision."""
_EMPTY: tuple[object, ...] = (None, (), Status.UNKNOWN)
_OWN_NAME = re.compile(r"(?:.*/)?(?P<name>AnonReviewer\w+|Reviewer(?!_?\d{1,2}$)\w+)", re.IGNORECASE)
"""Matches a reviewer's name on OpenReview; "Reviewer 2" may just be the second in some list."""
_FEWEST_SIGNS = 40
"""Fewest letters and digits of a review that is recognised by its text."""


ValueT = TypeVar("ValueT")


class Reading(NamedTuple):
    """The paper, reviews and posts read from one record."""

    record_id: str
    dataset: Dataset
    content: PublishedPaper


@dataclass(slots=True)
class Merged:
    """The merged records of one paper.

    Attributes:
        reviews: Reviews by id, in the order of the records.
        posts: Posts, in the order of the records.
        same: Posts, including reviews, that an earlier record also has.
        left: Ids of reviews and posts that may be the same as another record's, each with the reason in a sentence.
    """

    paper: Paper
    reviews: dict[str, Review]
    posts: list[Post]
    same: list[MergedPost] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)


def merge_readings(readings: Iterable[Reading]) -> Merged:
    """Merge the readings of one paper's records, at most one per dataset and at least one in total, in any order."""
    first, *others = sorted(readings, key=lambda reading: PRECEDENCE.index(reading.dataset))
    content = first.content
    stated = sum(len(reading.content.posts) for reading in (first, *others))
    merged = Merged(content.paper, {one.review_id: one for one in content.reviews}, list(content.posts))
    conflicts: list[Conflict] = []
    datasets = [first.dataset]
    for other in others:
        ids = first.record_id, other.record_id
        datasets.append(other.dataset)
        prefers_other = min(datasets, key=PRECEDENCE_ON_REVIEWERS.index) is other.dataset
        conflicts += _merge_paper(merged, other, ids)
        conflicts += _merge_reviews(merged, other, ids, prefers_other=prefers_other)
    record_ids = (first.record_id, *(other.record_id for other in others))
    merged.paper = replace(
        merged.paper,
        records=record_ids,
        conflicts=tuple(conflicts),
        posts_stated=stated,
        merged_posts=tuple(merged.same),
    )
    return merged


def _merge_paper(merged: Merged, reading: Reading, ids: tuple[str, str]) -> Iterator[Conflict]:
    paper, other = merged.paper, reading.content.paper
    is_status = reading.dataset in _LISTS and _squash(other.decision) == _squash(other.status)
    filled: dict[str, Any] = {}
    for name in (*_FIELDS, *_DECISION_FIELDS):
        own, stated = getattr(paper, name), getattr(other, name)
        if stated in _EMPTY or (name == "decision" and is_status):
            continue
        if own in _EMPTY:
            filled[name] = stated
        elif _differ(own, stated, is_part_enough=name in _MAY_BE_SHORTER):
            yield _make_conflict(name, own, stated, ids)
    if "year" in filled:
        filled["year_from"] = other.year_from
    merged.paper = replace(paper, extra=_merge_extra(paper.extra, other.extra), **filled)


def _differ(own: object, stated: object, *, is_part_enough: bool) -> bool:
    """Return whether two answers differ in more than case, spaces and punctuation, or in length if a part suffices."""
    if not isinstance(own, str | tuple) or isinstance(own, Status):
        return own != stated
    one, other = _squash(own), _squash(stated)
    return one not in other and other not in one if is_part_enough else one != other


def _squash(answer: object) -> str:
    text = " ".join(answer) if isinstance(answer, tuple) else str(answer)
    return "".join(sign for sign in text.casefold() if sign.isalnum())


def _make_conflict(name: str, kept: object, other: object, ids: tuple[str, str]) -> Conflict:
    texts = ["; ".join(value) if isinstance(value, tuple) else str(value) for value in (kept, other)]
    return Conflict(name, redact_people(texts[0]), redact_people(texts[1]), *ids)


def _merge_extra(own: str, other: str) -> str:
    both = (msgspec.json.decode(extra, type=dict[str, Any]) for extra in (other, own))
    return fields_to_json({name: value for members in both for name, value in members.items()})


def _merge_reviews(merged: Merged, other: Reading, ids: tuple[str, str], *, prefers_other: bool) -> Iterator[Conflict]:
    """Add the reviews and posts of another record; yield the scores and names that differ."""
    reviews = {one.review_id: one for one in other.content.reviews}
    pairs = match_reviews(list(merged.reviews.values()), list(reviews.values()))
    for review_id, own_id in pairs.items():
        own, stated = merged.reviews[own_id], reviews[review_id]
        if prefers_other and own.reviewer != stated.reviewer and _OWN_NAME.fullmatch(stated.reviewer):
            if _OWN_NAME.fullmatch(own.reviewer):
                yield _make_conflict("reviewer", stated.reviewer, own.reviewer, (ids[1], ids[0]))
            own = replace(own, reviewer=stated.reviewer)
            merged.posts[:] = [
                replace(post, signature=own.reviewer) if post.post_id == own.review_id else post
                for post in merged.posts
            ]
        merged.reviews[own_id], differing = _merge_review(own, stated, prefers_other_initial=prefers_other)
        for kept, left in differing:
            order = ids if kept in own.scores else (ids[1], ids[0])
            yield _make_conflict(f"{kept.key} ({kept.phase}) of {own.reviewer}", kept.label, left.label, order)
    names = {own.reviewer for own in merged.reviews.values()}
    are_named = any(merged.reviews[own_id].reviewer == reviews[one].reviewer for one, own_id in pairs.items()) and all(
        map(_OWN_NAME.fullmatch, names)
    )
    is_first = not merged.reviews
    for review in reviews.values():
        is_other = are_named and review.reviewer not in names and _OWN_NAME.fullmatch(review.reviewer) is not None
        if review.review_id not in pairs and (is_first or is_other):
            merged.reviews[review.review_id] = review
        elif review.review_id not in pairs:
            detail = f"It is unknown whether it is one of the reviews of the paper in '{ids[0]}'."
            merged.left.append((review.review_id, detail))
    _merge_posts(merged, other, pairs)


def match_reviews(own: Sequence[Review], others: Sequence[Review]) -> dict[str, str]:
    """Return the ids of own reviews by the ids of equal reviews of the other record, each in at most one pair.

    The two have the same id, or otherwise the same name of the reviewer on OpenReview, or otherwise the text of one
    contains every section of the other. A review that fits several is in no pair.
    """
    pairs: dict[str, str] = {}
    for is_same in (_has_same_id, _has_same_name, _has_same_text):
        left = [one for one in own if one.review_id not in pairs.values()]
        for other in (one for one in others if one.review_id not in pairs):
            fitting = [one for one in left if is_same(one, other)]
            rivals = [one for one in others if one.review_id not in pairs and fitting and is_same(fitting[0], one)]
            if len(fitting) == len(rivals) == 1:
                pairs[other.review_id] = fitting[0].review_id
                left.remove(fitting[0])
    return pairs


def _has_same_id(one: Review, other: Review) -> bool:
    return one.review_id == other.review_id


def _has_same_name(one: Review, other: Review) -> bool:
    names = [found["name"].casefold() for review in (one, other) if (found := _OWN_NAME.fullmatch(review.reviewer))]
    return len(names) == 2 and names[0] == names[1]


def _has_same_text(one: Review, other: Review) -> bool:
    parts, others = ([_squash(section.text) for section in review.sections] for review in (one, other))
    if min(sum(map(len, parts)), sum(map(len, others))) < _FEWEST_SIGNS:
        return False
    return all(part in "".join(others) for part in parts) or all(part in "".join(parts) for part in others)


def _merge_review(
    own: Review, other: Review, *, prefers_other_initial: bool
) -> tuple[Review, list[tuple[Score, Score]]]:
    """Return a review completed from that of another record, and the scores that differ, the kept one first.

    Its text is that of the first record; differing texts of the other go to `extra`, each under its field.
    """
    scores = list(own.scores)
    differing: list[tuple[Score, Score]] = []
    for stated in other.scores:
        match = _find_score(stated, other.scores, own.scores, lambda one, two: one.phase is two.phase)
        if match is None:
            named = _find_score(stated, other.scores, own.scores, lambda one, two: one.phase is not two.phase)
            scores.append(replace(stated, field=named.field, subject=named.subject) if named else stated)
            continue
        is_better = match.value is None or (prefers_other_initial and stated.phase is Phase.INITIAL)
        kept, left = (stated, match) if is_better and stated.value is not None else (match, stated)
        if kept.value is not None and left.value is not None and kept.value != left.value:
            differing.append((kept, left))
        scores[scores.index(match)] = replace(
            kept,
            field=match.field,
            subject=match.subject,
            stated_unified=_first(match.stated_unified, stated.stated_unified),
            stated_label=_first(match.stated_label, stated.stated_label),
        )
    held = {section.text for section in own.sections}
    otherwise = {section.field: section.text for section in other.sections if own.sections and section.text not in held}
    merged = replace(
        own,
        scores=tuple(scores),
        title=_first(own.title, other.title),
        sections=own.sections or other.sections,
        final_justification=_first(own.final_justification, other.final_justification),
        revised=_first(own.revised, other.revised),
        extra=_merge_extra(_merge_extra(own.extra, other.extra), fields_to_json(otherwise)),
    )
    return merged, differing


def _first(own: ValueT | None, other: ValueT | None) -> ValueT | None:
    return other if own is None else own


def _find_score(
    wanted: Score, beside: Sequence[Score], scores: Sequence[Score], fits: Callable[[Score, Score], bool]
) -> Score | None:
    """Return the score of the same field, otherwise the only one of the same aspect; None without one."""
    near = [score for score in scores if fits(score, wanted)]
    named = [score for score in near if score.field.casefold() == wanted.field.casefold()]
    alike = [score for score in near if score.aspect is wanted.aspect and wanted.aspect is not Aspect.OTHER]
    own = [score for score in beside if score.aspect is wanted.aspect and score.phase is wanted.phase]
    return named[0] if named else alike[0] if len(alike) == len(own) == 1 else None


def _merge_posts(merged: Merged, other: Reading, pairs: Mapping[str, str]) -> None:
    """Add the posts of another record that no earlier one has: those of its own reviews, and replies to a review.

    A response to a review, or to all, already exists if an earlier record has one; a post without a review is added
    unless one of the same kind has the same text.
    """
    for post in other.content.posts:
        answered = pairs.get(post.reply_to or "", post.reply_to)
        if post.kind is PostKind.REVIEW:
            if post.post_id in pairs:
                merged.same.append(MergedPost(post.post_id, pairs[post.post_id]))
            elif post.post_id in merged.reviews:
                merged.posts.append(post)
        elif answered is not None and answered not in merged.reviews:
            merged.left.append((post.post_id, f"The review that it answers, '{answered}', was set aside."))
        elif same := [one for one in merged.posts if _is_there(one, post, answered)]:
            merged.same.append(MergedPost(post.post_id, same[0].post_id))
        else:
            is_taken = any(one.post_id == post.post_id for one in merged.posts)
            post_id = f"{other.record_id}/{post.post_id}" if is_taken else post.post_id
            merged.posts.append(replace(post, post_id=post_id, reply_to=answered))


def _is_there(one: Post, post: Post, answered: str | None) -> bool:
    is_response = post.kind is PostKind.REBUTTAL
    is_same = one.kind is post.kind and one.reply_to == answered
    return is_same and (is_response or _squash(one.text) == _squash(post.text))

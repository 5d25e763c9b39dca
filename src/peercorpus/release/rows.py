"""Convert a forum to rows of the published tables.

Deleted notes, and notes that are not public, are left out; e-mail addresses and profile ids are masked here.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

import msgspec

from peercorpus.corpus.forums import Forum, is_public
from peercorpus.corpus.text_choice import TextRule
from peercorpus.corpus.texts import VenueTexts
from peercorpus.discussion.until_decision import cut_at_decision, forget_decision_in
from peercorpus.importers.reviewbench import drop_shape
from peercorpus.records.documents import Change
from peercorpus.records.enums import Aspect, Grade, Phase, Role
from peercorpus.records.papers import PaperVersion, forget_year_of_decision
from peercorpus.records.reviews import Conversation, Review, forget_decision, has_words
from peercorpus.records.scores import Score, choose_first_and_last, choose_score, unified_rating
from peercorpus.release.record_rows import Row, ai_review_rows, as_row, blotted_json, meta_review_rows, post_rows
from peercorpus.release.reviews_json import as_number, reviews_json
from peercorpus.release.text_rows import build_text_rows, pick_texts
from peercorpus.wording.untrusted_text import redact_people

DEFAULT_RULE = TextRule()
NAMING = re.compile(r"author|bibtex|paperhash", re.IGNORECASE)
"""Names of fields in which OpenReview names authors, in full or by surname (`ada|sorting_by_colour`)."""


def without_authors(text: str, authors: Sequence[str]) -> str:
    r"""Return the JSON of a note's fields without fields that name its authors.

    >>> without_authors('{"paperhash": "ada|sorts", "code": "a.git", "by": ["Bo Ek"]}', ["Bo Ek"])
    '{"code": "a.git"}'
    """
    names = [name.casefold() for name in authors if " " in name]

    def is_named(value: object) -> bool:
        value_json = json.dumps(value, ensure_ascii=False).casefold()
        return any(name in value_json for name in names)

    fields = json.loads(text or "{}").items()
    kept = {field: value for field, value in fields if not NAMING.search(field) and not is_named(value)}
    return json.dumps(kept, ensure_ascii=False)


def review_row(review: Review, rebuttal: str) -> Row:
    """Return one review as a typed row.

    Args:
        review: The review.
        rebuttal: The authors' answer to it; empty if there is none.
    """
    row = as_row(review) | {
        "rating": _pick_number(review.scores, Aspect.RECOMMENDATION, "rating"),
        "rating_unified": unified_rating(review.scores),
        "confidence": _pick_number(review.scores, Aspect.CONFIDENCE, "confidence"),
        "rating_at_decision": _pick_number(_select_at_decision(review.scores), Aspect.RECOMMENDATION, "rating"),
        "rebuttal": rebuttal,
        "extra": blotted_json(drop_shape(review.extra)),
    }
    blotted: Row = redact_people(row)
    return blotted


def _pick_number(scores: Sequence[Score], aspect: Aspect, field: str) -> float | int | None:
    score = choose_score(scores, aspect, field)
    return as_number(score.value) if score else None


def _select_at_decision(scores: Sequence[Score]) -> list[Score]:
    return [score for score in scores if score.phase is Phase.AT_DECISION]


def before_and_after(scores: Sequence[Score]) -> Row:
    """Return recommendation and confidence as first given, at the decision, and current; None if not known."""
    row: Row = {}
    for name, aspect in (("rating", Aspect.RECOMMENDATION), ("confidence", Aspect.CONFIDENCE)):
        first, last = choose_first_and_last(scores, aspect, name)
        then = choose_score(_select_at_decision(scores), aspect, name)
        by_phase = {"initial": first, "at_decision": then, "final": last}
        row |= {f"{name}_{phase}": score.value if score else None for phase, score in by_phase.items()}
    return row


_ADDED: Row = {"moved": [], "is_reminder": False}
"""Fields of a turn that releases of earlier versions lack, and what they mean there."""


def read_conversation(talk: Row) -> Conversation:
    """Return the conversation in a row of a release, also of an earlier version."""
    turns = [turn | {name: value for name, value in _ADDED.items() if turn.get(name) is None} for turn in talk["turns"]]
    return msgspec.convert(talk | {"turns": turns}, Conversation)


def read_scores(structs: Sequence[Row]) -> list[Score]:
    """Return the scores in a row of a release as records; fields missing in an earlier release get their default.

    Raises:
        msgspec.ValidationError: The row holds something other than scores, or a value that this version does not know.
    """
    known = [{name: value for name, value in one.items() if value is not None or name != "answers"} for one in structs]
    return msgspec.convert(known, list[Score])


_OF_REVIEW = ("review_id", "reviewer", "revised", "posted_after_decision")


def score_rows(review: Review, paper_columns: Row) -> Iterator[Row]:
    """Yield one row per score, in the order of the form."""
    for key in dict.fromkeys(score.key for score in review.scores):
        of_field = [score for score in review.scores if score.key == key]
        fields = {score.field for score in of_field}
        row: Row = {}
        for score in reversed(of_field):
            row |= _name_phase_columns(score)
        changes = [change for change in review.score_changes if change.field in fields and not change.is_by_others]
        times = [change.changed_at for change in changes if change.changed_at is not None]
        last = of_field[-1]
        score_columns = {name: getattr(last, name) for name in ("aspect", "low", "high", "higher_is_better", "answers")}
        review_columns = {name: getattr(review, name) for name in _OF_REVIEW}
        score_columns |= {
            "field": key,
            "changes": len(changes),
            "changed_at": max(times, default=None),
            "at_decision_known": review.at_decision.value,
        }
        blotted: Row = redact_people(row | review_columns | score_columns | paper_columns)
        yield blotted


def _name_phase_columns(score: Score) -> Row:
    phase = score.phase
    return {
        phase.value: score.value,
        f"{phase}_unified": score.unified,
        f"{phase}_rank": score.rank,
        f"{phase}_label": score.label,
        f"{phase}_source": score.source.value,
    }


@dataclass(frozen=True, slots=True)
class ForumRows:
    """The published rows of one forum.

    Attributes:
        paper: The row of `papers_full`, whose columns include those of `papers`.
        grade: The grade of the version whose text represents the paper; None if it has no grade or there is no text.
        is_accepted: Whether that grade is accepted, so that tasks may use the text.
        withheld: Reviews, conversations and decisions not published because they are not public.
        left_out: Texts and changes not published for other reasons, by kind.
        ai_reviews: Reviews that an AI wrote or may have written, with the replies to them; no other rows contain any of
            them.
    """

    paper: Row
    reviews: list[Row]
    meta_reviews: list[Row]
    posts: list[Row]
    conversations: list[Row]
    versions: list[Row]
    texts: list[Row]
    changes: list[Row]
    scores: list[Row]
    grade: Grade | None
    is_accepted: bool
    withheld: Counter[str]
    left_out: Counter[str]
    ai_reviews: list[Row]

    @property
    def by_config(self) -> dict[str, list[Row]]:
        """The rows of each configuration that is split by conference."""
        papers = [self.paper]
        return {"papers": papers, "papers_full": papers} | {name: getattr(self, name) for name in _CONFIGS}


_CONFIGS = ("reviews", "meta_reviews", "posts", "conversations", "versions", "texts", "changes", "scores", "ai_reviews")


def _make_context(conversation: Conversation, forum: Forum, public: set[str]) -> list[Row]:
    posts = {post.post_id: post for post in forum.posts if post.post_id in public}
    return [
        as_row(response) | {name: getattr(posts[response.post_id], name) for name in ("title", "text", "created_at")}
        for response in conversation.context
        if response.post_id in posts
    ]


def _make_talk_row(conversation: Conversation, forum: Forum, public: set[str]) -> Row:
    venue = {"conference": forum.paper.conference, "year": forum.paper.year}
    context = {"context": _make_context(conversation, forum, public), "extra": blotted_json(conversation.extra)}
    return as_row(conversation) | venue | context


def end_at_decision(talk: Row) -> Row:
    """Return a row of `conversations` up to the first turn known to be posted after the decision."""
    return talk | {"turns": [*takewhile(lambda turn: not turn.get("posted_after_decision"), talk["turns"])]}


def _make_paper_row(forum: Forum, public: set[str], conversations: Sequence[Conversation]) -> Row:
    """Return the columns from the paper's own record; withheld fields are None."""
    paper = forum.paper
    texts = {post.post_id: post.text for post in forum.posts if post.post_id in public}
    response_ids = dict.fromkeys(one.post_id for talk in conversations for one in cut_at_decision(talk).context)
    row = as_row(paper) | {
        "paper_number": paper.number,
        "author_rebuttal": "\n\n".join(texts[post_id] for post_id in response_ids if post_id in texts),
        "extra": blotted_json(drop_shape(paper.extra)),
    }
    return row | dict.fromkeys(forum.withheld)


def _read_text_columns(version: PaperVersion | None, texts: VenueTexts) -> Row:
    if version is None:
        return {"markdown": "", "grade": None, "text_moment": None, "text_sha256": None, "text_engine": None}
    sha256 = str(version.sha256)
    return {
        "markdown": texts.read(sha256),
        "grade": version.grade,
        "text_moment": version.moment,
        "text_sha256": sha256,
        "text_engine": texts.engine(sha256),
    }


def _make_record_columns(forum: Forum, reviews: Sequence[Review], rebuttals: Mapping[str, str]) -> Row:
    """Return the columns of reviews (as JSON and typed) and other posts, masked before they are encoded."""
    rows = [review_row(review, rebuttals.get(review.reviewer, "")) for review in reviews]
    return {
        "num_reviews": sum(map(has_words, reviews)),
        "reviews_json": reviews_json(reviews, rows),
        "reviews": rows,
        "posts": post_rows(forum.public_posts, {review.review_id for review in reviews}),
    }


def _remove_names(forum: Forum) -> Forum:
    """Return a forum without the fields that name its authors."""
    authors = forum.paper.authors
    paper = replace(forum.paper, authors=(), extra=without_authors(forum.paper.extra, authors))
    posts = [replace(post, extra=without_authors(post.extra, authors)) for post in forum.posts]
    ai_reviews = []
    for review in forum.ai_reviews:
        replies = tuple(replace(reply, extra=without_authors(reply.extra, authors)) for reply in review.replies)
        ai_reviews.append(replace(review, extra=without_authors(review.extra, authors), replies=replies))
    return replace(forum, paper=paper, posts=posts, ai_reviews=ai_reviews)


def _forget_decisions(forum: Forum) -> Forum:
    """Return a forum without information on what came before or after the decision, since its time is withheld."""
    undated = [replace(post, posted_after_decision=None) for post in forum.posts]
    talks = [forget_decision_in(talk) for talk in forum.conversations]
    reviews = [forget_decision(review) for review in forum.reviews]
    paper = forget_year_of_decision(forum.paper)
    return replace(forum, paper=paper, reviews=reviews, posts=undated, conversations=talks)


def build_rows(
    forum: Forum,
    texts: VenueTexts,
    changes: Sequence[Change] = (),
    rule: TextRule = DEFAULT_RULE,
    *,
    with_authors: bool = True,
) -> ForumRows:
    """Return the rows of one forum, without anything from posts that are deleted or not public.

    Args:
        forum: A forum without its taken-down parts.
        texts: The texts of its venue, including later ones.
        changes: The changes between its versions.
        rule: Which texts are published.
        with_authors: Whether authors are named.
    """
    named = forum
    forum = forum if with_authors else _remove_names(forum)
    public = forum.public_post_ids
    if "decided_at" in forum.withheld:
        forum = _forget_decisions(forum)
    reviews = [review for review in forum.reviews if review.readers_public and not review.deleted]
    conversations = [talk for talk in forum.conversations if is_public(talk, public)]
    picked = pick_texts(named, texts, rule, with_authors=with_authors)
    withheld = Counter(
        reviews=len(forum.reviews) - len(reviews),
        conversations=len(forum.conversations) - len(conversations),
        decisions=int(bool(forum.withheld)),
    )
    row: Row = redact_people(_make_paper_row(forum, public, conversations) | _read_text_columns(picked.best, texts))
    row["markdown_chars"] = len(row["markdown"])
    rebuttals = {
        talk.reviewer: "\n\n".join(turn.text for turn in cut_at_decision(talk).turns if turn.role is Role.AUTHOR)
        for talk in conversations
        if talk.is_with_reviewer
    }
    row |= _make_record_columns(forum, reviews, rebuttals)
    paper_columns = {name: row[name] for name in ("forum_id", "venue_id", "conference", "year")}
    text_rows, changed, left_out = build_text_rows(
        named, texts, picked, changes, paper_columns, rule, with_authors=with_authors
    )
    chairs = meta_review_rows(forum.public_posts)
    return ForumRows(
        paper=row,
        reviews=[review | paper_columns for review in row["reviews"]],
        meta_reviews=[meta_review | paper_columns for meta_review in chairs],
        posts=[post | paper_columns for post in row["posts"]],
        conversations=redact_people([_make_talk_row(talk, forum, public) for talk in conversations]),
        versions=redact_people([row | row["evidence"] | paper_columns for row in map(as_row, forum.versions)]),
        texts=text_rows,
        changes=changed,
        scores=[score for review in reviews for score in score_rows(review, paper_columns)],
        grade=picked.best.grade if picked.best else None,
        is_accepted=rule.accepts(picked.best),
        withheld=withheld,
        left_out=left_out,
        ai_reviews=[one | paper_columns for one in ai_review_rows(forum.ai_reviews)],
    )

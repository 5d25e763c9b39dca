"""The columns of the configurations of a corpus and of the tasks, with their meanings."""

from datetime import datetime
from typing import Annotated

from peercorpus.records.reviews import Section
from peercorpus.records.scores import Score, ScoreChange
from peercorpus.release.columns import DEFAULT_OF_REVIEWBENCH, Columns, Count

ForumId = Annotated[str, "OpenReview's id of the submission: `https://openreview.net/forum?id=<forum_id>`"]
VenueId = Annotated[str, "OpenReview's id of the venue"]
Conference = Annotated[str, "the conference family"]
Year = Annotated[
    int,
    "the calendar year in the venue id; at a venue that names none, such as a journal, that of the decision, else of"
    " the submission; null if neither is known",
]
Track = Annotated[str, "`main`, or the part of the venue id that names the track or workshop"]
Verbatim = Annotated[str, "verbatim"]
Keywords = Annotated[tuple[str, ...], "verbatim"]
Reviewer = Annotated[str, "the anonymous id within the paper"]
Markdown = Annotated[str, "the text of the paper; pages are joined by a line of three dashes"]
Outcome = Annotated[
    str,
    "`accepted`, `rejected`, `withdrawn`, `desk_rejected`, `under_review`, `unknown`; null if the decision is not"
    " public",
]
Decision = Annotated[str, "the verdict, verbatim"]
TextGrade = Annotated[
    str,
    "how it is known that `markdown` is what the reviewers read; null if there is no text, or one of another version",
]
Moment = Annotated[
    str, "when in the paper's life that version was uploaded: `initial`, `camera_ready`, …; null if that is not known"
]
AfterDecision = Annotated[bool, "whether it was posted after the decision; null if either time is not known"]
AtDecision = Annotated[
    str,
    "how it is known what it said at the decision: `unchanged` since before it, `released` (changed after it only when"
    " the venue changed the notes of several people at once), from `edits`; or why not: `posted_after`,"
    " `changed_unseen` (changed after it, earlier state unknown), `no_decision_time`, `no_review_time`",
]
LicenceOfNote = Annotated[str, "the licence that the note or its form states, verbatim; null if neither does"]
Consent = Annotated[
    str,
    "the answer to a question for consent to publish it, verbatim; several answers each follow the name of their"
    " field; null if nothing was asked or answered",
]
Lowest = Annotated[float, "lowest answer the form offers; null if that is not known"]
Highest = Annotated[float, "highest answer the form offers"]
OwnField = Annotated[str, "the form's own name of the field"]
VerbatimAnswer = Annotated[str, "the answer, verbatim"]
Same = "the same"


class Place(Columns):
    forum_id: ForumId
    venue_id: VenueId
    conference: Conference
    year: Year


# The twenty columns of Samarth0710/reviewbench in the order of its card (read 2026-11-21).
class ReviewBench(Columns, name=DEFAULT_OF_REVIEWBENCH, per="submission", group_rows=100):
    forum_id: ForumId
    conference: Conference
    year: Annotated[Count, "as in the other configurations, in the type that ReviewBench's card prints"]
    track: Track
    venue_id: VenueId
    paper_number: Annotated[Count, "the running number within the venue"]
    title: Verbatim
    abstract: Verbatim
    authors: Annotated[tuple[str, ...], "empty if the record is anonymous, or the release was made without names"]
    keywords: Keywords
    tldr: Verbatim
    primary_area: Verbatim
    venue: Annotated[str, "the verbatim venue string of the submission"]
    decision: Decision
    decision_comment: Annotated[str, "the text with the decision, or the meta-review"]
    author_rebuttal: Annotated[
        str, "the authors' response to all reviewers until the decision; empty if they answered each one separately"
    ]
    num_reviews: Annotated[Count, "reviews in `reviews_json` that have any words"]
    reviews_json: Annotated[str, "a JSON list, one object per review: see below"]
    markdown: Markdown
    markdown_chars: Annotated[int, "characters of `markdown`"]


class Papers(ReviewBench, name="papers", per="submission", group_rows=200):
    year: Year
    licence: Annotated[
        str,
        "of the submission, verbatim, where its page on OpenReview states one; ReviewBench has no such column",
    ]


class ReviewColumns(Columns):
    review_id: str
    form_id: Annotated[str, "the form it was read with: an invitation, else `declared:…` or `inferred:…`"]
    reviewer: Reviewer
    created_at: datetime
    modified_at: datetime
    title: Annotated[str, "the reviewer's own heading"]
    rating: Annotated[float, "the overall recommendation as it stands now, on the venue's own scale"]
    rating_unified: Annotated[float, "the same on Re²'s scale of 1 to 10; null if the form's words do not say"]
    confidence: Annotated[float, "as it stands now, on the venue's own scale"]
    rating_at_decision: Annotated[float, "as it stood when the decision was posted; null: not known, see `at_decision`"]
    scores: Annotated[tuple[Score, ...], "every score, in each phase in which it is known"]
    sections: Annotated[tuple[Section, ...], "every text of the form, as it stands now"]
    initial_sections: Annotated[tuple[Section, ...], "first text of the sections that were changed since"]
    updated_fields: Annotated[tuple[str, ...], "fields whose text states that a part was added later"]
    score_changes: Annotated[tuple[ScoreChange, ...], "every change that is known, with its source, in time order"]
    revised: Annotated[bool, "whether it was changed, other than by chairs or the venue; null: not known"]
    final_justification: Annotated[str, "what the reviewer wrote in that field after the rebuttal"]
    justified_at: Annotated[datetime, "when that was first written; null if no readable edit shows it"]
    posted_after_decision: AfterDecision
    at_decision: AtDecision
    sections_at_decision: Annotated[
        tuple[Section, ...],
        "of a review changed after the decision, what it said then, as far as edits show that",
    ]
    rebuttal: Annotated[str, "what the authors answered to this reviewer until the decision; empty if they did not"]
    licence: LicenceOfNote
    consent: Consent
    extra: Annotated[str, "JSON of every answer that is neither score nor text"]


class Reviews(
    Place, ReviewColumns, name="reviews", per="public official review", group_rows=500, key=("review_id",)
): ...


class PostColumns(Columns):
    post_id: str
    reply_to: Annotated[str, "the post it replies to; null if that is the submission, or is not here"]
    kind: Annotated[str, "`comment`, `meta_review`, `decision`, …"]
    role: Annotated[str, "who speaks: `author`, `area_chair`, `public`, …"]
    signature: Annotated[
        str, "the anonymous id within the paper; `public_<pseudonym>` for people who signed with their name"
    ]
    invitation: Verbatim
    created_at: datetime
    modified_at: datetime
    title: Verbatim
    text: Annotated[str, "the prose; several fields each follow their name as a heading"]
    licence: LicenceOfNote
    consent: Consent
    extra: Annotated[str, "JSON of every other field"]
    addressed_to: Annotated[
        tuple[str, ...],
        "of a post of the authors, whom it addresses: reviewers, `chairs`, `everyone`, `public`, `ethics`",
    ]
    addressed_by: Annotated[
        str,
        "how that is known: `tree`, `title`, `greeting`, `part`, `invitation`, `none`; null: not the authors' post",
    ]
    greets: Annotated[tuple[str, ...], "reviewers whom it addresses although it replies to another reviewer"]
    posted_after_decision: AfterDecision


class Posts(
    Place, PostColumns, name="posts", per="public post other than a review", group_rows=1_000, key=("post_id",)
): ...


class PapersFull(Papers, name="papers_full", per="submission, with everything known about it, typed", group_rows=100):
    status: Outcome
    year_from: Annotated[str, "where `year` was read: `venue`, `record`, `decision`, `submission`"]
    decided_at: Annotated[datetime, "when the decision was posted"]
    created_at: Annotated[datetime, "when the submission was created, by the server's clock"]
    modified_at: datetime
    grade: TextGrade
    text_moment: Moment
    text_sha256: Annotated[
        str, "of the PDF from which `markdown` was read; for a text published by others, of its bytes"
    ]
    text_engine: Annotated[str, "the engine that read it, and its version"]
    reviews: Annotated[tuple[ReviewColumns, ...], "as in the configuration `reviews`"]
    posts: Annotated[tuple[PostColumns, ...], "every other public post of the forum, in time order"]
    replies_not_shown: Annotated[
        Count,
        "the least number of replies that were posted and never seen, by gaps in the numbers of the others; null if"
        " nothing proves a number",
    ]
    replies_deleted: Annotated[Count, "replies that were seen and have been deleted, or are no longer shown"]
    extra: Annotated[
        str,
        "JSON of what no other column has, without accounts; in a release without authors, also without fields that"
        " name them",
    ]


class MetaReviews(Place, name="meta_reviews", per="public meta-review, typed", group_rows=500, key=("post_id",)):
    post_id: Annotated[str, "as in `posts`"]
    kind: Annotated[str, "`meta_review`; `decision` if the decision contains the meta-review"]
    role: Annotated[str, "who speaks: `area_chair`, `senior_area_chair`, `program_chair`, …"]
    signature: Reviewer
    created_at: datetime
    modified_at: datetime
    title: Verbatim
    recommendation: Annotated[str, "verbatim; null if the form asks for none, or not everyone may read it"]
    recommendation_field: OwnField
    recommends: Annotated[str, "what its words mean: `accepted`, `rejected`, `desk_rejected`; null: not known"]
    recommendation_value: Annotated[float, "its number; null if it has none, or one that the form does not offer"]
    recommendation_low: Lowest
    recommendation_high: Highest
    recommendation_higher_is_better: Annotated[bool, "whether a higher number is better; null: the form does not say"]
    recommendation_unified: Annotated[float, "on Re²'s scale of 1 to 10; null if the form's words do not say"]
    confidence: Annotated[float, "null if the form asks for none, or the answer contains no number"]
    confidence_low: Lowest
    confidence_high: Highest
    confidence_label: VerbatimAnswer
    justifications: Annotated[tuple[Section, ...], "the passages in which the form asks for reasons"]
    scores: Annotated[tuple[Score, ...], "every score, including those above"]
    text: Annotated[str, "all prose, including justifications; several fields each follow their name as a heading"]
    licence: LicenceOfNote
    consent: Consent
    extra: Annotated[str, "JSON of every field that is not prose"]
    posted_after_decision: AfterDecision


class ConversationTurn(Columns):
    role: Annotated[str, "`reviewer`, `author`, `area_chair`, …"]
    signature: Annotated[str, "who speaks, by the anonymous id within the paper"]
    title: Annotated[str, "one for the whole turn"]
    text: Annotated[
        str,
        "merged posts are separated by a blank line; a review that was changed is shown as first given if that is"
        " known",
    ]
    created_at: Annotated[datetime, "of the first post of the turn"]
    post_ids: Annotated[tuple[str, ...], "the posts it was made of"]
    holds_update: Annotated[
        bool,
        'whether the text states that a part was added later ("UPDATE:"): such a turn also contains what was written'
        " after the answers to it",
    ]
    titles: Annotated[tuple[str, ...], "of the posts, verbatim"]
    orphan_ids: Annotated[tuple[str, ...], "posts that answer a post which is deleted, hidden or not in the workspace"]
    moved: Annotated[tuple[str, ...], "posts that were posted under another reviewer's, each as its id and the reason"]
    score_changes: Annotated[tuple[ScoreChange, ...], "what the reviewer changed at this turn"]
    final_justification: Annotated[str, "what the reviewer wrote in that field of the form at this turn"]
    title_model: Annotated[str, "the model that wrote `title`; null if it is taken from the posts"]
    posted_after_decision: AfterDecision
    is_reminder: Annotated[bool, "whether the authors only remind the reviewer, who answered that"]


class ResponseToAll(Columns):
    post_id: str
    title: Verbatim
    text: Verbatim
    created_at: datetime
    before_turn: Annotated[Count, "the index of the turn before which it was posted; null if turns have no times"]
    concerning: Annotated[tuple[str, ...], "the passages that name this conversation's reviewer"]
    posted_after_decision: AfterDecision


class ConversationId(Columns):
    conversation_id: Annotated[str, "`<forum_id>/<reviewer>`"]


class Conversations(
    ConversationId,
    Place,
    name="conversations",
    per="exchange with a reviewer or someone else",
    group_rows=500,
    key=("conversation_id",),
):
    reviewer: Reviewer
    turns: Annotated[
        tuple[ConversationTurn, ...], "the exchange in time order; consecutive posts of one speaker are one turn"
    ]
    context: Annotated[tuple[ResponseToAll, ...], "the authors' responses to several or all reviewers"]
    undated_changes: Annotated[tuple[ScoreChange, ...], "score changes that cannot be assigned to a turn"]
    kind: Annotated[str, "with whom: `review` (a reviewer), `public`, `ethics`, `chairs`, `other`"]
    extra: Annotated[str, "JSON of what a published record of the exchange states beside it"]


class Scores(
    Place,
    name="scores",
    per="score of a review, before and after the discussion",
    group_rows=5_000,
    key=("review_id",),
):
    review_id: str
    reviewer: Reviewer
    aspect: Annotated[str, "what it is about"]
    field: OwnField
    initial: Annotated[
        float, "as first given, on the venue's own scale; null if that is not known, or contains no number"
    ]
    final: Annotated[float, "as it stands now; null if the answer contains no number"]
    at_decision: Annotated[float, "as it stood when the decision was posted; null if that is not known"]
    initial_unified: Annotated[float, "of a recommendation, on Re²'s scale of 1 to 10"]
    final_unified: Annotated[float, Same]
    at_decision_unified: Annotated[float, Same]
    initial_rank: Annotated[Count, "of an answer in words, its place in `answers`, from 1"]
    final_rank: Annotated[Count, Same]
    at_decision_rank: Annotated[Count, Same]
    initial_label: VerbatimAnswer
    final_label: VerbatimAnswer
    at_decision_label: VerbatimAnswer
    initial_source: Annotated[
        str, "where it was read; `text`: only in the reviewer's own words; `never_modified`: it is the current one"
    ]
    final_source: Annotated[str, "where it was read; `edit_by_chairs`, `edit_by_venue`: not the reviewer wrote it"]
    low: Annotated[float, "lowest answer the form offers"]
    high: Highest
    higher_is_better: Annotated[bool, "whether a higher number, or a later word, is better; null: not known"]
    answers: Annotated[tuple[str, ...], "the words that a form without numbers offers, in its own order"]
    changes: Annotated[Count, "the reviewer's changes that are known"]
    changed_at: Annotated[datetime, "of the last of them"]
    revised: Annotated[bool, "whether the review was changed, other than by chairs or the venue; null: not known"]
    posted_after_decision: AfterDecision
    at_decision_known: Annotated[str, "`at_decision` of the review: how that phase is known, or why it is not"]


class Links(
    Place, name="links", per="pair of submissions of the same work", group_rows=5_000, key=("forum_id", "earlier_id")
):
    forum_id: Annotated[str, "OpenReview's id of the later submission"]
    earlier_id: Annotated[str, "OpenReview's id of the earlier submission"]
    earlier_venue_id: Annotated[str, "its venue"]
    work_id: Annotated[str, "of both: the smallest `forum_id` of all submissions of the work in this release"]
    kind: Annotated[
        str, "`resubmission`, `workshop` (one of the two is at a workshop), `twin` (listed twice), `undated`"
    ]
    days: Annotated[float, "days between their creation; null if one has no date"]
    title_similarity: Annotated[float, "share of words in common, in [0, 1]; null if one has no title"]
    abstract_similarity: Annotated[
        float, "word pairs in common, as a share of the shorter abstract's; null if one has no abstract"
    ]
    text_similarity: Annotated[float, "share of the shorter text's runs of five words; null if a text is missing"]
    rule: Annotated[str, "the rule by which they are the same work"]
    named_in: Annotated[
        str, "the field, or kind of post, in which one names the other as its earlier version; null if none does"
    ]


class TryOfWork(Columns):
    work_id: Annotated[str, "the smallest `forum_id` of all submissions of the work in this release"]
    try_number: Annotated[Count, "from 1, in order of creation; null if one of them has no date"]
    tries: Annotated[Count, "number of submissions of the work in this release"]


class Tries(
    TryOfWork, Place, name="tries", per="submission of a work that was submitted more than once", group_rows=5_000
):
    created_at: Annotated[datetime, "when the submission was created, by the server's clock"]
    status: Outcome
    decision: Decision
    ratings: Annotated[tuple[float, ...], "of its public reviews, as they stand now, on the venue's own scale"]
    unified: Annotated[tuple[float, ...], "the same on Re²'s scale of 1 to 10; null if the form's words do not say"]
    mean_unified: Annotated[float, "the mean of those that are known"]

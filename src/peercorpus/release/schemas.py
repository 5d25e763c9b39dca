"""Declare the columns of every configuration of a release, with their meanings.

The meanings are data: cards and Croissant metadata show them.
"""

from collections.abc import Iterator

import pyarrow as pa

from peercorpus.records.arrow_schema import arrow_type
from peercorpus.records.documents import TextHeading
from peercorpus.records.reviews import Section
from peercorpus.records.scores import Score, ScoreChange

DESCRIPTION = "description"
"""Key of a column's metadata under which its meaning is stored."""
TEXT, NUMBER, COUNT, TRUTH = pa.string(), pa.float64(), pa.int32(), pa.bool_()
TEXTS = pa.list_(TEXT)
TIME = pa.timestamp("us", tz="UTC")


def column(name: str, kind: pa.DataType, says: str = "") -> pa.Field:
    """Return a column with its meaning, which is empty where the name says everything."""
    return pa.field(name, kind, metadata={DESCRIPTION: says} if says else None)


def column_meaning(field: pa.Field) -> str:
    """Return the meaning of a column; empty where the name says everything."""
    metadata: dict[bytes, bytes] = field.metadata or {}
    return metadata.get(DESCRIPTION.encode(), b"").decode()


def _described(struct: pa.DataType, /, **words: str) -> pa.DataType:
    return pa.struct([column(field.name, field.type, words.get(field.name, "")) for field in struct])


def flatten_columns(fields: pa.Schema | pa.StructType, prefix: str = "") -> Iterator[tuple[str, pa.Field]]:
    """Yield every column and, after it, the fields of its structs, by dotted names."""
    for field in fields:
        yield prefix + field.name, field
        inner = field.type.value_type if pa.types.is_list(field.type) else field.type
        if pa.types.is_struct(inner):
            yield from flatten_columns(inner, f"{prefix}{field.name}.")


def item_type(kind: pa.DataType) -> pa.DataType:
    """Return the type inside a list, or a list of lists; any other type as it is."""
    while pa.types.is_list(kind):
        kind = kind.value_type
    return kind


def type_name(kind: pa.DataType) -> str:
    """Return the name of a type as the card shows it.

    >>> type_name(pa.list_(pa.struct([("a", pa.string())]))), type_name(TIME)
    ('list of struct', 'timestamp, UTC')
    """
    if pa.types.is_list(kind):
        return f"list of {type_name(kind.value_type)}"
    if pa.types.is_struct(kind):
        return "struct"
    return "timestamp, UTC" if pa.types.is_timestamp(kind) else str(kind)


FORUM_ID = column("forum_id", TEXT, "OpenReview's id of the submission: `https://openreview.net/forum?id=<forum_id>`")
VENUE_ID = column("venue_id", TEXT, "OpenReview's id of the venue")
CONFERENCE = column("conference", TEXT, "the conference family")
YEAR = column("year", COUNT, "calendar year; null for venues that name none")
TRACK = column("track", TEXT, "`main`, or the part of the venue id that names the track or workshop")
TITLE, ABSTRACT = column("title", TEXT, "verbatim"), column("abstract", TEXT, "verbatim")
KEYWORDS = column("keywords", TEXTS, "verbatim")
REVIEWER = column("reviewer", TEXT, "the anonymous id within the paper")
MARKDOWN = column("markdown", TEXT, "the text of the paper as submitted; pages are joined by a line of three dashes")
STATUS = column(
    "status",
    TEXT,
    "`accepted`, `rejected`, `withdrawn`, `desk_rejected`, `under_review`, `unknown`; null where the decision is not"
    " public",
)
DECISION = column("decision", TEXT, "the verdict, verbatim")
GRADE = column("grade", TEXT, "how it is known that `markdown` is what the reviewers read; null where there is no text")
PLACE = [FORUM_ID, VENUE_ID, CONFERENCE, YEAR]

# The twenty columns of Samarth0710/reviewbench in its own order, as its card has them (read 2026-11-21).
REVIEWBENCH = pa.schema(
    [
        FORUM_ID,
        CONFERENCE,
        YEAR,
        TRACK,
        VENUE_ID,
        column("paper_number", COUNT, "the running number within the venue"),
        TITLE,
        ABSTRACT,
        column("authors", TEXTS, "empty where the record is blind, or the release was made without names"),
        KEYWORDS,
        column("tldr", TEXT, "verbatim"),
        column("primary_area", TEXT, "verbatim"),
        column("venue", TEXT, "the verbatim venue string of the submission"),
        DECISION,
        column("decision_comment", TEXT, "the text with the decision, or the meta-review"),
        column(
            "author_rebuttal",
            TEXT,
            "the authors' response to all reviewers; empty where they answered each on their own",
        ),
        column("num_reviews", COUNT, "reviews in `reviews_json`"),
        column("reviews_json", TEXT, "a JSON list, one object per review: see below"),
        MARKDOWN,
        column("markdown_chars", pa.int64(), "characters of `markdown`"),
    ]
)
PAPERS = REVIEWBENCH.append(
    column(
        "licence",
        TEXT,
        "of the submission, verbatim, where its page on OpenReview states one; ReviewBench has no such column",
    )
)

SCORE = _described(
    arrow_type(Score),
    aspect="what it is about: `recommendation`, `confidence`, `soundness`, …",
    field="the form's own name of the field",
    value="on the venue's own scale; null where the answer holds no number",
    low="lowest answer the form offers",
    high="highest answer the form offers",
    label="the answer, verbatim",
    phase="`initial`: as first given; `at_decision`: as it stood when the decision was posted; `final`: as it stands",
    source=(
        "where it was read: `note`, `edit`, `snapshot`, `text` (the reviewer's words), `recommendation` (a note of its"
        " own), `published`"
    ),
    offered="the numbers the form offers, ascending",
    unified="of a recommendation, its place on Re²'s scale of 1 to 10, whose accepting half begins at 6",
    higher_is_better="whether a higher number, or of words a later one in `answers`, is better; null: no words tell",
    rank="of an answer in words, its place in `answers`, from 1",
    answers="the words that a form without numbers offers, in its own order",
    subject="what fields share that ask for one score before and after the rebuttal; null where one field asks for it",
)
SECTION = _described(
    arrow_type(Section),
    kind="`summary`, `strengths`, `weaknesses`, …",
    field="the form's own name of the field",
    text="verbatim",
)
SCORE_CHANGE = _described(
    arrow_type(ScoreChange),
    before="null where the earlier answer holds no number, or is not told; `after` where the later one holds none",
    changed_at="null where only the two values are known",
    words="the reviewer's words that tell of it; null where something else shows it",
)
TURN = pa.struct(
    [
        column("role", TEXT, "`reviewer`, `author`, `area_chair`, …"),
        column("signature", TEXT, "who speaks, by the anonymous id within the paper"),
        column("title", TEXT, "one for the whole turn"),
        column(
            "text",
            TEXT,
            "posts merged are joined by a blank line; a review that was changed stands as first given where that is"
            " known",
        ),
        column("created_at", TIME, "of the first post of the turn"),
        column("post_ids", TEXTS, "the posts it was made of"),
        column(
            "holds_update",
            TRUTH,
            'whether the text says of itself that a part was added later ("UPDATE:"): such a turn also holds what came'
            " after the answers to it",
        ),
        column("titles", TEXTS, "of the posts, verbatim"),
        column("orphan_ids", TEXTS, "posts that answer one which is deleted, hidden or not held"),
        column("score_changes", pa.list_(SCORE_CHANGE), "what the reviewer changed at this turn"),
        column("final_justification", TEXT, "what the reviewer wrote in that field of the form at this turn"),
        column("title_model", TEXT, "the model that wrote `title`; null where it is made of the posts' own"),
    ]
)
RESPONSE = pa.struct(
    [
        column("post_id", TEXT),
        column("title", TEXT, "verbatim"),
        column("text", TEXT, "verbatim"),
        column("created_at", TIME),
        column("before_turn", COUNT, "the index of the turn before which it stands; null where turns have no times"),
        column("concerning", TEXTS, "the passages that name this conversation's reviewer"),
    ]
)
CONVERSATIONS = pa.schema(
    [
        column("conversation_id", TEXT, "`<forum_id>/<reviewer>`"),
        *PLACE,
        REVIEWER,
        column("turns", pa.list_(TURN), "the exchange in time order; consecutive posts of one speaker are one turn"),
        column("context", pa.list_(RESPONSE), "the authors' responses to several or all reviewers"),
        column("undated_changes", pa.list_(SCORE_CHANGE), "changes of scores of which the turn is not known"),
        column("kind", TEXT, "with whom: `review` (a reviewer), `public`, `ethics`, `chairs`, `other`"),
    ]
)

AFTER_DECISION = column(
    "posted_after_decision", TRUTH, "whether it was posted after the decision; null where either time is not known"
)
AT_DECISION = column(
    "at_decision",
    TEXT,
    "how it is known what it said at the decision: `unchanged` since before it, from `edits`; or why not:"
    " `posted_after`, `changed_unseen` (changed after it, nothing shows what stood), `no_decision_time`,"
    " `no_review_time`",
)
LICENCE_OF_NOTE = column("licence", TEXT, "that the note or its form states, verbatim; null where neither does")
CONSENT = column(
    "consent",
    TEXT,
    "the answer to a question whether it may be published, verbatim; several stand each under its field; null where"
    " nothing was asked or answered",
)
REVIEW = pa.struct(
    [
        column("review_id", TEXT),
        column("form_id", TEXT, "the invitation whose form it was read with; `declared:`, `inferred:` where none is"),
        REVIEWER,
        column("created_at", TIME),
        column("modified_at", TIME),
        column("title", TEXT, "the reviewer's own heading"),
        column("rating", NUMBER, "the overall recommendation as it stands now, on the venue's own scale"),
        column("rating_unified", NUMBER, "the same on Re²'s scale of 1 to 10; null where the form's words do not tell"),
        column("confidence", NUMBER, "as it stands now, on the venue's own scale"),
        column(
            "rating_at_decision", NUMBER, "as it stood when the decision was posted; null: not known, see `at_decision`"
        ),
        column("scores", pa.list_(SCORE), "every score, in each phase in which it is known"),
        column("sections", pa.list_(SECTION), "every text of the form, as it stands now"),
        column("initial_sections", pa.list_(SECTION), "of the sections changed since, what was first given"),
        column("updated_fields", TEXTS, "fields that say of themselves that a part was added later"),
        column("score_changes", pa.list_(SCORE_CHANGE), "every change that readable edits show, in time order"),
        column("revised", TRUTH, "whether the reviewer changed it; null where neither edits nor snapshots tell"),
        column("final_justification", TEXT, "what the reviewer wrote in that field after the rebuttal"),
        column("justified_at", TIME, "when that was first written; null where no readable edit shows it"),
        AFTER_DECISION,
        AT_DECISION,
        column(
            "sections_at_decision",
            pa.list_(SECTION),
            "of a review changed after the decision, what stood at it, as far as edits show that",
        ),
        column("rebuttal", TEXT, "what the authors answered to this reviewer; empty where they did not"),
        LICENCE_OF_NOTE,
        CONSENT,
        column("extra", TEXT, "JSON of every answer that is neither score nor text"),
    ]
)
REVIEWS = pa.schema([*PLACE, *REVIEW])

POST = pa.struct(
    [
        column("post_id", TEXT),
        column("reply_to", TEXT, "the post answered; null where it answers the submission"),
        column("kind", TEXT, "`comment`, `meta_review`, `decision`, …"),
        column("role", TEXT, "who speaks: `author`, `area_chair`, `public`, …"),
        column("signature", TEXT, "the anonymous id within the paper; `public_<pseudonym>` for who signs by name"),
        column("invitation", TEXT, "verbatim"),
        column("created_at", TIME),
        column("modified_at", TIME),
        column("title", TEXT, "verbatim"),
        column("text", TEXT, "the prose; several fields stand each under its name as a heading"),
        LICENCE_OF_NOTE,
        CONSENT,
        column("extra", TEXT, "JSON of every other field"),
        column(
            "addressed_to",
            TEXTS,
            "of a post of the authors, whom it addresses: reviewers, `chairs`, `everyone`, `public`, `ethics`",
        ),
        column(
            "addressed_by",
            TEXT,
            "how that is known: `tree`, `title`, `greeting`, `part`, `invitation`, `none`; null: not the authors' post",
        ),
        column("greets", TEXTS, "reviewers whom it addresses although it stands under another reviewer's post"),
        AFTER_DECISION,
    ]
)
POSTS = pa.schema([*PLACE, *POST])
META_REVIEWS = pa.schema(
    [
        *PLACE,
        column("post_id", TEXT, "as in `posts`"),
        column("kind", TEXT, "`meta_review`; `decision` where the decision holds the meta-review"),
        column("role", TEXT, "who speaks: `area_chair`, `senior_area_chair`, `program_chair`, …"),
        column("signature", TEXT, "the anonymous id within the paper"),
        column("created_at", TIME),
        column("modified_at", TIME),
        column("title", TEXT, "verbatim"),
        column("recommendation", TEXT, "verbatim; null where the form asks for none, or not everyone may read it"),
        column("recommendation_field", TEXT, "the form's own name of the field"),
        column("recommends", TEXT, "what its words mean: `accepted`, `rejected`, `desk_rejected`; null: not known"),
        column("recommendation_value", NUMBER, "its number; null where it holds none, or one the form does not offer"),
        column("recommendation_low", NUMBER, "lowest answer the form offers; null where it is not known"),
        column("recommendation_high", NUMBER, "highest answer the form offers"),
        column("recommendation_higher_is_better", TRUTH, "whether a higher number is better; null: no words tell"),
        column("recommendation_unified", NUMBER, "on Re²'s scale of 1 to 10; null where the form's words do not tell"),
        column("confidence", NUMBER, "null where the form asks for none, or the answer holds no number"),
        column("confidence_low", NUMBER, "lowest answer the form offers; null where it is not known"),
        column("confidence_high", NUMBER, "highest answer the form offers"),
        column("confidence_label", TEXT, "the answer, verbatim"),
        column("justifications", pa.list_(SECTION), "the passages that the form asks for as reasons"),
        column("scores", pa.list_(SCORE), "every score, those above among them"),
        column("text", TEXT, "all prose, justifications too; several fields stand each under its name as a heading"),
        LICENCE_OF_NOTE,
        CONSENT,
        column("extra", TEXT, "JSON of every field that is not prose"),
    ]
)
PAPERS_FULL = pa.schema(
    [
        *PAPERS,
        STATUS,
        column("decided_at", TIME, "when the decision was posted"),
        column("created_at", TIME, "when the submission came to be, by the server's clock"),
        column("modified_at", TIME),
        GRADE,
        column("text_sha256", TEXT, "of the PDF that `markdown` is the text of; of a published text, of its bytes"),
        column("text_engine", TEXT, "what read it, and its version"),
        column("reviews", pa.list_(REVIEW), "as in the configuration `reviews`"),
        column("posts", pa.list_(POST), "every other public post of the forum, in time order"),
        column(
            "extra",
            TEXT,
            "JSON of what no other column holds, less accounts; without authors, less all fields that name them",
        ),
    ]
)

VERSIONS = pa.schema(
    [
        *PLACE,
        column("edit_id", TEXT, "the edit or reference that brought it; the forum's id where only the last is known"),
        column("created_at", TIME),
        column("modified_at", TIME),
        column("path", TEXT, "OpenReview's own path of the file; equal paths are equal files"),
        column("sha256", TEXT, "of the file; null where it was not fetched"),
        column("is_initial", TRUTH, "whether it is what the reviewers read, as far as `grade` says"),
        column("grade", TEXT, "how that is known; null for all other versions"),
        column("moment", TEXT, "when in the paper's life it came; null where that is not known"),
        column("title", TEXT, "of the paper in that version, where the edit has it"),
        column("abstract", TEXT, "of the paper in that version, where the edit has it"),
        column("deadline", TIME, "the cut-off used, with its grace"),
        column("deadline_source", TEXT, "where it was read"),
        column("rule", TEXT, "the rule applied, in words"),
        column("invitation", TEXT, "of the edit that brought it"),
        column("file_says", TEXT, "what the file says of itself: `submitted`, `final`, `nothing`; null: not looked at"),
        column("file_signs", TEXTS, "what in it says so"),
    ]
)

HEADING = _described(
    arrow_type(TextHeading),
    level="1 for a section, 2 for a subsection, and so on",
    title="as in the text, with its number",
    page="from 1",
)
MOMENT = "when in the paper's life it came: `discussion`, `camera_ready`, …; null where that is not known"
TEXTS_OF_VERSIONS = pa.schema(
    [
        *PLACE,
        column("edit_id", TEXT, "as in `versions`"),
        column("sha256", TEXT, "of the file; of a published text, of its bytes"),
        column("created_at", TIME, "when the version was uploaded"),
        column("is_initial", TRUTH, "whether it is proven to be what the reviewers read; else it is proven not to be"),
        column("grade", TEXT, "how that is known; null for all other versions"),
        column("moment", TEXT, MOMENT),
        column("licence", TEXT, "of the submission, verbatim, as in `papers`"),
        column("text_engine", TEXT, "what read it, and its version"),
        column("pages", COUNT, "null where a published record does not state it"),
        column("markdown", TEXT, "pages are joined by a line of three dashes"),
        column("markdown_chars", pa.int64(), "characters of `markdown`"),
        column("headings", pa.list_(HEADING), "in the order of the text; empty where what read it reports none"),
    ]
)
CHANGES = pa.schema(
    [
        *PLACE,
        column("number", COUNT, "of the change within the paper, from 1, in the order of the earlier text"),
        column("changes", COUNT, "changes of the paper"),
        column("kind", TEXT, "`added`, `removed`, `changed`"),
        column("section", TEXT, "the heading above it: in the later text if it was added, else in the earlier one"),
        column("before", TEXT, "the passage in the text that the reviewers read; empty if it was added"),
        column("after", TEXT, "the passage in the last text; empty if it was removed"),
        column("left_sha256", TEXT, "of the file that the reviewers read, as in `texts`"),
        column("left_grade", TEXT, "how it is known that they did"),
        column("right_sha256", TEXT, "of the last file, as in `versions`"),
        column("right_moment", TEXT, MOMENT),
    ]
)

SCORES = pa.schema(
    [
        *PLACE,
        column("review_id", TEXT),
        REVIEWER,
        column("aspect", TEXT, "what it is about"),
        column("field", TEXT, "the form's own name of the field"),
        column(
            "initial",
            NUMBER,
            "as first given, on the venue's own scale; null where that is not known, or holds no number",
        ),
        column("final", NUMBER, "as it stands now; null where the answer holds no number"),
        column("at_decision", NUMBER, "as it stood when the decision was posted; null where that is not known"),
        column("initial_unified", NUMBER, "of a recommendation, on Re²'s scale of 1 to 10"),
        column("final_unified", NUMBER, "the same"),
        column("at_decision_unified", NUMBER, "the same"),
        column("initial_rank", COUNT, "of an answer in words, its place in `answers`, from 1"),
        column("final_rank", COUNT, "the same"),
        column("at_decision_rank", COUNT, "the same"),
        column("initial_label", TEXT, "the answer, verbatim"),
        column("final_label", TEXT, "the answer, verbatim"),
        column("at_decision_label", TEXT, "the answer, verbatim"),
        column(
            "initial_source",
            TEXT,
            "where it was read; `text`: in the reviewer's words alone; `unrevised`: never changed",
        ),
        column("low", NUMBER, "lowest answer the form offers"),
        column("high", NUMBER, "highest answer the form offers"),
        column(
            "higher_is_better", TRUTH, "whether a higher number, or of words a later one, is better; null: not known"
        ),
        column("answers", TEXTS, "the words that a form without numbers offers, in its own order"),
        column("changes", COUNT, "changes that readable edits show"),
        column("changed_at", TIME, "of the last of them"),
        column(
            "revised", TRUTH, "whether anything of the review was changed; null where neither edits nor snapshots tell"
        ),
        AFTER_DECISION,
        column("at_decision_known", TEXT, "`at_decision` of the review: how that phase is known, or why it is not"),
    ]
)

_BEFORE_AND_AFTER = [
    column("rating_initial", NUMBER, "the recommendation as first given, on the venue's own scale; null: not known"),
    column("rating_final", NUMBER, "as it stands now"),
    column("confidence_initial", NUMBER, "as `rating_initial`"),
    column("confidence_final", NUMBER, "as it stands now"),
]
_TASK = [*PLACE, TRACK, TITLE, ABSTRACT]
TASK_REVIEW = pa.struct(
    [
        column("review_id", TEXT),
        REVIEWER,
        column("title", TEXT, "the reviewer's own heading"),
        column(
            "text",
            TEXT,
            "the prose as first given, else as it stood at the decision, else as it stands, where known; several fields"
            " stand each under its name",
        ),
        column("holds_update", TRUTH, "whether the text says of itself that a part was added later"),
        column(
            "may_be_later",
            TRUTH,
            "whether a part of the text may be later than the decision: the review was changed after it, and nothing"
            " shows what stood",
        ),
        column("scores", pa.list_(SCORE), "every score"),
        AFTER_DECISION,
        AT_DECISION,
        *_BEFORE_AND_AFTER,
    ]
)
REVIEW_SFT = pa.schema(
    [*_TASK, KEYWORDS, STATUS, DECISION, GRADE, MARKDOWN, column("reviews", pa.list_(TASK_REVIEW), "in time order")]
)
MESSAGE = pa.struct([column("role", TEXT, "`user` or `assistant`"), column("content", TEXT)])
TASK_CONVERSATION = pa.struct(
    [
        column("conversation_id", TEXT, "`<forum_id>/<reviewer>`"),
        REVIEWER,
        *_BEFORE_AND_AFTER,
        column(
            "messages",
            pa.list_(MESSAGE),
            "what follows the paper, in strict alternation: the reviewer is the `assistant`, the authors the `user`;"
            " what others say stands in a marked block",
        ),
        column("post_ids", pa.list_(TEXTS), "of each message, the posts it was made of"),
        column("holds_update", pa.list_(TRUTH), "of each message, whether it says that a part was added later"),
    ]
)
REBUTTAL = pa.schema([*_TASK, GRADE, MARKDOWN, column("conversations", pa.list_(TASK_CONVERSATION), "one a reviewer")])

LINKS = pa.schema(
    [
        column("forum_id", TEXT, "OpenReview's id of the later submission"),
        *PLACE[1:],
        column("earlier_id", TEXT, "OpenReview's id of the earlier submission"),
        column("earlier_venue_id", TEXT, "its venue"),
        column("work_id", TEXT, "of both: the smallest `forum_id` of all submissions of the work that are here"),
        column("kind", TEXT, "`resubmission`, `workshop` (one of the two is at one), `twin` (listed twice), `undated`"),
        column("days", NUMBER, "between their creation; null where one has no date"),
        column("title_similarity", NUMBER, "share of words in common, on [0, 1]; null where one has no title"),
        column("abstract_similarity", NUMBER, "share of pairs of words; null where one has no abstract"),
        column("text_similarity", NUMBER, "share of runs of five words of the shorter; null where a text is not held"),
        column("rule", TEXT, "which rule says that they are one work"),
        column("named_in", TEXT, "the field in which one names the other as its earlier one; null where neither does"),
    ]
)
TRIES = pa.schema(
    [
        column("work_id", TEXT, "the smallest `forum_id` of all submissions of the work that are here"),
        column("try_number", COUNT, "from 1, in the order of their creation; null where one of them has no date"),
        column("tries", COUNT, "submissions of the work that are here"),
        *PLACE,
        column("created_at", TIME, "when the submission came to be, by the server's clock"),
        STATUS,
        DECISION,
        column("ratings", pa.list_(NUMBER), "of its public reviews, as they stand now, on the venue's own scale"),
        column(
            "unified", pa.list_(NUMBER), "the same on Re²'s scale of 1 to 10; null where the form's words do not tell"
        ),
        column("mean_unified", NUMBER, "the mean of those that are known"),
    ]
)

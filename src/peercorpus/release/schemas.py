"""Declare the columns of every configuration of a release, with their meanings.

The meanings are data, shown in cards and Croissant metadata.
"""

from collections.abc import Iterator

import pyarrow as pa

from peercorpus.records.arrow_schema import arrow_type
from peercorpus.records.reviews import Section
from peercorpus.records.scores import Score, ScoreChange

DESCRIPTION = "description"
"""Key of a column's metadata under which its meaning is stored."""
TEXT, NUMBER, COUNT, TRUTH = pa.string(), pa.float64(), pa.int32(), pa.bool_()
TEXTS = pa.list_(TEXT)
TIME = pa.timestamp("us", tz="UTC")


IMAGE = pa.struct([("bytes", pa.binary()), ("path", TEXT)])
"""An image as `datasets` stores it: its feature `Image` decodes this struct."""


def column(name: str, kind: pa.DataType, says: str = "") -> pa.Field:
    """Return a column with its meaning, which is empty if the name says everything."""
    return pa.field(name, kind, metadata={DESCRIPTION: says} if says else None)


def column_meaning(field: pa.Field) -> str:
    """Return the meaning of a column; empty if the name says everything."""
    metadata: dict[bytes, bytes] = field.metadata or {}
    return metadata.get(DESCRIPTION.encode(), b"").decode()


def describe(struct: pa.DataType, /, **words: str) -> pa.DataType:
    """Return a struct with the meanings of its fields, by name; empty if the name says everything."""
    return pa.struct([column(field.name, field.type, words.get(field.name, "")) for field in struct])


def flatten_columns(fields: pa.Schema | pa.StructType, prefix: str = "") -> Iterator[tuple[str, pa.Field]]:
    """Yield every column and, after it, the fields of its structs, by dotted names."""
    for field in fields:
        yield prefix + field.name, field
        inner = field.type.value_type if pa.types.is_list(field.type) else field.type
        if pa.types.is_struct(inner):
            yield from flatten_columns(inner, f"{prefix}{field.name}.")


def item_type(kind: pa.DataType) -> pa.DataType:
    """Return the type inside a list or a list of lists; any other type unchanged."""
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
YEAR = column(
    "year",
    pa.int64(),
    "the calendar year in the venue id; at a venue that names none, such as a journal, that of the decision, else of"
    " the submission; null if neither is known",
)
TRACK = column("track", TEXT, "`main`, or the part of the venue id that names the track or workshop")
TITLE, ABSTRACT = column("title", TEXT, "verbatim"), column("abstract", TEXT, "verbatim")
KEYWORDS = column("keywords", TEXTS, "verbatim")
REVIEWER = column("reviewer", TEXT, "the anonymous id within the paper")
MARKDOWN = column("markdown", TEXT, "the text of the paper; pages are joined by a line of three dashes")
STATUS = column(
    "status",
    TEXT,
    "`accepted`, `rejected`, `withdrawn`, `desk_rejected`, `under_review`, `unknown`; null if the decision is not"
    " public",
)
DECISION = column("decision", TEXT, "the verdict, verbatim")
GRADE = column(
    "grade",
    TEXT,
    "how it is known that `markdown` is what the reviewers read; null if there is no text, or one of another version",
)
MOMENT = "when in the paper's life that version was uploaded: `initial`, `camera_ready`, …; null if that is not known"
PLACE = [FORUM_ID, VENUE_ID, CONFERENCE, YEAR]

# The twenty columns of Samarth0710/reviewbench in the order of its card (read 2026-11-21).
REVIEWBENCH = pa.schema(
    [
        FORUM_ID,
        CONFERENCE,
        column("year", COUNT, "as in the other configurations, in the type that ReviewBench's card prints"),
        TRACK,
        VENUE_ID,
        column("paper_number", COUNT, "the running number within the venue"),
        TITLE,
        ABSTRACT,
        column("authors", TEXTS, "empty if the record is anonymous, or the release was made without names"),
        KEYWORDS,
        column("tldr", TEXT, "verbatim"),
        column("primary_area", TEXT, "verbatim"),
        column("venue", TEXT, "the verbatim venue string of the submission"),
        DECISION,
        column("decision_comment", TEXT, "the text with the decision, or the meta-review"),
        column(
            "author_rebuttal",
            TEXT,
            "the authors' response to all reviewers until the decision; empty if they answered each one separately",
        ),
        column("num_reviews", COUNT, "reviews in `reviews_json` that have any words"),
        column("reviews_json", TEXT, "a JSON list, one object per review: see below"),
        MARKDOWN,
        column("markdown_chars", pa.int64(), "characters of `markdown`"),
    ]
)
PAPERS = REVIEWBENCH.set(REVIEWBENCH.get_field_index("year"), YEAR).append(
    column(
        "licence",
        TEXT,
        "of the submission, verbatim, where its page on OpenReview states one; ReviewBench has no such column",
    )
)

SCORE = describe(
    arrow_type(Score),
    aspect="what it is about: `recommendation`, `confidence`, `soundness`, …",
    field="the form's own name of the field",
    value="on the venue's own scale; null if the answer contains no number",
    low="lowest answer the form offers",
    high="highest answer the form offers",
    label="the answer, verbatim",
    phase="`initial`: as first given; `at_decision`: as it stood when the decision was posted; `final`: as it stands",
    source=(
        "where it was read: `note`, `edit`, `snapshot`, `text` (the reviewer's words), `recommendation` (a separate"
        " note), `published`"
    ),
    offered="the numbers the form offers, ascending",
    unified="of a recommendation, its place on Re²'s scale of 1 to 10, whose accepting half begins at 6",
    higher_is_better="whether a higher number, or a later word in `answers`, is better; null: the form does not say",
    rank="of an answer in words, its place in `answers`, from 1",
    answers="the words that a form without numbers offers, in its own order",
    subject="the common name of two fields that ask for one score, before and after the rebuttal; else null",
)
SECTION = describe(
    arrow_type(Section),
    kind="`summary`, `strengths`, `weaknesses`, …",
    field="the form's own name of the field",
    text="verbatim",
)
SCORE_CHANGE = describe(
    arrow_type(ScoreChange),
    before="null if the earlier answer contains no number, or is not stated; `after` likewise for the later one",
    changed_at="null if only the two values are known",
    words="the reviewer's words that state it; null if something else shows it",
)
AFTER_DECISION = column(
    "posted_after_decision", TRUTH, "whether it was posted after the decision; null if either time is not known"
)
TURN = pa.struct(
    [
        column("role", TEXT, "`reviewer`, `author`, `area_chair`, …"),
        column("signature", TEXT, "who speaks, by the anonymous id within the paper"),
        column("title", TEXT, "one for the whole turn"),
        column(
            "text",
            TEXT,
            "merged posts are separated by a blank line; a review that was changed is shown as first given if that"
            " is known",
        ),
        column("created_at", TIME, "of the first post of the turn"),
        column("post_ids", TEXTS, "the posts it was made of"),
        column(
            "holds_update",
            TRUTH,
            'whether the text states that a part was added later ("UPDATE:"): such a turn also contains what was'
            " written after the answers to it",
        ),
        column("titles", TEXTS, "of the posts, verbatim"),
        column("orphan_ids", TEXTS, "posts that answer a post which is deleted, hidden or not in the workspace"),
        column("moved", TEXTS, "posts that were posted under another reviewer's, each as its id and the reason"),
        column("score_changes", pa.list_(SCORE_CHANGE), "what the reviewer changed at this turn"),
        column("final_justification", TEXT, "what the reviewer wrote in that field of the form at this turn"),
        column("title_model", TEXT, "the model that wrote `title`; null if it is taken from the posts"),
        AFTER_DECISION,
        column("is_reminder", TRUTH, "whether the authors only remind the reviewer, who answered that"),
    ]
)
RESPONSE = pa.struct(
    [
        column("post_id", TEXT),
        column("title", TEXT, "verbatim"),
        column("text", TEXT, "verbatim"),
        column("created_at", TIME),
        column("before_turn", COUNT, "the index of the turn before which it was posted; null if turns have no times"),
        column("concerning", TEXTS, "the passages that name this conversation's reviewer"),
        AFTER_DECISION,
    ]
)
CONVERSATIONS = pa.schema(
    [
        column("conversation_id", TEXT, "`<forum_id>/<reviewer>`"),
        *PLACE,
        REVIEWER,
        column("turns", pa.list_(TURN), "the exchange in time order; consecutive posts of one speaker are one turn"),
        column("context", pa.list_(RESPONSE), "the authors' responses to several or all reviewers"),
        column("undated_changes", pa.list_(SCORE_CHANGE), "score changes that cannot be assigned to a turn"),
        column("kind", TEXT, "with whom: `review` (a reviewer), `public`, `ethics`, `chairs`, `other`"),
        column("extra", TEXT, "JSON of what a published record of the exchange states beside it"),
    ]
)

AT_DECISION = column(
    "at_decision",
    TEXT,
    "how it is known what it said at the decision: `unchanged` since before it, `released` (changed after it only when"
    " the venue changed the notes of several people at once), from `edits`; or why not: `posted_after`,"
    " `changed_unseen` (changed after it, earlier state unknown), `no_decision_time`, `no_review_time`",
)
LICENCE_OF_NOTE = column(
    "licence", TEXT, "the licence that the note or its form states, verbatim; null if neither does"
)
CONSENT = column(
    "consent",
    TEXT,
    "the answer to a question for consent to publish it, verbatim; several answers each follow the name of their"
    " field; null if nothing was asked or answered",
)
REVIEW = pa.struct(
    [
        column("review_id", TEXT),
        column("form_id", TEXT, "the form it was read with: an invitation, else `declared:…` or `inferred:…`"),
        REVIEWER,
        column("created_at", TIME),
        column("modified_at", TIME),
        column("title", TEXT, "the reviewer's own heading"),
        column("rating", NUMBER, "the overall recommendation as it stands now, on the venue's own scale"),
        column("rating_unified", NUMBER, "the same on Re²'s scale of 1 to 10; null if the form's words do not say"),
        column("confidence", NUMBER, "as it stands now, on the venue's own scale"),
        column(
            "rating_at_decision", NUMBER, "as it stood when the decision was posted; null: not known, see `at_decision`"
        ),
        column("scores", pa.list_(SCORE), "every score, in each phase in which it is known"),
        column("sections", pa.list_(SECTION), "every text of the form, as it stands now"),
        column("initial_sections", pa.list_(SECTION), "first text of the sections that were changed since"),
        column("updated_fields", TEXTS, "fields whose text states that a part was added later"),
        column("score_changes", pa.list_(SCORE_CHANGE), "every change that is known, with its source, in time order"),
        column("revised", TRUTH, "whether it was changed, other than by chairs or the venue; null: not known"),
        column("final_justification", TEXT, "what the reviewer wrote in that field after the rebuttal"),
        column("justified_at", TIME, "when that was first written; null if no readable edit shows it"),
        AFTER_DECISION,
        AT_DECISION,
        column(
            "sections_at_decision",
            pa.list_(SECTION),
            "of a review changed after the decision, what it said then, as far as edits show that",
        ),
        column(
            "rebuttal", TEXT, "what the authors answered to this reviewer until the decision; empty if they did not"
        ),
        LICENCE_OF_NOTE,
        CONSENT,
        column("extra", TEXT, "JSON of every answer that is neither score nor text"),
    ]
)
REVIEWS = pa.schema([*PLACE, *REVIEW])

POST = pa.struct(
    [
        column("post_id", TEXT),
        column("reply_to", TEXT, "the post it replies to; null if that is the submission, or is not here"),
        column("kind", TEXT, "`comment`, `meta_review`, `decision`, …"),
        column("role", TEXT, "who speaks: `author`, `area_chair`, `public`, …"),
        column(
            "signature",
            TEXT,
            "the anonymous id within the paper; `public_<pseudonym>` for people who signed with their name",
        ),
        column("invitation", TEXT, "verbatim"),
        column("created_at", TIME),
        column("modified_at", TIME),
        column("title", TEXT, "verbatim"),
        column("text", TEXT, "the prose; several fields each follow their name as a heading"),
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
        column("greets", TEXTS, "reviewers whom it addresses although it replies to another reviewer"),
        AFTER_DECISION,
    ]
)
POSTS = pa.schema([*PLACE, *POST])
META_REVIEWS = pa.schema(
    [
        *PLACE,
        column("post_id", TEXT, "as in `posts`"),
        column("kind", TEXT, "`meta_review`; `decision` if the decision contains the meta-review"),
        column("role", TEXT, "who speaks: `area_chair`, `senior_area_chair`, `program_chair`, …"),
        column("signature", TEXT, "the anonymous id within the paper"),
        column("created_at", TIME),
        column("modified_at", TIME),
        column("title", TEXT, "verbatim"),
        column("recommendation", TEXT, "verbatim; null if the form asks for none, or not everyone may read it"),
        column("recommendation_field", TEXT, "the form's own name of the field"),
        column("recommends", TEXT, "what its words mean: `accepted`, `rejected`, `desk_rejected`; null: not known"),
        column("recommendation_value", NUMBER, "its number; null if it has none, or one that the form does not offer"),
        column("recommendation_low", NUMBER, "lowest answer the form offers; null if that is not known"),
        column("recommendation_high", NUMBER, "highest answer the form offers"),
        column(
            "recommendation_higher_is_better", TRUTH, "whether a higher number is better; null: the form does not say"
        ),
        column("recommendation_unified", NUMBER, "on Re²'s scale of 1 to 10; null if the form's words do not say"),
        column("confidence", NUMBER, "null if the form asks for none, or the answer contains no number"),
        column("confidence_low", NUMBER, "lowest answer the form offers; null if that is not known"),
        column("confidence_high", NUMBER, "highest answer the form offers"),
        column("confidence_label", TEXT, "the answer, verbatim"),
        column("justifications", pa.list_(SECTION), "the passages in which the form asks for reasons"),
        column("scores", pa.list_(SCORE), "every score, including those above"),
        column("text", TEXT, "all prose, including justifications; several fields each follow their name as a heading"),
        LICENCE_OF_NOTE,
        CONSENT,
        column("extra", TEXT, "JSON of every field that is not prose"),
        AFTER_DECISION,
    ]
)
PAPERS_FULL = pa.schema(
    [
        *PAPERS,
        STATUS,
        column("year_from", TEXT, "where `year` was read: `venue`, `record`, `decision`, `submission`"),
        column("decided_at", TIME, "when the decision was posted"),
        column("created_at", TIME, "when the submission was created, by the server's clock"),
        column("modified_at", TIME),
        GRADE,
        column("text_moment", TEXT, MOMENT),
        column(
            "text_sha256",
            TEXT,
            "of the PDF from which `markdown` was read; for a text published by others, of its bytes",
        ),
        column("text_engine", TEXT, "the engine that read it, and its version"),
        column("reviews", pa.list_(REVIEW), "as in the configuration `reviews`"),
        column("posts", pa.list_(POST), "every other public post of the forum, in time order"),
        column(
            "replies_not_shown",
            COUNT,
            "the least number of replies that were posted and never seen, by gaps in the numbers of the others; null if"
            " nothing proves a number",
        ),
        column("replies_deleted", COUNT, "replies that were seen and have been deleted, or are no longer shown"),
        column(
            "extra",
            TEXT,
            "JSON of what no other column has, without accounts; in a release without authors, also without fields that"
            " name them",
        ),
    ]
)

VERSIONS = pa.schema(
    [
        *PLACE,
        column("edit_id", TEXT, "the edit or reference that uploaded it; the forum's id if only the last one is known"),
        column("created_at", TIME),
        column("modified_at", TIME),
        column("path", TEXT, "OpenReview's own path of the file; equal paths are equal files"),
        column("sha256", TEXT, "of the file; null if it was not fetched"),
        column("is_initial", TRUTH, "whether it is what the reviewers read, as far as `grade` says"),
        column("grade", TEXT, "how that is known; null for all other versions"),
        column("moment", TEXT, "when in the paper's life it was uploaded; null if that is not known"),
        column("title", TEXT, "of the paper in that version, where the edit has it"),
        column("abstract", TEXT, "of the paper in that version, where the edit has it"),
        column("deadline", TIME, "the cut-off used, with its grace"),
        column("deadline_source", TEXT, "where it was read"),
        column("rule", TEXT, "the rule applied, in words"),
        column("invitation", TEXT, "of the edit that uploaded it"),
        column(
            "file_says",
            TEXT,
            "which version the file appears to be: `submitted`, `final`, `nothing`; null: not inspected",
        ),
        column("file_signs", TEXTS, "the signs of that in the file"),
    ]
)

FIGURES = pa.schema(
    [
        *PLACE,
        column("sha256", TEXT, "of the PDF, as `text_sha256` in `papers_full`"),
        column("grade", TEXT, "of the version that the PDF is, as in `papers_full`"),
        column("number", COUNT, "of the caption within the PDF, from 1"),
        column("kind", TEXT, "`figure` or `table`, as the caption says"),
        column("label", TEXT, "of the caption, in full: `Figure 3`"),
        column("caption", TEXT, "as Markdown"),
        column("page", COUNT, "from 1"),
        column(
            "box",
            pa.list_(NUMBER),
            "left, lower, right and upper edge without the caption, in points from the lower left corner of the page",
        ),
        column(
            "block",
            COUNT,
            "which block of `markdown`, split at blank lines and counted from 0, is the caption; null: none begins"
            " with the label on that page",
        ),
        column("image", IMAGE, "what is in the box"),
        column("width_px", COUNT),
        column("height_px", COUNT),
        column("format", TEXT, "of the image: `webp`"),
        column("licence", TEXT, "of the submission, verbatim; null if its page on OpenReview states none"),
    ]
)
CHANGES = pa.schema(
    [
        *PLACE,
        column("number", COUNT, "number of the change within the paper, from 1, in the order of the earlier text"),
        column("changes", COUNT, "number of changes of the paper"),
        column("kind", TEXT, "`added`, `removed`, `changed`, `moved` (the same words under another heading)"),
        column("section", TEXT, "the heading above it: in the later text if it was added, else in the earlier one"),
        column("later_section", TEXT, "the heading above it in the later text; null if it was removed"),
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
            "as first given, on the venue's own scale; null if that is not known, or contains no number",
        ),
        column("final", NUMBER, "as it stands now; null if the answer contains no number"),
        column("at_decision", NUMBER, "as it stood when the decision was posted; null if that is not known"),
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
            "where it was read; `text`: only in the reviewer's own words; `never_modified`: it is the current one",
        ),
        column("final_source", TEXT, "where it was read; `edit_by_chairs`, `edit_by_venue`: not the reviewer wrote it"),
        column("low", NUMBER, "lowest answer the form offers"),
        column("high", NUMBER, "highest answer the form offers"),
        column("higher_is_better", TRUTH, "whether a higher number, or a later word, is better; null: not known"),
        column("answers", TEXTS, "the words that a form without numbers offers, in its own order"),
        column("changes", COUNT, "the reviewer's changes that are known"),
        column("changed_at", TIME, "of the last of them"),
        column(
            "revised",
            TRUTH,
            "whether the review was changed, other than by chairs or the venue; null: not known",
        ),
        AFTER_DECISION,
        column("at_decision_known", TEXT, "`at_decision` of the review: how that phase is known, or why it is not"),
    ]
)

BEFORE_AND_AFTER = [
    column("rating_initial", NUMBER, "the recommendation as first given, on the venue's own scale; null: not known"),
    column(
        "rating_at_decision", NUMBER, "as it stood when the decision was posted; null: not known, see `at_decision`"
    ),
    column("rating_final", NUMBER, "as it stands now"),
    column("confidence_initial", NUMBER, "as `rating_initial`"),
    column("confidence_at_decision", NUMBER, "as `rating_at_decision`"),
    column("confidence_final", NUMBER, "as it stands now"),
]
TASK = [*PLACE, TRACK, TITLE, ABSTRACT]
TASK_REVIEW = pa.struct(
    [
        column("review_id", TEXT),
        REVIEWER,
        column("title", TEXT, "the reviewer's own heading"),
        column(
            "text",
            TEXT,
            "the prose, as first given if that is known, otherwise as it stood at the decision, otherwise as it stands"
            " now; several fields each follow their name",
        ),
        column("holds_update", TRUTH, "whether the text states that a part was added later"),
        column(
            "may_be_later",
            TRUTH,
            "whether a part of the text may be later than the decision: the review was changed after it, and nothing"
            " shows what it said before",
        ),
        column("scores", pa.list_(SCORE), "every score"),
        AFTER_DECISION,
        AT_DECISION,
        *BEFORE_AND_AFTER,
    ]
)
REVIEW_SFT = pa.schema(
    [*TASK, KEYWORDS, STATUS, DECISION, GRADE, MARKDOWN, column("reviews", pa.list_(TASK_REVIEW), "in time order")]
)
MESSAGE = pa.struct([column("role", TEXT, "`user` or `assistant`"), column("content", TEXT)])
TASK_CONVERSATION = pa.struct(
    [
        column("conversation_id", TEXT, "`<forum_id>/<reviewer>`"),
        REVIEWER,
        AT_DECISION,
        *BEFORE_AND_AFTER,
        column(
            "messages",
            pa.list_(MESSAGE),
            "what follows the paper until the decision, in strict alternation: the reviewer is the `assistant`, the"
            " authors the `user`; what others say is in a marked block",
        ),
        column("post_ids", pa.list_(TEXTS), "for each message, the posts it was made from"),
        column("holds_update", pa.list_(TRUTH), "for each message, whether it states that a part was added later"),
        column(
            "after_decision", COUNT, "turns and responses to all that came after the decision: they are in no message"
        ),
    ]
)
REBUTTAL = pa.schema([*TASK, GRADE, MARKDOWN, column("conversations", pa.list_(TASK_CONVERSATION), "one per reviewer")])

LINKS = pa.schema(
    [
        column("forum_id", TEXT, "OpenReview's id of the later submission"),
        *PLACE[1:],
        column("earlier_id", TEXT, "OpenReview's id of the earlier submission"),
        column("earlier_venue_id", TEXT, "its venue"),
        column("work_id", TEXT, "of both: the smallest `forum_id` of all submissions of the work in this release"),
        column(
            "kind",
            TEXT,
            "`resubmission`, `workshop` (one of the two is at a workshop), `twin` (listed twice), `undated`",
        ),
        column("days", NUMBER, "days between their creation; null if one has no date"),
        column("title_similarity", NUMBER, "share of words in common, in [0, 1]; null if one has no title"),
        column(
            "abstract_similarity",
            NUMBER,
            "word pairs in common, as a share of the shorter abstract's; null if one has no abstract",
        ),
        column("text_similarity", NUMBER, "share of the shorter text's runs of five words; null if a text is missing"),
        column("rule", TEXT, "the rule by which they are the same work"),
        column(
            "named_in",
            TEXT,
            "the field, or kind of post, in which one names the other as its earlier version; null if none does",
        ),
    ]
)
TRIES = pa.schema(
    [
        column("work_id", TEXT, "the smallest `forum_id` of all submissions of the work in this release"),
        column("try_number", COUNT, "from 1, in order of creation; null if one of them has no date"),
        column("tries", COUNT, "number of submissions of the work in this release"),
        *PLACE,
        column("created_at", TIME, "when the submission was created, by the server's clock"),
        STATUS,
        DECISION,
        column("ratings", pa.list_(NUMBER), "of its public reviews, as they stand now, on the venue's own scale"),
        column("unified", pa.list_(NUMBER), "the same on Re²'s scale of 1 to 10; null if the form's words do not say"),
        column("mean_unified", NUMBER, "the mean of those that are known"),
    ]
)

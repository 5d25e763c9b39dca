"""Declare the columns of `ai_reviews`: reviews that an AI wrote or may have written, and the replies to them."""

import pyarrow as pa

from peercorpus.records.ai_reviews import AiReply, SurveyAnswer
from peercorpus.records.arrow_schema import arrow_type
from peercorpus.release.schemas import LICENCE_OF_NOTE, PLACE, SCORE, SECTION, TEXT, TIME, column, describe

_UNPUBLISHED = frozenset({"readers_public", "deleted"})
"""Fields with the same value in every published reply."""
ANSWER = describe(
    arrow_type(SurveyAnswer),
    field="the survey's own name of the question",
    answer="verbatim",
    rank="its place in `answers`, from 1; null if it is not one of them, such as `Unsure`",
    answers="what the survey offers, the best last; empty for free text, and if the question is not known",
)
REPLY = describe(
    pa.struct([field for field in arrow_type(AiReply) if field.name not in {*_UNPUBLISHED, "survey"}]),
    reply_to="the AI review, or another reply to it; null if that is not here",
    kind="`comment`, `rebuttal`, `survey`, …",
    role="who speaks: `author`, `reviewer`, `area_chair`, …; `ai`: the AI itself",
    signature="the anonymous id within the paper; `public_<pseudonym>` for people who signed with their name",
    invitation="verbatim",
    title="verbatim",
    text="the prose; several fields each follow their name as a heading; empty for a survey",
    extra="JSON of every other field",
)
AI_REVIEWS = pa.schema(
    [
        *PLACE,
        column("ai_review_id", TEXT, "OpenReview's id of the post"),
        column("form_id", TEXT, "the invitation whose form it was read with; null if none is held"),
        column("kind", TEXT, "`ai_review`"),
        column(
            "certainty", TEXT, "`certain`: the venue documents that an AI wrote it; `possible`: only a name says so"
        ),
        column("role", TEXT, "`ai`, also where the chairs sign"),
        column("signature", TEXT, "who signs it: `AI_Reviewer`, `Reviewer_AIRev1`, `Program_Chairs`, …"),
        column("invitation", TEXT, "verbatim"),
        column("created_at", TIME),
        column("modified_at", TIME),
        column("title", TEXT, "its heading, verbatim"),
        column("scores", pa.list_(SCORE), "scores that it gives, as they stand now"),
        column("sections", pa.list_(SECTION), "every text of the form, as it stands now"),
        LICENCE_OF_NOTE,
        column("extra", TEXT, "JSON of every answer that is neither score nor text"),
        column(
            "replies",
            pa.list_(pa.struct([*REPLY, column("survey", pa.list_(ANSWER), "the answers of a survey that rates it")])),
            "every public post below it, in time order",
        ),
    ]
)

"""Closed lists of values that fields of records take: status, role, kind of post, grade, reason."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class Status(StrEnum):
    """Outcome of a submission."""

    ACCEPTED = "accepted"
    """Accepted in any form."""
    REJECTED = "rejected"
    """Rejected after review."""
    WITHDRAWN = "withdrawn"
    """Withdrawn, as a rule by its authors."""
    DESK_REJECTED = "desk_rejected"
    """Rejected without review."""
    UNDER_REVIEW = "under_review"
    """No decision yet, or none shown."""
    UNKNOWN = "unknown"
    """Not stated, or a decision whose words are not understood; `Paper.decision` has them verbatim."""


class PaperSource(StrEnum):
    """Source of a paper's row."""

    NOTE = "note"
    """Its submission on OpenReview."""
    REPLIES = "replies"
    """Its reviews and other replies only: its submission was never seen."""
    RECORD = "record"
    """A record of a dataset published by others."""


class Unseen(StrEnum):
    """Whether replies to a paper are known to be unseen."""

    NONE = "none"
    """The numbers of its replies have no gap, and OpenReview counts no more than were seen."""
    NOT_SHOWN = "not_shown"
    """Replies were never seen: they are hidden, or were deleted before anyone looked."""
    DELETED = "deleted"
    """Replies were seen and have been deleted, or are no longer shown."""
    UNKNOWN = "unknown"
    """No number proves anything."""


class VenueSource(StrEnum):
    """Source of a paper's venue."""

    NOTE = "note"
    """Its submission names it."""
    REPLIES = "replies"
    """All invitations, signatures and readers of its notes that name a venue name this one."""
    IMPORT = "import"
    """No note names it: it was named by `--venue` when the notes were imported."""
    FILE_NAME = "file_name"
    """No note names it: only the name of the imported file contains it."""
    RECORD = "record"
    """A record of a dataset published by others names it."""


class YearSource(StrEnum):
    """Source of a paper's year."""

    VENUE = "venue"
    """The venue's id contains it."""
    RECORD = "record"
    """A record of a dataset published by others states it."""
    DECISION = "decision"
    """The venue names no year, as journals do not: it is that of the decision."""
    SUBMISSION = "submission"
    """The same without a known decision: it is that of the submission."""


class PostKind(StrEnum):
    """Kind of a reply in a forum, from the last path element of the invitation that created it.

    An `ai_review` is a review that an AI wrote or may have written; a `survey` rates one.
    """

    REVIEW = "review"
    REBUTTAL = "rebuttal"
    COMMENT = "comment"
    META_REVIEW = "meta_review"
    DECISION = "decision"
    WITHDRAWAL = "withdrawal"
    DESK_REJECTION = "desk_rejection"
    ETHICS_REVIEW = "ethics_review"
    ACKNOWLEDGEMENT = "acknowledgement"
    RECOMMENDATION = "recommendation"
    AI_REVIEW = "ai_review"
    SURVEY = "survey"
    OTHER = "other"


class Role(StrEnum):
    """Role of a post's author, according to its signature.

    `ai` is not a person: it is a group for posts by an AI, or one whose name says that it may be, or the part of the
    venue that posts an AI's review.
    """

    AUTHOR = "author"
    REVIEWER = "reviewer"
    AREA_CHAIR = "area_chair"
    SENIOR_AREA_CHAIR = "senior_area_chair"
    PROGRAM_CHAIR = "program_chair"
    ETHICS_REVIEWER = "ethics_reviewer"
    PUBLIC = "public"
    AI = "ai"
    UNKNOWN = "unknown"


class AiCertainty(StrEnum):
    """How certain it is that an AI wrote a review."""

    CERTAIN = "certain"
    """The venue posts such reviews in this way, as documented."""
    POSSIBLE = "possible"
    """The name of the signer or of the invitation says so (`LLM_Reviewer`, `Reviewer_GPT4`); nothing confirms it."""


CHAIR_ROLES = frozenset({Role.AREA_CHAIR, Role.SENIOR_AREA_CHAIR, Role.PROGRAM_CHAIR})
"""Roles of those who run a venue; journals call some of them editors."""


class Addressee(StrEnum):
    """Addressees of the authors other than named reviewers."""

    CHAIRS = "chairs"
    """Area chairs, senior area chairs, programme chairs or editors."""
    EVERYONE = "everyone"
    """All reviewers, or all readers of the forum."""
    PUBLIC = "public"
    ETHICS = "ethics"
    """Ethics reviewers or ethics chairs."""


class AddressedBy(StrEnum):
    """Evidence for the addressees of a post by the authors."""

    TREE = "tree"
    """The post that it replies to; a reply to the paper itself that names nobody addresses everyone."""
    TITLE = "title"
    GREETING = "greeting"
    """The beginning of its text."""
    PART = "part"
    """Another part of the same answer."""
    INVITATION = "invitation"
    """The name of the invitation, such as `Confidential_Comment`."""
    NONE = "none"
    """The addressees are unknown: the post that it replies to is not in the workspace, or it names an unknown
    person."""


class ConversationKind(StrEnum):
    """The other party of a conversation."""

    REVIEW = "review"
    """With one reviewer."""
    PUBLIC = "public"
    """With one member of the public, and anyone who joins in."""
    ETHICS = "ethics"
    """With one ethics reviewer."""
    CHAIRS = "chairs"
    """With the chairs: meta-reviews, decisions, withdrawals, letters, and the answers to them."""
    OTHER = "other"
    """With someone whose role is unknown, or by the authors with everyone if no review can be read."""


class Aspect(StrEnum):
    """Subject of a score. For `OTHER`, `Score.field` has the form's own name."""

    RECOMMENDATION = "recommendation"
    CONFIDENCE = "confidence"
    SOUNDNESS = "soundness"
    PRESENTATION = "presentation"
    CONTRIBUTION = "contribution"
    CORRECTNESS = "correctness"
    NOVELTY = "novelty"
    QUALITY = "quality"
    CLARITY = "clarity"
    SIGNIFICANCE = "significance"
    ORIGINALITY = "originality"
    EXCITEMENT = "excitement"
    REPRODUCIBILITY = "reproducibility"
    OTHER = "other"


class SectionKind(StrEnum):
    """Purpose of a passage of a review. For `OTHER`, `Section.field` has the form's own name."""

    SUMMARY = "summary"
    STRENGTHS = "strengths"
    WEAKNESSES = "weaknesses"
    ASSESSMENT = "assessment"
    QUESTIONS = "questions"
    LIMITATIONS = "limitations"
    ETHICS = "ethics"
    MODEL_CHAT = "model_chat"
    """What the reviewer exchanged with a language model; in no post, conversation, point or training row."""
    OTHER = "other"


class FieldType(StrEnum):
    """Type of a form's field."""

    SCORE = "score"
    TEXT = "text"
    FLAG = "flag"
    """Yes or no, or a check box."""
    LIST = "list"
    """Any number of the offered answers."""
    CHOICE = "choice"
    """One of the offered answers, none of which is a score."""


class Phase(StrEnum):
    """The time of a score."""

    INITIAL = "initial"
    """As first given."""
    AT_DECISION = "at_decision"
    """When the decision was posted; absent if unknown."""
    FINAL = "final"
    """The current score."""


class AtDecision(StrEnum):
    """How the content of a review at the decision on its paper is known, or why it is unknown."""

    UNCHANGED = "unchanged"
    """It was last changed before the decision, so its content was the same then as now."""
    RELEASED = "released"
    """The only change after the decision was made within minutes of changes to notes by at least two others on the
    paper, as when a venue releases its reviews. An earlier change by the reviewer would not be visible."""
    EDITS = "edits"
    """It was changed after the decision, and its readable edits show its earlier state."""
    POSTED_AFTER = "posted_after"
    """It was posted after the decision, so it did not exist then."""
    CHANGED_UNSEEN = "changed_unseen"
    """It was changed after the decision, and its earlier state cannot be seen."""
    NO_DECISION_TIME = "no_decision_time"
    """The paper has no decision, or the time of its decision is unknown."""
    NO_REVIEW_TIME = "no_review_time"
    """The time at which the review was posted or last changed is unknown."""


CHANGED_AFTER_DECISION = frozenset({AtDecision.EDITS, AtDecision.CHANGED_UNSEEN})
"""States of reviews whose current content may have been written after the decision."""


class ScoreSource(StrEnum):
    """Source of a score."""

    NOTE = "note"
    EDIT = "edit"
    """The edit that created the review, or a later one that the reviewer signed."""
    EDIT_BY_CHAIRS = "edit_by_chairs"
    """An edit that chairs signed; it is not a change by the reviewer."""
    EDIT_BY_VENUE = "edit_by_venue"
    """An edit signed by the venue, or by anyone else who is not known to be the reviewer or a chair."""
    NEVER_MODIFIED = "never_modified"
    """The note: according to OpenReview's times of its creation and last modification it was never modified."""
    SNAPSHOT = "snapshot"
    """An earlier harvested version of the review. It shows a first score only if it had never been modified; it shows
    a change also otherwise, and then further changes before it cannot be seen."""
    TEXT = "text"
    """The reviewer's own words ("I raise my score from 5 to 6"). This is weaker evidence, used only if nothing else
    shows the first score, both numbers are on the form's scale, and the later one is the note's score."""
    PUBLISHED = "published"
    """A dataset published by others."""
    RECOMMENDATION = "recommendation"
    """A separate note with the reviewer's recommendation, as journals request (TMLR's `Official_Recommendation`)."""


BY_OTHERS = frozenset({ScoreSource.EDIT_BY_CHAIRS, ScoreSource.EDIT_BY_VENUE})
"""Sources of scores and changes that are not the reviewer's own."""


class Grade(StrEnum):
    """How certain it is that a version is the one the reviewers read, best first."""

    EXACT = "exact"
    EXACT_ATTACHMENT = "exact_attachment"
    UNREVISED = "unrevised"
    ONLY_BEFORE_REVIEW = "only_before_review"
    UNREVISED_LIKELY = "unrevised_likely"
    BEFORE_FIRST_REVIEW = "before_first_review"
    STATED = "stated"
    UNSTATED = "unstated"
    UNAVAILABLE = "unavailable"

    @property
    def rank(self) -> int:
        """Return its position among all grades, 0 for the best."""
        return list(Grade).index(self)


GRADE_MEANINGS: Mapping[Grade, str] = MappingProxyType(
    {
        Grade.EXACT: (
            "Uploaded on or before the deadline, with the file fetched for that edit itself; no other PDF replaced it"
            " before the first review."
        ),
        Grade.EXACT_ATTACHMENT: "The venue kept the submitted file as an attachment.",
        Grade.UNREVISED: "No invitation that can change the PDF edited the note after the deadline.",
        Grade.ONLY_BEFORE_REVIEW: "The whole history is known, and only one PDF was uploaded before the first review.",
        Grade.UNREVISED_LIKELY: (
            "As `unrevised`, but chairs edited the note, which can change a PDF, or nothing shows that its form closed"
            " before the reviews."
        ),
        Grade.BEFORE_FIRST_REVIEW: "The latest PDF known to have been uploaded before the first review.",
        Grade.STATED: (
            "A published dataset or the user states that this is the submission, without an edit that proves it."
        ),
        Grade.UNSTATED: "A published dataset contains the text, but does not state its version.",
        Grade.UNAVAILABLE: "It is unknown which version the reviewers read, or its file is not in the workspace.",
    }
)
"""Meaning of each value, printed in dataset cards: a change requires a higher `release.provenance.VERSION`."""


PUBLISHABLE_GRADES = (Grade.EXACT, Grade.EXACT_ATTACHMENT, Grade.UNREVISED, Grade.ONLY_BEFORE_REVIEW)
"""Grades that prove a version to be the initial one, best first; only such texts are published as initial."""


class VersionMoment(StrEnum):
    """When in a paper's life a version was uploaded, according to the invitation of its edit and to times.

    A version has None instead if neither is known, or if they disagree.
    """

    INITIAL = "initial"
    """The version the reviewers read, with the certainty of its grade; also other edits with the same file."""
    BEFORE_DEADLINE = "before_deadline"
    """An earlier draft, or another file from on or before the deadline."""
    BEFORE_REVIEWS = "before_reviews"
    """Before the first review, and after the deadline or with no known deadline."""
    DISCUSSION = "discussion"
    """After the first review and before the decision, or by an invitation to revise in the discussion."""
    CAMERA_READY = "camera_ready"
    """After the decision on an accepted paper, or by an invitation to submit the final version."""
    CURRENT = "current"
    """The current version, if nothing shows when it was uploaded."""


class FileSays(StrEnum):
    """Which version of a paper a file appears to be, judging by its content."""

    SUBMITTED = "submitted"
    """Laid out for reviewers, with no sign of a later version. If no deadline is known, this includes revisions that
    are still anonymous."""
    FINAL = "final"
    """Later than the submission: it names a venue that accepted it, or its authors and acknowledgements, or was created
    more than a day after the deadline."""
    NOTHING = "nothing"
    """There are no signs, or they contradict each other."""


class SignKind(StrEnum):
    """Kind of sign in a file that indicates its version."""

    UNDER_REVIEW = "under_review"
    PUBLISHED_AS = "published_as"
    ACCEPTED_AT = "accepted_at"
    PROCEEDINGS = "proceedings"
    ANONYMOUS_AUTHORS = "anonymous_authors"
    NAMED_AUTHORS = "named_authors"
    PREPRINT = "preprint"
    LINE_NUMBERS = "line_numbers"
    ACKNOWLEDGEMENTS = "acknowledgements"
    CODE_LINK = "code_link"
    OWN_CITATION = "own_citation"
    MADE_AT = "made_at"


class ChangeKind(StrEnum):
    """Kind of change of a passage between two versions of a paper."""

    ADDED = "added"
    """Only in the later version."""
    REMOVED = "removed"
    """Only in the earlier version."""
    CHANGED = "changed"
    """In both versions, reworded: at least half of the words are the same."""
    MOVED = "moved"
    """Once in both versions, word for word, and under another heading."""


class LinkKind(StrEnum):
    """How two submissions of the same work are related."""

    RESUBMISSION = "resubmission"
    """The later one is at another venue, or at the same one after the decision on the earlier one."""
    WORKSHOP = "workshop"
    """One is at a workshop, the other is not."""
    TWIN = "twin"
    """Listed twice: at the same venue, or at two venues within a week."""
    UNDATED = "undated"
    """At two venues, and the date of one is unknown."""
    COMMITMENT = "commitment"
    """The later one commits the earlier one, with its reviews, to a venue that decides on it (ACL Rolling Review)."""


class FigureKind(StrEnum):
    """Kind of object in an image of part of a page."""

    FIGURE = "figure"
    TABLE = "table"


class BlockKind(StrEnum):
    """Kind of a block of text."""

    TITLE = "title"
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "list_item"
    FORMULA = "formula"
    """A displayed formula."""
    TABLE = "table"
    CAPTION = "caption"
    """The caption of a figure, a table, an algorithm or a listing."""
    LISTING = "listing"
    """An algorithm or a program, line by line."""
    FOOTNOTE = "footnote"
    ENTRY = "bibliography_entry"
    """An entry of the list of references."""
    PAGE_HEADER = "page_header"
    """A running header, or a page number above the text; it is not in the Markdown."""
    PAGE_FOOTER = "page_footer"
    """A running footer, a publication notice or a page number below the text; it is not in the Markdown."""
    UNDIVIDED = "undivided"
    """A page read by an engine that does not provide blocks."""


class MentionKind(StrEnum):
    """Kind of object that a mention refers to."""

    CITATION = "citation"
    EQUATION = "equation"
    FIGURE = "figure"
    TABLE = "table"
    ALGORITHM = "algorithm"
    LISTING = "listing"
    SECTION = "section"
    """A section or an appendix."""


class Reason(StrEnum):
    """Why a row was set aside."""

    NO_FORUM = "no_forum"
    NO_INVITATION = "no_invitation"
    NO_VENUE = "no_venue"
    FORUM_MISSING = "forum_missing"
    FORUM_SET_ASIDE = "forum_set_aside"
    OTHER_VENUE = "other_venue"
    NOT_PUBLIC = "not_public"
    NO_LONGER_SHOWN = "no_longer_shown"
    NOT_LISTED_SINCE = "not_listed_since"
    REMOVED_BY_VENUE = "removed_by_venue"
    UNREADABLE = "unreadable"
    EDIT_OF_A_REPLY = "edit_of_a_reply"
    NO_PDF = "no_pdf"
    PDF_UNCHANGED = "pdf_unchanged"
    FILE_MISSING = "file_missing"
    FILE_ALTERED = "file_altered"
    NOT_A_PDF = "not_a_pdf"
    PDF_ENCRYPTED = "pdf_encrypted"
    PDF_DAMAGED = "pdf_damaged"
    PDF_WITHOUT_TEXT = "pdf_without_text"
    PDF_TIMEOUT = "pdf_timeout"
    PDF_OUT_OF_MEMORY = "pdf_out_of_memory"
    PDF_CRASHED = "pdf_crashed"
    OUTSIDE_CONVERSATION = "outside_conversation"
    PERSON_OR_AI = "person_or_ai"
    REMINDER = "reminder"
    NOTHING_SAID = "nothing_said"
    DELETED = "deleted"
    SUPERSEDED = "superseded"
    RECORDS_DIFFER = "records_differ"
    NOT_MATCHED = "not_matched"
    RECORD_UNREADABLE = "record_unreadable"
    NOT_JSON = "not_json"
    NO_TEXT = "no_text"
    TEXT_UNCHANGED = "text_unchanged"
    ENGINES_DIFFER = "engines_differ"
    NOT_COMPARED = "not_compared"
    NO_WORDS = "no_words"
    EARLIER_MISSING = "earlier_missing"
    NAMES_ITSELF = "names_itself"
    NO_CAPTION = "no_caption"


REASON_MEANINGS: Mapping[Reason, str] = MappingProxyType(
    {
        Reason.NO_FORUM: "The note names no forum.",
        Reason.NO_INVITATION: "The note names no invitation, so its kind is unknown.",
        Reason.NO_VENUE: "Neither the note nor its forum names a venue, or the forum names several.",
        Reason.FORUM_MISSING: "The submission that it belongs to is not in the workspace, or is not public.",
        Reason.FORUM_SET_ASIDE: "The submission that it belongs to is itself set aside; it may be deleted.",
        Reason.OTHER_VENUE: "It was in the list of a venue's edits, but names another venue; its note is missing.",
        Reason.NOT_PUBLIC: "Not everyone may read it.",
        Reason.NO_LONGER_SHOWN: "It was missing from a later listing of its venue.",
        Reason.NOT_LISTED_SINCE: "Its venue was not listed to the end since raw.db was repaired: it may be deleted.",
        Reason.REMOVED_BY_VENUE: (
            "It is a public comment from days whose public comments the venue removed, and no listing has shown"
            " it since."
        ),
        Reason.UNREADABLE: "One of its fields does not have the type that OpenReview uses.",
        Reason.EDIT_OF_A_REPLY: "The edit changes a reply, so it contains no version of the paper.",
        Reason.NO_PDF: "It names no PDF stored at OpenReview.",
        Reason.PDF_UNCHANGED: "It names the same PDF as an earlier edit.",
        Reason.FILE_MISSING: "The file was fetched, but is no longer in the workspace or cannot be opened there.",
        Reason.FILE_ALTERED: "The file in the workspace was truncated or changed after it was stored.",
        Reason.NOT_A_PDF: "The file is empty or is not a PDF, but for instance a web page, an image or an archive.",
        Reason.PDF_ENCRYPTED: "The file opens only with a password, or is encrypted by an unknown method.",
        Reason.PDF_DAMAGED: "No page of the file can be read, even after an attempt to repair it.",
        Reason.PDF_WITHOUT_TEXT: "None of the file's pages contains text.",
        Reason.PDF_TIMEOUT: "Reading the file took too long.",
        Reason.PDF_OUT_OF_MEMORY: "Reading the file exceeded the memory limit of a worker.",
        Reason.PDF_CRASHED: "The process that read the file died, or the program that read it failed.",
        Reason.OUTSIDE_CONVERSATION: "The post is not a turn of any conversation.",
        Reason.PERSON_OR_AI: (
            "Its invitation and its signature do not agree on whether a person or an AI wrote it, so it counts as"
            " neither."
        ),
        Reason.REMINDER: (
            "The post only reminds the reviewers: it says nothing about the paper, and it is the authors' last post."
        ),
        Reason.NOTHING_SAID: "It contains no words: a rating without text, or a decision without a comment.",
        Reason.DELETED: "OpenReview marks it as deleted.",
        Reason.SUPERSEDED: (
            "The workspace has OpenReview's own notes of the same paper, or a fuller published record of it."
        ),
        Reason.RECORDS_DIFFER: (
            "Another published record of the same conversation differs, and has more text or comes first."
        ),
        Reason.NOT_MATCHED: (
            "It may be one of the reviews in another published record of the same paper, or the reply to one."
        ),
        Reason.RECORD_UNREADABLE: "The published record does not have the fields that its dataset declares.",
        Reason.NOT_JSON: (
            "OpenReview's response is not JSON, cannot be decoded, or has a control character in an id;"
            " its bytes are stored."
        ),
        Reason.NO_TEXT: "The published record contains no text of the paper.",
        Reason.TEXT_UNCHANGED: "The later version of the paper has the same text as the one that the reviewers read.",
        Reason.ENGINES_DIFFER: (
            "The two texts were read by different engines, so their differences say nothing about the paper."
        ),
        Reason.NOT_COMPARED: (
            "Comparing the two texts took too long or too much memory, or the process that did so died or failed."
        ),
        Reason.NO_WORDS: (
            "Neither its title nor its abstract contains a word, so it cannot be compared with other papers."
        ),
        Reason.EARLIER_MISSING: "The submission names an earlier submission that is not in the workspace.",
        Reason.NAMES_ITSELF: "The submission names itself as its earlier submission.",
        Reason.NO_CAPTION: "The file has no caption of a figure or a table, so no image was extracted from it.",
    }
)
"""Meaning of each value, printed in dataset cards: a change requires a higher `release.provenance.VERSION`."""

"""Every closed list of values that a record may hold; imports nothing from the package."""

from enum import StrEnum


class Status(StrEnum):
    """What became of a submission."""

    ACCEPTED = "accepted"
    """Accepted in any form."""
    REJECTED = "rejected"
    """Rejected after review."""
    WITHDRAWN = "withdrawn"
    """Withdrawn by its authors."""
    DESK_REJECTED = "desk_rejected"
    """Rejected without review."""
    UNDER_REVIEW = "under_review"
    """No decision yet, or none shown."""
    UNKNOWN = "unknown"


class PostKind(StrEnum):
    """What a reply in a forum is, read from the last path element of the invitation that created it."""

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
    OTHER = "other"


class Role(StrEnum):
    """Who speaks, read from the signature."""

    AUTHOR = "author"
    REVIEWER = "reviewer"
    AREA_CHAIR = "area_chair"
    SENIOR_AREA_CHAIR = "senior_area_chair"
    PROGRAM_CHAIR = "program_chair"
    ETHICS_REVIEWER = "ethics_reviewer"
    PUBLIC = "public"
    UNKNOWN = "unknown"


class Aspect(StrEnum):
    """What a score is about. `OTHER` keeps the form's own name in `Score.field`."""

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
    """What a passage of a review is for. `OTHER` keeps the form's own name in `Section.field`."""

    SUMMARY = "summary"
    STRENGTHS = "strengths"
    WEAKNESSES = "weaknesses"
    ASSESSMENT = "assessment"
    QUESTIONS = "questions"
    LIMITATIONS = "limitations"
    ETHICS = "ethics"
    OTHER = "other"


class FieldType(StrEnum):
    """What a field of a form asks for."""

    SCORE = "score"
    TEXT = "text"
    FLAG = "flag"
    """Yes or no, or a box to tick."""
    LIST = "list"
    """Any number of the answers offered."""
    CHOICE = "choice"
    """One of the answers offered, none of them a score."""


class Phase(StrEnum):
    """When a score held: as first given, or as it stands now."""

    INITIAL = "initial"
    FINAL = "final"


class ScoreSource(StrEnum):
    """Where a score was read."""

    NOTE = "note"
    EDIT = "edit"
    SNAPSHOT = "snapshot"
    """The earliest version of the review that was harvested, or that an edit shows which was posted again before the
    next one; a change from before that cannot be seen."""
    TEXT = "text"
    """What the reviewer says in words ("I raise my score from 5 to 6"): a lower grade, taken only where nothing else
    tells of the first score, both numbers are on the form's scale, and the later one is the note's."""
    PUBLISHED = "published"
    """A dataset that others published."""


class Grade(StrEnum):
    """How sure we are that a version is the one the reviewers read, best first."""

    EXACT = "exact"
    """An edit on or before the deadline, with the file fetched for that edit."""
    EXACT_ATTACHMENT = "exact_attachment"
    """The venue kept the submitted file as an attachment."""
    UNREVISED = "unrevised"
    """No invitation that can change the PDF edited the note after the deadline."""
    UNREVISED_LIKELY = "unrevised_likely"
    """As `unrevised`, but chairs edited the note, which can change a PDF."""
    BEFORE_FIRST_REVIEW = "before_first_review"
    """The latest PDF that can be seen from before the first review."""
    UNAVAILABLE = "unavailable"
    """Not known, or its file is not here."""


PUBLISHABLE_GRADES = (Grade.EXACT, Grade.EXACT_ATTACHMENT, Grade.UNREVISED)


class VersionMoment(StrEnum):
    """When in a paper's life a version came, told by the invitation that brought it and by times.

    None stands for a version that neither tells of, or of which they disagree.
    """

    INITIAL = "initial"
    """The version the reviewers read, as far as its grade says; also where another edit brought the same file."""
    BEFORE_DEADLINE = "before_deadline"
    """An earlier draft, or another file from on or before the deadline."""
    BEFORE_REVIEWS = "before_reviews"
    """Before the first review, and after the deadline or where none is known."""
    DISCUSSION = "discussion"
    """After the first review and before the decision, or by an invitation to revise in the discussion."""
    CAMERA_READY = "camera_ready"
    """Of an accepted paper, after its decision; or by an invitation to hand in the final version."""
    CURRENT = "current"
    """As the paper stands now; nothing tells when it came."""


class FileSays(StrEnum):
    """Which version of a paper a file is, by what stands in it."""

    SUBMITTED = "submitted"
    """It is laid out for reviewers, and nothing in it is of a later version; a revision that is still anonymous says
    the same of itself where no deadline is known."""
    FINAL = "final"
    """It is later than what was submitted: it names a venue that accepted it, or its authors and whom they thank, or
    was made more than a day after the deadline."""
    NOTHING = "nothing"
    """Nothing in it tells, or what tells disagrees."""


class SignKind(StrEnum):
    """What in a file tells which version it is."""

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
    """What became of a passage of a paper between two of its versions."""

    ADDED = "added"
    """Only the later version has it."""
    REMOVED = "removed"
    """Only the earlier version has it."""
    CHANGED = "changed"
    """Both have it, in other words: half of its words or more are the same."""


class LinkKind(StrEnum):
    """How two submissions of one work stand to each other."""

    RESUBMISSION = "resubmission"
    """The later one is at another venue; or at the same, after the earlier one was decided on."""
    WORKSHOP = "workshop"
    """One of the two is at a workshop, the other is not."""
    TWIN = "twin"
    """Listed twice: at the same venue, or at two within a week."""
    UNDATED = "undated"
    """At two venues, and it is not known when one of them came."""


class Reason(StrEnum):
    """Why a row was set aside."""

    NO_FORUM = "no_forum"
    """The note names no forum."""
    NO_INVITATION = "no_invitation"
    """The note names no invitation, so what it is cannot be known."""
    FORUM_MISSING = "forum_missing"
    """Its submission is not in the workspace, or not public."""
    NOT_PUBLIC = "not_public"
    """Not everyone may read it."""
    NO_LONGER_SHOWN = "no_longer_shown"
    """A later listing of its venue did not hold it any more."""
    UNREADABLE = "unreadable"
    """A field does not hold what OpenReview puts there."""
    EDIT_OF_A_REPLY = "edit_of_a_reply"
    """The edit changes a reply, so it brings no version of the paper."""
    NO_PDF = "no_pdf"
    """It names no PDF that OpenReview keeps."""
    PDF_UNCHANGED = "pdf_unchanged"
    """It names a PDF that an earlier edit brought."""
    FILE_MISSING = "file_missing"
    """The file was fetched but is not in the workspace any more, or cannot be opened there."""
    NOT_A_PDF = "not_a_pdf"
    """The file is empty, or is something else: a web page, a picture, an archive."""
    PDF_ENCRYPTED = "pdf_encrypted"
    """The file opens with a password alone, or is encrypted in a way that is not known."""
    PDF_DAMAGED = "pdf_damaged"
    """No page of the file can be read, nor of what could be put together from its parts."""
    PDF_WITHOUT_TEXT = "pdf_without_text"
    """None of its pages holds text."""
    PDF_TIMEOUT = "pdf_timeout"
    """Reading the file took too long."""
    PDF_OUT_OF_MEMORY = "pdf_out_of_memory"
    """Reading the file took more memory than a worker may hold."""
    PDF_CRASHED = "pdf_crashed"
    """The process that read the file died, or the program that read it failed."""
    OUTSIDE_CONVERSATION = "outside_conversation"
    """The post is no turn of any conversation."""
    REMINDER = "reminder"
    """The authors only urge: nothing in the post is about the paper, and it is the last that they say."""
    DELETED = "deleted"
    """OpenReview marks it as deleted."""
    SUPERSEDED = "superseded"
    """A published record of what OpenReview's own notes, or a fuller record, tell."""
    RECORD_UNREADABLE = "record_unreadable"
    """A published record does not hold what its dataset says it holds."""
    NO_TEXT = "no_text"
    """A published record holds no text of the paper."""
    TEXT_UNCHANGED = "text_unchanged"
    """The later version of the paper says what the one that the reviewers read says."""
    ENGINES_DIFFER = "engines_differ"
    """The two texts were read by different engines, so how they differ tells nothing of the paper."""
    NOT_COMPARED = "not_compared"
    """Comparing two texts took too long or too much memory, or the process that did it died or failed."""
    NO_WORDS = "no_words"
    """Neither its title nor its abstract holds a word, so that it cannot be compared with other papers."""

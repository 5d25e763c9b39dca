"""Every row type of the corpus; imports nothing from the package but the values rows may hold.

Times are UTC. Ids carry their type in their name. Verbatim means: as OpenReview sent it. A field that is None was not
there or could not be read; it never stands for a default. `docs/data.md` is generated from this file, and the Arrow
schemas are derived from it (`tables.py`).
"""

from dataclasses import dataclass
from datetime import datetime

from peercorpus.file_records import TextHeading, TextQuality
from peercorpus.kinds import (
    Aspect,
    FileSays,
    Grade,
    Phase,
    PostKind,
    Reason,
    Role,
    ScoreSource,
    SectionKind,
    Status,
    VersionMoment,
)

PAGE_BREAK = "\n\n---\n\n"
"""What stands between two pages of a `PaperText`."""


@dataclass(frozen=True, slots=True)
class Paper:
    """One submission at one venue.

    Attributes:
        conference: The conference family in lower case (`iclr`), the split the paper is published in.
        year: Calendar year in the venue id; None for rolling venues without a dated paper.
        track: `main`, or the part of the venue id that names the track or workshop.
        number: The running number within the venue.
        authors: Empty where the record is blind.
        venue: The verbatim venue string of the submission ("ICLR 2020 Poster").
        decision: The verdict, verbatim.
        decided_at: When the decision was posted.
        decision_comment: The text with the decision; where it has none, the meta-review's.
        licence: The licence stated on the note; None where none is stated.
        extra: What no other field holds, as JSON of the note's own `content`, less the authors' accounts.
    """

    forum_id: str
    venue_id: str
    conference: str
    year: int | None
    track: str
    number: int | None
    title: str | None
    abstract: str | None
    authors: tuple[str, ...]
    keywords: tuple[str, ...]
    tldr: str | None
    primary_area: str | None
    venue: str | None
    status: Status
    decision: str | None
    decided_at: datetime | None
    decision_comment: str | None
    licence: str | None
    created_at: datetime | None
    modified_at: datetime | None
    extra: str


@dataclass(frozen=True, slots=True)
class Score:
    """One number a reviewer gave, on the venue's own scale.

    Attributes:
        field: The form's own name of the field.
        value: None where the answer holds no number, or one the form did not offer.
        low: Lowest answer the form offers; None where the form is not known.
        high: Highest answer the form offers; None where the form is not known.
        label: The answer, verbatim; for a bare number the text of the option chosen, where the form is known; for a
            score read in running text (`source` is `text`) the words it was read in.
        offered: The numbers the form offers, ascending; empty where it is not known, or names a range only.
        unified: The place of an overall recommendation on Re²'s scale of 1 to 10, whose accepting half begins at 6
            (`forms/unified.py`); None for other scores, and where the form's words do not say which answers accept.
    """

    aspect: Aspect
    field: str
    value: float | None
    low: float | None
    high: float | None
    label: str
    phase: Phase
    source: ScoreSource
    offered: tuple[float, ...] = ()
    unified: float | None = None

    @property
    def unit(self) -> float | None:
        """The value on [0, 1] of its scale; None where value or scale is unknown.

        >>> Score(Aspect.RECOMMENDATION, "rating", 6, 1, 10, "6", Phase.FINAL, ScoreSource.NOTE).unit
        0.5555555555555556
        """
        if self.value is None or self.low is None or self.high is None or self.low == self.high:
            return None
        return (self.value - self.low) / (self.high - self.low)


@dataclass(frozen=True, slots=True)
class Section:
    """One passage of a review: its kind, the form's own name of the field, and the text verbatim."""

    kind: SectionKind
    field: str
    text: str


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """One change of one score.

    Attributes:
        field: The form's own name of the field.
        before: None where the earlier answer holds no number; `after` likewise.
        changed_at: When; None where only the two values are known.
    """

    aspect: Aspect
    field: str
    before: float | None
    after: float | None
    changed_at: datetime | None
    source: ScoreSource


@dataclass(frozen=True, slots=True)
class Review:
    """One official review.

    Attributes:
        form_id: Which form it was read with: an invitation id; `declared:` and a record's name, where no invitation
            could be read; `inferred:<venue_id>` where neither is there.
        reviewer: The anonymous id within that paper (`Reviewer_AbCd`, `AnonReviewer3`).
        title: The reviewer's own heading, where the form has one.
        final_justification: What the reviewer wrote after the rebuttal; never part of the initial review.
        revised: Whether the reviewer changed it, as its readable edits and the earlier versions held show; None where
            no edit can be read and no earlier version differs.
        readers_public: Whether `everyone` may read it; only such reviews are published.
        deleted: Whether OpenReview marks it as deleted.
        extra: Every field that is neither score nor section, as JSON of the note's own `content`.
        initial_sections: The sections that were changed since, as first given, where an edit or an earlier version that
            is held shows it.
        updated_fields: Fields whose text says of itself that a part was added later ("UPDATE:", "After the rebuttal:")
            and whose first text is not held: what they say is not the initial review alone.
        score_changes: Every change of a score that its readable edits show, in time order.
        justified_at: When the final justification was first written; None where no readable edit shows it.
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


@dataclass(frozen=True, slots=True)
class Post:
    """Any reply in a forum, reviews included.

    Attributes:
        reply_to: The post answered; None where it answers the submission itself.
        kind: What it is.
        invitation: The invitation that created it, verbatim; empty for a post that a published record tells of.
        signature: Last path element of the signature (`Reviewer_AbCd`, `Authors`); `public_<pseudonym>` for whoever
            signs by account, the same in a whole workspace; `public_1`, … for names that may be several people's;
            empty where a published record does not state it.
        text: The prose, verbatim. Where several fields hold prose, each stands under its name as a Markdown heading.
        initial_text: Of a review that was changed, the same as first given, where that is held; None where it is not
            known to differ.
        holds_update: Whether a review says of itself that a part of it was added later, and its first text is not held.
        readers_public: Whether `everyone` may read it; only such posts are published.
        deleted: Whether OpenReview marks it as deleted.
        extra: Every field not in `title` and `text`, as JSON of the note's own `content`.
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


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why a version has its grade.

    Attributes:
        deadline: The cut-off used, with its grace; None where none is known.
        deadline_source: Where the cut-off was read (an invitation id, or a row of the catalogue).
        rule: The rule applied, in words.
        invitation: The invitation of the edit that brought the PDF.
        file_says: Which version the file itself says it is; None where it was not looked into.
        file_signs: What in it says so, in words.
    """

    deadline: datetime | None
    deadline_source: str | None
    rule: str
    invitation: str | None
    file_says: FileSays | None = None
    file_signs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PaperVersion:
    """One PDF of a submission.

    Attributes:
        edit_id: The edit or reference that brought it; the forum id where only the current PDF is known.
        path: OpenReview's own path of the file (`/pdf/<hash>.pdf`), and equal paths are equal files; the id of a
            published record where that holds the text, and no PDF is known.
        sha256: The file in `files/`, None where it was not fetched; of a published text, its UTF-8 bytes.
        is_initial: Whether this is the version the reviewers read, as far as `grade` says.
        grade: Of the initial version; `unavailable` on the current one where the initial is not known or its file is
            not here; None for all others.
    """

    forum_id: str
    venue_id: str
    edit_id: str
    created_at: datetime | None
    modified_at: datetime | None
    path: str
    sha256: str | None
    is_initial: bool
    grade: Grade | None
    evidence: Evidence
    moment: VersionMoment | None = None
    title: str | None = None
    abstract: str | None = None

    @property
    def is_pdf(self) -> bool:
        """Whether it is a PDF of OpenReview, and not the text of a published record."""
        return self.path.startswith("/")


@dataclass(frozen=True, slots=True)
class PaperText:
    r"""Markdown of one file by one engine, or as a published record holds it.

    Attributes:
        sha256: Of the file; where a published record holds the text, of the text's own UTF-8 bytes.
        engine: What read the file; `reviewbench` or `re2` where that dataset did.
        engine_version: Empty where a dataset does not state it.
        markdown: Pages joined by `\n\n---\n\n`; a published text is verbatim.
        pages: Number of pages; None where a dataset does not state it.
        characters_per_page: Mean number of characters on a page; None where the pages are not known.
        problems: What the engine could not do, in words.
        headings: In the order of the text; empty where the engine tells none.
        figures: The text inside figures, kept apart, one entry for each page that has any.
        quality: None where the engine or the dataset does not tell it.
        ocr_pages: Pages whose text was recognised from their image, from 1.
        heavier_pages: Pages that the engine `auto` had read by a heavier engine, from 1.
    """

    sha256: str
    venue_id: str
    engine: str
    engine_version: str
    markdown: str
    pages: int | None
    characters_per_page: float | None
    problems: tuple[str, ...]
    headings: tuple[TextHeading, ...] = ()
    figures: tuple[str, ...] = ()
    quality: TextQuality | None = None
    ocr_pages: tuple[int, ...] = ()
    heavier_pages: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation: consecutive posts of one speaker, merged.

    Attributes:
        signature: Who speaks, as in `Post`.
        title: One for the whole turn: what its posts' titles share, without the marks of parts ("(1/2)").
        text: The texts of the posts merged, joined by a blank line; of a review as first given, where that is held.
            Empty where the reviewer changed a score, or wrote the final justification, and posted nothing.
        post_ids: The posts merged, in the order they are read in, parts in their own; none where a published record
            holds the conversation.
        holds_update: Whether a part of the text was written later than the turn, as it says of itself.
        titles: Of the posts merged, verbatim.
        orphan_ids: Those of the posts that answer one which is deleted, hidden or not held.
        score_changes: What the reviewer changed at this turn.
        final_justification: What the reviewer wrote in that field of the form at this turn.
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
    score_changes: tuple[ScoreChange, ...] = ()
    final_justification: str | None = None


@dataclass(frozen=True, slots=True)
class ContextPost:
    """A response of the authors to all reviewers, as it stands beside one conversation.

    Attributes:
        before_turn: How many turns had begun when it became visible: it stands before the turn of that index. None
            where the turns have no times.
        concerning: The passages that name this conversation's reviewer, verbatim, in their order.
    """

    post_id: str
    before_turn: int | None
    concerning: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversation:
    """The exchange with one reviewer of one paper, in time order.

    Attributes:
        conversation_id: `<forum_id>/<reviewer>`.
        context: The authors' responses to all reviewers, in the order they are read in; never turns.
        undated_changes: Changes of scores of which it is not known at which turn they happened.
    """

    conversation_id: str
    forum_id: str
    venue_id: str
    reviewer: str
    turns: tuple[Turn, ...]
    context: tuple[ContextPost, ...]
    undated_changes: tuple[ScoreChange, ...] = ()


@dataclass(frozen=True, slots=True)
class SetAside:
    """A row that left a stage, and why.

    Attributes:
        record_id: The note, edit, post, file or published record it was.
        forum_id: None where it names no forum.
        detail: One sentence for a person.
    """

    record_id: str
    forum_id: str | None
    venue_id: str
    stage: str
    reason: Reason
    detail: str

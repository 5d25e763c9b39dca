"""The stage that reads notes: OpenReview's raw objects of one venue → papers, reviews and posts.

Every note becomes a paper or a post, or is set aside with a reason; every post that is a review becomes a `Review` too.
"""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace

import msgspec

from peercorpus.forms import vocabulary
from peercorpus.forms.derive import ReviewForm, derive_form
from peercorpus.forms.papers import read_paper
from peercorpus.forms.posts import read_post
from peercorpus.forms.reviews import read_review
from peercorpus.forms.words import Words, read_words
from peercorpus.kinds import PostKind, Reason, Role
from peercorpus.openreview.objects import Note, read_edit, read_note, tail_of
from peercorpus.raw import Kind, RawObject
from peercorpus.stage import Balance, Options, Report, Stage
from peercorpus.tables import Replacement
from peercorpus.venues import catalogue
from peercorpus.workspace import Workspace

NAME = "normalise"
WRITES = ("1-papers", "2-reviews", "3-posts")


@dataclass(slots=True)
class Forum:
    """All that is held of one forum: its notes, and the readable edits of each."""

    forum_id: str
    notes: list[Note] = field(default_factory=list)
    edits: dict[str, list[Note]] = field(default_factory=dict)
    unreadable: list[tuple[str, str]] = field(default_factory=list)

    def add(self, found: RawObject) -> None:
        """Take in one raw object; an edit that is deleted or not public tells nothing."""
        try:
            edit = _read_edit(found)
            if edit is not None and edit.is_public and edit.ddate is None:
                self.edits.setdefault(found.subject_id, []).append(edit)
            if found.kind is Kind.NOTE:
                self.notes.append(read_note(found.body))
        except msgspec.ValidationError as error:
            if found.kind is Kind.NOTE:
                self.unreadable.append((found.object_id, str(error)))


def _read_edit(found: RawObject) -> Note | None:
    """A reference, or an API v2 edit as the partial note it is, with the edit's own times and readers."""
    if found.kind is not Kind.EDIT:
        return read_note(found.body) if found.kind is Kind.REFERENCE else None
    edit = read_edit(found.body)
    note = edit.note
    note.tcdate, note.tmdate, note.readers, note.ddate = edit.tcdate, edit.tmdate, edit.readers, edit.ddate
    return note


@dataclass(frozen=True, slots=True)
class VenueReader:
    """How a venue's notes are read: its review form, its own words, and the notes it no longer shows."""

    venue_id: str
    form: ReviewForm
    words: Words
    gone: Set[str]


def read_venue(workspace: Workspace, venue_id: str) -> VenueReader:
    """What is known of a venue: the form of its own review invitation, else of a single paper's, else none."""
    raw = workspace.raw
    group = raw.find(Kind.GROUP, venue_id)
    words = read_words(group.body) if group else Words()
    found = [
        invitation
        for invitation in raw.latest(Kind.INVITATION, venue_id)
        if words.kind(tail_of(invitation.object_id)) is PostKind.REVIEW
    ]
    found.sort(key=lambda invitation: (len(invitation.object_id), invitation.object_id))
    form = next(filter(None, (derive_form(invitation.body) for invitation in found)), None)
    form = form or ReviewForm(f"inferred:{venue_id}", {})
    return VenueReader(venue_id, replace(form, aspects=words.aspects), words, raw.gone(venue_id))


def read_speakers(root: Note, replies: Sequence[Note]) -> dict[str, tuple[Role, str]]:
    """Who wrote each reply: role, and name within the paper.

    Only the names of known anonymous roles are kept. All others, people's names and addresses among them, become
    `public_1`, `unknown_1`, … in the order in which they first speak; an author who signs by name is an author.
    """
    accounts = root.fields.get("authorids")
    authors = {account for account in accounts if isinstance(account, str)} if isinstance(accounts, list) else set()
    named: dict[str, str] = {}
    speakers: dict[str, tuple[Role, str]] = {}
    for note in replies:
        signature = (note.signatures or [""])[0]
        name = signature.rpartition("/")[2]
        role = Role.AUTHOR if signature in authors else vocabulary.role_of(name)
        if role is Role.UNKNOWN and signature and root.created_by.startswith(signature):
            role = Role.PROGRAM_CHAIR  # Early venues sign decisions with the venue's own group.
        if signature in authors:
            name = "Authors"
        elif role in {Role.PUBLIC, Role.UNKNOWN}:
            name = named.setdefault(signature, f"{role.value}_{len(named) + 1}")
        speakers[note.id or ""] = (role, name)
    return speakers


def _sort_out(forum: Forum, gone: Set[str], out: Replacement) -> tuple[Note | None, list[Note]]:
    """The root and the replies that can be read; the others are set aside."""
    for note_id, problem in forum.unreadable:
        out.set_aside(note_id, forum.forum_id or None, Reason.UNREADABLE, problem)
    root, replies = None, []
    for note in forum.notes:
        refused = _refusal(note, gone)
        if refused:
            out.set_aside(note.id or "", note.forum, *refused)
        elif note.id == note.forum:
            root = note
        else:
            replies.append(note)
    if root is None:
        detail = "Its submission is not in the workspace, or not public; harvest or import it."
        for note in replies:
            out.set_aside(note.id or "", note.forum, Reason.FORUM_MISSING, detail)
    return root, sorted(replies, key=lambda note: (note.created_ms or 0, note.id or ""))


def _refusal(note: Note, gone: Set[str]) -> tuple[Reason, str] | None:
    if not note.forum:
        return Reason.NO_FORUM, "The note names no forum."
    if not note.created_by:
        return Reason.NO_INVITATION, "The note names no invitation, so what it is cannot be known."
    if note.id in gone:
        return Reason.NO_LONGER_SHOWN, "A later listing of its venue did not hold it any more."
    if note.id == note.forum and not note.is_public:
        return Reason.NOT_PUBLIC, "The submission is not readable by everyone."
    if note.id == note.forum and note.ddate is not None:
        return Reason.DELETED, "OpenReview marks the submission as deleted."
    return None


def normalise_forum(forum: Forum, reader: VenueReader, out: Replacement) -> None:
    """Write one forum's paper, reviews and posts."""
    root, replies = _sort_out(forum, reader.gone, out)
    if root is None:
        return
    kinds = [(reader.words.kind(tail_of(note.created_by)), note) for note in replies]
    speakers = read_speakers(root, replies)
    shown = [(kind, note) for kind, note in kinds if note.ddate is None and note.is_public]
    out.add(read_paper(root, reader.venue_id, shown, reader.words))
    for kind, note in kinds:
        speaker, prose = speakers[note.id or ""], None
        if kind is PostKind.REVIEW:
            edits = forum.edits.get(note.id or "", ())
            review = read_review(note, reader.venue_id, speaker[1], reader.form, edits)
            out.add(review)
            prose = {section.field: section.text for section in review.sections}
        out.add(read_post(note, reader.venue_id, kind, speaker, prose))


def forums(workspace: Workspace, venue_id: str) -> Iterator[Forum]:
    """A venue's forums, one at a time, in order of their id."""
    for forum_id, objects in workspace.raw.by_forum((Kind.NOTE, Kind.REFERENCE, Kind.EDIT), venue_id):
        forum = Forum(forum_id)
        for found in objects:
            forum.add(found)
        yield forum


def run(workspace: Workspace, venue_id: str, _: Options, key: str, report: Report) -> None:
    """Read every note of a venue."""
    reader, total = read_venue(workspace, venue_id), workspace.raw.count_forums(venue_id)
    with workspace.tables.replacing(WRITES, venue_id, NAME, key) as out:
        for done, forum in enumerate(forums(workspace, venue_id), 1):
            normalise_forum(forum, reader, out)
            report(done, total)


def balance(workspace: Workspace, venue_id: str) -> Sequence[Balance]:
    """Notes = papers + posts + set aside; and posts that are reviews = reviews."""
    tables = workspace.tables
    papers, reviews, posts = (tables.count(name, venue_id) for name in WRITES)
    kinds = (kind for batch in tables.batches("3-posts", venue_id, ["kind"]) for kind in batch.column(0).to_pylist())
    reviews_in = sum(kind == PostKind.REVIEW for kind in kinds)
    set_aside = tables.set_aside_counts(venue_id, NAME)
    notes = workspace.raw.count(Kind.NOTE, venue_id)
    return (
        Balance(NAME, venue_id, "notes", notes, papers + posts, set_aside),
        Balance("read reviews", venue_id, "review posts", reviews_in, reviews, {}),
    )


STAGE = Stage(
    NAME,
    1,
    (Kind.NOTE, Kind.REFERENCE, Kind.EDIT, Kind.INVITATION, Kind.GROUP),
    (),
    WRITES,
    (),
    run,
    balance,
    made_with=lambda _: f"{vocabulary.DIGEST} {catalogue.DIGEST}",
)

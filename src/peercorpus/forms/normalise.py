"""The stage that reads notes: OpenReview's raw objects of one venue → papers, reviews and posts.

Every note becomes a paper or a post, or is set aside with a reason; every post that is a review becomes a `Review` too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

import msgspec

from peercorpus.forms import vocabulary
from peercorpus.forms.derive import ReviewForm, derive_form
from peercorpus.forms.papers import read_paper
from peercorpus.forms.posts import read_post
from peercorpus.forms.reviews import read_review
from peercorpus.kinds import PostKind, Reason, Role
from peercorpus.openreview.objects import Note, read_edit, read_note, tail_of
from peercorpus.raw import Kind, RawObject
from peercorpus.stage import Balance, Options, Report, Stage
from peercorpus.tables import Replacement
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
        """Take in one raw object."""
        try:
            if found.kind is Kind.EDIT:
                edit = read_edit(found.body)
                note = edit.note
                note.tcdate = edit.tcdate
            else:
                note = read_note(found.body)
        except msgspec.ValidationError as error:
            if found.kind is Kind.NOTE:
                self.unreadable.append((found.object_id, str(error)))
            return
        if found.kind is Kind.NOTE:
            self.notes.append(note)
        else:
            self.edits.setdefault(found.subject_id, []).append(note)


def read_form(workspace: Workspace, venue_id: str) -> ReviewForm:
    """The venue's review form: of its own invitation, else of a single paper's, else one with no question known."""
    found = [
        invitation
        for invitation in workspace.raw.latest(Kind.INVITATION, venue_id)
        if vocabulary.post_kind(tail_of(invitation.object_id)) is PostKind.REVIEW
    ]
    found.sort(key=lambda invitation: (len(invitation.object_id), invitation.object_id))
    form = next(filter(None, (derive_form(invitation.body) for invitation in found)), None)
    return form or ReviewForm(f"inferred:{venue_id}", {})


def read_speakers(root: Note, replies: Sequence[Note]) -> dict[str, tuple[Role, str]]:
    """Who wrote each reply: role, and name within the paper.

    Named people become `public_1`, `public_2`, … in the order in which they first speak; an author who signs by name is
    an author.
    """
    accounts = root.fields.get("authorids")
    authors = set(accounts) if isinstance(accounts, list) else set()
    numbers = count(1)
    named: dict[str, str] = {}
    speakers: dict[str, tuple[Role, str]] = {}
    for note in replies:
        signature = (note.signatures or [""])[0]
        name = signature.rpartition("/")[2]
        role = Role.AUTHOR if signature in authors else vocabulary.role_of(name)
        if role is Role.UNKNOWN and signature and root.created_by.startswith(signature):
            role = Role.PROGRAM_CHAIR  # Early venues sign decisions with the venue's own group.
        if name.startswith("~"):
            if role is Role.PUBLIC and name not in named:
                named[name] = f"public_{next(numbers)}"
            name = named.get(name, "Authors")
        speakers[note.id or ""] = (role, name)
    return speakers


def _sort_out(forum: Forum, out: Replacement) -> tuple[Note | None, list[Note]]:
    """The root and the replies that can be read; the others are set aside."""
    for note_id, problem in forum.unreadable:
        out.set_aside(note_id, forum.forum_id or None, Reason.UNREADABLE, problem)
    root, replies = None, []
    for note in forum.notes:
        refused = _refusal(note)
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


def _refusal(note: Note) -> tuple[Reason, str] | None:
    if not note.forum:
        return Reason.NO_FORUM, "The note names no forum."
    if not note.created_by:
        return Reason.NO_INVITATION, "The note names no invitation, so what it is cannot be known."
    if note.id == note.forum and not note.is_public:
        return Reason.NOT_PUBLIC, "The submission is not readable by everyone."
    return None


def normalise_forum(forum: Forum, venue_id: str, form: ReviewForm, out: Replacement) -> None:
    """Write one forum's paper, reviews and posts."""
    root, replies = _sort_out(forum, out)
    if root is None:
        return
    kinds = [(vocabulary.post_kind(tail_of(note.created_by)), note) for note in replies]
    speakers = read_speakers(root, replies)
    out.add(read_paper(root, venue_id, [(kind, note) for kind, note in kinds if note.ddate is None and note.is_public]))
    for kind, note in kinds:
        speaker, prose = speakers[note.id or ""], None
        if kind is PostKind.REVIEW:
            review = read_review(note, venue_id, speaker[1], form, forum.edits.get(note.id or "", ()))
            out.add(review)
            prose = {section.field: section.text for section in review.sections}
        out.add(read_post(note, venue_id, kind, speaker, prose))


def forums(workspace: Workspace, venue_id: str) -> Iterator[Forum]:
    """A venue's forums, one at a time, in order of their id."""
    for forum_id, objects in workspace.raw.by_forum((Kind.NOTE, Kind.REFERENCE, Kind.EDIT), venue_id):
        forum = Forum(forum_id)
        for found in objects:
            forum.add(found)
        yield forum


def run(workspace: Workspace, venue_id: str, _: Options, key: str, report: Report) -> None:
    """Read every note of a venue."""
    form, total = read_form(workspace, venue_id), workspace.raw.count_forums(venue_id)
    with workspace.tables.replacing(WRITES, venue_id, NAME, key) as out:
        for done, forum in enumerate(forums(workspace, venue_id), 1):
            normalise_forum(forum, venue_id, form, out)
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


STAGE = Stage(NAME, 1, (Kind.NOTE, Kind.REFERENCE, Kind.EDIT, Kind.INVITATION), (), WRITES, (), run, balance)

"""The stage that reads notes: OpenReview's raw objects of one venue → papers, reviews and posts.

Every note becomes a paper or a post, or is set aside with a reason; every post that is a review becomes a `Review` too.
A published record becomes a paper with its reviews and posts, unless OpenReview's own note of that paper is held.
"""

from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter

import msgspec

from peercorpus.forms import declared, re2, reviewbench, vocabulary
from peercorpus.forms.papers import read_paper
from peercorpus.forms.posts import read_post
from peercorpus.forms.reviews import read_review
from peercorpus.forms.speakers import read_remarks, read_speakers
from peercorpus.forms.venue import VenueReader, read_venue
from peercorpus.kinds import PostKind, Reason
from peercorpus.openreview.objects import Note, read_edit, read_note, tail_of
from peercorpus.published.datasets import Dataset, dataset_of
from peercorpus.raw import Kind, RawObject
from peercorpus.stage import Balance, Options, Report, Stage
from peercorpus.tables import Replacement
from peercorpus.venues import catalogue
from peercorpus.workspace import Workspace

NAME = "normalise"
WRITES = ("1-papers", "2-reviews", "3-posts")
PUBLISHED = {Dataset.REVIEWBENCH: reviewbench.read_record, Dataset.RE2_REVIEWS: re2.read_record}
"""What reads the datasets that papers are made of, the one with more columns first."""
LEFT_OF_PUBLISHED = frozenset({Reason.SUPERSEDED, Reason.RECORD_UNREADABLE})
"""Why published records are set aside, and nothing else."""


@dataclass(slots=True)
class Forum:
    """All that is held of one forum: its notes, and the readable edits and earlier versions of each."""

    forum_id: str
    notes: list[Note] = field(default_factory=list)
    edits: dict[str, list[Note]] = field(default_factory=dict)
    earlier: dict[str, list[Note]] = field(default_factory=dict)
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    published: list[RawObject] = field(default_factory=list)

    def add(self, found: RawObject) -> None:
        """Take in one raw object; an edit that is deleted or not public tells nothing."""
        if found.kind is Kind.PUBLISHED:
            self.published.append(found)
            return
        try:
            edit = _read_edit(found)
            if edit is not None and edit.is_public and edit.ddate is None:
                self.edits.setdefault(found.subject_id, []).append(edit)
            if found.kind is Kind.NOTE:
                note = read_note(found.body)
                if note.id == found.object_id:
                    self.notes.append(note)
                else:
                    self.unreadable.append((found.object_id, "It came without an id."))
        except msgspec.ValidationError as error:
            if found.kind is Kind.NOTE:
                self.unreadable.append((found.object_id, str(error)))

    def add_earlier(self, found: RawObject) -> None:
        """Take in a version that a later one replaced; only a note's tells anything, as far as everyone may read it."""
        if found.kind is not Kind.NOTE:
            return
        with suppress(msgspec.ValidationError):
            note = read_note(found.body)
            if note.is_public and note.ddate is None:
                self.earlier.setdefault(found.object_id, []).append(note)


def _read_edit(found: RawObject) -> Note | None:
    """A reference, or an API v2 edit as the partial note it is, with the edit's own times and readers."""
    if found.kind is not Kind.EDIT:
        return read_note(found.body) if found.kind is Kind.REFERENCE else None
    edit = read_edit(found.body)
    note = edit.note
    note.tcdate, note.tmdate, note.readers, note.ddate = edit.tcdate, edit.tmdate, edit.readers, edit.ddate
    return note


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
    if note.id in gone and note.ddate is None:
        return Reason.NO_LONGER_SHOWN, "A later listing of its venue did not hold it any more."
    if note.id == note.forum and not note.is_public:
        return Reason.NOT_PUBLIC, "The submission is not readable by everyone."
    if note.id == note.forum and note.ddate is not None:
        return Reason.DELETED, "OpenReview marks the submission as deleted."
    return None


def normalise_published(forum: Forum, *, is_held: bool, out: Replacement) -> None:
    """Write the paper, reviews and posts of one published record of a forum; the others are set aside.

    Args:
        forum: All that is held of it.
        is_held: Whether OpenReview's own note of the paper is held, public or not: then no record counts.
        out: What is written.
    """
    instead = "OpenReview's own notes" if is_held else None
    for dataset, read_record in PUBLISHED.items():
        for found in (found for found in forum.published if dataset_of(found.object_id) is dataset):
            if instead is not None:
                out.set_aside(found.object_id, forum.forum_id, Reason.SUPERSEDED, f"The paper is made of {instead}.")
                continue
            try:
                reading = read_record(found)
            except msgspec.DecodeError as error:
                out.set_aside(found.object_id, forum.forum_id, Reason.RECORD_UNREADABLE, str(error))
                continue
            instead = f"the record '{found.object_id}'"
            for record in (reading.paper, *reading.reviews, *reading.posts):
                out.add(record)


def normalise_forum(forum: Forum, reader: VenueReader, pseudonym: Callable[[str], str], out: Replacement) -> None:
    """Write one forum's paper, reviews and posts."""
    root, replies = _sort_out(forum, reader.gone, out)
    if root is None:
        return
    kinds = [(reader.words.kind(tail_of(note.created_by)), note) for note in replies]
    speakers = read_speakers(root, replies, reader.words, pseudonym)
    remarks = read_remarks(kinds, speakers)
    shown = [(kind, note) for kind, note in kinds if note.ddate is None and note.is_public]
    out.add(read_paper(root, reader.venue_id, shown, reader.words))
    for kind, note in kinds:
        speaker, review = speakers[note.id or ""], None
        if kind is PostKind.REVIEW:
            edits, earlier = (held.get(note.id or "", ()) for held in (forum.edits, forum.earlier))
            said = remarks.get(speaker[1], ())
            review = read_review(note, reader.venue_id, speaker[1], reader.form_of(note), edits, earlier, said)
            out.add(review)
        out.add(read_post(note, reader.venue_id, kind, speaker, review))


def forums(workspace: Workspace, venue_id: str) -> Iterator[Forum]:
    """A venue's forums, one at a time, in order of their id."""
    kinds = (Kind.NOTE, Kind.REFERENCE, Kind.EDIT, Kind.PUBLISHED)
    for forum_id, objects in workspace.raw.by_forum(kinds, venue_id, earlier=True):
        forum = Forum(forum_id)
        for _, versions in groupby(objects, key=attrgetter("kind", "object_id")):
            *earlier, latest = versions
            for found in earlier:
                forum.add_earlier(found)
            forum.add(latest)
        yield forum


def run(workspace: Workspace, venue_id: str, _: Options, key: str, report: Report) -> None:
    """Read every note of a venue."""
    reader, total = read_venue(workspace, venue_id), workspace.raw.count_forums(venue_id)
    held = workspace.raw.roots(venue_id)
    with workspace.tables.replacing(WRITES, venue_id, NAME, key) as out:
        for done, forum in enumerate(forums(workspace, venue_id), 1):
            normalise_forum(forum, reader, workspace.raw.pseudonyms.of, out)
            normalise_published(forum, is_held=forum.forum_id in held, out=out)
            report(done, total)


def balance(workspace: Workspace, venue_id: str) -> Sequence[Balance]:
    """Notes = papers + posts + set aside; the same of published records; and posts that are reviews = reviews."""
    raw, tables = workspace.raw, workspace.tables
    held = raw.roots(venue_id)
    forum_ids = [row for batch in tables.batches("1-papers", venue_id, ["forum_id"]) for row in batch[0].to_pylist()]
    papers = sum(forum_id in held for forum_id in forum_ids)
    posts = reviews_in = 0
    for batch in tables.batches("3-posts", venue_id, ["kind", "invitation"]):
        kinds, invitations = (column.to_pylist() for column in batch.columns)
        reviews_in += sum(kind == PostKind.REVIEW for kind in kinds)
        posts += sum(invitation != "" for invitation in invitations)
    left = tables.set_aside_counts(venue_id, NAME)
    of_notes = {reason: number for reason, number in left.items() if reason not in LEFT_OF_PUBLISHED}
    of_records = {reason: number for reason, number in left.items() if reason in LEFT_OF_PUBLISHED}
    records = sum(raw.count(Kind.PUBLISHED, venue_id, dataset.prefix) for dataset in PUBLISHED)
    published = Balance("read published", venue_id, "records", records, len(forum_ids) - papers, of_records)
    return (
        Balance(NAME, venue_id, "notes", raw.count(Kind.NOTE, venue_id), papers + posts, of_notes),
        *((published,) if published.rows_in or published.rows_out or of_records else ()),
        Balance("read reviews", venue_id, "review posts", reviews_in, tables.count("2-reviews", venue_id), {}),
    )


STAGE = Stage(
    NAME,
    8,
    ("pseudonyms", Kind.NOTE, Kind.REFERENCE, Kind.EDIT, Kind.INVITATION, Kind.GROUP, Kind.PUBLISHED),
    (),
    WRITES,
    (),
    run,
    balance,
    made_with=lambda _: f"{vocabulary.DIGEST} {declared.DIGEST} {catalogue.DIGEST}",
)

"""Run the stage that reads a venue's raw notes as papers, reviews and posts, and separately as reviews by an AI.

Every note and every published record ends up in a table or is set aside with a reason; `balance` proves it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter

import msgspec

from peercorpus.execution.stage import ALL_FORUMS, Balance, ForumRange, ProgressCallback, RunRange, Stage, run_whole
from peercorpus.forms import declared_forms, directions, published_records, re2_records, reviewbench_records, vocabulary
from peercorpus.forms.ai_reviews import find_signer, read_ai_review, split_threads
from peercorpus.forms.at_decision import changed_together
from peercorpus.forms.forum_replies import (
    count_unseen,
    is_removed,
    is_unnamed_review,
    kind_of_reply,
    removed_comments_digest,
)
from peercorpus.forms.merge_records import Merged, Reading, merge_readings
from peercorpus.forms.papers import read_paper
from peercorpus.forms.posts import (
    read_addressees,
    read_answers_of_chair,
    read_own_notes,
    read_post,
    read_remarks,
    read_speakers,
)
from peercorpus.forms.reply_kinds import KindOfReply, find_repeated, find_small_forms, learn_roles
from peercorpus.forms.reviews import read_review
from peercorpus.forms.venue_forms import VenueReader, own_reading_digest, read_venue
from peercorpus.forms.vocabulary import VenueVocabulary
from peercorpus.importers.datasets import READERS
from peercorpus.openreview.objects import (
    Header,
    Note,
    decode_leniently,
    read_stored_edit,
    read_stored_note,
    stated_venues,
)
from peercorpus.openreview.response_body import explain_unreadable
from peercorpus.records.datasets import Dataset, drop_number, find_stated_split, parse_dataset
from peercorpus.records.enums import PaperSource, PostKind, Reason, Role, VenueSource
from peercorpus.records.papers import Paper, StatedSplit
from peercorpus.records.reviews import Post
from peercorpus.venues import ai_reviews, catalogue
from peercorpus.venues.venue_names import venue_of_file
from peercorpus.workspace.delta_tables import Replacement, Tables
from peercorpus.workspace.raw_store import UNPLACED, RawKind, RawObject
from peercorpus.workspace.workspace import Workspace

NAME = "normalise"
WRITES = ("1-papers", "2-ai-reviews", "2-reviews", "3-posts")
PUBLISHED = {
    Dataset.REVIEWBENCH: reviewbench_records.read_reviewbench_record,
    Dataset.RE2_REVIEWS: re2_records.read_re2_record,
    **dict.fromkeys(READERS, published_records.read_stated_record),
}
"""Reader for each dataset from which papers are made."""
_PUBLISHED_REASONS = frozenset({Reason.SUPERSEDED, Reason.RECORD_UNREADABLE})
"""Reasons that apply to published records only."""
_NOT_OF_NOTES = _PUBLISHED_REASONS | {Reason.NOT_MATCHED, Reason.NOT_JSON}
"""The same, and the reasons that apply only to reviews and posts of published records, or to invalid JSON."""


@dataclass(slots=True)
class RawForum:
    """The raw objects of one forum: its notes, and the readable edits and earlier versions of each.

    Attributes:
        sources: Files and requests that the notes came from.
        opened: Number of notes that count as public because nothing in their dump names readers.
        partly: The readable fields of the notes in `unreadable`.
    """

    forum_id: str
    notes: list[Note] = field(default_factory=list)
    edits: dict[str, list[Note]] = field(default_factory=dict)
    earlier: dict[str, list[Note]] = field(default_factory=dict)
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    published: list[RawObject] = field(default_factory=list)
    sources: set[str] = field(default_factory=set)
    opened: int = 0
    partly: list[Note] = field(default_factory=list)

    def add(self, raw_object: RawObject) -> None:
        """Add one raw object; edits that are deleted or not public are ignored."""
        if raw_object.kind is RawKind.PUBLISHED:
            self.published.append(raw_object)
            return
        if raw_object.kind is RawKind.NOTE:
            self._add_note(raw_object)
            return
        with suppress(msgspec.ValidationError):
            edit = _read_edit(raw_object)
            if edit.is_public and edit.ddate is None:
                self.edits.setdefault(raw_object.subject_id, []).append(edit)

    def _add_note(self, raw_object: RawObject) -> None:
        self.sources.add(raw_object.origin)
        try:
            note = read_stored_note(raw_object)
        except msgspec.ValidationError as error:
            self.unreadable.append((raw_object.object_id, str(error)))
            self.partly.append(decode_leniently(Note, raw_object.body))
            return
        if note.id == raw_object.object_id:
            self.notes.append(note)
            self.opened += raw_object.is_open
        else:
            self.unreadable.append((raw_object.object_id, "It was received without an id."))

    def add_earlier(self, raw_object: RawObject) -> None:
        """Add a version replaced by a later one; only public, undeleted versions of notes are used."""
        if raw_object.kind is not RawKind.NOTE:
            return
        with suppress(msgspec.ValidationError):
            note = read_stored_note(raw_object)
            if note.is_public and note.ddate is None:
                self.earlier.setdefault(raw_object.object_id, []).append(note)


def _read_edit(raw_object: RawObject) -> Note:
    """Return a reference, or the partial note of an API v2 edit with the edit's own times, readers and signatures."""
    if raw_object.kind is RawKind.REFERENCE:
        return read_stored_note(raw_object)
    edit = read_stored_edit(raw_object)
    note = edit.note
    note.tcdate, note.tmdate, note.ddate = edit.tcdate, edit.tmdate, edit.ddate
    note.readers, note.nonreaders = edit.readers, edit.nonreaders
    note.signatures, note.invitations = edit.signatures, [edit.invitation] if edit.invitation else None
    return note


def _find_kinds(
    notes: Iterable[Note], reader: VenueReader
) -> tuple[list[tuple[PostKind | None, Note]], VenueVocabulary]:
    kinds = [(None if note.id == note.forum else kind_of_reply(note, reader, reader.words), note) for note in notes]
    words = learn_roles(kinds, reader.words)
    if words is not reader.words:
        # A post of a kind that is not known may become a comment once its signer's role is.
        kinds = [(kind_of_reply(note, reader, words) if kind is PostKind.OTHER else kind, note) for kind, note in kinds]
    return find_small_forms(kinds, words), words


def _sort_out(
    forum: RawForum, reader: VenueReader, out: Replacement
) -> tuple[Note | None, list[KindOfReply], VenueVocabulary]:
    """Return the root note, the readable replies in time order with their kinds, and the vocabulary to read them."""
    for note_id, problem in forum.unreadable:
        out.set_aside(note_id, forum.forum_id or None, Reason.UNREADABLE, problem)
    root: Note | None = None
    replies: list[KindOfReply] = []
    kinds, words = _find_kinds(forum.notes, reader)
    for kind, note in kinds:
        refusal = _find_refusal(note, kind, reader)
        if refusal:
            out.set_aside(note.id or "", note.forum, *refusal)
        elif kind is None:
            root = note
        else:
            replies.append((kind, note))
    return root, sorted(replies, key=lambda reply: (reply[1].created_ms or 0, reply[1].id or "")), words


def _find_refusal(note: Note, kind: PostKind | None, reader: VenueReader) -> tuple[Reason, str] | None:
    """Return why a note is set aside, or None; `kind` is None for a root, and for a reply of unknown kind."""
    is_root = note.id == note.forum
    if not note.forum:
        return Reason.NO_FORUM, "The note names no forum."
    if reader.venue_id == UNPLACED:
        return Reason.NO_VENUE, "The notes of its forum name no venue, or several; import it again with --venue."
    if not note.created_by and (note.replyto is not None if is_root else kind is None):
        return Reason.NO_INVITATION, "The note names no invitation, and its content is not that of a review."
    if note.id in reader.unconfirmed and note.ddate is None:
        return Reason.NOT_LISTED_SINCE, "raw.db was repaired; the next harvest of its venue shows whether it is there."
    if note.id in reader.gone and note.ddate is None:
        return Reason.NO_LONGER_SHOWN, "A later listing of its venue no longer contains it."
    if is_removed(note, reader.venue_id, reader.words, reader.raw):
        return (
            Reason.REMOVED_BY_VENUE,
            "The venue removed public comments of these days; harvest it to get those that remain.",
        )
    if is_root and not note.is_public:
        why = "names no readers" if note.readers is None else "is not readable by everyone"
        return Reason.NOT_PUBLIC, f"The submission {why}."
    if is_root and note.ddate is not None:
        return Reason.DELETED, "OpenReview marks the submission as deleted."
    return None


def _stand_for_root(forum_id: str, replies: Sequence[KindOfReply], reader: VenueReader) -> Note | None:
    """Return an empty note in place of a submission that was never seen; None if there is no readable review."""
    if not any(kind is PostKind.REVIEW and note.is_public and note.ddate is None for kind, note in replies):
        return None
    is_of_v1 = all(note.is_of_v1 for _, note in replies)
    return Note(id=forum_id, forum=forum_id, domain=None if is_of_v1 else reader.venue_id)


def _find_venue_source(
    forum: RawForum, root: Note | None, replies: Sequence[KindOfReply], venue_id: str
) -> VenueSource:
    versions = [root, *forum.earlier.get(forum.forum_id, ())] if root else []
    if any(version.domain or version.created_by for version in versions):
        return VenueSource.NOTE
    notes = [note for _, note in replies] + versions
    if any(True for note in notes for _ in stated_venues(note)):
        return VenueSource.REPLIES
    is_in_a_name = any(venue_of_file(source) == venue_id for source in forum.sources)
    return VenueSource.FILE_NAME if is_in_a_name else VenueSource.IMPORT


def normalise_published(forum: RawForum, reader: VenueReader, *, is_held: bool, out: Replacement) -> bool:
    """Write a forum's published paper, reviews and posts; return whether any note or record provides the paper.

    For each dataset the first readable record is used, in the order of file names, then of content. Records of
    conversations or texts alone make a bare paper. `is_held` if OpenReview's own note supersedes all.
    """
    readings: dict[Dataset, Reading] = {}
    for raw_record in sorted(forum.published, key=lambda record: (record.source.rpartition(", ")[0], record.body)):
        dataset = parse_dataset(raw_record.object_id)
        if dataset not in PUBLISHED:
            continue
        record_id = drop_number(raw_record.object_id)
        instead = "OpenReview's own notes" if is_held else None
        if dataset in readings:
            instead = f"the record '{readings[dataset].record_id}'"
        if instead is not None:
            detail = f"The paper is read from {instead}."
            out.set_aside(record_id, forum.forum_id, Reason.SUPERSEDED, detail)
            continue
        read_record = PUBLISHED[dataset]
        try:
            content = read_record(raw_record._replace(object_id=record_id), reader.declared_form, reader.words)
        except msgspec.DecodeError as error:
            out.set_aside(record_id, forum.forum_id, Reason.RECORD_UNREADABLE, str(error))
        else:
            readings[dataset] = Reading(record_id, dataset, content)
    if readings:
        _write_merged(merge_readings(readings.values()), forum, out)
    elif not is_held and (bare := re2_records.read_bare_paper(forum.published, reader.words)) is not None:
        out.add(replace(bare, stated_splits=find_stated_splits(forum.published)))
        return True
    return is_held or bool(readings)


def _write_merged(merged: Merged, forum: RawForum, out: Replacement) -> None:
    paper = replace(merged.paper, stated_splits=find_stated_splits(forum.published))
    for record in (
        paper,
        *map(published_records.fill_first_scores, merged.reviews.values()),
        *read_addressees(merged.posts),
    ):
        out.add(record)
    for record_id, detail in merged.left:
        out.set_aside(record_id, forum.forum_id, Reason.NOT_MATCHED, detail)


def _explain_missing_root(forum: RawForum, reader: VenueReader) -> tuple[Reason, str]:
    root = next((note for note in forum.notes if note.id == note.forum), None)
    refusal = _find_refusal(root, None, reader) if root else None
    if refusal:
        reason, detail = refusal
        return Reason.FORUM_SET_ASIDE, f"Its submission is set aside ({reason}): {detail}"
    if forum.notes and not any(note.is_public for note in forum.notes):
        is_unnamed = all(note.readers is None for note in forum.notes)
        why = "name no readers, though others of their dump do" if is_unnamed else "are not readable by everyone"
        return Reason.NOT_PUBLIC, f"Its submission is not in the workspace, and the notes of its forum {why}."
    return Reason.FORUM_MISSING, "Its submission is not in the workspace, or not public; harvest or import it."


def find_stated_splits(records: Iterable[RawObject]) -> tuple[StatedSplit, ...]:
    """Return the splits to which the files of a paper's published records assign it, by task.

    A paper in the test split of one file is never used for training, whatever another file states.
    """
    found = (find_stated_split(parse_dataset(record.object_id), record.source) for record in records)
    by_task: dict[str, set[str]] = {}
    for task, split in filter(None, found):
        by_task.setdefault(task, set()).add(split)
    return tuple(
        StatedSplit(task, min(splits), max(splits) if len(splits) > 1 else None)
        for task, splits in sorted(by_task.items())
    )


def normalise_forum(
    forum: RawForum, reader: VenueReader, pseudonym: Callable[[str], str], out: Replacement, *, has_paper: bool
) -> None:
    """Write the paper, reviews and posts of one forum from OpenReview's own notes, and the reviews of an AI.

    The notes of an AI's review do not affect how other notes are read.
    """
    root, every_reply, words = _sort_out(forum, reader, out)
    replies, threads = split_threads(every_reply)
    stand_in = None if root or has_paper else _stand_for_root(forum.forum_id, replies, reader)
    top = root or stand_in
    if top is None:
        refusal = _explain_missing_root(forum, reader)
        for _, note in every_reply:
            out.set_aside(note.id or "", note.forum, *refusal)
        return
    notes = [note for _, note in replies] + [note for thread in threads for note in thread.notes]
    speakers = read_speakers(
        top,
        notes,
        words,
        pseudonym,
        venue_id=reader.venue_id,
        unnamed_reviews={note.id or "" for kind, note in replies if is_unnamed_review(kind, note, words)},
        of_ai={note.id or "" for note in notes if find_signer(note, reader.venue_id, reader.words)},
    )
    shown = [(kind, note) for kind, note in replies if note.ddate is None and note.is_public]
    paper = read_paper(top, reader.venue_id, shown, reader.words)
    source = PaperSource.NOTE if root else PaperSource.REPLIES
    venue_from = _find_venue_source(forum, root, replies, reader.venue_id)
    splits = find_stated_splits(forum.published)
    not_shown, deleted = count_unseen(forum.forum_id, [*forum.notes, *forum.partly], reader.gone)
    own = replace(paper, known_from=source, venue_from=venue_from, stated_splits=splits, readers_unstated=forum.opened)
    out.add(replace(own, replies_not_shown=not_shown, replies_deleted=deleted))
    _write_replies(forum, replies, speakers, reader, paper, out)
    for thread in threads:
        form = reader.ai_form_of(thread.review)
        out.add(read_ai_review(thread, reader.venue_id, form, speakers, reader.words))


def _write_replies(
    forum: RawForum,
    replies: Sequence[KindOfReply],
    speakers: Mapping[str, tuple[Role, str]],
    reader: VenueReader,
    paper: Paper,
    out: Replacement,
) -> None:
    remarks = read_remarks(replies, speakers)
    recommendations = read_own_notes(replies, speakers, PostKind.RECOMMENDATION)
    released = changed_together(note for _, note in replies)
    posts: list[Post] = []
    repeated = find_repeated(replies)
    for kind, note in replies:
        speaker = speakers[note.id or ""]
        review = None
        if kind is PostKind.REVIEW:
            review = read_review(
                note,
                reader.venue_id,
                speaker[1],
                reader.form_of(note),
                forum.edits.get(note.id or "", ()),
                forum.earlier.get(note.id or "", ()),
                remarks.get(speaker[1], ()),
                recommendations=recommendations.get(speaker[1], ()),
                decided_at=paper.decided_at,
                is_released=note.id in released,
                words=reader.words,
            )
            if note.id not in repeated:
                out.add(review)
        meta_review = None
        if kind in {PostKind.META_REVIEW, PostKind.DECISION}:
            meta_review = read_answers_of_chair(note, kind, reader.chairs_form_of(note), reader.words)
        posts.append(
            read_post(
                note,
                reader.venue_id,
                PostKind.COMMENT if note.id in repeated else kind,  # One review, which was posted twice.
                speaker,
                review,
                meta_review=meta_review,
                decided_at=paper.decided_at,
            )
        )
    for post in read_addressees(posts):
        out.add(post)


def forums(workspace: Workspace, venue_id: str, span: ForumRange = ALL_FORUMS) -> Iterator[RawForum]:
    """Yield a venue's forums one at a time, in order of their ids."""
    kinds = (RawKind.NOTE, RawKind.REFERENCE, RawKind.EDIT, RawKind.PUBLISHED)
    for forum_id, objects in workspace.raw.by_forum(kinds, venue_id, earlier=True, span=span):
        forum = RawForum(forum_id)
        for _, versions in groupby(objects, key=attrgetter("kind", "object_id")):
            *earlier, latest = _drop_moved(list(versions))
            for version in earlier:
                forum.add_earlier(version)
            forum.add(latest)
        yield forum


def _drop_moved(versions: list[RawObject]) -> list[RawObject]:
    """Return the versions of an object without those of a note that name another forum than the one it is in."""
    if len(versions) == 1 or versions[0].kind is not RawKind.NOTE:
        return versions
    stated = [decode_leniently(Header, version.body).forum for version in versions]
    agreeing = [version for version, forum_id in zip(versions, stated, strict=True) if forum_id == version.forum_id]
    return agreeing or versions


def normalise_whole(
    forum: RawForum, reader: VenueReader, root_ids: Set[str], pseudonym: Callable[[str], str], out: Replacement
) -> None:
    """Write the rows of one forum, from its notes and from published records."""
    is_held = forum.forum_id in root_ids
    is_told = normalise_published(forum, reader, is_held=is_held, out=out)
    normalise_forum(forum, reader, pseudonym, out, has_paper=is_held or is_told)


def begin(workspace: Workspace, venue_id: str, key: str) -> RunRange:
    """Return the function that reads every note of a range of a venue's forums and writes their rows."""
    raw = workspace.raw
    reader = read_venue(workspace, venue_id)
    root_ids = raw.roots(venue_id)

    def run_range(span: ForumRange, report: ProgressCallback) -> None:
        total = raw.count_forums(venue_id, span)
        with workspace.tables.replacing(WRITES, venue_id, NAME, key, span.number) as out:
            for done, forum in enumerate(forums(workspace, venue_id, span), 1):
                normalise_whole(forum, reader, root_ids, raw.pseudonyms.of, out)
                report(done, total)
            for kept in raw.latest(RawKind.UNREADABLE, venue_id) if span.is_last else ():
                out.set_aside(kept.object_id, kept.forum_id or None, Reason.NOT_JSON, explain_unreadable(kept.body))

    return run_range


run = run_whole(begin)


def balance(workspace: Workspace, venue_id: str) -> Sequence[Balance]:
    """Return the balances of notes, of invalid JSON, of published records and of reviews.

    Notes = papers read from a note + posts + reviews by an AI with their replies + set aside; published records = those
    that papers were read from + set aside; posts of these records = posts + those that two records have + set aside;
    review posts = reviews. A paper known only from its replies is not counted as a note.
    """
    raw, tables = workspace.raw, workspace.tables
    made_of: Counter[str] = Counter()
    of_record_ids: set[str] = set()
    records_used = 0
    for forum_id, known_from, record_ids in tables.rows("1-papers", venue_id, ["forum_id", "known_from", "records"]):
        made_of[known_from] += 1
        records_used += len(record_ids)
        if known_from == PaperSource.RECORD:
            of_record_ids.add(forum_id)
    posts = reviews_in = posts_of_records = 0
    for kind, forum_id in tables.rows("3-posts", venue_id, ["kind", "forum_id"]):
        reviews_in += kind == PostKind.REVIEW
        is_of_record = forum_id in of_record_ids
        posts_of_records += is_of_record
        posts += not is_of_record
    of_ai = sum(1 + len(replies) for (replies,) in tables.rows("2-ai-reviews", venue_id, ["replies"]))
    left = tables.set_aside_counts(venue_id, NAME)
    of_notes = {reason: number for reason, number in left.items() if reason not in _NOT_OF_NOTES}
    of_records = {reason: number for reason, number in left.items() if reason in _PUBLISHED_REASONS}
    records = sum(raw.count(RawKind.PUBLISHED, venue_id, dataset.prefix) for dataset in PUBLISHED)
    published = Balance(
        "read published", venue_id, "records", rows_in=records, rows_out=records_used, set_aside=of_records
    )
    notes = raw.count(RawKind.NOTE, venue_id)
    reviews = tables.count("2-reviews", venue_id)
    used = made_of[PaperSource.NOTE] + posts + of_ai
    return (
        Balance(NAME, venue_id, "notes", rows_in=notes, rows_out=used, set_aside=of_notes),
        *_balance_unreadable(venue_id, raw.count(RawKind.UNREADABLE, venue_id), left.get(Reason.NOT_JSON, 0)),
        *((published,) if published.rows_in or published.rows_out or of_records else ()),
        *_balance_merging(tables, venue_id, posts_of_records, left.get(Reason.NOT_MATCHED, 0)),
        Balance("read reviews", venue_id, "review posts", rows_in=reviews_in, rows_out=reviews, set_aside={}),
    )


def _balance_unreadable(venue_id: str, number: int, left: int) -> Iterator[Balance]:
    if number or left:
        aside = {Reason.NOT_JSON: left} if left else {}
        yield Balance("read objects", venue_id, "objects", rows_in=number, rows_out=0, set_aside=aside)


def _balance_merging(tables: Tables, venue_id: str, posts: int, left: int) -> Iterator[Balance]:
    """Yield the balance of the posts of published records, if there are any."""
    stated = merged = 0
    for posts_stated, merged_posts in tables.rows("1-papers", venue_id, ["posts_stated", "merged_posts"]):
        stated += posts_stated
        merged += len(merged_posts)
    if stated or posts or left:
        aside = {Reason.NOT_MATCHED: left} if left else {}
        yield Balance(
            "merge records", venue_id, "posts of records", rows_in=stated, rows_out=posts + merged, set_aside=aside
        )


STAGE = Stage(
    name=NAME,
    doing="reading notes",
    version=18,
    reads_raw=(
        "pseudonyms",
        RawKind.NOTE,
        RawKind.REFERENCE,
        RawKind.EDIT,
        RawKind.INVITATION,
        RawKind.GROUP,
        RawKind.PUBLISHED,
        RawKind.UNREADABLE,
    ),
    reads=(),
    writes=WRITES,
    options=(),
    run=run,
    balance=balance,
    begin=begin,
    made_with=lambda _: " ".join(
        (vocabulary.DIGEST, directions.DIGEST, declared_forms.digest(), catalogue.NAMES_DIGEST, ai_reviews.DIGEST)
    ),
    made_with_venue=lambda workspace, venue_id: (
        own_reading_digest(workspace, venue_id) + removed_comments_digest(venue_id, workspace.raw)
    ),
)

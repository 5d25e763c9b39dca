"""Count the objects, papers and PDFs of a venue in `raw.db` and the tables, and those missing.

`take_inventory` counts raw objects, `read_coverage` papers, reviews and posts, `read_pdf_coverage` PDFs.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any

import zstandard

from peercorpus.harvest.submissions import CHANGES, List, read_lists
from peercorpus.harvest.venue_edits import TASK
from peercorpus.openreview.objects import to_time
from peercorpus.openreview.raw_rows import find_unreadable
from peercorpus.openreview.venue_discovery import CLOSED_LISTS
from peercorpus.records.enums import Aspect, Grade, Reason, Status, Unseen
from peercorpus.records.papers import find_unseen
from peercorpus.workspace.delta_tables import Tables
from peercorpus.workspace.harvest_state import UNKNOWN_MS
from peercorpus.workspace.raw_store import RawStore

EXAMPLES = 3
"""Number of examples given for each kind."""

LARGE_BYTES = 1_000_000
"""Notes with more JSON than this are listed."""

ID_CHARACTERS = 64
"""Longer ids are listed; OpenReview's own have about ten characters."""

FRAME_HEADER_BYTES = 18
"""Longest header of a zstd frame, which contains the decompressed size (RFC 8878, 3.1.1.1)."""

NOTES = "FROM asked CROSS JOIN objects INDEXED BY objects_by_forum USING (venue_id) WHERE kind = 'note'"


@dataclass(frozen=True, slots=True)
class NamedExamples:
    """A count, with the first few examples verbatim."""

    count: int
    examples: Sequence[str]


@dataclass(frozen=True, slots=True)
class Inventory:
    """The raw objects of a venue, and what is missing.

    Attributes:
        is_listed: Whether its lists were read completely; None if it was never harvested.
        last_seen_at: When a list last showed one of its submissions, or changes were last requested; None if neither
            happened or the clock was wrong.
        unconfirmed: Notes whose presence the next complete listing will confirm or refute.
        files_not_had: Files that could not be fetched, by cause; a path counts once.
        edits_not_had: Notes whose edits could not be fetched, by cause.
        odd_ids: Notes with ids that are too long or contain characters other than letters, digits, `-` and `_`.
        unreadable: Notes and other objects whose latest version is not valid JSON.
    """

    api: int | None
    is_listed: bool | None
    lists: Sequence[List]
    last_seen_at: datetime | None
    gone: int
    unconfirmed: int
    files_not_had: Mapping[str, int]
    edits_left: int
    edits_not_had: Mapping[str, int]
    odd_ids: NamedExamples
    large_notes: NamedExamples
    unreadable: NamedExamples

    @property
    def received(self) -> int:
        """Return the number of submissions that its lists contained."""
        return sum(submissions.received for submissions in self.lists)

    @property
    def expected(self) -> int | None:
        """Return the number of submissions that OpenReview announced, or None unless it did so for every list."""
        counts = [submissions.expected for submissions in self.lists if submissions.expected is not None]
        return sum(counts) if counts and len(counts) == len(self.lists) else None


def take_inventory(raw: RawStore, venue_id: str) -> Inventory:
    """Count the raw objects of a venue."""
    first_api = (
        "SELECT venue_id, (SELECT api FROM objects WHERE objects.venue_id = asked.venue_id AND kind = 'note' LIMIT 1)"
        " FROM asked"
    )
    causes = (
        "SELECT venue_id, problem, count(DISTINCT path) FROM asked CROSS JOIN files USING (venue_id)"
        " WHERE problem IS NOT NULL GROUP BY venue_id, problem"
    )
    refused = (
        "SELECT venue_id, problem, count(*) FROM asked CROSS JOIN queue USING (venue_id)"
        " WHERE task = ? AND done AND problem IS NOT NULL GROUP BY venue_id, problem"
    )
    odd = f"{NOTES} AND (object_id GLOB '*[^A-Za-z0-9_-]*' OR length(object_id) NOT BETWEEN 1 AND {ID_CHARACTERS})"
    odd_ids = raw.questions.rows(f"SELECT DISTINCT venue_id, object_id {odd}", venue_id)
    headers = raw.questions.rows(f"SELECT venue_id, object_id, substr(body, 1, {FRAME_HEADER_BYTES}) {NOTES}", venue_id)
    ask = partial(raw.questions.rows, is_short=True)
    ((api,),) = ask(first_api, venue_id)
    lists = read_lists(raw, venue_id)
    if lists and api == 1:
        lists += _find_never_asked(venue_id, lists)
    is_listed = raw.state.is_listed(venue_id)
    unconfirmed = raw.state.unconfirmed(venue_id)
    return Inventory(
        api=api,
        is_listed=is_listed and all(held.is_complete for held in lists),
        lists=lists,
        last_seen_at=_read_last_seen(raw, venue_id),
        gone=len(raw.state.gone(venue_id) - unconfirmed),
        unconfirmed=len(unconfirmed),
        files_not_had=dict(ask(causes, venue_id)),
        edits_left=len(raw.state.pending(venue_id, TASK)),
        edits_not_had=dict(ask(refused, venue_id, TASK)),
        odd_ids=_name_examples(note_id for (note_id,) in odd_ids),
        large_notes=_name_examples(
            note_id for note_id, header in headers if zstandard.frame_content_size(header) > LARGE_BYTES
        ),
        unreadable=_name_examples(find_unreadable(raw, venue_id)),
    )


def _find_never_asked(venue_id: str, lists: Sequence[List]) -> Iterator[List]:
    """Yield the lists that every API v1 venue may have and that an earlier version of peercorpus did not request."""
    asked = {held.invitation for held in lists}
    for invitation in (f"{venue_id}/-/{name}" for name in CLOSED_LISTS):
        if invitation not in asked:
            yield List(invitation, received=0, expected=None, is_complete=False)


def _read_last_seen(raw: RawStore, venue_id: str) -> datetime | None:
    sql = (
        "SELECT venue_id, max(own.shown_ms) FROM asked"
        " CROSS JOIN objects AS note INDEXED BY objects_by_forum USING (venue_id)"
        " CROSS JOIN sightings AS own USING (object_id)"
        " WHERE note.kind = 'note' AND note.forum_id = note.object_id GROUP BY venue_id"
    )
    shown_ms = next((shown_ms for (shown_ms,) in raw.questions.rows(sql, venue_id)), None)
    # A wrong clock may have stored a time outside the calendar.
    with suppress(ValueError, OverflowError):
        shown_ms = shown_ms if shown_ms and shown_ms > UNKNOWN_MS else 0
        return to_time(max(shown_ms, raw.state.listing(venue_id, CHANGES).started_ms) or None)
    return None


def _name_examples(ids: Iterable[str]) -> NamedExamples:
    found = sorted(set(ids))
    return NamedExamples(len(found), found[:EXAMPLES])


NORMALISE = "normalise"
"""Name of the stage that sets notes aside."""

ODD_TITLE = re.compile(r"<[A-Za-z/!][^<>]*>|\.\.[/\\]|^/|^[A-Za-z]:\\|^\s*$")
"""Titles that are markup, a path or blank."""

UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and those that change the writing direction."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Counts from a venue's notes.

    Attributes:
        papers: By status.
        without_reviews: Papers with no review that is public and not deleted, by status.
        reviews: Reviews that are public and not deleted.
        without_rating: Those of them without a numeric recommendation.
        dangling_replies: Replies to a note that is missing or deleted.
        deleted: Notes that OpenReview marks as deleted.
        not_public: Notes that are not public, but visible to the account or in a dump.
        listed_twice: Titles of papers that occur more than once.
        odd_titles: Titles that are markup, a path or blank, or contain control characters.
        conflicts: Differences between two published records of a paper, by field.
        ai_reviews: Reviews that an AI wrote or may have written; not included in `reviews`.
        readers_unstated: Notes that name no readers and count as public because nothing in their dump names any.
        unseen: Papers by whether replies are known to be unseen.
        replies_not_shown: Replies proven to exist and never seen.
        replies_deleted: Replies seen and since deleted, or no longer shown.
    """

    papers: Mapping[Status, int]
    without_reviews: Mapping[Status, int]
    reviews: int
    without_rating: int
    dangling_replies: int
    deleted: int
    not_public: int
    listed_twice: NamedExamples
    odd_titles: NamedExamples
    conflicts: Mapping[str, int]
    ai_reviews: int = 0
    readers_unstated: int = 0
    unseen: Mapping[Unseen, int] = field(default_factory=dict)
    replies_not_shown: int = 0
    replies_deleted: int = 0


@dataclass(frozen=True, slots=True)
class PdfCoverage:
    """Counts of a venue's PDFs.

    Attributes:
        known: PDFs named by submissions and their edits.
        grades: Papers by the best grade of a version, a PDF or a published text.
        without_deadline: Papers with a PDF but no known deadline.
    """

    papers: int
    known: int
    here: int
    never_asked: int
    grades: Mapping[Grade, int]
    without_deadline: int


def read_statuses(tables: Tables, venue_id: str) -> dict[str, Status]:
    """Return the status of each paper, by forum id; no entries if the table does not exist.

    Raises:
        ValueError: The table has a status that this version does not know.
    """
    return {forum_id: Status(status) for forum_id, status in tables.rows("1-papers", venue_id, ["forum_id", "status"])}


def read_coverage(tables: Tables, venue_id: str, statuses: Mapping[str, Status]) -> Coverage:
    """Count papers, reviews and posts of a venue, given the status of each paper by forum id."""
    forums, reviews, without_rating = _read_reviews(tables, venue_id)
    dangling, deleted, not_public = _read_posts(tables, venue_id)
    bare = Counter(status for forum_id, status in statuses.items() if forum_id not in forums)
    aside = tables.set_aside_counts(venue_id, NORMALISE)
    twice, odd = _read_titles(tables, venue_id)
    return Coverage(
        papers=dict(sorted(Counter(statuses.values()).items())),
        without_reviews=dict(sorted(bare.items())),
        reviews=reviews,
        without_rating=without_rating,
        dangling_replies=dangling,
        deleted=deleted + aside.get(Reason.DELETED, 0),
        not_public=not_public + aside.get(Reason.NOT_PUBLIC, 0),
        listed_twice=twice,
        odd_titles=odd,
        conflicts=_read_conflicts(tables, venue_id),
        ai_reviews=tables.count("2-ai-reviews", venue_id),
        **_read_unseen(tables, venue_id),
    )


def _read_unseen(tables: Tables, venue_id: str) -> dict[str, Any]:
    """Return the counts of `Coverage` for notes without readers and for unseen replies."""
    unstated = not_shown = deleted = 0
    papers: Counter[Unseen] = Counter()
    columns = ["readers_unstated", "replies_not_shown", "replies_deleted"]
    for own_unstated, own_not_shown, own_deleted in tables.rows("1-papers", venue_id, columns):
        unstated += own_unstated
        not_shown += own_not_shown or 0
        deleted += own_deleted
        papers[find_unseen(own_not_shown, own_deleted)] += 1
    return {
        "readers_unstated": unstated,
        "unseen": dict(sorted(papers.items())),
        "replies_not_shown": not_shown,
        "replies_deleted": deleted,
    }


def _read_conflicts(tables: Tables, venue_id: str) -> dict[str, int]:
    """Count differences between two published records of a paper by field, over all reviewers."""
    rows = tables.rows("1-papers", venue_id, ["conflicts"])
    fields = (conflict["field"] for (conflicts,) in rows for conflict in conflicts or ())
    return dict(sorted(Counter(name.rpartition(" of ")[0] or name for name in fields).items()))


def _read_reviews(tables: Tables, venue_id: str) -> tuple[set[str], int, int]:
    """Return the forums with public reviews that are not deleted, how many these are, and how many without a rating."""
    forums: set[str] = set()
    count = without_rating = 0
    columns = ["forum_id", "readers_public", "deleted", "scores"]
    for forum_id, is_public, is_deleted, scores in tables.rows("2-reviews", venue_id, columns):
        if is_public and not is_deleted:
            forums.add(forum_id)
            count += 1
            without_rating += not any(
                score["aspect"] == Aspect.RECOMMENDATION and score["value"] is not None for score in scores
            )
    return forums, count, without_rating


def _read_posts(tables: Tables, venue_id: str) -> tuple[int, int, int]:
    """Count posts that dangle, are deleted, or not public, one forum at a time, by which the table is sorted."""
    dangling = deleted = not_public = 0
    rows = tables.rows("3-posts", venue_id, ["forum_id", "post_id", "reply_to", "deleted", "readers_public"])
    for _, group in groupby(rows, key=itemgetter(0)):
        posts = list(group)
        present_ids = {post_id for _, post_id, _, is_deleted, _ in posts if not is_deleted}
        answered = (reply_to for _, _, reply_to, is_deleted, _ in posts if not is_deleted and reply_to is not None)
        dangling += sum(reply_to not in present_ids for reply_to in answered)
        deleted += len(posts) - len(present_ids)
        not_public += sum(not is_public for *_, is_public in posts)
    return dangling, deleted, not_public


MIN_TITLE_WORDS = 3


def _read_titles(tables: Tables, venue_id: str) -> tuple[NamedExamples, NamedExamples]:
    """Return the titles of papers that share title and number (or else authors) with another, and the odd titles."""
    papers: Counter[tuple[str, object]] = Counter()
    odd: list[str] = []
    for title, number, authors in tables.rows("1-papers", venue_id, ["title", "number", "authors"]):
        if title is None:
            continue
        # A short title alone, such as "Withdrawn", does not identify a paper.
        if number is not None or authors or len(title.split()) >= MIN_TITLE_WORDS:
            papers[" ".join(title.split()).casefold(), tuple(authors) if number is None else number] += 1
        if ODD_TITLE.search(title) or UNPRINTABLE.search(title):
            odd.append(title)
    twice = [title for (title, _), count in papers.items() for _ in range(count - 1)]
    return NamedExamples(len(twice), sorted(set(twice))[:EXAMPLES]), NamedExamples(len(odd), sorted(odd)[:EXAMPLES])


def read_pdf_coverage(tables: Tables, venue_id: str, asked: frozenset[str]) -> PdfCoverage:
    """Count a venue's PDFs.

    `asked` are paths of files that were requested but could not be fetched.
    """
    best: dict[str, Grade] = {}
    papers: set[str] = set()
    undated: set[str] = set()
    known = here = never_asked = 0
    columns = ["forum_id", "path", "sha256", "grade", "evidence"]
    for forum_id, path, sha256, grade, evidence in tables.rows("4-versions", venue_id, columns):
        if grade is not None:
            best[forum_id] = min(Grade(grade), best.get(forum_id, Grade(grade)), key=attrgetter("rank"))
        if not path.startswith("/"):
            # A text from a published dataset, not a PDF.
            continue
        papers.add(forum_id)
        known += 1
        here += sha256 is not None
        never_asked += sha256 is None and path not in asked
        if evidence["deadline"] is None:
            undated.add(forum_id)
    grades = Counter(best.values())
    in_order = {grade: grades[grade] for grade in Grade if grades[grade]}
    return PdfCoverage(
        papers=len(papers),
        known=known,
        here=here,
        never_asked=never_asked,
        grades=in_order,
        without_deadline=len(undated),
    )

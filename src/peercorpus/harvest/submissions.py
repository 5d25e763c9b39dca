"""Fetch submissions and replies page by page; later only the changes."""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from peercorpus.errors import BusyError, EmptyVenueError, NotGivenError, NotJsonError, SignInError, SourceError
from peercorpus.execution.progress import Meter
from peercorpus.harvest.session import VenueSession
from peercorpus.openreview.listing import (
    LARGEST_PAGE,
    ListPage,
    count_notes,
    count_submissions,
    fetch_changes,
    fetch_submissions,
    read_list,
)
from peercorpus.openreview.objects import Note, decode_leniently, invitation_name
from peercorpus.openreview.raw_rows import build_setting, receive, split_replies
from peercorpus.openreview.response_body import find_first_item
from peercorpus.openreview.venue_discovery import is_closed_list
from peercorpus.records.enums import Role
from peercorpus.venues.committees import find_committee, find_named_role, find_role, read_group
from peercorpus.workspace.harvest_state import Listing
from peercorpus.workspace.raw_store import RawKind, RawObject, RawStore

REVIEW_FORM = "review form"
"""Name of the listing whose completion records that the review form was requested."""
AGAIN = " (again)"
"""Suffix of the listing that records a second reading of a list whose count changed while it was read."""


CLOSED = "closed lists"
"""Name of the queue for lists of withdrawn and desk-rejected papers, which records those refused and the reason."""


@dataclass(frozen=True, slots=True)
class List:
    """One list of submissions, and how much of it is stored.

    Attributes:
        expected: Number of submissions that OpenReview announced; None if it did not.
    """

    invitation: str
    received: int
    expected: int | None
    is_complete: bool
    problem: str | None = None

    @property
    def differs(self) -> bool:
        """Whether the number received differs from the one announced, although the list was read to the end."""
        return self.is_complete and self.expected not in {None, self.received}


def read_lists(raw: RawStore, venue_id: str) -> list[List]:
    """Return the lists of a venue's submissions, in the order of their names."""
    # Only the names of lists look like invitations.
    sql = """
        SELECT listings.venue_id, listing, received, expected, complete, queue.problem
        FROM asked
        CROSS JOIN listings ON listings.venue_id = asked.venue_id
        LEFT JOIN queue ON task = ? AND subject_id = listing
        WHERE listing GLOB '*/-/*' AND listing NOT GLOB '* *'
        ORDER BY listing
    """
    return [
        List(invitation=name, received=received, expected=expected, is_complete=bool(done), problem=problem)
        for name, received, expected, done, problem in raw.questions.rows(sql, venue_id, CLOSED)
    ]


def store_settings(session: VenueSession) -> None:
    """Store the venue's group and its own invitations, with their forms and deadlines."""
    source, group = session.profile.group
    rows = [receive(group, session.origin(source), partial(build_setting, RawKind.GROUP))]
    for url, body in session.profile.invitations:
        rows.append(receive(body, session.origin(url), partial(build_setting, RawKind.INVITATION)))
    with session.raw.transaction():
        session.raw.add(rows)


def harvest_submissions(session: VenueSession) -> None:
    """Fetch the missing parts of every list of the venue.

    Raises:
        EmptyVenueError: OpenReview shows no submission of the venue, and the workspace has none from earlier.
    """
    _store_open_lists(session)
    meter = session.meter(
        "listing submissions", _count_received(session), _count_total(session), "/notes", LARGEST_PAGE
    )
    for invitation in session.profile.lists:
        most = None if session.limit is None else max(0, session.limit - _count_received(session))
        if not session.raw.state.listing(session.venue_id, invitation).complete and most != 0:
            if is_closed_list(invitation):
                _read_closed_list(session, invitation, meter, most)
            else:
                _read_list(session, invitation, invitation, meter, most)
    if session.raw.state.is_listed(session.venue_id):
        with session.raw.transaction():
            session.raw.state.settle(session.venue_id)
    if not _count_received(session) and not session.raw.state.was_shown(session.venue_id):
        with session.raw.transaction():
            session.raw.state.forget_listings(session.venue_id)
        raise EmptyVenueError(
            f"'{session.venue_id}' shows no public submission; check the id, and whether its papers are public."
        )


def _read_list(session: VenueSession, invitation: str, name: str, meter: Meter, most: int | None) -> None:
    """Read a list to the end and count it again; if notes were added or removed meanwhile, read it once more."""
    state = session.raw.state.listing(session.venue_id, name)
    is_last = state.expected is not None and 0 < state.expected <= state.received
    for page in () if is_last else fetch_submissions(session.client, session.api, invitation, state, most=most):
        _store_page(session, name, page)
        is_last = page.is_last
        if name == invitation and page.items:
            meter.advance(len(page.items), _count_total(session))
        del page  # The next page is received only after this one has left memory.
    if is_last:
        _finish_list(session, invitation, name, meter)


def _read_closed_list(session: VenueSession, invitation: str, meter: Meter, most: int | None) -> None:
    """Read a list of withdrawn or desk-rejected papers; a refusal by OpenReview is recorded."""
    problem = None
    try:
        _read_list(session, invitation, invitation, meter, most)
    except NotGivenError as error:
        problem = error.reason
    state = session.raw.state
    with session.raw.transaction():
        state.enqueue(session.venue_id, CLOSED, [invitation])
        state.mark_done(CLOSED, invitation, problem)
        if problem is not None:
            listing = state.listing(session.venue_id, invitation)
            state.set_listing(session.venue_id, invitation, replace(listing, complete=True))


def _finish_list(session: VenueSession, invitation: str, name: str, meter: Meter) -> None:
    there_are = count_submissions(session.client, session.api, invitation)
    state = session.raw.state.listing(session.venue_id, name)
    is_first_reading = name == invitation
    if is_first_reading and there_are is not None and there_are != state.received:
        _read_list(session, invitation, f"{invitation}{AGAIN}", meter, None)
        return
    final = replace(state, expected=state.expected if there_are is None else there_are, complete=True)
    began = session.raw.state.listing(session.venue_id, invitation).started_ms
    with session.raw.transaction():
        session.raw.state.forget_listings(session.venue_id, f"{invitation}{AGAIN}")
        session.raw.state.set_listing(session.venue_id, invitation, replace(final, started_ms=began))


def _read_listings(session: VenueSession) -> list[Listing]:
    return [session.raw.state.listing(session.venue_id, invitation) for invitation in session.profile.lists]


def _count_received(session: VenueSession) -> int:
    return sum(state.received for state in _read_listings(session))


def _count_total(session: VenueSession) -> int | None:
    """Return the number of submissions to list; None until OpenReview has announced it for every list."""
    counts = [state.expected for state in _read_listings(session) if state.expected is not None]
    there_are = sum(counts) if len(counts) == len(session.profile.lists) else None
    return there_are if session.limit is None else min(session.limit, there_are or session.limit)


def _store_open_lists(session: VenueSession) -> None:
    """Store the names of all lists to read, so that one not yet begun counts as incomplete."""
    with session.raw.transaction():
        for invitation in session.profile.lists:
            session.raw.state.set_listing(
                session.venue_id, invitation, session.raw.state.listing(session.venue_id, invitation)
            )


def _store_page(session: VenueSession, name: str, page: ListPage) -> None:
    before = session.raw.state.listing(session.venue_id, name)
    shown_ms = session.moment_ms()
    received = before.received + page.new
    ids: list[str] = []
    with session.raw.transaction():
        session.raw.add(_note_ids(_build_rows(session, page), ids))
        session.raw.state.sight(ids, shown_ms)
        state = Listing(page.after, received, page.expected, complete=False, started_ms=before.started_ms or shown_ms)
        session.raw.state.set_listing(session.venue_id, name, state)


def _note_ids(rows: Iterator[RawObject], ids: list[str]) -> Iterator[RawObject]:
    """Yield rows, and add their ids to a list, so that only a batch of a page's rows is in memory."""
    for row in rows:
        ids.append(row.object_id)
        yield row


def _build_rows(session: VenueSession, page: ListPage) -> Iterator[RawObject]:
    origin = session.origin(page.source)
    for item in page.items:
        submission, replies = split_replies(item)
        root = receive(submission, origin)
        yield root
        for reply in replies:
            row = receive(reply, origin)
            # An unreadable reply may not name its forum, but its submission is known.
            yield row._replace(forum_id=row.forum_id or root.object_id) if row.kind is RawKind.UNREADABLE else row
    for reply in page.replies:
        yield receive(reply, origin)


def store_review_form(session: VenueSession) -> None:
    """Fetch the review invitation of one paper, if the venue shows none for all papers."""
    raw, name = session.raw, session.venue_id
    is_known = session.api == 2 and session.profile.has_review_form
    if is_known or raw.state.listing(name, REVIEW_FORM).complete:
        return
    invitation_id = _first_review_invitation(session)
    if invitation_id is None:
        return
    rows: list[RawObject] = []
    try:
        answer = session.client.get_json(session.api, "/invitations", {"id": invitation_id, "expired": "true"})
        origin = session.origin(answer.source)
        build = partial(build_setting, RawKind.INVITATION)
        rows = [receive(item, origin, build) for item in read_list(answer, "invitations")]
    except NotJsonError as error:
        rows = [receive(find_first_item(error.body, "invitations"), session.origin(error.source))]
    except NotGivenError:
        # In that case the form is inferred from the reviews themselves.
        rows = []
    with raw.transaction():
        raw.add(rows)
        raw.state.set_listing(name, REVIEW_FORM, Listing(invitation_id, len(rows), None, complete=True))


def _first_review_invitation(session: VenueSession) -> str | None:
    """Return the invitation of the first review, preferably of the first list; None if there is no review.

    Thus a limited harvest picks the same invitation as a full one.
    """
    fallbacks: list[str] = []
    for forum_id, notes in session.raw.by_forum((RawKind.NOTE,), session.venue_id):
        decoded = {note.object_id: decode_leniently(Note, note.body) for note in notes}
        reviews = [note.created_by for note in decoded.values() if note.created_by and is_review(session, note)]
        root = decoded.get(forum_id)
        if reviews and root is not None and root.created_by == session.profile.lists[0]:
            return reviews[0]
        fallbacks += reviews[:1]
    return fallbacks[0] if fallbacks else None


_SCORE = re.compile(r"\s*[-+]?\d+(?:\.\d+)?\b.{0,200}")
"""Matches an answer that is a number, perhaps with its label."""


def is_review(session: VenueSession, note: Note) -> bool:
    """Return whether a note is a review: by its invitation, or by its place, its signer and an answer with a number.

    API v1 used `official/review` in 2017. A member of an unknown committee counts as a reviewer: a history too many
    costs a request, one too few loses scores.
    """
    tail = invitation_name(note.created_by).replace("/", "_").lower()
    roles, names = read_group(session.profile.group[1])
    if tail in {session.profile.review_name.lower(), "official_review", *names}:
        return True
    if note.id == note.forum or note.replyto not in {None, note.forum}:
        return False
    signature = (note.signatures or [""])[0]
    signer = signature.rpartition("/")[2]
    role = find_named_role(signer, roles)
    role = find_role(signer) if role is Role.UNKNOWN else role
    is_member = role is Role.REVIEWER or (role is Role.UNKNOWN and find_committee(signature) is not None)
    return is_member and any(
        (isinstance(answer, int | float) and not isinstance(answer, bool))
        or (isinstance(answer, str) and _SCORE.fullmatch(answer) is not None)
        for answer in note.fields.values()
    )


CHANGES = "changes"
"""Name of the listing that records this step; its `expected` is the total number of notes shown."""

OVERLAP_MS = 3 * 3_600_000
"""How much further back changes are requested: a note may have changed during a listing that took hours."""


@dataclass(slots=True)
class _ReceivedIds:
    """Ids of the notes received.

    Attributes:
        gone: Notes that had vanished before; one that is shown again counts as new.
        roots: Submissions that no listing showed before.
        replies: Replies that no listing showed before.
        deleted: Notes that were shown before and are now deleted.
        strangers: Notes that are in no list of the venue; it is unknown whether they were counted before.
    """

    gone: frozenset[str]

    shown: set[str] = field(default_factory=set)
    roots: set[str] = field(default_factory=set)
    replies: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    strangers: set[str] = field(default_factory=set)


def harvest_changes(session: VenueSession) -> None:
    """Fetch new, changed and deleted notes of a venue whose lists were read to the end before.

    Requests everything modified since, then the deleted notes, then the total number of notes. The lists are read again
    if the latest stored note is not in the response (OpenReview then does not support this query), if a submission is
    new, if a note is in no list, or if the number shows that notes vanished.

    Raises:
        EmptyVenueError: As `harvest_submissions`.
    """
    began_ms = session.moment_ms()
    there_are = _take_changes(session)
    if there_are is None:
        with session.raw.transaction():
            session.raw.state.forget_listings(session.venue_id)
        harvest_submissions(session)
        there_are = _count_shown(session)
    with session.raw.transaction():
        state = Listing(None, 0, there_are, complete=True, started_ms=began_ms)
        session.raw.state.set_listing(session.venue_id, CHANGES, state)


def _take_changes(session: VenueSession) -> int | None:
    """Store the changed notes and return the number of all notes; None if the lists must be read again."""
    newest = session.raw.state.newest_shown(session.venue_id)
    seen = _ReceivedIds(frozenset(session.raw.state.gone(session.venue_id)))
    newest_ms = newest[1] if newest else 0
    before = session.raw.state.listing(session.venue_id, CHANGES).expected
    before = session.raw.state.count_shown(session.venue_id) if before is None else before
    try:
        for rows in _fetch_changed(session, newest_ms, deleted=False):
            _take_page(session, rows, seen)
        with suppress(NotGivenError):
            # If deleted notes cannot be listed, the count still shows that some are missing.
            for rows in _fetch_changed(session, newest_ms, deleted=True):
                _take_page(session, rows, seen)
    except (BusyError, SignInError):
        raise
    except SourceError:
        return None
    there_are = _count_shown(session)
    with session.raw.transaction():
        # A submission counts as shown only together with all its replies: replies not shown with it are gone.
        session.raw.state.sight(seen.replies, session.moment_ms())
        session.raw.state.unsight(seen.deleted)
    is_answer = newest is not None and newest[0] in seen.shown | seen.deleted
    is_whole = there_are == before + len(seen.replies) - len(seen.deleted)
    return there_are if is_answer and is_whole and not seen.roots and not seen.strangers else None


def _count_shown(session: VenueSession) -> int | None:
    """Return the number of notes of the venue that are shown; None if OpenReview does not support this query."""
    try:
        return count_notes(session.client, session.api, session.venue_id)
    except (BusyError, SignInError):
        raise
    except SourceError:
        return None


def _fetch_changed(session: VenueSession, newest_ms: int, *, deleted: bool) -> Iterator[list[RawObject]]:
    """Yield pages of notes modified since the last harvest, by OpenReview's clock if that is known."""
    looked = session.raw.state.listing(session.venue_id, CHANGES).started_ms
    listed = (session.raw.state.listing(session.venue_id, name).started_ms for name in session.profile.lists)
    since_ms = max(0, min(newest_ms, looked or min(listed, default=0)) - OVERLAP_MS)
    for page in fetch_changes(session.client, session.api, session.venue_id, since_ms, deleted=deleted):
        yield [receive(item, session.origin(page.source)) for item in page.items]


def _take_page(session: VenueSession, rows: list[RawObject], seen: _ReceivedIds) -> None:
    kept = []
    for row in rows:
        note = decode_leniently(Note, row.body)
        was_shown = row.object_id not in seen.gone and session.raw.state.shown_ms(row.object_id) > 0
        if note.ddate is not None:
            # OpenReview's documentation does not state whether it lists deleted notes alone or with all others.
            if was_shown:
                kept.append(row)
                seen.deleted.add(row.object_id)
        elif was_shown or _is_listed(session, row, note):
            kept.append(row)
            seen.shown.add(row.object_id)
            if not was_shown:
                (seen.roots if row.object_id == row.forum_id else seen.replies).add(row.object_id)
        else:
            seen.strangers.add(row.object_id)
    with session.raw.transaction():
        session.raw.add(kept)


def _is_listed(session: VenueSession, row: RawObject, note: Note) -> bool:
    """Return whether the lists of the venue show a note: one of their submissions, or a reply to one."""
    if row.object_id != row.forum_id:
        return session.raw.state.shown_ms(row.forum_id) > 0
    return not {note.invitation, *(note.invitations or ())}.isdisjoint(session.profile.lists)

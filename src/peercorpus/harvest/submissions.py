"""Submissions and replies of a venue, page by page; each page is stored together with how far the listing has come."""

from collections.abc import Iterator
from dataclasses import replace

from peercorpus.errands import Listing
from peercorpus.errors import EmptyVenueError, NotGivenError
from peercorpus.harvest.rows import build_note, build_setting, split_replies
from peercorpus.harvest.visit import Visit
from peercorpus.openreview.listing import (
    PAGE_WITH_REPLIES,
    Page,
    Start,
    count_submissions,
    fetch_submissions,
    items_of,
)
from peercorpus.openreview.objects import Note, salvage, tail_of
from peercorpus.progress import Meter
from peercorpus.raw import Kind, RawObject

REVIEW_FORM = "review form"
AGAIN = " (again)"
"""Marks the second reading of a list whose count changed while it was read."""


def store_settings(visit: Visit) -> None:
    """Store the venue's group and its own invitations, with their forms and deadlines."""
    source, group = visit.profile.group
    rows = [build_setting(Kind.GROUP, group, visit.origin(source))]
    for at, body in visit.profile.invitations:
        rows.append(build_setting(Kind.INVITATION, body, visit.origin(at)))
    with visit.raw.transaction():
        visit.raw.add(rows)


def harvest_submissions(visit: Visit) -> None:
    """Fetch what is missing of every list of the venue.

    Raises:
        EmptyVenueError: OpenReview shows no submission of it, and never showed one here.
    """
    _begin(visit)
    meter = visit.meter("listing", _received(visit), _total(visit), "/notes", PAGE_WITH_REPLIES)
    for invitation in visit.profile.lists:
        most = _left(visit)
        if not visit.raw.listing(visit.venue_id, invitation).complete and most != 0:
            _read_list(visit, invitation, invitation, meter, most)
    if not _received(visit) and not visit.raw.was_shown(visit.venue_id):
        with visit.raw.transaction():
            visit.raw.forget_listings(visit.venue_id)
        raise EmptyVenueError(
            f"'{visit.venue_id}' shows no public submission; check the id, or whether the venue has opened its papers."
        )


def _read_list(visit: Visit, invitation: str, name: str, meter: Meter, most: int | None) -> None:
    """Read a list to its end and count it once more; where something came or went meanwhile, read it again, once.

    Args:
        visit: The venue.
        invitation: The list.
        name: What its state is kept under: its own id, or for the second reading that and a word.
        meter: Shows how far it is.
        most: So many submissions only; None: all.
    """
    state = visit.raw.listing(visit.venue_id, name)
    is_last = state.expected is not None and 0 < state.expected <= state.received
    start = Start(state.after, state.received, state.expected)
    for page in () if is_last else fetch_submissions(visit.client, visit.api, invitation, start, most=most):
        _store(visit, name, page)
        is_last = page.is_last
        if name == invitation and page.items:
            meter.advance(len(page.items), _total(visit))
    if is_last:
        _end_list(visit, invitation, name, meter)


def _end_list(visit: Visit, invitation: str, name: str, meter: Meter) -> None:
    there_are = count_submissions(visit.client, visit.api, invitation)
    state = visit.raw.listing(visit.venue_id, name)
    is_first_reading = name == invitation
    if is_first_reading and there_are is not None and there_are != state.received:
        _read_list(visit, invitation, f"{invitation}{AGAIN}", meter, None)
        return
    final = replace(state, expected=state.expected if there_are is None else there_are, complete=True)
    began = visit.raw.listing(visit.venue_id, invitation).started_ms
    with visit.raw.transaction():
        visit.raw.forget_listings(visit.venue_id, f"{invitation}{AGAIN}")
        visit.raw.set_listing(visit.venue_id, invitation, replace(final, started_ms=began))


def _states(visit: Visit) -> list[Listing]:
    return [visit.raw.listing(visit.venue_id, invitation) for invitation in visit.profile.lists]


def _received(visit: Visit) -> int:
    return sum(state.received for state in _states(visit))


def _total(visit: Visit) -> int | None:
    """How many submissions there are to list; None until OpenReview has said so for every list."""
    counts = [state.expected for state in _states(visit) if state.expected is not None]
    there_are = sum(counts) if len(counts) == len(visit.profile.lists) else None
    return there_are if visit.limit is None else min(visit.limit, there_are or visit.limit)


def _begin(visit: Visit) -> None:
    """Write down every list there is to read, so that one not begun yet counts as not read."""
    with visit.raw.transaction():
        for invitation in visit.profile.lists:
            visit.raw.set_listing(visit.venue_id, invitation, visit.raw.listing(visit.venue_id, invitation))


def _left(visit: Visit) -> int | None:
    """How many submissions the limit still allows; None where there is none."""
    if visit.limit is None:
        return None
    return max(0, visit.limit - _received(visit))


def _store(visit: Visit, name: str, page: Page) -> None:
    before, shown_ms = visit.raw.listing(visit.venue_id, name), visit.moment_ms()
    received = before.received + page.new
    with visit.raw.transaction():
        rows = list(_rows(visit, page))
        visit.raw.add(rows)
        visit.raw.sight((row.object_id for row in rows), shown_ms)
        state = Listing(page.after, received, page.expected, complete=False, started_ms=before.started_ms or shown_ms)
        visit.raw.set_listing(visit.venue_id, name, state)


def _rows(visit: Visit, page: Page) -> Iterator[RawObject]:
    origin = visit.origin(page.source)
    for item in page.items:
        submission, replies = split_replies(item)
        yield build_note(submission, origin)
        for reply in replies:
            yield build_note(reply, origin)


def store_review_form(visit: Visit) -> None:
    """Fetch the review invitation of one paper, where the venue shows none for all of them."""
    raw, name = visit.raw, visit.venue_id
    is_known = visit.api == 2 and visit.profile.has_review_form
    if is_known or raw.listing(name, REVIEW_FORM).complete:
        return
    invitation_id = _first_review_invitation(visit)
    if invitation_id is None:
        return
    rows: list[RawObject] = []
    try:
        answer = visit.client.get_json(visit.api, "/invitations", {"id": invitation_id, "expired": "true"})
        origin = visit.origin(answer.source)
        rows = [build_setting(Kind.INVITATION, bytes(item), origin) for item in items_of(answer, "invitations")]
    except NotGivenError:
        # The form is then inferred from the reviews themselves.
        rows = []
    with raw.transaction():
        raw.add(rows)
        raw.set_listing(name, REVIEW_FORM, Listing(invitation_id, len(rows), None, complete=True))


def _first_review_invitation(visit: Visit) -> str | None:
    """The invitation of the first review of the first list, so that a limited harvest picks the same as a whole one."""
    others: list[str] = []
    for forum_id, found in visit.raw.by_forum((Kind.NOTE,), visit.venue_id):
        created_by = {one.object_id: salvage(Note, one.body).created_by for one in found}
        reviews = [invitation for invitation in created_by.values() if is_review(visit, invitation)]
        if reviews and created_by.get(forum_id) == visit.profile.lists[0]:
            return reviews[0]
        others += reviews[:1]
    return others[0] if others else None


def is_review(visit: Visit, invitation: str) -> bool:
    """Whether an invitation asks for a review; API v1 wrote `official/review` in 2017."""
    tail = tail_of(invitation).replace("/", "_").lower()
    return tail in {visit.profile.review_name.lower(), "official_review"}

"""Iterate over the paged lists of either API: submissions, changed notes, references, edits."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import msgspec

from peercorpus.errors import BusyError, NotGivenError, SignInError, SourceError, TooLargeError, UnreachableError
from peercorpus.openreview.client import Client, JsonAnswer, Params
from peercorpus.openreview.objects import Note, decode_leniently
from peercorpus.openreview.response_body import UNREADABLE, is_list, read_items, split_items, split_members

LARGEST_PAGE = 1000
EDITS = "/notes/edits"
LATEST_FIRST = "tmdate:desc"
PAGE_WITH_REPLIES = 200
"""Submissions per page when their replies are included: 1,000 forums are some 100 MB."""

FEWEST_IN_A_PAGE = 8
"""Smallest page that is tried before submissions are requested singly, and how many are then requested singly."""

MOST_NOTES = 10**9
"""Counts above this are ignored as wrong."""


class _Identified(msgspec.Struct):
    id: str = ""


@dataclass(frozen=True, slots=True)
class ListPage:
    """One page of a list.

    Attributes:
        source: The request URL.
        items: The objects as received.
        after: The last id received, on this page or before it.
        expected: The count OpenReview gave for the whole list; None if it gave none.
        is_last: Whether the list ends here.
        new: Number of items that were on no earlier page.
    """

    source: str
    items: list[msgspec.Raw]
    after: str | None
    expected: int | None
    is_last: bool
    new: int = 0


@dataclass(frozen=True, slots=True)
class Start:
    """Where to continue a list.

    Attributes:
        after: The last id received before; None starts at the beginning.
        received: Number of items received before.
        expected: The count OpenReview gave before; None if it gave none.
    """

    after: str | None = None
    received: int = 0
    expected: int | None = None


def fetch_submissions(
    client: Client, api: int, invitation: str, start: Start = Start(), *, most: int | None = None
) -> Iterator[ListPage]:
    """Yield the submissions of one invitation with all their replies, ordered by id.

    A service that ignores `after`, and so repeats the first page, is read by `offset` instead. A note may then come
    twice, if others were inserted before it meanwhile.

    Args:
        client: Client to ask.
        api: 1 or 2.
        invitation: The invitation whose submissions are listed.
        start: Where to continue.
        most: Maximum number of submissions; None means all.

    Raises:
        SourceError: OpenReview repeats the same page.
    """
    left = most
    largest = PAGE_WITH_REPLIES
    singly = 0
    seen = set[str]()
    by_offset = start.after is not None and _ignores_after(client, api, invitation, start.after)
    while left is None or left > 0:
        size = 1 if singly else min(largest, left or largest)
        page, came_in = _fetch_page(client, api, invitation, start, size, by_offset=by_offset)
        if came_in < size:
            largest = max(came_in, FEWEST_IN_A_PAGE)
            singly = FEWEST_IN_A_PAGE if came_in == 1 else 0
        singly = max(0, singly - 1)
        ids = {object_id(item) for item in page.items}
        if ids and (ids <= seen or (start.after in ids and not by_offset)):
            if by_offset:
                raise UnreachableError(f"OpenReview keeps returning the same page of '{invitation}'; try again later.")
            by_offset = True
            continue
        page = replace(page, new=len(ids - seen))
        yield page
        if page.is_last:
            return
        seen |= ids
        start = Start(page.after, start.received + page.new, page.expected)
        left = None if left is None else left - page.new


def _ignores_after(client: Client, api: int, invitation: str, after: str) -> bool:
    """Return whether a list begins with the same note wherever it is continued."""
    first: Params = {"invitation": invitation, "sort": "id", "limit": 1}
    answers = [client.get_json(api, "/notes", params) for params in (first, {**first, "after": after})]
    begins, goes_on = ([object_id(item) for item in read_list(answer, "notes")] for answer in answers)
    return begins == goes_on != []


def _fetch_page(
    client: Client, api: int, invitation: str, start: Start, size: int, *, by_offset: bool
) -> tuple[ListPage, int]:
    """Return a page, and the page size that was requested in the end."""
    params: dict[str, str | int] = {"invitation": invitation, "details": "replies", "sort": "id"}
    if by_offset:
        params["offset"] = start.received
    elif start.after is not None:
        params["after"] = start.after
    elif api == 2:
        params["count"] = "true"
    answer, size = _get_in_parts(client, api, params, size)
    items = read_list(answer, "notes")
    expected = start.expected if start.after is not None else _read_count(answer)
    received = start.received + len(items)
    # A page may be short because the service left out what this account may not read; a count may be out of date.
    is_short = len(items) < size
    ends = not items or received == expected or (is_short and (expected is None or received > expected))
    after = next(filter(None, map(object_id, reversed(items))), start.after)
    return ListPage(source=answer.source, items=items, after=after, expected=expected, is_last=ends), size


def _get_in_parts(client: Client, api: int, params: Params, size: int) -> tuple[JsonAnswer, int]:
    """Return a page, smaller if a large one fails, and the size that was requested.

    Raises:
        BusyError: Not even a single submission and its replies can be fetched separately.
    """
    while True:
        try:
            return client.get_json(api, "/notes", {**params, "limit": size}), size
        except (BusyError, TooLargeError) as error:
            if getattr(error, "wait_s", None) is not None:
                raise  # A smaller page would have to wait as well.
            if size == 1:
                return _get_separately(client, api, params), 1
            size = max(FEWEST_IN_A_PAGE, size // 5) if size > FEWEST_IN_A_PAGE else 1


def _get_separately(client: Client, api: int, params: Params) -> JsonAnswer:
    """Fetch the next submission of a list and its replies separately, and combine them as one response."""
    bare = {name: value for name, value in params.items() if name != "details"}
    answer = client.get_json(api, "/notes", {**bare, "limit": 1})
    submissions: list[bytes] = []
    for submission in map(bytes, read_list(answer, "notes")):
        forum_id = object_id(submission)
        notes = [item for _, item in _fetch_rows(client, api, "/notes", {"forum": forum_id, "sort": "id"})]
        replies = [bytes(item) for item in notes if object_id(item) != forum_id]
        # Put together as text: one of them may not be JSON.
        members = [b"%s:%s" % (msgspec.json.encode(name), value) for name, value in split_members(submission)]
        members.append(b'"details":{"replies":[%s]}' % b",".join(replies))
        submissions.append(b"{%s}" % b",".join(members))
    return replace(answer, members={**answer.members, "notes": msgspec.Raw(b"[%s]" % b",".join(submissions))})


def count_submissions(client: Client, api: int, invitation: str) -> int | None:
    """Return the number of submissions of an invitation now; None if OpenReview does not say."""
    return _count(client, api, {"invitation": invitation})


def _count(client: Client, api: int, where: Params) -> int | None:
    """Return how long a list of notes is; None if OpenReview does not say."""
    return _read_count(_begin_counted(client, api, "/notes", where))


def _begin_counted(client: Client, api: int, path: str, where: Params) -> JsonAnswer:
    """Return the first row of a list, with its count where OpenReview gives one.

    OpenReview counts where `offset=0` and `count=true` come together (openreview-py#2745). As it is removing `offset`,
    `count=true` alone is tried where that is refused.
    """
    params: Params = {**where, "limit": 1, "count": "true"}
    try:
        return client.get_json(api, path, {**params, "offset": 0})
    except NotGivenError:
        return client.get_json(api, path, params)


def fetch_changes(
    client: Client, api: int, venue_id: str, since_ms: int, *, deleted: bool = False
) -> Iterator[ListPage]:
    """Yield every note of a venue modified since a time, latest first.

    OpenReview's API documentation says that notes can be listed by `domain` (v2) or by a prefix of their invitations
    (v1), and filtered by `mintmdate`. No other client is known to rely on it, so the caller must check the result.

    Args:
        client: Client to ask.
        api: 1 or 2.
        venue_id: The venue.
        since_ms: Milliseconds since the epoch by OpenReview's clock.
        deleted: List deleted notes instead.
    """
    where = {**_of_venue(api, venue_id), "sort": LATEST_FIRST, "mintmdate": since_ms}
    for answer, items, ends in fetch_pages(client, api, "/notes", where | ({"trash": "true"} if deleted else {})):
        # The latest come first, so nothing after an older one is wanted, even if the service ignores `mintmdate`.
        times_ms = (decode_leniently(Note, bytes(item)).modified_ms for item in reversed(items))
        is_last = ends or next(filter(None, times_ms), since_ms) < since_ms
        yield ListPage(source=answer.source, items=items, after=None, expected=_read_count(answer), is_last=is_last)
        if is_last:
            return


def _of_venue(api: int, venue_id: str) -> dict[str, str | int]:
    return {"domain": venue_id} if api == 2 else {"invitation": f"{venue_id}/.*"}


def count_notes(client: Client, api: int, venue_id: str) -> int | None:
    """Return the number of notes of a venue shown now, replies included; None if OpenReview does not say."""
    return _count(client, api, _of_venue(api, venue_id))


def find_notes(client: Client, api: int, note_ids: Sequence[str]) -> list[msgspec.Raw]:
    """Return the notes with these ids that are shown, at most 1,000.

    They are requested together, or one by one where OpenReview refuses that.
    """
    try:
        return read_list(client.post_json(api, "/notes/search", {"ids": list(note_ids)}), "notes")
    except (BusyError, SignInError):
        raise
    except SourceError:
        notes: list[msgspec.Raw] = []
        for note_id in note_ids:
            with suppress(NotGivenError):
                notes += read_list(client.get_json(api, "/notes", {"id": note_id}), "notes")
        return notes


def read_list(answer: JsonAnswer, key: str) -> list[msgspec.Raw]:
    """Return the objects of a list in a response, each as received; one of them may not be JSON.

    Raises:
        SourceError: The response has no such list.
    """
    rows = answer.members.get(key, msgspec.Raw(b""))
    try:
        return read_items(rows)
    except UNREADABLE:
        items = split_items(bytes(rows)) if is_list(rows) else None
    if items is None:
        raise UnreachableError(f"OpenReview's answer to {answer.source} holds no list of {key}.")
    return [msgspec.Raw(item) for item in items]


def _read_count(answer: JsonAnswer) -> int | None:
    try:
        count = msgspec.json.decode(answer.members["count"], type=int)
    except (KeyError, *UNREADABLE):
        return None
    return count if 0 <= count <= MOST_NOTES else None


def object_id(item: bytes | msgspec.Raw) -> str:
    """Return the id of an object as received; empty if it has none."""
    return decode_leniently(_Identified, bytes(item)).id


def fetch_references(client: Client, note_id: str) -> Iterator[tuple[str, msgspec.Raw]]:
    """Yield every API v1 reference to a note, with the request URL.

    Raises:
        NotGivenError: OpenReview repeats the same page.
    """
    return _fetch_rows(client, 1, "/references", {"referent": note_id, "original": "true", "sort": "id"})


def fetch_edits(client: Client, note_id: str) -> Iterator[tuple[str, msgspec.Raw]]:
    """Yield every API v2 edit of a note that this account may read, with the request URL.

    Raises:
        NotGivenError: OpenReview repeats the same page.
    """
    return _fetch_rows(client, 2, EDITS, {"note.id": note_id, "sort": "id"})


def fetch_venue_edits(client: Client, venue_id: str, start: Start = Start(), *, sort: str = "id") -> ListPage:
    """Return the next thousand of a venue's API v2 edits that this account may read.

    OpenReview documents `domain` for this list, and its own web pages use it (openreview-web, `ActivityList.js`). The
    caller must check that the service heeds `domain`, `sort` and `after`.

    Raises:
        NotGivenError: OpenReview refuses the list.
    """
    params: dict[str, str | int] = {"domain": venue_id, "sort": sort, "limit": LARGEST_PAGE}
    params |= {"count": "true"} if start.after is None else {"after": start.after}
    answer = client.get_json(2, EDITS, params)
    items = read_list(answer, "edits")
    expected = _read_count(answer) if start.after is None else start.expected
    after = next(filter(None, map(object_id, reversed(items))), None)
    # Without a count, a short page is the last one; a page without any new id leads nowhere.
    is_last = after in {None, start.after} or (expected is None and len(items) < LARGEST_PAGE)
    return ListPage(source=answer.source, items=items, after=after, expected=expected, is_last=is_last)


def probe_venue_edits(client: Client, venue_id: str) -> ListPage:
    """Return the API v2 edit of a venue that was modified last, and how many edits there are where OpenReview says.

    Raises:
        NotGivenError: OpenReview refuses the list.
    """
    answer = _begin_counted(client, 2, EDITS, {"domain": venue_id, "sort": LATEST_FIRST})
    items = read_list(answer, "edits")
    return ListPage(source=answer.source, items=items, after=None, expected=_read_count(answer), is_last=False)


def _fetch_rows(client: Client, api: int, path: str, where: Params) -> Iterator[tuple[str, msgspec.Raw]]:
    for answer, items, _ in fetch_pages(client, api, path, where):
        yield from ((answer.source, item) for item in items)


def fetch_pages(
    client: Client, api: int, path: str, where: Params
) -> Iterator[tuple[JsonAnswer, list[msgspec.Raw], bool]]:
    """Yield the pages of a list: the answer, its rows, and whether it is known to be the last.

    Each page is asked for by the last id of the page before. A service that refuses `after`, or ignores it and so
    begins anew, is asked by `offset` instead.

    Args:
        client: Client to ask.
        api: 1 or 2.
        path: Path of the list; its last part names the rows in the answer.
        where: What is listed, and in which order.

    Raises:
        NotGivenError: OpenReview refuses the list, or repeats the same page.
    """
    place: dict[str, str | int] = {"count": "true"} if api == 2 else {}
    seen: set[str] = set()
    received = 0
    expected: int | None = None
    while True:
        by_offset = "offset" in place
        try:
            answer = client.get_json(api, path, {**where, **place, "limit": LARGEST_PAGE})
        except NotGivenError:
            if not received or by_offset:
                raise
            place = {"offset": received}
            continue
        items = read_list(answer, path.rpartition("/")[2])
        ids = {object_id(item) for item in items}
        if seen and items and ids <= seen:
            if by_offset:
                raise NotGivenError(
                    f"OpenReview's answer to {answer.source} repeats the page before.", "the same page again"
                )
            place = {"offset": received}
            continue
        expected = expected if received and not by_offset else _read_count(answer)
        received += len(items)
        seen |= ids
        ends = not items or (len(items) < LARGEST_PAGE if expected is None else received >= expected)
        yield answer, items, ends
        if ends:
            return
        last = object_id(items[-1])
        place = {"after": last} if last and not by_offset else {"offset": received}

"""Iterate over the paged lists of either API: submissions, changed notes, references, edits."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import msgspec

from peercorpus.errors import (
    BusyError,
    NotGivenError,
    NotJsonError,
    SignInError,
    SourceError,
    TooLargeError,
    UnreachableError,
)
from peercorpus.openreview.client import Client, JsonAnswer, Params
from peercorpus.openreview.objects import Note, decode_leniently
from peercorpus.openreview.response_body import (
    UNREADABLE,
    find_first_item,
    is_list,
    read_items,
    split_items,
    split_members,
)
from peercorpus.workspace.harvest_state import NOT_BEGUN, Listing

LARGEST_PAGE = 1000
EDITS = "/notes/edits"
LATEST_FIRST = "tmdate:desc"
PAGE_WITH_REPLIES = 200
"""Submissions on the first page of a list whose replies are included."""
PAGE_BYTES = 32_000_000
"""Target size of later pages: 1,000 forums take about 100 MB at a large conference, 10 MB at a workshop."""

FEWEST_IN_A_PAGE = 8
"""Smallest page tried before submissions are requested one by one, and how many are then requested so."""

MOST_UNREADABLE = 10
"""Unreadable objects in a row after which the service, rather than the objects, counts as faulty."""

MOST_NOTES = 10**9
"""Larger counts are ignored as implausible."""


class _Identified(msgspec.Struct):
    id: str = ""


@dataclass(frozen=True, slots=True)
class ListPage:
    """One page of a list.

    Attributes:
        expected: OpenReview's count for the whole list; None if it stated none.
        size: Number of rows in the request that succeeded.
        after: The last id received, on this page or before it.
        new: Number of items that were on no earlier page.
        is_apart: Whether a submission and its replies came separately because they cannot be read together.
        replies: Replies to submissions whose text cannot be split into objects.
        unreadable: The only object of this page if it cannot be separated from its response; its item is then the rest
            of it.
    """

    source: str
    items: list[msgspec.Raw]
    expected: int | None
    size: int = LARGEST_PAGE
    after: str | None = None
    is_last: bool = False
    new: int = 0
    is_apart: bool = False
    replies: Sequence[msgspec.Raw] = ()
    unreadable: "_Unreadable | None" = None


@dataclass(frozen=True, slots=True)
class _Unreadable:
    """Why an object cannot be read, and a request for it once more."""

    error: NotJsonError
    ask_again: Callable[[], ListPage]


def fetch_submissions(
    client: Client, api: int, invitation: str, start: Listing = NOT_BEGUN, *, most: int | None = None
) -> Iterator[ListPage]:
    """Yield the submissions of one invitation with all their replies, ordered by id.

    If a service ignores `after`, and so repeats the first page, `offset` is used instead. A note may then come twice if
    others are inserted before it meanwhile.

    `most` limits the number of submissions.

    Raises:
        SourceError: OpenReview repeats the same page.
        NotJsonError: Several submissions in a row cannot be read.
    """
    return _check_readable(_fetch_submissions(client, api, invitation, start, most))


def _check_readable(pages: Iterator[ListPage]) -> Iterator[ListPage]:
    """Yield pages; unreadable objects are requested again after the others, since the service may have been faulty."""
    waiting: list[ListPage] = []
    for page in pages:
        if page.unreadable is None:
            yield from _ask_again(waiting)
            waiting.clear()
            yield page
            del page  # The next page is received only after this one has left memory.
        else:
            waiting.append(page)
            if len(waiting) >= MOST_UNREADABLE:
                raise page.unreadable.error
    yield from _ask_again(waiting)


def _ask_again(pages: Sequence[ListPage]) -> Iterator[ListPage]:
    for page in pages:
        if page.unreadable is not None:
            rows = page.unreadable.ask_again()
            yield replace(page, source=rows.source, items=rows.items, replies=rows.replies)


def _fetch_submissions(
    client: Client, api: int, invitation: str, start: Listing, most: int | None
) -> Iterator[ListPage]:
    left = most
    largest = PAGE_WITH_REPLIES
    ceiling = LARGEST_PAGE
    singly = 0
    seen = set[str]()
    by_offset = start.after is not None and _ignores_after(client, api, invitation, start.after)
    while left is None or left > 0:
        size = 1 if singly else min(largest, left or largest)
        page = _fetch_page(client, api, invitation, start, size, by_offset=by_offset)
        if page.is_apart:
            largest, ceiling, singly = PAGE_WITH_REPLIES, LARGEST_PAGE, 0
        elif page.size < size:
            largest = ceiling = max(page.size, FEWEST_IN_A_PAGE)
            singly = FEWEST_IN_A_PAGE if page.size == 1 else 0
        elif not singly:
            # At least half as many as were requested, with their replies, fit in a page.
            if len(page.items) >= FEWEST_IN_A_PAGE:
                size_bytes = sum(len(memoryview(item)) for item in page.items)
                largest = _fit(largest, len(page.items), size_bytes)
            largest = min(ceiling, largest)
        singly = max(0, singly - 1)
        names = [object_id(item) for item in page.items]
        ids = {name for name in names if name}
        if ids and (ids <= seen or (start.after in ids and not by_offset)):
            if by_offset:
                raise UnreachableError(f"OpenReview keeps returning the same page of '{invitation}'; try again later.")
            by_offset = True
            continue
        page = replace(page, new=len(ids - seen) + names.count(""))
        is_last = page.is_last
        start = replace(start, after=page.after, received=start.received + page.new, expected=page.expected)
        left = None if left is None else left - page.new
        yield page
        del page  # As in `_check_readable`.
        if is_last:
            return
        seen |= ids
        # A list cannot be continued after an object without an id.
        by_offset = by_offset or names[-1:] == [""]


def _fit(asked: int, number: int, size_bytes: int) -> int:
    return max(asked // 2, number * PAGE_BYTES // size_bytes)


def count_pages(submissions: int, forum_bytes: int) -> int:
    """Return the number of pages of a list whose submissions, with their replies, have this mean size.

    >>> count_pages(11_672, 65_000), count_pages(11_672, 1), count_pages(0, 65_000)
    (25, 13, 0)
    """
    pages, size = 0, PAGE_WITH_REPLIES
    while submissions > 0:
        pages += 1
        submissions -= size
        size = min(LARGEST_PAGE, _fit(size, 1, forum_bytes))
    return pages


def _ignores_after(client: Client, api: int, invitation: str, after: str) -> bool:
    """Return whether a list is known to begin with the same note whatever `after` says."""
    first: Params = {"invitation": invitation, "sort": "id", "limit": 1}
    try:
        answers = [client.get_json(api, "/notes", params) for params in (first, {**first, "after": after})]
    except NotJsonError:
        return False
    begins, goes_on = ([object_id(item) for item in read_list(answer, "notes")] for answer in answers)
    return begins == goes_on != []


def _fetch_page(client: Client, api: int, invitation: str, start: Listing, size: int, *, by_offset: bool) -> ListPage:
    params: dict[str, str | int] = {"invitation": invitation, "details": "replies", "sort": "id"}
    if by_offset:
        params["offset"] = start.received
    elif start.after is not None:
        params["after"] = start.after
    elif api == 2:
        params["count"] = "true"
    page = _get_in_parts(client, api, "/notes", params, size)
    items = page.items
    expected = start.expected if start.after is not None else page.expected
    received = start.received + len(items)
    # A page may be short because the service left out notes that this account may not read; a count may be out of date.
    is_short = len(items) < page.size
    ends = not items or received == expected or (is_short and (expected is None or received > expected))
    after = next(filter(None, map(object_id, reversed(items))), start.after)
    return replace(page, after=after, expected=expected, is_last=ends)


def _get_in_parts(client: Client, api: int, path: str, params: Params, size: int) -> ListPage:
    """Return a page of a list, smaller if a large one fails.

    If not even a single row can be read, the page contains what the response has of it.
    """
    while True:
        try:
            return _read_rows(client.get_json(api, path, {**params, "limit": size}), path, size)
        except (BusyError, TooLargeError) as error:
            if getattr(error, "wait_s", None) is not None:
                raise  # A smaller page would have to wait as well.
            if size == 1 and "details" in params:
                return replace(_get_separately(client, api, params), is_apart=isinstance(error, NotJsonError))
            if size == 1 and isinstance(error, NotJsonError):
                item = msgspec.Raw(find_first_item(error.body, _last_part(path)))
                again = partial(_get_in_parts, client, api, path, params, size)
                return ListPage(error.source, [item], None, size, unreadable=_Unreadable(error, again))
            if size == 1:
                raise
            size = max(FEWEST_IN_A_PAGE, size // 5) if size > FEWEST_IN_A_PAGE else 1


def _read_rows(answer: JsonAnswer, path: str, size: int) -> ListPage:
    return ListPage(answer.source, read_list(answer, _last_part(path)), _read_count(answer), size)


def _last_part(path: str) -> str:
    """Return the name of the list in the response to a path."""
    return path.rpartition("/")[2]


def _get_separately(client: Client, api: int, params: Params) -> ListPage:
    """Fetch the next submission of a list and its replies separately, and combine them as one row."""
    bare = {name: value for name, value in params.items() if name != "details"}
    rows = _get_in_parts(client, api, "/notes", bare, 1)
    if not rows.items:
        return rows
    submission = bytes(rows.items[0])
    forum_id = object_id(submission)
    pages = list(fetch_pages(client, api, "/notes", {"forum": forum_id, "sort": "id"})) if forum_id else []
    replies = [item for page in pages for item in page.items if object_id(item) != forum_id]
    if rows.unreadable is not None:
        again = partial(_get_in_parts, client, api, "/notes", params, 1)
        return replace(rows, replies=replies, unreadable=replace(rows.unreadable, ask_again=again))
    if any(page.unreadable for page in pages):
        return replace(rows, replies=replies)
    # Joined as text, because either may be invalid JSON.
    members = [b"%s:%s" % (msgspec.json.encode(name), value) for name, value in split_members(submission)]
    members.append(b'"details":{"replies":[%s]}' % b",".join(map(bytes, replies)))
    return replace(rows, items=[msgspec.Raw(b"{%s}" % b",".join(members))])


def count_submissions(client: Client, api: int, invitation: str) -> int | None:
    """Return the number of submissions of an invitation now; None if OpenReview does not state it."""
    return _count(client, api, {"invitation": invitation})


def _count(client: Client, api: int, where: Params) -> int | None:
    try:
        return _read_count(_begin_counted(client, api, "/notes", where))
    except NotJsonError:
        # The first note may be the unreadable one.
        return _read_count(_begin_counted(client, api, "/notes", where, 1))


def _begin_counted(client: Client, api: int, path: str, where: Params, offset: int = 0) -> JsonAnswer:
    """Return the first row of a list, or a later one, with the list's count if OpenReview states one.

    OpenReview counts if `offset=0` and `count=true` come together (openreview-py#2745). Since it is removing `offset`,
    `count=true` alone is tried if that is refused.
    """
    params: Params = {**where, "limit": 1, "count": "true"}
    try:
        return client.get_json(api, path, {**params, "offset": offset})
    except NotGivenError:
        return client.get_json(api, path, params)


def fetch_changes(
    client: Client, api: int, venue_id: str, since_ms: int, *, deleted: bool = False
) -> Iterator[ListPage]:
    """Yield every note of a venue modified since a time, latest first.

    OpenReview's API documentation says that notes can be listed by `domain` (v2) or by a prefix of their invitations
    (v1), and filtered by `mintmdate`. No other client is known to rely on this, so the caller must check the result.

    `since_ms` is in milliseconds since the epoch by OpenReview's clock; with `deleted`, deleted notes are listed
    instead.
    """
    where = {**_of_venue(api, venue_id), "sort": LATEST_FIRST, "mintmdate": since_ms}
    for page in fetch_pages(client, api, "/notes", where | ({"trash": "true"} if deleted else {})):
        yield page
        # The latest come first, so the list can end at the first older one, even if the service ignores `mintmdate`.
        times_ms = (decode_leniently(Note, bytes(item)).modified_ms for item in reversed(page.items))
        if next(filter(None, times_ms), since_ms) < since_ms:
            return


def _of_venue(api: int, venue_id: str) -> dict[str, str | int]:
    return {"domain": venue_id} if api == 2 else {"invitation": f"{venue_id}/.*"}


def count_notes(client: Client, api: int, venue_id: str) -> int | None:
    """Return the number of notes of a venue shown now, replies included; None if OpenReview does not state it."""
    return _count(client, api, _of_venue(api, venue_id))


def find_notes(client: Client, api: int, note_ids: Sequence[str]) -> list[msgspec.Raw]:
    """Return the visible notes among these ids, at most 1,000.

    They are requested together, or one by one if OpenReview refuses that.
    """
    try:
        return read_list(client.post_json(api, "/notes/search", {"ids": list(note_ids)}), "notes")
    except NotJsonError as error:
        if len(note_ids) == 1:
            return [msgspec.Raw(find_first_item(error.body, "notes"))]
        half = len(note_ids) // 2
        return find_notes(client, api, note_ids[:half]) + find_notes(client, api, note_ids[half:])
    except (BusyError, SignInError):
        raise
    except SourceError:
        notes: list[msgspec.Raw] = []
        for note_id in note_ids:
            with suppress(NotGivenError):
                notes += read_list(client.get_json(api, "/notes", {"id": note_id}), "notes")
        return notes


def read_list(answer: JsonAnswer, key: str) -> list[msgspec.Raw]:
    """Return the objects of a list in a response, each as received; any of them may be invalid JSON.

    Raises:
        SourceError: The response has no such list.
        NotJsonError: It has one that cannot be split.
    """
    rows = answer.members.get(key, msgspec.Raw(b""))
    try:
        return read_items(rows)
    except UNREADABLE:
        items = split_items(bytes(rows)) if is_list(rows) else None
    if items is None:
        sentence = f"OpenReview's answer to {answer.source} has no list of {key}."
        raise NotJsonError(sentence, answer.source, answer.body) if is_list(rows) else UnreachableError(sentence)
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
    """Yield every API v1 reference to a note, with the request URL; raises the errors of `fetch_pages`."""
    return _fetch_rows(client, 1, "/references", {"referent": note_id, "original": "true", "sort": "id"})


def fetch_edits(client: Client, note_id: str) -> Iterator[tuple[str, msgspec.Raw]]:
    """Yield every API v2 edit of a note that this account may read, as `fetch_references` does."""
    return _fetch_rows(client, 2, EDITS, {"note.id": note_id, "sort": "id"})


def fetch_venue_edits(client: Client, venue_id: str, start: Listing = NOT_BEGUN, *, sort: str = "id") -> ListPage:
    """Return the next thousand of a venue's API v2 edits that this account may read.

    OpenReview documents `domain` for this list, and its own web pages use it (openreview-web, `ActivityList.js`). The
    caller must check that the service respects `domain`, `sort` and `after`.

    Raises:
        NotGivenError: OpenReview refuses the list.
    """
    params: dict[str, str | int] = {"domain": venue_id, "sort": sort, "limit": LARGEST_PAGE}
    params |= {"count": "true"} if start.after is None else {"after": start.after}
    answer = client.get_json(2, EDITS, params)
    items = read_list(answer, "edits")
    expected = _read_count(answer) if start.after is None else start.expected
    after = next(filter(None, map(object_id, reversed(items))), None)
    # Without a count, a short page is the last one; a page without a new id ends the list.
    is_last = after in {None, start.after} or (expected is None and len(items) < LARGEST_PAGE)
    return ListPage(answer.source, items, expected, after=after, is_last=is_last)


def probe_venue_edits(client: Client, venue_id: str) -> ListPage:
    """Return the most recently modified API v2 edit of a venue, with the number of edits if OpenReview states it.

    Raises:
        NotGivenError: OpenReview refuses the list.
    """
    return _read_rows(_begin_counted(client, 2, EDITS, {"domain": venue_id, "sort": LATEST_FIRST}), EDITS, 1)


def _fetch_rows(client: Client, api: int, path: str, where: Params) -> Iterator[tuple[str, msgspec.Raw]]:
    for page in fetch_pages(client, api, path, where):
        yield from ((page.source, item) for item in page.items)


def fetch_pages(client: Client, api: int, path: str, where: Params) -> Iterator[ListPage]:
    """Yield the pages of a list.

    Each page is requested by the last id of the previous page. If a service refuses `after`, or ignores it and so
    starts again, `offset` is used instead.

    The last part of the path names the rows in the response.

    Raises:
        NotGivenError: OpenReview refuses the list, or repeats the same page.
        NotJsonError: Several rows in a row cannot be read.
    """
    return _check_readable(_fetch_pages(client, api, path, where))


def _fetch_pages(client: Client, api: int, path: str, where: Params) -> Iterator[ListPage]:
    place: dict[str, str | int] = {"count": "true"} if api == 2 else {}
    seen: set[str] = set()
    received = 0
    expected: int | None = None
    while True:
        by_offset = "offset" in place
        try:
            rows = _get_rows(client, api, path, {**where, **place})
        except NotGivenError:
            if not received or by_offset:
                raise
            place = {"offset": received}
            continue
        items = rows.items
        names = [object_id(item) for item in items]
        ids = {name for name in names if name}
        if seen and ids and ids <= seen:
            if by_offset:
                raise NotGivenError(
                    f"OpenReview's answer to {rows.source} repeats the previous page.", "the same page again"
                )
            place = {"offset": received}
            continue
        expected = expected if received and not by_offset else rows.expected
        received += len(items)
        seen |= ids
        ends = not items or (len(items) < rows.size if expected is None else received >= expected)
        yield replace(rows, expected=expected, is_last=ends)
        del items, rows  # As in `_check_readable`.
        if ends:
            return
        place = {"after": names[-1]} if names[-1] and not by_offset else {"offset": received}


def _get_rows(client: Client, api: int, path: str, params: Params) -> ListPage:
    """Return a page of a list, smaller only if a large one cannot be read."""
    try:
        return _read_rows(client.get_json(api, path, {**params, "limit": LARGEST_PAGE}), path, LARGEST_PAGE)
    except NotJsonError:
        return _get_in_parts(client, api, path, params, LARGEST_PAGE // 5)

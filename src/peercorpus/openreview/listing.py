"""Paged lists of either API behind one iterator."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import msgspec

from peercorpus.errors import BusyError, NotGivenError, SignInError, SourceError, TooLargeError
from peercorpus.openreview.client import Client, JsonAnswer, Params
from peercorpus.openreview.jsontext import read_items, read_members
from peercorpus.openreview.objects import Note, salvage

LARGEST_PAGE = 1000
PAGE_WITH_REPLIES = 200
"""Answers with every reply get large: 1,000 forums are some 100 MB."""

FEWEST_IN_A_PAGE = 8
"""How small a page becomes where larger ones do not come through; so many forums come singly where that does not."""

MOST_NOTES = 10**9
"""A count beyond this counts nothing."""


class _Identified(msgspec.Struct):
    id: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list.

    Attributes:
        source: The request it answers.
        items: Each object as received.
        after: The last id received, on this page or before it.
        expected: The count OpenReview gave for the whole list; None where it gave none.
        is_last: Whether the list ends here.
        new: How many of them were on no page before it.
    """

    source: str
    items: list[msgspec.Raw]
    after: str | None
    expected: int | None
    is_last: bool
    new: int = 0


@dataclass(frozen=True, slots=True)
class Start:
    """Where a list is taken up.

    Attributes:
        after: The last id received before; None from the beginning.
        received: How many were received before.
        expected: The count OpenReview gave before.
    """

    after: str | None = None
    received: int = 0
    expected: int | None = None


def fetch_submissions(
    client: Client, api: int, invitation: str, start: Start = Start(), *, most: int | None = None
) -> Iterator[Page]:
    """The submissions of one invitation with all their replies, in order of their id.

    A service that ignores `after`, and so gives the first page again, is asked by `offset` instead. Then notes may come
    twice, where others were put before them meanwhile.

    Args:
        client: Where to ask.
        api: 1 or 2.
        invitation: The id of the list.
        start: Where to go on.
        most: End after this many; None: all.

    Raises:
        SourceError: OpenReview gives the same page again and again.
    """
    left, largest, singly, seen = most, PAGE_WITH_REPLIES, 0, set[str]()
    by_offset = start.after is not None and _ignores_after(client, api, invitation, start.after)
    while left is None or left > 0:
        size = 1 if singly else min(largest, left or largest)
        page, came_in = _fetch_page(client, api, invitation, start, size, by_offset=by_offset)
        if came_in < size:
            largest, singly = max(came_in, FEWEST_IN_A_PAGE), FEWEST_IN_A_PAGE if came_in == 1 else 0
        singly = max(0, singly - 1)
        ids = {id_of(item) for item in page.items}
        if ids and (ids <= seen or (start.after in ids and not by_offset)):
            if by_offset:
                raise SourceError(f"OpenReview gives the same page of '{invitation}' again and again; try again later.")
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
    """Whether a list begins with the same note, wherever it is to be taken up."""
    first: Params = {"invitation": invitation, "sort": "id", "limit": 1}
    answers = [client.get_json(api, "/notes", params) for params in (first, {**first, "after": after})]
    begins, goes_on = ([id_of(item) for item in items_of(answer, "notes")] for answer in answers)
    return begins == goes_on != []


def _fetch_page(
    client: Client, api: int, invitation: str, start: Start, size: int, *, by_offset: bool
) -> tuple[Page, int]:
    """A page, and how many it might have held."""
    params: dict[str, str | int] = {"invitation": invitation, "details": "replies", "sort": "id"}
    if by_offset:
        params["offset"] = start.received
    elif start.after is not None:
        params["after"] = start.after
    elif api == 2:
        params["count"] = "true"
    answer, size = _get_in_parts(client, api, params, size)
    items = items_of(answer, "notes")
    expected = start.expected if start.after is not None else _count(answer)
    received = start.received + len(items)
    # A page may be short because the service left out what this account may not read; a count may be out of date.
    is_short = len(items) < size
    ends = not items or received == expected or (is_short and (expected is None or received > expected))
    after = next(filter(None, map(id_of, reversed(items))), start.after)
    return Page(answer.source, items, after, expected, ends), size


def _get_in_parts(client: Client, api: int, params: Params, size: int) -> tuple[JsonAnswer, int]:
    """A page, or a smaller one where a large one does not come through; and how many it may hold.

    Raises:
        BusyError: Not even a single submission and its replies come through, each by themselves.
    """
    while True:
        try:
            return client.get_json(api, "/notes", {**params, "limit": size}), size
        except (BusyError, TooLargeError) as error:
            if getattr(error, "wait_s", None) is not None:
                raise  # Waiting is no matter of size.
            if size == 1:
                return _get_apart(client, api, params), 1
            size = max(FEWEST_IN_A_PAGE, size // 5) if size > FEWEST_IN_A_PAGE else 1


def _get_apart(client: Client, api: int, params: Params) -> JsonAnswer:
    """The next submission of a list without its replies, and these by their forum, as if they came at once."""
    bare = {name: value for name, value in params.items() if name != "details"}
    answer = client.get_json(api, "/notes", {**bare, "limit": 1})
    whole = [_with_replies(client, api, item) for item in items_of(answer, "notes")]
    return replace(answer, members={**answer.members, "notes": msgspec.Raw(msgspec.json.encode(whole))})


def _with_replies(client: Client, api: int, submission: msgspec.Raw) -> dict[str, msgspec.Raw]:
    forum_id = id_of(submission)
    notes = [item for _, item in _fetch_rows(client, api, "/notes", {"forum": forum_id}, "notes")]
    replies = [item for item in notes if id_of(item) != forum_id]
    return {**read_members(submission), "details": msgspec.Raw(msgspec.json.encode({"replies": replies}))}


def count_submissions(client: Client, api: int, invitation: str) -> int | None:
    """How many submissions a list has now; None where OpenReview does not say."""
    params: Params = {"invitation": invitation, "limit": 1, "offset": 0, "count": "true"}
    return _count(client.get_json(api, "/notes", params))


def fetch_changes(client: Client, api: int, venue_id: str, since_ms: int, *, deleted: bool = False) -> Iterator[Page]:
    """Every note of a venue modified since a moment, the latest first.

    That OpenReview lists all notes of a venue by its `domain` (v2), or by the beginning of their invitations (v1), and
    takes `mintmdate`, stands in its API's documents; nobody was seen to rely on it. Check what comes.

    Args:
        client: Where to ask.
        api: 1 or 2.
        venue_id: The venue.
        since_ms: By the clock of OpenReview, epoch milliseconds.
        deleted: The deleted ones instead.
    """
    where: dict[str, str | int] = {"domain": venue_id} if api == 2 else {"invitation": f"{venue_id}/.*"}
    offset, before = 0, None
    while True:
        params = {**where, "sort": "tmdate:desc", "mintmdate": since_ms, "limit": LARGEST_PAGE, "offset": offset}
        answer = client.get_json(api, "/notes", params | ({"trash": "true"} if deleted else {}))
        items = items_of(answer, "notes")
        check_new(answer, items, before)
        offset, before = offset + len(items), items
        # The latest come first: behind one that is older nothing is to be found, should `mintmdate` not be heeded.
        ends = len(items) < LARGEST_PAGE or _modified_ms(items[-1]) < since_ms
        yield Page(answer.source, items, None, _count(answer), ends)
        if ends:
            return


def _begin_page(items: list[msgspec.Raw], first: str, what: str) -> str:
    """The id a page begins with.

    Raises:
        SourceError: It is that of the page before: `offset` is not heeded.
    """
    begins = id_of(items[0]) if items else ""
    if begins and begins == first:
        raise SourceError(f"OpenReview gives the same page of '{what}' again and again; try again later.")
    return begins


def _modified_ms(item: msgspec.Raw) -> int:
    return salvage(Note, bytes(item)).modified_ms or 0


def count_notes(client: Client, api: int, venue_id: str) -> int | None:
    """How many notes of a venue, replies included, are shown now; None where OpenReview does not say."""
    where: dict[str, str | int] = {"domain": venue_id} if api == 2 else {"invitation": f"{venue_id}/.*"}
    return _count(client.get_json(api, "/notes", {**where, "limit": 1, "offset": 0, "count": "true"}))


def find_notes(client: Client, api: int, note_ids: Sequence[str]) -> list[msgspec.Raw]:
    """The notes of these ids that are shown, at most a thousand: at once, or where that is refused one by one."""
    try:
        return items_of(client.post_json(api, "/notes/search", {"ids": list(note_ids)}), "notes")
    except (BusyError, SignInError):
        raise
    except SourceError:
        return [note for note_id in note_ids for note in _find_note(client, api, note_id)]


def _find_note(client: Client, api: int, note_id: str) -> list[msgspec.Raw]:
    try:
        return items_of(client.get_json(api, "/notes", {"id": note_id}), "notes")
    except NotGivenError:
        return []


def items_of(answer: JsonAnswer, key: str) -> list[msgspec.Raw]:
    """The objects of a list, each as received.

    Raises:
        SourceError: The answer holds no such list.
    """
    try:
        return read_items(answer.members[key])
    except (KeyError, msgspec.DecodeError):
        raise SourceError(f"OpenReview's answer to {answer.source} holds no list of {key}.") from None


def _count(answer: JsonAnswer) -> int | None:
    try:
        count = msgspec.json.decode(answer.members["count"], type=int)
    except (KeyError, msgspec.DecodeError):
        return None
    return count if 0 <= count <= MOST_NOTES else None


def id_of(item: bytes | msgspec.Raw) -> str:
    """The id of an object as received; empty where it has none."""
    return salvage(_Identified, bytes(item)).id


def fetch_references(client: Client, note_id: str) -> Iterator[tuple[str, msgspec.Raw]]:
    """Every API v1 reference to a note, with the request it answered.

    Raises:
        NotGivenError: OpenReview gives the same page again and again.
    """
    return _fetch_rows(client, 1, "/references", {"referent": note_id, "original": "true"}, "references")


def fetch_edits(client: Client, note_id: str) -> Iterator[tuple[str, msgspec.Raw]]:
    """Every API v2 edit of a note that this account may read, with the request it answered.

    Raises:
        NotGivenError: OpenReview gives the same page again and again.
    """
    return _fetch_rows(client, 2, "/notes/edits", {"note.id": note_id, "sort": "tcdate:asc"}, "edits")


def _fetch_rows(client: Client, api: int, path: str, where: Params, key: str) -> Iterator[tuple[str, msgspec.Raw]]:
    offset, before = 0, None
    while True:
        params = {**where, "limit": LARGEST_PAGE, "offset": offset}
        answer = client.get_json(api, path, params)
        items, there_are = items_of(answer, key), _count(answer)
        check_new(answer, items, before)
        yield from ((answer.source, item) for item in items)
        offset, before = offset + len(items), items
        if not items or (len(items) < LARGEST_PAGE if there_are is None else offset >= there_are):
            return


def check_new(answer: JsonAnswer, items: list[msgspec.Raw], before: list[msgspec.Raw] | None) -> None:
    """Pass if a page is not the one before it.

    Raises:
        NotGivenError: It is: the service does not heed `offset`, and what follows cannot be had.
    """
    if items and items == before:
        raise NotGivenError(
            f"OpenReview's answer to {answer.source} is the page before it again.", "the same page again"
        )

"""Paged lists of either API behind one iterator."""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from peercorpus.errors import SourceError
from peercorpus.openreview.client import Client, JsonAnswer, Params
from peercorpus.openreview.jsontext import read_items

LARGEST_PAGE = 1000
PAGE_WITH_REPLIES = 200
"""Answers with every reply get large: 1,000 forums are some 100 MB."""


class _Identified(msgspec.Struct):
    id: str


_read_id = msgspec.json.Decoder(_Identified).decode


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list.

    Attributes:
        source: The request it answers.
        items: Each object as received.
        after: The last id received, on this page or before it.
        expected: The count OpenReview gave for the whole list; None where it gave none.
        is_last: Whether the list ends here.
    """

    source: str
    items: list[msgspec.Raw]
    after: str | None
    expected: int | None
    is_last: bool


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

    Args:
        client: Where to ask.
        api: 1 or 2.
        invitation: The id of the list.
        start: Where to go on.
        most: End after this many; None: all.

    Raises:
        SourceError: OpenReview gives the same page again and again.
    """
    before: frozenset[str] = frozenset()
    left = most
    while left is None or left > 0:
        size = min(PAGE_WITH_REPLIES, left or PAGE_WITH_REPLIES)
        page = _fetch_page(client, api, invitation, start, size)
        ids = [id_of(item) for item in page.items]
        if ids and before.issuperset(ids):
            raise SourceError(f"OpenReview gives the same page of '{invitation}' again and again; try again later.")
        yield page
        if page.is_last:
            return
        before = before | frozenset(ids)
        start = Start(page.after, start.received + len(ids), page.expected)
        left = None if left is None else left - len(ids)


def _fetch_page(client: Client, api: int, invitation: str, start: Start, size: int) -> Page:
    params: dict[str, str | int] = {"invitation": invitation, "details": "replies", "sort": "id", "limit": size}
    if start.after is not None:
        params["after"] = start.after
    elif api == 2:
        params["count"] = "true"
    answer = client.get_json(api, "/notes", params)
    items = items_of(answer, "notes")
    expected = start.expected if start.after is not None else _count(answer)
    received = start.received + len(items)
    # A page may be short because the service left out what this account may not read.
    ends = not items or (len(items) < size and (expected is None or received >= expected))
    return Page(answer.source, items, id_of(items[-1]) if items else start.after, expected, ends)


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
        return msgspec.json.decode(answer.members["count"], type=int)
    except (KeyError, msgspec.DecodeError):
        return None


def id_of(item: bytes | msgspec.Raw) -> str:
    """The id of an object as received."""
    return _read_id(item).id


def fetch_references(client: Client, note_id: str) -> Iterator[tuple[str, msgspec.Raw]]:
    """Every API v1 reference to a note, with the request it answered."""
    offset, total = 0, 1
    while offset < total:
        params: Params = {"referent": note_id, "original": "true", "limit": LARGEST_PAGE, "offset": offset}
        answer = client.get_json(1, "/references", params)
        items = items_of(answer, "references")
        yield from ((answer.source, item) for item in items)
        offset += LARGEST_PAGE
        total = (_count(answer) or 0) if items else 0


def fetch_edits(client: Client, note_id: str) -> Iterator[tuple[str, msgspec.Raw]]:
    """Every API v2 edit of a note that this account may read, with the request it answered."""
    params: Params = {"note.id": note_id, "sort": "tcdate:asc", "limit": LARGEST_PAGE}
    answer = client.get_json(2, "/notes/edits", params)
    yield from ((answer.source, item) for item in items_of(answer, "edits"))

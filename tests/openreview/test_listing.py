"""Paged lists: every row once, the end found, and a service that ignores a parameter detected."""

import gc
import json
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice

import httpx2
import msgspec
import pytest

from peercorpus.errors import BusyError, NotGivenError, SourceError
from peercorpus.openreview import listing
from peercorpus.openreview.client import Client
from peercorpus.openreview.listing import (
    LARGEST_PAGE,
    LATEST_FIRST,
    PAGE_WITH_REPLIES,
    ListPage,
    fetch_edits,
    fetch_pages,
    fetch_references,
    fetch_submissions,
    fetch_venue_edits,
    object_id,
)
from peercorpus.openreview.raw_rows import split_replies
from peercorpus.openreview.retries import Patience
from peercorpus.workspace.harvest_state import NOT_BEGUN, Listing

ALL = [f"n{number:04}" for number in range(2 * PAGE_WITH_REPLIES + 50)]


def service(
    ids: list[str], *, ignores_after: bool = False, ignores_offset: bool = False, counts: bool = True, hidden: int = 0
) -> tuple[Client, list[httpx2.QueryParams]]:
    """A service with these notes, which leaves the hidden ones out of each page."""
    asked: list[httpx2.QueryParams] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        query = request.url.params
        asked.append(query)
        rest = [note_id for note_id in ids if ignores_after or note_id > query.get("after", "")]
        rest = rest[0 if ignores_offset else int(query.get("offset", 0)) :]
        page = rest[: int(query["limit"])]
        shown = page[: max(1, len(page) - hidden)] if page else []
        body: dict[str, object] = {"notes": [{"id": note_id} for note_id in shown]}
        if counts and query.get("count") == "true":
            body["count"] = len(ids)
        return httpx2.Response(200, json=body)

    return Client(transport=httpx2.MockTransport(answer)), asked


def received(client: Client, start: Listing = NOT_BEGUN, most: int | None = None) -> list[str]:
    pages = fetch_submissions(client, 2, "V/-/Submission", start, most=most)
    return [object_id(item) for page in pages for item in page.items]


@pytest.mark.parametrize("counts", [True, False])
@pytest.mark.parametrize("size", [0, 1, PAGE_WITH_REPLIES - 1, PAGE_WITH_REPLIES, PAGE_WITH_REPLIES + 1, len(ALL)])
def test_every_note_comes_once(size: int, counts: bool) -> None:
    client, asked = service(ALL[:size], counts=counts)
    assert received(client) == ALL[:size]
    # Without a count, only an empty page shows that a full one was the last.
    assert len(asked) == (1 + (size > PAGE_WITH_REPLIES) if counts else 1 + (size >= PAGE_WITH_REPLIES))
    assert {query["sort"] for query in asked} == {"id"}


def test_hidden_notes_end_no_list() -> None:
    client, _ = service(ALL, hidden=1)
    assert set(ALL) - set(received(client)) <= {ALL[-1]}


def test_a_list_resumes_where_it_stopped() -> None:
    client, _ = service(ALL)
    assert received(client, Listing(ALL[99], 100, len(ALL), complete=False)) == ALL[100:]


@pytest.mark.parametrize("most", [0, 1, 7, PAGE_WITH_REPLIES, PAGE_WITH_REPLIES + 3])
def test_limit_is_not_exceeded(most: int) -> None:
    client, asked = service(ALL)
    assert received(client, most=most) == ALL[:most]
    assert sum(int(query["limit"]) for query in asked) == most


def test_ignored_after_is_paged_by_offset() -> None:
    many = [f"n{number:04}" for number in range(2 * LARGEST_PAGE)]
    client, asked = service(many, ignores_after=True)
    assert sorted(set(received(client))) == many
    assert len(asked) == 4


def test_ignored_offset_is_detected() -> None:
    many = [f"n{number:04}" for number in range(2 * LARGEST_PAGE)]
    client, asked = service(many, ignores_after=True, ignores_offset=True)
    with pytest.raises(SourceError, match=r"same page.*'V/-/Submission'"):
        received(client)
    assert len(asked) == 4


@pytest.mark.parametrize(
    ("fitting", "limits"),
    [(5000, [200, 1000, 1000]), (319, [200, 319, 319]), (79, [200, 100, 79]), (3, [200, 100, 50])],
)
def test_pages_fit_a_bounded_size(fitting: int, limits: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    client, asked = service([f"n{number:04}" for number in range(3 * LARGEST_PAGE)])
    monkeypatch.setattr(listing, "PAGE_BYTES", fitting * len('{"id":"n0000"}'))
    assert sum(len(page.items) for page in islice(fetch_submissions(client, 2, "V/-/Submission"), 3)) == sum(limits)
    assert [int(query["limit"]) for query in asked] == limits


def test_failed_size_is_not_tried_again() -> None:
    served, asked = service([f"n{number:04}" for number in range(3 * LARGEST_PAGE)])

    def answer(request: httpx2.Request) -> httpx2.Response:
        if int(request.url.params["limit"]) > PAGE_WITH_REPLIES + 50:
            return httpx2.Response(504, html="<html>Gateway time-out</html>")
        return served._http._transport.handle_request(request)

    with Client(transport=httpx2.MockTransport(answer), patience=Patience(attempts=1, first_wait_s=0.001)) as client:
        assert len(received(client)) == 3 * LARGEST_PAGE
    assert {int(query["limit"]) for query in asked} == {PAGE_WITH_REPLIES}


def test_failing_page_is_made_smaller() -> None:
    served, _ = service(ALL)

    def answer(request: httpx2.Request) -> httpx2.Response:
        if int(request.url.params["limit"]) > PAGE_WITH_REPLIES // 4:
            return httpx2.Response(504, html="<html>Gateway time-out</html>")
        return served._http._transport.handle_request(request)

    with Client(transport=httpx2.MockTransport(answer), patience=Patience(attempts=2, first_wait_s=0.001)) as client:
        assert received(client) == ALL


def test_missing_list_is_an_error() -> None:
    body = json.dumps({"groups": []}).encode()
    client = Client(transport=httpx2.MockTransport(lambda _: httpx2.Response(200, content=body)))
    with pytest.raises(SourceError, match="no list"):
        received(client)


class Poisoned:
    """A service with one forum whose replies never come with its list."""

    def __init__(self, bad: str, *, is_hopeless: bool = False) -> None:
        self.bad, self.is_hopeless = bad, is_hopeless
        self.sizes: list[int] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        query = request.url.params
        if "forum" in query:
            forum = query["forum"]
            notes = [{"id": forum}, {"id": f"{forum}-reply", "forum": forum}]
            return httpx2.Response(502 if self.is_hopeless else 200, json={"notes": notes, "count": 2})
        page = [note_id for note_id in ALL if note_id > query.get("after", "")][: int(query["limit"])]
        if "details" not in query:
            return httpx2.Response(200, json={"notes": [{"id": note_id} for note_id in page]})
        self.sizes.append(int(query["limit"]))
        if self.bad in page:
            return httpx2.Response(500, json={"name": "Error", "message": "It is too much."})
        replied = [{"id": one, "details": {"replies": [{"id": f"{one}-reply", "forum": one}]}} for one in page]
        return httpx2.Response(200, json={"notes": replied, "count": len(ALL)})


def read_poisoned(service: Poisoned) -> dict[str, bytes]:
    patience = Patience(attempts=1, first_wait_s=0.001)
    with Client(transport=httpx2.MockTransport(service), patience=patience) as client:
        pages = fetch_submissions(client, 2, "V/-/Submission")
        return {object_id(item): bytes(item) for page in pages for item in page.items}


def test_bad_forum_is_fetched_apart() -> None:
    poisoned = Poisoned(ALL[100])
    found = read_poisoned(poisoned)
    assert list(found) == ALL
    assert split_replies(found[ALL[100]])[1] == [f'{{"id":"{ALL[100]}-reply","forum":"{ALL[100]}"}}'.encode()]
    assert split_replies(found[ALL[101]])[1] == [f'{{"id":"{ALL[101]}-reply","forum":"{ALL[101]}"}}'.encode()]
    assert poisoned.sizes[-1] > 1


def test_hopeless_forum_is_temporary_error() -> None:
    with pytest.raises(BusyError):
        read_poisoned(Poisoned(ALL[100], is_hopeless=True))


@pytest.mark.parametrize("refused", [9, 10**6])
def test_web_page_blames_the_service(refused: int) -> None:
    served, _ = service(ALL)
    answers = 0

    def answer(request: httpx2.Request) -> httpx2.Response:
        nonlocal answers
        answers += 1
        if 2 <= answers < 2 + refused:
            return httpx2.Response(200, html="<html>Back soon</html>")
        return served._http._transport.handle_request(request)

    patience = Patience(attempts=1, first_wait_s=0.001)
    with Client(transport=httpx2.MockTransport(answer), patience=patience) as client:
        if refused < 100:
            assert received(client) == ALL
        else:
            with pytest.raises(BusyError, match="cannot be read"):
                received(client)
            assert answers < 100


def test_bad_note_costs_few_requests() -> None:
    served, asked = service(ALL)

    def answer(request: httpx2.Request) -> httpx2.Response:
        whole = served._http._transport.handle_request(request)
        return whole if ALL[100].encode() not in whole.content else httpx2.Response(200, html="<html>Blocked</html>")

    patience = Patience(attempts=1, first_wait_s=0.001)
    with Client(transport=httpx2.MockTransport(answer), patience=patience) as client:
        assert received(client) == [note_id if note_id != ALL[100] else "" for note_id in ALL]
    assert len(asked) < 30


@pytest.mark.parametrize("path", ["fetch_submissions", "fetch_pages"])
def test_page_leaves_memory_before_next(path: str) -> None:
    served, _ = service([f"n{number:04}" for number in range(3 * LARGEST_PAGE)])
    alive: list[int] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        pages = [one for one in gc.get_objects() if type(one) is ListPage]
        alive.append(sum("Released" in page.source for page in pages))
        return served._http._transport.handle_request(request)

    with Client(transport=httpx2.MockTransport(answer)) as client:
        pages = (
            fetch_submissions(client, 2, "V/-/Released")
            if path == "fetch_submissions"
            else fetch_pages(client, 2, "/notes", {"invitation": "V/-/Released"})
        )
        deque(pages, maxlen=0)
    assert len(alive) >= 3
    assert alive == [0] * len(alive)


@pytest.mark.parametrize("sort", ["id", LATEST_FIRST])
def test_short_pages_end_no_counted_list(sort: str) -> None:
    edits = [{"id": f"e{place}"} for place in range(5)]

    def answer(request: httpx2.Request) -> httpx2.Response:
        after = request.url.params.get("after")
        first = 0 if after is None else [edit["id"] for edit in edits].index(after) + 1
        return httpx2.Response(200, json={"edits": edits[first : first + 2], "count": len(edits)})

    client = Client(transport=httpx2.MockTransport(answer))
    first = fetch_venue_edits(client, "V", sort=sort)
    assert (len(first.items), first.after, first.expected, first.is_last) == (2, "e1", 5, False)
    second = fetch_venue_edits(client, "V", Listing(first.after, 2, first.expected, complete=False), sort=sort)
    assert (second.after, second.is_last) == ("e3", False)
    uncounted = fetch_venue_edits(client, "V", Listing("e1", 2, None, complete=False), sort=sort)
    assert uncounted.is_last


TWO_PAGES = [f"n{number:04}" for number in range(2 * PAGE_WITH_REPLIES)]
EARLIER = ["a0", "a1", "a2"]
"""Notes inserted before the others while the list is read."""


def pages_of(added: list[str]) -> list[ListPage]:
    """Return the pages of a list that supports only `offset`, and grows at its beginning after the first page."""
    held: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        query = request.url.params
        listed = held + TWO_PAGES
        if "offset" not in query and "after" not in query:
            held[:] = added
        start = int(query.get("offset", 0))
        notes = [{"id": note_id} for note_id in listed[start : start + int(query["limit"])]]
        return httpx2.Response(200, json={"notes": notes, "count": len(listed)})

    with Client(transport=httpx2.MockTransport(answer)) as client:
        return list(fetch_submissions(client, 2, "V/-/Submission"))


@pytest.mark.parametrize("added", [[], EARLIER[:1], EARLIER], ids=len)
def test_repeated_notes_count_once(added: list[str]) -> None:
    pages = pages_of(added)
    received = [object_id(item) for page in pages for item in page.items]
    assert set(received) >= set(TWO_PAGES[:200])
    assert sum(page.new for page in pages) == len(set(received))


Fetch = Callable[[Client, str], Iterator[tuple[str, msgspec.Raw]]]
LISTS = [(fetch_edits, "edits"), (fetch_references, "references")]
SEVEN = [f"e{number}" for number in range(7)]
REFUSED = httpx2.Response(400, json={"name": "ValidationError", "message": "It is no parameter of this list."})


def received_rows(
    fetch: Fetch,
    key: str,
    *,
    most_in_a_page: int = 3,
    counts: bool = True,
    refuses: tuple[str, ...] = (),
    ignores: tuple[str, ...] = (),
) -> tuple[list[str], list[str]]:
    """Return the ids from a service with a page limit, and the parameters of each request."""
    asked: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        query = dict(request.url.params)
        asked.append(next((f"{name}={query[name]}" for name in ("after", "offset") if name in query), ""))
        if not query.keys().isdisjoint(refuses):
            return REFUSED
        query = {name: value for name, value in query.items() if name not in ignores}
        start = SEVEN.index(query["after"]) + 1 if "after" in query else int(query.get("offset", 0))
        page = [{"id": one} for one in SEVEN[start : start + most_in_a_page]]
        return httpx2.Response(200, json={key: page} | ({"count": len(SEVEN)} if counts else {}))

    with Client(transport=httpx2.MockTransport(answer)) as client:
        return [object_id(item) for _, item in fetch(client, "note")], asked


@pytest.mark.parametrize(("fetch", "key"), LISTS)
def test_short_page_ends_no_counted_list(fetch: Fetch, key: str) -> None:
    found, asked = received_rows(fetch, key)
    assert found == SEVEN, "earlier versions that the service has are missing"
    assert asked == ["", "after=e2", "after=e5"]


@pytest.mark.parametrize(("fetch", "key"), LISTS)
def test_uncounted_short_page_is_the_end(fetch: Fetch, key: str) -> None:
    assert received_rows(fetch, key, most_in_a_page=9, counts=False) == (SEVEN, [""])


@pytest.mark.parametrize(("refuses", "ignores"), [(("after",), ()), ((), ("after",))])
@pytest.mark.parametrize(("fetch", "key"), LISTS)
def test_offset_is_the_last_resort(fetch: Fetch, key: str, refuses: tuple[str, ...], ignores: tuple[str, ...]) -> None:
    found, asked = received_rows(fetch, key, refuses=refuses, ignores=ignores)
    assert found == SEVEN
    assert asked == ["", "after=e2", "offset=3", "offset=6"]


@pytest.mark.parametrize(("fetch", "key"), LISTS)
def test_endless_list_is_an_error(fetch: Fetch, key: str) -> None:
    with pytest.raises(NotGivenError, match="400"):
        received_rows(fetch, key, ignores=("after",), refuses=("offset",))
    with pytest.raises(NotGivenError, match="repeats the previous page"):
        received_rows(fetch, key, ignores=("after", "offset"))

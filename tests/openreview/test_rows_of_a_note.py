"""The edits and references of a note: all that the service counts, however short its pages are."""

from collections.abc import Callable, Iterator

import httpx2
import msgspec
import pytest

from peercorpus.openreview.client import Client
from peercorpus.openreview.listing import fetch_edits, fetch_references, object_id

Fetch = Callable[[Client, str], Iterator[tuple[str, msgspec.Raw]]]
LISTS = [(fetch_edits, "edits"), (fetch_references, "references")]
SEVEN = [f"e{number}" for number in range(7)]


def received(fetch: Fetch, key: str, *, most_in_a_page: int, counts: bool) -> tuple[list[str], list[int]]:
    """The ids that come of a service that never gives more than so many at once, and the offsets it is asked for."""
    offsets: list[int] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        offset = int(request.url.params["offset"])
        offsets.append(offset)
        page = [{"id": one} for one in SEVEN[offset : offset + most_in_a_page]]
        return httpx2.Response(200, json={key: page} | ({"count": len(SEVEN)} if counts else {}))

    with Client(transport=httpx2.MockTransport(answer)) as client:
        return [object_id(item) for _, item in fetch(client, "note")], offsets


@pytest.mark.parametrize(("fetch", "key"), LISTS)
def test_a_short_page_is_not_the_end_of_a_list_whose_count_says_more(fetch: Fetch, key: str) -> None:
    found, offsets = received(fetch, key, most_in_a_page=3, counts=True)
    assert found == SEVEN, "earlier versions that the service has are missing"
    assert offsets == [0, 3, 6]


@pytest.mark.parametrize(("fetch", "key"), LISTS)
def test_without_a_count_a_short_page_is_the_end(fetch: Fetch, key: str) -> None:
    assert received(fetch, key, most_in_a_page=9, counts=False) == (SEVEN, [0])

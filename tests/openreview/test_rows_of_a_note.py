"""The edits and references of a note: everything the service has, whatever its paging."""

from collections.abc import Callable, Iterator

import httpx2
import msgspec
import pytest

from peercorpus.errors import NotGivenError
from peercorpus.openreview.client import Client
from peercorpus.openreview.listing import fetch_edits, fetch_references, object_id

Fetch = Callable[[Client, str], Iterator[tuple[str, msgspec.Raw]]]
LISTS = [(fetch_edits, "edits"), (fetch_references, "references")]
SEVEN = [f"e{number}" for number in range(7)]
REFUSED = httpx2.Response(400, json={"name": "ValidationError", "message": "It is no parameter of this list."})


def received(
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
def test_a_short_page_is_not_the_end_of_a_list_with_a_larger_count(fetch: Fetch, key: str) -> None:
    found, asked = received(fetch, key)
    assert found == SEVEN, "earlier versions that the service has are missing"
    assert asked == ["", "after=e2", "after=e5"]


@pytest.mark.parametrize(("fetch", "key"), LISTS)
def test_without_a_count_a_short_page_is_the_end(fetch: Fetch, key: str) -> None:
    assert received(fetch, key, most_in_a_page=9, counts=False) == (SEVEN, [""])


@pytest.mark.parametrize(("refuses", "ignores"), [(("after",), ()), ((), ("after",))])
@pytest.mark.parametrize(("fetch", "key"), LISTS)
def test_only_a_service_that_cannot_page_by_id_is_paged_by_offset(
    fetch: Fetch, key: str, refuses: tuple[str, ...], ignores: tuple[str, ...]
) -> None:
    found, asked = received(fetch, key, refuses=refuses, ignores=ignores)
    assert found == SEVEN
    assert asked == ["", "after=e2", "offset=3", "offset=6"]


@pytest.mark.parametrize(("fetch", "key"), LISTS)
def test_a_list_that_cannot_be_continued_is_an_error(fetch: Fetch, key: str) -> None:
    with pytest.raises(NotGivenError, match="400"):
        received(fetch, key, ignores=("after",), refuses=("offset",))
    with pytest.raises(NotGivenError, match="repeats the previous page"):
        received(fetch, key, ignores=("after", "offset"))

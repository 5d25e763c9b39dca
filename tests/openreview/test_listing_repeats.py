"""A list read by offset while notes are added: some arrive twice, and none counts twice."""

import httpx2
import pytest

from peercorpus.openreview.client import Client
from peercorpus.openreview.listing import PAGE_WITH_REPLIES, ListPage, fetch_submissions, object_id

ALL = [f"n{number:04}" for number in range(2 * PAGE_WITH_REPLIES)]
EARLIER = ["a0", "a1", "a2"]
"""Notes inserted before the others while the list is read."""


def pages_of(added: list[str]) -> list[ListPage]:
    """Return the pages of a list that supports only `offset`, and grows at its beginning after the first page."""
    held: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        query = request.url.params
        listed = held + ALL
        if "offset" not in query and "after" not in query:
            held[:] = added
        start = int(query.get("offset", 0))
        notes = [{"id": note_id} for note_id in listed[start : start + int(query["limit"])]]
        return httpx2.Response(200, json={"notes": notes, "count": len(listed)})

    with Client(transport=httpx2.MockTransport(answer)) as client:
        return list(fetch_submissions(client, 2, "V/-/Submission"))


@pytest.mark.parametrize("added", [[], EARLIER[:1], EARLIER], ids=len)
def test_notes_repeated_on_the_next_page_count_once(added: list[str]) -> None:
    pages = pages_of(added)
    received = [object_id(item) for page in pages for item in page.items]
    assert set(received) >= set(ALL[:200])
    assert sum(page.new for page in pages) == len(set(received))

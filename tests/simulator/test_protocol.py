"""The simulated service's protocol: compression, static paths, search, and lists as recorded."""

import gzip
from collections.abc import Iterator

import httpx2
import pytest
from tiny_world import CURRENT, SUBMITTED, V, tiny_world

from peercorpus.simulator.server.requests import write_token
from peercorpus.simulator.server.service import Service, serve_simulator
from peercorpus.simulator.world.holdings import World
from peercorpus.simulator.world.world import build_world

WORLD = tiny_world()
AURORA, BOREALIS = "Aurora.cc/2020/Conference", "Borealis.cc/2024/Conference"


@pytest.fixture(scope="module")
def client() -> Iterator[httpx2.Client]:
    with serve_simulator(WORLD) as running, httpx2.Client(base_url=running.base_url_v2) as opened:
        yield opened


@pytest.fixture(scope="module")
def built() -> World:
    return build_world(papers=9, venues=[AURORA, BOREALIS])


@pytest.fixture(scope="module")
def service(built: World) -> Iterator[Service]:
    with serve_simulator(built) as running:
        yield running


def test_long_json_is_compressed_for_clients_that_accept_it(client: httpx2.Client) -> None:
    path = f"/notes?invitation={V}/-/Submission&sort=id"
    with client.stream("GET", path, headers={"Accept-Encoding": "gzip, deflate"}) as answer:
        raw = b"".join(answer.iter_raw())
    plain = client.get(path, headers={"Accept-Encoding": "identity"})
    assert (answer.headers["content-encoding"], "content-encoding" in plain.headers) == ("gzip", False)
    assert (gzip.decompress(raw), int(answer.headers["content-length"])) == (plain.content, len(raw))
    assert client.get(path).json() == plain.json()


@pytest.mark.parametrize("path", ["/notes?id=nowhere", "/pdf?id=p1"])
def test_short_json_and_files_are_sent_as_they_are(client: httpx2.Client, path: str) -> None:
    assert "content-encoding" not in client.get(path).headers


def test_a_static_path_serves_the_current_file_and_no_old_version(client: httpx2.Client) -> None:
    assert client.get(CURRENT).content == b"%PDF-current"
    assert client.get(CURRENT).headers["content-type"] == "application/pdf"
    for path in (SUBMITTED, "/pdf/nothing.pdf", "/pdf/%2e%2e%2fnotes"):
        assert client.get(path).status_code == 404
    with serve_simulator(WORLD, sign_in_required=True) as running:
        signed_in = {"Authorization": f"Bearer {write_token(WORLD)}"}
        assert httpx2.get(running.base_url_v2 + CURRENT).status_code == 403
        assert httpx2.get(running.base_url_v2 + CURRENT, headers=signed_in).status_code == 200


@pytest.mark.parametrize(
    ("query", "count", "ids"),
    [
        ({"term": "PAPER, 2"}, 1, ["p2"]),
        ({"term": "paper", "source": "forum", "limit": "2"}, 3, ["p3", "p2"]),
        ({"term": "paper", "limit": "2", "offset": "2"}, 3, ["p1"]),
        ({"query": "6", "source": "reply"}, 2, ["r2", "r1"]),
        ({"term": "paper", "content": "title", "group": V}, 3, ["p3", "p2", "p1"]),
        ({"term": "paper", "content": "rating"}, 0, []),
        ({"term": "paper", "group": "Elsewhere.cc"}, 0, []),
        ({"term": "A. Uthor"}, 0, []),
    ],
)
def test_readable_notes_are_found_by_full_text_search(
    client: httpx2.Client, query: dict[str, str], count: int, ids: list[str]
) -> None:
    found = client.get("/notes/search", params=query).json()
    assert (found["count"], [note["id"] for note in found["notes"]]) == (count, ids)


@pytest.mark.parametrize("query", [{}, {"term": "paper", "source": "web"}, {"term": "paper", "limit": "1001"}])
def test_a_search_without_a_term_or_with_a_wrong_one_is_refused(client: httpx2.Client, query: dict[str, str]) -> None:
    assert client.get("/notes/search", params=query).json()["name"] == "ValidationError"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("api", "query"), [("v1", f"invitation={AURORA}/.*"), ("v2", f"domain={BOREALIS}")], ids=["v1", "v2"]
)
def test_all_notes_of_a_venue_are_listed_by_one_filter_newest_change_first(
    built: World, service: Service, api: str, query: str
) -> None:
    url = service.base_url_v1 if api == "v1" else service.base_url_v2
    pages = [
        httpx2.get(f"{url}/notes?{query}&sort=tmdate:desc&offset={offset}&limit=20").json()
        for offset in (0, 20, 40, 60)
    ]
    notes = [note for page in pages for note in page["notes"]]
    holdings = built.v1 if api == "v1" else built.v2
    public = [note for note in holdings.notes.values() if note["readers"] == ["everyone"] and not note["ddate"]]
    assert 20 < len(public) < 80
    assert [page["count"] for page in pages] == [len(public)] * 4
    assert {note["id"] for note in notes} == {note["id"] for note in public}
    assert [note["tmdate"] for note in notes] == sorted((note["tmdate"] for note in notes), reverse=True)
    oldest = notes[9]["tcdate"]
    recent = httpx2.get(f"{url}/notes?{query}&mintcdate={oldest}&limit=1000&count=true").json()
    assert recent["count"] == sum(note["tcdate"] >= oldest for note in notes) < len(notes)

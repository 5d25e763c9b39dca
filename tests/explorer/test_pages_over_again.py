"""A page cached by the browser is not sent again, pages are compressed, and nothing is read twice for one page."""

from pathlib import Path

import pytest
import tantivy
from starlette.testclient import TestClient

from explored import LIVELY, explored, known
from peercorpus.explorer.index_documents import Stored, read_stored

PAGES = ("/", "/?q=kites", f"/paper/{LIVELY}", f"/text/{LIVELY}", "/venues", "/about", "/static/style.css", "/points")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_that_the_browser_has_is_not_sent_again(client: TestClient, page: str) -> None:
    first = client.get(page)
    mark = first.headers["etag"]
    assert first.headers["cache-control"] == "no-cache"
    again = client.get(page, headers={"if-none-match": f'"other", {mark}'})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", mark)
    assert "content-security-policy" in again.headers
    assert client.get(page, headers={"if-none-match": '"other"'}).content == first.content


@pytest.mark.slow
def test_each_address_and_each_start_of_the_explorer_has_its_own_etags(client: TestClient, tmp_path: Path) -> None:
    marks = {client.get(page).headers["etag"] for page in PAGES}
    assert len(marks) == len(PAGES)
    with explored(tmp_path / "corpus", known()) as other:
        assert other.get("/", headers={"if-none-match": ", ".join(marks)}).status_code == 200


def test_an_error_page_has_no_etag(client: TestClient) -> None:
    assert "etag" not in client.get("/paper/none").headers
    assert "etag" not in client.post("/").headers
    assert "etag" not in client.get(f"/?q={LIVELY}").headers


@pytest.mark.slow
def test_a_cached_page_is_refused_too_after_a_takedown(tmp_path: Path) -> None:
    with explored(tmp_path / "corpus", known()) as client:
        mark = client.get(f"/paper/{LIVELY}").headers["etag"]
        (tmp_path / "corpus" / "takedown.txt").write_text(f"{LIVELY}\n")
        assert client.get(f"/paper/{LIVELY}", headers={"if-none-match": mark}).status_code == 503


def test_pages_are_compressed_for_clients_that_accept_it(client: TestClient) -> None:
    packed = client.get(f"/paper/{LIVELY}", headers={"accept-encoding": "gzip"})
    plain = client.get(f"/paper/{LIVELY}", headers={"accept-encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert int(packed.headers["content-length"]) < int(plain.headers["content-length"]) / 2
    assert packed.content == plain.content
    assert "Accept-Encoding" in plain.headers["vary"]


def test_a_page_reads_each_document_of_the_index_once(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def count(document: tantivy.Document) -> Stored:
        stored = read_stored(document)
        read.append(stored.row.forum_id)
        return stored

    for module in ("search_index", "search"):
        monkeypatch.setattr(f"peercorpus.explorer.{module}.read_stored", count)
    for page in (f"/paper/{LIVELY}?points=none", "/?q=kites+wind+zzyzx"):
        read.clear()
        assert client.get(page).status_code == 200
        assert len(read) == len(set(read)) > 0, page


def test_a_question_mark_in_a_path_gives_another_etag_than_a_query(client: TestClient) -> None:
    mark = client.get(f"/paper/{LIVELY}?points=none?").headers["etag"]
    asked = {"if-none-match": mark}
    assert client.get(f"/paper/{LIVELY}?points=none?", headers=asked).status_code == 304
    assert client.get(f"/paper/{LIVELY}%3Fpoints=none", headers=asked).status_code == 404

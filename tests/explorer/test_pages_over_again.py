"""Pages are refused after a take-down and compressed, and nothing is read twice for one page."""

from pathlib import Path

import pytest
import tantivy
from starlette.testclient import TestClient

from explored import LIVELY, explored, known
from peercorpus.explorer.index_documents import Stored, read_stored


@pytest.mark.slow
def test_every_page_is_refused_after_a_takedown(tmp_path: Path) -> None:
    with explored(tmp_path / "corpus", known()) as client:
        assert client.get(f"/paper/{LIVELY}").status_code == 200
        (tmp_path / "corpus" / "takedown.txt").write_text(f"{LIVELY}\n")
        assert client.get(f"/paper/{LIVELY}").status_code == 503


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

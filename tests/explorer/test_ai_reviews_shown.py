"""A paper's page, its JSON and `show` separate AI reviews from others, and show only what everyone may read."""

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from commands import Run
from explored import explored
from invented_tables import ICLR, a_forum, ai_review, invented
from peercorpus.workspace.raw_store import RawKind, RawObject

TAG = re.compile(r"<[^>]+>")
RECORDS = [*a_forum("f1"), ai_review("f1"), *a_forum("f2")]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with explored(tmp_path_factory.mktemp("shown") / "corpus", {ICLR: RECORDS}) as opened:
        yield opened


def words_of(page: str) -> str:
    return " ".join(unescape(TAG.sub(" ", page)).split())


def test_the_page_shows_ai_reviews_in_their_own_section(client: TestClient) -> None:
    words = words_of(client.get("/paper/f1").text)
    head, _, rest = words.partition("AI reviews An AI wrote them")
    assert "The claims hold, says the AI." not in head
    assert re.search(r"AI AI_Reviewer AI review 2 January 2020 The claims hold, says the AI\.", rest)
    assert "To the AI We added seeds." in rest
    assert rest.count("false claims: One minor") == 1, "the survey that the venue keeps to itself is not shown"
    assert "AI review" not in words_of(client.get("/paper/f2").text)


def test_ai_reviews_are_neither_counted_nor_found_among_human_ones(client: TestClient) -> None:
    assert "No paper" in words_of(client.get("/", params={"q": "seeds"}).text)
    record = json.loads(client.get("/record/f1").content)
    assert [one["ai_review_id"] for one in record["ai_reviews"]] == ["f1-ai"]
    assert [reply["post_id"] for reply in record["ai_reviews"][0]["replies"]] == ["f1-ai-answer", "f1-ai-survey"]
    people = {name: rows for name, rows in record.items() if name != "ai_reviews"}
    assert "f1-ai" not in json.dumps(people)


def test_show_lists_public_ai_reviews_last(tmp_path: Path, run: Run) -> None:
    with invented(tmp_path / "corpus", {ICLR: RECORDS}) as workspace:
        workspace.raw.add([RawObject(RawKind.NOTE, "f1", 1, ICLR, "f1", "f1", 1, 1, "t", b"{}")])
    shown = run("show", "f1", "-w", tmp_path / "corpus").out
    _, _, ours = shown.partition("AI review (certain), signed AI_Reviewer\n")
    assert "> ai AI_Reviewer, 2020-01-02 12:00\n" in ours
    assert "> author Authors, comment, 2020-01-02 12:00: To the AI\n    We added seeds.\n" in ours
    assert "* false_claims: 'One minor' (3 of 4, the best last)" in ours
    assert ours.count("survey, 2020-01-02 12:00") == 1, "the survey that the venue keeps to itself is not shown"

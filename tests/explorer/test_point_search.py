"""The page that searches points: what it finds, counts and links to, and what it never finds."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from explored import LIVELY, explored, known, words_of
from invented_points import split
from invented_tables import ICLR, ICML, TMLR, a_forum, paper, review
from peercorpus.explorer import point_search
from peercorpus.explorer.point_search import PointSelection, read_point_selection
from peercorpus.records.enums import SectionKind
from peercorpus.records.points import PointAspect, PointKind
from peercorpus.records.reviews import Section

HIT = re.compile(r'<h2><a href="[^"]*#point-([^"]+)">')
TOTAL = re.compile(r'<strong id="total">([\d,]+)</strong>')
MANY = 60


def many() -> dict[str, list[object]]:
    """Two venues with points and one without: a review with many questions, and one with a few weaknesses."""
    questions = "\n".join(f"{n}. Why is baseline number{n} missing?" for n in range(1, MANY + 1))
    asked = review("Asked001", sections=(Section(SectionKind.QUESTIONS, "questions", questions),))
    plain = "1. The baselines are missing.\n2. The figures are blurred; mail eve@example.org.\n3. No novelty."
    told = review("Told0002", venue_id=ICML, sections=(Section(SectionKind.WEAKNESSES, "weaknesses", plain),))
    aspects: dict[int, dict[str, Any]] = {
        1: {"aspect": PointAspect.EXPERIMENTS},
        2: {"aspect": PointAspect.CLARITY, "kind": PointKind.MINOR},
    }
    return {
        ICLR: [paper("Asked001", title="Kites <b>asked</b>"), asked, *split(asked)],
        ICML: [paper("Told0002", ICML), told, *split(told, aspects)],
        TMLR: [paper("Silent03", TMLR)],
    }


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with explored(tmp_path_factory.mktemp("asked") / "corpus", many()) as client:
        yield client


def found(client: TestClient, query: str) -> list[str]:
    answer = client.get(f"/points?{query}")
    assert answer.status_code == 200
    return HIT.findall(answer.text)


def total(client: TestClient, query: str) -> int:
    (number,) = TOTAL.findall(client.get(f"/points?{query}").text)
    return int(number.replace(",", ""))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("q=missing+baseline", MANY + 1),
        ("q=missing+baseline&kind=weakness", 1),
        ("q=baselines&kind=question", MANY),
        ('q="baselines+are"', 1),
        ("q=missing+-baseline", 0),
        ("q=-missing", 2),
        ("q=number7", 1),
        ("q=kites", 0),
        ("aspect=clarity", 1),
        ("aspect=clarity&kind=weakness", 0),
        ("q=blurred&aspect=clarity", 1),
        ("q=blurred&aspect=experiments", 0),
        ("venue=icml.cc/2023/conference", 3),
        ("q=missing&venue=ICML.cc/2023/Conference", 1),
        ("year=2020", MANY),
        ("q=missing&year=2023", 1),
        ("q=missing&year=1999", 0),
        ("venue=TMLR", 0),
        ("", MANY + 3),
        ("kind=all", MANY + 3),
    ],
)
def test_words_and_filters_find_points(asking: TestClient, query: str, expected: int) -> None:
    assert total(asking, query) == expected
    assert len(found(asking, query)) == min(expected, point_search.PAGE)


def test_points_that_ask_are_the_default(client: TestClient) -> None:
    assert found(client, "") == [f"{LIVELY}-R1-2", f"{LIVELY}-R1-3"]
    assert found(client, "kind=summary") == [f"{LIVELY}-R1-1"]
    assert total(client, "kind=all") == 3
    assert total(client, "q=invent") == 0
    assert total(client, "q=invent&kind=all") == 1


FACET = re.compile(r"<section>\s*<h2>(.*?)</h2>(.*?)</section>", re.DOTALL)
VALUE = re.compile(r'<li>(?:<a href="/points\?([^"]*)">|<span>)(.*?)</(?:a|span)> <span class="n">([\d,]+)<')


def facets(client: TestClient, query: str) -> dict[str, dict[str, tuple[int, str]]]:
    return {
        title: {label: (int(count), unescape(link)) for link, label, count in VALUE.findall(body)}
        for title, body in FACET.findall(client.get(f"/points?{query}").text)
    }


@pytest.mark.parametrize(
    "query", ["kind=all", "", "venue=ICML.cc/2023/Conference", "kind=question", "year=2023&kind=all", "answered=no"]
)
def test_both_ways_of_counting_agree(asking: TestClient, query: str) -> None:
    """Without words they are added from what is counted of venues, with words the index counts."""
    shown = facets(asking, query)
    assert shown
    of_words = facets(asking, f"{query}&q=*")
    assert {title: {name: one[0] for name, one in values.items()} for title, values in shown.items()} == {
        title: {name: one[0] for name, one in values.items()} for title, values in of_words.items()
    }
    for values in (*shown.values(), *of_words.values()):
        assert sum(count for count, _ in values.values()) == total(asking, query)
        for count, link in values.values():
            assert not link or total(asking, link) == count


def test_facets_of_points(client: TestClient) -> None:
    shown = facets(client, "kind=all")
    counts = {title: {name: one[0] for name, one in values.items()} for title, values in shown.items()}
    assert counts == {
        "Venue": {"ICLR.cc/2020/Conference": 3},
        "Year": {"2020": 3},
        "Kind": {"Summary": 1, "Weakness": 1, "Question": 1},
        "Aspect": {"Experiments": 1, "Not known": 2},
        "Answer of the authors": {"An answer found": 1, "No answer found": 2},
    }
    assert found(client, shown["Answer of the authors"]["An answer found"][1]) == [f"{LIVELY}-R1-2"]
    assert found(client, "answered=no") == [f"{LIVELY}-R1-3"]


def test_a_hit_names_paper_and_kind(client: TestClient, asking: TestClient) -> None:
    page = client.get("/points?q=baselines").text
    assert "1. The gale <mark>baseline</mark> is missing." in page
    hit = words_of(page[page.index('<li class="paper">') : page.index("</ol>")])
    assert hit == (
        "Kites in strong wind 1. The gale baseline is missing."
        " Weakness 1 Experiments ICLR.cc/2020/Conference R1 2 answers resolved Criticisms like this one"
    )
    assert "no answer found" in words_of(client.get("/points?q=ablation").text)
    assert "Kites &lt;b&gt;asked&lt;/b&gt;" in asking.get("/points?q=number7").text


def test_addresses_are_masked_and_unsearchable(asking: TestClient) -> None:
    assert "eve@example.org" not in asking.get("/points?q=blurred").text
    assert total(asking, "q=eve") == 0


def test_pages_of_points_are_consecutive(asking: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = [found(asking, f"q=missing&kind=question&page={page}") for page in (1, 2, 3)]
    assert [len(page) for page in pages] == [25, 25, 10]
    assert len({hit for page in pages for hit in page}) == MANY
    beyond = asking.get("/points?q=missing&kind=question&page=99").text
    assert HIT.findall(beyond) == []
    assert "There is no page 99: the search has 3 pages." in beyond
    assert '<a href="/points?q=missing&amp;kind=question&amp;page=3">Show the last page</a>' in beyond
    assert 'href="/points?q=missing&amp;kind=question&amp;page=2"' in asking.get("/points?q=missing&kind=question").text
    monkeypatch.setattr(point_search, "MOST_PAGES", 2)
    last = asking.get("/points?page=2&q=missing&kind=question")  # Another address: that one is kept.
    assert HIT.findall(last.text) == pages[1]
    assert "can be paged through" in last.text
    assert "the search has 2 pages." in asking.get("/points?q=missing&kind=question&page=98").text


def test_an_invalid_address_finds_nothing(asking: TestClient) -> None:
    for query in ("kind=questions", "aspect=beauty", "what=question", "&".join(f"x{n}=1" for n in range(300))):
        page = asking.get(f"/points?{query}&q=missing").text
        assert 'role="alert"' in page, query
        assert TOTAL.findall(page) == ["0"]
    assert "did you mean 'question'" in unescape(asking.get("/points?kind=questions").text)


@pytest.mark.parametrize(
    "query", ["q=%00", "q=%22((", "q=text:*", "q=row:x", "q=kind:question", "q=*", "page=-1", "q=a:b"]
)
def test_no_query_breaks_points(asking: TestClient, query: str) -> None:
    assert asking.get(f"/points?{query}").status_code == 200


@pytest.mark.slow
def test_venues_without_points_are_named(asking: TestClient, tmp_path: Path) -> None:
    page = words_of(asking.get("/points").text)
    assert "not split into points: TMLR. peercorpus build --workspace" in page
    with explored(tmp_path / "corpus", known()) as client:
        none = words_of(client.get("/points?q=kites").text)
        assert f"peercorpus build --workspace {tmp_path / 'corpus'} --points" in none
        assert "No review is split into points yet." in none
    assert "split into points" not in words_of(asking.get("/venues").text)


@pytest.mark.slow
def test_taken_down_points_are_not_found(tmp_path: Path) -> None:
    venues = many()
    venues[ICLR] += a_forum("Zz000001")
    with explored(tmp_path / "corpus", venues, ("Asked001",)) as client:
        assert total(client, "kind=all") == 3
        assert total(client, "q=missing") == 1
        assert "Asked001" not in client.get("/points?kind=all").text


def test_an_address_selects_the_same_points() -> None:
    asked = PointSelection("a b", "question", "clarity", "tmlr", "2020", 3)
    assert read_point_selection(asked.query_string()) == asked
    assert PointSelection().query_string() == ""

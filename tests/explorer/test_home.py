"""The home page: its counts match what its links find and what the report counts."""

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from explored import explored
from invented_tables import ICLR, ICML, TMLR, paper, review, score
from peercorpus.records.enums import Aspect, Phase, Status
from peercorpus.report.write_report import open_source

CHART = re.compile(r'<figure class="chart">(.*?)</figure>', re.DOTALL)
BAR = re.compile(r'<a href="(/papers\?[^"]+)">.*?<td class="num">([\d,]+)</td>', re.DOTALL)
TOTAL = re.compile(r'<strong id="total">([\d,]+)</strong>')
FIRST_AND_LAST: list[list[tuple[int | None, int]]] = [
    # Initial and current ratings of the reviews of a paper; None: not known.
    [(3, 3), (8, 8)],
    [(5, 6), (6, 6)],
    [(5, 8), (3, 8), (4, 8)],
    [(10, 10)],
    [(1, 1), (1, 1)],
    [(6, 3), (6, 6)],
    [(None, 7), (None, 4)],
    [],
    [(2, 3), (3, 2)],
]


def _rated(forum_id: str, venue_id: str, status: Status, pairs: list[tuple[int | None, int]]) -> list[object]:
    records: list[object] = [paper(forum_id, venue_id, status=status, title=f"Paper {forum_id}")]
    for number, (first, last) in enumerate(pairs):
        scores = [score("rating", last, str(last), Aspect.RECOMMENDATION, Phase.FINAL)]
        if first is not None:
            scores.insert(0, score("rating", first, str(first), Aspect.RECOMMENDATION, Phase.INITIAL))
        records.append(review(forum_id, f"R{number}", venue_id, scores=tuple(scores), revised=True))
    return records


def scored() -> dict[str, list[object]]:
    """Papers of three venues, one without a year, with every kind of rating, change and decision."""
    statuses = list(Status)
    venues: dict[str, list[object]] = {}
    for place, venue_id in enumerate((ICLR, ICML, TMLR)):
        venues[venue_id] = [
            record
            for number, pairs in enumerate(FIRST_AND_LAST)
            for record in _rated(f"s{place}{number}", venue_id, statuses[(number + place) % len(statuses)], pairs)
        ]
    return venues


@pytest.fixture(scope="module")
def scored_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home") / "scored"


@pytest.fixture(scope="module")
def home(scored_folder: Path) -> Iterator[TestClient]:
    with explored(scored_folder, scored()) as client:
        yield client


def _total(client: TestClient, link: str) -> int:
    total = TOTAL.search(client.get(unescape(link)).text)
    assert total is not None, link
    return int(total[1].replace(",", ""))


def test_bars_count_what_links_find(home: TestClient) -> None:
    links = BAR.findall("".join(CHART.findall(home.get("/").text)))
    assert len(links) > 20
    assert {link: _total(home, link) for link, _ in links} == {link: int(count) for link, count in links}


def test_drawn_and_unknown_papers_add_up(home: TestClient) -> None:
    charts = CHART.findall(home.get("/").text)
    shown = [re.search(r"n = (\d+) papers(?:; not known: (\d+))?<", chart) for chart in charts]
    assert [int(each[1]) + int(each[2] or 0) for each in shown if each] == [27] * 5


def test_a_year_has_its_share_accepted(home: TestClient) -> None:
    years = CHART.findall(home.get("/").text)[0]
    (shown,) = re.findall(r">2020: (\d+) %</a>", years)
    found = [_total(home, f"/papers?year=2020&status={status}") for status in ("accepted", "rejected")]
    assert int(shown) == round(100 * found[0] / sum(found))


@pytest.mark.parametrize(
    "where",
    [
        *(["rating_share>=0.5"], ["rating_share<0.3"], ["spread_share=0"], ["spread_share>0.4"], ["change_share=0"]),
        *(["change_share>0", "change_share<=0.15"], ["change_share>0.3"], ["change_share<0"], ["change_share!=0"]),
    ],
)
def test_search_and_report_select_alike(home: TestClient, scored_folder: Path, where: list[str]) -> None:
    exported = home.get("/export.jsonl", params={"where": where}).text
    with open_source(scored_folder, where) as chosen:
        expected = sorted(chosen.papers["forum_id"])
    assert expected
    assert sorted(re.findall(r'^\{"forum_id":"([^"]+)"', exported, re.MULTILINE)) == expected


def test_home_shows_size_and_beginnings(home: TestClient) -> None:
    page = home.get("/").text
    assert "<h1>27 papers, and what their reviewers said</h1>" in page
    assert "<dt>Reviews</dt><dd>48</dd>" in page
    raised = page.partition(">Raised most</h3>")[2].partition("</section>")[0]
    assert re.findall(r"/paper/(s\d2)", raised)[:3] == ["s02", "s12", "s22"]
    assert "raised by 44 % of the scale" in raised


def test_spread_is_a_share_of_scales(tmp_path: Path) -> None:
    def rate(forum_id: str, venue_id: str, low: float, high: float, best: float) -> list[object]:
        scores = [
            replace(score("rating", value, f"{value:g}", Aspect.RECOMMENDATION, Phase.FINAL), low=low, high=high)
            for value in (best * low / high + 1.0, best)
        ]
        reviews = (review(forum_id, f"R{number}", venue_id, scores=(one,)) for number, one in enumerate(scores))
        return [paper(forum_id, venue_id), *reviews]

    venues = {ICLR: rate("wide", ICLR, 0.0, 100.0, 41.0), ICML: rate("steep", ICML, 0.0, 4.0, 4.0)}
    with explored(tmp_path / "scales", venues) as client:
        least = client.get("/").text.partition(">Least agreed on</h3>")[2].partition("</section>")[0]
        assert re.findall(r"/paper/(\w+)", least) == ["steep", "wide"]
        assert re.findall(r"spread (\d+) % of the scale", least) == ["75", "40"]
        assert re.findall(r'<h2><a href="/paper/(\w+)', client.get("/papers?sort=spread").text) == ["steep", "wide"]


@pytest.mark.slow
def test_what_cannot_be_drawn_is_said(tmp_path: Path) -> None:
    with explored(tmp_path / "bare", {TMLR: [paper("bare", TMLR)]}) as client:
        page = client.get("/").text
    assert "Not drawn, as not known of any paper: mean rating" in page
    assert "Mean rating" not in "".join(CHART.findall(page))


def test_differing_rules_are_warned_of(tmp_path: Path) -> None:
    others = ("ICML.cc/2023/Conference", "ICML.cc/2025/Conference")
    for name, venue_ids, is_told in (("one", others[:1], False), ("two", others, True)):
        with explored(
            tmp_path / name, {venue_id: [paper(f"p{venue_id}", venue_id)] for venue_id in venue_ids}
        ) as client:
            assert ("Pools venue-years whose rules differ" in client.get("/").text) is is_told

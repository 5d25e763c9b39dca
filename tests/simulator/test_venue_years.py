"""The simulated venues in any number of years."""

import re
from collections.abc import Mapping
from statistics import mean, quantiles
from typing import cast

import pytest

from peercorpus.errors import PeercorpusError
from peercorpus.simulator.world.venues import FIRST, VENUES, YEAR, find_venues, venue_years
from peercorpus.simulator.world.world import build_world


def test_venues_come_first_then_conferences_of_earlier_years() -> None:
    found = venue_years(22)
    assert found[:5] == VENUES
    assert len({venue.venue_id for venue in found}) == 22
    assert [venue.venue_id for venue in found[5:9]] == [
        "Aurora.cc/2019/Conference",
        "Borealis.cc/2023/Conference",
        "Cascadia.cc/2024/Conference",
        "DALES/2022/Conference",
    ]


def test_an_earlier_year_is_the_same_venue_at_its_own_time() -> None:
    borealis = next(venue for venue in VENUES if venue.venue_id == "Borealis.cc/2024/Conference")
    (before,) = find_venues(["Borealis.cc/2022/Conference"])
    assert (before.short, before.website) == ("Borealis 2022", "https://borealis.example.org/2022")
    assert before.labels == {name: label.replace("2024", "2022") for name, label in borealis.labels.items()}
    year_ms = 365.25 * 86_400_000
    for moment in ("opens", "registration", "deadline", "released", "camera_ready"):
        assert getattr(borealis.calendar, moment) - getattr(before.calendar, moment) == pytest.approx(2 * year_ms)
    (aurora,) = find_venues(["Aurora.cc/2018/Conference"])
    assert aurora.calendar.registration == 0


def test_no_venue_year_is_older_than_openreview() -> None:
    with pytest.raises(PeercorpusError, match="venue-years"):
        venue_years(1_000)
    most = len(VENUES) + sum(int(YEAR.findall(one.venue_id)[0]) - FIRST for one in VENUES if "20" in one.venue_id)
    assert len(venue_years(most)) == most


def test_a_world_of_22_venue_years_has_papers_at_each() -> None:
    world = build_world(papers=44, number=22)
    for venue in venue_years(22):
        holdings = world.v1 if venue.api == 1 else world.v2
        # Their signatures name the paper, and so the venue.
        held = [note for note in holdings.notes.values() if f"{venue.venue_id}/" in str(note.get("signatures"))]
        assert held, venue.venue_id


@pytest.mark.slow
def test_large_papers_have_texts_of_their_own_and_threads_as_long_as_real_ones() -> None:
    venue = venue_years(1)[0]
    world = build_world(papers=192, venues=[venue.venue_id], is_large=True)
    reviews = [note for note in world.v1.notes.values() if str(note["invitation"]).endswith("Official_Review")]
    texts = [str(cast(Mapping[str, object], note["content"])["review"]) for note in reviews]
    words = [len(re.findall(r"\w+", text)) for text in texts]
    assert mean(words) == pytest.approx(434, rel=0.15)
    assert quantiles(words)[0] == pytest.approx(265, rel=0.2)
    assert quantiles(words)[2] == pytest.approx(538, rel=0.2)
    assert len(set(texts)) == len(texts)
    files = [content() for content in list(dict.fromkeys(world.v1.files.values()))[-6:]]
    assert len(set(files)) == 6
    assert max(map(len, files)) < 300_000


@pytest.mark.slow
def test_large_papers_share_texts_on_request() -> None:
    venue = venue_years(1)[0]
    world = build_world(papers=24, venues=[venue.venue_id], is_large=True, papers_per_file=12)
    files = {content() for content in world.v1.files.values()}
    assert len(files) < len(world.v1.files) / 2

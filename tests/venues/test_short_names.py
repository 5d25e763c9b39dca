"""Short names identify one venue, or are refused with suggestions."""

import pytest

from commands import Run, assert_refused
from peercorpus.errors import VenueNotFoundError
from peercorpus.venues.short_names import read_venue_id, read_venue_or_conference


@pytest.mark.parametrize(
    ("text", "venue_id"),
    [
        ("ICLR2024", "ICLR.cc/2024/Conference"),
        ("iclr 2024", "ICLR.cc/2024/Conference"),
        (" ICLR-2024 conference ", "ICLR.cc/2024/Conference"),
        ("NeurIPS-2023", "NeurIPS.cc/2023/Conference"),
        ("nips2023", "NeurIPS.cc/2023/Conference"),
        ("NeurIPS_2023_Datasets_and_Benchmarks", "NeurIPS.cc/2023/Track/Datasets_and_Benchmarks"),
        ("COLM2024", "colmweb.org/COLM/2024/Conference"),
        ("tmlr", "TMLR"),
        ("https://openreview.net/group?id=ICLR.cc/2024/Conference", "ICLR.cc/2024/Conference"),
        ("https://openreview.net/group?id=Kites2031", "Kites2031"),
        ("Kites.org/2031/Conference", "Kites.org/2031/Conference"),
        ("JLE", "JLE"),
    ],
)
def test_a_short_name_means_one_venue(text: str, venue_id: str) -> None:
    assert read_venue_id(text) == venue_id


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("iclr", ("ICLR.cc/2026/Conference", "ICLR.cc/2013/conference")),
        ("arr2024", ("aclweb.org/ACL/ARR/2024/April", "3 venues")),
        ("NIPS 2018 workshop", ("CDNNRIA", "Spatiotemporal")),
        ("ICLR2042", ("'ICLR2042'", "group?id=", "did you mean")),
        ("iclr24", ("did you mean 'iclr2024'", "group?id=")),
        ("ICRL2024", ("did you mean 'iclr2024'", "group?id=")),
        ("CASCADIA2025", ("'peercorpus venues'", "group?id=")),
        ("Kites2031", ("'peercorpus venues'", "group?id=")),
        ("2024", ("'2024'",)),
        ("", ("ICLR2024",)),
        ("https://openreview.net/group?id=", ("ICLR2024",)),
    ],
)
def test_an_ambiguous_or_unknown_name_is_refused(text: str, named: tuple[str, ...]) -> None:
    with pytest.raises(VenueNotFoundError) as raised:
        read_venue_id(text)
    assert [part for part in named if part not in str(raised.value)] == []


def test_a_venue_of_the_workspace_may_be_meant() -> None:
    held = ["Kites.org/2031/Conference", "Kites.org/2031/Workshop/Tails", "aclweb.org/ACL/ARR/2024/April"]
    assert read_venue_id("kites2031", held) == held[0]
    assert read_venue_id("kites 2031 tails", held) == held[1]
    assert read_venue_id("arr2024", held) == held[2]


def test_a_conference_name_may_stay() -> None:
    names = ["iclr", "ICLR2024", "Kites2031", "ICLR.cc/2024/Conference"]
    expected = ["iclr", "ICLR.cc/2024/Conference", "Kites2031", "ICLR.cc/2024/Conference"]
    assert [read_venue_or_conference(name) for name in names] == expected


def test_a_harvest_refuses_a_name_before_any_request(run: Run, tmp_path: object) -> None:
    for name, named in (("arr2024", "aclweb.org/ACL/ARR/2024/April"), ("Kites2031", "group?id=")):
        nowhere = ["--url-v1", "http://127.0.0.1:1", "--url-v2", "http://127.0.0.1:1"]
        assert_refused(run("harvest", name, "-w", f"{tmp_path}/new", *nowhere), named)
    assert run("venues", "iclr 2024").out == run("venues", "ICLR.cc/2024/Conference").out

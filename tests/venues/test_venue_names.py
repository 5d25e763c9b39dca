"""A name means one venue: a user's, or it is refused with suggestions; a dataset's, or a stand-in; a file's."""

import pytest

from commands import Run, assert_refused
from peercorpus.errors import VenueNotFoundError
from peercorpus.venues.venue_names import read_venue_id, read_venue_or_conference, venue_named, venue_of_file


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
        ("https://openreview.net/group?id=ICLR.cc/2024/Conference#tab-accept", "ICLR.cc/2024/Conference"),
        ("openreview.net/group?referrer=x&id=JLE", "JLE"),
        ("Kites.org/2031/Conference", "Kites.org/2031/Conference"),
        ("JLE", "JLE"),
        (" JLE ", "JLE"),
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


NAMES = {
    "NeurIPS 2022 Conference": "NeurIPS.cc/2022/Conference",
    "nips 2022 main": "NeurIPS.cc/2022/Conference",
    "ICLR 2023 Workshop Tiny Papers": "ICLR.cc/2023/TinyPapers",
    "ICLR 2018 Workshop": "ICLR.cc/2018/Workshop",
    "NeurIPS 2023 Track Datasets and Benchmarks": "NeurIPS.cc/2023/Track/Datasets_and_Benchmarks",
    "neurips 2024 datasets_and_benchmarks": "NeurIPS.cc/2024/Datasets_and_Benchmarks_Track",
    "tmlr 2024 main": "TMLR",
    # Two rounds fit, so none does.
    "NeurIPS 2021 Track Datasets and Benchmarks": "published/NeurIPS/2021/Track_Datasets_and_Benchmarks",
    "ICLR 2023 Workshop Kites": "published/ICLR/2023/Workshop_Kites",
    "Kites": "published/Kites",
    "": "unplaced",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_datasets_name_means_one_venue(name: str) -> None:
    assert venue_named(name) == NAMES[name]


@pytest.mark.parametrize(
    ("name", "venue_id"),
    [
        ("iclr2019_review_content.jsonl.gz", "ICLR.cc/2019/Conference"),
        ("iclr/2019/reviews.jsonl", "ICLR.cc/2019/Conference"),
        ("data/ICLR.cc/2019/Conference/notes.json", "ICLR.cc/2019/Conference"),
        ("ICLR.cc_2019_Conference_to_ICLR.cc_2020_Conference.json", None),
        ("nips-2022-reviews.json", "NeurIPS.cc/2022/Conference"),
        ("neurips2022_datasets_and_benchmarks.json", None),
        ("iclr2023_tiny_papers.json", None),
        ("iclr2018_workshop.json", None),
        ("iclr2019_iclr2020.json", None),
        ("iclr2019-2020.json", None),
        ("crawl_log_2023.json", None),
        ("reviews.json", None),
        ("2019.json", None),
        ("iclr.json", None),
    ],
)
def test_a_files_name_means_one_venue(name: str, venue_id: str | None) -> None:
    assert venue_of_file(name) == venue_id

"""`peercorpus venues` lists what the catalogue knows, and compares it with OpenReview."""

import json
from collections.abc import Iterator

import pytest

from commands import Run, assert_refused
from peercorpus.harvest.catalogue_check import CONTRADICTIONS, Checked, Difference, Found
from peercorpus.simulator.server import Service, serve
from peercorpus.simulator.world import build_world
from peercorpus.venues.catalogue import Visibility, row_of, rows
from peercorpus.wording_venues import SEEN, check_sum, checked_line, table

BOREALIS = "Borealis.cc/2024/Conference"


@pytest.fixture
def service() -> Iterator[Service]:
    with serve(build_world(papers=5), sign_in_required=True) as running:
        yield running


def urls(service: Service) -> list[str]:
    return ["--url-v1", service.base_url_v1, "--url-v2", service.base_url_v2]


def test_the_table_has_every_venue_and_fits_into_100_columns(run: Run) -> None:
    ended = run("venues")
    assert (ended.code, ended.err) == (0, "")
    assert max(map(len, ended.out.splitlines())) <= 100
    assert all(row.id in ended.out for row in rows())
    assert f"\n{len(rows())} venues.\n" in ended.out


def test_a_line_has_what_is_known_and_a_dash_for_what_is_not(run: Run) -> None:
    lines = run("venues", "--family", "ICLR").out.splitlines()
    [known] = [line.split() for line in lines if line.startswith("ICLR.cc/2024/Conference ")]
    [unknown] = [line.split() for line in lines if line.startswith("ICLR.cc/2014/workshop ")]
    assert known == ["ICLR.cc/2024/Conference", "v2", "2023-09-24", "2023-09-29", "11:59", "all", "A"]
    assert unknown == ["ICLR.cc/2014/workshop", "v1", "-", "-", "-", "C"]
    assert not any("NeurIPS" in line for line in lines)


def test_every_visibility_has_a_short_word() -> None:
    assert set(SEEN) == set(Visibility)
    assert len(set(SEEN.values())) == len(SEEN)


def test_a_year_and_single_venues_can_be_chosen(run: Run) -> None:
    chosen = json.loads(run("venues", "--year", "2021", "--json").out)
    assert {row["year"] for row in chosen} == {2021}
    assert {row["family"] for row in chosen} >= {"iclr", "neurips", "corl"}
    [named] = json.loads(run("venues", "TMLR", "--json").out)
    assert (named["id"], named["year"], named["full_deadline"]) == ("TMLR", None, None)
    page = "https://openreview.net/group?id=TMLR"
    assert run("venues", page).out == table([row for row in rows() if row.id == "TMLR"]) + "\n"


def test_json_has_the_source_of_everything(run: Run) -> None:
    found = json.loads(run("venues", "--json").out)
    assert [row["id"] for row in found] == [row.id for row in rows()]
    assert all(row["source"] for row in found)
    [iclr] = [row for row in found if row["id"] == "ICLR.cc/2024/Conference"]
    assert iclr["full_deadline"]["at"] == "2023-09-29T11:59:00Z"
    assert "iclr.cc/Conferences/2024" in iclr["full_deadline"]["source"]
    assert iclr["visibility"] == "public"
    assert iclr["visibility_source"]
    assert iclr["counts"]["accepted"] == 2260
    assert iclr["counts"]["rejected"] is None


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--family", "iclear"], "has no family 'iclear'; it knows 3dv, aaai, "),
        (["--family", "iclr", "--year", "2015"], "none of 2015; it knows 2013, 2014, 2016, "),
        ([BOREALIS], f"'{BOREALIS}' is not in the catalogue; add --check"),
        (["TMLR", "--family", "tmlr"], "not both"),
        (["--check", "--json"], "leave out --json or --check"),
        ([" "], "names no venue"),
    ],
)
def test_what_cannot_be_listed_is_refused_in_a_sentence(run: Run, arguments: list[str], sentence: str) -> None:
    assert_refused(run("venues", *arguments), sentence)


def test_a_venue_outside_the_catalogue_is_found_without_an_account(run: Run, service: Service) -> None:
    ended = run("venues", "--check", BOREALIS, "Aurora.cc/2020/Conference", *urls(service))
    assert ended.code == 0
    first, second, last = ended.out.splitlines()
    assert first == (
        f"{BOREALIS}: not in the catalogue; OpenReview has it on API v2, list '{BOREALIS}/-/Submission', "
        "submissions due 2023-09-24 11:59 UTC."
    )
    assert second.startswith("Aurora.cc/2020/Conference: not in the catalogue; OpenReview has it on API v1, list ")
    assert last == (
        "2 venues checked: 0 as the catalogue says, 0 that differ, 2 not in the catalogue, "
        "0 that contradict it or are missing."
    )
    assert "venues checked 2 of 2" in ended.err


def test_what_openreview_does_not_have_ends_with_1(run: Run, service: Service) -> None:
    ended = run("venues", "--check", "--family", "tmlr", *urls(service))
    assert (ended.code, ended.out.splitlines()[0]) == (1, "TMLR: OpenReview has no such venue.")
    assert ended.out.endswith("1 that contradict it or are missing.\n")
    ended = run("venues", "--check", "Nowhere.cc/2030", *urls(service))
    assert ended.code == 1
    assert ended.out.startswith("Nowhere.cc/2030: not in the catalogue; nor does OpenReview have it.\n")


def test_every_difference_has_its_words_on_one_line() -> None:
    row = row_of("ICLR.cc/2024/Conference")
    assert row is not None
    assert row.full_deadline is not None
    said = {}
    for difference in Difference:
        found = None if difference is Difference.MISSING else Found(1, ("a",), row.full_deadline.at)
        line = checked_line(Checked(row.id, row, found, (difference,)))
        assert line is not None
        assert "\n" not in line
        said[difference] = line
    assert len(set(said.values())) == len(Difference)
    assert "2023-09-29 11:59 UTC" in said[Difference.DUE_EARLIER]
    assert "on API v1, the catalogue on v2" in said[Difference.OTHER_API]
    assert checked_line(Checked(row.id, row, Found(2, (), None), ())) is None
    both = Checked(row.id, row, Found(1, ("a",), None), (Difference.OTHER_API, Difference.LIST_NOT_SHOWN))
    assert (checked_line(both) or "").count(";") == 1


def test_what_openreview_names_cannot_move_the_terminal() -> None:
    line = checked_line(Checked("X", None, Found(2, ("\x1b[2J\u202ex",), None), ()))
    assert line is not None
    assert line.isprintable()


def test_the_sum_counts_every_venue_once() -> None:
    row, found = row_of("TMLR"), Found(2, (), None)
    one_each = [
        Checked("a", row, found, ()),
        Checked("b", row, found, (Difference.LIST_NOT_SHOWN,)),
        Checked("c", row, found, tuple(CONTRADICTIONS)),
        Checked("d", None, found, ()),
        Checked("e", None, None, (Difference.MISSING,)),
    ]
    assert check_sum(one_each) == (
        "5 venues checked: 1 as the catalogue says, 1 that differ, 1 not in the catalogue, "
        "2 that contradict it or are missing."
    )

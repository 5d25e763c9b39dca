"""`peercorpus venues` lists the catalogue."""

import json

import pytest

from commands import Run, assert_refused
from peercorpus.cli.venues import SEEN, catalogue_table
from peercorpus.venues.catalogue import Visibility, rows

BOREALIS = "Borealis.cc/2024/Conference"


def test_the_table_has_every_venue_and_fits_into_100_columns(run: Run) -> None:
    ended = run("venues")
    assert (ended.code, ended.err) == (0, "")
    assert max(map(len, ended.out.splitlines())) <= 100
    assert all(row.id in ended.out for row in rows())
    assert f"\n{len(rows())} venues.\n" in ended.out


def test_a_line_has_known_values_and_dashes_for_unknown_ones(run: Run) -> None:
    lines = run("venues", "--family", "ICLR").out.splitlines()
    [known] = [line.split() for line in lines if line.startswith("ICLR.cc/2024/Conference ")]
    [unknown] = [line.split() for line in lines if line.startswith("ICLR.cc/2014/workshop ")]
    assert known == ["ICLR.cc/2024/Conference", "v2", "2023-09-24", "2023-09-29", "11:59", "all", "A"]
    assert unknown == ["ICLR.cc/2014/workshop", "v1", "-", "-", "-", "C"]
    assert not any("NeurIPS" in line for line in lines)


def test_every_visibility_has_a_short_word() -> None:
    assert set(SEEN) == set(Visibility)
    assert len(set(SEEN.values())) == len(SEEN)


def test_a_year_and_single_venues_can_be_selected(run: Run) -> None:
    chosen = json.loads(run("venues", "--year", "2021", "--json").out)
    assert {row["year"] for row in chosen} == {2021}
    assert {row["family"] for row in chosen} >= {"iclr", "neurips", "corl"}
    [named] = json.loads(run("venues", "TMLR", "--json").out)
    assert (named["id"], named["year"], named["full_deadline"]) == ("TMLR", None, None)
    page = "https://openreview.net/group?id=TMLR"
    assert run("venues", page).out == catalogue_table([row for row in rows() if row.id == "TMLR"]) + "\n"


def test_json_has_the_source_of_each_value(run: Run) -> None:
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
        (["--family", "iclear"], "'iclear'"),
        (["--family", "iclr", "--year", "2015"], "2013, 2014, 2016"),
        ([BOREALIS], "peercorpus harvest"),
        (["TMLR", "--family", "tmlr"], "family"),
        ([" "], "' '"),
    ],
)
def test_what_cannot_be_listed_is_refused_in_a_sentence(run: Run, arguments: list[str], sentence: str) -> None:
    assert_refused(run("venues", *arguments), sentence)

"""`peercorpus venues` lists the catalogue."""

import json

import pytest

from commands import Run, assert_refused
from peercorpus.cli.venues import catalogue_table
from peercorpus.venues.catalogue import rows

BOREALIS = "Borealis.cc/2024/Conference"


def test_a_year_and_single_venues_can_be_selected(run: Run) -> None:
    chosen = json.loads(run("venues", "--year", "2021", "--json").out)
    assert {row["year"] for row in chosen} == {2021}
    assert {row["family"] for row in chosen} >= {"iclr", "neurips", "corl"}
    [named] = json.loads(run("venues", "TMLR", "--json").out)
    assert (named["id"], named["year"], named["full_deadline"]) == ("TMLR", None, None)
    page = "https://openreview.net/group?id=TMLR"
    assert run("venues", page).out == catalogue_table([row for row in rows() if row.id == "TMLR"]) + "\n"


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
def test_unlistable_ids_are_refused(run: Run, arguments: list[str], sentence: str) -> None:
    assert_refused(run("venues", *arguments), sentence)

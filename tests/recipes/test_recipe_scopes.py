"""The scopes of ReviewBench and Re² match their card and paper, and can be harvested."""

import re

import pytest

from commands import Run, assert_refused
from peercorpus.cli.recipe_steps import estimate
from peercorpus.recipes.recipe import Quantity, Recipe, RecipeName, parse_recipe, read_recipe
from peercorpus.release.reviews_json import FIELDS
from peercorpus.venues import catalogue
from peercorpus.venues.catalogue import Confidence
from peercorpus.venues.venue_id import year_of

REVIEWBENCH, RE2 = read_recipe(RecipeName.REVIEWBENCH), read_recipe(RecipeName.RE2)


@pytest.mark.parametrize("recipe", [REVIEWBENCH, RE2], ids=["reviewbench", "re2"])
def test_every_venue_of_a_scope_is_in_the_catalogue_with_a_source(recipe: Recipe) -> None:
    rows = [catalogue.row_of(venue.id) for venue in (*recipe.venue, *recipe.likely) if venue.id is not None]
    assert all(row is not None and row.confidence is not Confidence.D for row in rows)


def test_the_scope_of_reviewbench_has_the_years_of_the_card() -> None:
    years: dict[str, set[int | None]] = {}
    for venue in REVIEWBENCH.venue:
        years.setdefault(str(venue.split), set()).add(year_of(str(venue.id)))
    assert years == {
        "neurips": {2021, 2022, 2023, 2024, 2025},
        "iclr": set(range(2020, 2027)),
        "icml": {2025},
        "tmlr": {None},
        "emnlp": {2023},
        "corl": {2021, 2022, 2023, 2024},
        "colm": {2024, 2025},
    }
    named = {(venue.split, year_of(str(venue.id)), venue.track) for venue in REVIEWBENCH.venue}
    of_schema = {
        (venue.split, year_of(str(venue.id)), venue.track) for venue in REVIEWBENCH.venue if venue.source == "schema"
    }
    assert len(named - of_schema) == REVIEWBENCH.stated_venues == 22


def test_the_printed_numbers_of_the_splits_sum_to_the_printed_totals() -> None:
    for what in (Quantity.PAPERS, Quantity.BYTES):
        of_splits = [REVIEWBENCH.find_printed(what, split) or 0 for split in REVIEWBENCH.splits]
        assert sum(of_splits) == REVIEWBENCH.find_printed(what)


def test_the_documented_keys_are_those_that_a_release_writes() -> None:
    documented = [name for group in REVIEWBENCH.review_keys for name in group.names]
    assert set(documented) - {"extra_scores", "extra_text"} == set(FIELDS)
    assert len(documented) == len(set(documented))


def test_items_of_re2_that_no_text_names_are_counted() -> None:
    assert (len(RE2.venue), RE2.unnamed, RE2.stated_venues) == (2, 43, 45)
    assert REVIEWBENCH.unnamed == 0
    assert RE2.find_printed(Quantity.REBUTTALS) == 53_818
    assert {venue.name for venue in RE2.venue} == {"NeurIPS 2022 Conference", "ICLR 2023 Conference"}


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ('source = "card"', 'source = "hearsay"', "hearsay"),
        ("NeurIPS.cc/2022/Conference", "NeurIPS.cc/1822/Conference", "1822"),
    ],
)
def test_a_scope_without_a_source_or_of_an_unknown_venue_is_refused(old: str, new: str, named: str) -> None:
    from importlib.resources import files

    text = (files("peercorpus.recipes") / "re2.toml").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match=named):
        parse_recipe(text.replace(old, new))


def test_the_cost_counts_every_printed_paper_once() -> None:
    cost = estimate(REVIEWBENCH)
    assert set(cost.rest) == {"neurips", "iclr", "tmlr", "emnlp", "corl", "colm"}
    assert cost.unknown == ()
    assert cost.total.papers >= 51_529
    assert cost.rest["tmlr"].papers == 3_748
    assert cost.total.hours == pytest.approx(max(cost.total.note_requests / 500, cost.total.file_requests / 36))


@pytest.mark.parametrize("name", ["reviewbench", "re2"])
def test_without_a_workspace_a_recipe_prints_what_it_needs(run: Run, name: str) -> None:
    ended = run("recipe", name)
    assert (ended.code, ended.err) == (0, "")
    recipe = read_recipe(RecipeName(name))
    assert [venue.id for venue in recipe.venue if str(venue.id) not in ended.out] == []
    assert re.search(r"at least [\d,]+ requests for notes and edits and [\d,]+ for PDFs: about \d+ hours", ended.out)
    assert f"peercorpus harvest --scope {name}" in ended.out
    assert ("2 of 45; 43 are named nowhere" in ended.out) == (name == "re2")


def test_a_folder_needs_a_workspace(run: Run) -> None:
    assert_refused(run("recipe", "re2", "--from", "x"), "--workspace")


def test_a_harvest_without_venue_or_scope_is_refused(run: Run, tmp_path: object) -> None:
    assert_refused(run("harvest", "--workspace", str(tmp_path) + "/w"), "--scope")


def test_the_two_estimates_of_fetching_pdfs_are_explained(run: Run) -> None:
    printed = run("recipe", "reviewbench").out
    assert "17,758 for PDFs" in printed
    assert "because API 2 sends current ones 50 at a time" in printed
    assert "Earlier versions come one by one: one for each of 51,529 papers takes 1,431 hours (60 days)." in printed

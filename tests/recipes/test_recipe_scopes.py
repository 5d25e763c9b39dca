"""The scopes of ReviewBench and Re² match their card and paper, and can be harvested."""

import pytest

from peercorpus.recipes.recipe import Quantity, Recipe, RecipeName, parse_recipe, read_recipe
from peercorpus.release.reviews_json import FIELDS
from peercorpus.venues import catalogue
from peercorpus.venues.catalogue import Confidence

REVIEWBENCH, RE2 = read_recipe(RecipeName.REVIEWBENCH), read_recipe(RecipeName.RE2)


@pytest.mark.parametrize("recipe", [REVIEWBENCH, RE2], ids=["reviewbench", "re2"])
def test_every_venue_has_a_source(recipe: Recipe) -> None:
    rows = [catalogue.row_of(venue.id) for venue in (*recipe.venue, *recipe.likely) if venue.id is not None]
    assert all(row is not None and row.confidence is not Confidence.D for row in rows)


def test_the_printed_splits_sum_up() -> None:
    for what in (Quantity.PAPERS, Quantity.BYTES):
        of_splits = [REVIEWBENCH.find_printed(what, split) or 0 for split in REVIEWBENCH.splits]
        assert sum(of_splits) == REVIEWBENCH.find_printed(what)


def test_the_documented_keys_are_written() -> None:
    documented = [name for group in REVIEWBENCH.review_keys for name in group.names]
    assert set(documented) - {"extra_scores", "extra_text"} == set(FIELDS)
    assert len(documented) == len(set(documented))


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ('source = "card"', 'source = "hearsay"', "hearsay"),
        ("NeurIPS.cc/2022/Conference", "NeurIPS.cc/1822/Conference", "1822"),
    ],
)
def test_a_scope_needs_a_source(old: str, new: str, named: str) -> None:
    from importlib.resources import files

    text = (files("peercorpus.recipes") / "re2.toml").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match=named):
        parse_recipe(text.replace(old, new))

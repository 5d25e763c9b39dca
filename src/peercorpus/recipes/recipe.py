"""Read a recipe from a TOML file: the scope of a published dataset, and the numbers that its card or paper prints.

A venue that no public text names is not listed; it is included only in the number of venues that the dataset states.
"""

import tomllib
from enum import StrEnum
from functools import cache
from importlib.resources import files

import msgspec

from peercorpus.records.datasets import Dataset
from peercorpus.venues import catalogue


class RecipeName(StrEnum):
    """Name of a recipe's dataset."""

    REVIEWBENCH = "reviewbench"
    RE2 = "re2"


class Quantity(StrEnum):
    """The quantity that a printed number counts."""

    PAPERS = "papers"
    REVIEWS = "reviews"
    PAGES = "pages"
    """Pages of the papers' texts."""
    CONFERENCES = "conferences"
    VENUES = "venues"
    """In the dataset's own unit, such as combinations of venue and year."""
    FIRST_YEAR = "first_year"
    LAST_YEAR = "last_year"
    BYTES = "bytes"
    """Size of the rows in memory, as `datasets` states it."""
    DOWNLOAD_BYTES = "download_bytes"
    """Size of the Parquet files."""
    WITHOUT_TEXT = "without_text"
    """Papers without a text."""
    REBUTTALS = "rebuttals"
    """Conversations with one reviewer."""
    REBUTTAL_PAPERS = "rebuttal_papers"
    """Papers with such a conversation."""
    REVIEW_TEST_PAPERS = "review_test_papers"
    REBUTTAL_TEST_PAPERS = "rebuttal_test_papers"


class ScopeVenue(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A venue of the dataset.

    Attributes:
        id: OpenReview's id, which must be in the catalogue; None if unknown.
        name: The dataset's name for it; None if it uses the id.
        split: Split of the dataset with its papers; None if splits are not by venue.
        track: In the dataset's words.
    """

    id: str | None = None
    name: str | None = None
    split: str | None = None
    track: str | None = None
    source: str


class Printed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A number that the dataset's card or paper prints.

    Attributes:
        split: The split that it counts; None for all.
        is_about: Whether it is printed as approximate.
    """

    what: Quantity
    value: int
    split: str | None = None
    is_about: bool = False
    source: str


class ReviewKeys(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Keys of `reviews_json` that the card documents together.

    Attributes:
        where: Venues with values, in the card's words.
        splits: The splits that these words name, for some or all years; empty if they name none.
    """

    names: tuple[str, ...]
    where: str
    splits: tuple[str, ...] = ()


class PrintedFigure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A figure of the paper, the corresponding figure of a report, and the paper's statement about it."""

    name: str
    panel: str
    what: str
    says: str


class Recipe(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to reproduce a published dataset.

    Attributes:
        repository: Its id on the Hugging Face Hub.
        dataset: The kind of its paper records.
        stated_venues: Number of venues that it states, in `stated_unit`.
        likely: Venues that it probably includes; they are harvested only if named.
    """

    name: RecipeName
    title: str
    repository: str
    dataset: Dataset
    stated_venues: int
    stated_unit: str
    remark: str
    sources: dict[str, str]
    venue: tuple[ScopeVenue, ...]
    likely: tuple[ScopeVenue, ...] = ()
    printed: tuple[Printed, ...]
    review_keys: tuple[ReviewKeys, ...] = ()
    figure: tuple[PrintedFigure, ...] = ()

    @property
    def venue_ids(self) -> tuple[str, ...]:
        """Ids of the venues to harvest, in the order of the file."""
        return tuple(venue.id for venue in self.venue if venue.id is not None)

    @property
    def splits(self) -> tuple[str, ...]:
        """Splits of the dataset, in the order of the file; empty if its splits are not by venue."""
        return tuple(dict.fromkeys(venue.split for venue in self.venue if venue.split is not None))

    @property
    def unnamed(self) -> int:
        """Number of stated venues that no public text names; 0 if the whole scope is known."""
        return 0 if self.splits else self.stated_venues - len(self.venue)

    def find_printed(self, what: Quantity, split: str | None = None) -> int | None:
        """Return the exact number printed for a quantity; None if none is printed."""
        numbers = (number for number in self.printed if (number.what, number.split) == (what, split))
        return next((number.value for number in numbers if not number.is_about), None)

    def holds(self, venue_id: str) -> bool:
        """Return whether a venue is, or probably is, in the scope."""
        return venue_id in {venue.id for venue in (*self.venue, *self.likely)}


def parse_recipe(text: str) -> Recipe:
    """Parse the recipe in a TOML text.

    Raises:
        ValueError: It names a source that it does not declare, or a venue that is missing from the catalogue.
    """
    recipe = msgspec.convert(tomllib.loads(text), Recipe)
    named = {venue.source for venue in (*recipe.venue, *recipe.likely)} | {number.source for number in recipe.printed}
    if unknown := sorted(named - recipe.sources.keys()):
        raise ValueError(f"The recipe {recipe.name} does not declare the source '{unknown[0]}'.")
    ids = [venue.id for venue in (*recipe.venue, *recipe.likely) if venue.id is not None]
    if missing := [venue_id for venue_id in ids if catalogue.row_of(venue_id) is None]:
        raise ValueError(f"The recipe {recipe.name} names '{missing[0]}', which is missing from the catalogue.")
    return recipe


@cache
def read_recipe(name: RecipeName) -> Recipe:
    """Return a recipe of the package."""
    return parse_recipe((files("peercorpus.recipes") / f"{name}.toml").read_text(encoding="utf-8"))

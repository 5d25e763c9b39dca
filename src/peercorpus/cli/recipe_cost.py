"""Estimate the cost of harvesting a recipe's scope, without requests to OpenReview."""

from collections.abc import Mapping
from dataclasses import dataclass

from peercorpus.harvest.plan import RoughCost, estimate_unlisted
from peercorpus.recipes.recipe import Quantity, Recipe, ScopeVenue
from peercorpus.venues import catalogue


@dataclass(frozen=True, slots=True)
class ScopeCost:
    """Lower bounds for a harvest of a scope.

    Attributes:
        venues: Cost of each venue for which the catalogue has the number of submissions shown by OpenReview.
        rest: By split, the cost of the papers that the card prints and those venues do not account for.
        unknown: Venues for which neither is known; they are not in the total.
    """

    venues: Mapping[str, RoughCost]
    rest: Mapping[str, RoughCost]
    unknown: tuple[str, ...]

    @property
    def total(self) -> RoughCost:
        """The cost of all whose number is known."""
        return sum([*self.venues.values(), *self.rest.values()], RoughCost(0, 0, 0))


def estimate(recipe: Recipe) -> ScopeCost:
    """Return lower bounds for a harvest of a recipe's named venues."""
    venues, uncounted = {}, []
    for venue in recipe.venue:
        if venue.id is None:
            continue
        shown = _count_shown(venue.id)
        if shown is None:
            uncounted.append(venue)
        else:
            venues[venue.id] = estimate_unlisted(shown, _api(venue.id))
    rest, unknown = {}, []
    for split in dict.fromkeys(venue.split for venue in uncounted):
        of_split = [venue for venue in uncounted if venue.split == split]
        printed = recipe.find_printed(Quantity.PAPERS, split) if split is not None else None
        if split is None or printed is None:
            unknown += [str(venue.id) for venue in of_split]
            continue
        rest[split] = _estimate_rest(recipe, split, printed, of_split, venues)
    return ScopeCost(venues, rest, tuple(unknown))


def _estimate_rest(
    recipe: Recipe, split: str, printed: int, uncounted: list[ScopeVenue], venues: Mapping[str, RoughCost]
) -> RoughCost:
    of_split = {venue.id for venue in recipe.venue if venue.split == split}
    counted = sum(cost.papers for venue_id, cost in venues.items() if venue_id in of_split)
    # Which of them a paper belongs to is not known, so the cheaper API counts.
    api = max((_api(str(venue.id)) or 1 for venue in uncounted), default=1)
    return estimate_unlisted(max(0, printed - counted), api)


def _api(venue_id: str) -> int | None:
    row = catalogue.row_of(venue_id)
    return row.api if row is not None else None


def _count_shown(venue_id: str) -> int | None:
    """Return the number of submissions that OpenReview showed, according to the catalogue; None if not known."""
    row = catalogue.row_of(venue_id)
    if row is None or row.counts is None:
        return None
    counts = row.counts
    if counts.listed is not None:
        return counts.listed
    return None if counts.accepted is None or counts.rejected is None else counts.accepted + counts.rejected

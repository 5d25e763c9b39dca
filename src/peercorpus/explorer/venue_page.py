"""What the page of a venue shows: counts, how complete they are, and small figures."""

from collections.abc import Mapping
from dataclasses import dataclass

from peercorpus.explorer.bars import Bars, bars
from peercorpus.explorer.selection import Selection
from peercorpus.explorer.venue_counts import MOST_TURNS, VenueCounts
from peercorpus.explorer.words import GRADES, STATUSES, reason_in_words
from peercorpus.kinds import Grade, Status
from peercorpus.tables import Tables
from peercorpus.where import parse

MOST_STEPS = 24
"""Whole numbers on the scale of a venue, of which each gets a bar of its own."""


@dataclass(frozen=True, slots=True)
class VenuePage:
    """A venue.

    Attributes:
        set_aside: How many rows left a stage, by the stage and the reason in words.
    """

    counts: VenueCounts
    figures: list[Bars]
    set_aside: list[tuple[str, str, int]]
    link: str


def _of(venue_id: str, *further: str) -> str:
    return Selection(conditions=tuple(map(parse, (f"venue={venue_id}", *further)))).query_string()


def _ratings(counts: VenueCounts) -> tuple[dict[str, int], dict[str, str]]:
    """Papers by their mean rating, a bar for each whole number of the scale."""
    found = {int(name): count for name, count in counts.ratings.items()}
    low = min([*found, *([int(counts.low)] if counts.low is not None else [])], default=0)
    high = max([*found, *([int(counts.high)] if counts.high is not None else [])], default=-1)
    steps = range(low, high + 1) if high - low < MOST_STEPS else sorted(found)
    links = {str(step): _of(counts.venue_id, f"rating>={step}", f"rating<{step + 1}") for step in steps}
    return {str(step): found.get(step, 0) for step in steps}, links


def _figures(counts: VenueCounts) -> list[Bars]:
    statuses = {STATUSES[one]: counts.statuses[one] for one in Status if one in counts.statuses}
    status_links = {STATUSES[one]: _of(counts.venue_id, f"status={one}") for one in Status}
    grades = {GRADES[one][0]: counts.grades[one] for one in Grade if one in counts.grades}
    grade_links = {GRADES[one][0]: _of(counts.venue_id, f"grade={one}") for one in Grade}
    if "none" in counts.grades:
        grades["No version held"] = counts.grades["none"]
    ratings, rating_links = _ratings(counts)
    names = [*map(str, range(1, MOST_TURNS)), f"{MOST_TURNS} or more"]
    last = max((names.index(name) for name in counts.turns if name in names), default=-1)
    turns = {name: counts.turns.get(name, 0) for name in names[: last + 1]}
    changed = {name.capitalize(): counts.changed[name] for name in ("yes", "no", "not known") if name in counts.changed}
    change_links = {name.capitalize(): _of(counts.venue_id, f"score_changed={name}") for name in ("yes", "no")}
    return [
        bars("Decisions", "papers", statuses, status_links),
        bars("Mean rating, rounded down", "papers", ratings, rating_links),
        bars("Turns in a conversation", "conversations", turns),
        bars("Did a rating change?", "papers", changed, change_links),
        bars("How sure is the initial version?", "papers", grades, grade_links),
    ]


def _set_aside(tables: Tables, venue_id: str) -> list[tuple[str, str, int]]:
    return [
        (stage, reason_in_words(reason), count)
        for stage in tables.stages(venue_id)
        for reason, count in tables.set_aside_counts(venue_id, stage).items()
    ]


def venue_page(tables: Tables, counts: VenueCounts) -> VenuePage:
    """The page of one venue."""
    aside = _set_aside(tables, counts.venue_id)
    return VenuePage(counts, [one for one in _figures(counts) if one.bars], aside, _of(counts.venue_id))


def by_conference(venues: Mapping[str, VenueCounts]) -> list[tuple[str, list[VenueCounts]]]:
    """The venues under their conference families, the latest first."""
    families: dict[str, list[VenueCounts]] = {}
    for counts in sorted(venues.values(), key=lambda one: (-(one.year or 9999), one.venue_id)):
        families.setdefault(counts.conference, []).append(counts)
    return sorted(families.items())

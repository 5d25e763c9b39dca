"""The invented venues in other years: as many venue-years as one asks."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from itertools import count, islice

from peercorpus.errors import PeercorpusError
from peercorpus.simulator.venues import DAY_MS, VENUES, Calendar, Venue

YEAR = re.compile(r"\b20\d\d\b")
FIRST = 2013
"""OpenReview's own first year."""
DAYS_A_YEAR = 365.25


def earlier(venue: Venue, years: int) -> Venue:
    """A venue so many years before: its names say so, and all that happens there happens then.

    >>> earlier(VENUES[0], 2).venue_id
    'Aurora.cc/2018/Conference'
    """

    def dated(text: str) -> str:
        return YEAR.sub(lambda year: str(int(year[0]) - years), text)

    return replace(
        venue,
        venue_id=dated(venue.venue_id),
        title=dated(venue.title),
        short=dated(venue.short),
        website=dated(venue.website),
        calendar=_before(venue.calendar, years),
        labels={decision: dated(label) for decision, label in venue.labels.items()},
    )


def _before(calendar: Calendar, years: int) -> Calendar:
    shift = int(years * DAYS_A_YEAR * DAY_MS)
    moments = ((moment.name, getattr(calendar, moment.name)) for moment in fields(calendar))
    # A venue that has no such phase has 0.
    return replace(calendar, **{name: at - shift for name, at in moments if at})


def _all() -> Iterator[Venue]:
    """The venues, then in rounds the same one year earlier each time; a journal has no years."""
    yield from VENUES
    for years in count(1):
        dated = [venue for venue in VENUES if YEAR.search(venue.venue_id)]
        made = [earlier(venue, years) for venue in dated]
        known = [venue for venue in made if int(YEAR.findall(venue.venue_id)[0]) >= FIRST]
        if not known:
            return
        yield from known


def venue_years(number: int) -> tuple[Venue, ...]:
    """So many of them.

    Raises:
        PeercorpusError: There are not so many.
    """
    found = tuple(islice(_all(), number))
    if len(found) < number:
        raise PeercorpusError(f"The simulator has {len(found)} venue-years at most, not {number:,}.")
    return found


def find_venues(ids: Sequence[str]) -> tuple[Venue, ...]:
    """The venues with these ids, each once.

    Raises:
        PeercorpusError: A venue is not known.
    """
    known = {venue.venue_id: venue for venue in _all()}
    unknown = [venue_id for venue_id in ids if venue_id not in known]
    if unknown:
        here = ", ".join(venue.venue_id for venue in VENUES)
        raise PeercorpusError(f"The simulator has no venue {unknown[0]!r}; it has {here}, and these in earlier years.")
    return tuple(known[venue_id] for venue_id in dict.fromkeys(ids))

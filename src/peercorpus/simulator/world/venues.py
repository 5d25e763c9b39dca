"""Read the invented venues and their calendars, for any number of years."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import count, islice

from peercorpus.errors import PeercorpusError
from peercorpus.simulator.world.forms import Forms, read_forms, read_venue_data

DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class Calendar:
    """Start of each phase of a venue, in epoch milliseconds.

    Attributes:
        registration: The deadline for title and abstract; 0 if there is only one deadline.
        deadline: The deadline for the PDF. A rolling venue shows none; the dates of its papers are computed from it.
    """

    opens: int
    deadline: int
    posted: int
    reviews: int
    released: int
    discussion: int
    decision: int
    camera_ready: int
    registration: int = 0

    def moved(self, days: float) -> "Calendar":
        """Return the same calendar, that many days later."""
        shift = int(days * DAY_MS)
        return replace(
            self,
            **{
                name: getattr(self, name) + shift
                for name in ("deadline", "posted", "reviews", "released", "discussion", "decision", "camera_ready")
            },
        )


@dataclass(frozen=True, slots=True)
class AiWay:
    """A way in which a venue posts an AI's review of a paper.

    Attributes:
        signer: The signer, as in `ThreadEntry.by`.
    """

    invitation: str
    signer: str
    field: str


@dataclass(frozen=True, slots=True)
class Venue:
    """A venue.

    Attributes:
        paper_name: The word before a paper's number in its ids.
        answer: Form for the authors' answer to a review: `Rebuttal` under that review, or `Official_Comment`.
        labels: The `venue` string of accepted papers, by the words of the decision.
        unmasks: Whether it names the authors of rejected papers too.
        ai_ways: The ways in which it posts an AI's review of each generated paper, in turn; empty for no such reviews.
    """

    venue_id: str
    api: int
    title: str
    short: str
    website: str
    forms: Forms
    calendar: Calendar
    areas: tuple[str, ...]
    labels: Mapping[str, str] = field(default_factory=dict)
    paper_name: str = "Submission"
    review_name: str = "Official_Review"
    answer: str = "Official_Comment"
    rolling: bool = False
    unmasks: bool = False
    columns: int = 1
    ruled: bool = False
    ai_ways: tuple[AiWay, ...] = ()

    @property
    def host(self) -> str:
        """The organisation: the first element of the id."""
        return self.venue_id.partition("/")[0]

    @property
    def submission(self) -> str:
        """The invitation under which papers are submitted."""
        return f"{self.venue_id}/-/Submission"


def _read_venue(name: str) -> Venue:
    values = dict(read_venue_data()[name])
    like = values.pop("like", None)
    if "stages" in values:
        values["forms"] = read_forms(values.pop("stages"), name, *([like] if like else []))
    if "calendar" in values:
        values["calendar"] = Calendar(
            **{phase: int(start.timestamp()) * 1000 for phase, start in values["calendar"].items()}
        )
    if "areas" in values:
        values["areas"] = tuple(values["areas"])
    values["ai_ways"] = tuple(AiWay(**way) for way in values.get("ai_ways", ()))
    return replace(_read_venue(like), **values) if like else Venue(**values)


VENUES = AURORA, BOREALIS, CASCADIA, JLE, DALES = tuple(
    map(_read_venue, ("aurora", "borealis", "cascadia", "jle", "dales"))
)
EMPTY = _read_venue("empty")
FJORD = _read_venue("fjord")
"""Built only on request: it posts an AI's reviews beside those of people."""

YEAR = re.compile(r"\b20\d\d\b")
FIRST = 2013
"""First year of OpenReview."""
DAYS_A_YEAR = 365.25


def earlier(venue: Venue, years: int) -> Venue:
    """Return a venue moved a number of years back, with its names and all its dates.

    >>> earlier(VENUES[0], 2).venue_id
    'Aurora.cc/2018/Conference'
    """

    def dated(text: str) -> str:
        return YEAR.sub(lambda year: str(int(year[0]) - years), text)

    shift_ms = int(years * DAYS_A_YEAR * DAY_MS)
    starts_ms = {phase.name: getattr(venue.calendar, phase.name) for phase in fields(venue.calendar)}
    # A venue without such a phase has 0.
    moved = {name: start_ms - shift_ms for name, start_ms in starts_ms.items() if start_ms}
    return replace(
        venue,
        venue_id=dated(venue.venue_id),
        title=dated(venue.title),
        short=dated(venue.short),
        website=dated(venue.website),
        calendar=replace(venue.calendar, **moved),
        labels={decision: dated(label) for decision, label in venue.labels.items()},
    )


def _all() -> Iterator[Venue]:
    """Yield the venues, then in each round the same ones a year earlier; a journal has only one."""
    yield from VENUES
    for years in count(1):
        dated = [venue for venue in VENUES if YEAR.search(venue.venue_id)]
        earlier_venues = [earlier(venue, years) for venue in dated]
        recent = [venue for venue in earlier_venues if int(YEAR.findall(venue.venue_id)[0]) >= FIRST]
        if not recent:
            return
        yield from recent


def venue_years(number: int) -> tuple[Venue, ...]:
    """Return the given number of venue-years.

    Raises:
        PeercorpusError: There are fewer.
    """
    venues = tuple(islice(_all(), number))
    if len(venues) < number:
        raise PeercorpusError(f"The simulator has at most {len(venues)} venue-years, got {number:,}.")
    return venues


def find_venues(ids: Sequence[str]) -> tuple[Venue, ...]:
    """Return the venues with these ids, each once.

    Raises:
        PeercorpusError: A venue is unknown.
    """
    venues_by_id = {venue.venue_id: venue for venue in (*_all(), FJORD)}
    unknown = [venue_id for venue_id in ids if venue_id not in venues_by_id]
    if unknown:
        here = ", ".join(venue.venue_id for venue in VENUES)
        raise PeercorpusError(f"The simulator has no venue {unknown[0]!r}; it has {here}, and these in earlier years.")
    return tuple(venues_by_id[venue_id] for venue_id in dict.fromkeys(ids))

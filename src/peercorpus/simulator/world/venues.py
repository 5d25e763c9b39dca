"""Define the invented venues and their calendars, for any number of years."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from itertools import count, islice

from peercorpus.errors import PeercorpusError
from peercorpus.simulator.world import forms
from peercorpus.simulator.world.forms import Forms

DAY_MS = 86_400_000


def moment(text: str) -> int:
    """Read a UTC time such as `2024-09-28 11:59` into epoch milliseconds.

    >>> moment("1970-01-02 00:00") == DAY_MS
    True
    """
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1000


@dataclass(frozen=True, slots=True)
class Calendar:
    """Start of each phase of a venue, in epoch milliseconds.

    Attributes:
        registration: The deadline for title and abstract; 0 if there is only one deadline.
        deadline: The deadline for the PDF. A rolling venue shows none; the dates of its papers are computed from it.
        posted: Time when the submissions become public.
        released: Time when the reviews become public.
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
        invitation: The last path element of the invitation.
        signer: The signer, as in `ThreadEntry.by`.
        field: The form's field with the text.
    """

    invitation: str
    signer: str
    field: str


@dataclass(frozen=True, slots=True)
class Venue:
    """A venue.

    Attributes:
        venue_id: The group's id on OpenReview.
        short: Name of the venue as printed on its papers.
        paper_name: The word before a paper's number in its ids.
        answer: Form for the authors' answer to a review: `Rebuttal` under that review, or `Official_Comment`.
        labels: The `venue` string of accepted papers, by the words of the decision.
        rolling: Whether it is a journal without deadlines.
        unmasks: Whether it names the authors of rejected papers too.
        columns: Number of columns of the typeset paper.
        ruled: Whether submissions carry line numbers.
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


AURORA = Venue(
    venue_id="Aurora.cc/2020/Conference",
    api=1,
    title="Aurora Conference on Learning Systems 2020",
    short="Aurora 2020",
    website="https://aurora.example.org/2020",
    forms=forms.AURORA,
    calendar=Calendar(
        opens=moment("2019-08-20 12:00"),
        deadline=moment("2019-09-25 15:00"),
        posted=moment("2019-09-26 18:00"),
        reviews=moment("2019-10-14 00:00"),
        released=moment("2019-11-04 12:00"),
        discussion=moment("2019-11-05 00:00"),
        decision=moment("2019-12-19 18:00"),
        camera_ready=moment("2020-02-12 00:00"),
    ),
    areas=(),
    labels={
        "Accept (Talk)": "Aurora 2020 Talk",
        "Accept (Spotlight)": "Aurora 2020 Spotlight",
        "Accept (Poster)": "Aurora 2020 Poster",
    },
    paper_name="Paper",
)

BOREALIS = Venue(
    venue_id="Borealis.cc/2024/Conference",
    api=2,
    title="Borealis Conference on Representation and Reasoning 2024",
    short="Borealis 2024",
    website="https://borealis.example.org/2024",
    forms=forms.BOREALIS,
    calendar=Calendar(
        opens=moment("2023-09-01 12:00"),
        registration=moment("2023-09-24 11:59"),
        deadline=moment("2023-09-29 11:59"),
        posted=moment("2023-10-13 15:00"),
        reviews=moment("2023-10-20 00:00"),
        released=moment("2023-11-10 17:00"),
        discussion=moment("2023-11-11 00:00"),
        decision=moment("2024-01-16 12:00"),
        camera_ready=moment("2024-03-06 00:00"),
    ),
    areas=(
        "representation learning",
        "probabilistic methods",
        "reinforcement learning",
        "learning on graphs",
        "datasets and benchmarks",
        "optimisation",
    ),
    labels={
        "Accept (oral)": "Borealis 2024 oral",
        "Accept (spotlight)": "Borealis 2024 spotlight",
        "Accept (poster)": "Borealis 2024 poster",
    },
    unmasks=True,
    ruled=True,
)

CASCADIA = Venue(
    venue_id="Cascadia.cc/2025/Conference",
    api=2,
    title="Cascadia Symposium on Neural Computation 2025",
    short="Cascadia 2025",
    website="https://cascadia.example.org/2025",
    forms=forms.CASCADIA,
    calendar=Calendar(
        opens=moment("2025-04-03 12:00"),
        deadline=moment("2025-05-16 11:59"),
        posted=moment("2025-05-30 12:00"),
        reviews=moment("2025-06-10 00:00"),
        released=moment("2025-07-24 12:00"),
        discussion=moment("2025-07-25 00:00"),
        decision=moment("2025-09-18 15:00"),
        camera_ready=moment("2025-10-20 00:00"),
    ),
    areas=("deep_learning", "theory", "applications", "evaluation", "optimization", "general_machine_learning"),
    labels={
        "Accept (oral)": "Cascadia 2025 oral",
        "Accept (spotlight)": "Cascadia 2025 spotlight",
        "Accept (poster)": "Cascadia 2025 poster",
    },
    answer="Rebuttal",
    ruled=True,
)

JLE = Venue(
    venue_id="JLE",
    api=2,
    title="Journal of Learning Experiments",
    short="JLE",
    website="https://jle.example.org",
    forms=forms.JLE,
    calendar=Calendar(
        opens=moment("2023-03-01 00:00"),
        deadline=moment("2024-02-01 12:00"),
        posted=moment("2024-02-09 12:00"),
        reviews=moment("2024-02-20 00:00"),
        released=moment("2024-03-14 12:00"),
        discussion=moment("2024-03-15 00:00"),
        decision=moment("2024-04-20 12:00"),
        camera_ready=moment("2024-05-12 00:00"),
    ),
    areas=(),
    labels={"Accept as is": "Accepted by JLE", "Accept with minor revision": "Accepted by JLE"},
    paper_name="Paper",
    review_name="Review",
    rolling=True,
)

DALES = Venue(
    venue_id="DALES/2023/Conference",
    api=2,
    title="Dales Meeting on Empirical Language Studies 2023",
    short="DALES 2023",
    website="https://dales.example.org/2023",
    forms=forms.DALES,
    calendar=Calendar(
        opens=moment("2023-05-10 12:00"),
        deadline=moment("2023-06-24 11:59"),
        posted=moment("2023-07-03 12:00"),
        reviews=moment("2023-07-14 00:00"),
        released=moment("2023-08-21 12:00"),
        discussion=moment("2023-08-22 00:00"),
        decision=moment("2023-10-07 12:00"),
        camera_ready=moment("2023-10-22 00:00"),
    ),
    areas=("Machine Translation", "Resources and Evaluation", "Question Answering", "Semantics", "Generation"),
    labels={"Accept-Main": "DALES 2023 Main", "Accept-Findings": "DALES 2023 Findings"},
    answer="Rebuttal",
    columns=2,
    ruled=True,
)

VENUES = (AURORA, BOREALIS, CASCADIA, JLE, DALES)

EMPTY = replace(
    BOREALIS,
    venue_id="Empty.cc/2024/Conference",
    title="Empty Conference 2024",
    short="Empty 2024",
    website="https://empty.example.org/2024",
)

FJORD = replace(
    BOREALIS,
    venue_id="Fjord.cc/2024/Conference",
    title="Fjord Conference on Learned Review 2024",
    short="Fjord 2024",
    website="https://fjord.example.org/2024",
    forms=forms.FJORD,
    labels={decision: label.replace("Borealis", "Fjord") for decision, label in BOREALIS.labels.items()},
    ai_ways=(
        AiWay("AI_Review", "AI", "ai_review"),
        AiWay("AI_Review", "AI of the paper", "ai_review"),
        AiWay("AI_Review", "PC", "ai_review"),
        AiWay("LLM_PDF_Feedback", "administrator", "feedback"),
    ),
)
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

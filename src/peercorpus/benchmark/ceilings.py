"""Compare people with the floors: how much a measure separates a reviewer from someone who has read nothing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from peercorpus.benchmark.measures import Measure, compute_over_papers, group_by_paper
from peercorpus.benchmark.outcomes import CaseOutcome
from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics.paired_intervals import compare_pairs

FEWEST_WINS = 2 / 3
"""Smallest share of papers on which a reviewer must beat the best floor for a measure to be clearly above it.

One in two is chance. It is required only of measures of correctness that differ on most papers.
"""
ALL = "all"


@dataclass(frozen=True, slots=True)
class Ceiling:
    """People and floors by one measure, both measured against the other reviewers.

    Attributes:
        measure: Name in tables.
        venue: Conference and year, or `all`.
        papers: Number of papers with several reviewers.
        human: The result of people.
        floors: The results of the floors, by name.
        best: Name of the best floor.
        gain: Difference between people and the best floor, positive if people are better.
        low: Lower end of the gain's 95 % interval; None if it has none.
        high: Upper end.
        wins: Share of papers on which people are better, ties counted half; None if most papers tie.
    """

    measure: str
    venue: str
    papers: int
    human: float
    floors: Mapping[str, float]
    best: str
    gain: float
    low: float | None
    high: float | None
    wins: float | None

    @property
    def is_clear(self) -> bool:
        """Whether people are clearly above the floor: significantly better, and on most papers."""
        return self.low is not None and self.low > 0 and (self.wins is None or self.wins >= FEWEST_WINS)


def compare_with_floors(measure: Measure, outcomes: Sequence[CaseOutcome], resamples: int) -> Iterator[Ceiling]:
    """Yield the ceiling of a measure over all papers, then by venue and year if there are several.

    A measure has none if it is undefined for people or all floors, or if it measures the form or calibration of answers
    instead of their correctness.
    """
    if measure.higher_is_better is None or measure.bounds is None or not measure.metric:
        return
    scored = [outcome for outcome in outcomes if outcome.unscored is None]
    venues = sorted({outcome.venue for outcome in scored})
    for venue in (ALL, *(venues if len(venues) > 1 else ())):
        of_venue = [outcome for outcome in scored if venue in {ALL, outcome.venue}]
        ceiling = _compare(measure, venue, of_venue, resamples) if of_venue else None
        if ceiling is not None:
            yield ceiling


def _compare(measure: Measure, venue: str, outcomes: Sequence[CaseOutcome], resamples: int) -> Ceiling | None:
    """Compare people with each floor, on the papers on which the measure has a value for both."""
    sign = 1 if measure.higher_is_better else -1
    every = group_by_paper(outcomes)
    floors = {}
    for name in sorted(set.intersection(*(set(outcome.floors) for outcome in outcomes))):
        answered = [(one, replace(one, found=one.floors[name])) for one in outcomes]
        both = [(one, floor) for one, floor in answered if measure.concerns(one) and measure.concerns(floor)]
        people, papers = group_by_paper(one for one, _ in both), group_by_paper(floor for _, floor in both)
        try:
            value = compute_over_papers(measure, list(papers.values()))
            compared = compare_pairs(people, papers, measure.estimator(resamples), resamples)
            floors[name] = value, (people, papers), compared
        except UndefinedMetricError:
            continue
    if not floors:
        return None
    best = max(floors, key=lambda name: sign * floors[name][0])
    _, beside, compared = floors[best]
    ends = sorted(sign * end * measure.factor for end in compared.bounds or ()) or (None, None)
    return Ceiling(
        measure=measure.name,
        venue=venue,
        papers=len(every),
        human=compute_over_papers(measure, list(every.values())) * measure.factor,
        floors={name: value * measure.factor for name, (value, _, _) in floors.items()},
        best=best,
        gain=sign * compared.value * measure.factor,
        low=ends[0],
        high=ends[1],
        wins=_count_wins(measure, *beside, sign),
    )


def _count_wins(
    measure: Measure, people: Mapping[str, list[CaseOutcome]], floor: Mapping[str, list[CaseOutcome]], sign: int
) -> float | None:
    """Return the share of papers on which people are better; None if most are ties or the measure needs many papers.

    Also None if a single answer is either right or wrong: if a floor is right, nothing can be better.
    """
    try:
        answers = (outcome for papers in (people, floor) for outcomes in papers.values() for outcome in outcomes)
        if {measure.of([outcome]) for outcome in answers} <= {0, 1}:
            return None
        gains = [sign * (measure.of(people[paper]) - measure.of(floor[paper])) for paper in people]
    except UndefinedMetricError:
        return None
    ties = sum(gain == 0 for gain in gains)
    if 2 * ties > len(gains):
        return None
    return (sum(gain > 0 for gain in gains) + ties / 2) / len(gains)

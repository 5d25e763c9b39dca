"""Compare people with the floors: how much room a measure leaves between a reviewer and who has read nothing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from peercorpus.benchmark.measures import Measure, compute_over_papers, group_by_paper
from peercorpus.benchmark.outcomes import CaseOutcome
from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics.paired_intervals import compare_pairs

FEWEST_WINS = 2 / 3
"""Share of papers on which a reviewer must be better than the best floor for a measure to stand clear of it.

One in two is chance. It is asked only of measures that say how right an answer is, and that differ on most papers.
"""
ALL = "all"


@dataclass(frozen=True, slots=True)
class Ceiling:
    """People and floors by one measure, each reviewer against the others and the floors against the same.

    Attributes:
        measure: Name in tables.
        venue: Conference and year, or `all`.
        papers: Papers with several reviewers.
        human: The number of people.
        floors: The numbers of the floors, by name.
        best: Name of the best floor.
        gain: By how much people are better than it, in the better direction.
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
        """Whether people stand clear of the floor: surely better, and on most papers."""
        return self.low is not None and self.low > 0 and (self.wins is None or self.wins >= FEWEST_WINS)


def compare_with_floors(measure: Measure, outcomes: Sequence[CaseOutcome], resamples: int) -> Iterator[Ceiling]:
    """Yield the ceiling of a measure over all papers, then by venue and year where there are several.

    A measure has none if it is undefined for people or all floors, or says something of the answers' form or
    calibration instead of what they get right.
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
    """Return the share of papers on which people are better; None if most tie or the measure takes many papers.

    None, too, if a single answer is either right or wrong: where a floor is right, nobody can be better.
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

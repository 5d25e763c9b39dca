"""Measures how often the 95 % intervals of paired differences contain the true one, by simulation.

Two models answer about the same invented papers; the intervals are those that `bench compare` prints. The last result
is in `paired_coverage.json` beside this module.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import exp
from pathlib import Path
from random import Random

from covering import SIZES, pool_counts, summarise
from peercorpus.benchmark.measures import DECISIONS, OVERLAPS, Measure, compute_over_papers, select_measures
from peercorpus.benchmark.outcomes import (
    CaseOutcome,
    DecisionRecord,
    OutcomeRecord,
    Overlap,
    PredictedScore,
    Scored,
    ScoresRecord,
)
from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics.intervals.pairs import bound_combination
from peercorpus.metrics.intervals.papers import RESAMPLES, Bounds

TRIALS = {20: 400, 50: 400, 200: 120}
"""Draws by number of papers: fewer where each takes long."""
TRUTH_PAPERS = 20_000
RESULT = Path(__file__).parent / "paired_coverage.json"
Pair = tuple[OutcomeRecord, OutcomeRecord]
"""The records of two models about one paper."""
Papers = list[list[CaseOutcome]]


@dataclass(frozen=True)
class PairedPopulation:
    """Papers that can be drawn with the answers of two models, and the measures that are compared."""

    name: str
    draw: Callable[[Random], Pair]
    measures: tuple[Measure, ...]


def _draw_decisions(first: float, second: float, own: float) -> Callable[[Random], Pair]:
    """Both see the same score of a paper with separate noise, and weigh it by their skill."""

    def draw(chance: Random) -> Pair:
        accepted = chance.random() < 1 / 3
        shared = chance.gauss(0, 1)

        def decide(skill: float) -> DecisionRecord:
            noise = (shared + own * chance.gauss(0, 1)) / (1 + own**2) ** 0.5
            probability = 1 / (1 + 2 * exp(-skill * (skill * accepted + noise - skill / 2)))
            return DecisionRecord(accepted, probability >= 0.5, round(probability, 2))

        return decide(first), decide(second)

    return draw


def _draw_scores(chance: Random) -> Pair:
    quality = chance.gauss(5.5, 1.2)
    gold = sum(min(10, max(1, round(quality + chance.gauss(0, 1)))) for _ in range(3)) / 3

    def say(fit: float) -> ScoresRecord:
        said = float(min(10, max(1, round(6.0 + fit * (quality - 5.5) + chance.gauss(0, 0.8)))))
        return ScoresRecord((PredictedScore("recommendation", "rating", 1, 10, gold, said),))

    return say(0.9), say(0.4)


def _draw_texts(chance: Random) -> Pair:
    level = chance.betavariate(30, 150)
    counts = pool_counts()

    def write(gain: float) -> Overlap:
        likeness = min(0.99, level * gain)
        rouge_l = chance.betavariate(60 * likeness, 60 * (1 - likeness))
        return Overlap(rouge_l=rouge_l, bleu=counts[int(chance.random() * len(counts))], words=400)

    return write(1.1), write(1.0)


def _list_populations() -> Iterator[PairedPopulation]:
    shown = tuple(measure for measure in DECISIONS if measure.bounds is not None and measure.name != "contradictory")
    yield PairedPopulation("two alike, middling", _draw_decisions(1.5, 1.5, 0.5), shown)
    yield PairedPopulation("middling and weak", _draw_decisions(1.5, 0.7, 1.0), shown)
    yield PairedPopulation("97 % right and middling", _draw_decisions(3.8, 1.5, 0.5), shown)
    record = CaseOutcome("", "", _draw_scores(Random(0))[0])
    scores = tuple(measure for measure in select_measures(Scored.NUMBERS, [record]) if "1 to" in measure.name)
    yield PairedPopulation("scores, good and poor fit", _draw_scores, scores)
    yield PairedPopulation("reviews, a tenth better", _draw_texts, OVERLAPS[:2])


def _draw_papers(population: PairedPopulation, papers: int, seed: str) -> tuple[Papers, Papers]:
    chance = Random(seed)
    pairs = [population.draw(chance) for _ in range(papers)]
    first, second = (
        [[CaseOutcome("", str(paper), pair[which])] for paper, pair in enumerate(pairs)] for which in (0, 1)
    )
    return first, second


def _simulate(population: PairedPopulation) -> Iterator[dict[str, object]]:
    many = _draw_papers(population, TRUTH_PAPERS, f"{population.name}: truth")
    truths = {
        measure: compute_over_papers(measure, many[0]) - compute_over_papers(measure, many[1])
        for measure in population.measures
    }
    held: Counter[tuple[Measure, int]] = Counter()
    given: Counter[tuple[Measure, int]] = Counter()
    for size, trials in TRIALS.items():
        for trial in range(trials):
            runs = _draw_papers(population, size, f"{population.name}: {size}, {trial}")
            for measure, truth in truths.items():
                bounds = _bound_difference(measure, runs)
                given[measure, size] += bounds is not None
                held[measure, size] += bounds is not None and bounds[0] <= truth <= bounds[1]
    for measure, truth in truths.items():
        counts = {size: (held[measure, size], given[measure, size]) for size in SIZES}
        yield {
            "population": population.name,
            "measure": measure.name,
            "truth": round(truth * measure.factor, 4),
            "coverage": {
                str(size): round(part / whole, 3) if whole else None for size, (part, whole) in counts.items()
            },
            "without_interval": {str(size): 1 - whole / TRIALS[size] for size, (_, whole) in counts.items()},
        }


def _bound_difference(measure: Measure, runs: tuple[Papers, Papers]) -> Bounds | None:
    try:
        return bound_combination(measure.estimator, runs, (1, -1))
    except UndefinedMetricError:
        return None


def measure_paired_coverage(_: Path) -> None:
    """Simulate all pairs, write the result and print its summary."""
    rows = [row for population in _list_populations() for row in _simulate(population)]
    result = {"trials": TRIALS, "resamples": RESAMPLES, "rows": rows}
    RESULT.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"\n{summarise(rows)}")

"""Measures how often the 95 % intervals of the benchmark's tables contain the true number, by simulation.

Papers are drawn from invented populations whose true numbers are known; the intervals are those that tables print.
`coverage.json` beside this module holds the last result.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from math import exp
from pathlib import Path
from random import Random
from typing import Any

from peercorpus.benchmark.measures import (
    BERT_SCORES,
    DECISIONS,
    EMBEDDED,
    JUDGED,
    OVERLAPS,
    Measure,
    compute_over_papers,
    select_measures,
)
from peercorpus.benchmark.outcomes import (
    BertScored,
    CaseOutcome,
    DecisionRecord,
    Embedded,
    OutcomeRecord,
    Overlap,
    PredictedScore,
    Scored,
    ScoresRecord,
    Verdict,
)
from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics.intervals.papers import RESAMPLES
from peercorpus.metrics.text_overlap import BleuCounts, count_bleu

SIZES = (20, 50, 200)
"""Papers of a table."""
TRIALS = 1_000
TRUTH_PAPERS = 100_000
"""Papers that the true number is computed from."""
LEAST, MOST = 0.93, 0.97
RESULT = Path(__file__).parent / "coverage.json"

Paper = list[OutcomeRecord]
"""The records of the answers about one paper."""
Draw = Callable[[Random], Paper]


@dataclass(frozen=True)
class Population:
    """Papers that can be drawn, and the measures of their answers."""

    name: str
    draw: Draw
    measures: tuple[Measure, ...]
    truth_papers: int = TRUTH_PAPERS


def _draw_decision(skill: float, repeats: int, chance: Random) -> Paper:
    """A third is accepted; the model sees a score `skill` deviations higher for those, and states a probability."""
    accepted = chance.random() < 1 / 3
    paper: Paper = []
    seen = chance.gauss(skill * accepted, 1)
    for _ in range(repeats):
        noisy = seen if repeats == 1 else seen + chance.gauss(0, 0.5)
        probability = 1 / (1 + 2 * exp(-skill * (noisy - skill / 2)))
        paper.append(DecisionRecord(accepted, probability >= 0.5, round(probability, 2)))
    return paper


def _draw_scores(fit: float, chance: Random) -> Paper:
    """The mean of three reviewers from 1 to 10, and a model's whole number with its own offset and noise."""
    quality = chance.gauss(5.5, 1.2)
    gold = sum(min(10, max(1, round(quality + chance.gauss(0, 1)))) for _ in range(3)) / 3
    said = float(min(10, max(1, round(6.2 + fit * (quality - 5.5) + chance.gauss(0, 0.8)))))
    return [ScoresRecord((PredictedScore("recommendation", "rating", 1, 10, gold, said),))]


@cache
def pool_counts() -> list[BleuCounts]:
    """Return counts of invented texts, from which answers are drawn."""
    from measuring import invent_samples

    return [count_bleu(text, references) for text, references in zip(*invent_samples(400, 7), strict=True)]


def _draw_texts(pool: list[BleuCounts], most_turns: int, chance: Random) -> Paper:
    """One or several answers about a paper, whose similarity depends on the paper."""
    level = chance.betavariate(30, 150)
    of_paper = range(1 if most_turns == 1 else chance.randint(1, most_turns))
    return [
        Overlap(
            rouge_l=chance.betavariate(60 * level, 60 * (1 - level)),
            bleu=pool[int(chance.random() * len(pool))],
            words=int(exp(chance.gauss(6, 0.5))),
        )
        for _ in of_paper
    ]


def _draw_likeness(chance: Random) -> Paper:
    f1 = chance.gauss(0.84, 0.02)
    return [BertScored(f1 - 0.01, f1 + 0.01, f1, float(chance.random() < 0.3))]


def _draw_cosine(chance: Random) -> Paper:
    return [Embedded(chance.betavariate(12, 6), float(chance.random() < 0.3))]


def _draw_marks(chance: Random) -> Paper:
    level = chance.gauss(7, 0.8)
    return [Verdict(*(min(10, max(1, round(level + chance.gauss(0, 0.5)))) for _ in range(5)))]


def _list_populations() -> Iterator[Population]:
    for name, skill in (("weak", 0.5), ("middling", 1.5), ("97 % right", 3.8)):
        yield Population(f"decisions, {name}", partial(_draw_decision, skill, 1), DECISIONS)
    yield Population("decisions, asked three times", partial(_draw_decision, 1.5, 3), DECISIONS)
    for name, fit in (("no fit", 0.0), ("some fit", 0.5), ("good fit", 1.0)):
        record = CaseOutcome("", "", _draw_scores(fit, Random(0))[0])
        measures = tuple(measure for measure in select_measures(Scored.NUMBERS, [record]) if "1 to" in measure.name)
        yield Population(f"scores, {name}", partial(_draw_scores, fit), measures)
    pool = pool_counts()
    yield Population("reviews", partial(_draw_texts, pool, 1), OVERLAPS, 20_000)
    yield Population("turns, one to four a paper", partial(_draw_texts, pool, 4), OVERLAPS, 20_000)
    yield Population("likeness by BERTScore", _draw_likeness, BERT_SCORES[2:])
    yield Population("likeness by embeddings", _draw_cosine, EMBEDDED)
    yield Population("marks of a judge", _draw_marks, JUDGED[:1])


def _draw_papers(population: Population, papers: int, seed: str) -> list[list[CaseOutcome]]:
    chance = Random(seed)
    return [[CaseOutcome("", str(paper), record) for record in population.draw(chance)] for paper in range(papers)]


def simulate(population: Population, trials: int) -> list[dict[str, object]]:
    """The coverage of each measure with an interval, by the number of papers; draws without a value do not count."""
    many = _draw_papers(population, population.truth_papers, f"{population.name}: truth")
    # No answer of these contradicts itself; that share has the interval of accuracy.
    shown = [
        measure for measure in population.measures if measure.bounds is not None and measure.name != "contradictory"
    ]
    truths = {measure.name: compute_over_papers(measure, many) for measure in shown}
    held = {(measure.name, size): [0, 0, 0] for measure in shown for size in SIZES}
    for size in SIZES:
        for trial in range(trials):
            papers = _draw_papers(population, size, f"{population.name}: {size}, {trial}")
            for measure in shown:
                _count(measure, papers, truths[measure.name], held[measure.name, size])
    return [
        {
            "population": population.name,
            "measure": measure.name,
            "truth": round(truths[measure.name] * measure.factor, 4),
            "coverage": {str(size): _share(*held[measure.name, size][:2]) for size in SIZES},
            "without_interval": {str(size): held[measure.name, size][2] / trials for size in SIZES},
        }
        for measure in shown
    ]


def _count(measure: Measure, papers: list[list[CaseOutcome]], truth: float, held: list[int]) -> None:
    """Count whether an interval was given and contains the true value."""
    assert measure.bounds is not None
    try:
        bounds = measure.bounds(papers, compute_over_papers(measure, papers))
    except UndefinedMetricError:
        bounds = None
    held[0] += bounds is not None and bounds[0] <= truth <= bounds[1]
    held[1] += bounds is not None
    held[2] += bounds is None


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 3) if whole else None


def summarise(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a table by population and number of papers: measures within the target, the lowest and the highest."""
    heads = [f"n = {size}: {what}" for size in SIZES for what in ("within", "lowest", "highest")]
    lines = [f"| population | measures | {' | '.join(heads)} |", f"|---|{'---:|' * (1 + len(heads))}"]
    for name in [*dict.fromkeys(row["population"] for row in rows), "all"]:
        of_name = [row["coverage"] for row in rows if name in (row["population"], "all")]
        cells = [str(len(of_name))]
        for size in SIZES:
            known = [share for coverage in of_name if (share := coverage[str(size)]) is not None]
            within = sum(LEAST <= share <= MOST for share in known)
            cells += [str(within), f"{min(known):.1%}", f"{max(known):.1%}"]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _read_rows(trials: int) -> list[dict[str, object]]:
    """Return the finished rows of an interrupted run; none without one."""
    held: dict[str, Any] = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.exists() else {}
    goes_on = held.get("trials") == trials and held.get("complete") is False
    return list(held["rows"]) if goes_on else []


def _write_rows(rows: list[dict[str, object]], trials: int, *, complete: bool) -> None:
    result = {"trials": trials, "resamples": RESAMPLES, "complete": complete, "rows": rows}
    RESULT.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def measure_coverage(_: Path, trials: int = TRIALS) -> None:
    """Simulate all populations, write the result after each and print its summary; an interrupted run resumes."""
    rows = _read_rows(trials)
    done = {row["population"] for row in rows}
    for population in _list_populations():
        if population.name not in done:
            rows += simulate(population, trials)
            _write_rows(rows, trials, complete=False)
    _write_rows(rows, trials, complete=True)
    print(f"\n{summarise(rows)}")

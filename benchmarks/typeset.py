"""Scores PDF engines on the invented paper of `scripts/typeset_papers`, by style: ours, and those installed beside."""

import importlib.util
import statistics
import sys
from collections.abc import Iterable
from pathlib import Path

import engines

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts" / "typeset_papers"))

from read_typeset import KEPT, read_scores, read_truths
from typeset_scores import MEASURES, score

Scores = dict[str, float | None]


def measure_typeset() -> None:
    """Print our engine's scores of each style, then the means over all styles of every engine that is installed."""
    truths = read_truths()
    heads = " | ".join(engines.LABELS.get(measure, measure) for measure in MEASURES)
    print(f"\n| style | {heads} |\n|---|{'---:|' * len(MEASURES)}")
    for name, truth in truths.items():
        _print_row(name, read_scores(name, truth))
    print(f"\n| engine | {heads} |\n|---|{'---:|' * len(MEASURES)}")
    for engine, (module, read) in engines.ENGINES.items():
        if importlib.util.find_spec(module) is None:
            continue
        _print_row(engine, _average(score(read(KEPT / f"{name}.pdf"), truth) for name, truth in truths.items()))


def _average(rows: Iterable[Scores]) -> Scores:
    kept = list(rows)
    known = {measure: [value for row in kept if (value := row[measure]) is not None] for measure in MEASURES}
    return {measure: statistics.mean(values) if values else None for measure, values in known.items()}


def _print_row(name: str, scores: Scores) -> None:
    cells = ("–" if (value := scores[measure]) is None else f"{value:.3f}" for measure in MEASURES)  # noqa: RUF001
    print(f"| {name} | {' | '.join(cells)} |", flush=True)

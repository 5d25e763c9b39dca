"""Which of a task's cases a model of its own format can answer: scores that it does not give are not asked."""

from collections.abc import Sequence
from dataclasses import replace

from peercorpus.benchmark.adapters.adapter import Adapter
from peercorpus.benchmark.cases import BenchTask, Case, Taken
from peercorpus.errors import PeercorpusError


def narrow(adapter: Adapter, cases: Sequence[Case], taken: Taken) -> list[Case]:
    """The cases with the scores that the model gives on the scale of the form; other tasks' cases as they are.

    Args:
        adapter: To the model.
        cases: Of one task.
        taken: Counts what is left out, and why.

    Raises:
        PeercorpusError: None is left.
    """
    kept = []
    for case in cases:
        if case.task is not BenchTask.SCORES:
            kept.append(case)
            continue
        asked = adapter.asked(case)
        taken.left_out["scores: of a kind or on a scale that the model does not give"] += len(case.scores) - len(asked)
        if asked:
            kept.append(replace(case, scores=asked))
        else:
            taken.left_out["papers: no score that the model gives"] += 1
    if not kept:
        raise PeercorpusError(
            f"None of the papers has a score on a scale of {adapter.models[0]}; choose other venues, task or model."
        )
    taken.left_out = +taken.left_out
    return kept

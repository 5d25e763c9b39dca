"""Runs of `scores` that were asked for the same fields: a model with a form of its own is not asked for all of them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from peercorpus.benchmark.logs import Run
from peercorpus.benchmark.outcomes import Outcome, SaidNumber, SaidNumbers, Scored

Field = tuple[str, str, float, float]
"""A case, a field of its form, and the field's scale."""


def _field(outcome: Outcome, number: SaidNumber) -> Field:
    return outcome.case_id, number.field, number.low, number.high


def fields_asked(outcomes: Sequence[Outcome], aspect: str) -> frozenset[Field]:
    """What was asked of an aspect; nothing in other tasks."""
    both = ((one, each) for one in outcomes if isinstance(one.found, SaidNumbers) for each in one.found.fields)
    return frozenset(_field(one, each) for one, each in both if each.aspect == aspect)


def asked_alike(runs: Sequence[Run], aspect: str) -> Iterator[tuple[list[Run], bool]]:
    """Runs that may stand in one table of an aspect, and whether some of them were asked for more than is shown.

    Each table is of the fields that one of the models was asked for, with all runs that were asked for them too.
    """
    asked = [(run, fields_asked(run.outcomes.get(Scored.NUMBERS, ()), aspect)) for run in runs]
    of_models = [fields for run, fields in asked if fields and not run.is_baseline]
    wanted = dict.fromkeys(of_models or [fields for _, fields in asked if fields])
    if not wanted:
        yield list(runs), False
    for fields in wanted:
        chosen = [(run, theirs != fields) for run, theirs in asked if theirs >= fields]
        yield [_narrowed(run, fields) if is_more else run for run, is_more in chosen], any(more for _, more in chosen)


def _narrowed(run: Run, fields: frozenset[Field]) -> Run:
    outcomes = []
    for one in run.outcomes[Scored.NUMBERS]:
        assert isinstance(one.found, SaidNumbers)
        kept = tuple(each for each in one.found.fields if _field(one, each) in fields)
        outcomes += [replace(one, found=SaidNumbers(kept))] if kept else []
    return replace(run, outcomes={Scored.NUMBERS: outcomes})

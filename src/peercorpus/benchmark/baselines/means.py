"""Scores without reading the paper: what the train side's reviewers gave on average."""

from collections.abc import Hashable, Iterable, Iterator

from peercorpus.benchmark.answers import write_scores
from peercorpus.benchmark.baselines.baseline import learnt, none_to_learn_from
from peercorpus.benchmark.cases import AskedScore, BenchTask, Case, CasePaper


def unit_mean(asked: AskedScore) -> float:
    """What the reviewers gave on average, on [0, 1] of the scale."""
    return (asked.mean - asked.low) / (asked.high - asked.low)


def on_scale(asked: AskedScore, unit: float) -> float:
    """A place on [0, 1] as a number of the scale; one beyond it counts as its end."""
    return asked.low + min(1.0, max(0.0, unit)) * (asked.high - asked.low)


def _places(paper: CasePaper, asked: AskedScore) -> Iterator[tuple[Hashable, ...]]:
    """Where a mean is looked for: of this venue's field, else of this field, this scale, this aspect, or all."""
    scale = (asked.low, asked.high)
    yield "form", paper.venue_id, asked.field, scale
    yield "field", asked.field, scale
    yield "scale", asked.aspect, scale
    yield "aspect", asked.aspect
    yield ("all",)


class Means:
    """The mean of papers' mean scores, at every place where one may be looked for; each paper weighs the same."""

    def __init__(self) -> None:
        self._sums: dict[tuple[Hashable, ...], tuple[float, int]] = {}

    def __bool__(self) -> bool:
        return bool(self._sums)

    def add(self, case: Case) -> None:
        """Count the scores of a paper."""
        for asked in case.scores:
            for place in _places(case.paper, asked):
                total, count = self._sums.get(place, (0.0, 0))
                self._sums[place] = (total + unit_mean(asked), count + 1)

    def of(self, paper: CasePaper, asked: AskedScore) -> float:
        """The mean at the narrowest place that has one, on the scale asked for; something must have been added."""
        total, count = next(self._sums[place] for place in _places(paper, asked) if place in self._sums)
        return on_scale(asked, total / count)

    def all_of(self, case: Case) -> dict[str, float]:
        """The mean of every field that a case asks for."""
        return {asked.field: self.of(case.paper, asked) for asked in case.scores}


class MeanScores:
    """The mean of the same form's field, or where the train side has none, of what is most alike."""

    name = "mean"
    says = "the mean score of the same field at the same venue; else of that field, scale or aspect on the train side"
    tasks = frozenset({BenchTask.SCORES})

    def __init__(self, seed: int = 0) -> None:
        """Take a seed, which decides nothing here."""
        del seed
        self._means: Means | None = None

    def fit(self, cases: Iterable[Case]) -> None:
        """Add up; see `Baseline`."""
        means = Means()
        for case in cases:
            means.add(case)
        if not means:
            raise none_to_learn_from(self.name, "score")
        self._means = means

    def answer(self, case: Case) -> str:
        """A mean for every field asked for."""
        return write_scores(learnt(self._means, self.name).all_of(case))

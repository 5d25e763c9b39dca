"""Scores by a ridge regression, for each aspect, of what is seen of a paper: its length, or words of it."""

from collections import defaultdict
from collections.abc import Iterable
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.linear_model import Ridge

from peercorpus.benchmark.answers import write_scores
from peercorpus.benchmark.baselines.baseline import learnt, none_to_learn_from
from peercorpus.benchmark.baselines.means import Means, on_scale, unit_mean
from peercorpus.benchmark.baselines.seen import ABSTRACT, LENGTH, PAPER, Look, Matrix, Seen, chosen_rows
from peercorpus.benchmark.cases import AskedScore, BenchTask, Case
from peercorpus.kinds import Aspect


class _Given(NamedTuple):
    """Papers that have a score of one aspect, by their places, and their mean scores on [0, 1]."""

    places: list[int]
    units: list[float]


class _Learnt(NamedTuple):
    seen: Seen
    models: dict[str, Ridge]
    means: Means


def _aspect(asked: AskedScore) -> str:
    """What is learnt as one: an aspect, or one field of those that have no aspect of their own."""
    return f"field {asked.field}" if asked.aspect is Aspect.OTHER else asked.aspect.value


class LinearScores:
    """A ridge regression for each aspect (scikit-learn's: alpha = 1), on [0, 1] of its scale.

    Attributes:
        look: How it looks at papers.
    """

    tasks = frozenset({BenchTask.SCORES})
    look: ClassVar[Look]

    def __init__(self, seed: int = 0) -> None:
        """Take a seed; the solver draws nothing by chance, whatever it is."""
        self.name, self.says = self.look.name, f"ridge regression of each aspect on {self.look.says}"
        self._seed = seed
        self._learnt: _Learnt | None = None

    def fit(self, cases: Iterable[Case]) -> None:
        """Learn; see `Baseline`."""
        seen, means, any_seen = self.look.begin(), Means(), False
        given: defaultdict[str, _Given] = defaultdict(lambda: _Given([], []))
        for place, case in enumerate(cases):
            any_seen |= seen.add(case.paper)
            means.add(case)
            for asked in case.scores:
                given[_aspect(asked)].places.append(place)
                given[_aspect(asked)].units.append(unit_mean(asked))
        if not any_seen or not means:
            raise none_to_learn_from(self.name, self.look.part if means else "score")
        rows = seen.learn()
        self._learnt = _Learnt(seen, {aspect: self._model(rows, one) for aspect, one in sorted(given.items())}, means)

    def _model(self, rows: Matrix, given: _Given) -> Ridge:
        # A sparse matrix is centred as it is multiplied: it stays as it is without a copy, which would be large.
        model = Ridge(copy_X=not issparse(rows), random_state=self._seed)
        return model.fit(chosen_rows(rows, given.places), np.asarray(given.units))

    def answer(self, case: Case) -> str:
        """A number for every field asked for; of an aspect that is new, the mean of what is most alike."""
        seen, models, means = learnt(self._learnt, self.name)
        row, said = seen.of(case.paper), dict[str, float]()
        for asked in case.scores:
            model = models.get(_aspect(asked))
            said[asked.field] = (
                on_scale(asked, float(model.predict(row)[0])) if model is not None else means.of(case.paper, asked)
            )
        return write_scores(said)


class Length(LinearScores):
    """See `LinearScores`."""

    look = LENGTH


class AbstractWords(LinearScores):
    """See `LinearScores`."""

    look = ABSTRACT


class PaperWords(LinearScores):
    """See `LinearScores`."""

    look = PAPER

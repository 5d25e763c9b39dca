"""Acceptance without reading the paper: what most papers get, and always yes."""

from collections.abc import Iterable

from peercorpus.benchmark.answers import Decision, write_decision
from peercorpus.benchmark.baselines.baseline import ACCEPTS_FROM, Fixed, decided, learnt, none_to_learn_from
from peercorpus.benchmark.cases import BenchTask, Case

DIGITS = 6
"""Of a probability: more would be noise of the machine it was computed on."""


def say(probability: float) -> str:
    """A decision by its probability on [0, 1], in the form asked for."""
    return write_decision(Decision(probability >= ACCEPTS_FROM, round(probability, DIGITS)))


class Majority:
    """What most papers of the train side got; their accept share as the probability.

    A train side of one class is no error: its share is 0 or 1.
    """

    name = "majority"
    says = "the decision that most papers of the train side got"
    tasks = frozenset({BenchTask.ACCEPTANCE})

    def __init__(self, seed: int = 0) -> None:
        """Take a seed, which decides nothing here."""
        del seed
        self._share: float | None = None

    def fit(self, cases: Iterable[Case]) -> None:
        """Count; see `Baseline`."""
        said = [accepted for _, accepted in decided(cases)]
        if not said:
            raise none_to_learn_from(self.name)
        self._share = sum(said) / len(said)

    def answer(self, case: Case) -> str:
        """The same for every paper; where both decisions are as frequent, accept."""
        del case
        return say(learnt(self._share, self.name))


class AcceptAll(Fixed):
    """Accepts every paper: its accuracy is the accept share, by definition; it has no probability."""

    name = "accept-all"
    says = "accepts every paper"
    tasks = frozenset({BenchTask.ACCEPTANCE})

    def __init__(self, seed: int = 0) -> None:
        """Take a seed, which decides nothing here."""
        del seed

    def answer(self, case: Case) -> str:
        """Always the same."""
        del case
        return write_decision(Decision(accept=True))

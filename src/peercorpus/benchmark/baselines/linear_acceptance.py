"""Acceptance by a logistic regression of what is seen of a paper: its length, or the words of a part of it."""

from collections.abc import Iterable
from typing import ClassVar

import numpy as np
from sklearn.linear_model import LogisticRegression

from peercorpus.benchmark.baselines.acceptance import say
from peercorpus.benchmark.baselines.baseline import decided, learnt, none_to_learn_from
from peercorpus.benchmark.baselines.seen import ABSTRACT, LENGTH, PAPER, TITLE, Look, Seen
from peercorpus.benchmark.cases import BenchTask, Case
from peercorpus.errors import BaselineError

MOST_STEPS = 1_000


class LinearAcceptance:
    """A logistic regression (scikit-learn's: L2, C = 1).

    Attributes:
        look: How it looks at papers.
    """

    tasks = frozenset({BenchTask.ACCEPTANCE})
    look: ClassVar[Look]

    def __init__(self, seed: int = 0) -> None:
        """Take a seed; the solver draws nothing by chance, whatever it is."""
        self.name, self.says = self.look.name, f"logistic regression on {self.look.says}"
        self._seed = seed
        self._learnt: tuple[Seen, LogisticRegression] | None = None

    def fit(self, cases: Iterable[Case]) -> None:
        """Learn; see `Baseline`.

        Raises:
            BaselineError: There is nothing to learn from, or all papers got the same decision.
        """
        seen = self.look.begin()
        said, any_seen = list[bool](), False
        for case, accepted in decided(cases):
            any_seen |= seen.add(case.paper)
            said.append(accepted)
        if not any_seen:
            raise none_to_learn_from(self.name, self.look.part if said else "case")
        if len(set(said)) == 1:
            raise BaselineError(
                f"The baseline '{self.name}' cannot learn, as all {len(said)} papers of the train side were"
                f" {'accepted' if said[0] else 'rejected'}; take more venues, or those that show what they reject."
            )
        model = LogisticRegression(max_iter=MOST_STEPS, random_state=self._seed)
        self._learnt = seen, model.fit(seen.learn(), np.asarray(said))

    def answer(self, case: Case) -> str:
        """Its decision and probability; a paper that lacks what is looked at gets what the model says of nothing."""
        seen, model = learnt(self._learnt, self.name)
        return say(float(model.predict_proba(seen.of(case.paper))[0, 1]))


class Length(LinearAcceptance):
    """See `LinearAcceptance`."""

    look = LENGTH


class TitleWords(LinearAcceptance):
    """See `LinearAcceptance`."""

    look = TITLE


class AbstractWords(LinearAcceptance):
    """See `LinearAcceptance`."""

    look = ABSTRACT


class PaperWords(LinearAcceptance):
    """See `LinearAcceptance`."""

    look = PAPER

"""What a baseline is: it learns from the train side, then answers cases in the form that models are asked for."""

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from peercorpus.benchmark.cases import BenchTask, Case
from peercorpus.errors import BaselineError, PeercorpusError

LearntT = TypeVar("LearntT")
ACCEPTS_FROM = 0.5
"""The probability from which on a paper is said to be accepted."""


class Baseline(Protocol):
    """A predictor that stands beside models in every table.

    Its answers are read by the parsers, and judged by the scorers, that models' answers are.

    Attributes:
        name: As it is chosen and shown: `tfidf-paper`.
        says: What it does, in one line for tables.
        tasks: Those that it answers.
    """

    name: str
    says: str
    tasks: frozenset[BenchTask]

    def fit(self, cases: Iterable[Case]) -> None:
        """Learn.

        Args:
            cases: Of the train side, of one of its tasks; each is read once, and none is kept.

        Raises:
            BaselineError: They teach it nothing; another baseline may learn from them.
            PeercorpusError: They are of another task.
        """
        ...

    def answer(self, case: Case) -> str:
        """What it says: of the case it sees the paper, the scales and what was said before, never what is right.

        Raises:
            PeercorpusError: It has not learnt yet.
        """
        ...


class Fixed:
    """A baseline that has nothing to learn."""

    def fit(self, cases: Iterable[Case]) -> None:
        """Read no case."""
        del cases


def learnt(what: LearntT | None, name: str) -> LearntT:
    """What a baseline has learnt.

    Raises:
        PeercorpusError: Nothing yet.
    """
    if what is None:
        raise PeercorpusError(f"The baseline '{name}' has not learnt yet; give it the train side first.")
    return what


def none_to_learn_from(name: str, what: str = "case") -> BaselineError:
    """The error of a train side that is empty, or lacks what a baseline looks at."""
    return BaselineError(
        f"The baseline '{name}' cannot learn, as no {what} is on the train side; choose a release with more papers."
    )


def decided(cases: Iterable[Case]) -> Iterator[tuple[Case, bool]]:
    """Cases with what was decided.

    Raises:
        PeercorpusError: One is of another task.
    """
    for case in cases:
        if case.accepted is None:
            raise PeercorpusError(f"The case '{case.case_id}' has no decision; take the cases of 'acceptance'.")
        yield case, case.accepted

"""Words of the train side said again: a review of the paper most alike, or what a reviewer answered to words alike."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from peercorpus.benchmark.answers import write_review
from peercorpus.benchmark.baselines.baseline import learnt, none_to_learn_from
from peercorpus.benchmark.baselines.means import Means
from peercorpus.benchmark.baselines.seen import Matrix, WordTable, nearest
from peercorpus.benchmark.cases import BenchTask, Case, CasePaper, Said
from peercorpus.dialogues import Speaker
from peercorpus.errors import PeercorpusError

Scales = dict[tuple[str, float, float], float]
"""The mean score of a paper by field and scale."""


class _Learnt(NamedTuple):
    table: WordTable
    rows: Matrix
    texts: Sequence[str]


class _Reviewed(NamedTuple):
    scores: Sequence[Scales]
    means: Means


def drawn(case: Case, seed: int) -> str:
    """One of a case's references: the same for the same seed, whatever the other cases are.

    Raises:
        PeercorpusError: It has none, as it is of another task, or led by the model.
    """
    if not case.references:
        raise PeercorpusError(f"The case '{case.case_id}' holds no words of a reviewer; take cases that are not led.")
    digest = hashlib.sha256(f"{seed}:{case.case_id}".encode()).digest()
    return case.references[int.from_bytes(digest[:8], "big") % len(case.references)]


def about(paper: CasePaper) -> str:
    """Title and abstract, as far as they are known."""
    return "\n\n".join(filter(None, [paper.title, paper.abstract]))


def last_of_authors(history: Sequence[Said]) -> str:
    """What the authors said last; empty where they said nothing yet."""
    return next((said.text for said in reversed(history) if said.speaker is Speaker.USER), "")


def _fit(table: WordTable, texts: Sequence[str], any_words: bool, name: str, what: str) -> _Learnt:
    if not texts or not any_words:
        raise none_to_learn_from(name, what if texts else "case")
    return _Learnt(table, table.learn(), texts)


class NearestReview:
    """A review of the paper whose title and abstract are most alike, one of several drawn by the seed.

    Its scores are the means of that paper where it has the same field on the same scale, else those of `mean`.
    """

    name = "nearest"
    says = "a review of the train side's paper whose title and abstract are most alike (TF-IDF)"
    tasks = frozenset({BenchTask.REVIEW})

    def __init__(self, seed: int = 0) -> None:
        """Take the seed that draws among a paper's reviews."""
        self._seed = seed
        self._learnt: _Learnt | None = None
        self._reviewed = _Reviewed([], Means())

    def fit(self, cases: Iterable[Case]) -> None:
        """Take one review of each paper; see `Baseline`."""
        table, texts, scores, means, any_words = WordTable(2), list[str](), list[Scales](), Means(), False
        for case in cases:
            any_words |= table.add(about(case.paper))
            texts.append(drawn(case, self._seed))
            scores.append({(one.field, one.low, one.high): one.mean for one in case.scores})
            means.add(case)
        self._learnt = _fit(table, texts, any_words, self.name, "title or abstract")
        self._reviewed = _Reviewed(scores, means)

    def answer(self, case: Case) -> str:
        """The review and, below it, scores; a field that no paper of the train side could tell of is left out."""
        table, rows, texts = learnt(self._learnt, self.name)
        place = nearest(rows, table.of(about(case.paper)))
        means = self._reviewed.means.all_of(case) if self._reviewed.means else {}
        own = self._reviewed.scores[place]
        same = {one.field: own.get((one.field, one.low, one.high)) for one in case.scores}
        return write_review(texts[place], means | {field: mean for field, mean in same.items() if mean is not None})


class RetrievedTurn:
    """What a reviewer of the train side answered, where the authors' last message before it is most alike."""

    name = "retrieved"
    says = "the train side's reviewer turn that answers the authors' message most alike (TF-IDF)"
    tasks = frozenset({BenchTask.REBUTTAL})

    def __init__(self, seed: int = 0) -> None:
        """Take a seed, which decides nothing here: a turn has one text."""
        self._seed = seed
        self._learnt: _Learnt | None = None

    def fit(self, cases: Iterable[Case]) -> None:
        """Take every turn; see `Baseline`."""
        table, texts, any_words = WordTable(), list[str](), False
        for case in cases:
            any_words |= table.add(last_of_authors(case.history))
            texts.append(drawn(case, self._seed))
        self._learnt = _fit(table, texts, any_words, self.name, "message of authors")

    def answer(self, case: Case) -> str:
        """The turn; the first one of the train side where no message has a word in common."""
        table, rows, texts = learnt(self._learnt, self.name)
        return texts[nearest(rows, table.of(last_of_authors(case.history)))]

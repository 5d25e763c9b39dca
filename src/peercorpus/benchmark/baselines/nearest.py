"""Baselines that answer with the review or reply of the most similar train case."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from peercorpus.benchmark.answers import write_review
from peercorpus.benchmark.baselines.baseline import Baseline, drawn, learnt, no_training_data
from peercorpus.benchmark.baselines.linear import Matrix, WordTable, nearest
from peercorpus.benchmark.baselines.simple import Means, Scales, list_means
from peercorpus.benchmark.cases import BenchTask, Case, CaseMessage, CasePaper
from peercorpus.models.chat_messages import Speaker


class _Learnt(NamedTuple):
    table: WordTable
    rows: Matrix
    texts: Sequence[str]


class _Reviewed(NamedTuple):
    scores: Sequence[Scales]
    means: Means


def title_and_abstract(paper: CasePaper) -> str:
    """Return title and abstract, if known."""
    return "\n\n".join(filter(None, [paper.title, paper.abstract]))


def last_author_message(history: Sequence[CaseMessage]) -> str:
    """Return the authors' last message; empty if there is none."""
    return next((message.text for message in reversed(history) if message.speaker is Speaker.USER), "")


def _fit(table: WordTable, texts: Sequence[str], any_words: bool, name: str, what: str) -> _Learnt:
    if not texts or not any_words:
        raise no_training_data(name, what if texts else "case")
    return _Learnt(table, table.learn(), texts)


class NearestReview(Baseline):
    """Answers with a review of the paper with the most similar title and abstract, drawn at random if it has several.

    Scores are that paper's means if it has the same field on the same scale, otherwise those of the baseline `mean`.
    """

    name = "nearest"
    says = "a review of the train split's paper whose title and abstract are most alike (TF-IDF)"
    tasks = frozenset({BenchTask.REVIEW})

    _learnt: _Learnt | None = None
    _reviewed = _Reviewed([], Means())

    def fit(self, cases: Iterable[Case]) -> None:
        """Store one review of each paper; see `Baseline.fit`."""
        table = WordTable(title_and_abstract, 2)
        texts = list[str]()
        scores = list[Scales]()
        means = Means()
        any_words = False
        for case in cases:
            any_words |= table.add(case.paper)
            texts.append(drawn(case))
            scores.append(list_means(case))
            means.add(case)
        self._learnt = _fit(table, texts, any_words, self.name, "title or abstract")
        self._reviewed = _Reviewed(scores, means)

    def answer(self, case: Case) -> str:
        """Answer with the review and the scores below it; a field without any mean in the train split is omitted."""
        table, rows, texts = learnt(self._learnt, self.name)
        row = nearest(rows, table.of(case.paper))
        return write_review(texts[row], self._reviewed.means.all_of(case, self._reviewed.scores[row]))


class RetrievedTurn(Baseline):
    """Answers with the train split's reply to the most similar message of authors."""

    name = "retrieved"
    says = "the train split's reviewer turn that answers the authors' message most alike (TF-IDF)"
    tasks = frozenset({BenchTask.REBUTTAL})

    _learnt: _Learnt | None = None

    def fit(self, cases: Iterable[Case]) -> None:
        """Store every turn; see `Baseline.fit`."""
        table = WordTable(last_author_message)
        texts = list[str]()
        any_words = False
        for case in cases:
            any_words |= table.add(case.history)
            texts.append(drawn(case))
        self._learnt = _fit(table, texts, any_words, self.name, "message of authors")

    def answer(self, case: Case) -> str:
        """Answer with the retrieved turn, or the first one of the train split if no message has a word in common."""
        table, rows, texts = learnt(self._learnt, self.name)
        return texts[nearest(rows, table.of(case.history))]

"""Linear baselines: logistic and ridge regression on TF-IDF or on the length of the paper."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse import issparse
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler

from peercorpus.benchmark.answers import write_scores
from peercorpus.benchmark.baselines.baseline import Baseline, decided, learnt, no_training_data
from peercorpus.benchmark.baselines.simple import Means, answer_decision, on_scale, unit_mean
from peercorpus.benchmark.cases import AskedScore, BenchTask, Case, CasePaper
from peercorpus.errors import BaselineError
from peercorpus.records.enums import Aspect

COLUMNS = 1 << 20
"""Number of columns of the hashed word table: no vocabulary is stored, and few words share a column."""
WORD = r"[^\W\d_]{2,}"
"""A word has letters only, because numbers come from tables, pages and line numbers."""

Matrix = Any
"""A scikit-learn matrix, dense or sparse, with one row per paper; it has no type stubs."""


class TextLength:
    """Logarithm of a paper's length in characters, standardised."""

    def __init__(self) -> None:
        self._lengths: list[list[float]] = []
        self._scaler = StandardScaler()

    def add(self, paper: CasePaper) -> bool:
        """Add a paper to learn from; return whether it has any text."""
        self._lengths.append([math.log1p(len(paper.markdown))])
        return bool(paper.markdown)

    def learn(self) -> Matrix:
        """Return one row per added paper, in order, and release the papers."""
        rows = self._scaler.fit_transform(self._lengths)
        self._lengths = []
        return rows

    def of(self, paper: CasePaper) -> Matrix:
        """Return the row of another paper."""
        return self._scaler.transform([[math.log1p(len(paper.markdown))]])


class WordTable:
    """TF-IDF rows of unit length, with the term weight 1 + ln(count), of the text that `part` returns.

    Single precision is used, because 18,000 papers of 60 kB have about 40 million words to count.
    """

    def __init__(self, part: Callable[[Any], str | None], longest: int = 1) -> None:
        """Create an empty table of n-grams with up to `longest` words."""
        self._part = part
        self._rows: list[Matrix] = []
        self._columns = np.zeros(0, dtype=np.int64)
        self._weights = TfidfTransformer(sublinear_tf=True)
        self._hashing = HashingVectorizer(
            n_features=COLUMNS,
            alternate_sign=False,
            norm=None,
            dtype=np.float32,
            token_pattern=WORD,
            ngram_range=(1, longest),
        )

    def _count(self, of: object) -> Matrix:
        return self._hashing.transform([self._part(of) or ""])

    def add(self, of: object) -> bool:
        """Add a text to learn from; return whether it has any word."""
        row = self._count(of)
        # scikit-learn sums repeated words in place and leaves the row's arrays at their old length; a copy is shorter.
        self._rows.append(row.copy())
        return bool(row.nnz)

    def learn(self) -> Matrix:
        """Return one row per added text, in order, and release the texts."""
        counts = sp.vstack(self._rows, format="csr")
        self._rows = []
        # Columns of words that no text has would only make models large and slow.
        self._columns = np.flatnonzero(np.bincount(counts.indices, minlength=COLUMNS))
        counts = counts[:, self._columns]
        return self._weights.fit(counts).transform(counts, copy=False)

    def of(self, of: object) -> Matrix:
        """Return the row of another text, without the words that no added text has."""
        return self._weights.transform(self._count(of)[:, self._columns], copy=False)


PaperFeatures = TextLength | WordTable
"""Features of papers: first of all train papers in turn, then of any other paper."""


@dataclass(frozen=True, slots=True)
class Look:
    """A choice of features.

    Attributes:
        name: Name of the baselines that use it.
        says: Description for tables.
        part: The part of a paper that it needs, for error messages.
        begin: Creates the feature extractor.
    """

    name: str
    says: str
    part: str
    begin: Callable[[], PaperFeatures]


LENGTH = Look(name="length", says="one number, the length of the paper", part="text", begin=TextLength)
TITLE = Look(
    name="tfidf-title",
    says="the words and pairs of words of the title (TF-IDF)",
    part="title",
    begin=lambda: WordTable(attrgetter("title"), longest=2),
)
ABSTRACT = Look(
    name="tfidf-abstract",
    says="the words and pairs of words of the abstract (TF-IDF)",
    part="abstract",
    begin=lambda: WordTable(attrgetter("abstract"), longest=2),
)
PAPER = Look(
    name="tfidf-paper",
    says="the words of the paper (TF-IDF)",
    part="text",
    begin=lambda: WordTable(attrgetter("markdown")),
)


def nearest(rows: Matrix, row: Matrix) -> int:
    """Return the index of the row with the highest cosine, or the first of several, even if all are 0."""
    # With the row as a dense vector this takes a sixth of the time of a sparse one.
    return int(np.argmax(rows @ row.toarray().ravel()))


def chosen_rows(rows: Matrix, indices: Sequence[int]) -> Matrix:
    """Return some rows; if these are all rows, the matrix itself, because copying it is expensive."""
    return rows if list(indices) == list(range(rows.shape[0])) else rows[np.asarray(indices)]


MAX_SOLVER_STEPS = 1_000
"""Maximum iterations of the logistic regression's solver."""


class LinearAcceptance(Baseline):
    """A logistic regression (scikit-learn, L2, C = 1) on some features of a paper.

    Attributes:
        look: The features that it uses.
    """

    tasks = frozenset({BenchTask.ACCEPTANCE})

    def __init__(self, look: Look) -> None:
        """Create an unfitted model."""
        self.look = look
        self.name = look.name
        self.says = f"logistic regression on {look.says}"
        self._learnt: tuple[PaperFeatures, LogisticRegression] | None = None

    def fit(self, cases: Iterable[Case]) -> None:
        """Learn from the train split; see `Baseline.fit`.

        Raises:
            BaselineError: There is nothing to learn from, or all papers have the same decision.
        """
        seen = self.look.begin()
        decisions = list[bool]()
        any_seen = False
        for case, accepted in decided(cases):
            any_seen |= seen.add(case.paper)
            decisions.append(accepted)
        if not any_seen:
            raise no_training_data(self.name, self.look.part if decisions else "case")
        if len(set(decisions)) == 1:
            raise BaselineError(
                f"The baseline '{self.name}' cannot learn, as all {len(decisions)} papers of the train split were"
                f" {'accepted' if decisions[0] else 'rejected'}; choose more venues, or venues that publish both."
            )
        model = LogisticRegression(max_iter=MAX_SOLVER_STEPS, random_state=0)
        model.fit(seen.learn(), np.asarray(decisions))
        self._learnt = (seen, model)

    def answer(self, case: Case) -> str:
        """Answer with decision and probability; a paper without any of the features gets the model's intercept."""
        seen, model = learnt(self._learnt, self.name)
        return answer_decision(float(model.predict_proba(seen.of(case.paper))[0, 1]))


Length = partial(LinearAcceptance, LENGTH)
TitleWords = partial(LinearAcceptance, TITLE)
AbstractWords = partial(LinearAcceptance, ABSTRACT)
PaperWords = partial(LinearAcceptance, PAPER)


class _AspectScores(NamedTuple):
    """Indices of the papers that have a score of one aspect, and their mean scores normalised to [0, 1]."""

    papers: list[int]
    units: list[float]


class _Learnt(NamedTuple):
    seen: PaperFeatures
    models: dict[str, Ridge]
    means: Means


def _name_aspect(asked: AskedScore) -> str:
    """Return the key of scores that are learnt together: an aspect, or a single field without an aspect."""
    return f"field {asked.field}" if asked.aspect is Aspect.OTHER else asked.aspect.value


class LinearScores(Baseline):
    """A ridge regression for each aspect (scikit-learn, alpha = 1), on scores normalised to [0, 1].

    Attributes:
        look: The features that it uses.
    """

    tasks = frozenset({BenchTask.SCORES})

    def __init__(self, look: Look) -> None:
        """Create an unfitted model."""
        self.look = look
        self.name = look.name
        self.says = f"ridge regression of each aspect on {look.says}"
        self._learnt: _Learnt | None = None

    def fit(self, cases: Iterable[Case]) -> None:
        """Learn from the train split; see `Baseline.fit`."""
        seen = self.look.begin()
        means = Means()
        any_seen = False
        scores_by_aspect: defaultdict[str, _AspectScores] = defaultdict(lambda: _AspectScores([], []))
        for index, case in enumerate(cases):
            any_seen |= seen.add(case.paper)
            means.add(case)
            for asked in case.scores:
                scores_by_aspect[_name_aspect(asked)].papers.append(index)
                scores_by_aspect[_name_aspect(asked)].units.append(unit_mean(asked))
        if not any_seen or not means:
            raise no_training_data(self.name, self.look.part if means else "score")
        rows = seen.learn()
        models = {}
        for aspect, scored in sorted(scores_by_aspect.items()):
            # Ridge does not change a sparse matrix, which it centres while multiplying, so it needs no (large) copy.
            model = Ridge(copy_X=not issparse(rows), random_state=0)
            models[aspect] = model.fit(chosen_rows(rows, scored.papers), np.asarray(scored.units))
        self._learnt = _Learnt(seen, models, means)

    def answer(self, case: Case) -> str:
        """Answer with a number for each requested field; for an unseen aspect, the closest mean of the train split."""
        seen, models, means = learnt(self._learnt, self.name)
        row = seen.of(case.paper)
        numbers = dict[str, float]()
        for asked in case.scores:
            model = models.get(_name_aspect(asked))
            numbers[asked.field] = (
                on_scale(asked, float(model.predict(row)[0])) if model is not None else means.of(case.paper, asked)
            )
        return write_scores(numbers)


ScoreLength = partial(LinearScores, LENGTH)
ScoreAbstractWords = partial(LinearScores, ABSTRACT)
ScorePaperWords = partial(LinearScores, PAPER)

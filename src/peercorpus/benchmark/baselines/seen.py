"""What linear models see of a paper: its length, or its words by TF-IDF, in a row of numbers each."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.preprocessing import StandardScaler

from peercorpus.benchmark.cases import CasePaper

COLUMNS = 1 << 20
"""Of a table of words: a word's column is a checksum, so that no vocabulary is held; few words share one."""
WORD = r"[^\W\d_]{2,}"
"""A word has letters alone: numbers are of tables, pages and line numbers."""

Matrix = Any
"""A matrix of scikit-learn's: dense or sparse, a row a paper. It comes without types."""


class Seen(Protocol):
    """What is seen of papers: first of all that are learnt from, one after the other, then of one that is asked for."""

    def add(self, paper: CasePaper) -> bool:
        """Take a paper to learn from; whether there is anything to see."""
        ...

    def learn(self) -> Matrix:
        """A row for each paper taken, in order; the papers themselves are let go."""
        ...

    def of(self, paper: CasePaper) -> Matrix:
        """The one row of another paper."""
        ...


class TextLength:
    """The logarithm of a paper's length in characters, standardised."""

    def __init__(self) -> None:
        self._lengths: list[list[float]] = []
        self._scaler = StandardScaler()

    def add(self, paper: CasePaper) -> bool:
        """See `Seen`."""
        self._lengths.append([math.log1p(len(paper.markdown))])
        return bool(paper.markdown)

    def learn(self) -> Matrix:
        """See `Seen`."""
        rows, self._lengths = self._scaler.fit_transform(self._lengths), []
        return rows

    def of(self, paper: CasePaper) -> Matrix:
        """See `Seen`."""
        return self._scaler.transform([[math.log1p(len(paper.markdown))]])


class WordTable:
    """Texts as rows of unit length: 1 + ln of how often each word is there, times its inverse document frequency.

    In single precision, as 18,000 papers of 60 kB have some 40 million words to count.
    """

    def __init__(self, longest: int = 1) -> None:
        """Take how many words in a row count as one more word, at most."""
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

    def add(self, text: str) -> bool:
        """Take a text to learn from; whether it has a word."""
        row = self._hashing.transform([text])
        # A row comes with the room that its words took before equal ones were added up; a copy has none.
        self._rows.append(row.copy())
        return bool(row.nnz)

    def learn(self) -> Matrix:
        """A row for each text taken, in order; the texts themselves are let go."""
        counts = sp.vstack(self._rows, format="csr")
        self._rows = []
        # Columns of words that no text has would only make models large and slow.
        self._columns = np.flatnonzero(np.bincount(counts.indices, minlength=COLUMNS))
        counts = counts[:, self._columns]
        return self._weights.fit(counts).transform(counts, copy=False)

    def of(self, text: str) -> Matrix:
        """The one row of another text, less the words that none of those had."""
        return self._weights.transform(self._hashing.transform([text])[:, self._columns], copy=False)


class Words:
    """The words of one part of a paper; of short parts, pairs of words too."""

    def __init__(self, part: Callable[[CasePaper], str | None], longest: int = 1) -> None:
        self._part = part
        self._table = WordTable(longest)

    def add(self, paper: CasePaper) -> bool:
        """See `Seen`."""
        return self._table.add(self._part(paper) or "")

    def learn(self) -> Matrix:
        """See `Seen`."""
        return self._table.learn()

    def of(self, paper: CasePaper) -> Matrix:
        """See `Seen`."""
        return self._table.of(self._part(paper) or "")


@dataclass(frozen=True, slots=True)
class Look:
    """One way to look at papers.

    Attributes:
        name: Of the baselines that look so.
        says: What they see, for tables.
        part: Of a paper, in one word.
        begin: Makes what looks.
    """

    name: str
    says: str
    part: str
    begin: Callable[[], Seen]


LENGTH = Look("length", "one number, the length of the paper", "text", TextLength)
TITLE = Look(
    "tfidf-title",
    "the words and pairs of words of the title (TF-IDF)",
    "title",
    lambda: Words(attrgetter("title"), longest=2),
)
ABSTRACT = Look(
    "tfidf-abstract",
    "the words and pairs of words of the abstract (TF-IDF)",
    "abstract",
    lambda: Words(attrgetter("abstract"), longest=2),
)
PAPER = Look("tfidf-paper", "the words of the paper (TF-IDF)", "text", lambda: Words(attrgetter("markdown")))


def nearest(rows: Matrix, row: Matrix) -> int:
    """The place of the row most alike by cosine; of several the first, which it is too where none has a word of it."""
    return int(np.argmax((rows @ row.T).toarray()))


def chosen_rows(rows: Matrix, places: Sequence[int]) -> Matrix:
    """Some rows; the matrix itself where these are all of them, as a copy of it is large."""
    return rows if list(places) == list(range(rows.shape[0])) else rows[np.asarray(places)]

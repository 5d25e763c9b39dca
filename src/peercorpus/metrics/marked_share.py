"""Estimate which share of a population of texts was written by a model, from words that models overuse.

The words, with the source of each list, are in `marker_words.toml`. A text is cut into passages of 100 words; its
marked share is the share of them that contain one of the words. The mean of the marked share over texts is linear in
the mixture, however the words of a text depend on each other:

    observed = (1 - alpha) * human + alpha * model,   so that   alpha = (observed - human) / (model - human)

With texts of a model, `model` is measured and alpha estimated. Without them `model` is at most 1, and
(observed - human) / (1 - human) is at most alpha: a lower bound. Sources: the mixture of two reference distributions of
word frequencies, Liang et al. (2024), Monitoring AI-Modified Content at Scale, arXiv:2403.07183; the lower bound from
the excess of words, Kobak et al. (2025), arXiv:2406.07016. Unlike the maximum likelihood of the former, the ratio does
not assume that the words of a text are independent.

Only numbers of a `Sample`, which adds texts up by paper and has no ids, are reported, never those of one text or
person.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from statistics import quantiles

import polars as pl

from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics.intervals.bootstrap import Interval
from peercorpus.metrics.intervals.papers import RESAMPLES

PASSAGE_WORDS = 100
"""Words in a passage; an incomplete passage at the end of a text is ignored."""
FEWEST_TEXTS = 200
FEWEST_PAPERS = 50
"""Fewest texts and papers in a population and in the reference; with fewer, intervals are too narrow or uninformative
(measured in benchmarks/results/planting.json)."""
LEAST_CONTRAST = 0.1
"""Least difference between the marked shares of a model's texts and people's for an estimate to be informative."""
_DRAWS_AT_ONCE = 1_000_000
"""Papers drawn at once for resamples; this bounds memory."""
_WORD = re.compile(r"[^\W\d_]+")
_QUOTED = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
"""Quoted lines in Markdown."""


@dataclass(frozen=True, slots=True)
class MarkerList:
    """One published list of words.

    Attributes:
        of: The kind of words, in the plural.
        source: Where it was published.
        words: The words counted, in lower case.
        frequent: Listed words that are not counted because people use them too often.
    """

    of: str
    source: str
    words: tuple[str, ...]
    frequent: tuple[str, ...]


@cache
def marker_lists() -> tuple[MarkerList, ...]:
    """Return the published lists."""
    table = tomllib.loads(files("peercorpus.metrics").joinpath("marker_words.toml").read_text(encoding="utf-8"))
    return tuple(
        MarkerList(row["of"], row["source"], tuple(row["words"].split()), tuple(row["frequent"].split()))
        for row in table["lists"]
    )


@cache
def marker_words() -> frozenset[str]:
    """Return the counted words of all lists."""
    return frozenset(word for each in marker_lists() for word in each.words)


def list_passages(text: str) -> Iterator[list[str]]:
    """Cut a text into passages of 100 words in lower case, leaving out quoted lines and an incomplete last passage."""
    words = _WORD.findall(_QUOTED.sub("", text).lower())
    for start in range(0, len(words) - PASSAGE_WORDS + 1, PASSAGE_WORDS):
        yield words[start : start + PASSAGE_WORDS]


def marked_share(text: str) -> float | None:
    """Return the share of a text's passages with a marker, in [0, 1]; None if the text has no complete passage.

    Quoted lines (">") are ignored. Only sums over many texts are meaningful: the share of a single text is not.
    """
    markers = marker_words()
    is_marked = [not markers.isdisjoint(passage) for passage in list_passages(text)]
    return sum(is_marked) / len(is_marked) if is_marked else None


@dataclass(frozen=True, slots=True)
class Sample:
    """Texts of one population, added up by paper, without ids.

    Attributes:
        texts: Number of texts of each paper, at least 1.
        marked: Sum of their marked shares, by paper.
    """

    texts: tuple[int, ...]
    marked: tuple[float, ...]

    @property
    def size(self) -> int:
        """Number of texts."""
        return sum(self.texts)

    @property
    def papers(self) -> int:
        """Number of papers."""
        return len(self.texts)

    @property
    def is_large(self) -> bool:
        """Whether it has enough texts and papers for an interval."""
        return self.size >= FEWEST_TEXTS and self.papers >= FEWEST_PAPERS

    @property
    def marked_share(self) -> float:
        """The mean of the marked share over texts, in [0, 1].

        Raises:
            UndefinedMetricError: There is no text.
        """
        if not self.texts:
            raise UndefinedMetricError("The marked share of no text is not defined; give at least one text.")
        return sum(self.marked) / self.size

    def __add__(self, other: "Sample") -> "Sample":
        return Sample(self.texts + other.texts, self.marked + other.marked)

    def halves(self) -> tuple["Sample", "Sample"]:
        """Return two samples, each with every other paper."""
        return Sample(self.texts[::2], self.marked[::2]), Sample(self.texts[1::2], self.marked[1::2])

    def resample(self, resamples: int, seed: int) -> list[float]:
        """Return the marked shares of bootstrap resamples, in which papers are drawn with all their texts."""
        texts = pl.Series(self.texts, dtype=pl.Int64)
        marked = pl.Series(self.marked, dtype=pl.Float64)
        at_once = max(1, _DRAWS_AT_ONCE // self.papers)
        shares: list[float] = []
        for first in range(0, resamples, at_once):
            shape = (min(at_once, resamples - first), self.papers)
            drawn = pl.int_range(self.papers, eager=True).sample(
                shape[0] * shape[1], with_replacement=True, seed=seed + first
            )
            sums = (column.gather(drawn).reshape(shape).arr.sum() for column in (marked, texts))
            shares += [part / whole for part, whole in zip(*sums, strict=True)]
        return shares


class SampleCounter:
    """Adds texts up to a sample; memory grows with the number of papers, not texts.

    Attributes:
        short: Number of texts shorter than a passage; they are not in the sample.
    """

    def __init__(self) -> None:
        self.short = 0
        self._papers: dict[str, tuple[int, float]] = {}

    def add(self, forum_id: str, text: str) -> None:
        """Add a text of a paper; its quoted lines (">") are ignored."""
        self.add_share(forum_id, marked_share(text))

    def add_share(self, forum_id: str, share: float | None) -> None:
        """Add a text of a paper by its marked share; None counts as a short text."""
        if share is None:
            self.short += 1
            return
        texts, marked = self._papers.get(forum_id, (0, 0.0))
        self._papers[forum_id] = texts + 1, marked + share

    def sample(self) -> Sample:
        """Return the sample in the order of the papers' ids, whatever the order of adding."""
        sums = [self._papers[forum_id] for forum_id in sorted(self._papers)]
        return Sample(tuple(texts for texts, _ in sums), tuple(marked for _, marked in sums))


def is_distinct(model: Sample, human: Sample) -> bool:
    """Return whether a model's texts are marked often enough, compared with people's, for an estimate."""
    return model.marked_share - human.marked_share >= LEAST_CONTRAST


def _mixed(observed: float, human: float, model: float) -> float:
    return (observed - human) / (model - human)


def estimate_share(
    observed: Sample, human: Sample, model: Sample | None = None, resamples: int = RESAMPLES, seed: int = 0
) -> Interval:
    """Return the share of a model's texts in a population, or a lower bound for it, with its 95 % interval.

    Values are not cut to [0, 1]: one below 0 means that the words are rarer than in the reference. The interval is the
    percentile bootstrap over papers of all samples at once; each text of a model counts as a paper of its own.

    Args:
        observed: The population.
        human: Texts known to be written by people, the reference.
        model: Texts of a model; None gives the lower bound.
        resamples: Number of resamples.
        seed: Seed of the random draws.

    Raises:
        UndefinedMetricError: A sample is empty, or people's texts are marked nearly as often as a model's can be.
    """
    q = 1.0 if model is None else model.marked_share
    if q - human.marked_share < LEAST_CONTRAST:
        raise UndefinedMetricError(
            f"{100 * human.marked_share:.1f} % of the passages of people's texts contain one of the words, and at most"
            f" {100 * q:.1f} % of a model's; give texts that differ by at least {100 * LEAST_CONTRAST:.0f} points."
        )
    seeds = (seed + step * resamples for step in range(3))
    drawn_observed, drawn_human = (sample.resample(resamples, next(seeds)) for sample in (observed, human))
    drawn_model = [1.0] * resamples if model is None else model.resample(resamples, next(seeds))
    draws = zip(drawn_observed, drawn_human, drawn_model, strict=True)
    defined = [_mixed(*draw) for draw in draws if draw[2] > draw[1]]
    low, high = _bound(defined)
    return Interval(
        value=_mixed(observed.marked_share, human.marked_share, q),
        low=low,
        high=high,
        papers=observed.papers,
        resamples=resamples,
        undefined=resamples - len(defined),
    )


def _bound(values: Sequence[float]) -> tuple[float, float]:
    cuts = quantiles(values, n=40, method="inclusive")
    return cuts[0], cuts[-1]

"""Find which point of a review each passage of a reply is about.

A reply is modelled as a walk over the sentences of the review, in a hidden Markov model: its passages stay with a
sentence, go on to later ones, jump, or are about none. Features that a passage shares with a sentence (rare words,
repeated words, the point's label) are weighed against its position in that order. The probabilities are those of the
forward-backward algorithm (Rabiner 1989, "A tutorial on hidden Markov models", section III.B).
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from peercorpus.criticism.kinds import content_words
from peercorpus.criticism.passages import Passage
from peercorpus.records.enums import SectionKind
from peercorpus.records.points import CRITICAL_KINDS, AnswerMethod, PointKind

LETTERS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("w", "weakness", "weaknesses", "con", "cons"), "w"),
        **dict.fromkeys(("q", "question", "questions"), "q"),
        **dict.fromkeys(("s", "strength", "strengths", "pro"), "s"),
        **dict.fromkeys(("l", "limitation", "limitations"), "l"),
        **dict.fromkeys(("m", "minor"), "m"),
    }
)
"""Words and letters that indicate the list of a number; others ("comment", "point", "R", "A") do not."""

FIELD_LETTERS: Mapping[SectionKind, str] = MappingProxyType(
    {
        SectionKind.WEAKNESSES: "w",
        SectionKind.QUESTIONS: "q",
        SectionKind.STRENGTHS: "s",
        SectionKind.LIMITATIONS: "l",
    }
)
"""Letter of the points of a field, for a number without one."""

KIND_LETTERS: Mapping[PointKind, str] = MappingProxyType(
    {
        PointKind.WEAKNESS: "w",
        PointKind.QUESTION: "q",
        PointKind.STRENGTH: "s",
        PointKind.LIMITATION: "l",
        PointKind.MINOR: "m",
    }
)
"""Letter of the points below a heading of a kind."""

NAME = re.compile(
    r"(?<![\w.])(?P<word>weakness|question|concern|comment|point|issue|limitation|suggestion|remark|strength|minor|con)(?:e?s)?"
    r"(?:\s++(?:point|comment|issue))?\s*+[#(]?\s*+(?P<number>\d{1,2})(?![\w%]|\.\d)"
    r"|(?<![\w.])(?P<letter>[QWRCAPMSL])\s?[-.#]?\s?(?P<numeral>\d{1,2})(?:\.(?P<part>\d{1,2}))?(?!\w|%|\.\d)",
    re.IGNORECASE,
)
BARE = re.compile(r"[\s>*_\-\u2022]*[\[(]?(?P<number>\d{1,2})(?:\.(?P<part>\d{1,2}))?\s*[.):\]](?!\d)")
MORE = re.compile(
    r"\s*(?:,|and|&|/|\+|\u2013|-|to)\s*(?:and\s+)?(?P<letter>[QWRCAPMSL])?(?P<number>\d{1,2})(?![\w%]|\.\d)", re.I
)

MAX_RANGE = 10
"""Number of labels from which a range is read as two separate labels; our choice."""

MAX_DISTANCE = 80
"""Number of characters at the beginning of a passage within which a label counts; our choice."""


@dataclass(frozen=True, slots=True)
class Label:
    """A label: the letter of its list, empty if unknown, its number, and the number of a part of it (0 if none)."""

    letter: str
    number: int
    part: int = 0


def read_label(label: str | None) -> Label | None:
    """Return the label of a point from the reviewer's text; None for letters, and if there is none.

    >>> read_label("W2"), read_label("(3)"), read_label("**Question 1**"), read_label("(a)")
    (Label(letter='w', number=2, part=0), Label(letter='', number=3, part=0), Label(letter='q', number=1, part=0), None)
    """
    if not label:
        return None
    named = next(find_labels(label), None)
    if named is not None:
        return named
    digits = re.search(r"(\d{1,2})(?:\.(\d{1,2}))?", label)
    return Label("", int(digits[1]), int(digits[2] or 0)) if digits else None


def find_labels(words: str) -> Iterator[Label]:
    """Yield the labels that a passage names near its beginning: "Q1 & Q2:", "Regarding weakness 3", "(2)"."""
    bare = BARE.match(words)
    if bare:
        yield Label("", int(bare["number"]), int(bare["part"] or 0))
    end = 0
    for match in NAME.finditer(words, 0, MAX_DISTANCE + 20):
        if match.start() > MAX_DISTANCE:
            return
        if match.start() < end:
            continue
        letter = LETTERS.get((match["word"] or match["letter"]).casefold(), "")
        yield Label(letter, int(match["number"] or match["numeral"]), int(match["part"] or 0))
        more, end = _find_more(words, match, letter)
        yield from more


def _find_more(words: str, first: re.Match[str], letter: str) -> tuple[list[Label], int]:
    """Return the labels that follow a first one in a list or range, and the offset at which they end."""
    found: list[Label] = []
    last, at = int(first["number"] or first["numeral"]), first.end()
    while more := MORE.match(words, at):
        number = int(more["number"])
        is_range = re.search("[\u2013-]|to", more[0].casefold()) is not None
        numbers = range(last + 1, number + 1) if is_range and number - last < MAX_RANGE else (number,)
        own = LETTERS.get((more["letter"] or "").casefold(), letter)
        found.extend(Label(own, each) for each in numbers)
        last, at = number, more.end()
    return found, at


Matrix = NDArray[np.float64]

RUN_WORDS = 4
"""Number of consecutive words that count as repeated."""


COURTESY = re.compile(
    r"\b(?:thank|thanks|grateful|appreciate|dear reviewer|kind regards|respond to|as follows|below)\b", re.I
)
"""Words of thanks, greetings and announcements."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of the evidence, as logarithms; tuned on one half of DISAPERE's forums (docs/points.md).

    Attributes:
        similarity: Factor of the cosine of rare words with a sentence.
        point_similarity: Factor of the highest such cosine within the point.
        quote: Factor of the share of words that are repeated consecutively.
        label: Factor of how well a label named by the passage fits.
        critical: For a sentence in a point that asks for an answer.
        question: For a question.
        nothing: For being about no point.
        courtesy: Added to `nothing` for thanks and greetings.
        reference: Added to `nothing` for entries of a list of references.
        stay: For staying with the same sentence, within a paragraph.
        within: For moving to another sentence of the same point.
        forward: For moving to a later point.
        back: For moving to an earlier point.
        stay_after_break: As `stay`, but in a new paragraph; likewise the next three.
        within_after_break: As `within`.
        forward_after_break: As `forward`.
        back_after_break: As `back`.
        distance: Penalty for each doubling of the distance.
        leave: For a passage about no point after one about a point.
        enter: For a passage about a point after one about none.
        stay_out: For a further passage about no point.
    """

    similarity: float = 3.85
    point_similarity: float = 4.2
    quote: float = 2.8
    label: float = 8.7
    critical: float = 0.0
    question: float = 0.4
    nothing: float = 1.0
    courtesy: float = 2.0
    reference: float = 6.0
    stay: float = 3.4
    within: float = 3.4
    forward: float = -2.5
    back: float = -3.0
    stay_after_break: float = -0.2
    within_after_break: float = -1.1
    forward_after_break: float = 1.2
    back_after_break: float = -2.3
    distance: float = 1.0
    leave: float = -1.6
    enter: float = -1.0
    stay_out: float = -0.3


WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class ReviewSentence:
    """A sentence of a review, for matching.

    Attributes:
        point: Index of its point.
        words: Its words, in lower case.
        kind: Kind of its point.
        is_question: Whether it ends with a question mark.
    """

    point: int
    words: Sequence[str]
    kind: PointKind
    is_question: bool


@dataclass(frozen=True, slots=True)
class Attribution:
    """The point that a passage of a reply is about.

    Attributes:
        point: Index of the point; None if it is about none.
        probability: Probability that it is about that point.
        sentences: Indices of the review's sentences that it is about.
        method: The main evidence.
        is_repeated: Whether the passage does little more than repeat the point.
    """

    point: int | None
    probability: float
    sentences: tuple[int, ...]
    method: AnswerMethod
    is_repeated: bool = False


class ReviewMatcher:
    """Finds which point of one review each passage of a reply is about.

    Args:
        sentences: The review's sentences, in order; each point has at least one, and those of a point are consecutive.
        labels: Labels of the points, by index; empty if a point has none.
        weights: Weights of the evidence.
    """

    def __init__(
        self, sentences: Sequence[ReviewSentence], labels: Sequence[Sequence[Label]], weights: Weights = WEIGHTS
    ) -> None:
        self._weights = weights
        points = [sentence.point for sentence in sentences]
        self._points = np.array(points, dtype=np.intp)
        self._starts = [index for index, point in enumerate(points) if index == 0 or points[index - 1] != point]
        self._labels = labels
        self._lengths = [len(sentence.words) for sentence in sentences]
        content = [content_words(sentence.words) for sentence in sentences]
        self._columns = {
            word: index for index, word in enumerate(dict.fromkeys(word for words in content for word in words))
        }
        counts = np.zeros((len(sentences), len(self._columns)))
        for row, words in enumerate(content):
            counts[row, [self._columns[word] for word in words]] = 1.0
        # As in BM25: a word in few sentences of the review is more informative (Robertson and Zaragoza 2009, section
        # 3.1).
        self._rarity = np.log(1.0 + (len(sentences) + 1.0) / (counts.sum(0) + 0.5))
        rows = counts * self._rarity
        norms = np.sqrt((rows * rows).sum(1))
        self._by_word = np.ascontiguousarray((rows / np.where(norms > 0, norms, 1.0)[:, None]).T)
        self._runs = _index_runs([sentence.words for sentence in sentences])
        critical = np.array([sentence.kind in CRITICAL_KINDS for sentence in sentences], dtype=float)
        questions = np.array([sentence.is_question for sentence in sentences], dtype=float)
        self._prior = weights.critical * critical + weights.question * questions
        self._steps = self._make_steps(len(sentences))

    def attribute(self, passages: Sequence[Passage], words: Sequence[Sequence[str]]) -> list[Attribution]:
        """Return the attribution of each passage of a reply, in order.

        Args:
            passages: The passages of the reply.
            words: Their words, in lower case.
        """
        if not passages or not len(self._points):
            return [Attribution(None, 1.0, (), AnswerMethod.ORDER) for _ in passages]
        similarity = self._measure_similarity(words)
        quotes = self._measure_quotes(words)
        labels = self._measure_labels(passages)
        evidence = self._weigh(similarity, quotes, labels)
        evidence[:, -1] += self._weigh_nothing(passages)
        breaks = _find_breaks(passages, quotes.max(1))
        chances = self._walk(evidence, breaks)
        return self._decide(chances, similarity, quotes, labels)

    def _measure_similarity(self, words: Sequence[Sequence[str]]) -> Matrix:
        """Return the cosine of each passage with each sentence of the review, by the words of the review."""
        found = np.zeros((len(words), len(self._lengths)))
        columns = self._columns
        for row, each in enumerate(words):
            known = [columns[word] for word in content_words(each) if word in columns]
            if known:
                # Not a matrix product: few words are shared, and BLAS would start threads that only wait.
                weights = self._rarity[known]
                found[row] = weights @ self._by_word[known] / np.sqrt(weights @ weights)
        return found

    def _measure_quotes(self, words: Sequence[Sequence[str]]) -> Matrix:
        """Return how much each passage repeats of each sentence in runs of words, as a share of the shorter one."""
        counts = np.zeros((len(words), len(self._lengths)))
        for row, each in enumerate(words):
            for index in range(len(each) - RUN_WORDS + 1):
                for column in self._runs.get(tuple(each[index : index + RUN_WORDS]), ()):
                    counts[row, column] += 1
        shorter = np.minimum(np.array([len(each) for each in words])[:, None], np.array(self._lengths)[None, :])
        shares: Matrix = np.minimum(1.0, (counts + RUN_WORDS - 1) / np.maximum(RUN_WORDS, shorter)) * (counts > 0)
        return shares

    def _measure_labels(self, passages: Sequence[Passage]) -> Matrix:
        """Return how well the labels that each passage names fit each sentence's point, from 0 to 1."""
        by_point = np.zeros((len(passages), len(self._labels)))
        for row, passage in enumerate(passages):
            opens = row == 0 or passages[row - 1].block != passage.block
            named = [*find_labels(passage.words)] if opens else []
            for label in named:
                fits = np.array([_fit(label, own) for own in self._labels])
                total = fits.sum()
                if total > 0:
                    by_point[row] = np.maximum(by_point[row], fits / max(total, 1.0))
        return by_point[:, self._points]

    def _weigh(self, similarity: Matrix, quotes: Matrix, labels: Matrix) -> Matrix:
        weights = self._weights
        best = np.maximum.reduceat(similarity, self._starts, axis=1)[:, self._points]
        scores = weights.similarity * similarity + weights.point_similarity * best + weights.quote * quotes
        scores += weights.label * labels + self._prior
        return np.hstack([scores, np.full((len(scores), 1), weights.nothing)])

    def _weigh_nothing(self, passages: Sequence[Passage]) -> Matrix:
        """Return the evidence within each passage that it is about no point."""
        weights = self._weights
        courtesies = np.array([COURTESY.search(passage.words) is not None for passage in passages], dtype=float)
        references = np.array([passage.is_reference for passage in passages], dtype=float)
        return np.asarray(weights.courtesy * courtesies + weights.reference * references)

    def _make_steps(self, count: int) -> tuple[Matrix, Matrix]:
        """Return the transition probabilities, within a paragraph and into a new one; the last state is "none"."""
        weights = self._weights
        distance = np.arange(count)[None, :] - np.arange(count)[:, None]
        far = weights.distance * np.log1p(np.abs(distance))
        same_point = self._points[:, None] == self._points[None, :]

        def steps(stay: float, within: float, forward: float, back: float) -> Matrix:
            inner = np.where(distance > 0, forward - far, back - far)
            inner = np.where(distance == 0, stay, np.where(same_point, within, inner))
            scores = np.empty((count + 1, count + 1))
            scores[:count, :count] = inner
            scores[count, :count] = weights.enter - np.log(max(count, 1))
            scores[:count, count] = weights.leave
            scores[count, count] = weights.stay_out
            chances = np.exp(scores)
            return np.asarray(chances / chances.sum(1, keepdims=True))

        inner = steps(weights.stay, weights.within, weights.forward, weights.back)
        after = steps(
            weights.stay_after_break, weights.within_after_break, weights.forward_after_break, weights.back_after_break
        )
        return inner, after

    def _walk(self, evidence: Matrix, breaks: Sequence[bool]) -> Matrix:
        """Return the probability of each sentence, or of none, for each passage, given the whole reply."""
        inner, after = self._steps
        likely = np.exp(evidence - evidence.max(1, keepdims=True))
        count, states = likely.shape
        forward = np.empty((count, states))
        forward[0] = likely[0] / likely[0].sum()
        for row in range(1, count):
            step = (forward[row - 1] @ (after if breaks[row] else inner)) * likely[row]
            forward[row] = step / step.sum()
        backward = np.ones(states)
        for row in range(count - 2, -1, -1):
            backward = (after if breaks[row + 1] else inner) @ (likely[row + 1] * backward)
            backward /= backward.sum()
            forward[row] *= backward
            forward[row] /= forward[row].sum()
        return np.asarray(forward.round(DIGITS))

    def _decide(self, chances: Matrix, similarity: Matrix, quotes: Matrix, labels: Matrix) -> list[Attribution]:
        """Return the most probable point of each passage, with the sentences that contribute to it."""
        of_points = np.add.reduceat(chances[:, :-1], self._starts, axis=1)
        evidence = [np.maximum.reduceat(each, self._starts, axis=1) for each in (quotes, labels, similarity)]
        found = []
        for row, point in enumerate(of_points.argmax(1).tolist()):
            nothing, probability = float(chances[row, -1]), float(of_points[row, point])
            if nothing > MAX_NOTHING or probability < MIN_PROBABILITY:
                found.append(Attribution(None, nothing, (), AnswerMethod.ORDER))
                continue
            quote, label, cosine = (float(each[row, point]) for each in evidence)
            found.append(
                Attribution(
                    point=point,
                    probability=probability,
                    sentences=self._share(chances[row], point),
                    method=_name_method(quote, label, cosine),
                    is_repeated=quote >= REPEATED_SHARE,
                )
            )
        return found

    def _share(self, chances: Matrix, point: int) -> tuple[int, ...]:
        """Return the sentences that contribute to a point's probability."""
        start = self._starts[point]
        end = self._starts[point + 1] if point + 1 < len(self._starts) else len(self._points)
        own = chances[start:end].tolist()
        least = MIN_SHARE * max(own)
        return tuple(start + index for index, chance in enumerate(own) if chance >= least)


MAX_NOTHING = 0.22
"""A passage with a higher probability of being about no point is about none; tuned in the same way as the weights."""
MIN_PROBABILITY = 0.5
"""Smallest probability with which a point is attributed."""
REPEATED_SHARE = 0.7
"""Smallest share of a passage's words repeated from a sentence that makes it a quotation; our choice."""
MIN_SHARE = 0.02
"""Smallest probability, relative to the most probable sentence, with which another sentence of the point counts."""
MIN_QUOTE, MIN_LABEL, MIN_COSINE = 0.5, 0.5, 0.2
"""Smallest share of repeated words, fit of a label and cosine of rare words that determine the method; our choice."""
DIGITS = 9
"""Decimals to which probabilities are rounded, so that a choice does not depend on the order of summation."""


def _find_breaks(passages: Sequence[Passage], quoted: Matrix) -> list[bool]:
    """Return whether each passage begins a new paragraph; one below a heading or a quotation that it answers does not.

    Args:
        passages: The passages of a reply.
        quoted: Largest share of the words of each that it repeats from one sentence.
    """
    leads = [one.is_heading or share >= REPEATED_SHARE for one, share in zip(passages, quoted.tolist(), strict=True)]
    later = (
        one.block != before.block and not lead for (before, one), lead in zip(pairwise(passages), leads, strict=False)
    )
    return [True, *later]


def _name_method(quote: float, label: float, cosine: float) -> AnswerMethod:
    """Return the main evidence: repeated words, the label, shared rare words, or otherwise the order."""
    if quote >= MIN_QUOTE:
        return AnswerMethod.QUOTE
    if label >= MIN_LABEL:
        return AnswerMethod.LABEL
    return AnswerMethod.SIMILARITY if cosine >= MIN_COSINE else AnswerMethod.ORDER


def _fit(named: Label, own: Sequence[Label]) -> float:
    """Return how well a label in a reply fits a point: 1 for the same list, 0.5 if either has no list, else 0."""
    best = 0.0
    for label in own:
        if label.number == named.number and named.part in (0, label.part):
            if label.letter == named.letter:
                return 1.0
            if not label.letter or not named.letter:
                best = 0.5
    return best


def _index_runs(sentences: Sequence[Sequence[str]]) -> dict[tuple[str, ...], list[int]]:
    """Return the indices of the sentences that contain each run of words."""
    runs: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, words in enumerate(sentences):
        for run in {tuple(words[index : index + RUN_WORDS]) for index in range(len(words) - RUN_WORDS + 1)}:
            runs[run].append(number)
    return runs

"""The human ceiling: each reviewer of a paper is left out, and measured against the others like a model."""

import hashlib
from abc import abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from peercorpus.benchmark.answers import Decision, write_decision, write_review, write_scores
from peercorpus.benchmark.baselines.baseline import HUMAN, Baseline, decided, drawn, learnt, no_training_data
from peercorpus.benchmark.baselines.simple import (
    TEMPLATE_BY_HEADING,
    TEMPLATE_ELSEWHERE,
    Majority,
    Means,
    MeanScores,
    Scales,
    answer_decision,
    list_means,
)
from peercorpus.benchmark.cases import AskedScore, BenchTask, Case
from peercorpus.records.enums import Aspect
from peercorpus.release.exports.meta_reviews import write_meta_review


@dataclass(frozen=True, slots=True)
class _Other:
    """Another paper: its decision, its mean scores by field and scale, and one text about it."""

    accepted: bool | None
    scores: Scales
    text: str


class OtherPaper(Baseline):
    """Answers with the results of another train paper, drawn at random, of the same venue if possible."""

    name = "other-paper"
    says = "what another paper of the train split got, drawn at random, of the same venue if there is one"
    tasks = frozenset(BenchTask)

    def __init__(self) -> None:
        self._others: dict[str | None, list[_Other]] = defaultdict(list)
        self._means = Means()

    def fit(self, cases: Iterable[Case]) -> None:
        """Store the results of each paper; see `Baseline.fit`."""
        is_scored = False
        for case in cases:
            other = _Other(case.accepted, list_means(case), drawn(case) if case.task.is_written else "")
            self._means.add(case)
            for venue_id in (case.paper.venue_id, None):
                self._others[venue_id].append(other)
            is_scored = bool(self._means) or case.task is not BenchTask.SCORES
        if not self._others or not is_scored:
            raise no_training_data(self.name, "score" if self._others else "case")

    def answer(self, case: Case) -> str:
        """Answer with the other paper's results; a field that it lacks has the mean, or is omitted from a review."""
        known = learnt(self._others or None, self.name)
        others = known.get(case.paper.venue_id) or known[None]
        digest = hashlib.sha256(f"0:other:{case.case_id}".encode()).digest()
        other = others[int.from_bytes(digest[:8], "big") % len(others)]
        if case.task is BenchTask.META_REVIEW:
            return write_meta_review(other.text, other.accepted)
        if other.accepted is not None:
            return write_decision(Decision(other.accepted))
        scores = self._means.all_of(case, other.scores)
        return write_scores(scores) if case.task is BenchTask.SCORES else write_review(other.text, scores)


GENERIC = "\n\n".join(
    [
        "The paper proposes a method for a problem of current interest, motivates it, and evaluates it in experiments.",
        *(TEMPLATE_BY_HEADING[part] for part in ("stren", "weak", "quest", "limit")),
        TEMPLATE_ELSEWHERE,
    ]
)


class GenericReview(Baseline):
    """Writes the same review for every paper."""

    name = "generic"
    says = "the same words about every paper"
    tasks = frozenset({BenchTask.REVIEW})

    def answer(self, case: Case) -> str:
        """Return the same review for every paper."""
        del case
        return GENERIC


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One reviewer of a paper, and the others.

    Attributes:
        answers: Answers of the reviewer, under `human`, and of each floor.
        asked: The fields with the scores of the others.
        references: The reviews of the others.
    """

    answers: Mapping[str, str]
    asked: tuple[AskedScore, ...] = ()
    references: tuple[str, ...] = ()


class People(Baseline):
    """A ceiling, with the floors measured on the same terms; a paper with one reviewer has none.

    Attributes:
        floors: The floors, fitted separately, each on its own pass over the cases.
    """

    name = HUMAN
    kinds: tuple[type[Baseline], ...]
    """Classes of the floors."""

    def __init__(self) -> None:
        self.floors = tuple(kind() for kind in self.kinds)

    def leave_out(self, case: Case) -> Iterator[LeftOut]:
        """Yield each reviewer of a paper with the others; none if there is only one."""
        floors = {floor.name: floor.answer(case) for floor in self.floors}
        for left_out in self._leave_out(case):
            yield replace(left_out, answers={HUMAN: left_out.answers[HUMAN], **floors})

    def answer(self, case: Case) -> str:
        """Return the answer of the first reviewer, for display; empty if there is only one."""
        return next((left_out.answers[HUMAN] for left_out in self._leave_out(case)), "")

    @abstractmethod
    def _leave_out(self, case: Case) -> Iterator[LeftOut]: ...


def _without(values: Sequence[float], place: int) -> tuple[float, ...]:
    return (*values[:place], *values[place + 1 :])


class HumanReview(People):
    """The review of each reviewer, measured against those of the others."""

    says = "each reviewer's review, against those of the paper's other reviewers"
    tasks = frozenset({BenchTask.REVIEW})
    kinds = (GenericReview, OtherPaper)

    def _leave_out(self, case: Case) -> Iterator[LeftOut]:
        texts = case.references
        for place, text in enumerate(texts) if len(texts) > 1 else ():
            yield LeftOut({HUMAN: write_review(text, {})}, references=(*texts[:place], *texts[place + 1 :]))


class HumanScores(People):
    """The scores of each reviewer, measured against the mean of the others."""

    says = "each reviewer's scores, against the mean of the paper's other reviewers"
    tasks = frozenset({BenchTask.SCORES})
    kinds = (MeanScores, OtherPaper)

    def _leave_out(self, case: Case) -> Iterator[LeftOut]:
        fields = [score for score in case.scores if len(score.values) > 1]
        for place in range(max((len(score.values) for score in fields), default=0)):
            scored = [score for score in fields if place < len(score.values)]
            yield LeftOut(
                {HUMAN: write_scores({score.field: score.values[place] for score in scored})},
                asked=tuple(replace(score, values=_without(score.values, place)) for score in scored),
            )


class HumanDecision(People):
    """The decision predicted from a single reviewer's recommendation, which was known when the decision was made.

    The probability is the share of accepted papers among the train split's reviews with this recommendation, shrunk
    towards the overall share by one review, so that a rare recommendation is not certain.
    """

    says = "the decision predicted from a single reviewer's recommendation, which was known when it was made"
    tasks = frozenset({BenchTask.ACCEPTANCE})
    kinds = (Majority, OtherPaper)

    def __init__(self) -> None:
        super().__init__()
        self._counts: Counter[tuple[object, ...]] = Counter()

    def fit(self, cases: Iterable[Case]) -> None:
        """Count the decisions by recommendation; see `Baseline.fit`."""
        for case, accepted in decided(cases):
            for asked in _list_recommendations(case):
                for value in asked.values:
                    for group in self._list_groups(case, asked, value):
                        self._counts[*group, accepted] += 1
        if not self._counts:
            raise no_training_data(self.name, "recommendation")

    @staticmethod
    def _list_groups(case: Case, asked: AskedScore, value: float) -> list[tuple[object, ...]]:
        """Return the groups that are counted, narrowest first: of the venue, of the scale, and all."""
        return [(case.paper.venue_id, asked.low, asked.high, value), (asked.low, asked.high, value), ()]

    def _leave_out(self, case: Case) -> Iterator[LeftOut]:
        for asked in _list_recommendations(case):
            for value in asked.values if len(asked.values) > 1 else ():
                yield LeftOut({HUMAN: answer_decision(self._find_share(case, asked, value))})

    def _find_share(self, case: Case, asked: AskedScore, value: float) -> float:
        *groups, every = self._list_groups(case, asked, value)
        everything = self._counts[*every, True] + self._counts[*every, False]
        share = self._counts[*every, True] / everything
        for group in groups:
            if count := self._counts[*group, True] + self._counts[*group, False]:
                return (self._counts[*group, True] + share) / (count + 1)
        return share


def _list_recommendations(case: Case) -> list[AskedScore]:
    """Return the recommendation of a case; the first, if a form asks for several."""
    return [asked for asked in case.recommendations if asked.aspect is Aspect.RECOMMENDATION][:1]

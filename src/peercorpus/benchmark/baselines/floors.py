"""Floors: the text or decision of another paper, and the same review for every paper."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from peercorpus.benchmark.answers import Decision, write_decision, write_review, write_scores
from peercorpus.benchmark.baselines.baseline import Fixed, drawn, learnt, no_training_data
from peercorpus.benchmark.baselines.simple import TEMPLATE_BY_HEADING, TEMPLATE_ELSEWHERE, Means
from peercorpus.benchmark.cases import BenchTask, Case
from peercorpus.release.exports.meta_reviews import write_meta_review


@dataclass(frozen=True, slots=True)
class _Other:
    """Another paper: its decision, its mean scores by field and scale, and one text about it."""

    accepted: bool | None
    scores: dict[tuple[str, float, float], float]
    text: str


class OtherPaper:
    """Answers with the results of another train paper, drawn by seed and case, of the same venue if possible."""

    name = "other-paper"
    says = "what another paper of the train split got, drawn at random, of the same venue if there is one"
    tasks = frozenset(BenchTask)

    def __init__(self, seed: int = 0) -> None:
        """Set the seed of the draws."""
        self._seed = seed
        self._others: dict[str | None, list[_Other]] = defaultdict(list)
        self._means = Means()

    def fit(self, cases: Iterable[Case]) -> None:
        """Store the results of each paper; see `Baseline.fit`."""
        is_scored = False
        for case in cases:
            scores = {(score.field, score.low, score.high): score.mean for score in case.scores}
            other = _Other(case.accepted, scores, drawn(case, self._seed) if case.task.is_written else "")
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
        digest = hashlib.sha256(f"{self._seed}:other:{case.case_id}".encode()).digest()
        other = others[int.from_bytes(digest[:8], "big") % len(others)]
        if case.task is BenchTask.META_REVIEW:
            return write_meta_review(other.text, other.accepted)
        if other.accepted is not None:
            return write_decision(Decision(other.accepted))
        means = self._means.all_of(case) if self._means else {}
        same = {score.field: other.scores.get((score.field, score.low, score.high)) for score in case.scores}
        scores = means | {field: mean for field, mean in same.items() if mean is not None}
        return write_scores(scores) if case.task is BenchTask.SCORES else write_review(other.text, scores)


GENERIC = "\n\n".join(
    [
        "The paper proposes a method for a problem of current interest, motivates it, and evaluates it in experiments.",
        *(TEMPLATE_BY_HEADING[part] for part in ("stren", "weak", "quest", "limit")),
        TEMPLATE_ELSEWHERE,
    ]
)


class GenericReview(Fixed):
    """Writes the same review for every paper."""

    name = "generic"
    says = "the same words about every paper"
    tasks = frozenset({BenchTask.REVIEW})

    def __init__(self, seed: int = 0) -> None:
        """Accept a seed for uniformity; it has no effect."""
        del seed

    def answer(self, case: Case) -> str:
        """Return the same review for every paper."""
        del case
        return GENERIC

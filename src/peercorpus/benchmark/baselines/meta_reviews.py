"""Baselines that write meta-reviews: fixed words, with the most frequent decision or the one of the reviewers' mean."""

from collections import Counter
from collections.abc import Iterable
from itertools import accumulate
from typing import NamedTuple

from peercorpus.benchmark.baselines.baseline import Baseline, decided, learnt, no_training_data
from peercorpus.benchmark.baselines.simple import unit_mean
from peercorpus.benchmark.cases import AskedScore, BenchTask, Case
from peercorpus.records.enums import Aspect
from peercorpus.release.exports.meta_reviews import write_meta_review

TEMPLATE = (
    "This paper, “{title}”, is about the following. {abstract}\n\nThe reviewers agree that the paper addresses a"
    " relevant problem and that it is well written. They raised concerns about the novelty over previous work, about"
    " missing baselines and ablation studies, and about the clarity of some details. The authors answered in the"
    " discussion period, and some of the concerns were addressed."
)
RATED = "The reviewers rate the paper {ratings}; the mean is {mean:g} on the scale from {low:g} to {high:g}."
UNRATED = "The reviewers state no rating on a known scale."


def _fill_template(case: Case) -> str:
    return TEMPLATE.format(title=case.paper.title or "without a title", abstract=case.paper.abstract or "").strip()


class TemplateMetaReview(Baseline):
    """Writes the same words about every paper, and recommends the more frequent decision of the train split."""

    name = "template"
    says = "fixed words with the paper's title and abstract, and the decision that most papers of the train split got"
    tasks = frozenset({BenchTask.META_REVIEW})

    _accepts: bool | None = None

    def fit(self, cases: Iterable[Case]) -> None:
        """Count the decisions; see `Baseline.fit`."""
        counts = Counter(accepted for _, accepted in decided(cases))
        if not counts:
            raise no_training_data(self.name)
        self._accepts = counts[True] >= counts[False]

    def answer(self, case: Case) -> str:
        """Answer with the template; a tie of the decisions means accept."""
        return write_meta_review(_fill_template(case), learnt(self._accepts, self.name))


def find_rating(case: Case) -> AskedScore | None:
    """Return the reviewers' recommendations in a case; None if there are none on a known scale."""
    return next((asked for asked in case.scores if asked.aspect is Aspect.RECOMMENDATION), None)


class _Learnt(NamedTuple):
    """The smallest mean that is accepted, as a share of the scale, and the decision if there is no rating."""

    threshold: float
    accepts: bool


def learn_threshold(net: Counter[float]) -> float:
    """Return the threshold with the most correct decisions, the highest of several; above 1 if all are rejected.

    Args:
        net: For each mean, in [0, 1], the number of accepted minus that of rejected papers.
    """
    means = sorted(net, reverse=True)
    gains = [0, *accumulate(net[mean] for mean in means)]
    return [2.0, *means][gains.index(max(gains))]


class MeanDecides(Baseline):
    """States the reviewers' ratings, and recommends acceptance if their mean reaches a threshold of the train split."""

    name = "mean-decides"
    says = "the reviewers' ratings, and the decision by their mean: accept from the train split's best threshold on"
    tasks = frozenset({BenchTask.META_REVIEW})

    _learnt: _Learnt | None = None

    def fit(self, cases: Iterable[Case]) -> None:
        """Find the threshold; see `Baseline.fit`."""
        net = Counter[float]()
        difference = 0
        for case, accepted in decided(cases):
            difference += 1 if accepted else -1
            rating = find_rating(case)
            if rating is not None:
                net[unit_mean(rating)] += 1 if accepted else -1
        if not net:
            raise no_training_data(self.name, "rating")
        self._learnt = _Learnt(learn_threshold(net), difference >= 0)

    def answer(self, case: Case) -> str:
        """Answer with the ratings and the decision by their mean; without ratings, with the more frequent decision."""
        known = learnt(self._learnt, self.name)
        rating = find_rating(case)
        if rating is None:
            return write_meta_review(UNRATED, known.accepts)
        ratings = ", ".join(f"{value:g}" for value in rating.values)
        text = RATED.format(ratings=ratings, mean=round(rating.mean, 2), low=rating.low, high=rating.high)
        return write_meta_review(text, unit_mean(rating) >= known.threshold)

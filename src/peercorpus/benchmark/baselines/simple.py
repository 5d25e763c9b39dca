"""Simple baselines: majority, accept all, mean scores and fixed templates."""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import NamedTuple

from peercorpus.benchmark.answers import Decision, write_decision, write_review, write_scores
from peercorpus.benchmark.baselines.baseline import ACCEPT_THRESHOLD, Baseline, decided, learnt, no_training_data
from peercorpus.benchmark.cases import AskedScore, BenchTask, Case, CasePaper

DIGITS = 6
"""Decimal places of a probability; further ones would differ between machines."""


def answer_decision(probability: float) -> str:
    """Return the answer for a probability of acceptance in [0, 1]."""
    return write_decision(Decision(probability >= ACCEPT_THRESHOLD, round(probability, DIGITS)))


class Majority(Baseline):
    """Predicts the more frequent decision of the train split, with its accept share as the probability.

    A train split with only one decision is allowed: the share is then 0 or 1.
    """

    name = "majority"
    says = "the decision that most papers of the train split got"
    tasks = frozenset({BenchTask.ACCEPTANCE})

    _share: float | None = None

    def fit(self, cases: Iterable[Case]) -> None:
        """Count the decisions; see `Baseline.fit`."""
        decisions = [accepted for _, accepted in decided(cases)]
        if not decisions:
            raise no_training_data(self.name)
        self._share = sum(decisions) / len(decisions)

    def answer(self, case: Case) -> str:
        """Return the same answer for every paper; a tie means accept."""
        del case
        return answer_decision(learnt(self._share, self.name))


class AcceptAll(Baseline):
    """Accepts every paper, so its accuracy is the accept share; it states no probability."""

    name = "accept-all"
    says = "accepts every paper"
    tasks = frozenset({BenchTask.ACCEPTANCE})

    def answer(self, case: Case) -> str:
        """Return the same answer for every paper."""
        del case
        return write_decision(Decision(accept=True))


def unit_mean(asked: AskedScore) -> float:
    """Return the reviewers' mean, normalised to [0, 1] on its scale."""
    return (asked.mean - asked.low) / (asked.high - asked.low)


def on_scale(asked: AskedScore, unit: float) -> float:
    """Convert a normalised number back to its scale, clipped to the scale."""
    return asked.low + min(1.0, max(0.0, unit)) * (asked.high - asked.low)


def _list_groups(paper: CasePaper, asked: AskedScore) -> Iterator[tuple[Hashable, ...]]:
    """Yield the groups whose mean may be used, narrowest first: this venue's field, the field, scale, aspect, all."""
    scale = (asked.low, asked.high)
    yield "form", paper.venue_id, asked.field, scale
    yield "field", asked.field, scale
    yield "scale", asked.aspect, scale
    yield "aspect", asked.aspect
    yield ("all",)


Scales = Mapping[tuple[str, float, float], float]
"""Mean scores of a paper, by field and scale."""


def list_means(case: Case) -> Scales:
    """Return the reviewers' mean scores."""
    return {(score.field, score.low, score.high): score.mean for score in case.scores}


class Means:
    """Means of the papers' mean scores, for every group that can be looked up; each paper has the same weight."""

    def __init__(self) -> None:
        self._sums: dict[tuple[Hashable, ...], tuple[float, int]] = {}

    def __bool__(self) -> bool:
        return bool(self._sums)

    def add(self, case: Case) -> None:
        """Add the scores of a paper."""
        for asked in case.scores:
            for group in _list_groups(case.paper, asked):
                total, count = self._sums.get(group, (0.0, 0))
                self._sums[group] = (total + unit_mean(asked), count + 1)

    def of(self, paper: CasePaper, asked: AskedScore) -> float:
        """Return the mean of the narrowest group with one, on the requested scale; there must be at least one paper."""
        total, count = next(self._sums[group] for group in _list_groups(paper, asked) if group in self._sums)
        return on_scale(asked, total / count)

    def all_of(self, case: Case, own: Scales | None = None) -> dict[str, float]:
        """Return for each requested field the mean on its scale in `own`, or else the closest mean, if any."""
        closest = {asked.field: self.of(case.paper, asked) for asked in case.scores if self._sums}
        same = {asked.field: (own or {}).get((asked.field, asked.low, asked.high)) for asked in case.scores}
        return closest | {field: mean for field, mean in same.items() if mean is not None}


class MeanScores(Baseline):
    """Predicts the mean of the same field at the same venue, or of the closest group in the train split."""

    name = "mean"
    says = "the mean score of the same field at the same venue; else of that field, scale or aspect in the train split"
    tasks = frozenset({BenchTask.SCORES})

    _means: Means | None = None

    def fit(self, cases: Iterable[Case]) -> None:
        """Sum up the scores; see `Baseline.fit`."""
        means = Means()
        for case in cases:
            means.add(case)
        if not means:
            raise no_training_data(self.name, "score")
        self._means = means

    def answer(self, case: Case) -> str:
        """Answer with a mean for each requested field."""
        return write_scores(learnt(self._means, self.name).all_of(case))


HEADING = re.compile(r"^### (\S.*)$", re.MULTILINE)
"""Heading of a field in a review whose form has several."""
SUMMARY = "This paper, “{title}”, is about the following. {abstract}"
TEMPLATE_BY_HEADING = {
    "summ": SUMMARY,
    "stren": "The paper addresses a relevant problem. The method is reasonable, and the experiments support the main"
    " claims. The paper is well organised and easy to follow.",
    "weak": "The novelty over previous work is limited, and the differences should be made clearer. The experiments"
    " lack some recent baselines and ablation studies. Some details that are needed to reproduce the results are"
    " missing.",
    "quest": "How does the method compare with more recent baselines? How sensitive are the results to the choice of"
    " hyperparameters? What does the method cost in time and memory?",
    "limit": "The authors discuss the limitations of their work in part; a longer discussion would be helpful.",
    "ethic": "I see no ethical concerns.",
}
"""Text under a heading, by the beginning of a word in it."""
TEMPLATE_ELSEWHERE = "The paper is of interest to the community; I would like the authors to address the points above."
"""Text under any other heading."""
PARTS_WITHOUT_HEADINGS = ("summ", "stren", "weak", "quest")
"""Parts of a review whose form has a single field."""
THANKS = (
    "Thank you for the detailed response and the additional experiments. They address most of my concerns, and I ask"
    " the authors to include them in the final version. I have read the other reviews as well, and I will keep my"
    " score."
)


class _Learnt(NamedTuple):
    """Headings of reviews, counted by venue and, under None, over all venues; and the means of scores."""

    headings: dict[str | None, Counter[tuple[str, ...]]]
    means: Means


def _fill_template(template: str, paper: CasePaper) -> str:
    title = paper.title or "without a title"
    abstract = paper.abstract or ""
    return template.format(title=title, abstract=abstract).strip()


def _write_under_heading(heading: str, paper: CasePaper) -> str:
    templates = [template for begin, template in TEMPLATE_BY_HEADING.items() if begin in heading.lower()]
    return "\n\n".join(_fill_template(template, paper) for template in templates or [TEMPLATE_ELSEWHERE])


def most_frequent(counted: Counter[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the most frequent headings; in a tie, the first in alphabetical order."""
    return min(counted, key=lambda headings: (-counted[headings], headings))


class TemplateReview(Baseline):
    """Writes fixed text, the paper's title and abstract, and mean scores, under the venue's most usual headings."""

    name = "template"
    says = "fixed words with the paper's title and abstract, under the venue's usual headings, and mean scores"
    tasks = frozenset({BenchTask.REVIEW})

    _learnt: _Learnt | None = None

    def fit(self, cases: Iterable[Case]) -> None:
        """Count headings and scores; see `Baseline.fit`."""
        counts = _Learnt({}, Means())
        for case in cases:
            counts.means.add(case)
            for review in case.references:
                headings = tuple(HEADING.findall(review))
                for venue_id in (case.paper.venue_id, None):
                    counts.headings.setdefault(venue_id, Counter())[headings] += 1
        if not counts.headings:
            raise no_training_data(self.name, "review")
        self._learnt = counts

    def answer(self, case: Case) -> str:
        """Answer with the review and the scores below it; a field without any mean in the train split is omitted."""
        counts = learnt(self._learnt, self.name)
        headings = most_frequent(counts.headings.get(case.paper.venue_id) or counts.headings[None])
        if headings:
            text = "\n\n".join(f"### {heading}\n\n{_write_under_heading(heading, case.paper)}" for heading in headings)
        else:
            text = "\n\n".join(
                _fill_template(TEMPLATE_BY_HEADING[begin], case.paper) for begin in PARTS_WITHOUT_HEADINGS
            )
        return write_review(text, counts.means.all_of(case))


class TemplateTurn(Baseline):
    """Gives the same polite reply, whatever the discussion."""

    name = "template"
    says = "the same polite acknowledgement, whatever was said"
    tasks = frozenset({BenchTask.REBUTTAL})

    def answer(self, case: Case) -> str:
        """Return the same reply in every case."""
        del case
        return THANKS

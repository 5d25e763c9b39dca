"""A review and a turn of fixed words: what can be said of any paper without reading it."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from peercorpus.benchmark.answers import write_review
from peercorpus.benchmark.baselines.baseline import Fixed, learnt, none_to_learn_from
from peercorpus.benchmark.baselines.means import Means
from peercorpus.benchmark.cases import BenchTask, Case, CasePaper

HEADING = re.compile(r"^### (\S.*)$", re.MULTILINE)
"""What stands above each field of a review, where its form has several."""
SUMMARY = "This paper, “{title}”, is about the following. {abstract}"
SAID = {
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
"""What is said under a heading, by the beginning of a word in it."""
ELSEWHERE = "The paper is of interest to the community; I would like the authors to address the points above."
"""What is said under any other heading."""
WHOLE = ("summ", "stren", "weak", "quest")
"""What a review says in a row where its form has one field alone."""
THANKS = (
    "Thank you for the detailed response and the additional experiments. They address most of my concerns, and I ask"
    " the authors to include them in the final version. I have read the other reviews as well, and I will keep my"
    " score."
)


class _Learnt(NamedTuple):
    """The headings of reviews, counted by venue, and of all venues under None; and what their scores are."""

    headings: dict[str | None, Counter[tuple[str, ...]]]
    means: Means


def _filled(said: str, paper: CasePaper) -> str:
    title, abstract = paper.title or "without a title", paper.abstract or ""
    return said.format(title=title, abstract=abstract).strip()


def _under(heading: str, paper: CasePaper) -> str:
    found = [said for begin, said in SAID.items() if begin in heading.lower()]
    return "\n\n".join(_filled(said, paper) for said in found or [ELSEWHERE])


def usual(counted: Counter[tuple[str, ...]]) -> tuple[str, ...]:
    """What most have; of several the first in the order of the alphabet."""
    return min(counted, key=lambda one: (-counted[one], one))


class TemplateReview:
    """Fixed words, the paper's own title and abstract, and mean scores, under the headings most usual at the venue."""

    name = "template"
    says = "fixed words with the paper's title and abstract, under the venue's usual headings, and mean scores"
    tasks = frozenset({BenchTask.REVIEW})

    def __init__(self, seed: int = 0) -> None:
        """Take a seed, which decides nothing here."""
        del seed
        self._learnt: _Learnt | None = None

    def fit(self, cases: Iterable[Case]) -> None:
        """Count headings and scores; see `Baseline`."""
        found = _Learnt({}, Means())
        for case in cases:
            found.means.add(case)
            for review in case.references:
                headings = tuple(HEADING.findall(review))
                for venue_id in (case.paper.venue_id, None):
                    found.headings.setdefault(venue_id, Counter())[headings] += 1
        if not found.headings:
            raise none_to_learn_from(self.name, "review")
        self._learnt = found

    def answer(self, case: Case) -> str:
        """The review and, below it, scores; a field that no paper of the train side could tell of is left out."""
        found = learnt(self._learnt, self.name)
        headings = usual(found.headings.get(case.paper.venue_id) or found.headings[None])
        if headings:
            text = "\n\n".join(f"### {heading}\n\n{_under(heading, case.paper)}" for heading in headings)
        else:
            text = "\n\n".join(_filled(SAID[begin], case.paper) for begin in WHOLE)
        return write_review(text, found.means.all_of(case) if found.means else {})


class TemplateTurn(Fixed):
    """The same polite words, whatever was said."""

    name = "template"
    says = "the same polite acknowledgement, whatever was said"
    tasks = frozenset({BenchTask.REBUTTAL})

    def __init__(self, seed: int = 0) -> None:
        """Take a seed, which decides nothing here."""
        del seed

    def answer(self, case: Case) -> str:
        """Always the same."""
        del case
        return THANKS

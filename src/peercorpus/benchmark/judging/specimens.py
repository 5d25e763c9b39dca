"""What a judge is calibrated on: of each paper one review that people wrote, worse versions of it, and the others."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from random import Random

from peercorpus.benchmark.cases import Case
from peercorpus.benchmark.judging.degrading import Degradation, degrade
from peercorpus.benchmark.judging.judge import Question, Subject, judge_question, pair_question

GOLD = "gold"
"""The name of the review that people wrote, among its worse versions."""


@dataclass(frozen=True, slots=True)
class Specimen:
    """One paper to calibrate on.

    Attributes:
        gold: One of its reviews.
        others: Its other reviews, beside which the gold and its worse versions are judged: never the gold itself.
        worse: The gold made worse.
    """

    forum_id: str
    venue_id: str
    title: str | None
    abstract: str | None
    gold: str
    others: tuple[str, ...]
    worse: Mapping[Degradation, str]

    @property
    def beside(self) -> Subject:
        """What all versions are judged beside."""
        return Subject(self.others, self.title, self.abstract)


@dataclass(frozen=True, slots=True)
class _Reviewed:
    forum_id: str
    venue_id: str
    title: str | None
    abstract: str | None
    reviews: tuple[str, ...]


def _reviewed(case: Case) -> _Reviewed:
    paper = case.paper
    return _Reviewed(paper.forum_id, paper.venue_id, paper.title, paper.abstract, case.references)


def _place(forum_id: str, seed: int) -> str:
    """Where a paper stands in the order in which papers are drawn: the same whatever other papers there are."""
    return sha256(f"{seed}/{forum_id}".encode()).hexdigest()


def _specimen(paper: _Reviewed, of_venue: Sequence[_Reviewed], seed: int) -> Specimen:
    chance = Random(f"{seed}/{paper.forum_id}")
    chosen = chance.randrange(len(paper.reviews))
    others = tuple(text for place, text in enumerate(paper.reviews) if place != chosen)
    foreign = [text for one in of_venue if one.forum_id != paper.forum_id for text in one.reviews]
    worse = degrade(paper.reviews[chosen], [text for text in foreign if text not in paper.reviews], chance)
    return Specimen(paper.forum_id, paper.venue_id, paper.title, paper.abstract, paper.reviews[chosen], others, worse)


def choose(cases: Iterable[Case], limit: int | None, seed: int, left_out: Counter[str]) -> list[Specimen]:
    """Papers drawn by chance, in the order drawn.

    Args:
        cases: Those of the task `review`.
        limit: How many papers at most; None for all.
        seed: Of all that chance decides.
        left_out: Counts the papers and the worse versions that there are not, by why.
    """
    papers = sorted(map(_reviewed, cases), key=lambda paper: _place(paper.forum_id, seed))
    of_venue: dict[str, list[_Reviewed]] = {}
    for paper in papers:
        of_venue.setdefault(paper.venue_id, []).append(paper)
    usable = [paper for paper in papers if len(paper.reviews) > 1]
    taken = usable[:limit]
    specimens = [_specimen(paper, of_venue[paper.venue_id], seed) for paper in taken]
    left_out["papers: no second review to judge by"] += len(papers) - len(usable)
    left_out["papers: beyond the limit"] += len(usable) - len(taken)
    for one in Degradation:
        left_out[f"{one}: cannot be made of this review"] += sum(one not in each.worse for each in specimens)
    return specimens


def verdict_questions(specimen: Specimen) -> dict[str, Question]:
    """One question for the gold and one for each worse version, by their names."""
    versions = {GOLD: specimen.gold, **{name.value: text for name, text in specimen.worse.items()}}
    return {name: judge_question(text, specimen.beside) for name, text in versions.items()}


def pair_names(worse: Degradation) -> tuple[str, str]:
    """The names of the two questions of a pair: with the gold in the first place, and in the second."""
    return f"{worse}/gold_first", f"{worse}/gold_second"


def pair_questions(specimen: Specimen) -> dict[str, Question]:
    """Two questions for each worse version, by their names: the gold in the first place, and in the second."""
    questions = {}
    for name, worse in specimen.worse.items():
        first, second = pair_names(name)
        questions[first] = pair_question(specimen.gold, worse, specimen.beside)
        questions[second] = pair_question(worse, specimen.gold, specimen.beside)
    return questions

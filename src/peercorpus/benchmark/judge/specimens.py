"""Draw human reviews ("gold") from a release and degrade them, to test whether a judge notices."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import sha256
from itertools import cycle
from random import Random

from peercorpus.benchmark.cases import Case
from peercorpus.benchmark.judge.judge import JudgeContext, JudgePrompt, judge_question, pair_question


class Degradation(StrEnum):
    """Way of degrading a review."""

    SHUFFLED = "shuffled"
    """Its sentences are in random order; headings and lists keep their places."""
    TRUNCATED = "truncated"
    """Only the first third of its words is left."""
    FOREIGN = "from_another_paper"
    """It is a review of another paper of the same venue."""
    PADDED = "padded"
    """Sentences that fit any paper are appended, at least as many words as the review has."""


SENTENCE_END = re.compile(r"((?<=[.!?])\s+|\n+)")
HEADING = re.compile(r"\s*#")
GENERIC = (
    "The paper addresses a topic that is of interest to the community.",
    "The authors present their work in the usual form.",
    "Some parts could be improved, while other parts are fine as they are.",
    "More experiments are always welcome, and more discussion may help some readers.",
    "The related work covers related work.",
    "Overall, the paper has strengths and weaknesses that should be weighed against each other.",
)
"""Sentences without information about any paper; written for this purpose."""


def shuffled(text: str, chance: Random) -> str | None:
    """Return the text with its sentences in another order, or None if all orders give the same text."""
    parts = SENTENCE_END.split(text)
    indices = [index for index in range(0, len(parts), 2) if parts[index].strip() and not HEADING.match(parts[index])]
    order = [parts[index] for index in indices]
    if len(set(order)) < 2:
        return None
    drawn = order
    while drawn == order:
        drawn = chance.sample(order, len(order))
    for index, sentence in zip(indices, drawn, strict=True):
        parts[index] = sentence
    return "".join(parts)


def truncated(text: str) -> str | None:
    """Return the first third of the words, or None if there are fewer than three.

    >>> truncated("One two three four five six seven.")
    'One two'
    """
    words = list(re.finditer(r"\S+", text))
    return text[: words[len(words) // 3 - 1].end()] if len(words) >= 3 else None


def padded(text: str) -> str:
    """Return the text followed by at least as many words of generic sentences."""
    more = list[str]()
    added = 0
    for sentence in cycle(GENERIC):
        if added >= len(text.split()):
            break
        more.append(sentence)
        added += len(sentence.split())
    return f"{text}\n\n{' '.join(more)}"


def degrade(text: str, of_others: Sequence[str], chance: Random) -> dict[Degradation, str]:
    """Return the degraded versions of a review.

    Args:
        text: The review, which must not be blank.
        of_others: Reviews of other papers of its venue.
        chance: Source of randomness.

    Returns:
        The degraded reviews; those that cannot be made from this review are missing.
    """
    versions = {
        Degradation.SHUFFLED: shuffled(text, chance),
        Degradation.TRUNCATED: truncated(text),
        Degradation.FOREIGN: chance.choice(of_others) if of_others else None,
        Degradation.PADDED: padded(text),
    }
    return {name: worse for name, worse in versions.items() if worse is not None}


GOLD = "gold"
"""Name of the human review among its degraded versions."""


@dataclass(frozen=True, slots=True)
class Specimen:
    """One paper for calibrating a judge.

    Attributes:
        gold: One of its human reviews.
        others: Its other reviews, against which the gold and its degraded versions are judged.
        worse: The degraded versions of the gold.
    """

    forum_id: str
    venue_id: str
    title: str | None
    abstract: str | None
    gold: str
    others: tuple[str, ...]
    worse: Mapping[Degradation, str]

    @property
    def beside(self) -> JudgeContext:
        """The judge's input besides each version."""
        return JudgeContext(self.others, self.title, self.abstract)


def _make_specimen(case: Case, of_venue: Sequence[Case], seed: int) -> Specimen:
    paper, reviews = case.paper, case.references
    chance = Random(f"{seed}/{paper.forum_id}")
    chosen = chance.randrange(len(reviews))
    foreign = [text for other in of_venue if other.paper.forum_id != paper.forum_id for text in other.references]
    return Specimen(
        forum_id=paper.forum_id,
        venue_id=paper.venue_id,
        title=paper.title,
        abstract=paper.abstract,
        gold=reviews[chosen],
        others=(*reviews[:chosen], *reviews[chosen + 1 :]),
        worse=degrade(reviews[chosen], [text for text in foreign if text not in reviews], chance),
    )


def sample_papers(cases: Iterable[Case], limit: int | None, seed: int, left_out: Counter[str]) -> list[Specimen]:
    """Draw papers at random, in random order.

    Args:
        cases: Cases of the task `review`.
        limit: Maximum number of papers; None for all.
        seed: Seed of everything random.
        left_out: Receives counts of the papers and degraded versions that are missing, by reason.
    """
    # The texts of papers are not needed.
    reviewed = (replace(case, paper=replace(case.paper, markdown="")) for case in cases)
    # A random order in which the order of two papers does not depend on the other papers.
    papers = sorted(reviewed, key=lambda case: sha256(f"{seed}/{case.paper.forum_id}".encode()).hexdigest())
    of_venue: dict[str, list[Case]] = {}
    for case in papers:
        of_venue.setdefault(case.paper.venue_id, []).append(case)
    usable = [case for case in papers if len(case.references) > 1]
    drawn = usable[:limit]
    specimens = [_make_specimen(case, of_venue[case.paper.venue_id], seed) for case in drawn]
    left_out["papers: no second review to judge by"] += len(papers) - len(usable)
    left_out["papers: beyond the limit"] += len(usable) - len(drawn)
    for degradation in Degradation:
        left_out[f"{degradation}: cannot be made of this review"] += sum(
            degradation not in each.worse for each in specimens
        )
    return specimens


def verdict_questions(specimen: Specimen) -> dict[str, JudgePrompt]:
    """Return one question for the gold and one for each degraded version, by name."""
    versions = {GOLD: specimen.gold, **{name.value: text for name, text in specimen.worse.items()}}
    return {name: judge_question(text, specimen.beside) for name, text in versions.items()}


def pair_names(worse: Degradation) -> tuple[str, str]:
    """Return the names of the two questions of a pair: with the gold first, and with the gold second."""
    return f"{worse}/gold_first", f"{worse}/gold_second"


def pair_questions(specimen: Specimen) -> dict[str, JudgePrompt]:
    """Return two questions for each degraded version, by name: with the gold first, and with the gold second."""
    questions = {}
    for name, worse in specimen.worse.items():
        first, second = pair_names(name)
        questions[first] = pair_question(specimen.gold, worse, specimen.beside)
        questions[second] = pair_question(worse, specimen.gold, specimen.beside)
    return questions

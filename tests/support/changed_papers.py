"""Invented papers to which every rule of the interventions applies, and reviewers who know what was changed."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from inspect_ai.model import ChatMessage, Model

from baseline_cases import words
from invented_bench import ACCEPT, REJECT, bench_paper, bench_release, scripted
from peercorpus.benchmark.cases import CaseSelection
from peercorpus.benchmark.interventions.cases import ChangeCounts, read_changed_papers
from peercorpus.benchmark.interventions.change import Arm, Change
from peercorpus.benchmark.interventions.tasks import PAPERS
from peercorpus.benchmark.messages import TokenBudget
from peercorpus.release.folder import open_release
from peercorpus.release.record_rows import Row

CLAIMS = (
    "This result suggests that our method carries over to kites of all sizes.",
    "Our experiments indicate that a longer tail steadies the kite in strong wind.",
    "In our experiments the longer tail often steadies the kite when the wind turns.",
    "We believe that our results carry over to kites that are made of paper.",
    "On the second course our method is comparable to the best kite of the year.",
    "Our method is slightly better than the kite that won on the first course.",
    "The results of Table 1 are likely due to the longer tail of our kite.",
    "Our kite tends to rise earlier than all of the others in Table 1.",
    "These are promising results for our kite on the windy course by the sea.",
    "The longer tail may steady our kite in a wind that changes its direction.",
    "With a longer tail our method can improve the flight of all the kites.",
    "Our kite is ahead of the others in most cases that Table 1 lists.",
)
CONTROLS = (
    "All numbers are averaged over 5 flights with different seeds of the wind machine.",
    "The length of the tail was selected on a validation set of twelve windy days.",
    "We report the flight on a held-out test set of twelve other windy days.",
    "All methods were flown with the same settings of the wind machine and the line.",
    "All baselines share the same budget of forty hours in front of the wind machine.",
    "This ensures a fair comparison of the kites that were flown on the same days.",
    "The days were randomly split into days for training and days for the test.",
)
LINKS = (
    ("For example,", "For instance,"),
    ("In addition,", "Additionally,"),
    ("Moreover,", "Furthermore,"),
    ("Therefore,", "Hence,"),
    ("Specifically,", "In particular,"),
)
FORMULAS = (
    "$$p = 1 \u2212 q$$ (1)",
    "$$L = \u2225h \u2212 g\u2225_2^2$$ (1)",
    "$$w = \\exp(\u2212d/s)$$ (1)",
    "$$L = \u2212\\frac{1}{N}\u2211_ip_i$$ (1)",
)
"""A complement, a distance, a decay and a likelihood, with the signs of the default engine."""


COMMON = (
    "same",
    "better",
    "best",
    "often",
    "always",
    "may",
    "will",
    "due",
    "likely",
    "more",
    "shows",
    "all",
    "in",
    "to",
)
"""Words that occur often in real papers, so that one more or less reveals nothing."""


def long_body(number: int) -> str:
    """Return a text as long as a paper's, with its own length and words."""
    chance = random.Random(f"body {number}")
    count = chance.randrange(200, 1_200)
    return " ".join(chance.choices([*COMMON, *words(number, 200).split()], k=count))


def prose(number: int, without: frozenset[Arm] = frozenset(), body: str = "") -> str:
    """Return the text of one paper; sentences and numbers depend on its number."""
    chance = random.Random(number)
    reached = f"{chance.uniform(40, 80):.2f}"
    link = chance.choice(chance.choice(LINKS))
    sentences = [f"The kites of part {number} fly for a day and are then weighed again."]
    sentences += chance.sample(CLAIMS, 4) if Arm.OVERSTATED_CLAIM not in without else []
    sentences += chance.sample(CONTROLS, 2) if Arm.REMOVED_CONTROL not in without else []
    sentences += [f"As Table 1 shows, our kite reaches a height of {reached} metres on the first course."]
    sentences += [f"{link} the line of the kite is weighed before the flight and after it."]
    chance.shuffle(sentences)
    table = f"| kite | height |\n| --- | --- |\n| ours | {reached} |\n| theirs | {chance.uniform(20, 39):.2f} |"
    parts = [
        "## Introduction",
        f"The kite is old and its tail is older. {words(number, 30)} {body}.",
        " ".join(sentences[:4]),
        "## Results",
        " ".join(sentences[4:]),
        *([] if Arm.TABLE_NUMBER in without else [table]),
        *([] if Arm.FLIPPED_SIGN in without else [chance.choice(FORMULAS)]),
        "The kite came back on the evening of the last day of the year.",
        "## References",
        f"Kite (2001). This suggests that our kites often fly. {words(number + 1, 20)}",
    ]
    return "\n\n".join(parts)


def changed_paper(number: int) -> Row:
    """Return a paper of the invented release to which every rule applies."""
    return bench_paper(number) | {"markdown": prose(number)}


def changed_release(folder: Path, papers: Callable[[int], Row] = changed_paper) -> Path:
    """A release with 24 such papers, eight of them to test on."""
    return bench_release(folder, papers)


Known = Mapping[str, tuple[Arm, Mapping[Arm, Change]]]
"""Return the arm and the changes of a paper, by a text that a question shows."""


def known_texts(release: Path, seed: int = 0) -> Known:
    """Every text that the questions on a release show."""
    counts = ChangeCounts()
    papers = read_changed_papers(open_release(release), CaseSelection(), TokenBudget(), PAPERS, seed, counts)
    return {paper.text(arm): (arm, paper.changes) for paper in papers for arm in (Arm.CLEAN, *paper.changes)}


def is_review(asked: Sequence[ChatMessage]) -> bool:
    """Whether a question asks for a review rather than for a decision."""
    return "You write your review" in asked[0].text


def answer_with(known: Known, review: Callable[[Arm, Mapping[Arm, Change]], tuple[str, bool]], name: str = "") -> Model:
    """A reviewer who knows which arm a question shows, and answers with a text and whether the paper is good."""

    def rule(asked: Sequence[ChatMessage]) -> str:
        arm, changes = next(told for text, told in known.items() if text in asked[-1].text)
        text, is_good = review(arm, changes)
        if not is_review(asked):
            return ACCEPT if is_good else REJECT
        top = max(map(int, re.findall(r"\brating\b.*?\b(10|5)\b", asked[-1].text)))
        return f"{text}\n\nrating: {top if is_good else 1}"

    return scripted(rule, name)

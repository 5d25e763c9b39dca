"""Invented cases for baselines: papers of plain words, their decisions, and their discussions."""

import random
from dataclasses import replace
from typing import Any

from peercorpus.benchmark.cases import AskedScore, BenchTask, Case, CaseMessage, CasePaper
from peercorpus.models.chat_messages import Speaker
from peercorpus.records.enums import Aspect, Grade

PLAIN = "we study how often kites fall when wind turns and find that longer lines help in most trials near water"
TITLE = "How kites fall"


def paper(name: str, text: str = PLAIN, **known: Any) -> CasePaper:
    """A paper of ICLR 2024."""
    fixed: dict[str, Any] = {
        "venue_id": "ICLR.cc/2024/Conference",
        "conference": "ICLR",
        "year": 2024,
        "title": TITLE,
        "abstract": PLAIN,
        "grade": Grade.EXACT,
        "markdown": text,
    }
    return CasePaper(forum_id=name, **fixed | known)


def rated(*values: float, aspect: Aspect = Aspect.RECOMMENDATION, **known: Any) -> AskedScore:
    """Scores of one field, from 1 to 10 by default."""
    named: dict[str, Any] = {"field": "rating", "low": 1.0, "high": 10.0} | known
    return AskedScore(aspect=aspect, values=values, **named)


def decided(name: str, accepted: bool, text: str = PLAIN, **known: Any) -> Case:
    """A case of `acceptance`."""
    return Case(name, BenchTask.ACCEPTANCE, paper(name, text, **known), accepted=accepted)


def scored(name: str, *asked: AskedScore, **known: Any) -> Case:
    """A case of `scores`."""
    return Case(name, BenchTask.SCORES, paper(name, **known), scores=asked)


def reviewed(name: str, *reviews: str, asked: tuple[AskedScore, ...] = (), **known: Any) -> Case:
    """A case of `review`."""
    return Case(name, BenchTask.REVIEW, paper(name, **known), scores=asked, references=reviews)


def answered(name: str, authors: str, reviewer: str) -> Case:
    """A case of `rebuttal`: the review, the authors' answer, the reviewer's reply."""
    history = (CaseMessage(Speaker.ASSISTANT, "A review."), CaseMessage(Speaker.USER, authors))
    return Case(f"{name}/R1/2", BenchTask.REBUTTAL, paper(name), references=(reviewer,), history=history)


def words(seed: int, count: int = 60) -> str:
    """Return plain words in a unique order."""
    return " ".join(random.Random(seed).choices(PLAIN.split(), k=count))


def cases_of(task: BenchTask, count: int = 60, first: int = 0) -> list[Case]:
    """Return different cases of a task; every third paper is accepted, and contains a word that shows it."""
    made = []
    for number in range(first, first + count):
        name, is_third = f"paper-{number}", number % 3 == 0
        text = f"{words(number)} {'splendid' if is_third else ''}"
        about = {"text": text, "abstract": words(number + 1_000, 20), "title": words(number + 2_000, 5)}
        asked = rated(8.0 if is_third else 3.0, 5.0)
        match task:
            case BenchTask.ACCEPTANCE:
                made.append(decided(name, is_third, **about))
            case BenchTask.SCORES:
                made.append(scored(name, asked, **about))
            case BenchTask.REVIEW:
                made.append(reviewed(name, words(number + 3_000), words(number + 4_000), asked=(asked,), **about))
            case BenchTask.REBUTTAL:
                made.append(answered(name, words(number + 3_000), words(number + 4_000)))
            case BenchTask.META_REVIEW:
                case = reviewed(name, words(number + 3_000), asked=(asked,), **about)
                made.append(replace(case, task=task, accepted=is_third))
    return made

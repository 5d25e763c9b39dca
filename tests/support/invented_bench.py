"""A release with 24 invented papers of two venues in all three splits, and models that answer by a rule."""

import gc
import itertools
import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from inspect_ai.model import ChatMessage, Model, ModelOutput, ModelUsage, get_model

from baseline_cases import words
from invented_releases import NO_NUMBERS, review, score, talk, task_paper, write_release
from peercorpus.benchmark.cases import BenchTask, CaseCounts, CaseSelection, read_cases
from peercorpus.benchmark.messages import TokenBudget, messages, right_answer, shown_paper
from peercorpus.release.folder import open_release
from peercorpus.release.record_rows import Row

SPLITS = {"train": range(12), "validation": range(12, 16), "test": range(16, 24)}
"""The numbers of the papers."""
ICLR, KITE = ("ICLR.cc/2020/Conference", "iclr", 2020), ("KITE.org/2021/Conference", "kite", 2021)
ACCEPTED = ("p16", "p19", "p22")
"""Of the eight papers to test on; every third paper is accepted."""
REJECTED = ("p17", "p18", "p20", "p21", "p23")
TEST = sorted((*ACCEPTED, *REJECTED))
TURNS = 2
"""In which the reviewer of each paper answers the authors."""
ACCEPT = '{"decision": "accept"}'
REJECT = '{"decision": "reject"}'

Rule = Callable[[Sequence[ChatMessage]], str]
"""The messages of a question → the answer."""

_number = itertools.count()
RATING = score("rating", "6: Accept", aspect="recommendation", value=6.0, low=1.0, high=10.0)
HELD = [task for task in BenchTask if task is not BenchTask.META_REVIEW]
"""The tasks with cases in the invented release."""


def ratings(number: int) -> tuple[float, float]:
    """Return the ratings of a paper's two reviewers, from 1 to 5: higher for an accepted paper."""
    base = 3 if number % 3 == 1 else 1
    return float(base + number % 2), float(base + 1)


def _review(number: int, place: int) -> Row:
    given = ratings(number)[place]
    top = 10.0 if number % 2 else 5.0
    scores = [
        score("rating", f"{given:g}", aspect="recommendation", value=given, low=1.0, high=top),
        score("soundness", "3", value=3.0, low=1.0, high=4.0),
    ]
    return review(f"p{number:02}-R{place}", text=words(100 * number + place), scores=scores)


def bench_paper(number: int) -> Row:
    """One paper; even ones belong to ICLR, odd ones to a venue that rates from 1 to 10."""
    name, is_accepted = f"p{number:02}", number % 3 == 1
    venue_id, conference, year = KITE if number % 2 else ICLR
    said = [f"{kind} {number}: {words(100 * number + 10 + place, 20)}" for place, kind in enumerate("RARAR")]
    return task_paper(
        name,
        venue_id=venue_id,
        conference=conference,
        year=year,
        title=f"On kites, part {number}",
        abstract=words(1_000 + number, 30),
        markdown=f"## Introduction\n\n{words(2_000 + number, 80)}\n\n## References\n\n{words(3_000 + number, 80)}",
        status="accepted" if is_accepted else "rejected",
        decision="Accept" if is_accepted else "Reject",
        reviews=[_review(number, place) for place in range(2)],
        conversations=[talk(name, *said)],
    )


def bench_release(
    folder: Path,
    papers: Callable[[int], Row] = bench_paper,
    more: Mapping[tuple[str, str], Sequence[Row]] = MappingProxyType({}),
) -> Path:
    """A release with splits of the profile `re2`, and with `more` rows by configuration and split."""
    rows: dict[tuple[str, str], Sequence[Row]] = {
        (task, split): [papers(n) for n in of] for task in ("review_sft", "rebuttal") for split, of in SPLITS.items()
    }
    ids = {split: [f"p{number:02}" for number in of] for split, of in SPLITS.items()}
    sizes = {split: len(of) for split, of in ids.items()}
    tasks = ("review", "rebuttal")
    told: dict[str, Any] = {"profile": "re2", "test_after": None, "splits": ids}
    told["made"] = {"version": "0.1.0", "key": "key", "rule": "by hand", "earlier": None}
    told |= {"tasks": dict.fromkeys(tasks, ids), "sizes": dict.fromkeys(tasks, sizes)}
    (folder / "splits").mkdir(parents=True)
    (folder / "splits" / "re2.json").write_text(json.dumps(told))
    return write_release(folder, rows | dict(more), {"p00": "CC BY 4.0"})


def exchange(name: str, *said: tuple[str, str], **more: Any) -> Row:
    """The exchange of a reviewer and the authors, each turn with its role."""
    turns = [
        {"role": role, "is_own": role == "reviewer", "text": words, "post_ids": [f"{name}-{number}"]}
        for number, (role, words) in enumerate(said)
    ]
    base = {"review_id": f"{name}-0", "reviewer": "R1", "at_decision": "no_decision_time", "scores": [RATING]}
    return base | NO_NUMBERS | {"turns": turns} | more


def meta_review_paper(number: int, **more: Any) -> Row:
    """A paper in the columns of `meta_review_sft`; one that is accepted is rated higher."""
    paper = bench_paper(number)
    name, is_accepted = paper["forum_id"], paper["status"] == "accepted"
    rating = RATING | {"value": 8.0 if is_accepted else 4.0, "label": "8" if is_accepted else "4"}
    meta_review = {"post_id": f"{name}-meta", "kind": "meta_review", "role": "area_chair", "created_at": None}
    meta_review |= {"text": f"All of {name} is clear.", "recommendation": None, "posted_after_decision": None}
    meta_review["recommends"] = paper["status"]
    answered = exchange(name, ("reviewer", "I doubt it."), ("author", "It holds."), scores=[rating])
    left_out = {"reviews_left_out": 0, "turns_left_out": 0, "tell_decision": 0}
    to_all = [{"post_id": f"{name}-all", "text": "We added proofs."}]
    return paper | left_out | {"meta_reviews": [meta_review], "exchanges": [answered], "responses": to_all} | more


def meta_release(folder: Path, change: Mapping[int, Row] | None = None) -> Path:
    """The invented release with meta-reviews too; `change` has columns of single papers."""
    changes = change or {}
    rows = {
        ("meta_review_sft", split): [meta_review_paper(n, **changes.get(n, {})) for n in of]
        for split, of in SPLITS.items()
    }
    return bench_release(folder / "release", more=rows)


def answered(said: str, finish: Any = "stop") -> ModelOutput:
    """An answer that states its number of tokens: otherwise a file from the network would be needed to count them."""
    made = ModelOutput.from_content("mockllm/scripted", said, finish)
    made.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return made


def scripted(rule: Rule, name: str = "") -> Model:
    """A model that answers by a rule; without a name it gets a unique one, so that no cache has it."""

    def answer(asked: list[ChatMessage], *_: object) -> ModelOutput:
        return answered(rule(asked))

    return get_model(f"mockllm/{name or next(_number)}", custom_outputs=answer, memoize=False)


def saying(said: str, name: str = "") -> Model:
    """A model that gives the same answer to every question."""
    return scripted(lambda _: said, name)


def asked_of(asked: Sequence[ChatMessage]) -> str:
    """The id of the paper that a question of `acceptance`, `scores` or `review` is about."""
    last = asked[-1].text
    return next(name for name in TEST if f"part {int(name[1:])}\n" in last)


def by_paper(answers: Mapping[str, str], name: str = "") -> Model:
    """A model whose answers depend on the paper."""
    return scripted(lambda asked: answers[asked_of(asked)], name)


Told = tuple[tuple[str, str], ...]
"""Return the messages of a question: role and text."""


def right_answers(release: Path) -> dict[Told, str]:
    """Return the right answer to every question of every task on the test papers."""
    known = {}
    for task in BenchTask:
        for case in read_cases(open_release(release), task, CaseSelection(), CaseCounts()):
            shown = shown_paper(case.paper, TokenBudget(), TokenBudget().counter())
            told = tuple((one.speaker.value, one.text) for one in messages(case, shown.text))
            known[told] = right_answer(case)
    return known


def oracle(release: Path, name: str = "") -> Model:
    """A model that knows the right answers, for every task."""
    known = right_answers(release)
    return scripted(lambda asked: known[tuple((one.role, one.text) for one in asked)], name)


@contextmanager
def quiet() -> Iterator[None]:
    """Marks for tests that run `inspect_ai`.

    `inspect_ai` 0.3.285 leaves streams open and uses names deprecated by tenacity: neither can be fixed here.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=ResourceWarning)
        warnings.filterwarnings("ignore", "The 'initial' parameter is deprecated", DeprecationWarning)
        yield
        gc.collect()
        _exclude_what_lives()


@cache
def _exclude_what_lives() -> None:
    """Exclude from garbage collection what the first run of `inspect_ai` imported, once in a process."""
    gc.freeze()

"""The tasks that calibrate a judge: the model under test judges gold reviews and worse versions of them."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import collect, span

from peercorpus.benchmark.cases import BenchTask, Selection, Taken, read_cases
from peercorpus.benchmark.judging.asking import Read, ask
from peercorpus.benchmark.judging.calibrated import ASKED, calibrated, preferences
from peercorpus.benchmark.judging.judge import Question, read_better, read_verdict
from peercorpus.benchmark.judging.specimens import Specimen, choose, pair_questions, verdict_questions
from peercorpus.errors import PeercorpusError
from peercorpus.publish.opened import open_release
from peercorpus.publish.splits import Side


def _specimen(metadata: dict[str, Any]) -> Specimen:
    return msgspec.convert({name: metadata[name] for name in Specimen.__slots__}, Specimen)


async def _ask(name: str, question: Question, read: Callable[[str], Read], attempts: int) -> dict[str, Any]:
    async with span(name):
        asked = await ask(get_model(), question, read, attempts)
    reason = None if asked.reason is None else asked.reason.value
    return {"answer": asked.completion, "attempts": asked.attempts, "wrong": list(asked.wrong), "reason": reason}


@solver
def ask_judge(in_pairs: bool = False, attempts: int = 3) -> Solver:
    """Ask the model of each version of a review on its own, or of the gold and each worse version in both orders.

    The output is one JSON object with all that it answered, so that it can be read again.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 -- the protocol's own
        specimen = _specimen(state.metadata)
        if in_pairs:
            questions = pair_questions(specimen)
            asking = [_ask(name, question, read_better, attempts) for name, question in questions.items()]
        else:
            questions = verdict_questions(specimen)
            asking = [_ask(name, question, read_verdict, attempts) for name, question in questions.items()]
        answered = dict(zip(questions, await collect(*asking), strict=True))
        state.metadata[ASKED] = answered
        said = json.dumps({name: one["answer"] for name, one in answered.items()}, ensure_ascii=False, indent=1)
        state.output = ModelOutput.from_content(str(get_model()), said)
        return state

    return solve


def _sample(specimen: Specimen) -> Sample:
    told = f"{specimen.title or specimen.forum_id}: one review that people wrote, and {', '.join(specimen.worse)}."
    return Sample(input=told, id=specimen.forum_id, metadata=msgspec.to_builtins(specimen))


def _dataset(release: str, side: str, venue: str, limit: int | None, seed: int) -> tuple[MemoryDataset, dict[str, Any]]:
    if side not in set(Side):
        raise PeercorpusError(f"There is no side '{side}'; choose one of {', '.join(Side)}.")
    if limit is not None and limit < 1:
        raise PeercorpusError("The limit is the most papers to calibrate on: give 1 or more.")
    venues = frozenset(filter(None, (one.strip() for one in venue.split(","))))
    taken, left_out = Taken(), Counter[str]()
    cases = read_cases(open_release(Path(release)), BenchTask.REVIEW, Selection(Side(side), venues), taken)
    specimens = choose(cases, limit, seed, left_out)
    if not specimens:
        raise PeercorpusError(
            f"'{release}' has no paper with two reviews on its side '{side}'; choose another side, venue or release."
        )
    about = {"papers": len(specimens), "left_out": dict(sorted((+(taken.left_out + left_out)).items()))}
    return MemoryDataset([_sample(one) for one in specimens], name=Path(release).name), about


@task
def judge_calibration(
    release: str, side: str = "test", venue: str = "", limit: int | None = 100, seed: int = 0, attempts: int = 3
) -> Task:
    """Whether a model, as a judge, ranks reviews that were made worse below those that people wrote.

    Args:
        release: The folder of a release with its sides.
        side: `test`, `validation` or `train`.
        venue: Ids of venues or names of conferences, parted by commas; all by default.
        limit: The most papers, drawn by the seed.
        seed: Of all that chance decides.
        attempts: How often a question is put until the answer can be read.

    Raises:
        PeercorpusError: There is nothing to calibrate on.
    """
    dataset, about = _dataset(release, side, venue, limit, seed)
    return Task(dataset=dataset, solver=ask_judge(False, attempts), scorer=calibrated(), metadata=about, version=1)


@task
def judge_pairs(
    release: str, side: str = "test", venue: str = "", limit: int | None = 100, seed: int = 0, attempts: int = 3
) -> Task:
    """Whether a model, as a judge of two, prefers reviews that people wrote to worse ones, wherever they stand.

    Args:
        release: The folder of a release with its sides.
        side: `test`, `validation` or `train`.
        venue: Ids of venues or names of conferences, parted by commas; all by default.
        limit: The most papers, drawn by the seed.
        seed: Of all that chance decides.
        attempts: How often a question is put until the answer can be read.

    Raises:
        PeercorpusError: There is nothing to calibrate on.
    """
    dataset, about = _dataset(release, side, venue, limit, seed)
    return Task(dataset=dataset, solver=ask_judge(True, attempts), scorer=preferences(), metadata=about, version=1)

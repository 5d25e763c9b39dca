"""The tasks as `inspect_ai` runs them: `inspect eval peercorpus/acceptance --model … -T release=DIR`."""

from dataclasses import replace
from typing import Any, Unpack

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Scorer
from inspect_ai.solver import Solver, generate

from peercorpus import prompts
from peercorpus.benchmark import scorers
from peercorpus.benchmark.asking import choose_examples, example_pool, messages, shown_paper
from peercorpus.benchmark.cases import BenchTask, Case, Said, Selection, Taken, read_cases
from peercorpus.benchmark.cutting import WAY, Shown
from peercorpus.benchmark.options import Options, Wanted, read_options
from peercorpus.benchmark.samples import sample_of
from peercorpus.benchmark.solving import discuss, fixed, read
from peercorpus.dialogues import Speaker
from peercorpus.errors import BaselineError, PeercorpusError
from peercorpus.metrics import bertscore, definition, embedding
from peercorpus.publish.opened import Release, open_release
from peercorpus.publish.splits import Side

NO_MODEL = "none/none"
"""What answers where a baseline does."""
VERSION = "1"
"""Of the tasks: what is asked and how it is scored, but for the words, which have a version of their own."""

_TEXTS = ("bleu", "rouge_l")
SIGNED = {
    BenchTask.ACCEPTANCE: ("accuracy", "precision", "recall", "f1", "balanced_accuracy", "mcc", "auroc"),
    BenchTask.SCORES: ("mae", "mse", "mae_unit", "mse_unit", "spearman"),
    BenchTask.REVIEW: _TEXTS,
    BenchTask.REBUTTAL: _TEXTS,
}
"""The metrics of each task, whose signatures a log keeps."""


def _open(wanted: Wanted) -> Release:
    release = open_release(wanted.release)
    sides = release.sides()
    if sides is None:
        raise PeercorpusError(
            f"The release '{wanted.release}' has no sides to test on; publish it with --splits re2 or temporal."
        )
    if wanted.profile is not None and sides.profile != wanted.profile:
        raise PeercorpusError(
            f"The release '{wanted.release}' has sides of the profile '{sides.profile}', not '{wanted.profile}'."
        )
    return release


def _read(release: Release, of_task: BenchTask, selection: Selection) -> tuple[list[Case], Taken]:
    taken = Taken()
    cases = list(read_cases(release, of_task, selection, taken))
    if not cases:
        why = (
            "; ".join(f"{reason}: {count:,}" for reason, count in taken.left_out.most_common(3)) or "it holds no paper"
        )
        raise PeercorpusError(
            f"The side '{selection.side}' of '{release.folder}' has no case of the task '{of_task}' ({why}); choose"
            " another side, venue or grade."
        )
    return cases, taken


def _about(of_task: BenchTask, release: Release, wanted: Wanted, cases: list[Case], taken: Taken) -> dict[str, Any]:
    """What a log says of its run; tables are made of it, see `logs`."""
    sides, selection, budget = release.sides(), wanted.selection, wanted.asking.budget
    return {
        "task": of_task.value,
        "release": {"sha256": release.sha256, "peercorpus": release.version},
        "profile": sides.profile.value if sides is not None else None,
        "side": selection.side.value,
        "venues": sorted(selection.venues),
        "worst_grade": selection.worst_grade.value,
        "led": selection.led,
        "cases": len(cases),
        "left_out": dict(sorted(taken.left_out.items())),
        "paper": {"budget": budget.says, "way": WAY},
        "few_shot": wanted.asking.few_shot,
        "prompts": {"version": prompts.VERSION, "digest": prompts.DIGEST},
        "adapter": wanted.adapter,
        "baseline": wanted.baseline,
        "signatures": _signatures(of_task, wanted),
    }


def _signatures(of_task: BenchTask, wanted: Wanted) -> dict[str, str]:
    """The signatures of all metrics of a run."""
    found = {name: definition(name).signature for name in SIGNED[of_task]}
    if wanted.bert_score is not None and "rouge_l" in found:
        parts = (bertscore.definition_of(part, wanted.bert_score) for part in ("precision", "recall", "f1"))
        found |= {one.name: one.signature for one in parts}
    if wanted.judged and "rouge_l" in found:
        from peercorpus.benchmark.judging.judged import ASPECTS_OF_RUNS

        found["judge"] = ASPECTS_OF_RUNS
    if wanted.embed_cos is not None and "rouge_l" in found:
        found["embed_cos"] = embedding.definition_of(wanted.embed_cos).signature
    return found


def _answered(name: str, of_task: BenchTask, wanted: Wanted, release: Release, cases: list[Case]) -> dict[str, str]:
    """The answers of a baseline by the id of the case, learnt on the papers to train on."""
    from peercorpus.benchmark.baselines.registry import load_baseline

    baseline = load_baseline(name, of_task)
    trained = replace(wanted.selection, side=Side.TRAIN, venues=frozenset(), led=False)
    try:
        baseline.fit(read_cases(release, of_task, trained, Taken()))
    except PeercorpusError as error:
        raise BaselineError(str(error)) from None
    return {case.case_id: baseline.answer(case) for case in cases}


def _scorers(of_task: BenchTask, wanted: Wanted) -> list[Scorer]:
    if of_task is BenchTask.ACCEPTANCE:
        return [scorers.decision()]
    if of_task is BenchTask.SCORES:
        return [scorers.numbers()]
    chosen = [scorers.overlap()]
    if wanted.bert_score is not None:
        chosen.append(scorers.bert_score(wanted.bert_score))
    if wanted.embed_cos is not None:
        chosen.append(scorers.embed_cos(wanted.embed_cos))
    if wanted.judged:
        from peercorpus.benchmark.judging.scoring import judge

        chosen.append(judge())
    return chosen


def build(of_task: BenchTask, wanted: Wanted) -> Task:
    """A task of `inspect_ai`.

    Raises:
        PeercorpusError: There is no such release, side, case, baseline or adapter.
    """
    wanted.asking.check(of_task)
    release = _open(wanted)
    cases, taken = _read(release, of_task, wanted.selection)
    count = wanted.asking.budget.counter()
    few = wanted.asking.few_shot
    pool = example_pool(read_cases(release, of_task, Selection(Side.TRAIN), Taken()), few) if few else []
    adapter = None
    if wanted.adapter is not None:
        from peercorpus.benchmark.adapters.narrowing import narrow
        from peercorpus.benchmark.adapters.registry import load_adapter

        adapter = load_adapter(wanted.adapter, wanted.wordings)
        cases = narrow(adapter, cases, taken)
    answers = {} if wanted.baseline is None else _answered(wanted.baseline, of_task, wanted, release, cases)
    samples = []
    for case in cases:
        if wanted.baseline is not None:
            # A baseline has read the case already; its log need not repeat the paper.
            title = [Said(Speaker.USER, case.paper.title or case.case_id)]
            samples.append(sample_of(case, title, Shown(""), answers[case.case_id]))
            continue
        shown = shown_paper(case.paper, wanted.asking.budget, count)
        examples = list(choose_examples(case, pool, few))
        said = messages(case, shown.text, examples) if adapter is None else adapter.messages(case, shown.text)
        samples.append(sample_of(case, said, shown))
    asked: Solver = discuss() if wanted.selection.led else generate()
    return Task(
        dataset=MemoryDataset(samples, name=f"{of_task}-{wanted.selection.side}"),
        solver=[asked if wanted.baseline is None else fixed(wanted.baseline), read(wanted.adapter)],
        scorer=_scorers(of_task, wanted),
        config=GenerateConfig.model_validate(adapter.generation if adapter is not None else {}),
        model=NO_MODEL if wanted.baseline is not None else None,
        version=VERSION,
        metadata=_about(of_task, release, wanted, cases, taken),
        name=of_task.value,
    )


@task
def acceptance(release: str, **options: Unpack[Options]) -> Task:
    """Is a paper accepted? Answered with one JSON object; measured by accuracy, F1, MCC, AUROC and the like.

    Args:
        release: The folder that `peercorpus publish` wrote.
        **options: See `Options`.
    """
    return build(BenchTask.ACCEPTANCE, read_options(release, options))


@task
def scores(release: str, **options: Unpack[Options]) -> Task:
    """Which scores do the reviewers give on average, in every field asked for? Measured by MAE, MSE, Spearman.

    Args:
        release: The folder that `peercorpus publish` wrote.
        **options: See `Options`.
    """
    return build(BenchTask.SCORES, read_options(release, options))


@task
def review(release: str, **options: Unpack[Options]) -> Task:
    """Write a review. Measured against all reviews that people wrote of the paper, and by a judge.

    Args:
        release: The folder that `peercorpus publish` wrote.
        **options: See `Options`.
    """
    return build(BenchTask.REVIEW, read_options(release, options))


@task
def rebuttal(release: str, **options: Unpack[Options]) -> Task:
    """Answer the authors as the reviewer did: one case a turn with the history as it was, or a discussion that is led.

    Args:
        release: The folder that `peercorpus publish` wrote.
        **options: See `Options`.
    """
    return build(BenchTask.REBUTTAL, read_options(release, options))
